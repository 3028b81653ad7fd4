/* `shardsim perf COLLECTIVE`: the table of nccl-tests, simulated. */
#include "perf/perf.h"
#include "cli/command.h"
#include "cli/emit_options.h"
#include "cli/options.h"
#include "cli/perf/sizes.h"
#include "collective/lower.h"
#include "emit/bench.h"
#include "measure/choose.h"
#include "measure/clocks.h"
#include "measure/library.h"
#include "measure/measure.h"
#include "perf/groups.h"
#include "perf/show.h"
#include "shardsim.h"

#include <string.h>

struct options {
	const char *platform, *clock, *format;
	struct perf_sizes_text sizes; /* its collective is the first of the words */
	struct command_words words;
	struct settings set;
	struct perf_groups_text groups;
	struct library_text library;
	struct emit_options emit;
};

/* What an option means something for, beside a table of times: a program that is written. */
enum use { PROGRAM = 1 };

static const struct option_row option_table[] = {
	{"platform", 0, "P", "family:shape or a SimGrid XML file", AT(platform)},
	{"set", 0, "KEY=VALUE", "change a figure of a family:shape platform", AT(set),
         .settings = true},
	{"devices", 0, "LIST|@FILE", "devices that take part (default: all)",
         AT(groups.devices)},
	{"mesh", 0, "AXES", "a mesh over them, for --axis: x=4,y=2", AT(groups.mesh)},
	{"axis", 0, "NAME", "all groups along this axis of the mesh at once",
         AT(groups.axis)},
	{"begin", 'b', "SIZE", "first size (default 8, or those of --measured)",
         AT(sizes.begin), .use = PROGRAM},
	{"end", 'e', "SIZE", "last size (default 16G)", AT(sizes.end), .use = PROGRAM},
	{"factor", 'f', "N", "each size is N times the one before (default 2)",
         AT(sizes.factor), .use = PROGRAM},
	{"step", 'i', "SIZE", "each size is larger than the one before by SIZE",
         AT(sizes.step), .use = PROGRAM},
	{"clock", 0, "CLOCK", "one clock (default model)", AT(clock)},
	{"measured", 0, "FILE",
         "timings to print beside: nccl-tests' output, or a CSV file",
         AT(sizes.measured)},
	{"system", 0, "TEXT",
         "which system of --measured to take: part of its name, or its set",
         AT(sizes.system)},
	{"format", 0, "text|csv|json", "how to print (default text)", AT(format),
         .unknown = "unknown format"},
	{0},
};

/* A program is of no machine; only beside a file with one are times printed as well. */
static void check_program_alone(struct options *o, const struct argp_state *state)
{
	const struct option_set all[] = {
		{option_table, o}, {library_table, &o->library}, {NULL}};
	const char *other = option_misused(all, PROGRAM);

	if (!other || (o->platform && o->emit.output))
		return;
	argp_error(state, "--emit writes a program for any machine: --%s goes with %s%s",
	           other, o->platform ? "" : "--platform",
	           o->emit.output ? ""
	           : o->platform  ? "--output, beside which times are printed"
	                          : " and --output");
}

static void check_perf_options(void *self, const struct argp_state *state)
{
	struct options *o = self;

	if (!o->words.n)
		argp_error(state, "expected a collective such as all-reduce");
	emit_options_take(&o->emit, state);
	if (o->emit.kind && strcmp(o->emit.kind, "mpi") != 0)
		argp_error(state, "cannot time a collective by %s, expected mpi",
		           o->emit.kind);
	if (o->emit.kind && o->sizes.measured)
		argp_error(state, "--measured has no sizes for --emit");
	if (o->emit.kind)
		check_program_alone(o, state);
	if (!o->platform && !o->emit.kind)
		argp_error(state, "needs --platform, such as dgx-h100:1");
	if (o->sizes.factor && o->sizes.step)
		argp_error(state, "-f and -i do not go together");
	if (o->sizes.system && !o->sizes.measured)
		argp_error(state, "--system goes with --measured");
	o->sizes.collective = o->words.at[0];
}

/* Says how a log's run was launched, where that is not how it is simulated. */
static void note_launch(const struct options *o, const char *launch)
{
	if (!o->library.launch && launch && *launch)
		fprintf(stderr, "shardsim: note: %s was launched %s: --launch %s simulates that\n",
		        o->sizes.measured,
		        strcmp(launch, "graph") ? "by one process for several devices"
		                                : "in a graph",
		        launch);
}

