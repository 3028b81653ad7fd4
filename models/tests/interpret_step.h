/* Single steps of plan_interpret. */
#ifndef SHARDSIM_TESTS_INTERPRET_STEP_H
#define SHARDSIM_TESTS_INTERPRET_STEP_H

#include "plan_interpret.h"

enum { INTERPRET_DEVICES_MAX = 64 };

/* Where the interpreter stands; `beside[d]` has a cell per element, or is NULL. */
struct run_state {
	const struct plan *plan;
	struct arena *arena;
	int32_t ndevices, partials;
	struct held h;
	struct cell *beside[INTERPRET_DEVICES_MAX];
	bool *given[INTERPRET_DEVICES_MAX]; /* elements of whose sums a part was given away */
};

/* Run one step; false if it cannot be run. */
bool run_step(struct run_state *r, const struct step *s);

/* Returns n cells with nothing in them. */
struct cell *new_cells(struct arena *a, int64_t n);

/* Element `index` positions along the dimensions, and back. */
void position_of(int64_t *index, int64_t number, const struct shape *s);
int64_t number_of(const int64_t *index, const struct shape *s);

#endif
