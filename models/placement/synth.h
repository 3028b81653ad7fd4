/*
 * Programs: sequences of collectives that reduce over a hierarchy, and the search for
 * all of them (Xie et al. 2022, 3.3 and 3.5).
 *
 * An instruction is a slice of the synthesis hierarchy and a collective. A program is
 * meaningful if each instruction obeys the rules of sums.h and the last leaves every
 * device with exactly the sums it should have. Master goes with all-reduce only: as
 * printed the grammar allows it with all five, which gives 93 programs on two levels;
 * the paper counts 47 everywhere, and its figure 11 shows those with all-reduce.
 *
 * The search is a walk over states: what devices hold after an instruction, and what
 * share of the data that is. A state that was met before is not walked again, so the
 * result is a graph whose paths from the start to the goal are the programs.
 */
#ifndef SHARDSIM_PLACEMENT_SYNTH_H
#define SHARDSIM_PLACEMENT_SYNTH_H

#include "placement/slice.h"
#include "placement/sums.h"

enum {
	PROGRAM_STEPS_MAX = 8,
	PROGRAM_STEPS = 5, /* the limit unless told: the paper's */
	SYNTH_LEVELS_MAX = 6
};

/* Of the states of one search: six levels reach it with programs of five steps. */
#define SYNTH_STATES_BYTES (INT64_C(1) << 30)

struct instruction {
	struct slice slice;
	uint8_t op; /* one of sums_ops */
};

struct program {
	int n;
	struct instruction step[PROGRAM_STEPS_MAX];
};

/*
 * What a step costs depends on its instruction and on the share of the data that
 * members hold before it: 1 over the product of the sizes of levels, each to the power
 * scattered[level].
 */
struct step_kind {
	struct instruction instruction;
	int slice; /* number of its slice in the synthesis */
	int8_t scattered[SYNTH_LEVELS_MAX + 1];
};

/* An edge of the graph; nodes have consecutive ones, by rising instruction. */
struct synth_edge {
	int32_t kind, to;
};

struct synth_node {
	int32_t first, nedges;
	int64_t programs[PROGRAM_STEPS_MAX + 1]; /* paths of exactly that length */
};

struct synthesis {
	struct hierarchy tree;
	int limit;
	int nslices, nkinds, nnodes;
	const struct slice *slice;
	const struct step_kind *kind;
	const struct synth_node *node; /* 0: the start */
	const struct synth_edge *edge;
	int32_t goal;     /* its node, -1 if no program reaches it */
	int64_t programs; /* of up to `limit` steps; 1, the empty one, on one device */
};

/*
 * Finds all programs of up to `limit` steps (<= PROGRAM_STEPS_MAX) that sum over the
 * positions of equal goal[] (NULL: over all). E_RANGE for more than SUMS_DEVICES_MAX
 * devices, SYNTH_LEVELS_MAX levels or SYNTH_STATES_BYTES of states. The arena's, as is
 * `tree`.
 */
enum status synth_run(struct synthesis *out, struct arena *a,
                      const struct hierarchy *tree, const int32_t *goal, int limit,
                      struct where at, struct error *e);

/*
 * The same for the sum over all of a hierarchy of any sizes: sizes > 1 do not matter
 * for what is meaningful, so it is run once per number of levels, with 2 for each, and
 * kept. `tree` must have a root of size 1 and no other level of size 1.
 */
struct synth_cache {
	struct arena *arena;
	const struct synthesis *of[SYNTH_LEVELS_MAX + 1][PROGRAM_STEPS_MAX + 1];
};
enum status synth_cached(const struct synthesis **out, struct synth_cache *cache,
                         const struct hierarchy *tree, int limit, struct where at,
                         struct error *e);

/*
 * The programs one by one, shorter ones first, of equal length by rising instructions.
 * `kind[i]` of program.step[i] goes beside it. Start with {.s = synthesis}.
 */
struct synth_walk {
	const struct synthesis *s;
	int length;
	bool started;
	struct program program;
	int32_t kind[PROGRAM_STEPS_MAX];
	int32_t edge[PROGRAM_STEPS_MAX];
};
bool synth_next(struct synth_walk *w);

/* Returns whether this is one of its programs. */
bool synth_has(const struct synthesis *s, const struct program *p);

/*
 * Returns the share of its data a member holds before a step, on a tree of the same
 * levels.
 */
double step_share(const struct step_kind *k, const struct hierarchy *tree);

#endif
