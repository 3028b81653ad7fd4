/* `shardsim validate FILE...`: simulated against measured, of tables or logs. */
#include "cli/command.h"
#include "cli/options.h"
#include "measure/library.h"
#include "system/file.h"
#include "text/gnuplot.h"
#include "validate/machine_log.h"
#include "validate/place_report.h"
#include "validate/plans.h"
#include "validate/plot.h"
#include "validate/program/programs.h"
#include "validate/program/steps.h"
#include "validate/refits.h"
#include "validate/report.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

struct options {
	const char *mapping, *format, *plot;
	const char *platform, *collective, *programs;
	bool in_place, leave_out;
	struct settings set;
	struct library_text library;
	struct command_words file;
};

static const struct option_row option_table[] = {
	{"platform", 0,
         "P", "the machine that all files, logs of nccl-tests or timings of emitted programs, are of",
         AT(platform)},
	{"set", 0, "KEY=VALUE", "change a figure of a family:shape platform", AT(set),
         .settings = true},
	{"collective", 0, "NAME", "of logs that do not name theirs", AT(collective)},
	{"in-place", 0, NULL, "timings in place (default: out of place)", AT(in_place)},
	{"mapping", 0, "FILE",
         "which machines they were taken on (default: FILE's name with .yaml)",
         AT(mapping)},
	{"leave-one-out", 0, NULL,
         "of training steps: each set and model by constants fitted to all others",
         AT(leave_out)},
	{"programs", 0, "DIR", "where the texts of measured programs are", AT(programs)},
	{"format", 0, "md|tex|csv|json",
         "tables in Markdown (default) or LaTeX, or all rows as CSV or JSON",
         AT(format), .unknown = "unknown format"},
	{"plot", 0, "FILE",
         "write a plot of all systems instead, .svg or .pdf, by gnuplot", AT(plot)},
	{0},
};

static void check_options(void *self, const struct argp_state *state)
{
	const struct options *o = self;

	if (o->plot && o->format)
		argp_error(state, "--format does not go with --plot");
	if (o->platform && o->mapping)
		argp_error(state, "--mapping does not go with --platform");
	if (!o->platform && (o->collective || o->in_place || o->set.n))
		argp_error(state, "%s goes with --platform",
		           o->collective ? "--collective"
		           : o->in_place ? "--in-place"
		                         : "--set");
}

static enum status timings_open(struct validation **out, struct arena *a,
                                const struct options *o, struct error *e)
{
	const struct machine_log log = {.file = o->file.at,
	                                .nfiles = o->file.n,
	                                .platform = o->platform,
	                                .set = o->set.at,
	                                .nset = o->set.n,
	                                .collective = o->collective,
	                                .in_place = o->in_place};

	if (o->platform)
		return machine_log_open(out, a, &log, e);
	return validation_load(out, a, o->file.at, o->file.n, o->mapping, e);
}

static bool format_is(const struct options *o, const char *format)
{
	return o->format && !strcmp(o->format, format);
}

static struct pen pen_of(const struct options *o, struct arena *a)
{
	return format_is(o, "tex") ? pen_tex(stdout, a) : pen_md(stdout, a);
}

static void print(const struct validation *v, const struct options *o, struct arena *a)
{
	struct pen pen = pen_of(o, a);

	if (format_is(o, "csv"))
		validate_csv(stdout, v);
	else if (format_is(o, "json"))
		validate_json(stdout, v);
	else
		validate_words(&pen, v);
}

/* Refuses the options that a table takes none of whose rows say where they are from. */
static enum status check_named(const struct options *o, const char *what,
                               struct error *e)
{
	const struct {
		const char *option, *given;
	} other[] = {
		{"--platform", o->platform},
		{"--mapping", o->mapping},
		{"--plot", o->plot},
		{"--algorithm", o->library.algorithm},
		{"--protocol", o->library.protocol},
		{"--launch", o->library.launch},
	};

	for (size_t i = 0; i < sizeof(other) / sizeof(*other); i++)
		if (other[i].given)
			return error_set(e, E_TYPE,
			                 where_option(other[i].option, other[i].given),
			                 "a table of %s takes no %s", what,
			                 other[i].option);
	return OK;
}

