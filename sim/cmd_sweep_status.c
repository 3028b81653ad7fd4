/* `shardsim sweep status`: how far a sweep is. */
#include "cmd_sweep.h"

#include "command.h"
#include "shard.h"
#include "table.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct options {
	const char *const *file; /* a folder, or a plan and then shards */
	int nfiles;
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	(void)arg;
	switch (key) {
	case ARGP_KEY_ARGS:
		o->file = (const char *const *)state->argv + state->next;
		o->nfiles = state->argc - state->next;
		return 0;
	case ARGP_KEY_END:
		if (o->nfiles < 1)
			argp_error(state,
			           "expected the folder of a sweep, or a plan and "
			           "its shards");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* One line: what has `total` cases, and what came of them. */
struct line {
	const char *name;
	int64_t total;
	struct sweep_counts counts;
};

struct status_table {
	struct arena *arena;
	struct line *line;
	int n;
	struct digests seen;
};

enum { COLUMNS = 3 + OUTCOMES };

static void add_cells(struct table *t, const struct line *l)
{
	const char *cell[COLUMNS + 1];

	cell[0] = l->name;
	cell[1] = arena_printf(t->arena, "%lld", (long long)l->total);
	cell[2] = arena_printf(t->arena, "%lld", (long long)(l->total - l->counts.rows));
	for (int i = 0; i < OUTCOMES; i++)
		cell[3 + i] =
			arena_printf(t->arena, "%lld", (long long)l->counts.outcome[i]);
	cell[COLUMNS] = NULL;
	table_row(t, cell);
}

/* Whether nothing is missing, failed or wrong. */
static bool print(const struct status_table *s, const char *what)
{
	const char *head[COLUMNS + 1] = {what, "cases", "missing"};
	struct line total = {.name = "total"};
	struct text out = {0};
	struct table t;

	for (int i = 0; i < OUTCOMES; i++)
		head[3 + i] = outcome_name((enum outcome)i);
	table_start(&t, s->arena, COLUMNS + 1, 1);
	table_row(&t, head);
	for (int i = 0; i < s->n; i++) {
		add_cells(&t, &s->line[i]);
		total.total += s->line[i].total;
		total.counts.rows += s->line[i].counts.rows;
		for (int k = 0; k < OUTCOMES; k++)
			total.counts.outcome[k] += s->line[i].counts.outcome[k];
	}
	add_cells(&t, &total);
	table_print(&out, &t, 0);
	fputs(out.s, stdout);
	text_free(&out);
	return total.total == total.counts.rows &&
	       cmd_sweep_status(&total.counts) == EXIT_DONE;
}

/* --- of a folder -------------------------------------------------------------------- */

static enum status count_row(void *self, const struct row *r, struct error *e)
{
	struct status_table *s = self;

	(void)e;
	for (int i = 0; i < s->n; i++)
		if (strcmp(s->line[i].name, r->platform) == 0)
			sweep_count(&s->line[i].counts, r->status);
	return OK;
}

static enum status take_platforms(struct status_table *s, struct store *store,
                                  const char *dir, struct error *e)
{
	const char *number, *name, *cases;

	if (store_get(&number, store, s->arena, "platforms", 0, e) != OK)
		return e->code;
	if (!number)
		return error_set(e, E_IO, (struct where){.file = dir},
		                 "sweep.db does not tell its cases");
	s->line = arena_alloc(s->arena, strtoul(number, NULL, 10), sizeof(*s->line));
	for (int n = atoi(number); s->n < n; s->n++) {
		if (store_get(&name, store, s->arena, "platform", s->n, e) != OK ||
		    store_get(&cases, store, s->arena, "cases", s->n, e) != OK)
			return e->code;
		s->line[s->n].name = name ? name : "";
		s->line[s->n].total = cases ? atoll(cases) : 0;
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

static enum status count_line(void *self, struct digest key, const struct row *r,
                              const char *log, const char *line, size_t length,
                              struct error *e)
{
	struct status_table *s = self;

	(void)log;
	(void)line;
	(void)length;
	(void)e;
	if (digests_has(&s->seen, key))
		return OK;
	digests_add(&s->seen, key);
	sweep_count(&s->line[s->n].counts, r->status);
	return OK;
}

/* The cases of a shard. */
static int64_t cases_of(const struct sweep *s, struct shard shard, struct arena *a)
{
	const struct digests none = {0};
	int64_t n;
	struct sweep_work *work = sweep_work(&n, s, &none, shard.shard, shard.of, a);

	return cmd_sweep_units(work, n);
}

static enum status of_shards(struct status_table *s, const struct options *o,
                             struct error *e)
{
	struct sweep_request request;
	struct sweep sweep = {0};
	int64_t known = 0;

	if (plan_read(&sweep, &request, o->file[0], s->arena, e) != OK)
		return e->code;
	s->line = arena_alloc(s->arena, (size_t)o->nfiles, sizeof(*s->line));
	for (int i = 1; i < o->nfiles; i++, s->n++) {
		struct shard shard;

		s->line[s->n].name = o->file[i];
		if (shard_read(&shard, o->file[i], sweep_digest(&sweep), count_line, s,
		               e) != OK)
			return e->code;
		s->line[s->n].total = cases_of(&sweep, shard, s->arena);
		known += s->line[s->n].total;
	}
	if (known < sweep_cases(&sweep)) {
		s->line[s->n].name = "other shards";
		s->line[s->n++].total = sweep_cases(&sweep) - known;
	}
	return OK;
}

static bool is_folder(const char *path)
{
	struct stat found;

	return stat(path, &found) == 0 && S_ISDIR(found.st_mode);
}

int command_sweep_status(int argc, char **argv)
{
	const struct argp argp = {NULL,
	                          parse_option,
	                          "DIR\nPLAN [SHARD...]",
	                          "Print how many cases are done, per platform of a "
	                          "folder or per shard of a "
	                          "plan.\v"
	                          "Exit status 0 if every case has a row and none is "
	                          "failed or wrong, else 1.",
	                          NULL,
	                          NULL,
	                          NULL};
	struct options o = {0};
	struct status_table s = {.arena = arena_new()};
	struct error e = {0};
	bool folder;
	int status = EXIT_DONE;

	argp_parse(&argp, argc, argv, 0, NULL, &o);
	folder = is_folder(o.file[0]) && o.nfiles == 1;
	if ((folder ? of_folder(&s, o.file[0], &e) : of_shards(&s, &o, &e)) != OK)
		status = command_misuse(&e);
	else if (!print(&s, folder ? "platform" : "shard"))
		status = EXIT_FAULT;
	digests_free(&s.seen);
	arena_free(s.arena);
	return status;
}
