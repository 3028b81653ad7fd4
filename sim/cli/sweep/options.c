/* The options that the commands about sweeps share. */
#include "cli/sweep/sweep.h"

#include "cli/command.h"

#include "base/units.h"

#include <sched.h>
#include <unistd.h>

/* --- what to run -------------------------------------------------------------------- */

const struct option_row request_table[] = {
	{"platform", 0, "LIST",
         "family:shape{key=value,...} or XML files (default: those of the suites)",
         .at = offsetof(struct request_options, request.platform)},
	{"set", 0, "KEY=VALUES",
         "change a figure of all platforms; several values, {25GBps,50GBps} or "
         "25GBps..100GBps x2 (or +25GBps), make a platform each",
         .at = offsetof(struct request_options, set), .settings = true},
	{"planner", 0, "LIST", "planners (default all)",
         .at = offsetof(struct request_options, request.planner)},
	{"clock", 0, "LIST", "clocks: model, fluid, simgrid, flow (default model)",
         .at = offsetof(struct request_options, request.clock)},
	{"vocabulary", 0, "any|portable",
         "what best and direct may use (default: as the suites say, else any)",
         .at = offsetof(struct request_options, request.vocabulary)},
	LAUNCH_ROW(struct request_options, request.library.launch),
	{0},
};

void request_take(struct request_options *o, const struct command_words *suites,
                  const struct argp_state *state)
{
	struct sweep_request *r = &o->request;

	if (!suites->n)
		argp_error(state, "expected a suite such as scenarios/models.yaml");
	if (suites->n > SUITE_FILES_MAX)
		argp_error(state, "more than %d suites", SUITE_FILES_MAX);
	for (; r->nsuites < suites->n; r->nsuites++)
		r->suite[r->nsuites] = suites->at[r->nsuites];
	if (o->set.n > PLATFORM_SETTINGS_MAX)
		argp_error(state, "more than %d settings", PLATFORM_SETTINGS_MAX);
	for (; r->nset < o->set.n; r->nset++)
		r->set[r->nset] = o->set.at[r->nset];
	if (!r->planner)
		r->planner = "all";
	if (!r->clock)
		r->clock = "model";
}

/* --- how to run it ------------------------------------------------------------------ */

const char progress_alone[] = "10s";

const struct option_row run_table[] = {
	{"jobs", 0, "N", "worker processes (default: one per core; one in a shard)",
         .at = offsetof(struct run_options, jobs)},
	{"timeout", 0, "TIME",
         "give up a case after this time, such as 30s; its row is failed",
         .at = offsetof(struct run_options, timeout)},
	{"worker-memory", 0, "SIZE",
         "give up a case whose process takes more memory, such as 2GiB; checked 20 "
         "times a second",
         .at = offsetof(struct run_options, worker_memory)},
	{"progress", 0, "SECONDS",
         "say how far the sweep is even if stderr is no terminal: a line every SECONDS "
         "(10 if none are given)",
         .at = offsetof(struct run_options, progress), .alone = progress_alone},
	{0},
};

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
	if ((!terminal && !o->progress) || n == 0)
		return;
	p = arena_alloc(a, 1, sizeof(*p));
	p->out = stderr;
	p->terminal = terminal;
	p->interval_s = s->progress_s;
	if (terminal && (!o->progress || o->progress == progress_alone))
		p->interval_s = 0.2;
	p->nplatforms = s->suite->nplatforms;
	p->platform = arena_alloc(a, (size_t)p->nplatforms, sizeof(*p->platform));
	for (int64_t i = 0; i < n; i++)
		p->platform[sweep_asked(s, work[i].platform)].done -=
			__builtin_popcountll(work[i].units);
	for (int i = 0; i < s->nplatforms && nshards == 1; i++)
		p->platform[sweep_asked(s, i)].total += sweep_platform_cases(s, i);
	for (int i = 0; i < p->nplatforms; i++) {
		struct progress_platform *on = &p->platform[i];

		on->name = s->suite->platform[i].name;
		on->total = nshards > 1 ? -on->done : on->total;
		on->done += on->total;
		p->done += on->done;
		p->total += on->total;
	}
	s->progress = p;
}
