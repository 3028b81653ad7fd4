/* `shardsim report`: tables from the rows of a sweep. */
#include "report/report.h"
#include "cli/command.h"
#include "report/plot.h"
#include "sweep/setup.h"
#include "text/words_list.h"

#include <argp.h>
#include <stdlib.h>
#include <string.h>

enum {
	KEY_BASELINE = 256,
	KEY_FORMAT,
	KEY_CLOCK,
	KEY_TEST,
	KEY_TIMING,
	KEY_ROWS,
	KEY_PLOT,
	KEY_FAMILY,
	KEY_FAMILIES,
	KEY_SCENARIO,
	KEY_DETAILS
};

struct options {
	struct report_options report;
	const char *dir, *clock, *plot;
	bool rows;
	uint64_t given;
};

static const struct argp_option option_table[] = {
	{"baseline", KEY_BASELINE, "PLANNER", 0,
         "the planner others are compared with (default xla-2021)", 0},
	{"format", KEY_FORMAT, "md|csv|tex|html", 0, "how to print (default md)", 0},
	{"clock", KEY_CLOCK, "LIST", 0, "clocks to report (default: all there are)", 0},
	{"family", KEY_FAMILY, "GLOB", 0,
         "only families that match, such as '*-4GiB' or '@(kv|moe)'", 0},
	{"families", KEY_FAMILIES, NULL, 0,
         "show each family, even if there are over 20 or it has one or two scenarios", 0},
	{"details", KEY_DETAILS, NULL, 0,
         "all tables: intervals, extremes, memory, families, planners against each "
         "other, bounds, what was left out (csv and html always have them)",
         0},
	{"scenario", KEY_SCENARIO, "GLOB", 0,
         "with html: the scenarios whose plans are shown (default: the largest gains "
         "and losses, and failures)",
         0},
	{"test", KEY_TEST, "wilcoxon|sign", 0, "the p value's test (default wilcoxon)",
         0},
	{"plot", KEY_PLOT, "FILE", 0,
         "write a plot of the speedups instead, .svg or .pdf, by gnuplot", 0},
	{"rows", KEY_ROWS, NULL, 0, "all rows as CSV instead of the tables", 0},
	{"timing", KEY_TIMING, NULL, 0, "show planning times", 0},
	{NULL, 0, NULL, 0, NULL, 0},
};

/* What is made, and for which of these an option means anything. */
enum mode { TABLES = 1, PAGE = 2, PLOT = 4, ROWS = 8 };

static int modes_of(int key, const struct options *o)
{
	switch (key) {
	case KEY_FAMILY:
		return TABLES | PAGE | PLOT | ROWS;
	case KEY_BASELINE:
	case KEY_CLOCK:
		return TABLES | PAGE | PLOT;
	case KEY_FORMAT:
		return TABLES | PAGE | (o->report.format == REPORT_CSV ? ROWS : 0);
	case KEY_TIMING:
		return TABLES | PAGE | ROWS;
	case KEY_SCENARIO:
		return PAGE;
	case KEY_PLOT:
		return PLOT;
	case KEY_ROWS:
		return ROWS;
	default:
		return TABLES | PAGE;
	}
}

static void check_options(const struct options *o, const struct argp_state *state)
{
	bool page = o->report.format == REPORT_HTML;
	enum mode mode = o->plot ? PLOT : o->rows ? ROWS : page ? PAGE : TABLES;

	for (int i = 0; option_table[i].name; i++)
		if (o->given >> i & 1 && !(modes_of(option_table[i].key, o) & mode))
			argp_error(state, "--%s %s", option_table[i].name,
			           mode == PLOT   ? "does not go with --plot"
			           : mode == ROWS ? "does not go with --rows"
			                          : "goes with --format html only");
}

static const struct command_text texts[] = {
	{KEY_BASELINE, offsetof(struct options, report.baseline)},
	{KEY_CLOCK, offsetof(struct options, clock)},
	{KEY_FAMILY, offsetof(struct options, report.family)},
	{KEY_SCENARIO, offsetof(struct options, report.scenario)},
	{KEY_PLOT, offsetof(struct options, plot)},
	{0, 0},
};

static error_t parse_report_option(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	command_given(&o->given, option_table, key, state);
	switch (key) {
	case KEY_FORMAT:
		if (!report_format_parse(&o->report.format, arg))
			argp_error(state,
			           "unknown format '%s', expected md, csv, tex or html",
			           arg);
		return 0;
	case KEY_TEST:
		if (strcmp(arg, "wilcoxon") != 0 && strcmp(arg, "sign") != 0)
			argp_error(state,
			           "unknown test '%s', expected wilcoxon or sign", arg);
		o->report.test = arg[0] == 's' ? REPORT_SIGN : REPORT_WILCOXON;
		return 0;
	case KEY_TIMING:
		o->report.timing = true;
		return 0;
	case KEY_FAMILIES:
		o->report.families = true;
		return 0;
	case KEY_DETAILS:
		o->report.details = true;
		return 0;
	case KEY_ROWS:
		o->rows = true;
		return 0;
	case ARGP_KEY_ARG:
		if (o->dir)
			argp_error(state, "unexpected argument '%s'", arg);
		o->dir = arg;
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "expected the folder of a sweep");
		return 0;
	case ARGP_KEY_END:
		check_options(o, state);
		return 0;
	default:
		return command_take_text(o, texts, key, arg) ? 0 : ARGP_ERR_UNKNOWN;
	}
}

/* Takes the clocks that were asked for; only the rows tell whether there are such. */
static enum status take_clocks(struct report_options *o, struct arena *a,
                               const char *list, struct error *e)
{
	const char **words;

	if (!list)
		return OK;
	if (words_list_read(&words, a, "--clock", list, e) != OK ||
	    words_list_once("--clock", list, words, e) != OK)
		return e->code;
	if (!words[0])
		return error_set(e, E_SYNTAX, where_option("--clock", list),
		                 "expected clocks such as model,fluid");
	o->clocks = words;
	o->clock_list = list;
	return OK;
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
	const struct argp argp = {
		option_table, parse_report_option,
		"DIR",        "Print the speedups that a sweep measured.",
		NULL,         NULL,
		NULL};
	struct options o = {0};
	struct error e = {0};
	struct store *store;
	struct arena *a = arena_new();
	int status = EXIT_DONE;

	argp_err_exit_status = EXIT_MISUSE;
	argp_parse(&argp, argc, argv, 0, NULL, &o);
	if (take_clocks(&o.report, a, o.clock, &e) == OK &&
	    store_open(&store, o.dir, false, &e) == OK) {
		if (sweep_unfinished(&o.report.unfinished, store, o.dir, a, &e) == OK)
			write_report(&o, store, &e);
		store_close(store);
	}
	if (e.code != OK)
		status = command_misuse(&e);
	arena_free(a);
	return status;
}
