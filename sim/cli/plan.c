/* `shardsim plan` and `shardsim simulate`: one problem, some planners. */
#include "cli/command.h"
#include "cli/explain.h"
#include "cli/show.h"
#include "cli/trace_options.h"
#include "cli/warning.h"
#include "measure/choose.h"
#include "measure/clocks.h"
#include "measure/library.h"
#include "measure/measure.h"
#include "plan/devices.h"

#include <argp.h>
#include <string.h>

enum {
	KEY_ARRAY = 256,
	KEY_MESH,
	KEY_TO_MESH,
	KEY_FROM,
	KEY_TO,
	KEY_NUM_DEVICES,
	KEY_MEMORY_LIMIT,
	KEY_VOCABULARY,
	KEY_PLANNER,
	KEY_PLATFORM,
	KEY_SET,
	KEY_DEVICES,
	KEY_TO_DEVICES,
	KEY_CLOCK,
	KEY_FORMAT,
	KEY_MINIMISE,
	KEY_TIMING,
	KEY_EXPLAIN,
	KEY_XLA_WARNING
};

struct options {
	struct arena *arena;
	struct problem_text problem;
	const char *planner, *platform, *clock, *format, *minimise;
	const char *set[SETTINGS_MAX];
	int nset;
	struct library_text library;
	const char *warning;
	struct trace_options trace;
	bool timing, explain;
	uint64_t given;
};

static const struct argp_option option_table[] = {
	{"array", KEY_ARRAY, "TYPE[SHAPE]", 0, "the array, such as bf16[8192,8192]", 0},
	{"mesh", KEY_MESH, "AXES", 0, "the mesh, first axis most major: x=4,y=2", 0},
	{"to-mesh", KEY_TO_MESH, "AXES", 0, "another mesh for the target layout", 0},
	{"from", KEY_FROM, "LAYOUT", 0,
         "the layout it is in: JAX, HLO, Shardy, DTensor or paper notation", 0},
	{"to", KEY_TO, "LAYOUT", 0, "the layout it is needed in", 0},
	{"num-devices", KEY_NUM_DEVICES, "N", 0,
         "devices, for HLO layouts without --mesh", 0},
	{"memory-limit", KEY_MEMORY_LIMIT, "SIZE", 0,
         "largest live array on a device, such as 2GiB; none: any memory will do", 0},
	{"vocabulary", KEY_VOCABULARY, "any|portable", 0,
         "what best and direct may use (default any; portable: no boxes, no strides)", 0},
	{"planner", KEY_PLANNER, "LIST", 0, "planners, or all (default synth)", 0},
	{"platform", KEY_PLATFORM, "P", 0, "family:shape or a SimGrid XML file", 0},
	{"set", KEY_SET, "KEY=VALUE", 0, "change a figure of a family:shape platform", 0},
	{"devices", KEY_DEVICES, "LIST|@FILE", 0,
         "platform devices of the mesh, row-major (default: the first ones)", 0},
	{"to-devices", KEY_TO_DEVICES, "LIST|@FILE", 0,
         "platform devices of the target mesh (default: those of the mesh)", 0},
	{"clock", KEY_CLOCK, "LIST", 0,
         "clocks: model, fluid, simgrid, flow (default model)", 0},
	{"format", KEY_FORMAT, "text|json", 0, "how to print (default text)", 0},
	{"minimise", KEY_MINIMISE, "time|bytes|memory", 0,
         "what planners minimise (default: time with a platform, else bytes)", 0},
	{"explain", KEY_EXPLAIN, NULL, 0,
         "say in words what moves, what XLA does and costs, and what best does", 0},
	{"xla-warning", KEY_XLA_WARNING, "TEXT|@FILE|-", 0,
         "both layouts from a logged \"Involuntary full rematerialization\"", 0},
	{"timing", KEY_TIMING, NULL, 0, "show planning times", 0},
	LIBRARY_OPTION_TABLE,
	TRACE_OPTION_TABLE,
	{NULL, 0, NULL, 0, NULL, 0},
};

static void set_text(const char **text, struct where *at, const char *option,
                     const char *arg)
{
	*text = arg;
	*at = where_option(option, arg);
}

