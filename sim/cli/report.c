/* `shardsim report`: tables from the rows of a sweep. */
#include "report/report.h"
#include "cli/command.h"
#include "cli/options.h"
#include "report/plot.h"
#include "sweep/setup.h"
#include "text/words_list.h"

struct options {
	struct report_options report;
	const char *clock, *planner, *plot, *format, *test;
	bool rows;
	struct command_words dir;
};

/* What is made, and for which of these an option means anything. */
enum mode { TABLES = 1, PAGE = 2, PLOT = 4, ROWS = 8 };

static const struct option_row option_table[] = {
	{"baseline", 0, "PLANNER",
         "the planner others are compared with (default xla-2021); for training steps "
         "a scenario or degrees (default the fastest)",
         AT(report.baseline), .use = TABLES | PAGE | PLOT},
	{"format", 0, "md|csv|tex|html", "how to print (default md)", AT(format),
         .unknown = "unknown format", .use = TABLES | PAGE | ROWS},
	{"clock", 0, "LIST", "clocks to report (default: all there are)", AT(clock),
         .use = TABLES | PAGE | PLOT},
	{"planner", 0, "LIST",
         "planners of the first tables and of the plot, or all (default: best, "
         "best-portable, synth, xla, xla-2021; in plots all)",
         AT(planner), .use = TABLES | PAGE | PLOT},
	{"family", 0, "GLOB", "only families that match, such as '*-4GiB' or '@(kv|moe)'",
         AT(report.family), .use = TABLES | PAGE | PLOT | ROWS},
	{"families", 0, NULL,
         "show each family, even if there are over 20 or it has one or two scenarios",
         AT(report.families), .use = TABLES | PAGE},
	{"details", 0, NULL,
         "all tables: intervals, extremes, memory, families, planners against each "
         "other, bounds, what was left out (csv and html always have them)",
         AT(report.details), .use = TABLES | PAGE},
	{"table", 0, "NAME",
         "with md and tex: only tables of this name or label, such as speedup-real",
         AT(report.table), .use = TABLES},
	{"scenario", 0, "GLOB",
         "with html: the scenarios whose plans are shown (default: the largest gains "
         "and losses, and failures)",
         AT(report.scenario), .use = PAGE},
	{"test", 0, "wilcoxon|sign", "the p value's test (default wilcoxon)", AT(test),
         .unknown = "unknown test", .use = TABLES | PAGE},
	{"plot", 0, "FILE",
         "write a plot of the speedups instead, .svg or .pdf, by gnuplot", AT(plot),
         .use = PLOT},
	{"rows", 0, NULL, "all rows as CSV instead of the tables", AT(rows), .use = ROWS},
	{"timing", 0, NULL, "show planning times", AT(report.timing),
         .use = TABLES | PAGE | ROWS},
	{0},
};

/* Reads the words of options, and checks that all mean something for what is made. */
static void take_options(void *self, const struct argp_state *state)
{
	struct options *o = self;
	struct report_options *r = &o->report;
	const struct option_set all[] = {{option_table, o}, {NULL, NULL}};
	const char *other;
	enum mode mode;

	if (o->format)
		report_format_parse(&r->format, o->format);
	r->test_word = o->test;
	r->test = o->test && o->test[0] == 's' ? REPORT_SIGN : REPORT_WILCOXON;
	mode = o->plot                    ? PLOT
	       : o->rows                  ? ROWS
	       : r->format == REPORT_HTML ? PAGE
	                                  : TABLES;
	other = option_misused(all, mode);
	if (r->table && r->format == REPORT_CSV)
		argp_error(state, "--table goes with --format md or tex only");
	if (!other && mode == ROWS && o->format && r->format != REPORT_CSV)
		other = "format";
	if (other)
		argp_error(state, "--%s %s", other,
		           mode == PLOT   ? "does not go with --plot"
		           : mode == ROWS ? "does not go with --rows"
		                          : "goes with --format html only");
}

/*
 * Takes the clocks or planners that were asked for; only the rows tell whether there are
 * such.
 */
static enum status take_list(const char *const **out, struct arena *a,
                             const char *option, const char *list, const char *example,
                             struct error *e)
{
	const char **words;

	if (!list)
		return OK;
	if (words_list_read(&words, a, option, list, e) != OK ||
	    words_list_once(option, list, words, e) != OK)
		return e->code;
	if (!words[0])
		return error_set(e, E_SYNTAX, where_option(option, list),
		                 "expected %ss such as %s", option + 2, example);
	*out = words;
	return OK;
}

static enum status take_lists(struct options *o, struct arena *a, struct error *e)
{
	o->report.clock_list = o->clock;
	o->report.planner_list = o->planner;
	if (take_list(&o->report.clocks, a, "--clock", o->clock, "model,fluid", e) != OK)
		return e->code;
	return take_list(&o->report.planners, a, "--planner", o->planner, "synth,best",
	                 e);
}

/* Writes the report; if it has no words, stderr tells that the sweep is unfinished. */
static enum status write_report(const struct options *o, struct store *store,
                                struct error *e)
{
	bool words = !o->plot && !o->rows && o->report.format != REPORT_CSV;

	if (o->plot)
		report_plot(o->plot, store, &o->report, e);
	else if (o->rows)
		report_rows_csv(stdout, store, &o->report, e);
	else
		report_write(stdout, store, &o->report, e);
	if (o->report.unfinished && (!words || e->code != OK))
		fprintf(stderr, "shardsim: %s\n", o->report.unfinished);
	return e->code;
}

int command_report(int argc, char **argv)
{
	struct options o = {0};
	const struct command_syntax syntax = {
		.usage = "DIR",
		.doc = "Print the speedups that a sweep measured.",
		.options = {{option_table, &o}},
		.words = &o.dir,
		.most = 1,
		.expected = "the folder of a sweep",
		.check = take_options,
		.self = &o,
	};
	struct error e = {0};
	struct store *store;
	struct arena *a = arena_new();
	int status = EXIT_DONE;

	command_parse(&syntax, argc, argv);
	if (take_lists(&o, a, &e) == OK &&
	    store_open(&store, o.dir.at[0], false, &e) == OK) {
		if (sweep_unfinished(&o.report.unfinished, store, o.dir.at[0], a, &e) ==
		    OK)
			write_report(&o, store, &e);
		store_close(store);
	}
	if (e.code != OK)
		status = command_misuse(&e);
	arena_free(a);
	return status;
}
