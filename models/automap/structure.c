/*
 * The search that uses structure. Actions that lead from a state to the same state are one
 * class. An action that makes ops of the forward or backward pass run along its axis changes
 * how the step is computed; such ones are few and are searched with a beam. Others change
 * where parameters are kept (ZeRO): they change no op of the passes, so that what each saves and
 * costs hardly depends on the others. They are ranked once and taken in that order, as many as
 * are needed.
 */
#include "automap/search.h"

#include "base/keys.h"

#include <stdlib.h>
#include <string.h>

enum {
	BEAM = 12,      /* states that are gone on from; 4 find the same in all cases tried */
	FINISHED = 6,   /* of all states, the best ones to which stores are added */
	PATIENCE = 2,   /* levels without a better state, after which the beam ends */
	LEVELS_MAX = 24
};

struct state {
	struct actions way; /* from the first state */
	struct evaluation e;
};

struct beam {
	struct search *s;
	struct keys seen;
	LIST(struct state) level, next, all;
};

/* A way to keep a group in parts: what it saves and costs, alone. */
struct store {
	struct action action;
	double bytes, s;
	int32_t order;
};

static void apply_way(struct search *s, const struct actions *way)
{
	for (int64_t i = 0; i < way->at.n; i++)
		action_apply(s, way->at.at[i]);
}

/* Whether an op of the passes runs otherwise since the trail was so long. */
static bool computes(const struct search *s, int64_t mark)
{
	return cutting_runs_since(s->cutting, mark);
}

static struct state state_here(struct search *s, struct evaluation e)
{
	struct state out = {.e = e};

	for (int64_t i = 0; i < s->path.at.n; i++)
		*list_add(&out.way.at, s->arena) = s->path.at.at[i];
	return out;
}

/* Puts a state among the best ones of a list. */
static void rank(struct beam *b, struct state *list, int64_t *n, int64_t most,
                 const struct state *x)
{
	int64_t at = *n < most ? (*n)++ : most;

	if (at == most && search_compare(b->s, &x->e, &list[most - 1].e) >= 0)
		return;
	if (at == most)
		at--;
	for (; at > 0 && search_compare(b->s, &x->e, &list[at - 1].e) < 0; at--)
		list[at] = list[at - 1];
	list[at] = *x;
}

/* All states that one action leads to from one, those that were not seen. */
static void grow(struct beam *b, const struct state *from)
{
	struct search *s = b->s;
	struct actions next = {0};
	int64_t start = cutting_mark(s->cutting), mark, length;

	apply_way(s, &from->way);
	mark = cutting_mark(s->cutting);
	length = s->path.at.n;
	search_actions(&next, s, ~0u);
	for (int64_t i = 0; i < next.at.n && !search_spent(s); i++) {
		bool fresh = false, unused;

		if (action_apply(s, next.at.at[i]))
			keys_add(&b->seen, &s->cutting->hash, sizeof(s->cutting->hash),
			         &fresh);
		if (fresh && computes(s, mark)) {
			struct state x = state_here(s, search_look(s, &unused));

			rank(b, b->next.at, &b->next.n, BEAM, &x);
			rank(b, b->all.at, &b->all.n, FINISHED, &x);
		}
		action_undo(s, mark, length);
	}
	action_undo(s, start, 0);
}

static void run_beam(struct beam *b)
{
	int idle = 0;

	for (int i = 0; i < LEVELS_MAX && idle < PATIENCE && !search_spent(b->s); i++) {
		struct evaluation before = b->all.at[0].e;

		b->next.n = 0;
		for (int64_t k = 0; k < b->level.n; k++)
			grow(b, &b->level.at[k]);
		memcpy(b->level.at, b->next.at,
		       (size_t)b->next.n * sizeof(*b->level.at));
		b->level.n = b->next.n;
		idle = search_compare(b->s, &b->all.at[0].e, &before) < 0 ? 0 : idle + 1;
		if (!b->level.n)
			return;
	}
}

