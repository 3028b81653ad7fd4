/*
 * Monte Carlo tree search. A node is a state, so that ways that lead to the same state
 * share what is known. From a node one untried action is taken, at
 * random; from there on random actions are, until a draw says to stop. The reward of the
 * better of the new node and of the end goes to all nodes of the way.
 */
#include "automap/search.h"

#include "base/keys.h"
#include "base/rng.h"

#include <math.h>

enum {
	WAY_MAX = 64,   /* actions of an episode */
	IDLE_MAX = 200, /* episodes without a new state, after which a goal is done */
	/* Evaluations that are for cuts alone, and the part of more that is for values to keep whole. */
	CUTS_FIRST = 1000,
	WHOLE_PART = 4
};

/* How much a branch that was tried seldom is preferred (UCT's constant), and the draw. */
static const double EXPLORE = .35, STOP = .3;

struct branch {
	struct action action;
	int32_t node; /* -1: not tried; BRANCH_DEAD: it does nothing, or what another does */
};

enum { BRANCH_DEAD = -2 };

struct node {
	LIST(struct branch) branch;
	int64_t untried, visits;
	double reward, own; /* the sum; that of the state itself */
};

struct tree {
	struct search *s;
	struct goal goal;
	struct keys keys;
	LIST(struct node *) node;
	struct rng *rng;
	double time_s, peak_bytes; /* of the first state of the goal */
	/* Of the last goal: values that may be kept whole, and the way that is gone behind them. */
	const struct actions *whole, *behind;
	/* The best state for the goal. */
	double best;
	struct actions way;
};

static double reward_of(const struct tree *t, const struct evaluation *e)
{
	double limit = t->s->memory_limit_bytes, cost = e->step_s / t->time_s;

	if (t->goal.kind == GOAL_MEMORY && limit > 0)
		cost += e->peak_bytes > limit ? 10 * (e->peak_bytes - limit) / limit : 0;
	else if (t->goal.kind == GOAL_MEMORY)
		cost = e->peak_bytes / t->peak_bytes;
	return 1 / (1 + cost * cost);
}

/* What may be done in a state: cuts along the goal's axis, or values that may still be kept whole. */
static void list_actions(struct actions *out, const struct tree *t)
{
	const struct cutting *c = t->s->cutting;

	if (!t->whole) {
		search_actions(out, t->s, 1u << t->goal.axis);
		return;
	}
	out->at.n = 0;
	for (int64_t i = 0; i < t->whole->at.n; i++) {
		struct action a = t->whole->at.at[i];

		if (!(c->atomic[a.dim] >> a.axis & 1))
			*list_add(&out->at, NULL) = a;
	}
}

/* Looks at the state, and remembers it if it is the best for the goal. */
static double look(struct tree *t, bool *fresh)
{
	int64_t mark = cutting_mark(t->s->cutting), length = t->s->path.at.n;
	struct evaluation e;
	double r;

	for (int64_t i = 0; t->behind && i < t->behind->at.n; i++)
		action_apply(t->s, t->behind->at.at[i]);
	e = search_look(t->s, fresh);
	action_undo(t->s, mark, length);
	r = reward_of(t, &e);

	if (r > t->best) {
		t->best = r;
		actions_copy(&t->way, &t->s->path, t->s->arena);
	}
	return r;
}

/* The node of the state, made if there is none. */
static int32_t node_of(struct tree *t, bool *fresh)
{
	int32_t state = search_state(t->s);
	int32_t number = keys_add(&t->keys, &state, sizeof(state), fresh);
	struct actions next = {0};
	struct node *n;
	bool unused;

	if (!*fresh)
		return number;
	n = arena_alloc(t->s->arena, 1, sizeof(*n));
	list_actions(&next, t);
	for (int64_t i = 0; i < next.at.n; i++)
		*list_add(&n->branch, t->s->arena) = (struct branch){next.at.at[i], -1};
	xfree(next.at.at);
	n->untried = n->branch.n;
	n->own = look(t, &unused);
	*list_add(&t->node, t->s->arena) = n;
	return number;
}

/* Tries an action at random that leads to a state no other branch of the node leads to. */
static int32_t expand(struct tree *t, struct node *n)
{
	while (n->untried > 0) {
		int64_t pick = rng_below(t->rng, (uint32_t)n->untried), at = 0;
		int64_t mark = cutting_mark(t->s->cutting), length = t->s->path.at.n;
		bool fresh, alike = false;
		int32_t child;

		for (;; at++)
			if (n->branch.at[at].node == -1 && pick-- == 0)
				break;
		n->untried--;
		if (!action_apply(t->s, n->branch.at[at].action)) {
			n->branch.at[at].node = BRANCH_DEAD;
			action_undo(t->s, mark, length);
			continue;
		}
		child = node_of(t, &fresh);
		for (int64_t i = 0; i < n->branch.n; i++)
			alike |= n->branch.at[i].node == child;
		n->branch.at[at].node = alike ? BRANCH_DEAD : child;
		if (!alike)
			return child;
		action_undo(t->s, mark, length);
	}
	return -1;
}

