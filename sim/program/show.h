/* A priced program as text and as JSON (sim/README.md, JSON). */
#ifndef SHARDSIM_SIM_PROGRAM_SHOW_H
#define SHARDSIM_SIM_PROGRAM_SHOW_H

#include "program/lines.h"
#include "program/reshards.h"
#include "program/step.h"
#include "program/sure.h"

struct program_show {
	const char *platform; /* NULL: none */
	enum rows_by by;      /* ROWS_BY_BYTES unless it was said */
	bool by_given;
	int64_t most;                        /* rows of a table of text */
	const struct program_memory *memory; /* of one device */
	const struct program_job *job; /* NULL: a program of which this is unknown */
	const struct likely *likely; /* between which communication is; NULL: not asked for */
	const struct reshard_costs *reshards; /* NULL: it was not partitioned here */
	/* Members of the JSON; NULL: not asked for. */
	const struct overlapped *timeline;
	const struct held *held;
};

/* What is known of a step that was described, not dumped (program/step_time.h). */
struct program_job {
	double model_flops, mfu, bubble_s, contention_s, idle_s;
	double tokens_per_s_per_device;
	double exposed_s[STEP_AXES_NAMED]; /* by the axes of step_axis_names */
};

/* What a device holds during the step, in bytes (program/liveness.h). */
struct program_memory {
	double params, temps, peak, device; /* device: what it has; 0: not known */
	const char *at;                     /* the op at which the peak is */
};

void program_show_summary(struct text *out, struct arena *a,
                          const struct program_price *price,
                          const struct program_show *show);
void program_show_collectives(struct text *out, struct arena *a,
                              const struct program_price *price,
                              const struct program_show *show);
void program_show_ops(struct text *out, struct arena *a,
                      const struct program_price *price,
                      const struct program_show *show);
void program_show_memory(struct text *out, const struct program_price *price,
                         const struct program_show *show);

void program_show_json(struct text *out, struct arena *a,
                       const struct program_price *price,
                       const struct program_show *show);

#endif
