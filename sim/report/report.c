#include "report/report.h"

#include "report/data.h"
#include "report/html.h"
#include "report/select.h"
#include "suite/suite.h"
#include "text/csv.h"

#include <locale.h>
#include <math.h>
#include <string.h>

bool report_format_parse(enum report_format *out, const char *name)
{
	static const char *const names[] = {
		[REPORT_MD] = "md", [REPORT_CSV] = "csv", [REPORT_TEX] = "tex", [REPORT_HTML] = "html"};

	for (size_t f = 0; f < sizeof(names) / sizeof(names[0]); f++) {
		if (strcmp(names[f], name) == 0) {
			*out = (enum report_format)f;
			return true;
		}
	}
	return false;
}

static enum status finish_output(FILE *out, struct error *e)
{
	if (fflush(out) != 0 || ferror(out))
		return error_set(e, E_IO, (struct where){0}, "cannot write the report");
	return OK;
}

/* A decimal point is a point whatever the user's locale; returns the one to restore. */
static locale_t use_c_locale(locale_t *c)
{
	*c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	return *c ? uselocale(*c) : (locale_t)0;
}

static void restore_locale(locale_t old, locale_t c)
{
	if (!c)
		return;
	uselocale(old);
	freelocale(c);
}

/* Writes Markdown or LaTeX; an unknown table is found when all have been passed by. */
static enum status write_document(FILE *out, struct arena *a, const struct report *r,
                                  const struct report_options *o, struct error *e)
{
	struct pen_choice chosen = {.name = o->table},
			  *choice = o->table ? &chosen : NULL;
	struct text names = {0};

	if (o->format == REPORT_TEX)
		report_tex(out, a, r, o, choice);
	else
		report_md(out, a, r, choice);
	if (!choice)
		return OK;
	if (chosen.taken) {
		const char *hidden = report_hidden(r, a);

		/* The tables of these names: "speedup", "speedup-real". */
		if (hidden && (strncmp(o->table, "speedup", 7) == 0 ||
		               strncmp(o->table, "summary", 7) == 0))
			fprintf(stderr, "shardsim: note: not in this table: %s\n",
			        hidden);
		return OK;
	}
	for (int64_t i = 0; i < chosen.seen.n; i++)
		text_printf(&names, "%s%s", i ? ", " : "", chosen.seen.at[i]);
	error_set(e, E_RANGE, where_option("--table", o->table),
	          "no such table, expected one of: %s", text_take(&names, a));
	return e->code;
}

enum status report_print(FILE *out, const struct row *rows, size_t n,
                         const struct report_options *o, struct error *e)
{
	struct arena *a = arena_new();
	bool steps = report_of_steps(rows, n);
	struct report report;
	enum status status = steps ? OK : report_gather(&report, a, rows, n, o, e);

	if (status == OK) {
		locale_t c, old = use_c_locale(&c);

		if (steps)
			status = report_steps(out, a, rows, n, o, e);
		else if (o->format == REPORT_CSV)
			report_csv(out, &report);
		else if (o->format == REPORT_HTML)
			report_html(out, a, &report, rows, n, o);
		else
			status = write_document(out, a, &report, o, e);
		restore_locale(old, c);
		if (status == OK)
			status = finish_output(out, e);
	}
	arena_free(a);
	return status;
}

/* Reads what the sweep was made of. */
static enum status name_origin(struct report_options *o, struct store *s,
                               struct arena *a, struct error *e)
{
	const char *suite = "", *all = NULL;

	for (int i = 0; suite && i < SUITE_FILES_MAX; i++) {
		if (store_get(&suite, s, a, "suite", i, e) != OK)
			return e->code;
		if (!suite || !*suite)
			break;
		all = all ? arena_printf(a, "%s, %s", all, suite) : suite;
	}
	o->suites = all;
	return store_get(&o->version, s, a, "version", 0, e);
}

enum status report_write(FILE *out, struct store *store, const struct report_options *o,
                         struct error *e)
{
	struct arena *a = arena_new();
	struct report_options known = *o;
	struct row *rows;
	size_t n;
	enum status status = store_rows(store, a, &rows, &n, e);

	if (status == OK)
		status = name_origin(&known, store, a, e);
	if (status == OK)
		status = report_print(out, rows, n, &known, e);
	arena_free(a);
	return status;
}

struct csv_rows {
	FILE *out;
	const struct report_options *options;
};

/* A timeline is no figure: it is left to those who ask the database. */
static bool in_csv(int column)
{
	return row_columns[column].offset != offsetof(struct row, timeline);
}

static void write_cell(const struct csv_rows *csv, const struct row *r, int column)
{
	const struct row_column *c = &row_columns[column];
	const void *field = (const char *)r + c->offset;
	double real;
	char number[40] = "";

	switch (c->kind) {
	case ROW_TEXT:
		csv_put(csv->out, *(const char *const *)field, column == 0);
		return;
	case ROW_STATUS:
		csv_put(csv->out, outcome_name(*(const enum outcome *)field),
		        column == 0);
		return;
	case ROW_REAL:
		real = *(const double *)field;
		if (!isnan(real) && (csv->options->timing || field != &r->planning_s))
			snprintf(number, sizeof(number), "%.17g", real);
		break;
	case ROW_BYTES:
		if (*(const int64_t *)field >= 0)
			snprintf(number, sizeof(number), "%lld",
			         (long long)*(const int64_t *)field);
		break;
	case ROW_FLAG:
		snprintf(number, sizeof(number), "%d", *(const bool *)field);
		break;
	}
	csv_put(csv->out, number, column == 0);
}

static enum status write_row(void *self, const struct row *r, struct error *e)
{
	const struct csv_rows *csv = self;

	(void)e;
	if (!report_family(csv->options, r))
		return OK;
	for (int c = 0; c < ROW_COLUMNS; c++)
		if (in_csv(c))
			write_cell(csv, r, c);
	fputs("\r\n", csv->out);
	return OK;
}

/* A sound row. */
static enum status pass_row(void *self, const struct row *r, struct error *e)
{
	(void)self;
	(void)r;
	(void)e;
	return OK;
}

enum status report_rows_csv(FILE *out, struct store *store,
                            const struct report_options *o, struct error *e)
{
	struct csv_rows csv = {out, o};
	locale_t c, old;
	enum status status = store_each(store, pass_row, NULL, e);

	if (status != OK)
		return status;
	old = use_c_locale(&c);
	for (int i = 0; i < ROW_COLUMNS; i++)
		if (in_csv(i))
			csv_put(out, row_columns[i].name, i == 0);
	fputs("\r\n", out);
	status = store_each(store, write_row, &csv, e);
	restore_locale(old, c);
	return status == OK ? finish_output(out, e) : status;
}
