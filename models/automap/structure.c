/*
 * The search that uses structure. Actions that lead from a state to the same state are
 * one class. An action that makes ops of the forward or backward pass run along its axis
 * changes how the step is computed; such ones are few and are searched with a beam.
 * Others change where parameters are kept (ZeRO): they change no op of the passes, so
 * that what each saves and costs hardly depends on the others. They are ranked once and
 * taken in that order, as many as are needed. Then single actions are left out, added
 * and replaced while that helps, and last values are kept whole that propagation would cut. All that
 * is done once more beside the best state (search_beside()). Where there are few states all of them are
 * looked at instead.
 */
#include "automap/search.h"

#include "base/keys.h"

#include <stdlib.h>
#include <string.h>

enum {
	BEAM = 12, /* states that are gone on from, by either order */
	FINISHED =
		6, /* of all states, those to which stores are added, by either order */
	PATIENCE = 2, /* levels without a better state, after which the beam ends */
	LEVELS_MAX = 24,
	POLISH_MAX = 12, /* rounds */
	SMALL = 50000    /* ways to cut arguments: then all states are looked at */
};

/* Memory within which is searched once more, of what the best takes. */
static const double BESIDE = .9;

struct state {
	struct actions way; /* from the first state */
	struct evaluation e;
};

/*
 * The best states in an order: that of the answer; by time, whatever the memory; by time
 * and what does not fit besides parameters, which stores may still make small.
 */
enum order { ORDER_ANSWER, ORDER_TIME, ORDER_ACTIVATIONS, ORDERS };

struct ranked {
	enum order order;
	int64_t n, most;
	struct state *at;
};

struct beam {
	struct search *s;
	struct keys seen, grown; /* states; and those that were gone on from */
	struct ranked level[ORDERS], next[ORDERS], all[ORDERS];
};

/* A way to keep a group in parts: what it saves and costs, alone. */
struct store {
	struct action action;
	double bytes, s;
	int32_t order;
};

/* A store that was taken, and how long the trail was before. */
struct taken {
	struct action action;
	int64_t mark;
};

/* Takes the actions of a way, but for number `skip` (< 0: all). */
static void apply_way(struct search *s, const struct actions *way, int64_t skip)
{
	for (int64_t i = 0; i < way->at.n; i++)
		if (i != skip)
			action_apply(s, way->at.at[i]);
}

static struct state state_here(struct search *s, struct evaluation e)
{
	struct state out = {.e = e};

	actions_copy(&out.way, &s->path, s->arena);
	return out;
}

/* Seconds, and as much again for each time the limit that activations are beyond it. */
static double penalised_s(const struct search *s, const struct evaluation *e)
{
	double limit = s->memory_limit_bytes;
	double over = e->peak_bytes - e->params_bytes - limit;

	return limit > 0 && over > 0 ? e->step_s * (1 + over / limit) : e->step_s;
}

static bool precedes(const struct search *s, const struct ranked *r,
                     const struct state *x, const struct state *y)
{
	double a = x->e.step_s, b = y->e.step_s;

	if (r->order == ORDER_ACTIVATIONS) {
		a = penalised_s(s, &x->e);
		b = penalised_s(s, &y->e);
	}
	if (r->order != ORDER_ANSWER && a != b)
		return a < b;
	return search_compare(s, &x->e, &y->e) < 0;
}

/* Puts a state among the best ones of a list; returns whether it is the first. */
static bool rank(const struct search *s, struct ranked *r, const struct state *x)
{
	int64_t at = r->n < r->most ? r->n++ : r->most;

	if (at == r->most && !precedes(s, r, x, &r->at[at - 1]))
		return false;
	if (at == r->most)
		at--;
	for (; at > 0 && precedes(s, r, x, &r->at[at - 1]); at--)
		r->at[at] = r->at[at - 1];
	r->at[at] = *x;
	return at == 0;
}

/*
 * All states that one action leads to from one, those that were not seen. Returns whether
 * one of them is the best in some order.
 */
static bool grow(struct beam *b, const struct state *from)
{
	struct search *s = b->s;
	struct actions next = {0};
	int64_t start = cutting_mark(s->cutting), mark, length;
	bool better = false, first;
	int32_t state;

	apply_way(s, &from->way, -1);
	mark = cutting_mark(s->cutting);
	length = s->path.at.n;
	/* What is in several lists leads nowhere new the second time. */
	state = search_state(s);
	keys_add(&b->grown, &state, sizeof(state), &first);
	if (!first) {
		action_undo(s, start, 0);
		return false;
	}
	search_actions(&next, s, ~0u);
	for (int64_t i = 0; i < next.at.n && !search_spent(s); i++) {
		bool fresh = false, unused;

		if (action_apply(s, next.at.at[i])) {
			state = search_state(s);
			keys_add(&b->seen, &state, sizeof(state), &fresh);
		}
		if (fresh && cutting_runs_since(s->cutting, mark)) {
			struct state x = state_here(s, search_look(s, &unused));

			for (int k = 0; k < ORDERS; k++) {
				rank(s, &b->next[k], &x);
				better |= rank(s, &b->all[k], &x);
			}
		}
		action_undo(s, mark, length);
	}
	action_undo(s, start, 0);
	xfree(next.at.at);
	return better;
}

