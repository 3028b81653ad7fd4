/* `shardsim program FILE`: a compiler's dump of a whole program, priced. */
#include "base/scan.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/partition_options.h"
#include "measure/library.h"
#include "plan/devices.h"
#include "platform/platform.h"
#include "program/kernel_list.h"
#include "program/liveness.h"
#include "program/overlap.h"
#include "program/shardings.h"
#include "program/show.h"
#include "system/file.h"

#include <stdlib.h>
#include <string.h>

enum { ROWS_MOST = 40 };

struct options {
	const char *platform, *as, *overlap, *by, *report, *format, *devices, *most,
		*output;
	struct partition_options partition;
	struct library_text library;
	bool raw;
	struct settings set, trip;
	struct command_words file;
};

static const struct option_row option_table[] = {
	{"platform", 0, "P", "family:shape or a SimGrid XML file", AT(platform)},
	{"set", 0, "KEY=VALUE", "change a figure of a family:shape platform", AT(set),
         .settings = true},
	{"devices", 0, "LIST|@FILE",
         "platform devices of the program's (default: the first)", AT(devices)},
	{"as", 0, "auto|partitioned|annotated|replicated",
         "what the text is (default: as its content says)", AT(as),
         .unknown = "unknown stage"},
	{"overlap", 0, "none|async|stream",
         "how collectives run beside kernels (default: as the text says if it does, "
         "else async)",
         AT(overlap), .unknown = "unknown overlap"},
	{"trip", 0, "NAME=N", "how often the loop NAME turns, if the text does not say",
         AT(trip), .settings = true},
	{"raw", 0, NULL, "take collectives as they stand, not as compilers run them",
         AT(raw)},
	{"report", 0,
         "summary|collectives|ops|kernels|timeline|memory|shardings|reshards",
         "what to print: summary, collectives, ops, kernels, timeline, memory, "
         "shardings or "
         "reshards (default: the summary and the collectives)",
         AT(report), .unknown = "unknown report", .shown = "WHAT"},
	{"by", 0, "op_name|computation|loop", "what to group ops by", AT(by),
         .unknown = "unknown key"},
	{"output", 'o', "FILE",
         "write to FILE what --emit makes, or a report: timeline as trace events, "
         "memory as CSV over the program",
         AT(output)},
	{"rows", 0, "N", "rows of a table (default 40)", AT(most)},
	{"format", 0, "text|json", "how to print (default text)", AT(format),
         .unknown = "unknown format"},
	{0},
};

/* Reads NAME=N of every --trip. */
static enum status set_trips(struct program *p, const struct options *o, struct error *e)
{
	for (int i = 0; i < o->trip.n; i++) {
		const char *text = o->trip.at[i], *equal = strrchr(text, '=');
		struct scan s = scan_start(text, where_option("--trip", text), e);
		struct arena *a;
		int64_t n;
		int loops;

		if (!equal || equal == text)
			return scan_fail(&s, E_SYNTAX, "expected NAME=N");
		s.pos = equal + 1;
		if (!scan_int(&s, "the trips", 0, INT32_MAX, &n) ||
		    scan_finish(&s) != OK)
			return e->code;
		a = arena_new();
		loops = program_set_trips(
			p, arena_strndup(a, text, (size_t)(equal - text)), n);
		arena_free(a);
		if (!loops)
			return scan_fail_at(&s, text, E_TYPE, "no loop of this name");
	}
	return OK;
}

/* Which device of the platform each of the program's is. */
static enum status map_devices(int32_t **out, struct arena *a, const struct program *p,
                               const struct machine *m, const struct options *o,
                               struct error *e)
{
	int32_t n = p->ndevices, given;

	if (o->devices) {
		struct where at = where_option("--devices", o->devices);

		if (devices_parse(out, &given, a, o->devices, at, m->ndevices, e) != OK)
			return e->code;
		if (given != n)
			return error_set(e, E_TYPE, at,
			                 "%d device%s for a program that runs on %d",
			                 (int)given, given == 1 ? "" : "s", (int)n);
		return OK;
	}
	if (n > m->ndevices)
		return error_set(e, E_INFEASIBLE,
		                 where_option("--platform", o->platform),
		                 "has %d devices, and the program runs on %d",
		                 (int)m->ndevices, (int)n);
	*out = arena_alloc(a, (size_t)n, sizeof(**out));
	for (int32_t i = 0; i < n; i++)
		(*out)[i] = i;
	return OK;
}