static enum status check_one(const struct options *o, const char *what, struct error *e)
{
	if (check_named(o, what, e) == OK && o->file.n > 1)
		error_set(e, E_TYPE, (struct where){.file = o->file.at[1]},
		          "a second file, expected one table of %s", what);
	return e->code;
}

/* Placements name their hierarchy. */
static int validate_placements(const struct options *o, struct arena *a)
{
	struct pen pen = pen_of(o, a);
	struct place_table t;
	struct error e = {0};

	if (check_named(o, "placements", &e) != OK ||
	    place_table_read(&t, a, o->file.at, o->file.n, &e) != OK)
		return command_misuse(&e);
	if (format_is(o, "csv"))
		place_validate_csv(stdout, &t);
	else if (format_is(o, "json"))
		place_validate_json(stdout, &t);
	else
		place_validate_words(&pen, &t);
	return EXIT_DONE;
}

/* Validates the tables that emitted programs print; the machine must be named. */
static int validate_plans(const struct options *o, struct arena *a)
{
	struct pen pen = pen_of(o, a);
	struct plan_timings t;
	struct error e = {0};

	if (!o->platform)
		error_set(&e, E_TYPE, (struct where){.file = o->file.at[0]},
		          "timings of plans need --platform");
	if (o->plot)
		error_set(&e, E_TYPE, where_option("--plot", o->plot),
		          "timings of plans have no plot");
	if (e.code != OK || plan_timings_read(&t, a, o->file.at, o->file.n, &e) != OK ||
	    plan_timings_run(&t, a, o->platform, o->set.at, o->set.n, &e) != OK)
		return command_misuse(&e);
	if (format_is(o, "csv"))
		plan_timings_csv(stdout, &t);
	else if (format_is(o, "json"))
		plan_timings_json(stdout, &t);
	else
		plan_timings_words(&pen, &t);
	return EXIT_DONE;
}

/* Refits name their machines row by row, and so do training steps. */
static int validate_refits(const struct options *o, struct arena *a)
{
	struct pen pen = pen_of(o, a);
	struct refit_table t;
	struct error e = {0};

	if (check_one(o, "refits", &e) != OK ||
	    refit_table_read(&t, a, o->file.at[0], &e) != OK)
		return command_misuse(&e);
	if (format_is(o, "csv"))
		refit_csv(stdout, &t);
	else if (format_is(o, "json"))
		refit_json(stdout, &t);
	else
		refit_words(&pen, &t);
	return EXIT_DONE;
}

static int validate_steps(const struct options *o, struct arena *a)
{
	struct pen pen = pen_of(o, a);
	struct step_table t;
	struct error e = {0};

	if (check_one(o, "steps", &e) != OK ||
	    step_table_read(&t, a, o->file.at[0], o->leave_out, &e) != OK)
		return command_misuse(&e);
	if (format_is(o, "csv"))
		step_table_csv(stdout, &t);
	else if (format_is(o, "json"))
		step_table_json(stdout, &t);
	else
		step_table_words(&pen, &t);
	return EXIT_DONE;
}

static int validate_programs(const struct options *o, struct arena *a)
{
	struct pen pen = pen_of(o, a);
	struct program_table t;
	struct error e = {0};

	if (check_one(o, "programs", &e) != OK ||
	    program_table_read(&t, a, o->file.at[0], o->programs, &e) != OK)
		return command_misuse(&e);
	if (format_is(o, "csv"))
		program_table_csv(stdout, &t);
	else if (format_is(o, "json"))
		program_table_json(stdout, &t);
	else
		program_table_words(&pen, &t);
	return EXIT_DONE;
}

/* Tables that are known by their columns. */
static const struct {
	bool (*is)(const char *path);
	int (*validate)(const struct options *o, struct arena *a);
	const char *of; /* what their rows are timings of */
} tables[] = {
	{place_table_is, validate_placements, "placements"},
	{plan_timings_are, validate_plans, "plans"},
	{refit_table_is, validate_refits, "refits"},
	{step_table_is, validate_steps, "training steps"},
	{program_table_is, validate_programs, "programs"},
};
enum { TABLES = sizeof(tables) / sizeof(*tables) };

/* Returns the number of the kind of table that a file is; TABLES: any other file. */
static int kind_of(const char *path)
{
	int kind = 0;

	while (kind < TABLES && !tables[kind].is(path))
		kind++;
	return kind;
}

