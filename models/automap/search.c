#include "automap/search.h"

#include "base/keys.h"

#include <math.h>
#include <string.h>

/* Of a compromise, for each time the limit that it is beyond it. */
static const double PENALTY = 10;

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

static int compare_time(const struct evaluation *a, const struct evaluation *b)
{
	int c = compare(a->step_s, b->step_s);

	return c ? c : compare(a->peak_bytes, b->peak_bytes);
}

int search_compare(const struct search *s, const struct evaluation *a,
                   const struct evaluation *b)
{
	int c = compare(over(s, a), over(s, b));

	return c ? c : compare_time(a, b);
}

int search_compare_compromise(const struct search *s, const struct evaluation *a,
                              const struct evaluation *b)
{
	double limit = s->memory_limit_bytes, x = over(s, a), y = over(s, b);
	int c;

	if ((x > 0) != (y > 0))
		return x > 0 ? 1 : -1;
	c = x > 0 ? compare(a->step_s * (1 + PENALTY * x / limit),
	                    b->step_s * (1 + PENALTY * y / limit))
	          : 0;
	return c ? c : compare_time(a, b);
}

int search_compare_best(const struct search *s, const struct evaluation *a,
                        const struct evaluation *b)
{
	return s->compromise ? search_compare_compromise(s, a, b)
	                     : search_compare(s, a, b);
}

bool search_fits(const struct search *s, const struct evaluation *e)
{
	return !(over(s, e) > 0);
}

void actions_copy(struct actions *out, const struct actions *from, struct arena *a)
{
	out->at.n = 0;
	for (int64_t i = 0; i < from->at.n; i++)
		*list_add(&out->at, a) = from->at.at[i];
}

void search_go_to_start(struct search *s)
{
	for (int i = 0; i < s->nstart; i++)
		action_apply(s, (struct action){ACTION_START, i, 0});
	for (int64_t i = 0; s->seed && i < s->seed->at.n; i++)
		action_apply(s, s->seed->at.at[i]);
}

void search_start(struct search *s, struct arena *a)
{
	int64_t mark = cutting_mark(s->cutting);
	bool fresh;

	s->arena = a;
	s->state = arena_alloc(a, 1, sizeof(*s->state));
	s->seen = arena_alloc(a, 1, sizeof(*s->seen));
	s->part = arena_alloc(a, 1, sizeof(*s->part));
	s->state->arena = s->seen->arena = s->part->arena = a;
	s->nparts = cutting_parts(s->cutting);
	s->part_of = arena_alloc(a, (size_t)s->nparts + 1, sizeof(*s->part_of));
	memset(s->cutting->changed, true, (size_t)s->nparts);
	s->found = false;
	s->evaluations = 0;
	if (!s->ngoals)
		for (int k = GOAL_TIME; k <= GOAL_MEMORY; k++)
			for (int axis = 0; axis < s->cutting->naxes; axis++)
				s->goal[s->ngoals++] =
					(struct goal){axis, (enum goal_kind)k};
	lower_start(&s->lowered, a, s->cutting->graph);
	s->experts = tactic_has_experts(s->cutting->graph);
	s->states_of = arena_alloc(a, (size_t)s->cutting->graph->group.n + 1,
	                           sizeof(*s->states_of));
	for (int64_t i = 0; i < s->cutting->graph->group.n; i++) {
		int32_t of = s->cutting->graph->group.at[i].state_of;

		if (of >= 0)
			s->has_states = s->states_of[of] = true;
	}
	s->with_states = s->has_states;
	search_look(s, &fresh);
	search_go_to_start(s);
	search_look(s, &fresh);
	action_undo(s, mark, 0);
}

int32_t search_state(struct search *s)
{
	struct cutting *c = s->cutting;
	uint8_t key[CUT_KEY_MOST];
	bool fresh;

	for (int32_t i = 0; i < s->nparts; i++)
		if (c->changed[i]) {
			s->part_of[i] =
				keys_add(s->part, key, cutting_key(key, c, i), &fresh);
			c->changed[i] = false;
		}
	return keys_add(s->state, s->part_of, (size_t)s->nparts * sizeof(*s->part_of),
	                &fresh);
}

/* Notes the state that the path leads to if it is the best of a search, or of its answer. */
static bool note_best(struct search *of, const struct search *s,
                      const struct evaluation *e)
{
	if (of->found && search_compare_best(of, e, &of->best) >= 0)
		return false;
	of->found = true;
	of->best = *e;
	of->best_at = s->evaluations;
	actions_copy(&of->actions, &s->path, s->arena);
	return true;
}

void search_aside(struct search *s, double memory_limit_bytes, bool compromise)
{
	s->answer = arena_dup(s->arena, s, 1, sizeof(*s));
	s->memory_limit_bytes = memory_limit_bytes;
	s->compromise = compromise;
	s->found = false;
	s->actions = (struct actions){0};
}