/* What is known of the program but its text. */
static void set_stage(struct program *p, const char *as)
{
	if (as && !strcmp(as, "partitioned") && p->stage == STAGE_ANNOTATED)
		p->stage = STAGE_PARTITIONED;
	if (as && !strcmp(as, "annotated"))
		p->stage = STAGE_ANNOTATED;
	if (as && !strcmp(as, "replicated"))
		program_replicate(p);
}

/* A program on one device has nobody to talk to. */
static bool has_collectives(const struct program *p)
{
	for (int64_t i = 0; i < p->op.n; i++)
		if (opcode_class(p->op.at[i].code) == CLASS_COLLECTIVE)
			return true;
	return false;
}

static enum rows_by rows_by(const char *by)
{
	if (!by)
		return ROWS_BY_BYTES;
	return !strcmp(by, "op_name")       ? ROWS_BY_OP_NAME
	       : !strcmp(by, "computation") ? ROWS_BY_COMPUTATION
	                                    : ROWS_BY_LOOP;
}

static enum status read_most(int64_t *out, const struct options *o, struct error *e)
{
	struct scan s;

	*out = ROWS_MOST;
	if (!o->most)
		return OK;
	s = scan_start(o->most, where_option("--rows", o->most), e);
	if (!scan_int(&s, "a number of rows", 1, INT32_MAX, out))
		return e->code;
	return scan_finish(&s);
}

static bool report_is(const struct options *o, const char *report)
{
	return o->report && !strcmp(o->report, report);
}

static void print_kernels(struct arena *a, const struct program_price *price)
{
	const char *slash = strrchr(price->program->file, '/');
	struct kernel_list list;

	kernel_list_of(&list, a, price, slash ? slash + 1 : price->program->file);
	kernel_list_csv_head(stdout);
	kernel_list_csv(stdout, &list);
}

/* Leaves at options that nothing would look at. */
static void check_program_options(void *self, const struct argp_state *state)
{
	const struct options *o = self;
	bool whole = report_is(o, "reshards") || report_is(o, "timeline") ||
	             report_is(o, "kernels") || report_is(o, "shardings");

	if (o->partition.emit &&
	    (o->platform || o->set.n || o->devices || o->as || o->overlap || o->trip.n ||
	     o->raw || o->library.launch || o->report || o->by || o->most || o->format ||
	     o->partition.partitioner || o->partition.planner || o->partition.windowed))
		argp_error(state, "--emit writes the text with its shardings alone, "
		                  "expected no more than --output");
	if (!o->platform && (o->set.n || o->devices || o->overlap || o->library.launch))
		argp_error(state, "--%s goes with --platform",
		           o->set.n     ? "set"
		           : o->devices ? "devices"
		           : o->overlap ? "overlap"
		                        : "launch");
	if (o->by && whole)
		argp_error(state,
		           "--by goes with the reports collectives, ops and memory");
	if (o->format && !strcmp(o->format, "json") && report_is(o, "kernels"))
		argp_error(state, "--report kernels prints CSV only");
}

/* A time line needs times, and a file something over time. */
static enum status check_lines(const struct options *o, struct error *e)
{
	if (report_is(o, "timeline") && !o->platform)
		return error_set(e, E_TYPE, where_option("--report", o->report),
		                 "a time line needs --platform");
	if (o->output && !o->partition.emit && !report_is(o, "timeline") &&
	    !report_is(o, "memory"))
		return error_set(e, E_TYPE, where_option("--output", o->output),
		                 "expected --report timeline or memory, which are what "
		                 "goes into a file");
	return o->output ? file_check_apart(o->output, o->file.at, o->file.n, e) : OK;
}

static void print(const struct options *o, struct arena *a,
                  const struct program_price *price, const struct program_show *show)
{
	const char *report = o->report ? o->report : "";
	struct text out = {0};

	if (o->format && !strcmp(o->format, "json"))
		program_show_json(&out, a, price, show);
	else if (!strcmp(report, "collectives"))
		program_show_collectives(&out, a, price, show);
	else if (!strcmp(report, "ops"))
		program_show_ops(&out, a, price, show);
	else if (!strcmp(report, "timeline"))
		timeline_show(&out, a, price, show->timeline, show->most);
	else if (!strcmp(report, "memory")) {
		program_show_memory(&out, price, show);
		held_show(&out, a, price->program, show->held, o->by, show->by,
		          show->most);
	} else if (!strcmp(report, "reshards"))
		program_show_reshards(&out, a, show->reshards, show->most);
	else
		program_show_summary(&out, a, price, show);
	if (!o->report && !(o->format && !strcmp(o->format, "json")))
		program_show_collectives(&out, a, price, show);
	if (out.s)
		fwrite(out.s, 1, out.length, stdout);
	text_free(&out);
}

