/* The request that a sweep is made from: the texts of its command line. */
#ifndef SHARDSIM_SIM_SWEEP_SETUP_H
#define SHARDSIM_SIM_SWEEP_SETUP_H

#include "platform/platform.h"
#include "sweep/sweep.h"

struct sweep_request {
	const char *suite[SUITE_FILES_MAX];
	int nsuites;
	const char *platform; /* NULL for the platforms of the suites */
	const char *set[PLATFORM_SETTINGS_MAX]; /* "KEY=VALUES" of all platforms */
	int nset;
	const char *planner, *clock; /* lists */
	const char *vocabulary;      /* of all scenarios; NULL: as the suites say */
	struct library_text library; /* its launch alone; NULL: who calls is not said */
};

/*
 * Reads suites and options into `out`, whose jobs and limits the caller sets, and
 * identifies its cases; everything is the arena's. It passes on errors of suites,
 * platforms and lists, and it is an error if no platform is asked for and a suite has
 * none.
 */
enum status sweep_setup(struct sweep *out, const struct sweep_request *r,
                        struct arena *a, struct error *e);

/* Appends the command line of a request as a shell reads it. */
void sweep_command(struct text *out, const struct sweep_request *r);

/* Appends a word as a shell reads it. */
void sweep_quote(struct text *out, const char *word);

/*
 * sweep_save() keeps the request in a store with the sweep's digest, the number of cases of
 * each platform and the current folder, and commits; sweep_load() takes it out again and
 * returns false where there is none. Texts are the arena's.
 */
enum status sweep_save(struct store *s, const struct sweep *sweep,
                       const struct sweep_request *r, struct error *e);
bool sweep_load(struct sweep_request *r, const char **folder, struct store *s,
                struct arena *a, struct error *e);

/*
 * Takes the platforms of the sweep in `dir`, whose store it is, with how many cases each of them has, as
 * sweep_save() kept them; everything is the arena's. *out is NULL where nothing is kept. It
 * is an E_IO if what is kept is damaged.
 */
struct sweep_saved {
	const char *platform, *machine; /* machine: "" where it is not kept */
	int64_t cases;
};
enum status sweep_saved(struct sweep_saved **out, int *n, struct store *s,
                        const char *dir, struct arena *a, struct error *e);

/*
 * Sets *out to "N of M cases have no row: ..." for the sweep in `dir`, with how to go
 * on; it is the arena's. *out is NULL if no row is missing, or if the store does not
 * tell how many cases there are.
 */
enum status sweep_unfinished(const char **out, struct store *s, const char *dir,
                             struct arena *a, struct error *e);

#endif
