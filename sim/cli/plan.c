/* `shardsim plan` and `shardsim simulate`: one problem, some planners. */
#include "cli/command.h"
#include "cli/emit_options.h"
#include "cli/explain.h"
#include "cli/notes.h"
#include "cli/options.h"
#include "cli/problem_options.h"
#include "cli/show.h"
#include "cli/trace_options.h"
#include "cli/warning.h"
#include "measure/choose.h"
#include "measure/clocks.h"
#include "measure/library.h"
#include "measure/measure.h"
#include "plan/devices.h"
#include "plan/position.h"

#include <string.h>

struct options {
	struct arena *arena;
	struct problem_text problem;
	const char *planner, *platform, *clock, *format, *minimise;
	struct settings set;
	struct library_text library;
	const char *warning;
	struct trace_options trace;
	struct emit_options emit;
	bool timing, explain, messages;
};

static const struct option_row option_table[] = {
	{"planner", 0, "LIST", "planners, or all (default synth)", AT(planner)},
	{"platform", 0, "P", "family:shape or a SimGrid XML file", AT(platform)},
	{"set", 0, "KEY=VALUE", "change a figure of a family:shape platform", AT(set),
         .settings = true},
	{"clock", 0, "LIST", "clocks: model, fluid, simgrid, flow (default model)",
         AT(clock)},
	{"format", 0, "text|json", "how to print (default text)", AT(format),
         .unknown = "unknown format"},
	{"minimise", 0, "time|bytes|memory",
         "what planners minimise (default: time with a platform, else bytes)",
         AT(minimise), .unknown = "cannot minimise"},
	{"explain", 0, NULL,
         "say in words what moves, what XLA does and costs, and what best does",
         AT(explain)},
	{"xla-warning", 0, "TEXT|@FILE|-",
         "both layouts from a logged \"Involuntary full rematerialization\"",
         AT(warning)},
	{"messages", 0, NULL, "print who sends how many bytes to whom in every step",
         AT(messages)},
	{"timing", 0, NULL, "show planning times", AT(timing)},
	{0},
};

/* Checks for options that do not go together, or are missing. */
static void check_plan_options(void *self, const struct argp_state *state)
{
	struct options *o = self;

	trace_options_take(&o->trace, state);
	emit_options_take(&o->emit, state);
	if (o->emit.kind && !o->emit.output && (o->explain || o->format || o->messages))
		argp_error(state, "--emit without --output prints nothing else");
	if (o->warning && (o->problem.from || o->problem.to))
		argp_error(state, "--xla-warning says what --from and --to say");
	if (!o->warning && (!o->problem.array || !o->problem.from || !o->problem.to))
		argp_error(state, "--array, --from and --to are needed");
}

/* What a run of the command holds on to. */
struct session {
	struct arena *arena;
	struct problem problem;
	struct clocks clocks;
	struct machine *machine;
	struct bench bench;
	const char *note[WARNING_NOTES]; /* on a warning, ended by NULL */
	int manual;                      /* first dimensions that number its groups */
};

static enum status open_plan_platform(struct session *s, const struct options *o,
                                      struct error *e)
{
	struct library_text library = o->library;
	const char *platform = o->platform;
	int *clock, n;

