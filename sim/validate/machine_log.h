/*
 * Timings that were all taken on one machine, which the user names: logs of nccl-tests.
 */
#ifndef SHARDSIM_SIM_VALIDATE_MACHINE_LOG_H
#define SHARDSIM_SIM_VALIDATE_MACHINE_LOG_H

#include "validate/validate.h"

struct machine_log {
	const char *const *file;
	int nfiles;
	const char *platform;
	const char *const *set; /* "key=value" */
	int nset;
	const char *collective; /* of runs that do not name theirs; NULL */
	bool in_place;          /* the timings in place, else those out of place */
	const char *launch; /* who called, whatever the logs say; NULL: what these say */
};

/*
 * Opens the timings, out of place unless asked otherwise, as those of the machine; the
 * caller closes *out in any case, it may be NULL after an error. A row's set is its
 * file's name, its system the platform and how the log says that it launched.
 *
 * It is an error at the row, with both numbers, if it is of other ranks or nodes than
 * the machine has, and one if the log does not say its ranks or its collective, or says
 * another collective. That the GPUs of the log are of another generation than the
 * machine's is no error, but said by validation_note(). NVLink domains of more than 16 devices may be of several hosts.
 */
enum status machine_log_open(struct validation **out, struct arena *a,
                             const struct machine_log *l, struct error *e);

#endif
