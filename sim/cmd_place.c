/* `shardsim place`: which axis goes where, and how to reduce over it. */
#include "base/units.h"
#include "command.h"
#include "file.h"
#include "place.h"
#include "replay_fluid.h"

#include <argp.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
	KEY_HIERARCHY = 256,
	KEY_AXES,
	KEY_REDUCE,
	KEY_BYTES,
	KEY_PLATFORM,
	KEY_SET,
	KEY_LIMIT,
	KEY_CLOCK,
	KEY_ORDER,
	KEY_TOP,
	KEY_FORMAT,
	KEY_DEVICES_OUT,
	KEY_TIMING
};

struct options {
	const char *hierarchy, *axes, *reduce, *bytes, *platform, *limit, *clock,
		*order, *top, *format, *devices_out;
	const char *set[SETTINGS_MAX];
	int nset;
	bool timing;
	uint64_t given;
};

static const struct argp_option option_table[] = {
	{"hierarchy", KEY_HIERARCHY, "LEVELS", 0,
         "levels of the system, outermost first: 4,16 or node 4, gpu 16", 0},
	{"axes", KEY_AXES, "AXES", 0, "parallelism axes: 8,8 or data=8,model=8", 0},
	{"reduce", KEY_REDUCE, "LIST", 0, "axes to sum over: 1, or 0,2, or data", 0},
	{"bytes", KEY_BYTES, "SIZE", 0, "data on every device (default 2GiB)", 0},
	{"platform", KEY_PLATFORM, "P", 0,
         "family:shape or a SimGrid XML file (default: the published systems, by the "
         "last level)",
         0},
	{"set", KEY_SET, "KEY=VALUE", 0, "change a figure of a family:shape platform", 0},
	{"limit", KEY_LIMIT, "N", 0, "most steps of a program (default 5)", 0},
	{"clock", KEY_CLOCK, "LIST", 0, "clocks: model, fluid (default model)", 0},
	{"order", KEY_ORDER, "row|level|both", 0,
         "order of the devices of a reduction: as published, by level (default both)", 0},
	{"top", KEY_TOP, "K", 0, "show the K best placements only", 0},
	{"format", KEY_FORMAT, "text|json", 0, "how to print (default text)", 0},
	{"devices-out", KEY_DEVICES_OUT, "FILE", 0,
         "write the device order of the best placement, for --devices @FILE", 0},
	{"timing", KEY_TIMING, NULL, 0, "show how long the search took", 0},
	{NULL, 0, NULL, 0, NULL, 0},
};

static void parse_format(struct options *o, const char *arg, struct argp_state *state)
{
	if (strcmp(arg, "text") != 0 && strcmp(arg, "json") != 0)
		argp_error(state, "unknown format '%s', expected text or json", arg);
	o->format = arg;
}

/* Texts that are read later, where errors have a place. */
static error_t parse_text(struct options *o, int key, const char *arg)
{
	const char **const text[] = {
		&o->hierarchy, &o->axes, &o->reduce, &o->bytes,
		&o->platform,  NULL,     &o->limit,  &o->clock,
		&o->order,     &o->top,  NULL,       &o->devices_out,
	};
	int i = key - KEY_HIERARCHY;

	if (i < 0 || i >= (int)(sizeof(text) / sizeof(text[0])) || !text[i])
		return ARGP_ERR_UNKNOWN;
	*text[i] = arg;
	return 0;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	if (key != KEY_SET)
		command_given(&o->given, option_table, key, state);
	switch (key) {
	case KEY_SET:
		command_setting(o->set, &o->nset, arg, state);
		return 0;
	case KEY_FORMAT:
		parse_format(o, arg, state);
		return 0;
	case KEY_TIMING:
		o->timing = true;
		return 0;
	case ARGP_KEY_ARG:
		argp_error(state, "unexpected argument '%s'", arg);
		return 0;
	case ARGP_KEY_END:
		if (!o->hierarchy || !o->axes || !o->reduce)
			argp_error(state,
			           "--hierarchy, --axes and --reduce are needed");
		return 0;
	default:
		return parse_text(o, key, arg);
	}
}