	if (!o->platform) {
		const struct library_text *l = &o->library;
		const char *option = o->clock       ? "--clock"
		                     : o->set.n     ? "--set"
		                     : l->algorithm ? "--algorithm"
		                     : l->protocol  ? "--protocol"
		                                    : "--launch";
		const char *arg = o->clock       ? o->clock
		                  : o->set.n     ? o->set.at[0]
		                  : l->algorithm ? l->algorithm
		                  : l->protocol  ? l->protocol
		                                 : l->launch;

		if (arg)
			return error_set(e, E_TYPE, where_option(option, arg),
			                 "%s needs --platform", option);
		bench_init(&s->bench, NULL);
		return OK;
	}
	if (platform_resize(&platform, s->arena, o->set.at, o->set.n,
	                    position_needs(&s->problem), e) != OK ||
	    choose_clocks(&clock, &n, o->arena, o->clock ? o->clock : "model", e) != OK)
		return e->code;
	if (clocks_open(&s->clocks, s->arena, platform, o->set.at, o->set.n, clock, n,
	                e) != OK)
		return e->code;
	s->machine = s->clocks.platform->machine;
	emit_options_caller(&library, &o->emit, s->machine);
	if (library_of_plans(s->clocks.platform->machine, &library, NULL, e) != OK)
		return e->code;
	command_machine_notes(s->machine, &o->library, platform, o->set.at, o->set.n);
	bench_init(&s->bench, s->machine);
	for (int i = 0; i < n; i++)
		clocks_bench(&s->clocks, &s->bench, clock[i]);
	return OK;
}

/* Checks that named devices are there; a mesh too large is an answer instead. */
static enum status check_devices(const struct session *s, const struct problem_text *t,
                                 struct error *e)
{
	const char *text[2] = {t->devices, t->to_devices};
	const struct where at[2] = {t->devices_at, t->to_devices_at};
	int32_t *list, n;

	for (int i = 0; i < 2 && s->machine; i++)
		if (text[i] && devices_parse(&list, &n, s->arena, text[i], at[i],
		                             s->machine->ndevices, e) != OK)
			return e->code;
	return OK;
}

/* Prints all that was measured, with what explains it if that is asked for. */
static void show_all(struct shown *shown, const struct options *o, int named, int n)
{
	bool json = o->format && strcmp(o->format, "json") == 0;
	struct shown all = *shown;
	struct text out = {0};

	all.n = n;
	if (json)
		show_json(stdout, shown,
		          o->explain ? explain_json(&all, named, o->arena) : NULL);
	else
		show_text(stdout, shown, o->arena);
	if (o->explain && !json) {
		explain_text(&out, &all, named, o->arena);
		fputs(out.s, stdout);
	}
	text_free(&out);
}

static int measure_all(struct session *s, const struct options *o,
                       const struct planner **chosen, int n)
{
	struct measurement *m;
	struct shown shown = {.problem = &s->problem,
	                      .bench = &s->bench,
	                      .n = n,
	                      .timing = o->timing,
	                      .note = notes_of(s->arena, &s->problem, s->note),
	                      .set = o->set.at,
	                      .nset = o->set.n,
	                      .names_mesh = !o->problem.mesh,
	                      .manual = s->manual,
	                      .warned = o->warning != NULL};
	struct placement devices = {s->problem.ndevices, s->problem.platform};
	struct timed *timed = arena_alloc(s->arena, (size_t)n, sizeof(*timed));
	struct likely_table likely = {0};
	struct error e = {0};
	int status = EXIT_DONE, named = n, emitted;

	if (s->machine && likely_read(&likely, s->arena, &e) != OK)
		return command_misuse(&e);
	shown.likely = &likely;
	if (o->warning)
		shown.note =
			notes_of_warning(s->arena, shown.note, &s->bench, &s->problem);
	if (o->explain)
		explain_planners(&chosen, &n, s->arena);
	shown.measurement = m = arena_alloc(s->arena, (size_t)n, sizeof(*m));
	for (int i = 0; i < n; i++) {
		measure_plan(&m[i], &s->bench, &s->problem, chosen[i], s->arena);
		for (int k = 0; k < s->bench.nclocks; k++)
			measure_time(&m[i], &s->bench, k, s->arena);
		if (m[i].status == OUTCOME_WRONG || m[i].status == OUTCOME_FAILED)
			status = EXIT_FAULT;
	}
	for (int i = 0; i < shown.n; i++)
		timed[i] = timed_plan(&m[i], &s->bench, s->arena);
	shown.links = trace_links(&o->trace, &s->bench, timed, shown.n, s->arena);
	shown.messages = o->messages ? timed : NULL;
	if (trace_write(&o->trace, &s->bench, &devices, timed, shown.n, &e) != OK)
		return command_misuse(&e);
	emitted = emit_plans(&o->emit, &s->bench, m, shown.n, s->arena);
	if (!o->emit.kind || o->emit.output)
		show_all(&shown, o, named, n);
	return emitted > status ? emitted : status;
}

