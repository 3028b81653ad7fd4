/* A priced program as text and as JSON (sim/README.md, JSON). */
#ifndef SHARDSIM_SIM_PROGRAM_SHOW_H
#define SHARDSIM_SIM_PROGRAM_SHOW_H

#include "program/lines.h"
#include "program/reshards.h"
#include "program/sure.h"

#include <jansson.h>

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

/* An axis, or several that collectives go along together. */
struct program_axis {
	const char *name;
	double exposed_s; /* waiting for them */
};

/* What is known of a step of which more is told than by a dump; NaN: not known. */
struct program_job {
	double model_flops, mfu, bubble_s, contention_s, idle_s;
	double tokens_per_s_per_device;
	struct likely sure; /* between which the step's time is */
	int naxes;
	const struct program_axis *axis;
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

/* Returns the object that program_show_json() prints, for more members. */
json_t *program_json(struct arena *a, const struct program_price *price,
                     const struct program_show *show);

/* Prints such an object, and frees it. */
void program_json_print(struct text *out, json_t *object);

#endif
