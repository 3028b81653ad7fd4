/* Going on with what is in a folder, and saying what came out. */
#include "cli/sweep/sweep.h"

#include "cli/command.h"
#include "sweep/shard.h"
#include "system/version.h"

#include "base/list.h"

#include <glob.h>

#include <string.h>

struct found {
	struct digests *done;
	struct sweep_counts *counts;
};

/* Notes the key of a row; a failed row is as good as none. */
static enum status find_row(void *self, struct digest key, const struct row *r,
                            struct error *e)
{
	struct found *found = self;

	(void)e;
	if (r->status == OUTCOME_FAILED)
		return OK;
	digests_add(found->done, key);
	sweep_count(found->counts, r->status);
	return OK;
}

static struct digests keys_of(const struct sweep *s)
{
	struct digests keys = {0};

	for (int p = 0; p < s->nplatforms; p++)
		for (int32_t i = 0; i < s->suite->n; i++)
			for (int u = 0; u < sweep_units(s) && sweep_has(s, p, i); u++)
				digests_add(&keys, sweep_key(s, p, i, u));
	return keys;
}

struct common {
	const struct digests *keys;
	int64_t all, common;
};

static enum status count_common(void *self, struct digest key, const struct row *r,
                                struct error *e)
{
	struct common *c = self;

	(void)r;
	(void)e;
	c->all++;
	c->common += digests_has(c->keys, key);
	return OK;
}

/* Takes out the rows that are none of the sweep's, and says so: "N rows WHICH". */
static enum status drop_rows(struct store *store, const struct sweep *s,
                             const char *which, struct error *e)
{
	struct digests keys = keys_of(s);
	int64_t gone;

	if (store_keep(store, &keys, &gone, e) == OK && gone)
		fprintf(stderr, "shardsim: %lld rows %s\n", (long long)gone, which);
	digests_free(&keys);
	return e->code;
}

/*
 * Refuses a store with rows of another sweep, which must not be lost by mistake.
 */
static enum status refuse_rows(struct store *store, const struct sweep *s,
                               const char *out, struct error *e)
{
	struct digests keys = keys_of(s);
	struct common c = {.keys = &keys};

	if (store_keys(store, count_common, &c, e) == OK && c.all > 0)
		error_set(
			e, E_TYPE, (struct where){.file = out},
			"another sweep is there: %lld of its %lld rows are of this "
			"one, which has %lld; give another --out, or --update to keep "
			"those and drop the others",
			(long long)c.common, (long long)c.all,
			(long long)sweep_cases(s));
	digests_free(&keys);
	return e->code;
}

/* Writes what is kept about the sweep anew if it is damaged. */
static enum status mend_saved(struct store *store, const struct sweep *s,
                              const struct sweep_request *r, const char *out,
                              struct arena *a, struct error *e)
{
	struct sweep_saved *saved;
	struct error fault = {0};
	int n;

	if (sweep_saved(&saved, &n, store, out, a, &fault) == OK && saved)
		return OK;
	return sweep_save(store, s, r, e);
}

/*
 * Makes the folder this sweep's. Rows of another sweep are refused, or with `update`
 * taken out. Rows of the same cases by another build of the program are always taken
 * out, since nobody knows what they would be now.
 */
static enum status reconcile(struct store *store, bool update, const struct sweep *s,
                             const struct sweep_request *r, const char *out,
                             struct arena *a, struct error *e)
{
	const char *cases, *version, *which = "of another sweep are out";
	struct digest plan = sweep_cases_digest(s), there;
	bool known, same;

	if (store_get(&cases, store, a, "plan", 0, e) != OK ||
	    store_get(&version, store, a, "version", 0, e) != OK)
		return e->code;
	known = cases && digest_parse(&there, cases);
	same = known && version && digest_equal(there, plan);
	if (same && strcmp(version, version_text) != 0)
		which = arena_printf(
			a,
			"were made by shardsim %s, but this is %s: they are "
			"out, to be measured again",
			version, version_text);
	else if (same)
		return mend_saved(store, s, r, out, a, e);
	else if (known && !same && !update && refuse_rows(store, s, out, e) != OK)
		return e->code;
	if (drop_rows(store, s, which, e) == OK)
		sweep_save(store, s, r, e);
	return e->code;
}

enum status cmd_sweep_open(struct store **store, const char *out, bool update,
                           const struct sweep *s, const struct sweep_request *r,
                           struct digests *done, struct sweep_counts *counts,
                           struct error *e)
{
	struct found found = {done, counts};
	struct arena *a = arena_new();

