/* `shardsim sweep run`: one shard of a plan. */
#include "cli/sweep/sweep.h"

#include "cli/command.h"
#include "sweep/shard_run.h"

#include <string.h>

struct options {
	struct run_options run;
	const char *shard, *out;
	struct command_words plan;
};

static const struct option_row option_table[] = {
	{"shard", 0, "K/N", "part K of N, from 0 (default 0/1)", AT(shard)},
	{"out", 0, "FILE", "its rows (default: shard-K-of-N.jsonl beside PLAN)",
         AT(out), .filled = "a file"},
	{0},
};

static const char *default_out(const struct options *o, struct shard shard,
                               struct arena *a)
{
	const char *plan = o->plan.at[0], *slash = strrchr(plan, '/');
	int folder = slash ? (int)(slash - plan) + 1 : 0;

	return arena_printf(a, "%.*sshard-%d-of-%d.jsonl", folder, plan, shard.shard,
	                    shard.of);
}

/* Measures what is missing of a shard; one that is whole stays as it is. */
static enum status measure_shard(struct shard_file *f, struct sweep *s,
                                 const struct options *o, struct arena *a,
                                 struct error *e)
{
	struct sweep_sink sink = shard_sink(f);
	struct sweep_work *work;
	int64_t n;

	work = sweep_work(&n, s, &f->done, f->shard.shard, f->shard.of, a);
	if (n == 0 && f->whole)
		return OK;
	cmd_sweep_progress(s, &o->run, work, n, f->shard.of, a);
	if (shard_begin(f, e) == OK &&
	    sweep_run(&f->counts, s, work, n, &sink, e) == OK && !f->counts.signal)
		shard_finish(f, e);
	return e->code;
}

static int tell_shard(const struct shard_file *f, int64_t before)
{
	cmd_sweep_counts(&f->counts, f->path);
	if (before)
		fprintf(stderr,
		        before == f->counts.rows ? "; nothing was missing"
		                                 : "; %lld were there",
		        (long long)before);
	fputs("\n", stderr);
	if (!f->counts.signal)
		return cmd_sweep_status(&f->counts);
	fprintf(stderr,
	        "shardsim: stopped by signal %d (%s); the same command goes on\n",
	        f->counts.signal, strsignal(f->counts.signal));
	return EXIT_FAULT;
}

static int run_shard(const struct options *o, struct arena *a)
{
	struct sweep_request request;
	struct shard shard = {0, 1};
	struct shard_file f = {.lock_fd = -1};
	struct sweep s = {0};
	struct error e = {0};
	int64_t before;
	int status;

	if ((o->shard && shard_parse(&shard, o->shard,
	                             where_option("--shard", o->shard), &e) != OK) ||
	    run_options_take(&s, &o->run, 1, &e) != OK ||
	    plan_read(&s, &request, o->plan.at[0], a, &e) != OK)
		return command_misuse(&e);
	if (shard_open(&f, o->out ? o->out : default_out(o, shard, a), sweep_digest(&s),
	               shard, a, &e) != OK) {
		shard_close(&f);
		status = command_misuse(&e);
		return f.busy ? EXIT_DONE : status;
	}
	before = f.counts.rows;
	if (measure_shard(&f, &s, o, a, &e) == OK) {
		status = tell_shard(&f, before);
	} else {
		command_misuse(&e);
		fputs("shardsim: what is done is kept; the same command goes on\n",
		      stderr);
		status = EXIT_FAULT;
	}
	shard_close(&f);
	return status;
}

int command_sweep_run(int argc, char **argv)
{
	struct options o = {0};
	const struct command_syntax syntax = {
		.usage = "PLAN",
		.doc = "Measure one shard of a plan into a file of its own, with "
		       "one worker unless --jobs says otherwise.\v"
		       "Given again it does what is missing or failed, and "
		       "nothing else; nothing, too, if another process is at "
		       "work on that shard. Start it in the folder of `sweep "
		       "plan` where platforms are files. All of them, four at a "
		       "time:\n"
		       "\n"
		       "  seq 0 63 | xargs -P 4 -I{} shardsim sweep run "
		       "plan.jsonl --shard {}/64",
		.machines = true,
		.options = {{option_table, &o}, {run_table, &o.run}},
		.words = &o.plan,
		.most = 1,
		.expected = "a plan, which `sweep plan` writes",
	};
	struct arena *a = arena_new();
	int status;

	command_parse(&syntax, argc, argv);
	status = run_shard(&o, a);
	arena_free(a);
	return status;
}
