/* `shardsim place`: which axis goes where, and how to reduce over it. */
#include "place/place.h"
#include "base/units.h"
#include "cli/command.h"
#include "cli/trace_options.h"
#include "measure/choose.h"
#include "measure/clocks.h"
#include "measure/library.h"
#include "place/blocks.h"
#include "place/placing.h"
#include "place/study.h"
#include "place/with.h"
#include "system/file.h"
#include "system/wall.h"
#include "validate/p2.h"

#include <math.h>
#include <string.h>

struct options {
	const char *hierarchy, *axes, *reduce, *bytes, *platform, *limit, *clock,
		*order, *top, *format, *devices_out, *with;
	struct settings set;
	struct library_text library;
	bool timing, blocks;
	struct command_words file;
	struct trace_options trace;
};

/* What goes with a suite of scenarios, with files of placements, and with block graphs. */
enum { WITH = 1, STUDY = 2, BLOCKS = 4 };

static const struct option_row option_table[] = {
	{"hierarchy", 0, "LEVELS",
         "levels of the system, outermost first: 4,16 or node 4, gpu 16", AT(hierarchy),
         .use = WITH},
	{"axes", 0, "AXES", "parallelism axes: 8,8 or data=8,model=8", AT(axes)},
	{"reduce", 0, "LIST", "axes to sum over: 1, or 0,2, or data", AT(reduce)},
	{"bytes", 0, "SIZE", "data on every device (default 2GiB)", AT(bytes)},
	{"platform", 0, "P",
         "family:shape or a SimGrid XML file (default: the published systems, by the "
         "last level)",
         AT(platform), .use = WITH | BLOCKS},
	{"set", 0, "KEY=VALUE", "change a figure of a family:shape platform", AT(set),
         .settings = true, .use = WITH | BLOCKS},
	{"limit", 0, "N", "most steps of a program (default 5)", AT(limit)},
	{"clock", 0, "LIST", "clocks: model, fluid, simgrid, flow (default model)",
         AT(clock), .use = WITH},
	{"order", 0, "row|level|both",
         "order of the devices of a reduction: row, as published, or level "
         "(default both)",
         AT(order)},
	{"top", 0, "K", "show the K best placements only", AT(top)},
	{"format", 0, "FORMAT",
         "text (default) or json; for FILEs md (default), tex or csv", AT(format),
         .use = WITH | STUDY | BLOCKS},
	{"devices-out", 0, "FILE",
         "write the device order of the best placement, for --devices @FILE",
         AT(devices_out), .use = WITH},
	{"with", 0, "SUITE",
         "place the workloads of a suite instead: best, row-major and worst order",
         AT(with), .use = WITH},
	{"blocks", 0, NULL,
         "place graphs of blocks instead, as NumS does, beside round-robin and "
         "collectives",
         AT(blocks), .use = BLOCKS},
	{"timing", 0, NULL, "show how long the search took", AT(timing)},
	{0},
};

static void check_format(const struct options *o, const struct argp_state *state)
{
	static const char *const known[2][4] = {{"text", "json", NULL},
	                                        {"md", "tex", "csv", NULL}};
	bool document = o->file.n > 0 || o->blocks;
	const char *const *name = known[document];

	while (*name && o->format && strcmp(*name, o->format) != 0)
		name++;
	if (!*name)
		argp_error(state, "unknown format '%s', expected %s", o->format,
		           document ? "md, tex or csv" : "text or json");
}

static void check_place_options(void *self, const struct argp_state *state)
{
	struct options *o = self;
	const struct option_set all[] = {
		{option_table, o}, {trace_table, &o->trace}, {NULL, NULL}};
	const char *other = option_misused(all, WITH);

	trace_options_take(&o->trace, state);
	check_format(o, state);
	if (o->blocks) {
		other = o->library.launch ? "launch" : option_misused(all, BLOCKS);
		if (other || o->file.n)
			argp_error(state, "%s%s does not go with --blocks",
			           other ? "--" : "", other ? other : "a file");
		if (!o->platform)
			argp_error(state, "--blocks needs --platform");
	} else if (o->file.n) {
		if (option_misused(all, STUDY) || o->library.launch)
			argp_error(state,
			           "a file of placements goes with --format only");
	} else if (o->with) {
		if (other)
			argp_error(state, "--%s does not go with --with", other);
		if (!o->platform)
			argp_error(state, "--with needs --platform");
	} else if (!o->hierarchy || !o->axes || !o->reduce) {
		argp_error(state, "--hierarchy, --axes and --reduce are needed, or "
		                  "--with or a file of placements");
	}
}