/* Writes a report over time to the file of -o, whole or not at all. */
static enum status write_lines(const struct options *o,
                               const struct program_price *price,
                               const struct program_show *show, struct error *e)
{
	struct text out = {0};
	enum status status;

	if (show->timeline)
		timeline_trace(&out, price, show->timeline);
	else
		held_csv(&out, price->program, show->held);
	status = file_write(o->output, out.s, out.length, e);
	text_free(&out);
	return status;
}

static void warn(const struct program *p)
{
	for (int64_t i = 0; i < p->warning.n; i++) {
		const struct warning *w = &p->warning.at[i];

		if (w->line)
			fprintf(stderr, "%s:%d: %s\n", p->file, (int)w->line, w->text);
		else
			fprintf(stderr, "%s: %s\n", p->file, w->text);
	}
}

static enum overlap overlap_asked(const struct program *p, const char *name)
{
	if (!name)
		return overlap_usual(p);
	return !strcmp(name, "none")    ? OVERLAP_NONE
	       : !strcmp(name, "async") ? OVERLAP_ASYNC
	                                : OVERLAP_STREAM;
}

static int price_and_print(const struct options *o, struct arena *a, struct program *p,
                           struct machine *m, const int32_t *devices, int64_t most,
                           const struct reshard_costs *reshards)
{
	struct price_options how = {devices, partition_asks_best(&o->partition), o->raw};
	struct program_show show = {.by = rows_by(o->by),
	                            .by_given = o->by,
	                            .most = most,
	                            .reshards = reshards};
	struct program_memory memory = {0};
	struct program_price price;
	struct overlapped over;
	struct liveness live;
	struct held held = {0};
	struct likely_table table = {0};
	struct likely likely;
	struct text why = {0};
	struct error e = {0};

	if (!program_price(&price, a, p, m, &how, &why) ||
	    !liveness_of(&live, &held.points, a, p) ||
	    (report_is(o, "memory") && !liveness_arrays(&held.arrays, a, p))) {
		if (price.at.file)
			error_set(&e, E_TYPE, price.at, "%s", why.s);
		else
			fprintf(stderr, "%s: %s\n", p->file,
			        why.s ? why.s : "too many calls");
		text_free(&why);
		return e.code != OK ? command_misuse(&e) : EXIT_FAULT;
	}
	program_overlap(&over, a, &price, devices, overlap_asked(p, o->overlap));
	if (m && likely_read(&table, a, &e) != OK)
		return command_misuse(&e);
	likely = program_likely(&table, &price);
	show.likely = &likely;
	memory.params = held.params_bytes = live.params_bytes;
	memory.temps = live.temp_bytes;
	memory.peak = live.peak_bytes;
	memory.device = m ? m->device[0].memory_bytes : 0;
	if (live.peak_op >= 0)
		memory.at = arena_strndup(a, p->op.at[live.peak_op].name.at,
		                          (size_t)p->op.at[live.peak_op].name.length);
	show.memory = &memory;
	show.platform = m ? m->name : NULL;
	if (report_is(o, "timeline"))
		show.timeline = &over;
	if (report_is(o, "memory"))
		show.held = &held;
	if (o->output && write_lines(o, &price, &show, &e) != OK)
		return command_misuse(&e);
	if (report_is(o, "kernels"))
		print_kernels(a, &price);
	else
		print(o, a, &price, &show);
	warn(p);
	if (price.why)
		fprintf(stderr, "%s: %s\n", p->file, price.why);
	text_free(&why);
	return EXIT_DONE;
}

/* Where shardings given in the text lead, before any partitioning. */
static enum status print_shardings(const struct options *o, struct arena *a,
                                   struct program *p, int64_t most, struct error *e)
{
	struct shardings s;
	struct text out = {0};

