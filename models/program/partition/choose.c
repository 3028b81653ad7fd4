#include "program/partition/choose.h"

#include "program/propagate_op.h"

#include <string.h>

static const struct rule_dim *find_dim(const struct rule_tensor *t, int32_t factor,
                                       int32_t *dim, int32_t *place)
{
	for (int32_t d = 0; d < t->rank; d++)
		for (int32_t k = 0; k < t->dim[d].n; k++)
			if (t->dim[d].at[k] == factor) {
				*dim = d;
				*place = k;
				return &t->dim[d];
			}
	return NULL;
}

bool choose_axes(struct axes *out, const struct choosing *c, int32_t tensor,
                 int32_t factor)
{
	const struct sharding *s = c->tensor[tensor];
	struct piece piece = {.here = true};
	const struct rule_dim *at =
		find_dim(&c->rule->tensor[tensor], factor, &piece.dim, &piece.place);

	out->n = 0;
	if (!at || !s)
		return false;
	piece_project(&piece, &s->dim[piece.dim].axes, at, c->rule);
	*out = piece.axes;
	return true;
}

static bool axes_equal(const struct axes *a, const struct axes *b)
{
	struct axes common;

	return axes_compare(&common, a, b) == AXES_EQUAL;
}

static bool axes_meet(const struct axes *a, const struct axes *b)
{
	for (int32_t i = 0; i < a->n; i++)
		if (axes_overlap(b, a->at[i]))
			return true;
	return false;
}

bool choose_cut(struct axes *list, const struct axes *taken)
{
	for (int32_t i = 0; i < list->n; i++) {
		struct part *part = &list->at[i];
		int32_t from = 0;

		for (int32_t k = 0; k < taken->n; k++) {
			const struct axes one = {1, {taken->at[k]}};

			if (axes_overlap(&one, *part) &&
			    (!from || taken->at[k].pre < from))
				from = taken->at[k].pre;
		}
		if (!from)
			continue;
		list->n = i;
		/* Of the part itself stays what is more major than the digit. */
		if (from > part->pre && from % part->pre == 0) {
			part->size = from / part->pre;
			list->n = i + 1;
		}
		return true;
	}
	return false;
}

static bool is_in_results(const struct choosing *c, const struct axes *axes)
{
	struct axes own;

	for (int32_t t = c->rule->noperands; t < c->rule->ntensors; t++)
		for (int32_t f = 0; f < c->rule->factor.n; f++)
			if (choose_axes(&own, c, t, f) && axes_meet(axes, &own))
				return true;
	return false;
}

/* Whether the op can run on its arrays as they are. */
static bool agree(struct axes *out, const struct choosing *c)
{
	bool *seen = arena_alloc(c->a, (size_t)c->rule->factor.n, sizeof(*seen));

	for (int32_t t = 0; t < c->rule->ntensors; t++)
		for (int32_t f = 0; f < c->rule->factor.n; f++) {
			struct axes axes;

			if (!choose_axes(&axes, c, t, f))
				continue;
			if (c->rule->factor.at[f].kind == FACTOR_REPLICATE) {
				if (axes.n)
					return false;
				continue;
			}
			if (seen[f] && !axes_equal(&axes, &out[f]))
				return false;
			seen[f] = true;
			out[f] = axes;
		}
	for (int32_t f = 0; f < c->rule->factor.n; f++)
		if (c->rule->factor.at[f].kind == FACTOR_REDUCE &&
		    is_in_results(c, &out[f]))
			return false;
	return true;
}

/* --- one array to another --- */

static bool is_simple(const struct choosing *c)
{
	for (int32_t f = 0; f < c->rule->factor.n; f++)
		if (c->rule->factor.at[f].kind == FACTOR_REPLICATE)
			return false;
	for (int32_t t = 0; t < c->rule->ntensors; t++)
		for (int32_t d = 0; d < c->rule->tensor[t].rank; d++)
			if (c->rule->tensor[t].dim[d].n > 1)
				return false;
	return true;
}

static int64_t tensor_elements(const struct choosing *c, int32_t t)
{
	return value_elements(&c->program->value.at[c->rule->tensor[t].value].type);
}

static bool is_preferred(const struct choosing *c, int32_t one, int32_t to)
{
	int64_t elements[2], count[2] = {1, 1};
	bool moved[2] = {false, false};
	const int32_t tensor[2] = {one, to};

	for (int i = 0; i < 2; i++) {
		elements[i] = tensor_elements(c, tensor[i]);
		for (int32_t f = 0; f < c->rule->factor.n; f++) {
			struct axes axes;

			if (!choose_axes(&axes, c, tensor[i], f))
				continue;
			count[i] *= axes_shards(&axes);
			moved[i] |=
				axes.n && c->rule->factor.at[f].kind == FACTOR_PERMUTE;
		}
	}
	if (moved[0] != moved[1])
		return moved[1];
	if (elements[0] != elements[1])
		return elements[0] > elements[1];
	return count[0] >= count[1];
}

