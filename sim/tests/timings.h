/* Tables of timings, simulated. */
#ifndef SHARDSIM_TESTS_TIMINGS_H
#define SHARDSIM_TESTS_TIMINGS_H

#include "validate/validate.h"

/* Reads tables that have mappings of their names, and simulates all rows; validation_close() it. */
struct validation *timings_run(struct arena *a, const char *const *file, int n);

#endif
