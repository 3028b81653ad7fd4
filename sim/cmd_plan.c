/* `shardsim plan` and `shardsim simulate`: one problem, some planners. */
#include "command.h"
#include "measure.h"
#include "platform.h"
#include "replay_fluid.h"
#include "show.h"

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
	KEY_PLANNER,
	KEY_PLATFORM,
	KEY_SET,
	KEY_DEVICES,
	KEY_CLOCK,
	KEY_FORMAT,
	KEY_MINIMISE,
	KEY_TIMING,
	SETTINGS_MAX = 64
};

struct options {
	struct arena *arena;
	struct problem_text problem;
	const char *planner, *platform, *devices, *clock, *format, *minimise;
	const char *set[SETTINGS_MAX];
	int nset;
	bool timing;
};

static const struct argp_option option_table[] = {
	{"array", KEY_ARRAY, "TYPE[SHAPE]", 0, "the array, such as bf16[8192,8192]", 0},
	{"mesh", KEY_MESH, "AXES", 0, "the mesh, first axis most major: x=4,y=2", 0},
	{"to-mesh", KEY_TO_MESH, "AXES", 0, "another mesh for the target layout", 0},
	{"from", KEY_FROM, "LAYOUT", 0,
         "the layout it is in: JAX, HLO, Shardy, DTensor or paper notation", 0},
	{"to", KEY_TO, "LAYOUT", 0, "the layout it is needed in", 0},
	{"num-devices", KEY_NUM_DEVICES, "N", 0, "devices, for HLO layouts without --mesh",
         0},
	{"memory-limit", KEY_MEMORY_LIMIT, "SIZE", 0,
         "largest live array on a device, such as 2GiB", 0},
	{"planner", KEY_PLANNER, "LIST", 0, "planners, or all (default synth)", 0},
	{"platform", KEY_PLATFORM, "P", 0, "family:shape or a SimGrid XML file", 0},
	{"set", KEY_SET, "KEY=VALUE", 0, "change a figure of a family:shape platform", 0},
	{"devices", KEY_DEVICES, "LIST|@FILE", 0,
         "platform devices of the mesh, row-major (default: the first ones)", 0},
	{"clock", KEY_CLOCK, "LIST", 0, "clocks: model, fluid (default model)", 0},
	{"format", KEY_FORMAT, "text|json", 0, "how to print (default text)", 0},
	{"minimise", KEY_MINIMISE, "time|bytes", 0,
         "what planners minimise (default: time with a platform, else bytes)", 0},
	{"timing", KEY_TIMING, NULL, 0, "show planning times", 0},
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
	case KEY_MEMORY_LIMIT:
		set_text(&t->memory_limit, &t->memory_limit_at, "--memory-limit", arg);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	switch (key) {
	case KEY_PLANNER:
		o->planner = arg;
		return 0;
	case KEY_PLATFORM:
		o->platform = arg;
		return 0;
	case KEY_SET:
		if (o->nset == SETTINGS_MAX)
			argp_error(state, "more than %d settings", SETTINGS_MAX);
		o->set[o->nset++] = arg;
		return 0;
	case KEY_DEVICES:
		o->devices = arg;
		return 0;
	case KEY_CLOCK:
		o->clock = arg;
		return 0;
	case KEY_FORMAT:
		if (strcmp(arg, "text") != 0 && strcmp(arg, "json") != 0)
			argp_error(state, "unknown format '%s', expected text or json", arg);
		o->format = arg;
		return 0;
	case KEY_MINIMISE:
		if (strcmp(arg, "time") != 0 && strcmp(arg, "bytes") != 0)
			argp_error(state, "cannot minimise '%s', expected time or bytes",
			           arg);
		o->minimise = arg;
		return 0;
	case KEY_TIMING:
		o->timing = true;
		return 0;
	case ARGP_KEY_ARG:
		argp_error(state, "unexpected argument '%s'", arg);
		return 0;
	case ARGP_KEY_END:
		if (!o->problem.array || !o->problem.from || !o->problem.to)
			argp_error(state, "--array, --from and --to are needed");
		return 0;
	default:
		return parse_problem(key, arg, &o->problem);
	}
}

/* What a run of the command holds on to. */
struct session {
	struct arena *arena;
	struct problem problem;
	struct machine *machine;
	struct fluid *fluid;
	struct bench bench;
};

static enum status open_platform(struct session *s, const struct options *o,
                                 struct error *e)
{
	struct platform *platform;
	int *clock, n;
	bool simgrid = false;

