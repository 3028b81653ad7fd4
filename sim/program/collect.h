/*
 * The collectives of a program on a machine: what each takes by the clock `model`, the least
 * that any algorithm needs, and what the planner `best` would do to bring the same array from
 * the same layout to the same. Equal collectives are timed once.
 */
#ifndef SHARDSIM_SIM_PROGRAM_COLLECT_H
#define SHARDSIM_SIM_PROGRAM_COLLECT_H

#include "array/machine.h"
#include "program/program.h"

/* Seconds of one run of a collective; NaN where one is not known. */
struct collected {
	double time_s, bound_s, best_s;
	const char *algorithm; /* NULL: none ran */
	int32_t group_size;    /* of the largest group; pairs: 2 */
	/* As `perf` has it, "all-gather", "permute"; an exchange is an all-to-all. NULL: none */
	const char *collective;
	int64_t bytes; /* as nccl-tests counts them */
	bool several;  /* a network joins some of its devices */
};

struct collector;

/*
 * `devices` has the platform device of each device of the program; both are borrowed, and the
 * program, which may be NULL where steps of plans alone are timed. With `best` the planner is
 * asked, too.
 */
struct collector *collector_new(const struct program *p, const struct machine *m,
                                const int32_t *devices, bool best);
void collector_free(struct collector *c);

/*
 * Times a collective (the start of an asynchronous one), an all-reduce as a reduce-scatter if it
 * is `scattered`. `share` is the part of what is run together with it: of the time of all of that
 * it is this op's (both program/clean.h). False with the reason in `why` if the machine cannot
 * run it.
 */
bool collect(struct collected *out, struct collector *c, const struct instruction *op,
             bool scattered, double share, struct text *why);

/*
 * Times a step of a plan over the program's devices, which sends something. False with the reason in
 * `why` if the machine cannot run it.
 */
bool collect_step(struct collected *out, struct collector *c, const struct plan *plan,
                  int step, struct text *why);

#endif
