/* `shardsim sweep submit`: the shards of a plan, given to a cluster. */
#include "cli/sweep/sweep.h"

#include "cli/command.h"
#include "sweep/shard_run.h"
#include "sweep/slurm.h"
#include "system/file.h"

#include <errno.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SHARDS = 64, MOST = 1000000 };

static const char doc[] =
	"Give the shards of a plan that are not done to a Slurm cluster.\v"
	"Given again, the same command submits what is missing or failed; a task "
	"whose shard is done or under way ends at once. `sweep status` tells how far "
	"it is. Behind -- are options of sbatch, such as -- --partition=short. "
	"--jobs, --timeout, --worker-memory and --progress are those of a task; "
	"--jobs is also how many CPUs it asks for. PLAN, DIR, the current folder and "
	"shardsim must have the same names on all machines.";

/* The shards of a plan on their way to the cluster. */
struct options {
	struct run_options run;
	struct slurm_job job;
	struct command_words words; /* the plan, then those for sbatch */
	const char *out, *shards, *throttle;
	bool slurm, dry_run;
	struct arena *arena;
	struct sweep sweep;
	int *missing, nmissing;
};

static const struct option_row option_table[] = {
	{"slurm", 0, NULL, "submit to Slurm, as an array of tasks", AT(slurm)},
	{"shards", 0, "N",
         "how many parts (default 64, or one per case if there are fewer)", AT(shards)},
	{"out", 0, "DIR",
         "folder of shards, script and logs for all machines (default: PLAN's)", AT(out)},
	{"throttle", 0, "N", "most tasks at a time (default: no limit)", AT(throttle)},
	{"dry-run", 0, NULL, "write the script and submit nothing", AT(dry_run)},
	{0},
};

static void check_slurm(void *self, const struct argp_state *state)
{
	const struct options *s = self;

	if (!s->words.n || !s->slurm)
		argp_error(state, "expected --slurm and a plan of `sweep plan`");
}

/* Returns the absolute name of what is there. E_IO. */
static const char *whole_name(const char *name, struct arena *a, struct error *e)
{
	char *path = realpath(name, NULL);
	const char *whole = arena_strdup(a, path ? path : name);

	if (!path)
		error_set(e, E_IO, (struct where){.file = whole}, "%s", strerror(errno));
	free(path);
	return whole;
}

static enum status open_plan(struct options *s, struct error *e)
{
	struct sweep_request request;
	int64_t cases;

	cmd_sweep_count(&s->job.nshards, "--shards", "shards", s->shards, MOST, e);
	cmd_sweep_count(&s->job.throttle, "--throttle", "tasks", s->throttle, MOST, e);
	if (run_options_take(&s->sweep, &s->run, 1, e) != OK ||
	    plan_read(&s->sweep, &request, s->words.at[0], s->arena, e) != OK)
		return e->code;
	cases = sweep_cases(&s->sweep);
	if (s->shards && s->job.nshards > cases)
		return error_set(e, E_RANGE, where_option("--shards", s->shards),
		                 "the plan has %lld cases, expected at most one "
		                 "shard for each",
		                 (long long)cases);
	if (!s->shards)
		s->job.nshards = cases < SHARDS ? (int)cases : SHARDS;
	s->job.jobs = s->run.jobs;
	s->job.timeout = s->run.timeout;
	s->job.memory = s->run.worker_memory;
	s->job.progress = s->run.progress;
	s->job.extra = s->words.at + 1;
	s->job.nextra = s->words.n - 1;
	s->job.cpus = s->sweep.jobs;
	if (s->out && mkdir(s->out, 0777) != 0 && errno != EEXIST)
		error_set(e, E_IO, (struct where){.file = s->out}, "cannot make it: %s",
		          strerror(errno));
	s->job.program = whole_name("/proc/self/exe", s->arena, e);
	s->job.start = whole_name(".", s->arena, e);
	s->job.plan = whole_name(s->words.at[0], s->arena, e);
	s->job.folder = s->out ? whole_name(s->out, s->arena, e)
	                       : dirname(arena_strdup(s->arena, s->job.plan));
	return e->code;
}

/* Sets `missing` to the shards whose file is not there or lacks rows. */
static enum status find_missing(struct options *s, struct error *e)
{
	const struct digests none = {0};
	struct digest plan = sweep_digest(&s->sweep);
	struct shard one = {0, s->job.nshards};
	int64_t n;
	struct sweep_work *work = sweep_work(&n, &s->sweep, &none, 0, 1, s->arena);

	s->missing = arena_alloc(s->arena, (size_t)one.of, sizeof(*s->missing));
	for (; one.shard < one.of; one.shard++) {
		const char *path = arena_printf(s->arena, "%s/shard-%d-of-%d.jsonl",
		                                s->job.folder, one.shard, one.of);
		int64_t cases = 0;
		bool done;

		for (int64_t i = one.shard; i < n; i += one.of)
			cases += cmd_sweep_units(&work[i], 1);
		if (shard_done(&done, path, plan, one, cases, e) != OK)
			return e->code;
		if (!done)
			s->missing[s->nmissing++] = one.shard;
	}
	return OK;
}

static enum status submit_shards(struct options *s, struct error *e)
{
	struct text text = {0};
	const char *script, *id;

	if (open_plan(s, e) != OK || find_missing(s, e) != OK)
		return e->code;
	if (!s->nmissing) {
		fprintf(stderr, "shardsim: all %d shards are done\n", s->job.nshards);
		return OK;
	}
	script = arena_printf(s->arena, "%s/slurm-of-%d.sh", s->job.folder,
	                      s->job.nshards);
	slurm_script(&text, &s->job, s->missing, s->nmissing);
	file_write(script, text.s, text.length, e);
	text_free(&text);
	if (e->code == OK && s->dry_run)
		fprintf(stderr, "shardsim: %d of %d shards are for: sbatch %s\n",
		        s->nmissing, s->job.nshards, script);
	else if (e->code == OK && slurm_submit(&id, script, s->arena, e) == OK)
		fprintf(stderr, "shardsim: submitted %d of %d shards as job %s\n",
		        s->nmissing, s->job.nshards, id);
	return e->code;
}

int command_sweep_submit(int argc, char **argv)
{
	struct options s = {.arena = arena_new()};
	const struct command_syntax syntax = {
		.usage = "--slurm PLAN [-- SBATCH-OPTION...]",
		.doc = doc,
		.machines = true,
		.options = {{option_table, &s}, {run_table, &s.run}},
		.words = &s.words,
		.check = check_slurm,
		.self = &s,
	};
	struct error e = {0};
	int status;

	command_parse(&syntax, argc, argv);
	status = submit_shards(&s, &e) == OK ? EXIT_DONE : command_misuse(&e);
	arena_free(s.arena);
	return status;
}
