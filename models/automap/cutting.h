/*
 * Actions and propagation: which dimensions of which values are cut along which axes of
 * the mesh, and along which factor each op runs in parallel on an axis (automap, arXiv
 * 2112.02958; PartIR, arXiv 2210.06352, 2.2).
 *
 * An action cuts a dimension of a value on an axis, or says that a value is not to be cut
 * on it (atomic). Propagation hands cuts on: an op that has no factor for an axis takes
 * one if its operands and results have the axis on exactly one factor that can be cut;
 * then its other operands and results are cut there, too, unless they have the axis
 * already or are atomic. Where there are two such factors the op waits for a later
 * action. An argument and the result that takes its place are cut alike. Nothing that was
 * decided is ever changed, so that the order of actions settles conflicts.
 *
 * A value has an axis once; a dimension may have several, later ones minor to earlier
 * ones. Dimensions are cut evenly or not at all.
 */
#ifndef SHARDSIM_AUTOMAP_CUTTING_H
#define SHARDSIM_AUTOMAP_CUTTING_H

#include "automap/graph.h"

/* Values, and ops behind them, are told apart in parts of so many. */
enum { CUT_AXES = 6, CUT_PART = 32, CUT_KEY_MOST = CUT_PART * (2 + 3 * CUT_AXES) };

/*
 * Axes in the order of their arrival, each with a dimension, or of an op a factor. What is behind the
 * n-th is 0, so that equal cuts are equal byte by byte.
 */
struct cuts {
	uint8_t n, mask;
	uint8_t axis[CUT_AXES];
	int16_t at[CUT_AXES];
};

struct cutting {
	const struct graph *graph;
	struct arena *arena;
	int naxes;
	int32_t size[CUT_AXES];
	struct cuts *value, *op;
	uint8_t *atomic; /* [values] axes on which it is not cut */
	bool *changed; /* [cutting_parts()] it may have, since somebody set it to false */
	/* Along which dimension sums over an axis are scattered; -1: they are not. */
	int8_t sums[CUT_AXES];
	uint8_t experts;     /* axes over which rows go to experts and back */
	LIST(int32_t) trail; /* what was done, for cutting_undo() */
	LIST(int32_t) queue; /* ops to be looked at */
	bool *queued;
};

/* Nothing is cut. At most CUT_AXES axes; all is the arena's. */
void cutting_start(struct cutting *out, struct arena *a, const struct graph *g,
                   int naxes, const int32_t *size);

/* Returns whether a dimension of a value can be cut on an axis. */
bool cutting_may(const struct cutting *c, int32_t value, int32_t dim, int axis);

/* These do not propagate. The first returns false if the value cannot be cut there. */
bool cutting_cut(struct cutting *c, int32_t value, int32_t dim, int axis);
void cutting_atomic(struct cutting *c, int32_t value, int axis);

/* Notes that sums over an axis are scattered along a dimension; it changes nothing else. */
void cutting_note_sums(struct cutting *c, int32_t dim, int axis);

/* Notes that rows go to experts over an axis; it changes nothing else. */
void cutting_note_experts(struct cutting *c, int axis);

/* Hands all cuts on, those of every axis. */
void cutting_propagate(struct cutting *c);

/*
 * Ops that wait because their operands have the axis on several factors run along that of
 * their first operand that has it; one after another, each propagated.
 */
void cutting_settle(struct cutting *c, int axis);

/*
 * Cuts a dimension of all arguments of a group where they can be cut, and propagates.
 * Returns whether there was one.
 */
bool cutting_group(struct cutting *c, int32_t group, int32_t dim, int axis);

/* Returns how many parts there are, whose keys are what is cut and atomic. */
int32_t cutting_parts(const struct cutting *c);

/*
 * Writes the key of a part, the same bytes for the same cuts however they were come to, and
 * returns their number, at most CUT_KEY_MOST.
 */
size_t cutting_key(uint8_t *out, const struct cutting *c, int32_t part);

/* Takes back all that was done since the trail was so long. */
static inline int64_t cutting_mark(const struct cutting *c)
{
	return c->trail.n;
}
void cutting_undo(struct cutting *c, int64_t mark);

/* Returns whether an op of the forward or backward pass took an axis since then. */
bool cutting_runs_since(const struct cutting *c, int64_t mark);

/* Returns the place of an axis among cuts (its dimension or factor); -1: it is not there. */
static inline int cuts_at(const struct cuts *c, int axis)
{
	if (!(c->mask >> axis & 1))
		return -1;
	for (int i = 0; i < c->n; i++)
		if (c->axis[i] == axis)
			return c->at[i];
	return -1;
}

/* Returns the product of the sizes of the axes at a place. */
static inline int64_t cuts_shards(const struct cuts *c, const int32_t *size, int at)
{
	int64_t n = 1;

	for (int i = 0; i < c->n; i++)
		if (c->at[i] == at)
			n *= size[c->axis[i]];
	return n;
}

/* Returns into how many parts a value is cut. */
static inline int64_t cuts_all(const struct cuts *c, const int32_t *size)
{
	int64_t n = 1;

	for (int i = 0; i < c->n; i++)
		n *= size[c->axis[i]];
	return n;
}

static inline bool cuts_equal(const struct cuts *a, const struct cuts *b)
{
	return !memcmp(a, b, sizeof(*a));
}

/* Sorts by dimension, so that equal forms are equal field by field. */
struct cuts cuts_sorted(const struct cuts *c);

static inline void cuts_add(struct cuts *c, int axis, int at)
{
	c->axis[c->n] = (uint8_t)axis;
	c->at[c->n++] = (int16_t)at;
	c->mask |= (uint8_t)(1 << axis);
}

#endif
