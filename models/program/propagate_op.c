/* How one op hands shardings on: projection to factors, candidates and conflicts. */
#include "program/propagate_op.h"

#include <stddef.h>
#include <string.h>

/* --- lists of axes --- */

bool axes_append(struct axes *to, struct part part)
{
	struct part *last = to->n ? &to->at[to->n - 1] : NULL;

	if (last && last->axis == part.axis && last->pre * last->size == part.pre) {
		last->size *= part.size;
		return true;
	}
	if (to->n == AXES_MOST)
		return false;
	to->at[to->n++] = part;
	return true;
}

int64_t axes_shards(const struct axes *axes)
{
	int64_t n = 1;

	for (int32_t i = 0; i < axes->n; i++)
		n *= axes->at[i].size;
	return n;
}

enum relation axes_compare(struct axes *common, const struct axes *a,
                           const struct axes *b)
{
	int32_t i = 0;

	common->n = 0;
	for (; i < a->n && i < b->n; i++) {
		struct part x = a->at[i], y = b->at[i];

		if (x.axis != y.axis || x.pre != y.pre)
			return AXES_APART;
		if (x.size == y.size) {
			common->at[common->n++] = x;
			continue;
		}
		if (x.size < y.size ? y.size % x.size : x.size % y.size)
			return AXES_APART;
		common->at[common->n++] = x.size < y.size ? x : y;
		if (x.size < y.size)
			return i + 1 == a->n ? AXES_SHORTER : AXES_APART;
		return i + 1 == b->n ? AXES_LONGER : AXES_APART;
	}
	return i < b->n ? AXES_SHORTER : i < a->n ? AXES_LONGER : AXES_EQUAL;
}

static bool parts_overlap(struct part a, struct part b)
{
	return a.axis == b.axis && a.pre < b.pre * b.size && b.pre < a.pre * a.size;
}

bool axes_overlap(const struct axes *axes, struct part part)
{
	for (int32_t i = 0; i < axes->n; i++)
		if (parts_overlap(axes->at[i], part))
			return true;
	return false;
}

/* --- projection --- */

void piece_project(struct piece *out, const struct axes *axes,
                   const struct rule_dim *dim, const struct op_rule *rule)
{
	struct axes rest = *axes;
	int32_t at = 0;

	for (int32_t i = 0; i <= out->place; i++) {
		int64_t room = rule->factor.at[dim->at[i]].size;
		bool minor = i == dim->n - 1;

		out->axes.n = 0;
		while (at < rest.n && (minor || room > 1)) {
			struct part *part = &rest.at[at];
			struct part cut = *part;

			if (minor || room % part->size == 0) {
				at++;
			} else if (part->size % room == 0) {
				cut.size = (int32_t)room;
				part->pre *= cut.size;
				part->size /= cut.size;
			} else {
				out->fixed = true;
				if (i < out->place)
					out->axes.n = 0;
				return;
			}
			axes_append(&out->axes, cut);
			room = minor ? 0 : room / cut.size;
		}
		out->room = minor ? 0 : room;
		if (i < out->place && room > 1)
			out->fixed = true;
	}
}

static struct sharding *sharding_of(const struct engine *e, const struct rule_tensor *t)
{
	return &e->s->at[e->s->of[t->value]];
}

static void find_piece(struct piece *out, const struct engine *e,
                       const struct op_rule *rule, int32_t tensor, int32_t factor)
{
	const struct rule_tensor *t = &rule->tensor[tensor];
	const struct sharding *s = sharding_of(e, t);
	static const struct dim_sharding later = {.closed = true};

	memset(out, 0, offsetof(struct piece, axes));
	out->axes.n = 0;
	out->room = 0;
	out->fixed = false;
	if (s->anew)
		return;
	for (int32_t d = 0; d < t->rank; d++)
		for (int32_t k = 0; k < t->dim[d].n; k++) {
			const struct dim_sharding *at = &s->dim[d];

			if (t->dim[d].at[k] != factor)
				continue;
			if (at->priority > e->priority)
				at = &later;
			out->here = true;
			out->dim = d;
			out->place = k;
			out->fixed = at->closed;
			piece_project(out, &at->axes, &t->dim[d], rule);
			return;
		}
}