struct session {
	struct arena *arena;
	struct placement_case c;
	int64_t top; /* 0: all */
	struct platform *platform;
	struct fluid *fluid;
	struct bench bench;
	struct place_clock clock[CLOCKS_MAX], search; /* `search`: the clock model */
	struct bench search_bench;
};

/* A whole number in [lo, hi] that an option gave; unchanged without one. */
static enum status read_int(int64_t *out, const char *option, const char *text,
                            const char *what, int64_t hi, struct error *e)
{
	struct scan s;

	if (!text)
		return OK;
	s = scan_start(text, where_option(option, text), e);
	if (!scan_int(&s, what, 1, hi, out))
		return e->code;
	return scan_finish(&s);
}

static enum status read_orders(unsigned *out, const char *text, struct error *e)
{
	*out = 1u << ORDER_ROW | 1u << ORDER_LEVEL;
	if (!text || strcmp(text, "both") == 0)
		return OK;
	for (int order = 0; order < ORDERS; order++)
		if (strcmp(text, order_name(order)) == 0) {
			*out = 1u << order;
			return OK;
		}
	return error_set(e, E_SYNTAX, where_option("--order", text),
	                 "unknown order '%s', expected row, level or both", text);
}

static enum status read_case(struct session *s, const struct options *o, struct error *e)
{
	struct placement_case *c = &s->c;
	int64_t bytes = (int64_t)P2_PAYLOAD_BYTES, limit = PROGRAM_STEPS;

	c->at = where_option("--axes", o->axes);
	if (hierarchy_parse(&c->hierarchy, s->arena, o->hierarchy,
	                    where_option("--hierarchy", o->hierarchy), e) != OK ||
	    axes_parse(&c->axes, s->arena, o->axes, c->at, e) != OK ||
	    reduce_parse(&c->reduce, &c->axes, o->reduce,
	                 where_option("--reduce", o->reduce), e) != OK ||
	    (o->bytes && units_bytes(o->bytes, where_option("--bytes", o->bytes),
	                             &bytes, e) != OK) ||
	    read_int(&limit, "--limit", o->limit, "the limit", PROGRAM_STEPS_MAX, e) !=
	            OK ||
	    read_int(&s->top, "--top", o->top, "the number of placements", MATRICES_MAX,
	             e) != OK ||
	    read_orders(&c->orders, o->order, e) != OK)
		return e->code;
	if (bytes == 0)
		return error_set(e, E_RANGE, where_option("--bytes", o->bytes),
		                 "no data, expected one byte or more");
	c->payload_bytes = (double)bytes;
	c->limit = (int)limit;
	return OK;
}

/* Without a platform: the published system of the last level, and no other clock. */
static enum status open_published(struct session *s, const struct options *o,
                                  const int *clock, int n, struct error *e)
{
	const struct p2_system *p2 = p2_system_of(&s->c.hierarchy);

	if (o->nset)
		return error_set(e, E_TYPE, where_option("--set", o->set[0]),
		                 "--set needs --platform");
	if (!p2)
		return error_set(
			e, E_TYPE, where_option("--hierarchy", o->hierarchy),
			"the published systems have nodes of 16 or 8 GPUs, expected "
			"such a last level or --platform");
	if (n > 1 || strcmp(clock_kinds[clock[0]].name, "model") != 0)
		return error_set(e, E_TYPE, where_option("--clock", o->clock),
		                 "without --platform there is the clock model only");
	bench_init(&s->bench, NULL);
	bench_init(&s->search_bench, NULL);
	s->search.p2 = s->clock[0].p2 = p2;
	return OK;
}

static enum status open_platform(struct session *s, const struct options *o,
                                 struct error *e)
{
	int *clock, n, model = clock_find("model", strlen("model"));
	bool simgrid = false;