/* --- stores ----------------------------------------------------------------------- */

/* What saves most per second comes first; what costs nothing before all. */
static int compare_stores(const void *a, const void *b)
{
	const struct store *x = a, *y = b;
	double l = x->bytes * (y->s > 0 ? y->s : 0), r = y->bytes * (x->s > 0 ? x->s : 0);

	if ((x->s <= 0) != (y->s <= 0))
		return x->s <= 0 ? -1 : 1;
	if (l != r)
		return l > r ? -1 : 1;
	return (x->order > y->order) - (x->order < y->order);
}

/* The stores of the current state, each alone. */
static struct store *list_stores(struct search *s, struct evaluation here, int64_t *n)
{
	struct actions next = {0};
	int64_t mark = cutting_mark(s->cutting), length = s->path.at.n;
	struct store *out;

	*n = 0;
	search_actions(&next, s, ~0u);
	out = arena_alloc(s->arena, (size_t)next.at.n + 1, sizeof(*out));
	for (int64_t i = 0; i < next.at.n && !search_spent(s); i++) {
		bool unused;

		if (action_apply(s, next.at.at[i]) && !computes(s, mark)) {
			struct evaluation e = search_look(s, &unused);

			out[(*n)++] = (struct store){next.at.at[i],
			                             here.peak_bytes - e.peak_bytes,
			                             e.step_s - here.step_s, (int32_t)i};
		}
		action_undo(s, mark, length);
	}
	qsort(out, (size_t)*n, sizeof(*out), compare_stores);
	return out;
}

/*
 * Takes stores in order while they are better together; then leaves out, from the dearest
 * on, those without which the state still fits.
 */
static void add_stores(struct search *s, struct evaluation here)
{
	int64_t n, length = s->path.at.n, mark = cutting_mark(s->cutting), taken = 0;
	struct store *store = list_stores(s, here, &n);
	struct action *list = arena_alloc(s->arena, (size_t)n + 1, sizeof(*list));
	struct evaluation now = here;
	bool unused;

	for (int64_t i = 0; i < n && !search_spent(s); i++) {
		int64_t before = cutting_mark(s->cutting), so_far = s->path.at.n;
		struct evaluation e;

		if (!action_apply(s, store[i].action) || computes(s, before)) {
			action_undo(s, before, so_far);
			continue;
		}
		e = search_look(s, &unused);
		if (search_compare(s, &e, &now) < 0) {
			now = e;
			list[taken++] = store[i].action;
		} else {
			action_undo(s, before, so_far);
		}
	}
	for (int64_t skip = taken; skip-- > 0 && !search_spent(s);) {
		struct evaluation e;

		action_undo(s, mark, length);
		for (int64_t i = 0; i < taken; i++)
			if (i != skip)
				action_apply(s, list[i]);
		e = search_look(s, &unused);
		if (search_compare(s, &e, &now) >= 0)
			continue;
		now = e;
		memmove(list + skip, list + skip + 1,
		        (size_t)(--taken - skip) * sizeof(*list));
	}
	action_undo(s, mark, length);
}

void search_structure(struct search *s)
{
	struct beam b = {.s = s, .seen.arena = s->arena};
	int64_t mark = cutting_mark(s->cutting);
	struct state first;
	bool fresh;

	list_reserve(&b.level, s->arena, BEAM + 1);
	list_reserve(&b.next, s->arena, BEAM + 1);
	list_reserve(&b.all, s->arena, FINISHED + 1);
	keys_add(&b.seen, &s->cutting->hash, sizeof(s->cutting->hash), &fresh);
	first = state_here(s, search_look(s, &fresh));
	b.level.at[b.level.n++] = first;
	rank(&b, b.all.at, &b.all.n, FINISHED, &first);
	run_beam(&b);
	for (int64_t i = 0; i < b.all.n; i++) {
		apply_way(s, &b.all.at[i].way);
		add_stores(s, b.all.at[i].e);
		action_undo(s, mark, 0);
	}
}
