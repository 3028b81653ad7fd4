/* `shardsim sweep status`: how far a sweep is. */
#include "cli/sweep/sweep.h"

#include "cli/command.h"
#include "sweep/shard.h"
#include "text/columns.h"

#include <string.h>
#include <sys/stat.h>

/* A line of the table: what has `total` cases, and the outcomes of these. */
struct line {
	const char *name, *machine; /* the second is NULL for shards */
	int64_t total;
	struct sweep_counts counts;
};

struct status_table {
	struct arena *arena;
	struct line *line, total;
	int n;
};

enum { COLUMNS = 3 + OUTCOMES };

static void add_cells(struct columns *t, const struct line *l)
{
	const char *cell[COLUMNS + 1];

	cell[0] = l->name;
	cell[1] = arena_printf(t->arena, "%lld", (long long)l->total);
	cell[2] = arena_printf(t->arena, "%lld", (long long)(l->total - l->counts.rows));
	for (int i = 0; i < OUTCOMES; i++)
		cell[3 + i] =
			arena_printf(t->arena, "%lld", (long long)l->counts.outcome[i]);
	cell[COLUMNS] = NULL;
	columns_row(t, cell);
}

/* Prints the table, and returns whether nothing is missing, failed or wrong. */
static bool print_status(const struct status_table *s, const char *what)
{
	const char *head[COLUMNS + 1] = {what, "cases", "missing"};
	struct text out = {0};
	struct columns t;

	for (int i = 0; i < OUTCOMES; i++)
		head[3 + i] = outcome_name((enum outcome)i);
	columns_start(&t, s->arena, COLUMNS + 1, 1);
	columns_row(&t, head);
	for (int i = 0; i < s->n; i++)
		add_cells(&t, &s->line[i]);
	add_cells(&t, &s->total);
	columns_print(&out, &t, 0);
	fputs(out.s, stdout);
	text_free(&out);
	return s->total.total == s->total.counts.rows &&
	       cmd_sweep_status(&s->total.counts) == EXIT_DONE;
}

/* --- of a folder -------------------------------------------------------------------- */

static enum status count_row(void *self, const struct row *r, struct error *e)
{
	struct status_table *s = self;

	(void)e;
	for (int i = 0; i < s->n; i++)
		if (strcmp(s->line[i].name, r->platform) == 0 &&
		    strcmp(s->line[i].machine, r->machine) == 0)
			sweep_count(&s->line[i].counts, r->status);
	sweep_count(&s->total.counts, r->status);
	return OK;
}

static enum status take_platforms(struct status_table *s, struct store *store,
                                  const char *dir, struct error *e)
{
	struct sweep_saved *saved;

	if (sweep_saved(&saved, &s->n, store, dir, s->arena, e) != OK)
		return e->code;
	if (!saved)
		return error_set(e, E_IO, (struct where){.file = dir},
		                 "sweep.db does not tell its cases");
	s->line = arena_alloc(s->arena, (size_t)s->n + 1, sizeof(*s->line));
	for (int p = 0; p < s->n; p++) {
		s->line[p].name = saved[p].platform;
		s->line[p].machine = saved[p].machine;
		s->line[p].total = saved[p].cases;
		s->total.total += saved[p].cases;
	}
	return OK;
}

static enum status of_folder(struct status_table *s, const char *dir, struct error *e)
{
	struct store *store;

	if (store_open(&store, dir, false, e) != OK)
		return e->code;
	if (take_platforms(s, store, dir, e) == OK)
		store_each(store, count_row, s, e);
	store_close(store);
	return e->code;
}

/* --- of shards ---------------------------------------------------------------------- */

/* Shards of different numbers of parts may have cases in common. */
struct shards {
	struct tally all, one; /* the rows of all shards, and of the one at hand */
	struct digests cases;  /* the cases of all shards */
};

static enum status count_line(void *self, struct digest key, const struct row *r,
                              const char *log, const char *line, size_t length,
                              struct error *e)
{
	struct shards *s = self;

	(void)log;
	(void)line;
	(void)length;
	(void)e;
	tally_add(&s->all, key, r->status);
	tally_add(&s->one, key, r->status);
	return OK;
}

/* Returns the number of cases of a shard, and puts them into the set. */
static int64_t cases_of(const struct sweep *s, struct shard shard, struct digests *set,
                        struct arena *a)
{
	const struct digests none = {0};
	int64_t n;
	struct sweep_work *work = sweep_work(&n, s, &none, shard.shard, shard.of, a);

	for (int64_t i = 0; i < n; i++)
		for (int u = 0; u < sweep_units(s); u++)
			if (work[i].units >> u & 1)
				digests_add(set, sweep_key(s, work[i].platform,
				                           work[i].scenario, u));
	return cmd_sweep_units(work, n);
}

static enum status read_shards(struct status_table *t, struct shards *s,
                               const struct sweep *sweep, const char *const *file,
                               struct error *e)
{
	for (; *file; file++, t->n++) {
		struct line *line = &t->line[t->n];
		struct shard shard;

		s->one = (struct tally){0};
		line->name = *file;
		if (shard_read(&shard, *file, sweep_digest(sweep), count_line, s, e) ==
		    OK)
			line->total = cases_of(sweep, shard, &s->cases, t->arena);
		line->counts = s->one.counts;
		tally_free(&s->one);
		if (e->code != OK)
			return e->code;
	}
	return OK;
}

static enum status of_shards(struct status_table *t, const struct command_words *file,
                             struct error *e)
{
	struct sweep_request request;
	struct sweep sweep = {0};
	struct shards s = {0};
	const char *const *shard;
	int64_t others;
	size_t n = 0;

	if (plan_read(&sweep, &request, file->at[0], t->arena, e) != OK)
		return e->code;
	if (cmd_sweep_shards(&shard, t->arena, file, &sweep, e) != OK)
		return e->code;
	while (shard[n])
		n++;
	t->line = arena_alloc(t->arena, n + 1, sizeof(*t->line));
	if (read_shards(t, &s, &sweep, shard, e) == OK) {
		t->total.total = sweep_cases(&sweep);
		t->total.counts = s.all.counts;
		others = t->total.total - (int64_t)s.cases.n;
		if (others > 0)
			t->line[t->n++] =
				(struct line){.name = "other shards", .total = others};
	}
	tally_free(&s.all);
	digests_free(&s.cases);
	return e->code;
}

static bool is_folder(const char *path)
{
	struct stat found;

	return stat(path, &found) == 0 && S_ISDIR(found.st_mode);
}

int command_sweep_status(int argc, char **argv)
{
	struct command_words file; /* a folder, or a plan and then shards */
	const struct command_syntax syntax = {
		.usage = "DIR\nPLAN [SHARD...]",
		.doc = "Print how many cases are done, per platform of a folder "
		       "or per shard of a plan: those named, or all beside it.\v"
		       "Exit status 0 if every case has a row and none is failed "
		       "or wrong, else 1.",
		.machines = true,
		.words = &file,
		.expected = "the folder of a sweep, or a plan and its shards",
	};
	struct status_table s = {.arena = arena_new(), .total.name = "total"};
	struct error e = {0};
	bool folder;
	int status = EXIT_DONE;

	command_parse(&syntax, argc, argv);
	folder = is_folder(file.at[0]) && file.n == 1;
	if ((folder ? of_folder(&s, file.at[0], &e) : of_shards(&s, &file, &e)) != OK)
		status = command_misuse(&e);
	else if (!print_status(&s, folder ? "platform" : "shard"))
		status = EXIT_FAULT;
	arena_free(s.arena);
	return status;
}
