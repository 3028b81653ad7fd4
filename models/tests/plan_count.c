#include "plan_count.h"

#include "plan/check_state.h"

/* Elements of a product of lists, cut off at `limit` per dimension. */
static int64_t lists_volume(const struct list *l, const struct shape *limit)
{
	int64_t product = 1;

	for (int dim = 0; dim < limit->rank; dim++) {
		int64_t n = 0;

		for (int32_t i = 0; i < l[dim].n; i++) {
			struct run r = l[dim].run[i];

			r.hi = r.hi < limit->dim[dim] ? r.hi : limit->dim[dim];
			n += r.hi > r.lo ? r.hi - r.lo : 0;
		}
		product *= n;
	}
	return product;
}

/*
 * Elements of a product of lists of digits that are real: numbers in array dimension
 * `dim` below its extent, counted from the major digit down, as view_common() does.
 */
static int64_t real_numbers(const struct plan *p, const struct list *l, int dim)
{
	int64_t limit = p->problem->array.shape.dim[dim], minor = 1, free = 1, count = 0;
	const struct view *v = p->view;
	bool agrees = limit < p->problem->padded.dim[dim];

	for (int k = 0; k < v->shape.rank; k++) {
		minor *= v->dim[k] == dim ? v->shape.dim[k] : 1;
		free *= v->dim[k] == dim ? list_length(l[k]) : 1;
	}
	if (!agrees || free == 0)
		return free;
	for (int k = 0; k < v->shape.rank && agrees; k++) {
		int64_t digit, below = 0;

		if (v->dim[k] != dim)
			continue;
		minor /= v->shape.dim[k];
		free /= list_length(l[k]);
		digit = limit / minor;
		limit %= minor;
		for (int32_t i = 0; i < l[k].n; i++) {
			struct run r = l[k].run[i];
			int64_t hi = r.hi < digit ? r.hi : digit;

			below += hi > r.lo ? hi - r.lo : 0;
		}
		count += below * free;
		agrees = list_holds(l[k], digit, digit + 1);
	}
	return count;
}

/*
 * Elements of a product of lists: all, or only the real ones. Where tiles are placed
 * their padding lies beyond the shape.
 */
static int64_t elements_of(const struct plan *p, const struct step *step,
                           const struct list *l, bool real)
{
	struct shape limit = real ? p->problem->array.shape : p->shape;
	int64_t product = 1;

	for (int dim = 0; dim < limit.rank && step->start && !real; dim++)
		limit.dim[dim] = INT64_MAX;
	if (!real || !p->view)
		return lists_volume(l, &limit);
	for (int dim = 0; dim < p->problem->padded.rank; dim++)
		product *= real_numbers(p, l, dim);
	return product;
}

/* What device d had of its new tile before the step: list by list intersections. */
static int64_t kept_elements(struct state *s, const struct step *step,
                             const struct list *before, const struct list *after,
                             bool real)
{
	struct list *both = arena_alloc(s->arena, (size_t)s->rank, sizeof(*both));

	for (int dim = 0; dim < s->rank; dim++)
		both[dim] = list_common(s->arena, before[dim], after[dim]);
	return elements_of(s->plan, step, both, real);
}

/* What a device receives of transfers or sums, which the tiles do not tell. */
static int64_t told_elements(const struct step *step, int32_t d)
{
	int64_t m = shape_elements(step_operand(step)), q = step->groups.size, n = 0;

	if (step->op == OP_REDUCE_SCATTER || step->op == OP_ALL_REDUCE)
		return (step->op == OP_ALL_REDUCE ? 2 : 1) * (m - m / q);
	for (int32_t i = 0; i < step->npairs && step->part; i++)
		n += step->pairs[i].dst == d && step->pairs[i].src != d ? step->part : 0;
	for (int64_t i = 0; i < step->ntransfers && !step->part; i++)
		n += step->transfers[i].dst == d ? step->transfers[i].elements : 0;
	return n;
}

static bool tile_stays(const struct step *step, int32_t d)
{
	for (int32_t i = 0; i < step->npairs; i++)
		if (step->pairs[i].dst == d)
			return step->pairs[i].src == d;
	return true;
}

void plan_count(const struct plan *p, struct arena *a, int64_t **received,
                int64_t **received_real)
{
	struct text why = {0};
	struct state s = state_start(p, a, &why);
	size_t cells = (size_t)s.ndevices * (size_t)p->nsteps;
	int64_t *out[2];

	out[0] = *received = arena_alloc(a, cells, sizeof(int64_t));
	out[1] = *received_real = arena_alloc(a, cells, sizeof(int64_t));
	for (int i = 0; i < p->nsteps; i++) {
		struct list *before = s.list;
		const struct step *step = &p->step[i];
		bool by_tiles = step->op == OP_SLICE || step->op == OP_ALL_GATHER ||
		                step->op == OP_ALL_TO_ALL;

		if (!state_run(&s, i))
			break;
		for (int32_t d = 0; d < s.ndevices; d++) {
			const struct list *was = before + (int64_t)d * s.lists;
			const struct list *is = state_tile(&s, d);
			int64_t at = (int64_t)i * s.ndevices + d;

			for (int k = 0; k < 2; k++) {
				if (by_tiles)
					out[k][at] = elements_of(p, step, is, k) -
					             kept_elements(&s, step, was, is, k);
				else if (step->op == OP_PERMUTE && !step->transfers)
					out[k][at] =
						tile_stays(step, d)
							? 0
							: elements_of(p, step, is, k);
				else
					out[k][at] = told_elements(step, d);
			}
		}
	}
	text_free(&why);
}
