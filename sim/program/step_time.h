/*
 * How long a training step of a model takes on a machine, and what a device holds: the text
 * of program/step.h read, priced and run as any program is.
 */
#ifndef SHARDSIM_SIM_PROGRAM_STEP_TIME_H
#define SHARDSIM_SIM_PROGRAM_STEP_TIME_H

#include "program/liveness.h"
#include "program/overlap.h"
#include "program/step.h"

struct step_time {
	struct step_facts facts;
	struct program program;
	struct program_price price; /* of one stage and its micro batches, no bubble in it */
	struct overlapped overlapped;
	struct liveness live;
	/*
	 * What comes on top of the program: all-to-alls of experts that kernels of another
	 * micro batch hide (moe.overlap) are not exposed; kernels that are slower while
	 * communication runs beside them (the machine's contention of it); and idle time: in each step of an
	 * eager framework, whose host launches kernel by kernel and synchronises; and for
	 * tokens that go to experts in any, whose order and numbers have to be found out.
	 */
	double contention_s, idle_s;
	double step_s, bubble_s; /* NaN where a time is not known; price.why says why */
	/* Tokens of the job for each device and second, model flops of the peak of bf16. */
	double tokens_per_s, mfu;
	double peak_bytes; /* with what is held for further micro batches in flight */
};

/*
 * Devices 0, 1, ... of the machine run the step unless `devices` names others. Errors: model
 * and degrees that do not go together, at `at`; a machine that is too small.
 */
enum status step_time(struct step_time *out, struct arena *a,
                      const struct architecture *m, const struct step_degrees *d,
                      const struct machine *machine, const int32_t *devices,
                      enum overlap overlap, struct where at, struct error *e);

#endif