void search_aside_no_more(struct search *s)
{
	const struct search *answer = s->answer;

	s->memory_limit_bytes = answer->memory_limit_bytes;
	s->compromise = answer->compromise;
	s->best = answer->best;
	s->best_at = answer->best_at;
	s->found = answer->found;
	s->actions = answer->actions;
	s->answer = NULL;
}

struct evaluation search_look(struct search *s, bool *fresh)
{
	int32_t state = search_state(s);
	int32_t number = keys_add(s->seen, &state, sizeof(state), fresh);
	struct evaluation e;

	if (*fresh) {
		e = evaluate(s->evaluator, s->cutting);
		s->evaluations++;
		*list_add(&s->known, s->arena) = e;
	} else {
		e = s->known.at[number];
	}
	if (*fresh && s->answer)
		note_best(s->answer, s, &e);
	/* What is known may be new to another limit. */
	if ((*fresh || s->answer) && note_best(s, s, &e) && s->better && !s->answer)
		s->better(s->self, s);
	return e;
}

void search_actions(struct actions *out, const struct search *s, unsigned axes)
{
	const struct graph *g = s->cutting->graph;

	out->at.n = 0;
	for (int32_t i = 0; i < g->group.n; i++) {
		const struct graph_group *group = &g->group.at[i];
		uint8_t taken;
		bool alone;

		if (group->role == ROLE_STATE)
			continue;
		alone = s->with_states && s->states_of[i];
		taken = s->cutting->value[g->member.at[group->first]].mask;
		for (int axis = 0; axis < s->cutting->naxes && alone; axis++)
			if (axes >> axis & 1 && !(taken >> axis & 1))
				*list_add(&out->at, NULL) =
					(struct action){i, DIM_OF_STATES, axis};
		for (int32_t d = 0; d < group->type->rank; d++)
			for (int axis = 0; axis < s->cutting->naxes; axis++) {
				bool any = false;

				for (int32_t k = 0; k < group->n && !any; k++)
					any = cutting_may(s->cutting,
					                  g->member.at[group->first + k],
					                  d, axis);
				if (any && axes >> axis & 1)
					*list_add(&out->at, NULL) =
						(struct action){i, d, axis};
			}
	}
	for (int axis = 0; axis < s->cutting->naxes; axis++) {
		if (axes >> axis & 1)
			*list_add(&out->at, NULL) =
				(struct action){ACTION_SUMS, 1, axis};
		if (axes >> axis & 1 && s->experts)
			*list_add(&out->at, NULL) =
				(struct action){ACTION_EXPERTS, 0, axis};
	}
}

/* What is cut as it is stays whole with it. */
static void keep_ring(struct cutting *c, int32_t value, int axis)
{
	int32_t v = value;

	do {
		cutting_atomic(c, v, axis);
		v = c->graph->value.at[v].alike;
	} while (v != value);
}

/* Keeps a value whole with those of its group, or at its place in other layers. */
static bool keep_whole(struct cutting *c, int32_t value, int axis)
{
	const struct graph *g = c->graph;
	const struct graph_value *v = &g->value.at[value];
	int32_t step = v->op < 0 ? -1 : g->op.at[v->op].step;
	const struct repeat_run *run =
		step < 0 || g->repeats->run_of[step] < 0
			? NULL
			: &g->repeats->run.at[g->repeats->run_of[step]];
	int64_t mark = cutting_mark(c);

	keep_ring(c, value, axis);
	for (int32_t i = 0; v->group >= 0 && i < g->group.at[v->group].n; i++)
		keep_ring(c, g->member.at[g->group.at[v->group].first + i], axis);
	for (int32_t i = 0; run && i < run->n; i++) {
		int32_t other = run->first + i * run->period +
		                (step - run->first) % run->period;
		int32_t like = g->value_of[g->flat->step.at[other].first_out + v->out];

		if (like >= 0)
			keep_ring(c, like, axis);
	}
	return cutting_mark(c) > mark;
}

static bool apply(struct search *s, struct action a)
{
	switch (a.group) {
	case ACTION_WHOLE:
		return keep_whole(s->cutting, a.dim, a.axis);
	case ACTION_SUMS:
		return tactic_cut_sums(s->cutting, &s->lowered, a.dim, a.axis) > 0;
	case ACTION_EXPERTS:
		return tactic_cut_experts(s->cutting, a.axis) > 0;
	case ACTION_START:
		return tactic_apply(s->cutting, &s->start[a.dim]) > 0;
	default:
		if (a.dim == DIM_OF_STATES)
			return tactic_cut_states(s->cutting, a.group, a.axis) > 0;
		return cutting_group(s->cutting, a.group, a.dim, a.axis);
	}
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