/* --- candidates --- */

/* Folds one tensor's axes into the candidate. */
static void fold(struct axes *candidate, bool *frozen, const struct axes *axes,
                 bool extends)
{
	struct axes common;
	enum relation is = axes_compare(&common, candidate, axes);

	if (is == AXES_SHORTER && extends && !*frozen)
		*candidate = *axes;
	if (is != AXES_APART)
		return;
	*candidate = common;
	*frozen = true;
}

/* The axes that an op's tensors agree on for a factor. */
static void find_candidate(struct axes *out, const struct engine *e,
                           const struct op_rule *rule, int32_t factor,
                           enum direction direction)
{
	bool frozen = false;
	struct piece piece;

	out->n = 0;
	for (int pass = 0; pass < 2; pass++)
		for (int32_t t = 0; t < rule->ntensors; t++) {
			enum direction from = t < rule->noperands ? FORWARD : BACKWARD;
			bool extends = (from & direction) != 0;

			if (extends != (pass == 0))
				continue;
			find_piece(&piece, e, rule, t, factor);
			if (piece.here)
				fold(out, &frozen, &piece.axes, extends);
		}
}

/* Whether an axis serves something else in a tensor. */
static bool is_used(const struct sharding *s, struct part part)
{
	for (int32_t d = 0; d < s->type->rank; d++)
		if (axes_overlap(&s->dim[d].axes, part))
			return true;
	return axes_overlap(&s->replicated, part) || axes_overlap(&s->unreduced, part);
}

/*
 * Cuts what a tensor can have of a candidate: what it has already, and of the rest all up to
 * the first axis that serves something else there, or that has no room.
 */
static void cut(struct axes *out, const struct piece *piece, const struct sharding *s,
                const struct axes *candidate)
{
	struct axes common;
	int64_t room = piece->room;

	*out = piece->axes;
	if (axes_compare(&common, &piece->axes, candidate) != AXES_SHORTER ||
	    piece->fixed)
		return;
	for (int32_t i = common.n ? common.n - 1 : 0; i < candidate->n; i++) {
		struct part part = candidate->at[i];

		/* The part that the tensor has of this axis, if it has one. */
		if (i < common.n) {
			int32_t had = common.at[i].size;

			part.pre *= had;
			part.size /= had;
			if (part.size == 1)
				continue;
		}
		if (is_used(s, part) || (piece->room && room % part.size))
			return;
		if (!axes_append(out, part))
			return;
		room = piece->room ? room / part.size : 0;
	}
}

/* --- conflicts --- */

/* Gives a tensor more axes of a factor; the dimension is put together again. */
static bool grow(struct engine *e, const struct op_rule *rule, int32_t tensor,
                 int32_t factor, const struct axes *candidate)
{
	const struct rule_tensor *t = &rule->tensor[tensor];
	struct sharding *s = sharding_of(e, t);
	struct dim_sharding *dim;
	struct piece piece;
	struct axes more;

	find_piece(&piece, e, rule, tensor, factor);
	if (!piece.here)
		return false;
	cut(&more, &piece, s, candidate);
	if (axes_shards(&more) == axes_shards(&piece.axes))
		return false;
	/* Factors behind this one have nothing yet: it was not full. */
	dim = &s->dim[piece.dim];
	for (int32_t i = 0, old = piece.axes.n; i < more.n; i++) {
		struct part part = more.at[i];

		if (i < old - 1)
			continue;
		if (i == old - 1) {
			part.pre *= piece.axes.at[i].size;
			part.size /= piece.axes.at[i].size;
		}
		if (part.size > 1 && !axes_append(&dim->axes, part))
			break;
	}
	s->changed = ++e->now;
	return true;
}

/* A factor with something to hand on, and the tensor that it comes from. */
struct offer {
	int32_t factor, tensor;
	int64_t elements, shards;
	struct axes axes;
};

static bool goes_first(const struct offer *a, const struct offer *b)
{
	if (a->elements != b->elements)
		return a->elements > b->elements;
	if (a->shards != b->shards)
		return a->shards > b->shards;
	if (a->tensor != b->tensor)
		return a->tensor < b->tensor;
	return a->factor < b->factor;
}

