/* Going on with what is in a folder, and saying what came out. */
#include "cli/sweep.h"

#include "cli/command.h"
#include "system/version.h"

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
