#include "bound/bound.h"

#include <math.h>

/* Returns whether the tiles that a step leaves are those of its layout, one after another. */
static bool usual(const struct plan *plan, const struct step *s)
{
	struct shape local = layout_local(&s->after, &plan->shape);

	for (int i = 0; i < local.rank; i++)
		if (local.dim[i] != s->local.dim[i])
			return false;
	return !s->start && !s->gathers;
}

double step_bound_s(const struct plan *plan, int step, const struct machine *m,
                    const struct placement *place)
{
	const struct step *s = &plan->step[step];
	struct problem p = *plan->problem;
	double out;

	if ((step > 0 && !usual(plan, s - 1)) || !usual(plan, s))
		return NAN;
	p.arena = arena_new();
	if (plan->view)
		p.array.shape = plan->shape;
	p.from = *plan_before(plan, step);
	p.mesh = step > 0 ? *s[-1].mesh : p.mesh;
	p.to = s->after;
	p.to_mesh = *s->mesh;
	problem_finish(&p);
	out = bound_s(&p, m, place);
	arena_free(p.arena);
	return out;
}
