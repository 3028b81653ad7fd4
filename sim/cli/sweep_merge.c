/* `shardsim sweep merge`: shards into the folder of a sweep. */
#include "cli/sweep.h"

#include "cli/command.h"
#include "cli/parse.h"
#include "sweep/shard.h"

#include <string.h>

enum { KEY_OUT = 256, KEY_UPDATE };

struct options {
	const char *out;
	const char *const *file; /* the plan, then shards */
	int nfiles;
	bool update;
	uint64_t given;
};

static const struct argp_option option_table[] = {
	{"out", KEY_OUT, "DIR", 0, "folder of the rows (default sweep)", 0},
	{"update", KEY_UPDATE, NULL, 0,
         "keep those rows of another sweep in DIR that are also of this one, drop the "
         "others",
         0},
	{NULL, 0, NULL, 0, NULL, 0},
};

static error_t parse_sweep_merge_option(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	command_given(&o->given, option_table, key, state);
	switch (key) {
	case KEY_OUT:
		if (!arg[0])
			argp_error(state, "--out is empty, expected a folder");
		o->out = arg;
		return 0;
	case KEY_UPDATE:
		o->update = true;
		return 0;
	case ARGP_KEY_ARGS:
		o->file = (const char *const *)state->argv + state->next;
		o->nfiles = state->argc - state->next;
		return 0;
	case ARGP_KEY_END:
		if (o->nfiles < 2)
			argp_error(state, "expected a plan and its shards");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

struct merge {
	struct store *store;
	struct tally tally;
};

static enum status merge_row(void *self, struct digest key, const struct row *r,
                             const char *log, const char *line, size_t length,
                             struct error *e)
{
	struct merge *m = self;

	(void)line;
	(void)length;
	return tally_add(&m->tally, key, r->status) ? store_put(m->store, r, key, log, e)
	                                            : OK;
}

/*
 * All shards are read before anything is written, so that a wrong one changes nothing.
 */
static enum status skip_row(void *self, struct digest key, const struct row *r,
                            const char *log, const char *line, size_t length,
                            struct error *e)
{
	(void)self;
	(void)key;
	(void)r;
	(void)log;
	(void)line;
	(void)length;
	(void)e;
	return OK;
}

static enum status read_all(const struct options *o, struct digest plan,
                            shard_each_fn *each, void *self, struct error *e)
{
	for (int i = 1; i < o->nfiles; i++)
		if (shard_read(NULL, o->file[i], plan, each, self, e) != OK)
			break;
	return e->code;
}

static int tell_merge(const struct merge *m, const struct sweep *s, const char *out)
{
	int64_t missing = sweep_cases(s) - m->tally.counts.rows;

	cmd_sweep_counts(&m->tally.counts, out);
	fputs("\n", stderr);
	if (!missing)
		return cmd_sweep_status(&m->tally.counts);
	fprintf(stderr, "shardsim: %lld of %lld rows are missing\n", (long long)missing,
	        (long long)sweep_cases(s));
	return EXIT_FAULT;
}

static int merge_shards(const struct options *o, struct arena *a)
{
	struct sweep_request request;
	struct merge m = {0};
	struct sweep s = {0};
	struct error e = {0};
	struct digest plan;
	int status;

	if (plan_read(&s, &request, o->file[0], a, &e) != OK)
		return command_misuse(&e);
	plan = sweep_digest(&s);
	if (read_all(o, plan, skip_row, NULL, &e) != OK)
		return command_misuse(&e);
	if (cmd_sweep_open(&m.store, o->out, o->update, &s, &request, &m.tally.done,
	                   &m.tally.counts, &e) != OK) {
		tally_free(&m.tally);
		return command_misuse(&e);
	}
	if (read_all(o, plan, merge_row, &m, &e) == OK)
		store_finish(m.store, &e);
	store_close(m.store);
	tally_free(&m.tally);
	if (e.code == OK) {
		status = tell_merge(&m, &s, o->out);
	} else {
		command_misuse(&e);
		status = EXIT_FAULT;
	}
	return status;
}

int command_sweep_merge(int argc, char **argv)
{
	const struct argp argp = {
		option_table,
		parse_sweep_merge_option,
		"PLAN SHARD...",
		"Put the rows of a plan's shards into the folder of a "
		"sweep, for `report`.",
		NULL,
		NULL,
		NULL};
	struct options o = {.out = "sweep"};
	struct arena *a = arena_new();
	int status;

	command_parse(&argp, argc, argv, &o);
	status = merge_shards(&o, a);
	arena_free(a);
	return status;
}