static void run_beam(struct beam *b)
{
	int idle = 0;

	for (int i = 0; i < LEVELS_MAX && idle < PATIENCE; i++) {
		bool better = false;

		for (int k = 0; k < ORDERS; k++)
			b->next[k].n = 0;
		for (int k = 0; k < ORDERS; k++)
			for (int64_t j = 0; j < b->level[k].n; j++)
				better |= grow(b, &b->level[k].at[j]);
		for (int k = 0; k < ORDERS; k++) {
			b->level[k].n = b->next[k].n;
			memcpy(b->level[k].at, b->next[k].at,
			       (size_t)b->next[k].n * sizeof(*b->next[k].at));
		}
		idle = better ? 0 : idle + 1;
		if (!b->level[0].n || search_spent(b->s))
			return;
	}
}

/* --- stores ----------------------------------------------------------------------- */

/* What saves most per second comes first; what costs nothing before all. */
static int compare_stores(const void *a, const void *b)
{
	const struct store *x = a, *y = b;
	double l = x->bytes * (y->s > 0 ? y->s : 0),
	       r = y->bytes * (x->s > 0 ? x->s : 0);

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

		if (action_apply(s, next.at.at[i]) &&
		    !cutting_runs_since(s->cutting, mark)) {
			struct evaluation e = search_look(s, &unused);

			out[(*n)++] = (struct store){next.at.at[i],
			                             here.peak_bytes - e.peak_bytes,
			                             e.step_s - here.step_s, (int32_t)i};
		}
		action_undo(s, mark, length);
	}
	xfree(next.at.at);
	qsort(out, (size_t)*n, sizeof(*out), compare_stores);
	return out;
}

/*
 * Takes stores in order while they are better together; then leaves out, from the dearest
 * on, those without which the state still fits.
 */
static void add_stores(struct search *s, struct evaluation here)
{
	int64_t n, length = s->path.at.n, mark = cutting_mark(s->cutting);
	struct store *store = list_stores(s, here, &n);
	LIST(struct taken) list = {0};
	struct evaluation now = here, e;
	bool unused;

	for (int64_t i = 0; i < n && !search_spent(s); i++) {
		int64_t before = cutting_mark(s->cutting);

		if (action_apply(s, store[i].action) &&
		    !cutting_runs_since(s->cutting, before)) {
			e = search_look(s, &unused);
			if (search_compare(s, &e, &now) < 0) {
				now = e;
				*list_add(&list, s->arena) =
					(struct taken){store[i].action, before};
				continue;
			}
		}
		action_undo(s, before, length + list.n);
	}
	for (int64_t skip = list.n; skip-- > 0 && !search_spent(s);) {
		action_undo(s, list.at[skip].mark, length + skip);
		for (int64_t i = skip + 1; i < list.n; i++)
			action_apply(s, list.at[i].action);
		e = search_look(s, &unused);
		if (search_compare(s, &e, &now) >= 0)
			continue;
		now = e;
		memmove(list.at + skip, list.at + skip + 1,
		        (size_t)(--list.n - skip) * sizeof(*list.at));
	}
	action_undo(s, mark, length);
}

/* --- polishing -------------------------------------------------------------------- */

/* The cut of an action, which is made, along each other axis, too. */
static void add_like(struct search *s, struct action a)
{
	int64_t here = cutting_mark(s->cutting), length = s->path.at.n;
	bool unused;

	for (int axis = 0; axis < s->cutting->naxes && !search_spent(s); axis++) {
		struct action also = {a.group, a.dim, axis};

		if (axis != a.axis && action_apply(s, also))
			search_look(s, &unused);
		action_undo(s, here, length);
	}
}

/*
 * One round: the best state that differs from the best one by an action that is left out,
 * one that is added, along other axes as well, or one in the place of another. Returns whether it is
 * better.
 */
static bool polish(struct search *s)
{
	int64_t mark = cutting_mark(s->cutting), before = s->best_at;
	struct actions way = {0}, next = {0};

	actions_copy(&way, &s->actions, s->arena);
	for (int64_t skip = 0; skip <= way.at.n && !search_spent(s); skip++) {
		int64_t here, length;
		bool unused;

		apply_way(s, &way, skip);
		search_look(s, &unused);
		here = cutting_mark(s->cutting);
		length = s->path.at.n;
		search_actions(&next, s, ~0u);
		for (int64_t i = 0; i < next.at.n && !search_spent(s); i++) {
			if (action_apply(s, next.at.at[i]))
				search_look(s, &unused);
			if (skip == way.at.n && s->whole)
				add_like(s, next.at.at[i]);
			action_undo(s, here, length);
		}
		action_undo(s, mark, 0);
	}
	xfree(next.at.at);
	return s->best_at != before;
}

