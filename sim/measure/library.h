/*
 * What a user forces on the collective library of a machine, by options of `perf`,
 * `plan` and `simulate` or by an entry of a mapping.
 */
#ifndef SHARDSIM_SIM_MEASURE_LIBRARY_H
#define SHARDSIM_SIM_MEASURE_LIBRARY_H

#include "array/machine.h"
#include "base/arena.h"
#include "base/error.h"

#include <jansson.h>

/* The texts as they were given (borrowed), NULL where they were not. */
struct library_text {
	const char *algorithm, *protocol;
	const char *launch; /* the name of a struct nccl_caller */
};

/*
 * Sets on the machine what the texts force. It is an error if no library has the
 * algorithm or protocol, or if the machine does not have the launch mode. The error's
 * place is `at`, or the option where that is NULL.
 */
enum status library_set(struct machine *m, const struct library_text *text,
                        const struct where *at, struct error *e);

/*
 * Does the same for times of plans and programs, whose caller is profile_compiler()'s where
 * the text has none.
 */
enum status library_of_plans(struct machine *m, const struct library_text *text,
                             const struct where *at, struct error *e);

/*
 * Appends a line for each thing that the user says and nothing on the machine reads:
 *   - who calls collectives, where it is always the same or nobody does;
 *   - of settings, in the braces of the machine's name or among the `n` of `set`, figures of NCCL's
 *     graphs, which only its own model reads (algorithm "tuner");
 *   - of settings, the cost of a round of a schedule, where no exchange may be a schedule.
 * library_set() or library_of_plans() has set before what the text forces.
 */
void library_unread(struct text *out, const struct machine *m,
                    const struct library_text *text, const char *spec,
                    const char *const *set, int n);

/* Returns what profile_print_caller() prints. */
const char *library_words(const struct machine *m, struct arena *a);

/* Returns profile_caller(), or null; `m` may be NULL. */
json_t *library_json(const struct machine *m);

#endif
