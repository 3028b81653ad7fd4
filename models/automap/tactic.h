/*
 * Tactics: parts of a partitioning that people know, as actions (automap, 2112.02958,
 * calls them inductive tactics). They are applied in order, each on one axis of the mesh;
 * where two disagree the first one counts. What they leave open a search may decide.
 *
 *   data      arguments that the step does not update (tokens, targets): their first dimension
 *   context   their second dimension. Where queries and keys both have it, attention runs
 *             along queries
 *   megatron  projections of queries and the first ones of feed-forward layers by columns
 *             (arXiv 1909.08053); all else follows
 *   sequence  arrays that are summed over the axis are cut along their second dimension
 *             (arXiv 2205.05198): before `megatron` it has nothing to cut
 *   expert    weights of experts by experts; tokens go to them and back, by all-to-alls where
 *             a later tactic cuts tokens on the same axis
 *   zero2     states of the optimizer alone (arXiv 1910.02054); parameters stay whole
 *   zero3     parameters, too: the first dimension that has no axis, else the first one
 *
 * Parameters are arguments that results take the place of; states are those that only
 * updates read. Projections and experts are told by their names (tactic_names).
 */
#ifndef SHARDSIM_AUTOMAP_TACTIC_H
#define SHARDSIM_AUTOMAP_TACTIC_H

#include "automap/lower.h"

enum tactic_kind {
	TACTIC_DATA,
	TACTIC_CONTEXT,
	TACTIC_MEGATRON,
	TACTIC_SEQUENCE,
	TACTIC_EXPERT,
	TACTIC_ZERO2,
	TACTIC_ZERO3,
	TACTICS,
	TACTIC_USER = TACTICS
};

/* A line of a user's tactic: arguments, a dimension (from 0, < 0 from the end), an axis. */
struct tactic_rule {
	const char *match; /* a regular expression */
	int32_t dim;
	int axis;
	bool atomic; /* they are not to be cut on the axis */
};

struct tactic {
	enum tactic_kind kind;
	int axis;
	const char *name; /* as it was given */
	int nrules;       /* TACTIC_USER */
	const struct tactic_rule *rule;
};

/* Returns the kind of that name, TACTICS if there is none. */
enum tactic_kind tactic_find(const char *name, size_t length);

/* The regular expressions that megatron and expert go by. */
struct tactic_names {
	const char *columns, *experts;
};
extern const struct tactic_names tactic_names;

/*
 * Cuts a dimension of all arrays of three or more that are summed over the axis alone,
 * and propagates; returns how many there were. `l` is working memory.
 */
int tactic_cut_sums(struct cutting *c, struct lowered_cuts *l, int32_t dim, int axis);

/*
 * The tactic `expert` by shapes alone, whatever names are: parameters of three dimensions of which
 * the first is the second one of rows that are gathered or scattered, one row of them for each
 * expert. Returns how many groups it cut.
 */
int tactic_cut_experts(struct cutting *c, int axis);

/* Returns whether a program has experts, so told. */
bool tactic_has_experts(const struct graph *g);

/*
 * The tactic `zero2` of one group of parameters: it stays whole on the axis, and the optimizer's
 * states that are updated with it are cut. Returns how many groups of these there were.
 */
int tactic_cut_states(struct cutting *c, int32_t group, int axis);

/* Applies a tactic; returns how many arrays it cut itself. Cuts are propagated. */
int tactic_apply(struct cutting *c, const struct tactic *t);

#endif
