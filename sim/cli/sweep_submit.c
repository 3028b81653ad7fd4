/* `shardsim sweep submit`: the shards of a plan, given to a cluster. */
#include "cli/sweep.h"

#include "cli/command.h"
#include "cli/parse.h"
#include "sweep/shard_run.h"
#include "sweep/slurm.h"
#include "system/file.h"

#include <errno.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { KEY_SLURM = 256, KEY_SHARDS, KEY_OUT, KEY_THROTTLE, KEY_DRY_RUN };
enum { SHARDS = 64, MOST = 1000000 };

static const struct argp_option option_table[] = {
	{"slurm", KEY_SLURM, NULL, 0, "submit to Slurm, as an array of tasks", 0},
	{"shards", KEY_SHARDS, "N", 0,
         "how many parts (default 64, or one per case if there are fewer)", 0},
	{"out", KEY_OUT, "DIR", 0,
         "folder of shards, script and logs for all machines (default: PLAN's)", 0},
	{"throttle", KEY_THROTTLE, "N", 0,
         "at most so many tasks at a time (default: no limit)", 0},
	{"dry-run", KEY_DRY_RUN, NULL, 0, "write the script, and leave", 0},
	{NULL, 0, NULL, 0, NULL, 0},
};

static const char doc[] =
	"Give the shards of a plan that are not done to a Slurm cluster.\v"
	"Given again, the same command submits what is missing or failed; a task whose "
	"shard is done or under way ends at once. `sweep status` tells how far it is. "
	"Behind -- are options of sbatch, such as -- --partition=short. --jobs, "
	"--timeout, --worker-memory and --progress are those of a task; --jobs is also "
	"how many CPUs it asks for. PLAN, DIR, the current folder and shardsim must "
	"have the same names on all machines.";

/* The shards of a plan on their way to the cluster. */
struct submission {
	struct run_options run;
	struct slurm_job job;
	const char *plan, *out, *shards, *throttle;
	bool slurm, dry_run;
	uint64_t given;
	struct arena *arena;
	struct sweep sweep;
	int *missing, nmissing;
};

static error_t parse_sweep_submit_option(int key, char *arg, struct argp_state *state)
{
	struct submission *s = state->input;

	command_given(&s->given, option_table, key, state);
	if (key == ARGP_KEY_INIT)
		state->child_inputs[0] = &s->run;
	else if (key == KEY_SLURM)
		s->slurm = true;
	else if (key == KEY_DRY_RUN)
		s->dry_run = true;
	else if (key == KEY_OUT)
		s->out = arg;
	else if (key == KEY_SHARDS)
		s->shards = arg;
	else if (key == KEY_THROTTLE)
		s->throttle = arg;
	else if (key == ARGP_KEY_ARG && !s->plan)
		s->plan = arg;
	else if (key == ARGP_KEY_ARG)
		*list_add(&s->job.extra, s->arena) = arg;
	else if (key == ARGP_KEY_END && (!s->plan || !s->slurm))
		argp_error(state, "expected --slurm and a plan of `sweep plan`");
	else
		return ARGP_ERR_UNKNOWN;
	return 0;
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

static enum status open_plan(struct submission *s, struct error *e)
{
	struct sweep_request request;
	int64_t cases;

	cmd_sweep_count(&s->job.nshards, "--shards", "shards", s->shards, MOST, e);
	cmd_sweep_count(&s->job.throttle, "--throttle", "tasks", s->throttle, MOST, e);
	if (run_options_take(&s->sweep, &s->run, 1, e) != OK ||
	    plan_read(&s->sweep, &request, s->plan, s->arena, e) != OK)
		return e->code;
	cases = sweep_cases(&s->sweep);
	if (!s->shards)
		s->job.nshards = cases < SHARDS ? (int)cases : SHARDS;
	s->job.jobs = s->run.jobs;
	s->job.timeout = s->run.timeout;
	s->job.memory = s->run.worker_memory;
	s->job.progress =
		s->run.show_progress && !s->run.progress ? "10s" : s->run.progress;
	s->job.cpus = s->sweep.jobs;
	if (s->out && mkdir(s->out, 0777) != 0 && errno != EEXIST)
		error_set(e, E_IO, (struct where){.file = s->out}, "cannot make it: %s",
		          strerror(errno));
	s->job.program = whole_name("/proc/self/exe", s->arena, e);
	s->job.start = whole_name(".", s->arena, e);
	s->job.plan = whole_name(s->plan, s->arena, e);
	s->job.folder = s->out ? whole_name(s->out, s->arena, e)
	                       : dirname(arena_strdup(s->arena, s->job.plan));
	return e->code;
}

/* Sets `missing` to the shards whose file is not there or lacks rows. */
static enum status find_missing(struct submission *s, struct error *e)
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

static enum status submit_shards(struct submission *s, struct error *e)
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
	const struct argp_child children[] = {{.argp = &run_argp}, {0}};
	const struct argp argp = {.options = option_table,
	                          .parser = parse_sweep_submit_option,
	                          .args_doc = "--slurm PLAN [-- SBATCH-OPTION...]",
	                          .doc = doc,
	                          .children = children};
	struct submission s = {.arena = arena_new()};
	struct error e = {0};
	int status;

	command_parse(&argp, argc, argv, &s);
	status = submit_shards(&s, &e) == OK ? EXIT_DONE : command_misuse(&e);
	arena_free(s.arena);
	return status;
}