/* The largest of the tensors that have the whole candidate. */
static void find_source(struct offer *o, const struct engine *e,
                        const struct op_rule *rule)
{
	bool found = false;

	for (int32_t t = 0; t < rule->ntensors; t++) {
		const struct sharding *s = sharding_of(e, &rule->tensor[t]);
		struct offer this = *o;
		struct piece piece;
		struct axes common;
		enum relation is;

		find_piece(&piece, e, rule, t, o->factor);
		if (!piece.here)
			continue;
		is = axes_compare(&common, &o->axes, &piece.axes);
		if (is != AXES_EQUAL && is != AXES_SHORTER)
			continue;
		this.tensor = t;
		this.elements = value_elements(s->type);
		this.shards = 1;
		for (int32_t d = 0; rule->elementwise && d < s->type->rank; d++)
			this.shards *= axes_shards(&s->dim[d].axes);
		if (!found || goes_first(&this, o))
			*o = this;
		found = true;
	}
}

/* Results before operands; operands of an elementwise op take what a result took. */
static bool hand_on(struct engine *e, const struct op_rule *rule, struct offer *o)
{
	bool changed = false;

	for (int32_t t = rule->noperands; t < rule->ntensors; t++) {
		changed |= grow(e, rule, t, o->factor, &o->axes);
		if (rule->elementwise && !sharding_of(e, &rule->tensor[t])->anew) {
			struct piece piece;
			struct axes common;

			find_piece(&piece, e, rule, t, o->factor);
			axes_compare(&common, &o->axes, &piece.axes);
			o->axes = common;
		}
	}
	for (int32_t t = 0; t < rule->noperands; t++)
		changed |= grow(e, rule, t, o->factor, &o->axes);
	return changed;
}

/* What all tensors can have of a candidate. */
static void cut_for_all(struct axes *candidate, const struct engine *e,
                        const struct op_rule *rule, int32_t factor)
{
	for (int32_t t = 0; t < rule->ntensors; t++) {
		struct piece piece;
		struct axes can, common;

		find_piece(&piece, e, rule, t, factor);
		if (!piece.here)
			continue;
		cut(&can, &piece, sharding_of(e, &rule->tensor[t]), candidate);
		axes_compare(&common, candidate, &can);
		*candidate = common;
	}
}

static bool is_handed(const struct engine *e, const struct factor *f)
{
	return !f->blocked && (!e->pass_only || f->kind == FACTOR_PASS);
}

/* Hands on the best of the offers that are left, one factor after another. */
static bool aggressive(struct engine *e, const struct op_rule *rule,
                       enum direction direction)
{
	bool changed = false;
	struct offer last = {.factor = -1};

	for (bool first = true;; first = false) {
		struct offer best = {.factor = -1};

		for (int32_t f = 0; f < rule->factor.n; f++) {
			struct offer o = {.factor = f};

			if (!is_handed(e, &rule->factor.at[f]))
				continue;
			find_candidate(&o.axes, e, rule, f, direction);
			if (!o.axes.n)
				continue;
			find_source(&o, e, rule);
			if (!first && !goes_first(&last, &o))
				continue;
			if (best.factor < 0 || goes_first(&o, &best))
				best = o;
		}
		if (best.factor < 0)
			return changed;
		last = best;
		changed |= hand_on(e, rule, &best);
	}
}

bool propagate_step(struct engine *e, struct flow_step *step, enum direction direction)
{
	const struct op_rule *rule = &step->rule;
	bool stale = false, changed = false;

	for (int32_t t = 0; t < rule->ntensors; t++)
		stale |= sharding_of(e, &rule->tensor[t])->changed > step->seen;
	if (!stale)
		return false;
	step->seen = e->now;
	if (!e->basic)
		return aggressive(e, rule, direction);
	for (int32_t f = 0; f < rule->factor.n; f++) {
		struct axes candidate;

		if (!is_handed(e, &rule->factor.at[f]))
			continue;
		find_candidate(&candidate, e, rule, f, direction);
		cut_for_all(&candidate, e, rule, f);
		for (int32_t t = 0; t < rule->ntensors; t++)
			changed |= grow(e, rule, t, f, &candidate);
	}
	return changed;
}
