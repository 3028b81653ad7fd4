/* `shardsim validate FILE...`: simulated against measured. */
#include "cli/command.h"
#include "cli/parse.h"
#include "validate/place_report.h"
#include "validate/plot.h"
#include "validate/report.h"

#include <argp.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_MAPPING = 256, KEY_FORMAT, KEY_PLOT, FILES_MAX = 64 };

struct options {
	const char *file[FILES_MAX], *mapping, *format, *plot;
	int nfiles;
	uint64_t given;
};

static const struct argp_option option_table[] = {
	{"mapping", KEY_MAPPING, "FILE", 0,
         "which machines they were taken on (default: FILE's name with .yaml)", 0},
	{"format", KEY_FORMAT, "md|tex|csv|json", 0,
         "tables in Markdown (default) or LaTeX, or all rows as CSV or JSON", 0},
	{"plot", KEY_PLOT, "FILE", 0,
         "write a plot of all systems instead, .svg or .pdf, by gnuplot", 0},
	{NULL, 0, NULL, 0, NULL, 0},
};

static error_t parse_validate_option(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	command_given(&o->given, option_table, key, state);
	switch (key) {
	case KEY_MAPPING:
		o->mapping = arg;
		return 0;
	case KEY_FORMAT:
		if (strcmp(arg, "md") != 0 && strcmp(arg, "tex") != 0 &&
		    strcmp(arg, "csv") != 0 && strcmp(arg, "json") != 0)
			argp_error(state,
			           "unknown format '%s', expected md, tex, csv or json",
			           arg);
		o->format = arg;
		return 0;
	case KEY_PLOT:
		o->plot = arg;
		return 0;
	case ARGP_KEY_ARG:
		if (o->nfiles == FILES_MAX)
			argp_error(state, "more than %d files", FILES_MAX);
		o->file[o->nfiles++] = arg;
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "expected a file of timings");
		return 0;
	case ARGP_KEY_END:
		if (o->plot && o->format)
			argp_error(state, "--format does not go with --plot");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static void print(const struct validation *v, const char *format, struct arena *a)
{
	struct pen pen = pen_md(stdout, a);

	if (format && !strcmp(format, "csv")) {
		validate_csv(stdout, v);
		return;
	}
	if (format && !strcmp(format, "json")) {
		validate_json(stdout, v);
		return;
	}
	if (format && !strcmp(format, "tex"))
		pen = pen_tex(stdout, a);
	validate_words(&pen, v);
}

/*
 * Validates tables of placements, which need no mapping, since they name their
 * hierarchy.
 */
static int validate_placements(const struct options *o, struct arena *a)
{
	const char *other = o->mapping ? "--mapping" : "--plot";
	const char *given = o->mapping ? o->mapping : o->plot;
	struct pen pen = pen_md(stdout, a);
	struct place_table t;
	struct error e = {0};

	if (given)
		error_set(&e, E_TYPE, where_option(other, given),
		          "a table of placements takes no %s", other);
	if (e.code != OK || place_table_read(&t, a, o->file, o->nfiles, &e) != OK)
		return command_misuse(&e);
	if (o->format && !strcmp(o->format, "csv")) {
		place_validate_csv(stdout, &t);
	} else if (o->format && !strcmp(o->format, "json")) {
		place_validate_json(stdout, &t);
	} else {
		if (o->format && !strcmp(o->format, "tex"))
			pen = pen_tex(stdout, a);
		place_validate_words(&pen, &t);
	}
	return EXIT_DONE;
}

int command_validate(int argc, char **argv)
{
	const struct argp argp = {
		option_table,
		parse_validate_option,
		"FILE...",
		"Run published timings on the families they belong to and print the "
		"errors.\v"
		"FILE is a table like platforms/measured.csv; its mapping to families "
		"is "
		"described in platforms/measured.yaml.",
		NULL,
		NULL,
		NULL};
	struct options o = {0};
	struct arena *a = arena_new();
	struct validation *v;
	struct error e = {0};
	int status = EXIT_DONE;

	command_parse_machines(&argp, argc, argv, &o);
	if (place_table_is(o.file[0])) {
		status = validate_placements(&o, a);
		arena_free(a);
		return status;
	}
	if (validation_load(&v, a, o.file, o.nfiles, o.mapping, &e) == OK) {
		validation_run(v);
		if (o.plot)
			validate_plot(o.plot, v, &e);
		else
			print(v, o.format, a);
	}
	if (e.code != OK)
		status = command_misuse(&e);
	validation_close(v);
	arena_free(a);
	return status;
}