struct run {
	struct arena *arena;
	struct clocks clocks;
	struct bench bench;
	struct perf perf;
	struct likely_table likely;
};

/* Names the machine of the size of the mesh or of the devices that take part. */
static enum status choose_machine(const char **spec, struct run *r,
                                  const struct options *o, struct error *e)
{
	int32_t n;

	*spec = o->platform;
	if (!platform_sized(*spec))
		return OK;
	if (perf_groups_need(&n, r->arena, &o->groups, e) != OK)
		return e->code;
	if (!n && strstr(*spec, ":{n}"))
		return error_set(
			e, E_TYPE, where_option("--platform", *spec),
			"{n} is the number of devices that take part, which "
			"nothing says; expected --devices, --mesh with --axis, "
			"or a number, such as %.*s:{64}",
			(int)strcspn(*spec, ":"), *spec);
	return platform_resize(spec, r->arena, o->set.at, o->set.n, n, e);
}

static enum status run_open(struct run *r, const struct options *o, struct error *e)
{
	struct where at = {.file = "COLLECTIVE", .line = 1, .col = 1};
	struct machine *machine;
	struct library_text library = o->library;
	const char *spec;
	int *clock, n;

	at.source = o->sizes.collective;
	if (!perf_op(&r->perf.op, o->sizes.collective, at, e) ||
	    choose_clocks(&clock, &n, r->arena, o->clock ? o->clock : "model", e) != OK)
		return e->code;
	if (n > 1)
		return error_set(e, E_TYPE, where_option("--clock", o->clock),
		                 "perf takes one clock");
	if (choose_machine(&spec, r, o, e) != OK ||
	    clocks_open(&r->clocks, r->arena, spec, o->set.at, o->set.n, clock, 1, e) !=
	            OK)
		return e->code;
	machine = r->clocks.platform->machine;
	emit_options_caller(&library, &o->emit, machine);
	if (library_set(machine, &library, NULL, e) != OK)
		return e->code;
	command_machine_notes(machine, &o->library, spec, o->set.at, o->set.n);
	if (likely_read(&r->likely, r->arena, e) != OK)
		return e->code;
	r->perf.machine = machine;
	r->perf.collective = o->sizes.collective;
	bench_init(&r->bench, machine);
	clocks_bench(&r->clocks, &r->bench, *clock);
	r->perf.by_round = r->bench.clock[0]->by_round;
	return perf_groups(&r->perf.groups, r->arena, machine, &o->groups, e);
}

/* Checks that what is forced can run the collective, whatever its size. */
static enum status check_forced(struct run *r, const struct options *o, struct error *e)
{
	const struct library_text *l = &o->library;
	const char *option = l->algorithm ? "--algorithm" : "--protocol";
	const char *forced = l->algorithm ? l->algorithm : l->protocol;
	struct machine chosen = *r->perf.machine;
	struct lowered lowered;
	struct text why = {0}, unforced = {0};

	chosen.forced = (struct forced){0};
	if (l->algorithm && !strcmp(l->algorithm, "scheduled"))
		error_set(e, E_TYPE, where_option(option, forced),
		          "scheduled runs exchanges of plans, not collectives");
	else if (forced &&
	         !lower_collective(&lowered, r->arena, r->perf.machine, r->perf.op,
	                           r->perf.groups, 0, &why) &&
	         lower_collective(&lowered, r->arena, &chosen, r->perf.op,
	                          r->perf.groups, 0, &unforced))
		error_set(e, E_TYPE, where_option(option, forced), "%s", why.s);
	text_free(&why);
	text_free(&unforced);
	return e->code;
}

static void print_perf(const struct perf_table *t, const char *format)
{
	struct text out = {0};

	if (format && !strcmp(format, "json"))
		perf_show_json(&out, t);
	else if (format && !strcmp(format, "csv"))
		perf_show_csv(&out, t);
	else
		perf_show_text(&out, t);
	fputs(out.s, stdout);
	text_free(&out);
}

