/* `shardsim sweep submit`: the shards of a plan, given to a cluster. */
#include "cli/sweep.h"

#include "cli/command.h"
#include "sweep/slurm_sweep.h"

#include "base/units.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	KEY_SLURM = 256,
	KEY_SHARDS,
	KEY_OUT,
	KEY_PARTITION,
	KEY_THROTTLE,
	KEY_TIME,
	KEY_SBATCH,
	KEY_RETRIES,
	KEY_POLL,
	KEY_NO_WAIT,
	KEY_DRY_RUN
};

enum { SHARDS = 64, SHARDS_MAX = 1000000, SBATCH_MAX = 32 };

struct options {
	struct run_options run;
	const char *plan, *out, *partition, *time;
	const char *shards, *throttle, *retries, *poll;
	const char *sbatch[SBATCH_MAX];
	int nsbatch;
	bool slurm, no_wait, dry_run;
	uint64_t given;
};

static const struct argp_option option_table[] = {
	{"slurm", KEY_SLURM, NULL, 0, "submit to Slurm, as an array of tasks", 0},
	{"shards", KEY_SHARDS, "N", 0,
         "how many parts (default 64, or one per case if there are fewer)", 0},
	{"out", KEY_OUT, "DIR", 0,
         "folder of shards, script and logs, which all machines see (default: that of "
         "PLAN)",
         0},
	{"partition", KEY_PARTITION, "NAME", 0, "partition (default: the cluster's)", 0},
	{"throttle", KEY_THROTTLE, "N", 0,
         "at most so many tasks at a time (default: as many as there is room for)", 0},
	{"time", KEY_TIME, "TIME", 0,
         "time limit of a task as sbatch has it, such as 30 (minutes) or 2:00:00", 0},
	{"sbatch", KEY_SBATCH, "OPTION", 0,
         "another option of sbatch, such as --sbatch=--account=abc; may be given again",
         0},
	{"retries", KEY_RETRIES, "N", 0,
         "submit shards that ended without rows again, so many times (default 2)", 0},
	{"poll", KEY_POLL, "TIME", 0, "look at the queue so often (default 10s)", 0},
	{"no-wait", KEY_NO_WAIT, NULL, 0, "submit, and leave", 0},
	{"dry-run", KEY_DRY_RUN, NULL, 0, "write the script, and leave", 0},
	{NULL, 0, NULL, 0, NULL, 0},
};

static const char doc[] =
	"Give the shards of a plan to a Slurm cluster and wait for them.\v"
	"Shards that are done or in the queue are not submitted: given again, the same "
	"command "
	"goes on, also with failed rows. --jobs, --timeout and --worker-memory are "
	"those of a "
	"task; --jobs is also how many CPUs it asks for. Ctrl-C leaves the jobs "
	"running. PLAN, "
	"DIR, the current folder and shardsim must have the same names on all "
	"machines.";

static error_t parse_text(int key, char *arg, struct options *o)
{
	switch (key) {
	case KEY_SHARDS:
		o->shards = arg;
		return 0;
	case KEY_OUT:
		o->out = arg;
		return 0;
	case KEY_PARTITION:
		o->partition = arg;
		return 0;
	case KEY_THROTTLE:
		o->throttle = arg;
		return 0;
	case KEY_TIME:
		o->time = arg;
		return 0;
	case KEY_RETRIES:
		o->retries = arg;
		return 0;
	case KEY_POLL:
		o->poll = arg;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	if (key != KEY_SBATCH)
		command_given(&o->given, option_table, key, state);
	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &o->run;
		return 0;
	case KEY_SLURM:
		o->slurm = true;
		return 0;
	case KEY_NO_WAIT:
		o->no_wait = true;
		return 0;
	case KEY_DRY_RUN:
		o->dry_run = true;
		return 0;
	case KEY_SBATCH:
		if (o->nsbatch == SBATCH_MAX)
			argp_error(state, "more than %d times --sbatch", SBATCH_MAX);
		o->sbatch[o->nsbatch++] = arg;
		return 0;
	case ARGP_KEY_ARG:
		if (o->plan)
			argp_error(state, "more than one plan");
		o->plan = arg;
		return 0;
	case ARGP_KEY_END:
		if (!o->plan)
			argp_error(state, "expected a plan, which `sweep plan` writes");
		if (!o->slurm)
			argp_error(state, "expected --slurm, the only queue there is");
		return 0;
	default:
		return parse_text(key, arg, o);
	}
}

/* --- options ------------------------------------------------------------------------ */

