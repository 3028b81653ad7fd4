/* Values that are kept whole, in all layers, where the best state cuts them. */
#include "automap/search.h"

bool search_stands_for_like(const struct graph *g, int32_t value)
{
	const struct graph_value *v = &g->value.at[value];

	if (v->constant)
		return false;
	if (v->op >= 0)
		return !repeat_instance(g->repeats, g->op.at[v->op].step);
	return v->group >= 0 && g->member.at[g->group.at[v->group].first] == value;
}

void search_list_cut(struct actions *out, struct search *s)
{
	const struct graph *g = s->cutting->graph;
	int64_t mark = cutting_mark(s->cutting);

	search_apply(s);
	for (int32_t v = 0; v < g->value.n; v++) {
		const struct cuts *cuts = &s->cutting->value[v];

		for (int i = 0; search_stands_for_like(g, v) && i < cuts->n; i++)
			*list_add(&out->at, NULL) =
				(struct action){ACTION_WHOLE, v, cuts->axis[i]};
	}
	cutting_undo(s->cutting, mark);
}

bool search_keep_whole(struct search *s)
{
	int64_t mark = cutting_mark(s->cutting), n = s->actions.at.n,
		before = s->best_at;
	struct action *way = arena_alloc(s->arena, (size_t)n + 1, sizeof(*way));
	struct actions whole = {0};
	bool unused;

	for (int64_t i = 0; i < n; i++)
		way[i] = s->actions.at.at[i];
	search_list_cut(&whole, s);
	for (int64_t i = 0; i < whole.at.n && !search_spent(s); i++) {
		action_apply(s, whole.at.at[i]);
		for (int64_t k = 0; k < n; k++)
			action_apply(s, way[k]);
		search_look(s, &unused);
		action_undo(s, mark, 0);
	}
	xfree(whole.at.at);
	return s->best_at != before;
}
