/*
 * Does a lowered program do what it should? It is executed on every device, knowing
 * nothing of the rules that it was found by.
 *
 * The payload is cut into as many chunks as a reduction group has devices. Every device
 * starts with a number of its own for each chunk, and holds all chunks. Collectives do
 * what such libraries do: add up, hand out and put together the numbers under their
 * chunk numbers; a member that was sent away empty holds nothing. At the end every
 * device must hold in every chunk the sum over its reduction group, found from the
 * coordinates of the mesh. Numbers are 64 random bits and sums modulo 2^64, so a wrong
 * sum passes with probability 2^-64.
 */
#ifndef SHARDSIM_TESTS_REDUCTION_CHECK_H
#define SHARDSIM_TESTS_REDUCTION_CHECK_H

#include "placement/lower.h"

/*
 * True, or false with the first thing that went wrong in `why`: groups that share a
 * device or name one that does not exist, members that hold different chunks to be
 * added, the same or unequally many to be gathered, chunks that cannot be divided, a
 * stated share that is not what a member holds, a result that is not the sum. Devices x
 * group size x 9 bytes of memory per step.
 */
bool reduction_check(const struct reduction *r, const struct matrix *m, uint32_t reduce,
                     struct text *why);

/*
 * The same step by step, for many programs on one matrix that begin alike: what devices
 * hold after each step is kept until that step is taken again. For programs of up to
 * `steps` steps.
 */
struct checker;

struct checker *checker_new(const struct matrix *m, uint32_t reduce, int steps);
void checker_free(struct checker *c);

/* Take step `i` (from 0), the steps before it being those last taken. */
bool checker_step(struct checker *c, int i, const struct reduction_step *s,
                  struct text *why);

/* Is the result the sum after `n` steps? */
bool checker_end(const struct checker *c, int n, struct text *why);

#endif
