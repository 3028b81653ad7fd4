#include "plan/view.h"

#include "notation/notation.h"

int view_dim(const struct plan *p, int dim)
{
	return dim < 0 || !p->view ? dim : p->view->dim[dim];
}

static bool shape_fits(const struct plan *p)
{
	const struct view *v = p->view;
	const struct shape *g = &p->problem->padded;
	int digit = 0;

	for (int dim = 0; dim < g->rank; dim++) {
		int64_t product = 1;

		for (; digit < v->shape.rank && v->dim[digit] == dim; digit++)
			product *= v->shape.dim[digit];
		if (product != g->dim[dim])
			return false;
	}
	return digit == v->shape.rank;
}

/*
 * Finds the indices of array dimension `dim` that a device's digits span; returns false
 * unless they are consecutive: behind the first digit with several values all are
 * whole.
 */
static bool span(int64_t *lo, int64_t *hi, const struct view *v,
                 const struct tilemap *t, int32_t device, int dim)
{
	int64_t count = 1;

	*lo = 0;
	for (int k = 0; k < v->shape.rank; k++) {
		int64_t first, last, size = v->shape.dim[k];

		if (v->dim[k] != dim)
			continue;
		tilemap_interval(t, &v->shape, device, k, &first, &last);
		if (count > 1 && last - first != size)
			return false;
		*lo = *lo * size + first;
		count *= last - first;
	}
	*hi = *lo + count;
	return true;
}

static bool same_layout(const struct plan *p, const struct layout *digits,
                        const struct layout *l, const struct mesh *m)
{
	struct arena *a = arena_new();
	const struct shape *g = &p->problem->padded;
	struct tilemap mine = tilemap_make(digits, m, &p->shape, a);
	struct tilemap theirs = tilemap_make(l, m, g, a);
	bool same = mine.partials == theirs.partials;

	for (int32_t d = 0; d < mine.ndevices && same; d++) {
		same = mine.partial[d] == theirs.partial[d];
		for (int dim = 0; dim < g->rank && same; dim++) {
			int64_t lo, hi, from, to;

			tilemap_interval(&theirs, g, d, dim, &from, &to);
			same = span(&lo, &hi, p->view, &mine, d, dim) && lo == from &&
			       hi == to;
		}
	}
	arena_free(a);
	return same;
}

bool view_check(const struct plan *p, struct text *why)
{
	const struct problem *q = p->problem;

	if (!p->view && layout_same_tiles(&p->from, &q->mesh, &q->from, &q->mesh) &&
	    layout_same_tiles(&p->to, &q->to_mesh, &q->to, &q->to_mesh))
		return true;
	if (!p->view) {
		text_printf(why, "the plan is not between the problem's layouts");
		return false;
	}
	if (shape_fits(p) && same_layout(p, &p->from, &q->from, &q->mesh) &&
	    same_layout(p, &p->to, &q->to, &q->to_mesh))
		return true;
	text_printf(why, "the digits do not say the problem's layouts");
	return false;
}

/* --- real elements ---------------------------------------------------------------- */

/*
 * Returns how many numbers below `limit` have each digit k of array dimension `dim` in
 * [lo[k], hi[k]): those that agree with the limit's digits down to one and are smaller
 * there, added up over that one.
 */
static int64_t count_below(const struct view *v, int dim, const int64_t *lo,
                           const int64_t *hi, int64_t limit)
{
	int64_t minor = 1, free = 1, count = 0;
	bool agrees = true;

	for (int k = 0; k < v->shape.rank; k++) {
		minor *= v->dim[k] == dim ? v->shape.dim[k] : 1;
		free *= v->dim[k] == dim ? hi[k] - lo[k] : 1;
	}
	if (limit >= minor || free == 0)
		return free;
	for (int k = 0; k < v->shape.rank && agrees; k++) {
		int64_t digit;

		if (v->dim[k] != dim)
			continue;
		minor /= v->shape.dim[k];
		free /= hi[k] - lo[k];
		digit = limit / minor;
		limit %= minor;
		if (digit > lo[k])
			count += ((digit < hi[k] ? digit : hi[k]) - lo[k]) * free;
		agrees = digit >= lo[k] && digit < hi[k];
	}
	return count;
}

int64_t view_common(const struct plan *p, const struct tilemap *a,
                    const struct tilemap *b, int32_t d)
{
	const struct shape *real = &p->problem->array.shape;
	int64_t lo[RANK_MAX], hi[RANK_MAX], n = 1;

	if (!p->view)
		return tilemap_common(a, b, real, d);
	for (int k = 0; k < p->shape.rank; k++) {
		int64_t from, to;

		tilemap_interval(a, &p->shape, d, k, &lo[k], &hi[k]);
		tilemap_interval(b, &p->shape, d, k, &from, &to);
		lo[k] = lo[k] > from ? lo[k] : from;
		hi[k] = hi[k] < to ? hi[k] : to;
		hi[k] = hi[k] > lo[k] ? hi[k] : lo[k];
	}
	for (int dim = 0; dim < real->rank; dim++)
		n *= count_below(p->view, dim, lo, hi, real->dim[dim]);
	return n;
}

/* --- printing --------------------------------------------------------------------- */

/* Joins digit k + 1 of `l` over `v` into digit k. */
static void join_next(struct view *v, struct layout *l, int k)
{
	v->shape.dim[k] *= v->shape.dim[k + 1];
	l->nparts[k] = (uint8_t)(l->nparts[k] + l->nparts[k + 1]);
	for (int i = k + 1; i + 1 < v->shape.rank; i++) {
		v->shape.dim[i] = v->shape.dim[i + 1];
		v->dim[i] = v->dim[i + 1];
		l->nparts[i] = l->nparts[i + 1];
	}
	v->shape.rank--;
	l->rank--;
}

void view_join(struct view *v, struct layout *l)
{
	for (int k = 0; k + 1 < v->shape.rank;) {
		bool single = layout_shards(l, k) == v->shape.dim[k];
		bool whole = layout_shards(l, k + 1) == 1;

		if (v->dim[k] == v->dim[k + 1] && (single || whole))
			join_next(v, l, k);
		else
			k++;
	}
	layout_normalise(l);
}

static void print_shape(struct text *out, const struct shape *s)
{
	text_printf(out, "[");
	for (int i = 0; i < s->rank; i++)
		text_printf(out, "%s%lld", i ? "," : "", (long long)s->dim[i]);
	text_printf(out, "]");
}

void view_print_layout(struct text *out, const struct plan *p, const struct layout *l,
                       const struct mesh *m)
{
	struct layout joined = *l;
	struct view v;

	if (!p->view) {
		layout_print(out, l, m, &p->problem->array.shape);
		return;
	}
	v = *p->view;
	view_join(&v, &joined);
	if (v.shape.rank > p->problem->padded.rank) {
		print_shape(out, &p->problem->padded);
		text_printf(out, "->");
		print_shape(out, &v.shape);
		text_printf(out, " ");
	}
	layout_print(out, &joined, m, &v.shape);
}
