/*
 * Searches over actions: which sharding takes the least time and fits.
 *
 * An action cuts one dimension of the arguments of a group on one axis, or of all arrays
 * that are summed over it, and propagates. States are told apart by what is cut, not by the
 * order of actions, and are compared whole, part by part (cutting_key()); a state that was evaluated
 * once is not evaluated again. The worklist has data and parameters; states of the optimizer follow
 * these, or are cut while their parameters stay whole. What tactics have cut before stays.
 *
 * Values that are kept whole (cutting_atomic), in all layers, are decided on before all cuts, which
 * loses nothing: what was cut by then would not be kept whole.
 *
 *   exhaustive  every state that actions lead to, in any order
 *   mcts        UCT (Kocsis and Szepesvari 2006) with a table of states, one goal after
 *               another: each axis for time, then each axis for memory (the meta-controller
 *               of arXiv 2210.06352, 2.2); then sets of values to keep whole before the best
 *               way so far, and all goals once more behind the best of these
 *   structure   actions that lead to the same state are one. Those that change how ops of the
 *               passes run are searched with a beam; those that change only where parameters
 *               are kept are independent of each other, and are added by what they save per
 *               second
 *
 * The better of two states is the one that fits, or is nearer to it, then the faster one,
 * then the one of less memory. Budgets count evaluations; equal seeds give equal answers.
 */
#ifndef SHARDSIM_AUTOMAP_SEARCH_H
#define SHARDSIM_AUTOMAP_SEARCH_H

#include "automap/evaluate.h"
#include "automap/tactic.h"

#include <signal.h>

/*
 * Actions in place of a group. ACTION_SUMS: arrays that are summed over the axis are cut along a
 * dimension of theirs (tactic.h, sequence), which no argument has. ACTION_EXPERTS: rows go to
 * experts and back, and are not cut on the axis where they are sorted (tactic_cut_experts), which
 * no cut of an argument does. ACTION_START: number `dim` of the tactics to start from. ACTION_WHOLE: value
 * `dim`, any there is, stays whole on the axis (cutting_atomic) in all layers, whatever comes later.
 */
enum { ACTION_SUMS = -1, ACTION_EXPERTS = -2, ACTION_START = -3, ACTION_WHOLE = -4 };

/* In place of a dimension: a group stays whole, and its states are cut (tactic_cut_states). */
enum { DIM_OF_STATES = -1 };

struct action {
	int32_t group, dim;
	int axis;
};

struct actions {
	LIST(struct action) at;
};

/* What is wanted: the least time, or as much memory as fits (none: the least memory). */
enum goal_kind { GOAL_TIME, GOAL_MEMORY };

struct goal {
	int axis;
	enum goal_kind kind;
};

enum { GOALS_MAX = 2 * CUT_AXES, SEARCH_STATES_MAX = 1000000 };

struct search {
	/* Set by the caller. */
	struct evaluator *evaluator;
	struct cutting *cutting; /* what tactics have cut; one search at a time, and leaves it so */
	double memory_limit_bytes; /* 0: none */
	int64_t budget;            /* evaluations; 0: as many as it takes */
	uint64_t rng_seed;
	/* A strategy that somebody knows, which the answer is not to be worse than. */
	int nstart;
	const struct tactic *start;
	const struct actions *seed; /* behind these, actions of ours; NULL: none */
	bool whole; /* keep values whole, too, besides cutting arguments */
	int ngoals; /* 0: the usual ones */
	struct goal goal[GOALS_MAX];
	/* Called with every better state; NULL: nobody is. */
	void (*better)(void *self, const struct search *s);
	void *self;
	/* Once it is not 0 the search ends with the best that it has; NULL: never. */
	const volatile sig_atomic_t *stop;
	/* The answer. */
	struct evaluation best;
	struct actions actions; /* from the cutting as it was to the best state */
	int64_t evaluations;    /* of different states */
	int64_t best_at;        /* evaluations until the best was found */
	bool complete;          /* all states were seen */
	bool cuts_complete;     /* those, at least, that cuts alone lead to */
	/* Private to search.c, mcts.c, structure.c, exhaust.c, whole.c. */
	struct arena *arena;
	struct keys *state;       /* numbers of states, by those of all their parts */
	struct keys *part;        /* numbers of parts, by their cutting_key() */
	int32_t nparts, *part_of; /* [nparts] the number of each as it was seen last */
	struct keys *seen;        /* those that were evaluated */
	struct lowered_cuts lowered;   /* of actions on sums */
	LIST(struct evaluation) known; /* of these */
	struct actions path;
	struct search *answer; /* as it was before search_aside(); else NULL */
	bool compromise;       /* so `best` is the best */
	bool found, experts;   /* experts: there are rows that go to them */
	bool has_states;       /* some parameters have any */
	bool with_states;      /* actions cut them alone */
	bool *states_of;       /* [groups] it has some */
};

