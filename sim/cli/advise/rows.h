/* The warnings of logs, merged, with what is said of each. Private to sim/cli/advise. */
#ifndef SHARDSIM_SIM_CLI_ADVISE_ROWS_H
#define SHARDSIM_SIM_CLI_ADVISE_ROWS_H

#include "base/keys.h"
#include "base/list.h"
#include "cli/advise/log.h"

#include <jansson.h>

/* Equal warnings, and all that is printed of them; texts are the log's arena's. */
struct logged {
	struct problem_text text;
	struct where at; /* of the first */
	int count, manual;
	LIST(const char *) operation; /* different ones, as xla_warning.h names them */
	const char *note;             /* on the array */
	const char *version;   /* on what XLA of which date does; NULL: as logged */
	const char *unplanned; /* why it has no price, or NULL */
	double logged;         /* what the plan costs that was warned of, one time */
	double advised;
	bool gains, told; /* cheaper with layouts between; told in full */
	const char *title, *logged_words, *total_words, *advised_words, *layouts;
	const char *details;
	json_t *advice;
};

struct damage {
	struct where at;
	const char *message;
};

struct reading {
	const struct advise_log *log;
	struct arena *arena, *scratch;
	struct keys known,
		operations; /* of rows; of operations behind the row's number */
	LIST(struct logged) row;
	LIST(struct damage) damage;
	const struct machine *machine; /* one that a problem was put on, or NULL */
	int64_t warnings, lacking;     /* all, and those that do not tell their array */
	bool json, override;           /* --array is that of all, whatever they tell */
	struct error unfit; /* of the first that only the options make no problem */
};

/* Appends all rows, for people. */
void log_text(struct text *out, const struct reading *r);

/* Returns them as JSON. */
json_t *log_json(const struct reading *r);

#endif
