/* `shardsim perf COLLECTIVE`: the table of nccl-tests, simulated. */
#include "perf/perf.h"
#include "base/units.h"
#include "cli/command.h"
#include "cli/emit_options.h"
#include "cli/options.h"
#include "collective/lower.h"
#include "emit/bench.h"
#include "measure/choose.h"
#include "measure/clocks.h"
#include "measure/library.h"
#include "measure/measure.h"
#include "perf/groups.h"
#include "perf/show.h"
#include "shardsim.h"
#include "system/file.h"
#include "validate/measured.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SIZES_MAX = 10000 };

struct options {
	const char *platform, *clock, *format, *measured, *system;
	const char *begin, *end, *factor, *step;
	const char *collective; /* the first of the words */
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
         AT(begin), .use = PROGRAM},
	{"end", 'e', "SIZE", "last size (default 16G)", AT(end), .use = PROGRAM},
	{"factor", 'f', "N", "each size is N times the one before (default 2)",
         AT(factor), .use = PROGRAM},
	{"step", 'i', "SIZE", "each size is larger than the one before by SIZE",
         AT(step), .use = PROGRAM},
	{"clock", 0, "CLOCK", "one clock (default model)", AT(clock)},
	{"measured", 0, "FILE",
         "timings to print beside: nccl-tests' output, or a CSV file", AT(measured)},
	{"system", 0, "TEXT",
         "which system of --measured to take: part of its name, or its set", AT(system)},
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
	if (o->emit.kind && o->measured)
		argp_error(state, "--measured has no sizes for --emit");
	if (o->emit.kind)
		check_program_alone(o, state);
	if (!o->platform && !o->emit.kind)
		argp_error(state, "needs --platform, such as dgx-h100:1");
	if (o->factor && o->step)
		argp_error(state, "-f and -i do not go together");
	o->collective = o->words.at[0];
}

struct sizes {
	int n;
	int64_t *bytes;
	double *measured_s; /* NULL without measurements */
};

static enum status size_read(int64_t *out, const char *option, const char *text,
                             int64_t least, int64_t most, struct error *e)
{
	struct where at = where_option(option, text);

	if (units_bytes(text, at, out, e) != OK)
		return e->code;
	if (*out < least)
		return error_set(e, E_RANGE, at,
		                 "less than -b, expected %lld bytes or more",
		                 (long long)least);
	if (*out > most)
		return error_set(e, E_RANGE, at, "expected at most %lld bytes",
		                 (long long)most);
	return OK;
}

/* Reads the range of sizes; all devices together hold an array of at most 2^62 bits. */
static enum status range_read(int64_t *lo, int64_t *hi, const struct options *o,
                              const char *begin, const char *end,
                              const struct groups *g, struct error *e)
{
	int64_t most = ((int64_t)1 << 59) / ((int64_t)g->ngroups * g->size);

	if (size_read(lo, "-b", o->begin ? o->begin : begin, 0, most, e) != OK)
		return e->code;
	return size_read(hi, "-e", o->end ? o->end : end, *lo, most, e);
}

static enum status step_read(int64_t *out, const char *text, struct error *e)
{
	if (units_bytes(text, where_option("-i", text), out, e) == OK && *out < 1)
		error_set(e, E_RANGE, where_option("-i", text),
		          "expected a step of 1 byte or more");
	return e->code;
}

static enum status factor_read(int64_t *out, const char *text, struct error *e)
{
	struct error inner = {0};
	struct scan s = scan_start(text, where_option("-f", text), &inner);

	if (scan_int(&s, NULL, 2, INT32_MAX, out) && scan_done(&s))
		return OK;
	return error_set(e, E_RANGE, where_option("-f", text),
	                 "expected a whole factor from 2 to %d", INT32_MAX);
}

/*
 * Says which size was the first that runs rounded down, where the user gave sizes. The
 * usual ones are powers of two, of which the first few are 0 for each device.
 */
static void say_rounded(const struct options *o, int n, int64_t asked, int64_t runs,
                        int64_t unit, struct arena *a)
{
	if (n && (o->begin || o->end))
		command_note(
			o->collective,
			arena_printf(a,
		                     "%d size%s rounded down to a multiple of %lld "
		                     "bytes as nccl-tests does, %s: %lld bytes run "
		                     "as %lld%s",
		                     n, n == 1 ? " is" : "s are", (long long)unit,
		                     unit > PERF_ELEMENT_BYTES ? "16 for each device"
		                                               : "whole elements",
		                     (long long)asked, (long long)runs,
		                     runs ? "" : ", of which there is no time"));
}

/* Lists sizes from -b to -e, by a factor or a step; those rounded alike only once. */
static enum status sizes_range(struct sizes *out, struct arena *a,
                               const struct options *o, const struct groups *g,
                               struct error *e)
{
	int64_t lo = 0, hi = 0, factor = 2, step = 0, asked = 0, runs = 0;
	int rounded = 0;

	if (range_read(&lo, &hi, o, "8", "16G", g, e) != OK ||
	    factor_read(&factor, o->factor ? o->factor : "2", e) != OK ||
	    (o->step && step_read(&step, o->step, e) != OK))
		return e->code;
	out->bytes = arena_alloc(a, SIZES_MAX, sizeof(*out->bytes));
	for (int64_t b = lo;; b = step ? b + step : b * factor) {
		int64_t bytes = perf_bytes(o->collective, g->size, b);
		bool last = step ? b > hi - step : b == 0 || b > hi / factor;

		if (bytes != b && !rounded++) {
			asked = b;
			runs = bytes;
		}
		if (!out->n || out->bytes[out->n - 1] != bytes)
			out->bytes[out->n++] = bytes;
		if (last) {
			say_rounded(o, rounded, asked, runs,
			            perf_unit_bytes(o->collective, g->size), a);
			return OK;
		}
		if (out->n == SIZES_MAX)
			return error_set(e, E_RANGE,
			                 where_option("-i", o->step ? o->step : ""),
			                 "more than %d sizes", SIZES_MAX);
	}
}

