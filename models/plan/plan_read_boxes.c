/* Steps that were read in which boxes travel. */
#include "plan/plan_read.h"

#include "plan/exchange.h"

static bool refuse_boxes(struct text *why, const char *reason)
{
	text_printf(why, "%s", reason);
	return false;
}

/*
 * Returns of how many elements the bytes, and their sums over all devices, can still be
 * counted. An array, its tile and what a device receives are far below.
 */
static int64_t most_elements(const struct problem *q)
{
	return STEP_NUMBER_MAX / q->array.dtype->bits / q->ndevices;
}

bool plan_extent_fits(const struct problem *q, const struct shape *s)
{
	int64_t left = most_elements(q);

	for (int i = 0; i < s->rank; i++) {
		if (s->dim[i] > left)
			return false;
		left = s->dim[i] > 0 ? left / s->dim[i] : left;
	}
	return true;
}

/* Returns the transfers of a step with their elements; NULL with the reason. */
static struct transfer *boxes_of(struct plan *p, const struct step_read *s,
                                 struct text *why)
{
	size_t n = (size_t)s->ntransfers;
	struct transfer *out = arena_alloc(p->arena, n, sizeof(*out));
	int64_t left = most_elements(p->problem);

	for (size_t i = 0; i < n; i++) {
		const int64_t *bounds = s->transfers[i].bounds;

		out[i] = s->transfers[i];
		out[i].elements = 1;
		for (int dim = 0; dim < p->shape.rank; dim++) {
			int64_t lo = bounds[2 * dim], hi = bounds[2 * dim + 1];

			if (lo >= hi || hi > p->shape.dim[dim]) {
				refuse_boxes(why,
				             "a box is empty or not inside the array");
				return NULL;
			}
			out[i].elements *= hi - lo;
		}
		left -= out[i].elements;
		if (left < 0) {
			refuse_boxes(why, "its boxes have too many elements");
			return NULL;
		}
	}
	return out;
}

bool plan_add_parts(struct plan *p, const struct step_read *s, struct text *why)
{
	const struct mesh *m = &p->problem->mesh;
	struct transfer *boxes = boxes_of(p, s, why);

	if (!boxes)
		return false;
	if (!layout_same_tiles(plan_layout(p), m, &s->after, m))
		return refuse_boxes(why, "a permute of parts keeps the layout");
	if ((s->pairs != NULL) != (s->part > 0))
		return refuse_boxes(why,
		                    "pairs of parts have their elements, others none");
	if (s->part > most_elements(p->problem))
		return refuse_boxes(why, "a part has too many elements");
	if (s->pairs)
		plan_permute_rows(p, s->pairs, s->npairs, s->part, boxes, s->ntransfers);
	else
		plan_permute_parts(p, boxes, s->ntransfers);
	return true;
}

bool plan_add_exchange(struct plan *p, const struct step_read *s, struct text *why)
{
	const struct problem *q = p->problem;
	struct transfer *boxes;

	if (s->nmoves || s->groups)
		return refuse_boxes(why, "this op has no axes or groups");
	if (s->op == OP_PAD) {
		plan_pad(p, &s->after, NULL);
		return true;
	}
	if (!s->boxes)
		return s->on_target
		               ? refuse_boxes(why,
		                              "to the target mesh it needs its boxes")
		               : plan_exchange_axes(p, &s->after, why);
	boxes = boxes_of(p, s, why);
	if (boxes)
		plan_exchange(p, &s->after, s->on_target ? &q->to_mesh : &q->mesh,
		              boxes, s->ntransfers);
	return boxes != NULL;
}