/* Keeps one of the two arrays of an op as it is. */
static bool choose_of_two(struct axes *out, const struct choosing *c)
{
	int32_t tensor[2], n = 0;
	struct axes kept = {0};

	for (int32_t t = 0; t < c->rule->ntensors; t++) {
		if (!c->rule->tensor[t].rank || !c->tensor[t])
			continue;
		if (n == 2)
			return false;
		tensor[n++] = t;
	}
	if (n != 2 || !is_simple(c))
		return false;
	if (!is_preferred(c, tensor[0], tensor[1])) {
		int32_t first = tensor[0];

		tensor[0] = tensor[1];
		tensor[1] = first;
	}
	for (int32_t f = 0; f < c->rule->factor.n; f++) {
		if (!choose_axes(&out[f], c, tensor[0], f))
			continue;
		for (int32_t i = 0; i < out[f].n && kept.n < AXES_MOST; i++)
			kept.at[kept.n++] = out[f].at[i];
	}
	for (int32_t f = 0; f < c->rule->factor.n; f++) {
		struct axes axes;

		if (choose_axes(&axes, c, tensor[0], f) ||
		    !choose_axes(&axes, c, tensor[1], f))
			continue;
		choose_cut(&axes, &kept);
		out[f] = axes;
	}
	return true;
}

/* --- greedily --- */

struct candidate {
	int32_t factor;
	struct axes axes;
	int64_t elements; /* of all arrays whose list begins with these axes */
	int64_t largest; /* elements on one device of the largest array of the factor */
	int64_t shards;  /* beyond those that the factor has by now */
};

struct bag {
	const struct choosing *c;
	struct axes *out;
	bool *full; /* [factors] */
	LIST(struct candidate) at;
};

static void add_candidate(struct bag *b, int32_t factor, const struct axes *axes,
                          int64_t elements)
{
	struct candidate *one;

	for (int64_t i = 0; i < b->at.n; i++) {
		one = &b->at.at[i];
		if (one->factor != factor || !axes_equal(&one->axes, axes))
			continue;
		one->elements += elements;
		if (elements > one->largest)
			one->largest = elements;
		return;
	}
	*list_add(&b->at, b->c->a) = (struct candidate){factor, *axes, elements,
	                                                elements, axes_shards(axes)};
}

static void find_candidates(struct bag *b)
{
	const struct choosing *c = b->c;

	for (int32_t t = 0; t < c->rule->ntensors; t++)
		for (int32_t f = 0; f < c->rule->factor.n; f++) {
			struct axes axes;

			if (c->rule->factor.at[f].kind == FACTOR_REPLICATE ||
			    !choose_axes(&axes, c, t, f))
				continue;
			for (; axes.n; axes.n--)
				add_candidate(b, f, &axes, tensor_elements(c, t));
		}
}

/* Whether all factors in front of this one, in any dimension, are full. */
static bool is_ready(const struct bag *b, int32_t factor)
{
	const struct op_rule *r = b->c->rule;

	for (int32_t t = 0; t < r->ntensors; t++)
		for (int32_t d = 0; d < r->tensor[t].rank; d++)
			for (int32_t k = 1; k < r->tensor[t].dim[d].n; k++)
				if (r->tensor[t].dim[d].at[k] == factor &&
				    !b->full[r->tensor[t].dim[d].at[k - 1]])
					return false;
	return true;
}

static int kind_rank(enum factor_kind kind)
{
	return kind == FACTOR_PASS ? 3 : kind == FACTOR_REDUCE ? 2 : 1;
}

/* By name, then from the major digits on; a list that begins another is smaller. */
static int compare_axes(const struct mesh *m, const struct axes *a, const struct axes *b)
{
	for (int32_t i = 0; i < a->n && i < b->n; i++) {
		const struct part x = a->at[i], y = b->at[i];
		int by = strcmp(m->axis[x.axis].name, m->axis[y.axis].name);

		if (!by)
			by = x.pre != y.pre ? (x.pre > y.pre) - (x.pre < y.pre)
			                    : (x.size > y.size) - (x.size < y.size);
		if (by)
			return by;
	}
	return (a->n > b->n) - (a->n < b->n);
}

static bool is_better(const struct bag *b, const struct candidate *x,
                      const struct candidate *y)
{
	const struct factor *f = b->c->rule->factor.at;
	int kind[2] = {kind_rank(f[x->factor].kind), kind_rank(f[y->factor].kind)};

	if (x->elements != y->elements)
		return x->elements > y->elements;
	if (kind[0] != kind[1])
		return kind[0] > kind[1];
	if (x->largest != y->largest)
		return x->largest > y->largest;
	if (x->shards != y->shards)
		return x->shards > y->shards;
	if (x->factor != y->factor)
		return x->factor > y->factor;
	return compare_axes(b->c->mesh, &x->axes, &y->axes) > 0;
}