/* Refuses files of several kinds, which no one report is of. */
static enum status check_kinds(const struct options *o, struct error *e)
{
	const char *first = o->file.at[0];
	int kind = kind_of(first);

	for (int i = 1; i < o->file.n; i++) {
		int other = kind_of(o->file.at[i]);

		/* Who reads it says what is wrong with a file that cannot be read. */
		if (other != kind && access(first, R_OK) == 0 &&
		    access(o->file.at[i], R_OK) == 0)
			return error_set(
				e, E_TYPE, (struct where){.file = o->file.at[i]},
				"has timings of %s, and %s of %s: expected files of "
				"one "
				"kind",
				other < TABLES ? tables[other].of : "collectives",
				first, kind < TABLES ? tables[kind].of : "collectives");
	}
	return OK;
}

static enum status check_folder(const char *path, struct error *e)
{
	DIR *d = opendir(path);

	if (!d)
		return error_set(e, E_IO, where_option("--programs", path),
		                 "cannot be read: %s", strerror(errno));
	closedir(d);
	return OK;
}

/* Refuses options that are for tables of another kind. */
static enum status check_table(const struct options *o, struct error *e)
{
	if (o->programs && !program_table_is(o->file.at[0]))
		error_set(e, E_TYPE, where_option("--programs", o->programs),
		          "%s is no table of programs", o->file.at[0]);
	else if (o->programs)
		check_folder(o->programs, e);
	if (o->leave_out && !step_table_is(o->file.at[0]))
		error_set(e, E_TYPE, (struct where){.file = o->file.at[0]},
		          "no table of training steps, which --leave-one-out is for");
	return e->code;
}

/* Tells what nothing reads of what is set on the one machine of all rows. */
static void note_unread(const struct options *o, const struct validation *v,
                        struct arena *a)
{
	int64_t n;
	const struct prediction *row = validation_rows(v, &n);
	const struct groups *groups;
	struct text unread = {0};

	for (int64_t i = 0; i < n && validation_of_one(v) && !unread.length; i++)
		if (row[i].platform)
			library_unread(&unread, validation_machine(v, i, &groups),
			               &o->library, row[i].platform, o->set.at,
			               o->set.n);
	command_notes(text_take(&unread, a));
}

int command_validate(int argc, char **argv)
{
	struct options o = {0};
	const struct command_syntax syntax = {
		.usage = "FILE...",
		.doc = "Run published timings on the families they belong to, or "
		       "logs of nccl-tests on the machine they were taken on, and "
		       "print the errors.\v"
		       "FILE is a table like platforms/measured.csv, whose mapping "
		       "to families is described in platforms/measured.yaml, or "
		       "with --platform a log.\n"
		       "Example: shardsim validate all_reduce.log --platform "
		       "dgx-h100:2",
		.machines = true,
		.options = {{option_table, &o}, {library_table, &o.library}},
		.words = &o.file,
		.expected = "a file of timings",
		.check = check_options,
		.self = &o,
	};
	struct arena *a = arena_new();
	struct validation *v = NULL;
	struct error e = {0};
	int status = EXIT_DONE, kind;

	command_parse(&syntax, argc, argv);
	if (check_kinds(&o, &e) != OK || check_table(&o, &e) != OK) {
		status = command_misuse(&e);
		arena_free(a);
		return status;
	}
	kind = kind_of(o.file.at[0]);
	if (kind < TABLES) {
		status = tables[kind].validate(&o, a);
		arena_free(a);
		return status;
	}
	if ((!o.plot ||
	     (gnuplot_check(o.plot, &e) == OK && file_check(o.plot, &e) == OK)) &&
	    timings_open(&v, a, &o, &e) == OK &&
	    validation_force(v, &o.library, &e) == OK) {
		command_note(o.platform, validation_note(v));
		note_unread(&o, v, a);
		validation_run(v);
		command_note(o.platform ? o.platform : o.file.at[0],
		             validation_unit_note(v, a));
		if (o.plot)
			validate_plot(o.plot, v, &e);
		else
			print(v, &o, a);
	}
	if (e.code != OK)
		status = command_misuse(&e);
	validation_close(v);
	arena_free(a);
	return status;
}