/* Returns the planners that were named, or those that the command speaks of. */
static enum status choose_shown_planners(const struct planner ***chosen, int *n,
                                         struct arena *a, const struct options *o,
                                         struct error *e)
{
	const char *list = o->explain ? "xla,best" : "synth";

	return choose_planners(chosen, n, a, o->planner ? o->planner : list, e);
}

static int run_session(struct session *s, struct options *o)
{
	const struct planner **chosen;
	struct xla_warnings warnings;
	struct prices base;
	struct error e = {0};
	int n;

	if ((o->warning && (warning_open(&warnings, s->arena, o->warning, &e) != OK ||
	                    warning_read(&o->problem, s->note, &s->manual, s->arena,
	                                 warnings, &e) != OK)) ||
	    problem_make(&s->problem, s->arena, &o->problem, &e) != OK ||
	    choose_shown_planners(&chosen, &n, s->arena, o, &e) != OK ||
	    trace_options_check(&o->trace, o->platform, &e) != OK ||
	    emit_options_check(&o->emit, &e) != OK)
		return command_misuse(&e);
	if (open_plan_platform(s, o, &e) != OK ||
	    check_devices(s, &o->problem, &e) != OK)
		return command_misuse(&e);
	bench_place(&s->bench, &s->problem);
	if (o->minimise && strcmp(o->minimise, "time") == 0 && !o->platform) {
		error_set(&e, E_TYPE, where_option("--minimise", o->minimise),
		          "without --platform there are no times, expected bytes");
		return command_misuse(&e);
	}
	if (o->minimise && strcmp(o->minimise, "bytes") == 0)
		s->bench.prices = prices_bytes;
	if (o->minimise && strcmp(o->minimise, "memory") == 0) {
		base = s->bench.prices;
		s->bench.prices = prices_memory(&base);
	}
	return measure_all(s, o, chosen, n);
}

static int run_plan(int argc, char **argv, const char *doc, bool needs_platform)
{
	struct arena *arena = arena_new();
	struct options o = {.arena = arena};
	const struct command_syntax syntax = {
		.usage = "--array A --mesh M --from LAYOUT --to LAYOUT",
		.doc = doc,
		.machines = true,
		.options = {{problem_table, &o.problem},
	                    {option_table, &o},
	                    {library_table, &o.library},
	                    {trace_table, &o.trace},
	                    {emit_table, &o.emit}},
		.check = check_plan_options,
		.self = &o,
	};
	struct session s = {.arena = arena};
	int status = EXIT_MISUSE;

	emit_options_command(&o.emit, arena, argc, argv);
	command_parse(&syntax, argc, argv);
	problem_places(&o.problem);
	if (needs_platform && !o.platform)
		fputs("shardsim: simulate needs --platform, such as tpu-v4:4x4x4\n",
		      stderr);
	else
		status = run_session(&s, &o);
	bench_free(&s.bench);
	clocks_free(&s.clocks);
	arena_free(arena);
	return status;
}

int command_plan(int argc, char **argv)
{
	return run_plan(
		argc, argv,
		"Plan how to bring an array from one layout into another, and print "
		"the steps.\v"
		"Example: shardsim plan --array 'bf16[8192,8192]' --mesh 'x=4,y=2' "
		"--from \"P('x', None)\" --to \"P(None, 'y')\" --planner all",
		false);
}

int command_simulate(int argc, char **argv)
{
	return run_plan(
		argc, argv,
		"Plan, check and time a redistribution on a platform.\v"
		"Example: shardsim simulate --array 'bf16[8192,8192]' --mesh "
		"'x=4,y=2' --from \"P('x', None)\" --to \"P(None, 'y')\" --platform "
		"dgx-a100:1 --clock model,fluid",
		true);
}
