/*
 * A program on a machine: what each kernel and each collective takes, and the sums over one
 * step. Loops multiply. Kernels of all devices are alike, so one device's time is the step's.
 */
#ifndef SHARDSIM_SIM_PROGRAM_PRICE_H
#define SHARDSIM_SIM_PROGRAM_PRICE_H

#include "array/machine.h"
#include "program/collect.h"
#include "program/kernels.h"

/* An op that runs `count` times in a step; its seconds are those of one run, NaN: not known. */
struct priced {
	int32_t op;       /* of the program */
	enum opcode code; /* what it is run as */
	enum op_class class;
	double count;
	double time_s;
	struct collected collective; /* of a collective */
	struct compute_ask ask;      /* of a kernel */
	double flops, dot_flops, transcendentals, bytes, host_bytes;
};

struct program_price {
	const struct program *program;
	const struct machine *machine; /* NULL: nothing is timed */
	LIST(struct priced) kernel;    /* in the order of the text, region by region */
	LIST(struct priced) collective;
	/* Sums over the step, in seconds; NaN where a part is not known. */
	double step_s, compute_s, communication_s, exposed_s, bound_s, host_s;
	double class_s[CLASSES]; /* of compute_s */
	bool combined;           /* some collectives run as one (program/clean.h) */
	/* Of one device. */
	double flops, dot_flops, transcendentals;
	const char *why; /* what is not known, or NULL */
	struct where at; /* of the op that program_price() refuses; no file: of none */
};

/*
 * Returns the seconds of a kernel once, with what it moves to a host and back; NaN if the
 * machine does not say how fast it computes.
 */
double price_kernel_s(const struct machine *m, const struct kernel *k);

/* Says that every device runs all of the program, and talks to nobody. */
void program_replicate(struct program *p);

struct price_options {
	const int32_t *devices; /* platform device of each of the program's */
	bool best;              /* ask the planner, too */
	bool raw;               /* collectives as they stand (program/clean.h) */
};

/*
 * Prices the program; the machine may be NULL. All is the arena's. False with the reason in
 * `why` if it has more calls than can be put in line, or collectives with devices that it
 * does not run on, whose place is in out->at.
 */
bool program_price(struct program_price *out, struct arena *a, struct program *p,
                   const struct machine *m, const struct price_options *o,
                   struct text *why);

#endif
