/* A store in a folder of the test's own. All asserts are Check's. */
#ifndef SHARDSIM_TESTS_STORE_MADE_H
#define SHARDSIM_TESTS_STORE_MADE_H

#include "store/store.h"

extern char kept_dir[64];
extern struct error kept_error; /* of all calls; reset by kept_start and kept_refuse */

/* Make the folder, and remove it with what a store may leave there. */
void kept_start(void);
void kept_end(void);

/* DIR/NAME, until the next call. */
const char *kept_path(const char *name);
bool kept_has(const char *name);
void kept_write(const char *name, const char *bytes, size_t n);

/* Rows: of a case, nothing else known; with something in every field. */
struct row kept_key(const char *scenario, const char *platform, const char *planner,
                    const char *clock);
struct row kept_full(void);
void kept_same(const struct row *a, const struct row *b);

/* Open the store, finish and close it, see it refused. */
struct store *kept_open(bool create);
void kept_finish(struct store *s);
void kept_refuse(bool create, enum status code, const char *part_of_text);

/* Put a row under a key of its own. */
enum status kept_put(struct store *s, const struct row *r, struct error *e);

/* Run SQL on sweep.db, which is made if it is not there. */
void kept_sql(const char *sql);

/* How many rows it has for a reader. */
size_t kept_rows(void);

/* The digest of a text, and the keys that the store has, at most four. */
struct digest kept_digest(const char *text);
struct kept_keys {
	int n;
	struct digest key[4];
	enum outcome status[4];
};
struct kept_keys kept_keys(void);

#endif
