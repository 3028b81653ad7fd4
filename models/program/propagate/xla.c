/*
 * XLA's propagation (openxla/xla, service/sharding_propagation.cc): whole shardings go from
 * value to value, and one takes another's place where it is finer.
 */
#include "program/propagate_op.h"

#include <string.h>

/* A step that takes a sharding as this tensor of its rule. */
struct use {
	int64_t step;
	int32_t tensor;
};

struct xla {
	struct shardings *s;
	const struct program *p;
	const struct flow_step *step;
	int64_t n;
	int level;
	int32_t *first; /* [s->n + 1] into `use`: users of each sharding, in their order */
	struct use *use;
	struct axes *offer[2]; /* [greatest rank] */
};

static struct sharding *sharding_of(const struct xla *x, const struct op_rule *r,
                                    int32_t t)
{
	return &x->s->at[x->s->of[r->tensor[t].value]];
}

static enum opcode code_of(const struct xla *x, const struct flow_step *step)
{
	return step->op < 0 ? HLO_COPY : x->p->op.at[step->op].code;
}

/* --- offers --- */

enum {
	FREE = 1u << FACTOR_PASS | 1u << FACTOR_PERMUTE,
	SHARED = 1u << FACTOR_PASS | 1u << FACTOR_REDUCE,
};

static int64_t shards(const struct axes *dim, int32_t rank)
{
	int64_t n = 1;

	for (int32_t d = 0; d < rank; d++)
		n *= axes_shards(&dim[d]);
	return n;
}

static int64_t sharding_shards(const struct sharding *s)
{
	int64_t n = 1;

	for (int32_t d = 0; d < s->type->rank; d++)
		n *= axes_shards(&s->dim[d].axes);
	return n;
}

/* The axes of a tensor's factor; false if the tensor has not the factor. */
static bool factor_axes(struct axes *out, const struct xla *x, const struct op_rule *r,
                        int32_t t, int32_t factor)
{
	const struct sharding *s = sharding_of(x, r, t);

	for (int32_t d = 0; d < r->tensor[t].rank; d++)
		for (int32_t k = 0; k < r->tensor[t].dim[d].n; k++) {
			struct piece piece = {.place = k};

			if (r->tensor[t].dim[d].at[k] != factor)
				continue;
			piece_project(&piece, &s->dim[d].axes, &r->tensor[t].dim[d], r);
			*out = piece.axes;
			return true;
		}
	return false;
}

/*
 * One tensor's sharding as another tensor of the op would have it: along the factors of these
 * kinds that both have. Returns the number of shards.
 */
static int64_t map(struct axes *out, const struct xla *x, const struct op_rule *r,
                   int32_t from, int32_t to, unsigned kinds)
{
	const struct rule_tensor *t = &r->tensor[to];

	for (int32_t d = 0; d < t->rank; d++) {
		bool full = true;

		out[d].n = 0;
		for (int32_t k = 0; k < t->dim[d].n && full; k++) {
			const struct factor *f = &r->factor.at[t->dim[d].at[k]];
			struct axes axes;

			full = f->size == 1;
			if (f->blocked || !(kinds >> f->kind & 1) ||
			    !factor_axes(&axes, x, r, from, t->dim[d].at[k]))
				continue;
			for (int32_t i = 0; i < axes.n; i++)
				axes_append(&out[d], axes.at[i]);
			full = axes_shards(&axes) == f->size;
		}
	}
	return shards(out, t->rank);
}

/* Whether two dimensions, or what must stay whole, have an axis in common. */
static bool is_clash(const struct sharding *s, const struct axes *dim)
{
	for (int32_t d = 0; d < s->type->rank; d++)
		for (int32_t i = 0; i < dim[d].n; i++) {
			struct part part = dim[d].at[i];

			if (axes_overlap(&s->replicated, part) ||
			    axes_overlap(&s->unreduced, part))
				return true;
			for (int32_t other = 0; other < d; other++)
				if (axes_overlap(&dim[other], part))
					return true;
		}
	return false;
}

