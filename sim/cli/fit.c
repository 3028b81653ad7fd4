/* `shardsim fit FILE...`: constants of families from published timings or a log. */
#include "cli/command.h"
#include "cli/options.h"
#include "fit/choose.h"
#include "fit/intervals.h"
#include "fit/log.h"
#include "fit/report.h"
#include "measure/library.h"
#include "system/file.h"
#include "text/pen.h"
#include "text/words_list.h"
#include "validate/mapping.h"

#include <string.h>

struct options {
	const char *mapping, *family, *constants, *output, *format, *intervals, *steps;
	const char *platform, *collective;
	bool in_place;
	struct library_text library;
	struct command_words file;
};

static const struct option_row option_table[] = {
	{"platform", 0, "P", "the machine that all files, logs of nccl-tests, are of",
         AT(platform)},
	{"collective", 0, "NAME", "the collective of logs that do not name it",
         AT(collective)},
	{"in-place", 0, NULL, "timings in place (default: out of place)", AT(in_place)},
	{"family", 0, "LIST|all", "families to fit (default all with rows)", AT(family)},
	{"constants", 0, "LIST",
         "figures to fit, at most 8 (default: by the profile and the rows)",
         AT(constants)},
	{"mapping", 0, "FILE",
         "which machines they were taken on (default: FILE's name with .yaml)",
         AT(mapping)},
	{"output", 'o', "FILE", "write the entries for families.yaml to FILE",
         AT(output)},
	{"intervals", 0, "FILE",
         "write to FILE how sure the times of these families and all others are",
         AT(intervals)},
	{"steps", 0, "FILE",
         "a table of training steps, whose times --intervals is of, too", AT(steps)},
	{"format", 0, "md|tex", "tables in Markdown (default) or LaTeX", AT(format),
         .unknown = "unknown format"},
	{0},
};

static void check_options(void *self, const struct argp_state *state)
{
	const struct options *o = self;

	if (o->platform && o->intervals)
		argp_error(state, "--intervals does not go with --platform");
	if (o->steps && !o->intervals)
		argp_error(state, "--steps goes with --intervals");
	if (o->platform && (o->mapping || o->family))
		argp_error(state, "%s does not go with --platform",
		           o->mapping ? "--mapping" : "--family");
	if (!o->platform && (o->collective || o->in_place || o->library.launch))
		argp_error(state, "%s goes with --platform",
		           o->collective ? "--collective"
		           : o->in_place ? "--in-place"
		                         : "--launch");
}

/* Returns whether some row is of that family. */
static bool has_family(const struct validation *v, const char *family)
{
	int64_t n;
	const struct prediction *row = validation_rows(v, &n);

	for (int64_t i = 0; i < n; i++)
		if (row[i].family && !strcmp(row[i].family, family))
			return true;
	return false;
}

static enum status families_listed(const char ***out, struct arena *a,
                                   const struct validation *v, const char *list,
                                   struct error *e)
{
	if (words_list_read(out, a, "--family", list, e) != OK ||
	    words_list_once("--family", list, *out, e) != OK)
		return e->code;
	for (int i = 0; i == 0 || (*out)[i]; i++)
		if (!(*out)[i] || !has_family(v, (*out)[i]))
			return error_set(e, E_INFEASIBLE,
			                 words_list_at("--family", list, i),
			                 "there are no timings of such a family");
	return OK;
}

/*
 * Lists the families of the rows, by first appearance, or those that the user listed.
 */
static enum status families_chosen(const char ***out, struct arena *a,
                                   const struct validation *v, const char *list,
                                   struct error *e)
{
	int64_t n;
	const struct prediction *row = validation_rows(v, &n);
	int count = 0;

	if (list && strcmp(list, "all") != 0)
		return families_listed(out, a, v, list, e);
	*out = arena_alloc(a, (size_t)n + 1, sizeof(**out));
	for (int64_t i = 0; i < n; i++) {
		int k = 0;

		while (row[i].family && k < count &&
		       strcmp((*out)[k], row[i].family) != 0)
			k++;
		if (row[i].family && k == count)
			(*out)[count++] = row[i].family;
	}
	return OK;
}

/* Returns the files' names without directories: "measured.csv, measured-more.csv". */
static const char *file_names(const struct options *o, struct arena *a)
{
	const char *all = "";

	for (int i = 0; i < o->file.n; i++) {
		const char *slash = strrchr(o->file.at[i], '/');

		all = arena_printf(a, "%s%s%s", all, i ? ", " : "",
		                   slash ? slash + 1 : o->file.at[i]);
	}
	return all;
}

static struct pen pen_chosen(const struct options *o, struct arena *a)
{
	return o->format && !strcmp(o->format, "tex") ? pen_tex(stdout, a)
	                                              : pen_md(stdout, a);
}

/* Lists the constants that the user named; NULL if there are none. */
static enum status constants_named(const char ***out, struct arena *a,
                                   const struct options *o, struct error *e)
{
	*out = NULL;
	if (o->constants &&
	    (words_list_read(out, a, "--constants", o->constants, e) != OK ||
	     words_list_once("--constants", o->constants, *out, e) != OK))
		return e->code;
	return OK;
}

