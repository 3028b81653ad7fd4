/* Going on with what is in a folder, and saying what came out. */
#include "cmd_sweep.h"

#include "command.h"

#include <string.h>

struct found {
	struct digests *done;
	struct sweep_counts *counts;
};

/* A failed row is as good as none. */
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

/* Rows of another sweep: refused or taken out. */
static enum status reconcile(struct store *store, bool update, const struct sweep *s,
                             const char *plan, const char *out, struct error *e)
{
	struct digests keys = keys_of(s);
	struct common c = {.keys = &keys};
	int64_t gone;

	if (update || !plan) {
		if (store_keep(store, &keys, &gone, e) == OK && gone)
			fprintf(stderr, "shardsim: %lld rows of another sweep are out\n",
			        (long long)gone);
	} else if (store_keys(store, count_common, &c, e) == OK) {
		error_set(
			e, E_TYPE, (struct where){.file = out},
			"another sweep is there: %lld of its %lld rows are of this "
			"one, which has %lld; give another --out, or --update to keep "
			"those and drop the others",
			(long long)c.common, (long long)c.all,
			(long long)sweep_cases(s));
	}
	digests_free(&keys);
	return e->code;
}

enum status cmd_sweep_open(struct store **store, const char *out, bool update,
                           const struct sweep *s, const struct sweep_request *r,
                           struct digests *done, struct sweep_counts *counts,
                           struct error *e)
{
	struct found found = {done, counts};
	struct arena *a = arena_new();
	char plan[DIGEST_TEXT];
	const char *old = NULL;

	if (!*store)
		store_open(store, out, true, e);
	if (*store && store_damage(*store))
		fprintf(stderr, "shardsim: %s\n", store_damage(*store));
	digest_print(plan, sweep_digest(s));
	if (e->code == OK)
		store_get(&old, *store, a, "plan", 0, e);
	if (e->code == OK && (!old || strcmp(old, plan) != 0))
		reconcile(*store, update, s, old, out, e);
	if (e->code == OK && (!old || strcmp(old, plan) != 0))
		sweep_save(*store, s, r, e);
	if (e->code == OK)
		store_keys(*store, find_row, &found, e);
	arena_free(a);
	if (e->code != OK) {
		store_close(*store);
		*store = NULL;
	}
	return e->code;
}

void cmd_sweep_counts(const struct sweep_counts *c, const char *out)
{
	const char *before = ": ";

	fprintf(stderr, "%lld rows in %s", (long long)c->rows, out);
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
