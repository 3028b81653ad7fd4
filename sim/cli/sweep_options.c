/* The options that the commands about sweeps share. */
#include "cli/sweep.h"

#include "cli/command.h"

#include "base/units.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { KEY_PLATFORM = 512, KEY_PLANNER, KEY_CLOCK, KEY_VOCABULARY };
enum { KEY_JOBS = 768, KEY_TIMEOUT, KEY_MEMORY, KEY_PROGRESS };

/* --- what to run -------------------------------------------------------------------- */

static const struct argp_option request_table[] = {
	{"platform", KEY_PLATFORM, "LIST", 0,
         "family:shape{key=value,...} or XML files (default: those of the suites)", 0},
	{"planner", KEY_PLANNER, "LIST", 0, "planners (default all)", 0},
	{"clock", KEY_CLOCK, "LIST", 0,
         "clocks: model, fluid, simgrid, flow (default model)", 0},
	{"vocabulary", KEY_VOCABULARY, "any|portable", 0,
         "what best and direct may use (default: as the suites say, else any)", 0},
	{NULL, 0, NULL, 0, NULL, 0},
};

static error_t parse_request(int key, char *arg, struct argp_state *state)
{
	struct request_options *o = state->input;
	struct sweep_request *r = &o->request;

	command_given(&o->given, request_table, key, state);
	switch (key) {
	case KEY_PLATFORM:
		r->platform = arg;
		return 0;
	case KEY_PLANNER:
		r->planner = arg;
		return 0;
	case KEY_CLOCK:
		r->clock = arg;
		return 0;
	case KEY_VOCABULARY:
		r->vocabulary = arg;
		return 0;
	case ARGP_KEY_ARG:
		if (r->nsuites == SUITE_FILES_MAX)
			argp_error(state, "more than %d suites", SUITE_FILES_MAX);
		r->suite[r->nsuites++] = arg;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

const struct argp request_argp = {request_table, parse_request, NULL, NULL,
                                  NULL,          NULL,          NULL};

/* --- how to run it ------------------------------------------------------------------ */

static const struct argp_option run_table[] = {
	{"jobs", KEY_JOBS, "N", 0,
         "worker processes (default: one per core; one in a shard)", 0},
	{"timeout", KEY_TIMEOUT, "TIME", 0,
         "give a case up after so long, such as 30s; its row is failed", 0},
	{"worker-memory", KEY_MEMORY, "SIZE", 0,
         "give a case up whose process takes more, such as 2GiB; looked at 20 times a "
         "second",
         0},
	{"progress", KEY_PROGRESS, "SECONDS", OPTION_ARG_OPTIONAL,
         "tell how far it is also where stderr is no terminal: a line every 10 "
         "seconds, "
         "or as many as given",
         0},
	{NULL, 0, NULL, 0, NULL, 0},
};

static error_t parse_run(int key, char *arg, struct argp_state *state)
{
	struct run_options *o = state->input;

	command_given(&o->given, run_table, key, state);
	switch (key) {
	case KEY_JOBS:
		o->jobs = arg;
		return 0;
	case KEY_TIMEOUT:
		o->timeout = arg;
		return 0;
	case KEY_MEMORY:
		o->worker_memory = arg;
		return 0;
	case KEY_PROGRESS:
		o->show_progress = true;
		o->progress = arg;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

const struct argp run_argp = {run_table, parse_run, NULL, NULL, NULL, NULL, NULL};

int cmd_sweep_cores(void)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set) == 0)
		return CPU_COUNT(&set);
	return (int)sysconf(_SC_NPROCESSORS_ONLN);
}

enum status cmd_sweep_count(int *out, const char *option, const char *what,
                            const char *text, int most, struct error *e)
{
	char number[40];
	struct scan scan;
	int64_t n;

	if (!text)
		return e->code;
	snprintf(number, sizeof(number), "the number of %s", what);
	scan = scan_start(text, where_option(option, text), e);
	if (scan_int(&scan, number, 1, most, &n) && scan_finish(&scan) == OK)
		*out = (int)n;
	return e->code;
}

enum status run_options_take(struct sweep *s, const struct run_options *o, int fallback,
                             struct error *e)
{
	struct where at;

	s->jobs = fallback;
	if (cmd_sweep_count(&s->jobs, "--jobs", "jobs", o->jobs, 4096, e) != OK)
		return e->code;
	if (o->timeout) {
		at = where_option("--timeout", o->timeout);
		if (units_time(o->timeout, at, &s->timeout_s, e) == OK &&
		    s->timeout_s <= 0)
			error_set(e, E_RANGE, at, "expected a time above 0");
	}
	if (o->progress) {
		at = where_option("--progress", o->progress);
		units_time(o->progress, at, &s->progress_s, e);
	}
	if (o->worker_memory) {
		at = where_option("--worker-memory", o->worker_memory);
		if (units_bytes(o->worker_memory, at, &s->worker_bytes, e) == OK &&
		    s->worker_bytes < 1)
			error_set(e, E_RANGE, at, "expected a size above 0");
	}
	return e->code;
}

/* --- progress ----------------------------------------------------------------------- */

int64_t cmd_sweep_units(const struct sweep_work *work, int64_t n)
{
	int64_t units = 0;

	for (int64_t i = 0; i < n; i++)
		units += __builtin_popcountll(work[i].units);
	return units;
}

void cmd_sweep_progress(struct sweep *s, const struct run_options *o,
                        const struct sweep_work *work, int64_t n, int nshards,
                        struct arena *a)
{
	bool terminal = isatty(STDERR_FILENO);
	struct progress *p;

	s->progress = NULL;
	if ((!terminal && !o->show_progress) || n == 0)
		return;
	p = arena_alloc(a, 1, sizeof(*p));
	p->out = stderr;
	p->terminal = terminal;
	p->interval_s = s->progress_s > 0 || o->progress ? s->progress_s
	                : terminal                       ? 0.2
	                                                 : 10;
	p->nplatforms = s->nplatforms;
	p->platform = arena_alloc(a, (size_t)s->nplatforms, sizeof(*p->platform));
	for (int64_t i = 0; i < n; i++)
		p->platform[work[i].platform].done -=
			__builtin_popcountll(work[i].units);
	for (int i = 0; i < s->nplatforms; i++) {
		struct progress_platform *on = &p->platform[i];

		on->name = s->platform[i].name;
		on->total = nshards > 1 ? -on->done : sweep_platform_cases(s, i);
		on->done += on->total;
		p->done += on->done;
		p->total += on->total;
	}
	s->progress = p;
}
