#include "automap/search.h"

#include "automap/tactic.h"
#include "base/keys.h"

#include <math.h>
#include <string.h>

static double over(const struct search *s, const struct evaluation *e)
{
	return s->memory_limit_bytes > 0 && e->peak_bytes > s->memory_limit_bytes
	               ? e->peak_bytes - s->memory_limit_bytes
	               : 0;
}

/* Equal up to rounding. */
static int compare(double a, double b)
{
	return fabs(a - b) <= 1e-12 * (fabs(a) + fabs(b)) ? 0 : a < b ? -1 : 1;
}

int search_compare(const struct search *s, const struct evaluation *a,
                   const struct evaluation *b)
{
	int c = compare(over(s, a), over(s, b));

	if (!c)
		c = compare(a->step_s, b->step_s);
	return c ? c : compare(a->peak_bytes, b->peak_bytes);
}

void search_start(struct search *s, struct arena *a)
{
	bool fresh;

	s->arena = a;
	s->seen = arena_alloc(a, 1, sizeof(*s->seen));
	s->seen->arena = a;
	s->found = false;
	s->evaluations = s->states = 0;
	if (!s->ngoals)
		for (int k = GOAL_TIME; k <= GOAL_MEMORY; k++)
			for (int axis = 0; axis < s->cutting->naxes; axis++)
				s->goal[s->ngoals++] =
					(struct goal){axis, (enum goal_kind)k};
	lower_start(&s->lowered, a, s->cutting->graph);
	search_look(s, &fresh);
}

struct evaluation search_look(struct search *s, bool *fresh)
{
	int32_t number =
		keys_add(s->seen, &s->cutting->hash, sizeof(s->cutting->hash), fresh);
	struct evaluation e;

	if (!*fresh)
		return s->known.at[number];
	e = evaluate(s->evaluator, s->cutting);
	s->evaluations++;
	s->states++;
	*list_add(&s->known, s->arena) = e;
	if (s->found && search_compare(s, &e, &s->best) >= 0)
		return e;
	s->found = true;
	s->best = e;
	s->best_at = s->evaluations;
	s->actions.at.n = 0;
	for (int64_t i = 0; i < s->path.at.n; i++)
		*list_add(&s->actions.at, s->arena) = s->path.at.at[i];
	if (s->better)
		s->better(s->self, s);
	return e;
}

void search_actions(struct actions *out, const struct search *s, unsigned axes)
{
	const struct graph *g = s->cutting->graph;

	out->at.n = 0;
	for (int32_t i = 0; i < g->group.n; i++) {
		const struct graph_group *group = &g->group.at[i];

		if (group->role == ROLE_STATE)
			continue;
		for (int32_t d = 0; d < group->type->rank; d++)
			for (int axis = 0; axis < s->cutting->naxes; axis++) {
				bool any = false;

				for (int32_t k = 0; k < group->n && !any; k++)
					any = cutting_may(s->cutting,
					                  g->member.at[group->first + k],
					                  d, axis);
				if (any && axes >> axis & 1)
					*list_add(&out->at, s->arena) =
						(struct action){i, d, axis};
			}
	}
	for (int axis = 0; axis < s->cutting->naxes; axis++)
		if (axes >> axis & 1)
			*list_add(&out->at, s->arena) =
				(struct action){ACTION_SUMS, 1, axis};
}

static bool apply(struct search *s, struct action a)
{
	return a.group == ACTION_SUMS
	               ? tactic_cut_sums(s->cutting, &s->lowered, a.dim, a.axis) > 0
	               : cutting_group(s->cutting, a.group, a.dim, a.axis);
}

bool action_apply(struct search *s, struct action a)
{
	*list_add(&s->path.at, s->arena) = a;
	return apply(s, a);
}

void search_apply(struct search *s)
{
	for (int64_t i = 0; i < s->actions.at.n; i++)
		apply(s, s->actions.at.at[i]);
}