/*
 * Prepares a search; all is the arena's. Its first state, and that which it is to start from
 * besides, are evaluated at once.
 */
void search_start(struct search *s, struct arena *a);

/*
 * False if there are more than SEARCH_STATES_MAX states: what was found by then counts. Where all sets
 * of values to keep whole may lead to more states sets of arguments are taken, and last single values
 * of the best state.
 */
bool search_exhaustive(struct search *s);
void search_mcts(struct search *s);
void search_structure(struct search *s);

/* Applies the actions of the answer to the cutting, which keeps them. */
void search_apply(struct search *s);

/* --- for searches --- */

/* Puts the actions of one list, and no others, into another, which is the arena's. */
void actions_copy(struct actions *out, const struct actions *from, struct arena *a);

/*
 * Returns < 0 if a is better than b: one that fits, or is nearer to it, then the faster one, then that
 * of less memory.
 */
int search_compare(const struct search *s, const struct evaluation *a,
                   const struct evaluation *b);

/*
 * Returns < 0 if a is the better compromise: one that fits. Where neither does each takes as much longer
 * as it is beyond the limit, ten times over (the linear penalty of arXiv 2210.06352, 2.2).
 */
int search_compare_compromise(const struct search *s, const struct evaluation *a,
                              const struct evaluation *b);

/* The one of both that tells which state is the best. */
int search_compare_best(const struct search *s, const struct evaluation *a,
                        const struct evaluation *b);

/* Returns whether it is within the limit, or there is none. */
bool search_fits(const struct search *s, const struct evaluation *e);

/* Returns the number of the state of the cutting, from 0 in the order in which they were met. */
int32_t search_state(struct search *s);

/* Evaluates the state of the cutting, which s->path led to, unless it is known. */
struct evaluation search_look(struct search *s, bool *fresh);

/*
 * From now on the best is that within another limit, or the best compromise, from none on; the answer is
 * noted beside it, until it is the best again.
 */
void search_aside(struct search *s, double memory_limit_bytes, bool compromise);
void search_aside_no_more(struct search *s);

/*
 * Lists the actions that cut something now, on the axes whose bits are set. The list is
 * on the heap, and is the caller's to free; it may be filled again and again.
 */
void search_actions(struct actions *out, const struct search *s, unsigned axes);

static inline bool search_stopped(const struct search *s)
{
	return s->stop && *s->stop;
}

/* Returns whether the search has to end, by its budget or because it was stopped. */
static inline bool search_spent(const struct search *s)
{
	return search_stopped(s) || (s->budget > 0 && s->evaluations >= s->budget);
}

/* Returns whether a value stands for those like it: in the first layer, or first of its group. */
bool search_stands_for_like(const struct graph *g, int32_t value);

/* Lists values that the best state cuts, each with the axis; the list is on the heap. */
void search_list_cut(struct actions *out, struct search *s);

/*
 * One round: the best state, if a value that is cut in it were kept whole before all else. Returns
 * whether there is a better one, and stores the other values for which there was, the best first.
 */
bool search_keep_whole(struct search *s, struct actions *others);

/* Keeps these whole, too, one after another, those that still make the best state better. */
void search_keep_more(struct search *s, const struct actions *others);

/* Exhaustive search, in which sets of values to keep whole may lead to so many states. */
bool search_all(struct search *s, int64_t most);

/* Goes to the state of the tactics to start from. */
void search_go_to_start(struct search *s);

/* Does an action and notes it on the path; returns whether it cut anything. */
bool action_apply(struct search *s, struct action a);

static inline void action_undo(struct search *s, int64_t mark, int64_t length)
{
	cutting_undo(s->cutting, mark);
	s->path.at.n = length;
}

#endif