static enum status take_int(int *out, const char *option, const char *what,
                            const char *text, int64_t least, int64_t most,
                            struct error *e)
{
	struct scan scan;
	int64_t n;

	if (!text)
		return OK;
	scan = scan_start(text, where_option(option, text), e);
	if (scan_int(&scan, what, least, most, &n) && scan_finish(&scan) == OK)
		*out = (int)n;
	return e->code;
}

static enum status take_poll(double *out, const char *text, struct error *e)
{
	struct where at = where_option("--poll", text);

	if (text && units_time(text, at, out, e) == OK && (*out < 0.05 || *out > 3600))
		error_set(e, E_RANGE, at, "expected 50ms to 3600s");
	return e->code;
}

static enum status take_texts(const struct options *o, struct error *e)
{
	const char *const texts[][2] = {
		{"--partition", o->partition}, {"--time", o->time}, {"--out", o->out}};

	for (int i = 0; i < 3; i++)
		if (texts[i][1] && !texts[i][1][0])
			return error_set(e, E_SYNTAX, (struct where){0},
			                 "%s is empty, expected a value", texts[i][0]);
	for (int i = 0; i < o->nsbatch; i++)
		if (slurm_check_extra(o->sbatch[i], e) != OK)
			return e->code;
	return OK;
}

static enum status take_options(struct slurm_sweep *s, const struct options *o,
                                struct error *e)
{
	s->poll_s = 10;
	s->retries = 2;
	take_texts(o, e);
	take_int(&s->nshards, "--shards", "the number of shards", o->shards, 1,
	         SHARDS_MAX, e);
	take_int(&s->job.throttle, "--throttle", "the number of tasks", o->throttle, 1,
	         SHARDS_MAX, e);
	take_int(&s->retries, "--retries", "the number of retries", o->retries, 0, 1000,
	         e);
	take_poll(&s->poll_s, o->poll, e);
	s->job.partition = o->partition;
	s->job.time = o->time;
	s->job.extra = o->sbatch;
	s->job.nextra = o->nsbatch;
	s->terminal = isatty(STDERR_FILENO);
	s->show = s->terminal || o->run.show_progress;
	return e->code;
}

/* What the tasks are told of how to run. */
static const char *run_words(const struct options *o, struct arena *a)
{
	const char *const word[][2] = {{"--jobs", o->run.jobs},
	                               {"--timeout", o->run.timeout},
	                               {"--worker-memory", o->run.worker_memory}};
	struct text text = {0};

	for (int i = 0; i < 3; i++) {
		if (!word[i][1])
			continue;
		text_printf(&text, " %s ", word[i][0]);
		sweep_quote(&text, word[i][1]);
	}
	return text_take(&text, a);
}

/* The whole name of what is there; the arena's. */
static enum status whole_name(const char **out, const char *name, struct arena *a,
                              struct error *e)
{
	char *path = realpath(name, NULL);

	if (!path)
		return error_set(e, E_IO, (struct where){.file = name}, "%s",
		                 strerror(errno));
	*out = arena_strdup(a, path);
	free(path);
	return OK;
}

static enum status take_folders(struct slurm_sweep *s, const struct options *o,
                                struct error *e)
{
	const char *slash;

	if (whole_name(&s->path, o->plan, s->arena, e) != OK ||
	    whole_name(&s->job.folder, ".", s->arena, e) != OK)
		return e->code;
	slash = strrchr(s->path, '/');
	s->folder = arena_strndup(s->arena, s->path, (size_t)(slash - s->path));
	if (!o->out)
		return OK;
	if (mkdir(o->out, 0777) != 0 && errno != EEXIST)
		return error_set(e, E_IO, (struct where){.file = o->out},
		                 "cannot make it: %s", strerror(errno));
	return whole_name(&s->folder, o->out, s->arena, e);
}

/* --- telling ------------------------------------------------------------------------ */

static void tell_command(const struct slurm_sweep *s, const char *what,
                         const char *verb, const char *rest)
{
	struct text text = {0};

	text_printf(&text, "shardsim: %s: shardsim sweep %s ", what, verb);
	sweep_quote(&text, s->path);
	text_append(&text, " ", 1);
	sweep_quote(&text, s->folder);
	fprintf(stderr, "%s/shard-*-of-%d.jsonl%s\n", text.s, s->nshards, rest);
	text_free(&text);
}

static void tell_way(const struct slurm_sweep *s)
{
	tell_command(s, "how far it is", "status", "");
	tell_command(s, "when it is done", "merge", " --out sweep");
	fprintf(stderr,
	        "shardsim: the same command goes on; scancel --name=%s ends the jobs\n",
	        s->job.name);
}

