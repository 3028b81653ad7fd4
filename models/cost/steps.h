/*
 * Steps that follow each other, lowered one by one, and their seconds by any clock: those
 * of a plan (price/price.h) or of a reduction program (placement/lower.h).
 */
#ifndef SHARDSIM_COST_STEPS_H
#define SHARDSIM_COST_STEPS_H

#include "collective/lower.h"
#include "cost/model.h"

/*
 * A sequence of `n` steps. lower() makes the schedule of one of them in the arena, and
 * returns true, or false with the reason in `why`. `self` is borrowed.
 */
struct steps {
	int n;
	bool (*lower)(const void *self, struct lowered *out, struct arena *a, int step,
	              struct text *why);
	const void *self;
};

/* Seconds of one step, and what they are made of. */
struct step_time {
	double time_s; /* the sum of these three */
	double wire_s, local_s, launch_s;
	const char *algorithm; /* NULL if local */
	int64_t relay_bytes;   /* of lowered.relay_bytes */
};

/* What stands in place of the seconds where the machine cannot run one of the steps. */
#define STEPS_REFUSED_S (-3.)

/*
 * Returns the seconds of all steps by a clock: the sum over them, each of which is
 * filled into `times` ([n]) unless that is NULL. Returns STEPS_REFUSED_S, or what the
 * clock returns in place of seconds (cost/model.h), with the reason in `message` (of
 * `size` bytes).
 */
double steps_seconds(struct step_time *times, const struct steps *s, clock_fn *clock,
                     void *self, char *message, size_t size);

/* A clock that reads rounds one by one, and what it says of those so far. */
struct clock_rounds {
	clock_fn *clock;
	void *self;
	char *message; /* as clock_fn has it */
	size_t size;
	double wire_s; /* their sum, or what the clock returned in place of seconds */
};

/* A round_fn (collective/schedule.h); `self` is a struct clock_rounds. */
bool clock_rounds_read(void *self, const struct schedule *s);

/*
 * Lowers a step as steps.lower does, but gives rounds that need not be kept to a reader one
 * by one (lower_step_rounds()).
 */
typedef bool lower_rounds_fn(const void *self, struct lowered *out, struct arena *a,
                             int step, round_fn *reader, void *reader_self,
                             struct text *why);

/*
 * Returns what steps_seconds() does, by a clock whose seconds are the sum of those of each
 * round alone, so that not all rounds have to be there at once.
 */
double steps_seconds_by_round(struct step_time *times, const struct steps *s,
                              lower_rounds_fn *lower, clock_fn *clock, void *self,
                              char *message, size_t size);

/*
 * A clock that takes all steps at once: it returns the seconds of `n` schedules that
 * follow each other, or < 0 as a clock_fn does. `wire_s` ([n]) gets what each schedule
 * adds. Where schedules overlap, that is the span from the last completion of those
 * before it to its own, or 0 if that is no later.
 */
typedef double schedules_fn(void *self, double *wire_s, const struct schedule *s, int n,
                            char *message, size_t size);

/*
 * Returns what steps_seconds() does, by a clock that takes all steps at once. Local
 * work and launches are added to what the steps add.
 */
double steps_seconds_together(struct step_time *times, const struct steps *s,
                              schedules_fn *clock, void *self, char *message,
                              size_t size);

#endif