static error_t parse_problem(int key, char *arg, struct problem_text *t)
{
	switch (key) {
	case KEY_ARRAY:
		set_text(&t->array, &t->array_at, "--array", arg);
		return 0;
	case KEY_MESH:
		set_text(&t->mesh, &t->mesh_at, "--mesh", arg);
		return 0;
	case KEY_TO_MESH:
		set_text(&t->to_mesh, &t->to_mesh_at, "--to-mesh", arg);
		return 0;
	case KEY_FROM:
		set_text(&t->from, &t->from_at, "--from", arg);
		return 0;
	case KEY_TO:
		set_text(&t->to, &t->to_at, "--to", arg);
		return 0;
	case KEY_NUM_DEVICES:
		set_text(&t->num_devices, &t->num_devices_at, "--num-devices", arg);
		return 0;
	case KEY_DEVICES:
		set_text(&t->devices, &t->devices_at, "--devices", arg);
		return 0;
	case KEY_TO_DEVICES:
		set_text(&t->to_devices, &t->to_devices_at, "--to-devices", arg);
		return 0;
	case KEY_MEMORY_LIMIT:
		set_text(&t->memory_limit, &t->memory_limit_at, "--memory-limit", arg);
		return 0;
	case KEY_VOCABULARY:
		set_text(&t->vocabulary, &t->vocabulary_at, "--vocabulary", arg);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* Checks for options that do not go together, or are missing. */
static void check_plan_options(struct argp_state *state, const struct options *o)
{
	if (o->warning && (o->problem.from || o->problem.to))
		argp_error(state, "--xla-warning says what --from and --to say");
	if (!o->warning && (!o->problem.array || !o->problem.from || !o->problem.to))
		argp_error(state, "--array, --from and --to are needed");
	if (o->explain && o->format && strcmp(o->format, "json") == 0)
		argp_error(state, "--explain is text, not json");
}

static error_t parse_plan_option(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	if (key != KEY_SET)
		command_given(&o->given, option_table, key, state);
	switch (key) {
	case KEY_PLANNER:
		o->planner = arg;
		return 0;
	case KEY_PLATFORM:
		o->platform = arg;
		return 0;
	case KEY_SET:
		command_setting(o->set, &o->nset, arg, state);
		return 0;
	case KEY_CLOCK:
		o->clock = arg;
		return 0;
	case KEY_FORMAT:
		if (strcmp(arg, "text") != 0 && strcmp(arg, "json") != 0)
			argp_error(state, "unknown format '%s', expected text or json",
			           arg);
		o->format = arg;
		return 0;
	case KEY_MINIMISE:
		if (strcmp(arg, "time") != 0 && strcmp(arg, "bytes") != 0 &&
		    strcmp(arg, "memory") != 0)
			argp_error(
				state,
				"cannot minimise '%s', expected time, bytes or memory",
				arg);
		o->minimise = arg;
		return 0;
	case KEY_TIMING:
		o->timing = true;
		return 0;
	case KEY_EXPLAIN:
		o->explain = true;
		return 0;
	case KEY_XLA_WARNING:
		o->warning = arg;
		return 0;
	case ARGP_KEY_ARG:
		argp_error(state, "unexpected argument '%s'", arg);
		return 0;
	case ARGP_KEY_END:
		check_plan_options(state, o);
		return 0;
	default:
		if (trace_option(&o->trace, key, arg, state) ||
		    library_option(&o->library, key, arg))
			return 0;
		return parse_problem(key, arg, &o->problem);
	}
}

/* What a run of the command holds on to. */
struct session {
	struct arena *arena;
	struct problem problem;
	struct clocks clocks;
	struct machine *machine;
	struct bench bench;
};

static enum status open_plan_platform(struct session *s, const struct options *o,
                                      struct error *e)
{
	int *clock, n;

	if (!o->platform) {
		const struct library_text *l = &o->library;
		const char *option = o->clock       ? "--clock"
		                     : o->nset      ? "--set"
		                     : l->algorithm ? "--algorithm"
		                     : l->protocol  ? "--protocol"
		                                    : "--launch";
		const char *arg = o->clock       ? o->clock
		                  : o->nset      ? o->set[0]
		                  : l->algorithm ? l->algorithm
		                  : l->protocol  ? l->protocol
		                                 : l->launch;

		if (arg)
			return error_set(e, E_TYPE, where_option(option, arg),
			                 "%s needs --platform", option);
		bench_init(&s->bench, NULL);
		return OK;
	}
	if (choose_clocks(&clock, &n, o->arena, o->clock ? o->clock : "model", e) != OK)
		return e->code;
	if (clocks_open(&s->clocks, s->arena, o->platform, o->set, o->nset, clock, n,
	                e) != OK ||
	    library_set(s->clocks.platform->machine, &o->library, NULL, e) != OK)
		return e->code;
	s->machine = s->clocks.platform->machine;
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

static int measure_all(struct session *s, const struct options *o,
                       const struct planner **chosen, int n)
{
	struct measurement *m;
	struct shown shown = {&s->problem, &s->bench, NULL, n, o->timing, NULL};
	struct placement devices = {s->problem.ndevices, s->problem.platform};
	struct timed *timed = arena_alloc(s->arena, (size_t)n, sizeof(*timed));
	struct text out = {0};
	struct error e = {0};
	int status = EXIT_DONE, named = n;

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
	if (o->format && strcmp(o->format, "json") == 0)
		show_json(&out, &shown);
	else
		show_text(&out, &shown, s->arena);
	if (trace_write(&o->trace, &s->bench, &devices, timed, shown.n, &e) != OK) {
		text_free(&out);
		return command_misuse(&e);
	}
	if (o->explain) {
		shown.n = n;
		explain_text(&out, &shown, named, s->arena);
	}
	fputs(out.s, stdout);
	text_free(&out);
	return status;
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
	struct prices base;
	struct error e = {0};
	int n;

	if ((o->warning && warning_read(&o->problem, s->arena, o->warning, &e) != OK) ||
	    problem_make(&s->problem, s->arena, &o->problem, &e) != OK ||
	    choose_shown_planners(&chosen, &n, s->arena, o, &e) != OK ||
	    trace_options_check(&o->trace, o->platform, &e) != OK)
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
	static const char usage[] = "--array A --mesh M --from LAYOUT --to LAYOUT";
	const struct argp argp = {
		option_table, parse_plan_option, usage, doc, NULL, NULL, NULL};
	struct arena *arena = arena_new();
	struct options o = {.arena = arena};
	struct session s = {.arena = arena};
	int status = EXIT_MISUSE;

	argp_err_exit_status = EXIT_MISUSE;
	argp_parse(&argp, argc, argv, 0, NULL, &o);
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
		"the "
		"steps.\v"
		"Example: shardsim plan --array 'bf16[8192,8192]' --mesh 'x=4,y=2' "
		"--from \"P('x', None)\" --to \"P(None, 'y')\" --planner all",
		false);
}

int command_simulate(int argc, char **argv)
{
	return run_plan(
		argc, argv,
		"Plan, check and time a redistribution on a platform.\v"
		"Example: shardsim simulate --array 'bf16[8192,8192]' --mesh 'x=4,y=2' "
		"--from \"P('x', None)\" --to \"P(None, 'y')\" --platform dgx-a100:1 "
		"--clock model,fluid",
		true);
}
