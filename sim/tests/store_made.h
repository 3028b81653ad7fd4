/* A store in a folder of the test's own. All asserts are Check's. */
#ifndef SHARDSIM_TESTS_STORE_MADE_H
#define SHARDSIM_TESTS_STORE_MADE_H

#include "store/store.h"

extern char kept_dir[64];
extern struct error kept_error; /* for all calls; kept_start, kept_refuse reset it */

/* Make the folder, and remove it with all that a store may leave there. */
void kept_start(void);
void kept_end(void);

/* Returns DIR/NAME, which is good until the next call. */
const char *kept_path(const char *name);
bool kept_has(const char *name);
void kept_write(const char *name, const char *bytes, size_t n);

/*
 * kept_key() returns a row of a case of which nothing else is known, kept_full() one
 * with something in every field; kept_same() checks that two rows are equal.
 */
struct row kept_key(const char *scenario, const char *platform, const char *planner,
                    const char *clock);
struct row kept_full(void);
void kept_same(const struct row *a, const struct row *b);

/* Open the store, finish and close it, and check that it is refused. */
struct store *kept_open(bool create);
void kept_finish(struct store *s);
void kept_refuse(bool create, enum status code, const char *part_of_text);

/* Puts a row under a key of its own. */
enum status kept_put(struct store *s, const struct row *r, struct error *e);

/* Runs SQL on sweep.db, which is made if it is not there. */
void kept_sql(const char *sql);

/* Returns how many rows a reader finds. */
size_t kept_rows(void);

/* Return the digest of a text, and the keys that the store has, at most four. */
struct digest kept_digest(const char *text);
struct kept_keys {
	int n;
	struct digest key[4];
	enum outcome status[4];
};
struct kept_keys kept_keys(void);

#endif
