/* `shardsim sweep`: suites over platforms, planners and clocks, one row each. */
#include "command.h"
#include "platform.h"
#include "sweep.h"

#include <argp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { KEY_PLATFORM = 256, KEY_PLANNER, KEY_CLOCK, KEY_JOBS, KEY_OUT, SUITES_MAX = 64 };

struct options {
	const char *suite[SUITES_MAX];
	int nsuites;
	const char *platform, *planner, *clock, *jobs, *out;
	uint64_t given;
};

static const struct argp_option option_table[] = {
	{"platform", KEY_PLATFORM, "LIST", 0, "family:shape or XML files", 0},
	{"planner", KEY_PLANNER, "LIST", 0, "planners (default all)", 0},
	{"clock", KEY_CLOCK, "LIST", 0, "clocks: model, fluid (default model)", 0},
	{"jobs", KEY_JOBS, "N", 0, "worker processes (default: one per core)", 0},
	{"out", KEY_OUT, "DIR", 0, "folder of the rows (default sweep)", 0},
	{NULL, 0, NULL, 0, NULL, 0},
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	command_given(&o->given, option_table, key, state);
	switch (key) {
	case KEY_PLATFORM:
		o->platform = arg;
		return 0;
	case KEY_PLANNER:
		o->planner = arg;
		return 0;
	case KEY_CLOCK:
		o->clock = arg;
		return 0;
	case KEY_JOBS:
		o->jobs = arg;
		return 0;
	case KEY_OUT:
		if (!arg[0])
			argp_error(state, "--out is empty, expected a folder");
		o->out = arg;
		return 0;
	case ARGP_KEY_ARG:
		if (o->nsuites == SUITES_MAX)
			argp_error(state, "more than %d suites", SUITES_MAX);
		o->suite[o->nsuites++] = arg;
		return 0;
	case ARGP_KEY_END:
		if (o->nsuites == 0)
			argp_error(state,
			           "expected a suite such as scenarios/models.yaml");
		if (!o->platform)
			argp_error(state, "--platform is needed");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* Every platform is read once here, so that a bad one is found before anything runs. */
static enum status take_platforms(struct sweep *s, const char *list, struct arena *a,
                                  struct error *e)
{
	const char **words;

	if (command_words(&words, a, "--platform", list, e) != OK)
		return e->code;
	s->platform = words;
	if (!words[0])
		return error_set(e, E_TYPE, where_option("--platform", list),
		                 "expected platforms such as tpu-v4:4x4x4,dgx-a100:4");
	if (command_once("--platform", list, words, e) != OK)
		return e->code;
	for (; words[s->nplatforms]; s->nplatforms++) {
		const char *word = words[s->nplatforms];
		struct arena *scratch = arena_new();
		struct machine *m;

		platform_machine(&m, scratch, word, NULL, 0, e);
		/* Other texts than the word itself go with the scratch arena. */
		if (e->at.source != word)
			e->at.source = NULL;
		arena_free(scratch);
		if (e->code != OK)
			return e->code;
	}
	return OK;
}

static enum status take_jobs(struct sweep *s, const char *jobs, struct error *e)
{
	struct scan scan = scan_start(jobs, where_option("--jobs", jobs), e);
	int64_t n;

	if (scan_int(&scan, "the number of jobs", 1, 4096, &n) &&
	    scan_finish(&scan) == OK)
		s->jobs = (int)n;
	return e->code;
}

static void print_counts(const struct sweep_counts *c, const char *out)
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
	fputs("\n", stderr);
}

static int sweep_into(const struct sweep *s, const char *out, struct error *e)
{
	struct sweep_counts counts;
	struct store *store;

	if (store_open(&store, out, true, e) != OK)
		return command_misuse(e);
	if (sweep_run(&counts, s, store, e) == OK)
		store_finish(store, e);
	store_close(store);
	if (e->code != OK) {
		command_misuse(e);
		return EXIT_FAULT;
	}
	print_counts(&counts, out);
	return counts.outcome[OUTCOME_FAILED] || counts.outcome[OUTCOME_WRONG]
	               ? EXIT_FAULT
	               : EXIT_DONE;
}

int command_sweep(int argc, char **argv)
{
	const struct argp argp = {option_table,
	                          parse_option,
	                          "SUITE.yaml...",
	                          "Measure every scenario on every platform with every "
	                          "planner and clock.",
	                          NULL,
	                          NULL,
	                          NULL};
	struct options o = {.planner = "all", .clock = "model", .out = "sweep"};
	struct arena *a = arena_new();
	struct suite suite = {.arena = a};
	struct sweep s = {.suite = &suite, .progress = isatty(STDERR_FILENO)};
	const struct planner **planner = NULL;
	struct error e = {0};
	int *clock = NULL, status;

	argp_err_exit_status = EXIT_MISUSE;
	argp_parse(&argp, argc, argv, 0, NULL, &o);
	s.jobs = (int)sysconf(_SC_NPROCESSORS_ONLN);
	for (int i = 0; i < o.nsuites && e.code == OK; i++)
		suite_read(&suite, o.suite[i], &e);
	if (e.code == OK)
		suite_check_names(&suite, &e);
	if (e.code == OK && o.jobs)
		take_jobs(&s, o.jobs, &e);
	if (e.code != OK ||
	    command_planners(&planner, &s.nplanners, a, o.planner, &e) != OK ||
	    command_clocks(&clock, &s.nclocks, a, o.clock, &e) != OK ||
	    take_platforms(&s, o.platform, a, &e) != OK) {
		status = command_misuse(&e);
	} else {
		s.planner = planner;
		s.clock = clock;
		status = sweep_into(&s, o.out, &e);
	}
	arena_free(a);
	return status;
}