static enum status fit_one(struct arena *a, const struct options *o, struct error *e)
{
	const struct machine_log log = {.file = o->file.at,
	                                .nfiles = o->file.n,
	                                .platform = o->platform,
	                                .collective = o->collective,
	                                .in_place = o->in_place,
	                                .launch = o->library.launch};
	struct pen pen = pen_chosen(o, a);
	struct text entry = {0};
	const char **constant;
	struct log_fit fit;

	if (constants_named(&constant, a, o, e) != OK ||
	    log_fit(&fit, a, &log, constant, e) != OK)
		return e->code;
	command_note(o->platform, fit.note);
	command_note(o->platform, fit.unit_note);
	if (o->output && family_fit_entry(&entry, &fit.fit, file_names(o, a), a, e) == OK)
		file_write(o->output, entry.s, entry.length, e);
	if (e->code == OK)
		fit_log_words(&pen, &fit);
	text_free(&entry);
	return e->code;
}

static enum status write_intervals(const struct validation *v,
                                   const struct family_fit *fit, int n,
                                   const struct step_table *steps,
                                   const struct options *o, struct error *e)
{
	struct text command = {0}, out = {0};

	text_printf(&command, "shardsim fit");
	for (int i = 0; i < o->file.n; i++)
		text_printf(&command, " %s", o->file.at[i]);
	if (o->steps)
		text_printf(&command, " --steps %s", o->steps);
	text_printf(&command, " --intervals %s", o->intervals);
	intervals_print(&out, v, fit, n, o->steps ? steps : NULL, command.s);
	file_write(o->intervals, out.s, out.length, e);
	text_free(&command);
	text_free(&out);
	return e->code;
}

static enum status fit_all(struct validation *v, struct arena *a,
                           const struct options *o, struct error *e)
{
	const char **family, **constant = NULL;
	struct pen pen = pen_chosen(o, a);
	struct text entries = {0};
	struct step_table steps;
	struct family_fit *fit;
	struct left_out_family *left_out;
	int n = 0;

	if (families_chosen(&family, a, v, o->family, e) != OK ||
	    constants_named(&constant, a, o, e) != OK ||
	    (o->steps && step_table_read(&steps, a, o->steps, true, e) != OK))
		return e->code;
	while (family[n])
		n++;
	fit = arena_alloc(a, (size_t)n, sizeof(*fit));
	for (int i = 0; i < n && e->code == OK; i++)
		if (family_fit(&fit[i], v, a, family[i],
		               constant ? constant : fit_constants(v, family[i], a),
		               false, e) == OK)
			family_fit_entry(&entries, &fit[i], file_names(o, a), a, e);
	left_out = arena_alloc(a, (size_t)n, sizeof(*left_out));
	if (e->code == OK && families_left_out(left_out, v, fit, n, a, e) == OK) {
		if (o->output)
			file_write(o->output, entries.s ? entries.s : "",
			           entries.length, e);
		if (e->code == OK && o->intervals)
			write_intervals(v, fit, n, &steps, o, e);
		if (e->code == OK)
			fit_words(&pen, fit, left_out, n);
	}
	text_free(&entries);
	return e->code;
}

/* Finds before any work what cannot be written, or would be written over what is read. */
static enum status check_files(struct arena *a, const struct options *o, struct error *e)
{
	const char **used = arena_alloc(a, 2 * (size_t)o->file.n + 3, sizeof(*used));
	int n = 0;

	for (int i = 0; i < o->file.n; i++) {
		used[n++] = o->file.at[i];
		if (!o->platform)
			used[n++] = o->mapping ? o->mapping
			                       : mapping_beside(a, o->file.at[i]);
	}
	used[n++] = o->steps;
	if (o->output && file_check_apart(o->output, used, n, e) != OK)
		return e->code;
	used[n++] = o->output;
	return o->intervals ? file_check_apart(o->intervals, used, n, e) : OK;
}

int command_fit(int argc, char **argv)
{
	struct options o = {0};
	const struct command_syntax syntax = {
		.usage = "FILE...",
		.doc = "Fit the few free constants of families to published "
		       "timings, or those of a machine to logs of nccl-tests that "
		       "were taken on it: non-linear least squares on log time, "
		       "standard errors, and cross-validation that leaves one set, "
		       "or one family, out.\v"
		       "Examples: shardsim fit platforms/measured.csv --family "
		       "dgx-h100 -o entry\n"
		       "shardsim fit all_reduce.log --platform dgx-h100:2",
		.machines = true,
		.options = {{option_table, &o}, {launch_table, &o.library}},
		.words = &o.file,
		.expected = "a file of timings",
		.check = check_options,
		.self = &o,
	};
	struct arena *a = arena_new();
	struct validation *v = NULL;
	struct error e = {0};
	int status = EXIT_DONE;

	command_parse(&syntax, argc, argv);
	check_files(a, &o, &e);
	if (e.code == OK && o.platform)
		fit_one(a, &o, &e);
	else if (e.code == OK &&
	         validation_load(&v, a, o.file.at, o.file.n, o.mapping, &e) == OK)
		fit_all(v, a, &o, &e);
	if (e.code != OK)
		status = command_misuse(&e);
	validation_close(v);
	arena_free(a);
	return status;
}
