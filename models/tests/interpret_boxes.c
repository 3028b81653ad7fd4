#include "interpret_boxes.h"

#include <string.h>

/* --- boxes -------------------------------------------------------------------------- */

/* What a device has of every element, in its tile and beside it. */
static struct cell *inventory(struct run_state *r, int32_t d)
{
	int64_t all = shape_elements(&r->plan->shape);
	struct cell *have = new_cells(r->arena, all);

	if (r->beside[d])
		memcpy(have, r->beside[d], (size_t)all * sizeof(*have));
	for (int64_t i = 0; r->h.cell[d] && i < shape_elements(&r->h.tile); i++)
		if (r->h.cell[d][i].element >= 0)
			have[r->h.cell[d][i].element] = r->h.cell[d][i];
	return have;
}

static bool box_makes_sense(const struct run_state *r, const struct transfer *t)
{
	const struct shape *whole = &r->plan->shape;
	int64_t n = 1;

	if (t->src < 0 || t->src >= r->ndevices || t->dst < 0 ||
	    t->dst >= r->ndevices || t->src == t->dst)
		return false;
	for (int dim = 0; dim < whole->rank; dim++) {
		int64_t lo = t->bounds[2 * dim], hi = t->bounds[2 * dim + 1];

		if (lo < 0 || lo >= hi || hi > whole->dim[dim])
			return false;
		n *= hi - lo;
	}
	return n == t->elements;
}

/* Element number i of a box. */
static int64_t box_element(const struct run_state *r, const int64_t *bounds, int64_t i)
{
	int64_t index[RANK_MAX];
	struct shape box = {.rank = r->plan->shape.rank};

	for (int dim = 0; dim < box.rank; dim++)
		box.dim[dim] = bounds[2 * dim + 1] - bounds[2 * dim];
	position_of(index, i, &box);
	for (int dim = 0; dim < box.rank; dim++)
		index[dim] += bounds[2 * dim];
	return number_of(index, &r->plan->shape);
}

/* Boxes go from what their senders have into `into[dst]`, there no element twice if
 * `once`. Only finished sums travel. */
static bool deliver(struct run_state *r, const struct step *s, struct cell **into,
                    bool once)
{
	struct cell *have[INTERPRET_DEVICES_MAX] = {NULL};

	for (int64_t i = 0; i < s->ntransfers; i++) {
		const struct transfer *t = &s->transfers[i];

		if (!box_makes_sense(r, t))
			return false;
		if (!have[t->src])
			have[t->src] = inventory(r, t->src);
		for (int64_t k = 0; k < t->elements; k++) {
			int64_t e = box_element(r, t->bounds, k);
			struct cell c = have[t->src][e];

			if (c.element != e ||
			    c.sum != element_value((int32_t)e, 0, r->partials) ||
			    (once && into[t->dst][e].element == e))
				return false;
			into[t->dst][e] = c;
		}
	}
	return true;
}

bool permute_parts(struct run_state *r, const struct step *s)
{
	int64_t all = shape_elements(&r->plan->shape);

	for (int32_t d = 0; d < r->ndevices; d++)
		if (!r->beside[d])
			r->beside[d] = new_cells(r->arena, all);
	return deliver(r, s, r->beside, false);
}

/*
 * The tiles of `after` out of what is there and, in an exchange, of what arrives; that
 * must be missing and be wanted.
 */
bool retile(struct run_state *r, const struct step *s)
{
	struct held want = held_from(&s->after, s->mesh, &r->plan->shape, &s->local,
	                             s->start, r->arena);
	int64_t n = shape_elements(&want.tile), all = shape_elements(&r->plan->shape);
	struct cell *have[INTERPRET_DEVICES_MAX];

	for (int32_t d = 0; d < r->ndevices; d++)
		have[d] = inventory(r, d);
	if (!deliver(r, s, have, true))
		return false;
	for (int32_t d = 0; d < r->ndevices; d++) {
		bool *wanted = arena_alloc(r->arena, (size_t)all, sizeof(*wanted));

		for (int64_t i = 0; want.cell[d] && i < n; i++) {
			struct cell *c = &want.cell[d][i];

			if (c->element < 0)
				continue;
			wanted[c->element] = true;
			*c = have[d][c->element];
		}
		for (int64_t i = 0; i < s->ntransfers; i++)
			for (int64_t k = 0;
			     s->transfers[i].dst == d && k < s->transfers[i].elements;
			     k++)
				if (!wanted[box_element(r, s->transfers[i].bounds, k)])
					return false;
		r->beside[d] = NULL;
	}
	r->h = want;
	return true;
}

/* --- boxes of sums ------------------------------------------------------------------ */

static void add_cell(struct cell *to, struct cell c)
{
	to->sum = to->element == c.element ? to->sum + c.sum : c.sum;
	to->element = c.element;
}

/* Adds what a device has of an element, in its tile and beside it, and takes it away. */
static bool take_element(struct run_state *r, struct cell *to, int32_t d, int64_t e)
{
	int64_t all = shape_elements(&r->plan->shape);
	bool any = false;

	if (!r->given[d])
		r->given[d] = arena_alloc(r->arena, (size_t)all, sizeof(bool));
	for (int64_t i = 0; r->h.cell[d] && i < shape_elements(&r->h.tile); i++)
		if (r->h.cell[d][i].element == e && !r->given[d][e]) {
			add_cell(to, r->h.cell[d][i]);
			any = true;
		}
	r->given[d][e] = true;
	if (r->beside[d] && r->beside[d][e].element == e) {
		add_cell(to, r->beside[d][e]);
		r->beside[d][e].element = CELL_NOTHING;
		any = true;
	}
	return any;
}

/* Contributions go from their senders, who have them no more, to where they are added. */
bool add_boxes(struct run_state *r, const struct step *s)
{
	int64_t all = shape_elements(&r->plan->shape);
	struct cell *come[INTERPRET_DEVICES_MAX] = {NULL};

	for (int64_t i = 0; i < s->ntransfers; i++) {
		const struct transfer *t = &s->transfers[i];

		if (!box_makes_sense(r, t))
			return false;
		if (!come[t->dst])
			come[t->dst] = new_cells(r->arena, all);
		for (int64_t k = 0; k < t->elements; k++) {
			int64_t e = box_element(r, t->bounds, k);

			if (!take_element(r, &come[t->dst][e], t->src, e))
				return false;
		}
	}
	for (int32_t d = 0; d < r->ndevices; d++) {
		if (!r->beside[d])
			r->beside[d] = new_cells(r->arena, all);
		for (int64_t e = 0; come[d] && e < all; e++)
			if (come[d][e].element == e)
				add_cell(&r->beside[d][e], come[d][e]);
	}
	return true;
}

/* The tiles of `after` out of what is there, when all that travels has arrived. */
bool add_tiles(struct run_state *r, const struct step *s)
{
	struct held want = held_from(&s->after, s->mesh, &r->plan->shape, &s->local,
	                             s->start, r->arena);
	int64_t n = shape_elements(&want.tile);

	if (!add_boxes(r, s))
		return false;
	for (int32_t d = 0; d < r->ndevices; d++)
		for (int64_t i = 0; want.cell[d] && i < n; i++) {
			struct cell *c = &want.cell[d][i], sum = {CELL_NOTHING, 0};

			if (c->element < 0)
				continue;
			if (!take_element(r, &sum, d, c->element))
				return false;
			*c = sum;
		}
	for (int32_t d = 0; d < r->ndevices; d++)
		r->beside[d] = NULL;
	r->h = want;
	return true;
}
