/* Values that are kept whole, in all layers, where the best state cuts them. */
#include "automap/search.h"

#include <stdlib.h>

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

/* A value that is kept whole, and the state that the best way leads to behind it. */
struct kept {
	struct action action;
	struct evaluation e;
	int64_t number;
};

static int compare_kept(const void *a, const void *b, void *self)
{
	const struct kept *x = a, *y = b;
	int c = search_compare_best(self, &x->e, &y->e);

	return c ? c : (x->number > y->number) - (x->number < y->number);
}

/* Looks at the state that an action and then a way lead to. */
static struct evaluation look_behind(struct search *s, struct action first,
                                     const struct actions *way)
{
	int64_t mark = cutting_mark(s->cutting);
	struct evaluation e;
	bool unused;

	action_apply(s, first);
	for (int64_t i = 0; i < way->at.n; i++)
		action_apply(s, way->at.at[i]);
	e = search_look(s, &unused);
	action_undo(s, mark, 0);
	return e;
}

bool search_keep_whole(struct search *s, struct actions *others)
{
	const struct evaluation start = s->best;
	int64_t before = s->best_at;
	struct actions way = {0}, whole = {0};
	LIST(struct kept) better = {0};

	actions_copy(&way, &s->actions, s->arena);
	search_list_cut(&whole, s);
	for (int64_t i = 0; i < whole.at.n && !search_spent(s); i++) {
		struct evaluation e = look_behind(s, whole.at.at[i], &way);

		if (search_compare_best(s, &e, &start) < 0)
			*list_add(&better, NULL) = (struct kept){whole.at.at[i], e, i};
	}
	if (better.n)
		qsort_r(better.at, (size_t)better.n, sizeof(*better.at), compare_kept,
		        s);
	others->at.n = 0;
	for (int64_t i = 1; i < better.n; i++)
		*list_add(&others->at, s->arena) = better.at[i].action;
	xfree(whole.at.at);
	xfree(better.at);
	return s->best_at != before;
}

void search_keep_more(struct search *s, const struct actions *others)
{
	struct actions way = {0};

	for (int64_t i = 0; i < others->at.n && !search_spent(s); i++) {
		actions_copy(&way, &s->actions, s->arena);
		look_behind(s, others->at.at[i], &way);
	}
}
