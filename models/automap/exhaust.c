/*
 * All states that actions lead to; with `whole` those of every set of values that are kept whole
 * before all else, too, in which order makes no difference.
 *
 * A value and an axis are a bit of a set. A set is gone on from by those alone that some state of it
 * cuts: to keep others whole, too, changes nothing, so that every set that leads to other states than
 * all smaller ones is come to. Where that is too much sets are of arguments alone.
 */
#include "automap/search.h"

#include "base/keys.h"

#include <math.h>

enum { SETS_OF = 64 };

struct sets {
	struct search *s;
	int n;
	struct action whole[SETS_OF];
	struct keys seen;
	uint64_t cut;     /* what states of the set cut that is gone through */
	uint64_t allowed; /* sets are of these */
};

static void note_cut(struct sets *k)
{
	for (int i = 0; k && i < k->n; i++)
		if (k->s->cutting->value[k->whole[i].dim].mask >> k->whole[i].axis & 1)
			k->cut |= UINT64_C(1) << i;
}

/* Goes on from the current state, which is new; false where there are too many. */
static bool visit(struct search *s, struct sets *k)
{
	struct actions next = {0};
	int64_t mark = cutting_mark(s->cutting), length = s->path.at.n;
	bool all = true;

	search_actions(&next, s, ~0u);
	for (int64_t i = 0; i < next.at.n && all; i++) {
		bool fresh = false;

		if (s->evaluations >= SEARCH_STATES_MAX || search_spent(s)) {
			all = false;
			break;
		}
		if (action_apply(s, next.at.at[i]))
			search_look(s, &fresh);
		if (fresh)
			note_cut(k);
		all = !fresh || visit(s, k);
		action_undo(s, mark, length);
	}
	xfree(next.at.at);
	return all;
}

/* Sets of one value more than this one, of those that its states cut, and so on. */
static bool visit_more(struct sets *k, uint64_t set)
{
	struct search *s = k->s;
	int64_t mark = cutting_mark(s->cutting), length = s->path.at.n;
	uint64_t cut = k->cut & ~set & k->allowed;
	bool all = true, fresh;

	for (int i = 0; i < k->n && all; i++) {
		uint64_t more = set | UINT64_C(1) << i;

		if (cut >> i & 1)
			keys_add(&k->seen, &more, sizeof(more), &fresh);
		if (!(cut >> i & 1) || !fresh)
			continue;
		action_apply(s, k->whole[i]);
		k->cut = 0;
		all = visit(s, k) && visit_more(k, more);
		action_undo(s, mark, length);
	}
	return all;
}

/* All values that may be cut at all; false: they are too many. */
static bool list_values(struct sets *k)
{
	const struct cutting *c = k->s->cutting;
	const struct graph *g = c->graph;

	for (int32_t v = 0; v < g->value.n; v++)
		for (int axis = 0; axis < c->naxes && search_stands_for_like(g, v);
		     axis++) {
			bool may = false;

			for (int32_t d = 0; d < g->value.at[v].type->rank; d++)
				may |= cutting_may(c, v, d, axis);
			if (may && k->n == SETS_OF)
				return false;
			if (may)
				k->whole[k->n++] =
					(struct action){ACTION_WHOLE, v, axis};
		}
	return true;
}

/* Leaves out values of `of` if they lead to too many states: as many for each set as without. */
static void allow(struct sets *k, uint64_t of, int64_t states, int64_t most)
{
	int bits = 0;

	for (int i = 0; i < k->n; i++)
		bits += (k->cut & of) >> i & 1;
	k->allowed = (double)states * exp2(bits) <= (double)most ? of : 0;
}

static uint64_t arguments_of(const struct sets *k)
{
	uint64_t out = 0;

	for (int i = 0; i < k->n; i++)
		if (k->s->cutting->graph->value.at[k->whole[i].dim].op < 0)
			out |= UINT64_C(1) << i;
	return out;
}

bool search_all(struct search *s, int64_t most)
{
	struct sets k = {.s = s, .seen.arena = s->arena};
	int64_t mark = cutting_mark(s->cutting);
	struct actions others = {0};
	bool few = s->whole && list_values(&k);

	s->cuts_complete = visit(s, few ? &k : NULL);
	action_undo(s, mark, 0);
	allow(&k, ~UINT64_C(0), s->evaluations, most);
	s->complete = s->cuts_complete && (!s->whole || (few && k.allowed));
	if (!k.allowed)
		allow(&k, arguments_of(&k), s->evaluations, most);
	if (s->cuts_complete && few && k.allowed)
		s->complete &= visit_more(&k, 0);
	action_undo(s, mark, 0);
	while (s->whole && !s->complete && search_keep_whole(s, &others))
		continue;
	return s->complete;
}

bool search_exhaustive(struct search *s)
{
	return search_all(s, SEARCH_STATES_MAX);
}