	if (command_clocks(&clock, &n, s->arena, o->clock ? o->clock : "model", e) != OK)
		return e->code;
	if (!o->platform)
		return open_published(s, o, clock, n, e);
	for (int i = 0; i < n; i++)
		simgrid = simgrid || clock_kinds[clock[i]].needs_simgrid;
	if (platform_open(&s->platform, s->arena, o->platform, o->set, o->nset, simgrid,
	                  e) != OK ||
	    (simgrid && platform_start(s->platform, e) != OK))
		return e->code;
	if (s->platform->machine->ndevices < s->c.hierarchy.ndevices)
		return error_set(e, E_RANGE, where_option("--hierarchy", o->hierarchy),
		                 "%d devices do not fit on the %d of %s",
		                 (int)s->c.hierarchy.ndevices,
		                 (int)s->platform->machine->ndevices, o->platform);
	s->fluid = fluid_new(s->platform);
	bench_init(&s->bench, s->platform->machine);
	bench_init(&s->search_bench, s->platform->machine);
	bench_clock(&s->search_bench, &clock_kinds[model], fluid_clock, s->fluid);
	for (int i = 0; i < n; i++)
		bench_clock(&s->bench, &clock_kinds[clock[i]], fluid_clock, s->fluid);
	return OK;
}

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Search with the clock model, then time what is shown with all clocks. */
static enum status search(struct place_result *out, const struct placed **placed,
                          struct session *s, const struct options *o, struct error *e)
{
	struct reduction_clock clock[CLOCKS_MAX], model = {place_step_s, &s->search};
	struct placed *all;
	double start = now_s();

	if (placement_search(&all, &out->nmatrices, s->arena, &s->c, &model, e) != OK)
		return e->code;
	out->planning_s = o->timing ? now_s() - start : NAN;
	out->nrows = s->top && s->top < out->nmatrices ? s->top : out->nmatrices;
	out->nclocks = s->bench.machine ? s->bench.nclocks : 1;
	for (int k = 0; k < out->nclocks; k++) {
		out->clock[k] = s->bench.machine ? s->bench.clock[k]->name : "model";
		clock[k] = (struct reduction_clock){place_step_s, &s->clock[k]};
	}
	*placed = all;
	return place_rows(out, s->arena, all, clock, e);
}

static int run(struct session *s, const struct options *o)
{
	struct place_result result = {.c = &s->c, .platform = o->platform};
	const struct placed *placed = NULL;
	struct text out = {0};
	struct error e = {0};
	int status = EXIT_DONE;

	s->search = (struct place_clock){&s->search_bench, NULL, 0, arena_new()};
	for (int k = 0; k < CLOCKS_MAX; k++)
		s->clock[k] =
			(struct place_clock){&s->bench, NULL, k, s->search.scratch};
	if (read_case(s, o, &e) != OK || open_platform(s, o, &e) != OK)
		return command_misuse(&e);
	result.system = s->search.p2 ? s->search.p2->name : NULL;
	if (search(&result, &placed, s, o, &e) != OK)
		return command_misuse(&e);
	if (o->devices_out) {
		place_devices(&out, &placed->matrix, s->arena);
		if (file_write(o->devices_out, out.s, out.length, &e) != OK) {
			error_print(stderr, &e);
			status = EXIT_FAULT;
		}
		text_free(&out);
		out = (struct text){0};
	}
	if (o->format && strcmp(o->format, "json") == 0)
		place_json(&out, &result);
	else
		place_text(&out, &result, s->arena);
	fputs(out.s, stdout);
	text_free(&out);
	return status;
}

int command_place(int argc, char **argv)
{
	const struct argp argp = {
		option_table,
		parse_option,
		"--hierarchy LEVELS --axes AXES --reduce LIST",
		"Rank all placements of parallelism axes on a hierarchical system by "
		"their "
		"fastest reduction program.\v"
		"Example: shardsim place --hierarchy 4,16 --axes 16,2,2 --reduce 0,2",
		NULL,
		NULL,
		NULL,
	};
	struct session s = {.arena = arena_new()};
	struct options o = {0};
	int status;

	argp_err_exit_status = EXIT_MISUSE;
	argp_parse(&argp, argc, argv, 0, NULL, &o);
	status = run(&s, &o);
	bench_free(&s.bench);
	bench_free(&s.search_bench);
	fluid_free(s.fluid);
	if (s.search.scratch)
		arena_free(s.search.scratch);
	arena_free(s.arena);
	return status;
}