/* Whether there are so few ways to cut arguments that all can be looked at. */
static bool is_small(const struct search *s)
{
	const struct graph *g = s->cutting->graph;
	double n = 1;

	for (int64_t i = 0; i < g->group.n; i++)
		for (int axis = 0; axis < s->cutting->naxes; axis++)
			if (g->group.at[i].role != ROLE_STATE)
				n *= 1 + g->group.at[i].type->rank;
	return n <= SMALL;
}

static struct ranked list_of(struct search *s, int order, int64_t most)
{
	return (struct ranked){(enum order)order, 0, most,
	                       arena_alloc(s->arena, (size_t)most, sizeof(struct state))};
}

/* Stores on top of the best states that the beam saw, then the best of all is polished. */
static void finish(struct beam *b)
{
	struct search *s = b->s;
	int64_t mark = cutting_mark(s->cutting);

	for (int k = 0; k < ORDERS; k++)
		for (int64_t i = 0; i < b->all[k].n; i++) {
			apply_way(s, &b->all[k].at[i].way, -1);
			add_stores(s, b->all[k].at[i].e);
			action_undo(s, mark, 0);
		}
	for (int i = 0; i < POLISH_MAX && polish(s); i++)
		continue;
}

/*
 * The beam and what follows; then that again with parameters that stay whole while their states are
 * cut, which hide from a greedy choice that more would fit if they were cut themselves.
 */
static void explore(struct search *s, bool from_start)
{
	struct beam b = {.s = s, .seen.arena = s->arena, .grown.arena = s->arena};
	int64_t mark = cutting_mark(s->cutting);
	struct state first;
	int32_t state;
	bool fresh;

	if (from_start)
		search_go_to_start(s);
	state = search_state(s);
	keys_add(&b.seen, &state, sizeof(state), &fresh);
	first = state_here(s, search_look(s, &fresh));
	action_undo(s, mark, 0);
	for (int k = 0; k < ORDERS; k++) {
		b.level[k] = list_of(s, k, BEAM);
		b.next[k] = list_of(s, k, BEAM);
		b.all[k] = list_of(s, k, FINISHED);
		rank(s, &b.level[k], &first);
		rank(s, &b.all[k], &first);
	}
	s->with_states = false;
	run_beam(&b);
	finish(&b);
	s->with_states = s->has_states;
	if (s->has_states)
		finish(&b);
}

static void explore_all(struct search *s)
{
	explore(s, false);
	if (s->nstart || s->seed)
		explore(s, true);
}

/*
 * Keeps values whole, and polishes what that makes better. Where nothing is to be polished values hang
 * on each other as little as on the cuts, and all that help alone are taken at once.
 */
static void keep_whole(struct search *s)
{
	struct actions others = {0};

	for (int i = 0; s->whole && i < POLISH_MAX && search_keep_whole(s, &others); i++)
		if (!polish(s) && others.at.n) {
			search_keep_more(s, &others);
			polish(s);
		}
}

/* Whether no state that was seen is faster than the best: no limit was in the way. */
static bool is_fastest(const struct search *s)
{
	for (int64_t i = 0; i < s->known.n; i++)
		if (s->known.at[i].step_s < s->best.step_s)
			return false;
	return true;
}

/*
 * Where no limit is in the way all orders of states are one, and the beam holds to those that are
 * fast from the first cut on; where nothing fits the least memory is one of many states that take
 * hardly more. All once more, within a tenth less memory than the best takes, or for a compromise of
 * memory and time, comes to states which single actions do not lead to from the best, and which may be
 * better than it. Returns whether one is.
 */
static bool search_beside(struct search *s)
{
	bool fits = search_fits(s, &s->best);
	int64_t before = s->best_at;

	if (!s->whole || (fits && (s->seed || !is_fastest(s))))
		return false;
	search_aside(s, fits ? BESIDE * s->best.peak_bytes : s->memory_limit_bytes,
	             !fits);
	explore_all(s);
	keep_whole(s);
	search_aside_no_more(s);
	return s->best_at != before;
}

void search_structure(struct search *s)
{
	if (is_small(s))
		search_all(s, SMALL);
	if (!s->cuts_complete)
		explore_all(s);
	keep_whole(s);
	if (!s->cuts_complete && search_beside(s)) {
		polish(s);
		keep_whole(s);
	}
}
