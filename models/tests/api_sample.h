/* What the tests of shardsim.h share. */
#ifndef SHARDSIM_TESTS_API_SAMPLE_H
#define SHARDSIM_TESTS_API_SAMPLE_H

#include "shardsim.h"

/* A problem from texts; what goes wrong fails the test. */
struct shardsim_problem *sample_problem(const char *array, const char *mesh,
                                        const char *from, const char *to);

/* The plan of a named planner; what goes wrong fails the test. */
struct shardsim_plan *sample_plan_of(const struct shardsim_problem *p,
                                     const struct shardsim_machine *m,
                                     const char *planner);

/* GPUs behind a switch: 1 GB/s and 1 us between any two, 5 us for a launch. */
struct shardsim_machine *sample_machine(int32_t gpus);

/* A planner "sample", which gathers arrays of one dimension. */
extern const struct planner sample_planner;

#endif
