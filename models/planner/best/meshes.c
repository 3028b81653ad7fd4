#include "planner/best/meshes.h"

#include "plan/groups.h"

#include <string.h>

extern const struct planner planner_direct;

/* --- one mesh --------------------------------------------------------------------- */

/*
 * Writes a layout over the axes of another mesh. Returns false if these cannot say it.
 */
static bool said_by(struct layout *out, const struct mesh *by, const struct layout *l,
                    const struct mesh *m, struct arena *a)
{
	struct layout tiles;

	if (l->kind == LAYOUT_MAXIMAL || l->nunreduced > 0)
		return false;
	if (l->kind == LAYOUT_AXES && mesh_equal(m, by)) {
		*out = *l;
		return true;
	}
	tiles = layout_of_tiling(layout_tiling(l, m, a), a);
	return layout_to_axes(out, &tiles, by, a);
}

bool best_one_mesh(struct problem *out, const struct problem *p, struct arena *a)
{
	if (!p->same_devices ||
	    (mesh_equal(&p->mesh, &p->to_mesh) && p->from.kind == LAYOUT_AXES &&
	     p->to.kind == LAYOUT_AXES))
		return false;
	*out = *p;
	out->arena = a;
	out->to_mesh = p->mesh;
	out->two_meshes = false;
	if (!said_by(&out->from, &p->mesh, &p->from, &p->mesh, a) ||
	    !said_by(&out->to, &p->mesh, &p->to, &p->to_mesh, a))
		return false;
	problem_finish(out);
	return true;
}

bool best_plan_of_problem(struct plan *plan, const struct problem *p, struct arena *a)
{
	struct layout to = p->to;

	if (plan->view && !said_by(&to, &p->to_mesh, &plan->to, &p->mesh, a))
		return false;
	plan->problem = p;
	plan->to = to;
	for (int i = 0; i < plan->nsteps; i++)
		plan->step[i].mesh = &p->mesh;
	return true;
}

/* --- an all-gather after the exchange --------------------------------------------- */

/* Parts that cut one dimension more than the target does. */
struct cut {
	int dim, n;
	struct part part[LAYOUT_PARTS_MAX];
};

/* Offers the exchange to the cut tiles, followed by the all-gather of the cut. */
static void offer_cut(struct best *b, const struct cut *cut)
{
	const struct problem *p = b->problem;
	struct problem *q = arena_dup(b->arena, p, 1, sizeof(*p));
	struct move move = {.from_dim = cut->dim, .to_dim = -1, .factor = 1};
	struct text why = {0};
	struct plan *first, *plan;
	struct groups groups;

	for (int k = 0; k < cut->n; k++) {
		if (!layout_append(&q->to, cut->dim, cut->part[k]))
			return;
		move.factor *= cut->part[k].size;
	}
	layout_normalise(&q->to);
	if (p->array.shape.dim[cut->dim] % layout_shards(&q->to, cut->dim) != 0)
		return;
	problem_finish(q);
	if (planner_direct.plan(&first, q, b->prices, b->arena, &why) == ANSWER_PLAN &&
	    first->nsteps == 1 && first->step[0].op == OP_EXCHANGE) {
		struct move named = move;

		named.nparts = cut->n;
		named.parts = cut->part;
		groups = groups_of_moves(&p->to_mesh, &named, 1, b->arena);
		plan = plan_new(b->arena, p, "best");
		plan->shape = p->array.shape;
		plan_exchange(plan, &q->to, &p->to_mesh, first->step[0].transfers,
		              first->step[0].ntransfers);
		/* moves name axes of the source mesh only, so groups say it here */
		plan_groups_step(plan, OP_ALL_GATHER, &move, 1, groups, NULL, &p->to);
		plan->step[1].mesh = &p->to_mesh;
		plan_finish(plan);
		best_offer(b, plan);
	}
	text_free(&why);
}

static bool uses_axis(const struct layout *l, int axis)
{
	for (int dim = 0; dim < l->rank; dim++) {
		int n;
		const struct part *part = layout_parts(l, dim, &n);

		for (int k = 0; k < n; k++)
			if (part[k].axis == axis)
				return true;
	}
	return false;
}

/* Offers the cut by these parts in the first dimension that they divide. */
static void offer_parts(struct best *b, const struct part *part, int n)
{
	struct shape local = layout_local(&b->problem->to, &b->problem->array.shape);
	struct cut cut = {.n = n};
	int64_t factor = 1;

	memcpy(cut.part, part, (size_t)n * sizeof(*part));
	for (int k = 0; k < n; k++)
		factor *= part[k].size;
	for (; cut.dim < local.rank && local.dim[cut.dim] % factor; cut.dim++)
		;
	if (cut.dim < local.rank)
		offer_cut(b, &cut);
}

void best_gather_after(struct best *b)
{
	const struct problem *p = b->problem;
	struct part all[LAYOUT_PARTS_MAX];
	int nall = 0;

	if (p->vocabulary == VOCABULARY_PORTABLE || mesh_equal(&p->mesh, &p->to_mesh) ||
	    p->to.kind != LAYOUT_AXES || p->from.nunreduced > 0 || p->to.nunreduced > 0)
		return;
	for (int axis = 0; axis < p->to_mesh.naxes; axis++) {
		struct part part = {axis, 1, p->to_mesh.axis[axis].size};
		struct part prime[LAYOUT_PARTS_MAX];
		int n = parts_digits(prime, &part, 1);

		if (uses_axis(&p->to, axis) || n == 0)
			continue;
		all[nall++] = part;
		/* the minor ends of an axis, which are as a rule those of fast links */
		for (int k = 0; k < n; k++) {
			offer_parts(b, &part, 1);
			part.pre *= prime[k].size;
			part.size /= prime[k].size;
		}
	}
	if (nall > 1)
		offer_parts(b, all, nall);
}