struct session {
	struct arena *arena;
	struct placement_case c;
	const char *position; /* place.h */
	int64_t top;          /* 0: all */
	const char *spec;     /* of the platform */
	struct clocks clocks;
	struct bench bench;
};

/* Reads a whole number in [lo, hi] that an option gave; unchanged without one. */
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

static enum status read_place_case(struct session *s, const struct options *o,
                                   struct error *e)
{
	struct placement_case *c = &s->c;
	int64_t bytes = PLACEMENT_PAYLOAD_BYTES, limit = PROGRAM_STEPS;

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

/* Chooses, without a platform, the published system of the last level. */
static enum status published(const char **out, const struct session *s,
                             const struct options *o, struct error *e)
{
	const struct p2_system *p2 = p2_system_of(&s->c.hierarchy);

	if (o->set.n)
		return error_set(e, E_TYPE, where_option("--set", o->set.at[0]),
		                 "--set needs --platform");
	if (!p2)
		return error_set(
			e, E_TYPE, where_option("--hierarchy", o->hierarchy),
			"the published systems have nodes of 16 or 8 GPUs, expected "
			"such a last level or --platform");
	*out = arena_printf(s->arena, "%s:%d", p2->name,
	                    (int)(s->c.hierarchy.ndevices / p2->gpus));
	return OK;
}

/* Opens the platform, one of that size for `needs` devices. */
static enum status open_place_platform(struct session *s, const struct options *o,
                                       int32_t needs, struct error *e)
{
	const struct machine *machine;
	int *clock, n;

	if (choose_clocks(&clock, &n, s->arena, o->clock ? o->clock : "model", e) != OK)
		return e->code;
	s->spec = o->platform;
	if (!s->spec && published(&s->spec, s, o, e) != OK)
		return e->code;
	if (trace_options_check(&o->trace, s->spec, e) != OK ||
	    platform_resize(&s->spec, s->arena, o->set.at, o->set.n, needs, e) != OK ||
	    clocks_open(&s->clocks, s->arena, s->spec, o->set.at, o->set.n, clock, n,
	                e) != OK)
		return e->code;
	/* Block graphs are no compiler's. */
	if (!o->blocks &&
	    library_of_plans(s->clocks.platform->machine, &o->library, NULL, e) != OK)
		return e->code;
	machine = s->clocks.platform->machine;
	command_machine_notes(machine, &o->library, s->spec, o->set.at, o->set.n);
	if (!o->with && !o->blocks && machine->ndevices < s->c.hierarchy.ndevices)
		return error_set(e, E_RANGE, where_option("--hierarchy", o->hierarchy),
		                 "%d devices do not fit on the %d of %s",
		                 (int)s->c.hierarchy.ndevices, (int)machine->ndevices,
		                 s->spec);
	if (!o->with && !o->blocks)
		s->position = placing_take(&s->c.hierarchy, machine, s->arena);
	bench_init(&s->bench, machine);
	for (int i = 0; i < n; i++)
		clocks_bench(&s->clocks, &s->bench, clock[i]);
	return OK;
}

/* Ranks all placements by the clock model, the best first. */
static enum status search_placements(struct place_result *out, struct placed **placed,
                                     struct session *s, const struct options *o,
                                     struct error *e)
{
	struct place_model *model = place_model_new(&s->bench);
	struct reduction_clock clock = place_model_clock(model);
	double start = wall_s();
	enum status status =
		placement_search(placed, &out->nmatrices, s->arena, &s->c, &clock, e);

