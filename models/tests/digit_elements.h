/*
 * What every device must hold, element by element, by the coordinate formula of sub-axes
 * and the base-offset map alone (models/README.md, "Layouts"), and plans run so.
 */
#ifndef SHARDSIM_TESTS_DIGIT_ELEMENTS_H
#define SHARDSIM_TESTS_DIGIT_ELEMENTS_H

#include "plan/plan.h"

/* What a device holds, as row-major numbers in the whole shape, in order. */
struct held_elements {
	struct shape tile;
	int64_t *id;
};

/* Of every device, in a layout of axes of a shape that it divides; the arena's. */
struct held_elements *elements_of_layout(const struct layout *l, const struct mesh *m,
                                         const struct shape *shape, struct arena *a);

/*
 * Run a plan over digits or dimensions element by element. True if every step ends with
 * what its layout claims and the last with the problem's target; an exchange must bring
 * what is lacking, once, from a device that has it.
 */
bool elements_prove(const struct plan *p, struct arena *a);

/* Real elements among those of a device: not in the padding. */
int64_t elements_real(const struct held_elements *h, const struct problem *p);

#endif