/*
 * Takes an offer where it is finer than what is there in every dimension, or, from level 1 on,
 * puts both together where that is possible. What the text gives stays. Spoils the offer.
 */
static bool improve(struct xla *x, const struct op_rule *r, int32_t t,
                    struct axes *offer)
{
	struct sharding *s = sharding_of(x, r, t);
	bool finer = false;

	if (s->anew)
		return false;
	for (int32_t d = 0; d < s->type->rank; d++) {
		const struct axes *old = &s->dim[d].axes;
		struct axes common;
		enum relation is = axes_compare(&common, old, &offer[d]);

		if (s->dim[d].closed)
			is = AXES_LONGER;
		else if (is == AXES_APART || (is == AXES_LONGER && !x->level))
			return false;
		finer |= is == AXES_SHORTER;
		if (is == AXES_LONGER)
			offer[d] = *old;
	}
	if (!finer || is_clash(s, offer))
		return false;
	for (int32_t d = 0; d < s->type->rank; d++)
		s->dim[d].axes = offer[d];
	return true;
}

/* --- steps --- */

/* Elements that stay what they are: these hand on first. */
static bool is_plain(const struct flow_step *step, enum opcode code)
{
	return step->rule.elementwise || code == HLO_RESHAPE || code == HLO_TRANSPOSE;
}

static bool hands_on(const struct xla *x, const struct flow_step *step, bool forward)
{
	enum opcode code = code_of(x, step);

	if (code == HLO_BROADCAST)
		return x->level >= (forward ? 3 : 2);
	return x->level > 0 || is_plain(step, code);
}

/* One tensor's sharding to another; a reshape at level 0 only if all of it fits. */
static bool hand_on(struct xla *x, const struct flow_step *step, int32_t from,
                    int32_t to)
{
	const struct op_rule *r = &step->rule;
	const struct sharding *s = sharding_of(x, r, from);

	if (!r->tensor[from].rank || !r->tensor[to].rank || s->anew)
		return false;
	if (map(x->offer[0], x, r, from, to, FREE) < sharding_shards(s) && !x->level)
		return false;
	return improve(x, r, to, x->offer[0]);
}

/* Whether each dimension of `fine` continues that of `coarse`. */
static bool refines(const struct axes *fine, const struct axes *coarse, int32_t rank)
{
	for (int32_t d = 0; d < rank; d++) {
		struct axes common;
		enum relation is = axes_compare(&common, &coarse[d], &fine[d]);

		if (is != AXES_EQUAL && is != AXES_SHORTER)
			return false;
	}
	return true;
}

/* How the only user of a matmul's result would have it; false if there are several. */
static bool look_ahead(struct axes *out, const struct xla *x, const struct op_rule *r)
{
	int32_t number = x->s->of[r->tensor[2].value];
	const struct use *use = &x->use[x->first[number]];
	const struct op_rule *by;

	if (x->first[number + 1] - x->first[number] != 1)
		return false;
	by = &x->step[use->step].rule;
	return map(out, x, by, by->noperands, use->tensor, FREE) > 1;
}

/* Which operand of a matmul offers first: the one that suits the user, else the larger one. */
static int32_t first_operand(const struct xla *x, const struct op_rule *r)
{
	const struct value_type *left = sharding_of(x, r, 0)->type;
	const struct value_type *right = sharding_of(x, r, 1)->type;

	if (look_ahead(x->offer[1], x, r))
		for (int32_t t = 0; t < 2; t++)
			if (map(x->offer[0], x, r, t, 2, FREE) > 1 &&
			    refines(x->offer[1], x->offer[0], r->tensor[2].rank))
				return t;
	return value_type_bytes(left) < value_type_bytes(right);
}

static bool forward_dot(struct xla *x, const struct flow_step *step)
{
	int32_t first = first_operand(x, &step->rule);
	bool changed = hand_on(x, step, first, 2);

	return hand_on(x, step, 1 - first, 2) || changed;
}

