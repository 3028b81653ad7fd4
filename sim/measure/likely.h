/*
 * How sure simulated times are: platforms/intervals.csv says, by family, collective, size and
 * whether nodes are crossed, between which factors of the time four timings of five lay that
 * were foretold from other timings, and the same of training steps, which stand there as the
 * collectives `step` and `step-experts`. `shardsim fit --intervals` writes it
 * (fit/intervals.h).
 */
#ifndef SHARDSIM_SIM_MEASURE_LIKELY_H
#define SHARDSIM_SIM_MEASURE_LIKELY_H

#include "array/machine.h"
#include "base/error.h"

#include <jansson.h>

struct bench;
struct plan;
struct step_time; /* of price/price.h */

/* What is between two factors of a time, or between two times. NaN: not known. */
struct likely {
	double low, high;
};

/* A line of the table; NULL stands for any other family or collective. */
struct likely_row {
	const char *family, *collective;
	int64_t from_bytes; /* the least size */
	bool several;       /* nodes, else one */
	bool any;           /* one or several */
	struct likely factor;
};

struct likely_table {
	int64_t n;
	struct likely_row *row;
};

/*
 * Reads the table that lies beside families.yaml; none is no error, and every interval is
 * then not known. Errors name the line.
 */
enum status likely_read(struct likely_table *out, struct arena *a, struct error *e);

/*
 * Returns the factors of a collective's time: of its family if that is in the table, else of
 * families without timings; the widest of both where its caller was not timed on the family
 * (struct nccl_caller), whose constants are then borrowed. `bytes` are as nccl-tests counts them.
 * Of collectives that are links alone (profiles plain and p2) none was ever measured.
 */
struct likely likely_find(const struct likely_table *t, const struct machine *m,
                          const char *collective, int64_t bytes, bool several);

/* Returns the collective as which the training steps of models stand in the table. */
const char *likely_step_name(bool experts);

/*
 * Returns the factors of a training step's time, of a model with experts or without: of the
 * machine's family if that is in the table, else of families without timings. NaN for machines
 * that are links alone.
 */
struct likely likely_step(const struct likely_table *t, const struct machine *m,
                          bool experts);

/* Returns whether a network joins some of these devices of the platform to others. */
bool likely_several(const struct machine *m, const int32_t *devices, int32_t n);

/*
 * Returns the seconds between which a plan's time is, from those of its steps by a clock:
 * as if all were too long, or too short, together. Local steps are taken as they are.
 */
struct likely likely_of_plan(const struct likely_table *t, const struct bench *b,
                             const struct plan *p, const struct step_time *times);

/* Returns "1 us to 2 us"; NULL where it is not known, or only one time. */
const char *likely_range(const struct likely *l, struct arena *a);

/* Returns "80 % sure: 1 us to 2 us", "" where there is no range. */
const char *likely_words(const struct likely *l, struct arena *a);

/* Returns it as [low, high], or null where it is not known. */
json_t *likely_json(const struct likely *l);

#endif
