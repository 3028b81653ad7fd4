/*
 * What the tests of placements share: all hierarchies, axes and matrices of a number of
 * devices.
 */
#ifndef SHARDSIM_TESTS_PLACEMENT_HELP_H
#define SHARDSIM_TESTS_PLACEMENT_HELP_H

#include "placement/lower.h"
#include "tests/reduction_check.h"

/*
 * All ordered ways to write n as a product of numbers >= 2, as hierarchies; 2 <= n <
 * 128.
 */
int factorizations(struct hierarchy **out, struct arena *a, int32_t n);

/* The axes of these sizes. */
struct mesh mesh_of_sizes(const struct hierarchy *sizes);

struct placed_case {
	struct hierarchy hierarchy;
	struct mesh axes;
	struct matrix matrix;
	uint32_t reduce;
};

/* Every hierarchy, axes, matrix and set of axes to reduce over of n devices. */
void each_placement(int32_t n, void (*visit)(void *self, const struct placed_case *c),
                    void *self);

/* What execution found wrong in a program, or NULL; also if it costs another share. */
char *program_fault(struct arena *a, const struct placed_case *c, enum order order,
                    const struct program *p);

#endif