/* The operand with most shards, the first of several. */
static int32_t representative(const struct xla *x, const struct op_rule *r)
{
	int64_t most = 1;
	int32_t best = -1;

	for (int32_t t = 0; t < r->noperands; t++) {
		const struct sharding *s = sharding_of(x, r, t);

		if (s->anew || !r->tensor[t].rank || sharding_shards(s) <= most)
			continue;
		most = sharding_shards(s);
		best = t;
	}
	return best;
}

/* Operands to results: at level 0 the one that knows most, then all, one after another. */
static bool forward(struct xla *x, const struct flow_step *step)
{
	const struct op_rule *r = &step->rule;
	bool changed = false;

	if (!hands_on(x, step, true))
		return false;
	if (code_of(x, step) == HLO_DOT)
		return forward_dot(x, step);
	for (int32_t to = r->noperands; to < r->ntensors; to++) {
		int32_t best = representative(x, r);

		for (int32_t t = 0; t < r->noperands; t++)
			if (best >= 0 && (x->level || t == best))
				changed |= hand_on(x, step, t, to);
	}
	return changed;
}

/*
 * Results to one operand. A matmul's other operand hands on, too, what both have in common:
 * the batch and what is summed over.
 */
static bool backward(struct xla *x, const struct use *use)
{
	const struct flow_step *step = &x->step[use->step];
	const struct op_rule *r = &step->rule;
	bool changed = false;

	if (!hands_on(x, step, false))
		return false;
	for (int32_t from = r->noperands; from < r->ntensors; from++)
		changed |= hand_on(x, step, from, use->tensor);
	if (code_of(x, step) != HLO_DOT || sharding_of(x, r, 1 - use->tensor)->anew)
		return changed;
	map(x->offer[0], x, r, 1 - use->tensor, use->tensor, SHARED);
	return improve(x, r, use->tensor, x->offer[0]) || changed;
}

/* --- the whole --- */

static void find_uses(struct xla *x, struct arena *a)
{
	int32_t rank = 0, *next;

	x->first = arena_alloc(a, (size_t)x->s->n + 2, sizeof(*x->first));
	for (int64_t i = 0; i < x->n; i++)
		for (int32_t t = 0; t < x->step[i].rule.noperands; t++)
			x->first[x->s->of[x->step[i].rule.tensor[t].value] + 1]++;
	for (int32_t i = 0; i < x->s->n; i++) {
		x->first[i + 1] += x->first[i];
		if (x->s->at[i].type->rank > rank)
			rank = x->s->at[i].type->rank;
	}
	x->use = arena_alloc(a, (size_t)x->first[x->s->n] + 1, sizeof(*x->use));
	next = arena_dup(a, x->first, (size_t)x->s->n + 1, sizeof(*next));
	for (int64_t i = 0; i < x->n; i++)
		for (int32_t t = 0; t < x->step[i].rule.noperands; t++) {
			int32_t of = x->s->of[x->step[i].rule.tensor[t].value];

			x->use[next[of]++] = (struct use){i, t};
		}
	for (int i = 0; i < 2; i++)
		x->offer[i] = arena_alloc(a, (size_t)rank + 1, sizeof(**x->offer));
}

void propagate_xla(struct shardings *s, struct arena *a, const struct program *p,
                   const struct flow_step *step, int64_t n)
{
	struct xla x = {.s = s, .p = p, .step = step, .n = n};

	find_uses(&x, a);
	for (x.level = 0; x.level < 4; x.level++)
		for (bool changed = true; changed;) {
			changed = false;
			for (int64_t i = 0; i < n; i++)
				changed |= forward(&x, &step[i]);
			for (int32_t i = s->n; i-- > 0;)
				for (int32_t u = x.first[i]; u < x.first[i + 1]; u++)
					changed |= backward(&x, &x.use[u]);
		}
}