	if (o->format && !strcmp(o->format, "json"))
		return error_set(e, E_INFEASIBLE, where_option("--format", o->format),
		                 "shardings are printed as text only");
	if (propagate(&s, a, p, partition_propagation(&o->partition, p), e) != OK)
		return e->code;
	program_show_shardings(&out, a, p, &s, most);
	fwrite(out.s, 1, out.length, stdout);
	text_free(&out);
	warn(p);
	return OK;
}

/* The machine of the options, if any, and the devices on it that run the program. */
static enum status open_machine(struct machine **machine, int32_t **devices,
                                struct arena *a, const struct program *p, bool split,
                                const struct options *o, struct error *e)
{
	const char *platform = o->platform;

	*machine = NULL;
	*devices = NULL;
	if (!platform)
		return OK;
	if ((platform_sized(platform) &&
	     platform_resize(&platform, a, o->set.at, o->set.n, p->ndevices, e) != OK) ||
	    platform_machine(machine, a, platform, o->set.at, o->set.n, e) != OK ||
	    library_of_plans(*machine, &o->library, NULL, e) != OK)
		return e->code;
	command_machine_notes(*machine, &o->library, platform, o->set.at, o->set.n);
	if (!split && !has_collectives(p))
		return OK;
	return map_devices(devices, a, p, *machine, o, e);
}

/* Partitions the program if it is to be, prices and prints it; *status is the exit's. */
static enum status price_all(int *status, const struct options *o, struct arena *a,
                             struct program *p, int64_t most, struct error *e)
{
	struct annotated annotated;
	struct annotated_ask ask = {.best = partition_asks_best(&o->partition)};
	struct machine *machine;
	int32_t *devices;
	bool split;

	set_stage(p, o->as);
	if (partition_propagate(&annotated, &split, a, p, &o->partition, e) != OK ||
	    partition_check(&ask.planner, &o->partition, o->report, split, e) != OK ||
	    partition_windowed(&ask.ring_mib, &o->partition, p, split, e) != OK ||
	    open_machine(&machine, &devices, a, p, split, o, e) != OK)
		return e->code;
	ask.partitioner = partition_by(&o->partition, p);
	ask.machine = machine;
	ask.devices = devices;
	ask.advise = report_is(o, "reshards");
	if (split && annotated_partition(&annotated, a, p, &ask, e) != OK)
		return e->code;
	*status = price_and_print(o, a, split ? &annotated.partitioned.program : p,
	                          machine, devices, most,
	                          split ? &annotated.costs : NULL);
	return OK;
}

int command_program(int argc, char **argv)
{
	struct options o = {0};
	const struct command_syntax syntax = {
		.usage = "FILE",
		.doc = "Price a whole program from a compiler's dump: HLO's text as "
		       "--xla_dump_to writes it, or StableHLO as jax.jit(f).lower(...)."
		       "as_text() gives it.\v"
		       "'80 % sure' gives the interval in which four of five measured "
		       "times of the collectives alone would lie; kernels, and so the "
		       "step, have none.",
		.machines = true,
		.options = {{option_table, &o},
	                    {launch_table, &o.library},
	                    {partition_table, &o.partition}},
		.words = &o.file,
		.most = 1,
		.expected = "the text of a program, HLO or StableHLO",
		.check = check_program_options,
		.self = &o,
	};
	struct arena *a = arena_new();
	struct error e = {0};
	struct program p;
	int status = EXIT_DONE;
	int64_t most;

	command_parse(&syntax, argc, argv);
	if (read_most(&most, &o, &e) != OK || check_lines(&o, &e) != OK ||
	    program_read(&p, a, o.file.at[0], &e) != OK || set_trips(&p, &o, &e) != OK)
		goto misuse;
	if (o.report && !strcmp(o.report, "shardings")) {
		if (print_shardings(&o, a, &p, most, &e) != OK)
			goto misuse;
		arena_free(a);
		return EXIT_DONE;
	}
	if (o.partition.emit) {
		if (partition_emit(&o.partition, o.output, a, &p, &e) != OK)
			goto misuse;
		warn(&p);
		arena_free(a);
		return EXIT_DONE;
	}
	if (price_all(&status, &o, a, &p, most, &e) != OK)
		goto misuse;
	arena_free(a);
	return status;
misuse:
	status = command_misuse(&e);
	arena_free(a);
	return status;
}