/* What of it goes on without being submitted. */
static void tell_start(const struct slurm_sweep *s)
{
	int good = 0, queued = 0;

	for (int k = 0; k < s->nshards; k++) {
		good += s->shard[k].good;
		queued += s->shard[k].watched && s->queue.state[k] != SLURM_GONE;
	}
	if (queued)
		fprintf(stderr, "shardsim: %d of %d shards are in the queue (%s)\n",
		        queued, s->nshards, s->job.name);
	if (good)
		fprintf(stderr, "shardsim: %d of %d shards are done\n", good,
		        s->nshards);
}

static void tell_missing(const struct slurm_sweep *s)
{
	struct text list = {0};
	int *shard = arena_alloc(s->arena, (size_t)s->nshards, sizeof(*shard));
	int n = 0;

	for (int k = 0; k < s->nshards; k++)
		if (!s->shard[k].good)
			shard[n++] = k;
	slurm_array(&list, shard, n, 0);
	if (n)
		fprintf(stderr,
		        "shardsim: missing or with failed rows: shards %s of %d; "
		        "the logs are %s/slurm-*.log, the same command goes on\n",
		        list.s, s->nshards, s->folder);
	text_free(&list);
}

static int tell_end(const struct slurm_sweep *s)
{
	int64_t cases = sweep_cases(s->sweep);

	cmd_sweep_counts(&s->counts, s->folder);
	fputs("\n", stderr);
	tell_missing(s);
	if (s->counts.rows < cases)
		fprintf(stderr, "shardsim: %lld of %lld rows are missing\n",
		        (long long)(cases - s->counts.rows), (long long)cases);
	tell_command(s, "for reports", "merge", " --out sweep");
	return s->counts.rows < cases ? EXIT_FAULT : cmd_sweep_status(&s->counts);
}

/* --- doing -------------------------------------------------------------------------- */

static int dry_run(struct slurm_sweep *s, struct error *e)
{
	int n;

	if (slurm_sweep_write(s, &n, e) != OK)
		return command_misuse(e);
	if (n)
		fprintf(stderr, "shardsim: %d of %d shards are for: sbatch %s\n", n,
		        s->nshards, s->script);
	else
		fprintf(stderr, "shardsim: nothing is missing\n");
	return EXIT_DONE;
}

static int go(struct slurm_sweep *s, const struct options *o, struct error *e)
{
	if (slurm_sweep_start(s, e) != OK || slurm_sweep_read(s, e) != OK)
		return command_misuse(e);
	if (o->dry_run)
		return dry_run(s, e);
	if (slurm_sweep_submit(s, e) != OK)
		return command_misuse(e);
	tell_start(s);
	if (o->no_wait) {
		tell_way(s);
		return EXIT_DONE;
	}
	if (slurm_sweep_wait(s, e) == OK && !s->counts.signal)
		slurm_sweep_read(s, e);
	if (e->code != OK) {
		command_misuse(e);
		tell_way(s);
		return EXIT_FAULT;
	}
	if (!s->counts.signal)
		return tell_end(s);
	fprintf(stderr, "shardsim: stopped by signal %d (%s), the jobs go on\n",
	        s->counts.signal, strsignal(s->counts.signal));
	tell_way(s);
	return EXIT_FAULT;
}

static int run(const struct options *o, struct arena *a)
{
	struct slurm_sweep s = {.arena = a};
	struct sweep_request request;
	struct sweep sweep = {0};
	struct error e = {0};
	int64_t cases;

	if (take_options(&s, o, &e) != OK ||
	    run_options_take(&sweep, &o->run, 1, &e) != OK ||
	    plan_read(&sweep, &request, o->plan, a, &e) != OK ||
	    take_folders(&s, o, &e) != OK)
		return command_misuse(&e);
	cases = sweep_cases(&sweep);
	if (!s.nshards)
		s.nshards = cases < SHARDS ? (int)cases : SHARDS;
	s.sweep = &sweep;
	s.plan = sweep_digest(&sweep);
	s.job.cpus = sweep.jobs;
	s.run = run_words(o, a);
	return go(&s, o, &e);
}

int command_sweep_submit(int argc, char **argv)
{
	const struct argp_child children[] = {{&run_argp, 0, NULL, 0},
	                                      {NULL, 0, NULL, 0}};
	const struct argp argp = {
		option_table, parse_option, "--slurm PLAN", doc, children, NULL, NULL};
	struct options o = {0};
	struct arena *a = arena_new();
	int status;

	argp_parse(&argp, argc, argv, 0, NULL, &o);
	status = run(&o, a);
	arena_free(a);
	return status;
}
