/*
 * A region as what runs: its calls in line, names and dead code gone. Loops and branches stay
 * as steps, whose own regions are flat each for itself; so do fusions, which are one kernel.
 */
#ifndef SHARDSIM_PROGRAM_FLAT_H
#define SHARDSIM_PROGRAM_FLAT_H

#include "program/program.h"

/* An array of a flat region. */
struct flat_value {
	const struct value_type *type;
	int32_t step; /* that makes it; -1: it comes in from outside */
	int32_t uses; /* operands of steps and results that it is */
	bool result;  /* of the region */
};

/* One op that runs, at its place in the order of the text. */
struct flat_step {
	int32_t op;              /* of the program */
	int32_t first_in, nin;   /* in flat->in */
	int32_t first_out, nout; /* values, one after another */
	double times; /* trips of the loops around it that are in line; else 1 */
};

/* What a loop that is in line hands on: `to` is what `from` is in the next turn. */
struct flat_carry {
	int32_t from, to;
};

struct flat {
	int32_t region;
	LIST(struct flat_step) step;
	LIST(struct flat_value) value; /* parameters of the region first */
	LIST(int32_t) in;
	struct numbers result; /* values */
	LIST(struct flat_carry) carry;
};

enum { FLAT_STEPS_MAX = 1 << 23 };

/*
 * Makes a region flat; all is the arena's. False if the calls in it come to more than
 * FLAT_STEPS_MAX steps.
 */
bool flat_make(struct flat *out, struct arena *a, const struct program *p,
               int32_t region);

/*
 * The same with loops in line, too, the body once, as often as it has trips, and of branches the
 * costliest one (program_count_runs). A loop's results are those of its body; what the body reads
 * of the turn before is what the loop starts from. Conditions are left out.
 */
bool flat_make_whole(struct flat *out, struct arena *a, const struct program *p,
                     int32_t region);

#endif