	place_model_free(model);
	out->planning_s = o->timing ? wall_s() - start : NAN;
	out->nrows = s->top && s->top < out->nmatrices ? s->top : out->nmatrices;
	out->platform = s->spec;
	out->position = s->position;
	out->machine = s->clocks.platform->machine;
	out->nclocks = s->bench.nclocks;
	for (int k = 0; k < out->nclocks; k++)
		out->clock[k] = s->bench.clock[k]->name;
	return status;
}

/* Searches with the clock model, then times what is shown with all clocks. */
static enum status run_search(struct place_result *out, struct placed **placed,
                              struct session *s, const struct options *o,
                              struct error *e)
{
	if (search_placements(out, placed, s, o, e) != OK)
		return e->code;
	return place_rows(out, s->arena, *placed, &s->bench, e);
}

/* Prints the links and the time line of the best placement. */
static enum status show_best(struct place_result *out, struct session *s,
                             const struct options *o, struct error *e)
{
	struct timed best;
	struct placement devices = {
		s->c.hierarchy.ndevices,
		matrix_platform(&out->row->placed->matrix, &s->c.hierarchy, s->arena)};

	if (!o->trace.links && !o->trace.trace)
		return OK;
	best = place_timed(out->row->placed, out->row, &s->c, &s->bench, s->arena);
	out->links = trace_links(&o->trace, &s->bench, &best, 1, s->arena);
	return trace_write(&o->trace, &s->bench, &devices, &best, 1, e);
}

/*
 * Writes the order of the best placement; the answer is printed even where that fails.
 */
static int write_devices(const char *path, const struct matrix *m,
                         const struct hierarchy *h, struct arena *a)
{
	struct text out = {0};
	struct error e = {0};

	place_devices(&out, m, h, a);
	if (file_write(path, out.s, out.length, &e) != OK)
		error_print(stderr, &e);
	text_free(&out);
	return e.code == OK ? EXIT_DONE : EXIT_FAULT;
}

static bool is_json(const struct options *o)
{
	return o->format && strcmp(o->format, "json") == 0;
}

static int print_placements(struct text *out, int status)
{
	fputs(out->s, stdout);
	text_free(out);
	return status;
}

static int run_case(struct session *s, const struct options *o)
{
	struct place_result result = {.c = &s->c};
	struct placed *placed = NULL;
	struct text out = {0};
	struct error e = {0};
	int status = EXIT_DONE;

	if (read_place_case(s, o, &e) != OK ||
	    open_place_platform(s, o, s->c.hierarchy.ndevices, &e) != OK ||
	    run_search(&result, &placed, s, o, &e) != OK ||
	    show_best(&result, s, o, &e) != OK)
		return command_misuse(&e);
	if (o->devices_out)
		status = write_devices(o->devices_out, &placed->matrix, &s->c.hierarchy,
		                       s->arena);
	if (is_json(o))
		place_json(&out, &result, &s->bench);
	else
		place_text(&out, &result, &s->bench, s->arena);
	return print_placements(&out, status);
}

static enum status read_with(struct place_output *out, struct session *s,
                             const struct options *o, struct error *e)
{
	struct suite *suite = arena_alloc(s->arena, 1, sizeof(*suite));
	struct hierarchy *levels = NULL;
	struct workload *workload;

	suite->arena = s->arena;
	if (o->hierarchy) {
		levels = arena_alloc(s->arena, 1, sizeof(*levels));
		if (hierarchy_parse(levels, s->arena, o->hierarchy,
		                    where_option("--hierarchy", o->hierarchy), e) != OK)
			return e->code;
	}
	if (suite_read(suite, o->with, e) != OK || suite_check_names(suite, e) != OK ||
	    suite_check_steps(suite, false, e) != OK ||
	    open_place_platform(s, o, workloads_need(suite, s->arena), e) != OK ||
	    workloads_of(&workload, &out->n, s->arena, suite, levels,
	                 s->clocks.platform->machine, e) != OK)
		return e->code;
	if (o->devices_out && out->n > 1)
		return error_set(e, E_TYPE,
		                 where_option("--devices-out", o->devices_out),
		                 "%d families in %s, expected one", out->n, o->with);
	for (int i = 0; i < out->n; i++)
		if (workload_run(&workload[i], &s->bench, s->arena, e) != OK)
			return e->code;
	out->workload = workload;
	out->platform = s->spec;
	out->machine = s->clocks.platform->machine;
	out->suite = o->with;
	out->nclocks = s->bench.nclocks;
	for (int k = 0; k < out->nclocks; k++)
		out->clock[k] = s->bench.clock[k]->name;
	return OK;
}

static int run_with(struct session *s, const struct options *o)
{
	struct place_output output = {0};
	struct text out = {0};
	struct error e = {0};
	int status = EXIT_DONE;

	if (read_with(&output, s, o, &e) != OK)
		return command_misuse(&e);
	if (o->devices_out && output.workload->best->matrix)
		status = write_devices(o->devices_out, output.workload->best->matrix,
		                       &output.workload->hierarchy, s->arena);
	if (is_json(o))
		place_with_json(&out, &output);
	else
		place_with_text(&out, &output, s->arena);
	return print_placements(&out, status);
}

static int run_study(struct session *s, const struct options *o)
{
	struct pen pen = pen_md(stdout, s->arena);
	struct study study;
	struct error e = {0};

	if (study_read(&study, s->arena, o->file.at, o->file.n, &e) != OK ||
	    study_run(&study, s->arena, &e) != OK)
		return command_misuse(&e);
	if (o->format && strcmp(o->format, "csv") == 0) {
		study_csv(stdout, &study);
		return EXIT_DONE;
	}
	if (o->format && strcmp(o->format, "tex") == 0)
		pen = pen_tex(stdout, s->arena);
	study_words(&pen, &study);
	return EXIT_DONE;
}

/* Devices of the published experiments, for a platform that is asked for by its size. */
enum { BLOCK_NODES = 16 };

static int run_blocks(struct session *s, const struct options *o)
{
	struct pen pen = pen_md(stdout, s->arena);
	struct block_study study;
	struct error e = {0};

	if (open_place_platform(s, o, BLOCK_NODES, &e) != OK ||
	    block_study_run(&study, &s->bench, where_option("--platform", o->platform),
	                    s->arena, &e) != OK)
		return command_misuse(&e);
	if (o->format && strcmp(o->format, "csv") == 0) {
		block_study_csv(stdout, &study);
		return EXIT_DONE;
	}
	if (o->format && strcmp(o->format, "tex") == 0)
		pen = pen_tex(stdout, s->arena);
	block_study_words(&pen, &study);
	return EXIT_DONE;
}

static int run_place(struct session *s, const struct options *o)
{
	if (o->blocks)
		return run_blocks(s, o);
	if (o->file.n)
		return run_study(s, o);
	return o->with ? run_with(s, o) : run_case(s, o);
}

int command_place(int argc, char **argv)
{
	struct session s = {.arena = arena_new()};
	struct options o = {0};
	const struct command_syntax syntax = {
		.usage = "--hierarchy LEVELS --axes AXES --reduce LIST\n"
			 "--with SUITE --platform P\n"
			 "--blocks --platform P\n"
			 "FILE...",
		.doc = "Rank all placements of parallelism axes on a "
		       "hierarchical system by their fastest reduction "
		       "program.\v"
		       "Example: shardsim place --hierarchy 4,16 --axes 16,2,2 "
		       "--reduce 0,2",
		.machines = true,
		.options = {{option_table, &o},
	                    {launch_table, &o.library},
	                    {trace_table, &o.trace}},
		.words = &o.file,
		.check = check_place_options,
		.self = &o,
	};
	int status;

	command_parse(&syntax, argc, argv);
	status = run_place(&s, &o);
	bench_free(&s.bench);
	clocks_free(&s.clocks);
	arena_free(s.arena);
	return status;
}
