/* All states that actions lead to. */
#include "automap/search.h"

/* Goes on from the current state, which is new; false where there are too many. */
static bool visit(struct search *s)
{
	struct actions next = {0};
	int64_t mark = cutting_mark(s->cutting), length = s->path.at.n;

	search_actions(&next, s, ~0u);
	for (int64_t i = 0; i < next.at.n; i++) {
		bool fresh = false;

		if (s->states >= SEARCH_STATES_MAX || search_spent(s))
			return false;
		if (action_apply(s, next.at.at[i]))
			search_look(s, &fresh);
		if (fresh && !visit(s))
			return false;
		action_undo(s, mark, length);
	}
	return true;
}

bool search_exhaustive(struct search *s)
{
	int64_t mark = cutting_mark(s->cutting);

	s->complete = visit(s);
	action_undo(s, mark, 0);
	return s->complete;
}
