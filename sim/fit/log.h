/* The constants of a machine from logs that were taken on it. */
#ifndef SHARDSIM_SIM_FIT_LOG_H
#define SHARDSIM_SIM_FIT_LOG_H

#include "fit/choose.h"
#include "validate/machine_log.h"

struct log_fit {
	const char *platform;
	const char *fitted;    /* the same platform with the constants in its braces */
	const char *what;      /* "timings out of place" */
	const char *note;      /* why the log may be of another machine, or NULL */
	const char *unit_note; /* that its times seem to have another unit, or NULL */
	struct family_fit fit;
	const struct family_fit *rival; /* explains the log about as well; or NULL */
	int nskipped;
	struct fit_choice skipped[FIT_CHOICES_MAX]; /* with the reasons */
};

/*
 * Fits `constants` (NULL-ended), or where that is NULL those that the timings tell: of k
 * sizes at most k, none that no timing depends on, none with a standard error above a
 * half, and no bandwidth that would be above the documented peak of the family or that no
 * timing depends on where the others are as fitted.
 *
 * It is an error if the platform is no family:shape, and what machine_log_open() and
 * family_fit() say. Texts and arrays are the arena's.
 */
enum status log_fit(struct log_fit *out, struct arena *a, const struct machine_log *l,
                    const char *const *constants, struct error *e);

#endif