static const struct candidate *best_of(const struct bag *b)
{
	const struct candidate *best = NULL;

	for (int64_t i = 0; i < b->at.n; i++) {
		const struct candidate *one = &b->at.at[i];

		if (is_ready(b, one->factor) && (!best || is_better(b, one, best)))
			best = one;
	}
	return best;
}

/* What is left of a candidate once another one was taken; false: nothing. */
static bool is_left(const struct bag *b, struct candidate *one,
                    const struct candidate *taken)
{
	struct axes common;

	if (one->factor == taken->factor) {
		if (axes_compare(&common, &taken->axes, &one->axes) != AXES_SHORTER)
			return false;
		one->shards = axes_shards(&one->axes) / axes_shards(&taken->axes);
		return true;
	}
	one->shards = axes_shards(&one->axes);
	if (!choose_cut(&one->axes, &taken->axes))
		return true;
	one->shards = axes_shards(&one->axes) / axes_shards(&b->out[one->factor]);
	return !axes_equal(&one->axes, &b->out[one->factor]);
}

static void measure_largest(struct bag *b)
{
	const struct choosing *c = b->c;

	for (int64_t i = 0; i < b->at.n; i++)
		b->at.at[i].largest = 0;
	for (int32_t t = 0; t < c->rule->ntensors; t++) {
		int64_t local = tensor_elements(c, t);
		struct axes axes;

		for (int32_t f = 0; f < c->rule->factor.n; f++)
			if (choose_axes(&axes, c, t, f))
				local /= axes_shards(&b->out[f]);
		for (int64_t i = 0; i < b->at.n; i++)
			if (choose_axes(&axes, c, t, b->at.at[i].factor) &&
			    local > b->at.at[i].largest)
				b->at.at[i].largest = local;
	}
}

static void choose_greedily(struct axes *out, const struct choosing *c)
{
	struct bag b = {.c = c, .out = out};
	const struct candidate *best;

	b.full = arena_alloc(c->a, (size_t)c->rule->factor.n, sizeof(*b.full));
	find_candidates(&b);
	while ((best = best_of(&b))) {
		struct candidate taken = *best;
		int64_t n = 0;

		out[taken.factor] = taken.axes;
		b.full[taken.factor] = axes_shards(&taken.axes) ==
		                       c->rule->factor.at[taken.factor].size;
		for (int64_t i = 0; i < b.at.n; i++)
			if (is_left(&b, &b.at.at[i], &taken))
				b.at.at[n++] = b.at.at[i];
		b.at.n = n;
		measure_largest(&b);
	}
}

/* --- axes of what must be whole --- */

static bool is_everywhere(const struct choosing *c, int32_t factor)
{
	int32_t dim, place;

	for (int32_t t = 0; t < c->rule->ntensors; t++)
		if (c->rule->tensor[t].rank &&
		    !find_dim(&c->rule->tensor[t], factor, &dim, &place))
			return false;
	return true;
}

/* The axes with which all arrays begin a factor. */
static void common_axes(struct axes *out, const struct choosing *c, int32_t factor)
{
	bool first = true;

	out->n = 0;
	for (int32_t t = 0; t < c->rule->ntensors; t++) {
		struct axes axes, common;

		if (!choose_axes(&axes, c, t, factor))
			continue;
		if (first) {
			*out = axes;
		} else {
			axes_compare(&common, out, &axes);
			*out = common;
		}
		first = false;
	}
}

static void hand_to_others(struct axes *out, const struct choosing *c,
                           const struct axes *axes)
{
	int32_t at = 0;

	for (int32_t f = 0; f < c->rule->factor.n && at < axes->n; f++) {
		const struct factor *to = &c->rule->factor.at[f];
		int64_t room = to->size, had = axes_shards(&out[f]);

		if (to->kind != FACTOR_PASS || !is_everywhere(c, f) || room == 0 ||
		    room % had)
			continue;
		room /= had;
		for (; at < axes->n && room % axes->at[at].size == 0; at++) {
			if (!axes_append(&out[f], axes->at[at]))
				return;
			room /= axes->at[at].size;
		}
	}
}

void choose_shardy(struct axes *out, const struct choosing *c)
{
	size_t n = (size_t)c->rule->factor.n;

	memset(out, 0, n * sizeof(*out));
	if (agree(out, c))
		return;
	memset(out, 0, n * sizeof(*out));
	if (choose_of_two(out, c))
		return;
	memset(out, 0, n * sizeof(*out));
	choose_greedily(out, c);
	for (int32_t f = 0; f < c->rule->factor.n; f++) {
		struct axes axes;

		if (c->rule->factor.at[f].kind != FACTOR_REPLICATE ||
		    !is_everywhere(c, f))
			continue;
		common_axes(&axes, c, f);
		hand_to_others(out, c, &axes);
	}
}
