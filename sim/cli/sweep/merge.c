/* `shardsim sweep merge`: shards into the folder of a sweep. */
#include "cli/sweep/sweep.h"

#include "cli/command.h"
#include "sweep/shard.h"

struct options {
	const char *out;
	struct command_words file; /* the plan, then shards */
	bool update;
};

static const struct option_row option_table[] = {
	{"out", 0, "DIR", "folder of the rows (default sweep)", AT(out),
         .filled = "a folder"},
	{"update", 0, NULL,
         "where DIR has rows of another sweep, keep those that belong to this one too, "
         "and drop the others",
         AT(update)},
	{0},
};

static void check_files(void *self, const struct argp_state *state)
{
	const struct options *o = self;

	if (!o->file.n)
		argp_error(state, "expected a plan and its shards");
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

static enum status read_all(const char *const *shard, struct digest plan,
                            shard_each_fn *each, void *self, struct error *e)
{
	for (; *shard; shard++)
		if (shard_read(NULL, *shard, plan, each, self, e) != OK)
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
	const char *const *shard;
	struct digest plan;
	int status;

	if (plan_read(&s, &request, o->file.at[0], a, &e) != OK)
		return command_misuse(&e);
	plan = sweep_digest(&s);
	if (cmd_sweep_shards(&shard, a, &o->file, &s, &e) != OK ||
	    read_all(shard, plan, skip_row, NULL, &e) != OK)
		return command_misuse(&e);
	if (cmd_sweep_open(&m.store, o->out, o->update, &s, &request, &m.tally.done,
	                   &m.tally.counts, &e) != OK) {
		tally_free(&m.tally);
		return command_misuse(&e);
	}
	if (read_all(shard, plan, merge_row, &m, &e) == OK)
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
	struct options o = {.out = "sweep"};
	const struct command_syntax syntax = {
		.usage = "PLAN [SHARD...]",
		.doc = "Put the rows of a plan's shards, those named or all beside it, "
		       "into the folder of a "
		       "sweep, for `report`.",
		.machines = true,
		.options = {{option_table, &o}},
		.words = &o.file,
		.check = check_files,
		.self = &o,
	};
	struct arena *a = arena_new();
	int status;

	command_parse(&syntax, argc, argv);
	status = merge_shards(&o, a);
	arena_free(a);
	return status;
}