/* Writes a program that times the collective, whatever the machine. */
static int emit_program(const struct run *r, const struct options *o)
{
	const struct groups any = {.ngroups = 1, .size = 1};
	struct bench_program program = {.collective = o->sizes.collective,
	                                .command = o->emit.command,
	                                .version = SHARDSIM_VERSION};
	struct where at = {.file = "COLLECTIVE", .line = 1, .col = 1};
	struct perf_sizes sizes = {0};
	struct text out = {0};
	struct error e = {0};
	enum op op;

	at.source = o->sizes.collective;
	if (perf_op(&op, o->sizes.collective, at, &e) &&
	    emit_options_check(&o->emit, &e) == OK &&
	    perf_sizes_range(&sizes, r->arena, &o->sizes, &any, &e) == OK) {
		program.n = sizes.n;
		program.bytes = sizes.bytes;
		emit_bench(&out, &program);
		emit_write(&o->emit, &out, &e);
	}
	text_free(&out);
	return e.code == OK ? EXIT_DONE : command_misuse(&e);
}

/* Says why the clock has no time of some sizes: that is an answer, and no fault. */
static void say_refused(const struct perf_table *t)
{
	const char *why = NULL;
	int n = 0;

	for (int i = 0; i < t->n; i++) {
		bool by_clock = t->row[i].refusal && t->row[i].bytes;

		why = by_clock && !why ? t->row[i].refusal : why;
		n += by_clock;
	}
	if (n)
		fprintf(stderr, "shardsim: note: no time of %d size%s: %s: %s\n", n,
		        n == 1 ? "" : "s", t->clock, why);
}

static int run_perf(struct run *r, const struct options *o)
{
	struct perf_sizes sizes = {0};
	struct perf_row *row;
	struct perf_table table;
	struct error e = {0};
	struct text why = {0};
	int32_t n;

	if (run_open(r, o, &e) != OK || check_forced(r, o, &e) != OK)
		return command_misuse(&e);
	n = r->perf.groups.size;
	if ((o->sizes.measured ? perf_sizes_measured : perf_sizes_range)(
		    &sizes, r->arena, &o->sizes, &r->perf.groups, &e) != OK)
		return command_misuse(&e);
	note_launch(o, sizes.launch);
	row = arena_alloc(r->arena, (size_t)sizes.n, sizeof(*row));
	for (int i = 0; i < sizes.n; i++) {
		struct arena *scratch = arena_new();
		bool done = perf_measure(&row[i], &r->perf, sizes.bytes[i],
		                         r->bench.clock[0]->clock,
		                         r->bench.clock_self[0], scratch, &why);

		if (done && row[i].refusal)
			row[i].refusal = arena_strdup(r->arena, row[i].refusal);
		arena_free(scratch);
		if (done) {
			perf_likely(&row[i], &r->perf, &r->likely);
			continue;
		}
		fprintf(stderr, "shardsim perf: %s: %s\n", r->bench.clock[0]->name,
		        why.s ? why.s : "no reason");
		text_free(&why);
		return EXIT_FAULT;
	}
	table = (struct perf_table){
		.platform = r->perf.machine->name,
		.machine = r->perf.machine,
		.collective = o->sizes.collective,
		.clock = r->bench.clock[0]->name,
		.devices = n,
		.ngroups = r->perf.groups.ngroups,
		.n = sizes.n,
		.row = row,
		.measured_s = sizes.measured_s,
	};
	print_perf(&table, o->format);
	say_refused(&table);
	return EXIT_DONE;
}

int command_perf(int argc, char **argv)
{
	struct options o = {0};
	const struct command_syntax syntax = {
		.usage = "COLLECTIVE --platform P",
		.doc = "Time a collective over a range of sizes and print "
		       "nccl-tests' columns.\v"
		       "COLLECTIVE: all-gather, reduce-scatter, all-reduce, "
		       "all-to-all, permute (a ring shift by one), broadcast or "
		       "reduce.\n"
		       "Example: shardsim perf all-reduce --platform dgx-h100:2 "
		       "-b 8 -e 16G -f 2",
		.machines = true,
		.options = {{option_table, &o},
	                    {library_table, &o.library},
	                    {emit_table, &o.emit}},
		.words = &o.words,
		.most = 1,
		.check = check_perf_options,
		.self = &o,
	};
	struct run r = {.arena = arena_new()};
	int status = EXIT_DONE;

	emit_options_command(&o.emit, r.arena, argc, argv);
	command_parse(&syntax, argc, argv);
	if (o.emit.kind)
		status = emit_program(&r, &o);
	/* Printed alone, a program is the output. */
	if (status == EXIT_DONE && o.platform && (!o.emit.kind || o.emit.output))
		status = run_perf(&r, &o);
	bench_free(&r.bench);
	clocks_free(&r.clocks);
	arena_free(r.arena);
	return status;
}