/* The branch with the highest upper bound; the state itself counts as one. -1: stop here. */
static int32_t choose(struct tree *t, const struct node *n)
{
	double best = n->own + EXPLORE * sqrt(log((double)n->visits + 1) /
	                                      ((double)n->visits + 1));
	int32_t at = -1;

	for (int64_t i = 0; i < n->branch.n; i++) {
		const struct node *child;
		double u;

		if (n->branch.at[i].node < 0)
			continue;
		child = t->node.at[n->branch.at[i].node];
		u = child->reward / (double)(child->visits + !child->visits) +
		    EXPLORE * sqrt(log((double)n->visits + 1) /
		                   (double)(child->visits + 1));
		if (u > best) {
			best = u;
			at = (int32_t)i;
		}
	}
	return at;
}

/* Random actions until a draw says to stop; the reward of the end. */
static double roll_out(struct tree *t)
{
	struct actions next = {0};
	bool fresh;

	for (int i = 0; i < WAY_MAX; i++) {
		list_actions(&next, t);
		if (!next.at.n || rng_uniform(t->rng) < STOP)
			break;
		action_apply(t->s, next.at.at[rng_below(t->rng, (uint32_t)next.at.n)]);
	}
	xfree(next.at.at);
	return look(t, &fresh);
}

static void episode(struct tree *t)
{
	int32_t way[WAY_MAX + 2], n = 0, child;
	int64_t mark = cutting_mark(t->s->cutting), length = t->s->path.at.n;
	double reward, end;
	bool fresh;

	way[n++] = node_of(t, &fresh);
	reward = t->node.at[way[0]]->own;
	while (n < WAY_MAX) {
		struct node *node = t->node.at[way[n - 1]];
		int32_t at;

		if (node->untried > 0) {
			child = expand(t, node);
			if (child >= 0) {
				way[n++] = child;
				reward = t->node.at[child]->own;
				end = roll_out(t);
				reward = end > reward ? end : reward;
				break;
			}
		}
		at = choose(t, node);
		reward = node->own;
		if (at < 0)
			break;
		action_apply(t->s, node->branch.at[at].action);
		way[n++] = node->branch.at[at].node;
		reward = t->node.at[way[n - 1]]->own;
	}
	for (int32_t i = 0; i < n; i++) {
		t->node.at[way[i]]->visits++;
		t->node.at[way[i]]->reward += reward;
	}
	action_undo(t->s, mark, length);
}

static void run_tree(struct tree *t, struct evaluation first, int64_t until)
{
	int idle = 0;

	t->time_s = first.step_s;
	t->peak_bytes = first.peak_bytes;
	while (t->s->evaluations < until && idle < IDLE_MAX && !search_stopped(t->s)) {
		int64_t before = t->s->evaluations;

		episode(t);
		idle = t->s->evaluations > before ? 0 : idle + 1;
	}
}

/* Searches for one goal from the current state, and goes to the best that was found. */
static void pursue(struct search *s, struct goal goal, struct rng *rng, int64_t until)
{
	struct tree t = {
		.s = s, .goal = goal, .keys.arena = s->arena, .rng = rng, .best = -1};
	int64_t length = s->path.at.n;
	bool fresh;

	run_tree(&t, search_look(s, &fresh), until);
	for (int64_t i = length; i < t.way.at.n; i++)
		action_apply(s, t.way.at.at[i]);
}

/* Keeps values whole before the best way so far, from the first state on. */
static void keep_whole(struct search *s, struct rng *rng, int64_t until)
{
	struct actions whole = {0}, behind = {0};
	struct tree t = {.s = s,
	                 .goal = {0, GOAL_MEMORY},
	                 .keys.arena = s->arena,
	                 .rng = rng,
	                 .best = -1,
	                 .whole = &whole,
	                 .behind = &behind};

	actions_copy(&behind, &s->actions, s->arena);
	search_list_cut(&whole, s);
	if (whole.at.n)
		run_tree(&t, s->best, until);
	xfree(whole.at.at);
}

/* Goal after goal, each with its part of what is left until there were so many evaluations. */
static void pursue_all(struct search *s, struct rng *rng, int64_t until)
{
	for (int i = 0; i < s->ngoals; i++)
		pursue(s, s->goal[i], rng,
		       s->evaluations + (until - s->evaluations) / (s->ngoals - i));
}

/* The values that the best state keeps whole, on their own. */
static void apply_whole(struct search *s)
{
	for (int64_t i = 0; i < s->actions.at.n; i++)
		if (s->actions.at.at[i].group == ACTION_WHOLE)
			action_apply(s, s->actions.at.at[i]);
}

void search_mcts(struct search *s)
{
	struct rng *rng = rng_new(s->rng_seed);
	int64_t mark = cutting_mark(s->cutting),
		budget = s->budget > 0 ? s->budget : 2000;
	int64_t cuts = budget - budget / WHOLE_PART;

	if (cuts < CUTS_FIRST)
		cuts = budget < CUTS_FIRST ? budget : CUTS_FIRST;
	if (!s->whole)
		cuts = budget;
	pursue_all(s, rng, cuts);
	action_undo(s, mark, 0);
	if (cuts < budget) {
		keep_whole(s, rng, s->evaluations + (budget - s->evaluations) / 2);
		apply_whole(s);
		pursue_all(s, rng, budget);
		action_undo(s, mark, 0);
	}
	rng_free(rng);
}