static int by_bytes(const void *a, const void *b)
{
	const struct measured *x = a, *y = b;

	if (x->bytes != y->bytes)
		return x->bytes < y->bytes ? -1 : 1;
	return x->in_place - y->in_place;
}

/* Returns whether the row is one of those to compare with. */
static bool row_fits(const struct measured *m, const struct options *o, int32_t devices,
                     int32_t groups)
{
	return !isnan(m->time_s) && m->groups == groups &&
	       (!*m->collective || !strcmp(m->collective, o->collective)) &&
	       (!m->devices || m->devices == devices) &&
	       (!o->system || !strcmp(m->set, o->system) ||
	        strstr(m->system, o->system));
}

/*
 * Checks that timings are of one machine: two in one column would compare with neither.
 */
static enum status one_system(const struct measured_table *t, const struct options *o,
                              int32_t devices, int32_t groups, struct error *e)
{
	const struct measured *first = NULL;
	struct text known = {0};
	bool one = true;

	for (int64_t i = 0; i < t->n; i++) {
		const struct measured *m = &t->row[i];

		if (!row_fits(m, o, devices, groups) ||
		    (known.s && strstr(known.s, m->system)))
			continue;
		one = !first;
		first = m;
		text_printf(&known, "%s'%s'", known.length ? ", " : "", m->system);
	}
	if (first && !one)
		error_set(
			e, E_INFEASIBLE, where_option("--measured", o->measured),
			"has timings of several systems, expected --system and one of "
			"%s",
			known.s);
	text_free(&known);
	return e->code;
}

/* Says how a log's run was launched, where that is not how it is simulated. */
static void note_launch(const struct options *o, const char *launch)
{
	if (!o->library.launch && *launch)
		fprintf(stderr, "shardsim: note: %s was launched %s: --launch %s simulates that\n",
		        o->measured,
		        strcmp(launch, "graph") ? "by one process for several devices"
		                                : "in a graph",
		        launch);
}

/*
 * Lists the sizes of the file between -b and -e; out of place where both were measured.
 */
static enum status sizes_measured(struct sizes *out, struct arena *a,
                                  const struct options *o, const struct groups *g,
                                  struct error *e)
{
	struct measured_table t;
	int32_t devices = g->size, groups = g->ngroups;
	int64_t lo, hi, tiny = 0;

	if (range_read(&lo, &hi, o, "0", "1T", g, e) != OK ||
	    measured_read(&t, a, o->measured, e) != OK)
		return e->code;
	if (one_system(&t, o, devices, groups, e) != OK)
		return e->code;
	qsort(t.row, (size_t)t.n, sizeof(*t.row), by_bytes);
	out->bytes = arena_alloc(a, (size_t)t.n, sizeof(*out->bytes));
	out->measured_s = arena_alloc(a, (size_t)t.n, sizeof(*out->measured_s));
	for (int64_t i = 0; i < t.n; i++) {
		const struct measured *m = &t.row[i];

		if (!row_fits(m, o, devices, groups) || m->bytes < lo ||
		    m->bytes > hi || (out->n && out->bytes[out->n - 1] == m->bytes))
			continue;
		if (!perf_sends(o->collective, devices, m->bytes)) {
			tiny++;
			continue;
		}
		if (!out->n)
			note_launch(o, m->launch);
		out->bytes[out->n] = m->bytes;
		out->measured_s[out->n++] = m->time_s;
	}
	if (tiny)
		command_note(
			o->measured,
			arena_printf(a,
		                     "%lld timing%s left out, of less than a byte for "
		                     "each device",
		                     (long long)tiny, tiny == 1 ? " is" : "s are"));
	if (!out->n)
		return error_set(e, E_INFEASIBLE,
		                 where_option("--measured", o->measured),
		                 "has no timing of %s on %d devices", o->collective,
		                 (int)devices);
	return OK;
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

	at.source = o->collective;
	if (!perf_op(&r->perf.op, o->collective, at, e) ||
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
	r->perf.collective = o->collective;
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
	struct bench_program program = {.collective = o->collective,
	                                .command = o->emit.command,
	                                .version = SHARDSIM_VERSION};
	struct where at = {.file = "COLLECTIVE", .line = 1, .col = 1};
	struct sizes sizes = {0};
	struct text out = {0};
	struct error e = {0};
	enum op op;

	at.source = o->collective;
	if (perf_op(&op, o->collective, at, &e) &&
	    emit_options_check(&o->emit, &e) == OK &&
	    sizes_range(&sizes, r->arena, o, &any, &e) == OK) {
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
	struct sizes sizes = {0};
	struct perf_row *row;
	struct perf_table table;
	struct error e = {0};
	struct text why = {0};
	int32_t n;

	if (run_open(r, o, &e) != OK || check_forced(r, o, &e) != OK)
		return command_misuse(&e);
	n = r->perf.groups.size;
	if ((o->measured ? sizes_measured : sizes_range)(&sizes, r->arena, o,
	                                                 &r->perf.groups, &e) != OK)
		return command_misuse(&e);
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
		.collective = o->collective,
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