	if (!o->platform) {
		const char *option = o->clock     ? "--clock"
		                     : o->devices ? "--devices"
		                                  : "--set";
		const char *arg = o->clock     ? o->clock
		                  : o->devices ? o->devices
		                               : o->set[0];

		if (arg)
			return error_set(e, E_TYPE, where_option(option, arg),
			                 "%s needs --platform", option);
		bench_init(&s->bench, NULL);
		return OK;
	}
	if (command_clocks(&clock, &n, o->arena, o->clock ? o->clock : "model", e) != OK)
		return e->code;
	for (int i = 0; i < n; i++)
		simgrid = simgrid || clock_kinds[clock[i]].needs_simgrid;
	if (simgrid) {
		if (platform_load(&platform, s->arena, o->platform, o->set, o->nset, e) != OK)
			return e->code;
		s->machine = platform->machine;
		s->fluid = fluid_new(platform);
	} else if (platform_machine(&s->machine, s->arena, o->platform, o->set, o->nset,
	                            e) != OK) {
		return e->code;
	}
	bench_init(&s->bench, s->machine);
	for (int i = 0; i < n; i++)
		bench_clock(&s->bench, &clock_kinds[clock[i]], fluid_clock, s->fluid);
	return OK;
}

static enum status place_devices(struct session *s, const struct options *o,
                                 struct error *e)
{
	struct placement place;
	int32_t *devices;

	if (!o->devices)
		return OK;
	if (command_devices(&devices, &place.n, s->arena, o->devices,
	                    where_option("--devices", o->devices), s->machine->ndevices,
	                    e) != OK)
		return e->code;
	if (place.n != s->problem.mesh.ndevices)
		return error_set(e, E_TYPE, where_option("--devices", o->devices),
		                 "%d devices, expected %d as the mesh has", place.n,
		                 s->problem.mesh.ndevices);
	place.platform = devices;
	bench_place(&s->bench, &place);
	return OK;
}

static int measure_all(struct session *s, const struct options *o,
                       const struct planner *const *chosen, int n)
{
	struct measurement *m = arena_alloc(s->arena, (size_t)n, sizeof(*m));
	struct shown shown = {&s->problem, &s->bench, m, n, o->timing};
	struct text out = {0};
	int status = EXIT_DONE;

	for (int i = 0; i < n; i++) {
		measure_plan(&m[i], &s->bench, &s->problem, chosen[i], s->arena);
		for (int k = 0; k < s->bench.nclocks; k++)
			measure_time(&m[i], &s->bench, k, s->arena);
		if (m[i].status == OUTCOME_WRONG || m[i].status == OUTCOME_FAILED)
			status = EXIT_FAULT;
	}
	if (o->format && strcmp(o->format, "json") == 0)
		show_json(&out, &shown);
	else
		show_text(&out, &shown, s->arena);
	fputs(out.s, stdout);
	text_free(&out);
	return status;
}

static int run_session(struct session *s, const struct options *o)
{
	const struct planner **chosen;
	struct error e = {0};
	int n;

	if (problem_make(&s->problem, s->arena, &o->problem, &e) != OK ||
	    command_planners(&chosen, &n, s->arena, o->planner ? o->planner : "synth",
	                     &e) != OK)
		return command_misuse(&e);
	if (open_platform(s, o, &e) != OK || place_devices(s, o, &e) != OK)
		return command_misuse(&e);
	if (o->minimise && strcmp(o->minimise, "time") == 0 && !o->platform) {
		error_set(&e, E_TYPE, where_option("--minimise", o->minimise),
		          "without --platform there are no times, expected bytes");
		return command_misuse(&e);
	}
	if (o->minimise && strcmp(o->minimise, "bytes") == 0)
		s->bench.prices = prices_bytes;
	return measure_all(s, o, chosen, n);
}

static int run(int argc, char **argv, const char *doc, bool needs_platform)
{
	static const char usage[] = "--array A --mesh M --from LAYOUT --to LAYOUT";
	const struct argp argp = {option_table, parse_option, usage, doc, NULL, NULL, NULL};
	struct arena *arena = arena_new();
	struct options o = {.arena = arena};
	struct session s = {.arena = arena};
	int status = EXIT_MISUSE;

	argp_err_exit_status = EXIT_MISUSE;
	argp_parse(&argp, argc, argv, 0, NULL, &o);
	if (needs_platform && !o.platform)
		fputs("shardsim: simulate needs --platform, such as tpu-v4:4x4x4\n", stderr);
	else
		status = run_session(&s, &o);
	bench_free(&s.bench);
	fluid_free(s.fluid);
	arena_free(arena);
	return status;
}

int command_plan(int argc, char **argv)
{
	return run(argc, argv,
	           "Plan how to bring an array from one layout into another, and print the "
	           "steps.\v"
	           "Example: shardsim plan --array 'bf16[8192,8192]' --mesh 'x=4,y=2' "
	           "--from \"P('x', None)\" --to \"P(None, 'y')\" --planner all",
	           false);
}

int command_simulate(int argc, char **argv)
{
	return run(argc, argv,
	           "Plan, check and time a redistribution on a platform.\v"
	           "Example: shardsim simulate --array 'bf16[8192,8192]' --mesh 'x=4,y=2' "
	           "--from \"P('x', None)\" --to \"P(None, 'y')\" --platform dgx-a100:1 "
	           "--clock model,fluid",
	           true);
}