	if (!*store)
		store_open(store, out, true, e);
	if (*store && store_damage(*store))
		fprintf(stderr, "shardsim: %s\n", store_damage(*store));
	if (e->code == OK && reconcile(*store, update, s, r, out, a, e) == OK)
		store_keys(*store, find_row, &found, e);
	arena_free(a);
	if (e->code != OK) {
		store_close(*store);
		*store = NULL;
	}
	return e->code;
}

bool tally_add(struct tally *t, struct digest key, enum outcome o)
{
	bool failed = o == OUTCOME_FAILED;

	if (digests_has(&t->done, key) || (failed && digests_has(&t->failed, key)))
		return false;
	if (!failed && digests_has(&t->failed, key)) {
		t->counts.rows--;
		t->counts.outcome[OUTCOME_FAILED]--;
	}
	digests_add(failed ? &t->failed : &t->done, key);
	sweep_count(&t->counts, o);
	return true;
}

void tally_free(struct tally *t)
{
	digests_free(&t->done);
	digests_free(&t->failed);
}

void cmd_sweep_counts(const struct sweep_counts *c, const char *out)
{
	const char *before = ": ";

	fprintf(stderr, "%lld row%s in %s", (long long)c->rows, c->rows == 1 ? "" : "s",
	        out);
	for (int i = 0; i < OUTCOMES; i++) {
		if (!c->outcome[i])
			continue;
		fprintf(stderr, "%s%lld %s", before, (long long)c->outcome[i],
		        outcome_name(i));
		before = ", ";
	}
}

int cmd_sweep_status(const struct sweep_counts *c)
{
	return c->outcome[OUTCOME_FAILED] || c->outcome[OUTCOME_WRONG] ? EXIT_FAULT
	                                                               : EXIT_DONE;
}

static bool ends_in(const char *text, const char *end)
{
	size_t n = strlen(text), k = strlen(end);

	return n >= k && strcmp(text + n - k, end) == 0;
}

/* Ends the reading of a shard whose head is one of the plan. */
static enum status enough(void *self, struct digest key, const struct row *r,
                          const char *log, const char *line, size_t length,
                          struct error *e)
{
	(void)self;
	(void)key;
	(void)r;
	(void)log;
	(void)line;
	(void)length;
	return error_set(e, E_RANGE, (struct where){0}, "enough is read");
}

/* Lists the files that look like shards beside the plan. */
static enum status find_shards(glob_t *found, const char *plan, struct arena *a,
                               struct error *e)
{
	const char *slash = strrchr(plan, '/');
	size_t length = slash ? (size_t)(slash - plan) + 1 : 0;
	struct text pattern = {0};
	int failed;

	for (size_t i = 0; i < length; i++)
		text_printf(&pattern, "%s%c", strchr("*?[\\", plan[i]) ? "\\" : "",
		            plan[i]);
	text_printf(&pattern, "shard-*-of-*.jsonl");
	failed = glob(pattern.s, 0, NULL, found);
	if (failed == 0 || failed == GLOB_NOMATCH) {
		text_printf(&pattern, ".part");
		failed = glob(pattern.s, failed ? 0 : GLOB_APPEND, NULL, found);
	}
	text_free(&pattern);
	if (failed && failed != GLOB_NOMATCH)
		return error_set(e, E_IO, (struct where){.file = arena_strdup(a, plan)},
		                 "cannot look for shards beside it");
	return OK;
}

enum status cmd_sweep_shards(const char *const **shard, struct arena *a,
                             const struct command_words *file, const struct sweep *s,
                             struct error *e)
{
	LIST(const char *) all = {0};
	glob_t found = {0};

	for (int i = 1; i < file->n; i++)
		if (!ends_in(file->at[i], ".lock"))
			*list_add(&all, a) = file->at[i];
	if (file->n == 1 && find_shards(&found, file->at[0], a, e) != OK)
		return e->code;
	for (size_t i = 0; i < found.gl_pathc; i++) {
		const char *path = arena_strdup(a, found.gl_pathv[i]);
		struct error fault = {0};

		if (shard_read(NULL, path, sweep_digest(s), enough, NULL, &fault) ==
		    E_TYPE)
			fprintf(stderr, "shardsim: %s is left out: %s\n", path,
			        fault.text);
		else
			*list_add(&all, a) = path;
	}
	if (found.gl_pathv)
		globfree(&found);
	*list_add(&all, a) = NULL;
	*shard = all.at;
	return OK;
}
