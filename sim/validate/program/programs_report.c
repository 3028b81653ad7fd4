#include "validate/program/factors.h"
#include "validate/program/programs.h"

#include "plan/plan_json.h"
#include "text/csv.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- classes of rows ------------------------------------------------------------------ */

/* Each names the class of a row. */
typedef const char *(*class_of)(const struct measured_program *p);

static const char *by_kind(const struct measured_program *p)
{
	return p->devices > 1 ? "on several GPUs" : p->phase;
}

static const char *by_model(const struct measured_program *p)
{
	return p->model;
}

static const struct {
	const char *name, *caption;
	class_of class;
} kinds[] = {
	{"run", "Programs by kind of run", by_kind},
	{"model", "Programs by model", by_model},
};
enum { KINDS = sizeof(kinds) / sizeof(*kinds) };

static bool counts(const struct measured_program *p)
{
	return p->kernels && !p->outlier;
}

/* Which seconds of a row. */
static double own_s(const struct measured_program *p)
{
	return p->time_s;
}

static double held_out_s(const struct measured_program *p)
{
	return p->held_out_s;
}

/* Errors of the rows of a class; `name` NULL: of all that count. */
static struct factors errors_of(const struct program_table *t, class_of class,
                                const char *name,
                                double (*seconds)(const struct measured_program *),
                                struct arena *a)
{
	double *x = arena_alloc(a, (size_t)t->n + 1, sizeof(*x));
	double *y = arena_alloc(a, (size_t)t->n + 1, sizeof(*y));
	size_t n = 0;

	for (int64_t i = 0; i < t->n; i++) {
		const struct measured_program *p = &t->row[i];

		if (!counts(p) || isnan(seconds(p)) ||
		    (name && strcmp(class(p), name) != 0))
			continue;
		x[n] = p->measured_s;
		y[n++] = seconds(p);
	}
	return factors_of(x, y, n);
}

static bool first_of_class(const struct program_table *t, class_of class, int64_t row)
{
	for (int64_t i = 0; i < row; i++)
		if (counts(&t->row[i]) && !strcmp(class(&t->row[i]), class(&t->row[row])))
			return false;
	return counts(&t->row[row]);
}

/* --- tables --------------------------------------------------------------------------- */

static void errors_table(const struct pen *pen, const struct program_table *t, int kind)
{
	const char *const head[] = {kinds[kind].name, "n",    "error",
	                            "least",          "most", "tau"};
	struct arena *a = pen->arena;
	struct pen_table table =
		words_table(a, kinds[kind].caption, "lrrrrr", head, (size_t)t->n + 1);
	struct factors all = errors_of(t, NULL, NULL, own_s, a);

	for (int64_t i = 0; i < t->n; i++) {
		const char *class;
		struct factors f;

		if (!first_of_class(t, kinds[kind].class, i))
			continue;
		class = kinds[kind].class(&t->row[i]);
		f = errors_of(t, kinds[kind].class, class, own_s, a);
		factors_row(&table, a, class, &f);
	}
	factors_row(&table, a, "all", &all);
	pen->table(pen, &table);
}

static const char *constant(struct arena *a, enum tuning_key key, double value)
{
	return key == TUNING_KERNEL_S ? words_time(a, value)
	                              : arena_printf(a, "%.3f", value);
}

static void held_out_table(const struct pen *pen, const struct program_table *t)
{
	const char *head[5 + PROGRAM_CONSTANTS] = {"left out", "n", "error",
	                                           "as shipped", "family"};
	struct arena *a = pen->arena;
	struct pen_table table;

	for (int k = 0; k < PROGRAM_CONSTANTS; k++)
		head[5 + k] = tuning_name(program_constants[k]);
	table = words_table(a, "Each model with constants fitted to all others",
	                    "lrrrlrrr", head, (size_t)t->fit.n + 1);
	for (int64_t i = 0; i < t->fit.n; i++) {
		const struct program_fit *fit = &t->fit.at[i];
		struct factors held = errors_of(t, by_model, fit->model, held_out_s, a);
		struct factors own = errors_of(t, by_model, fit->model, own_s, a);
		const char **cell = words_row(&table);

		cell[0] = fit->model ? fit->model : "all, each in turn";
		cell[1] = words_count(a, fit->n);
		cell[2] = factor_text(a, held.error);
		cell[3] = factor_text(a, own.error);
		cell[4] = fit->family;
		for (int k = 0; k < PROGRAM_CONSTANTS; k++)
			cell[5 + k] = constant(a, program_constants[k], fit->value[k]);
	}
	pen->table(pen, &table);
}

static void rows_table(const struct pen *pen, const struct program_table *t,
                       const char *caption, bool outliers)
{
	const char *const head[] = {"program",      "measured", "simulated", "ratio",
	                            "of it matmul", "conv.",    "memory",    "why"};
	struct arena *a = pen->arena;
	struct pen_table table =
		words_table(a, caption, "lrrrrrrl", head, (size_t)t->n + 1);

	for (int64_t i = 0; i < t->n; i++) {
		const struct measured_program *p = &t->row[i];
		const char **cell;

		if (!p->kernels || !p->outlier == outliers)
			continue;
		cell = words_row(&table);
		cell[0] = p->file;
		cell[1] = words_time(a, p->measured_s);
		cell[2] = words_time(a, p->time_s);
		cell[3] = factor_text(a, p->time_s / p->measured_s);
		cell[4] = words_percent(a, p->kind_s[COMPUTE_MATMUL] / p->time_s);
		cell[5] = words_percent(a, p->kind_s[COMPUTE_CONVOLUTION] / p->time_s);
		cell[6] = words_percent(a, p->kind_s[COMPUTE_MEMORY] / p->time_s);
		cell[7] = p->outlier ? p->outlier : "";
	}
	pen->table(pen, &table);
}

static void left_out_table(const struct pen *pen, const struct program_table *t)
{
	static const char *const head[] = {"program", "why"};
	struct pen_table table = words_table(pen->arena, "Programs that are left out",
	                                     "lp", head, (size_t)t->n + 1);

	for (int64_t i = 0; i < t->n; i++) {
		const char **cell;

		if (!t->row[i].left_out)
			continue;
		cell = words_row(&table);
		cell[0] = t->row[i].file;
		cell[1] = t->row[i].left_out;
	}
	if (table.rows)
		pen->table(pen, &table);
}

static void summary(const struct pen *pen, const struct program_table *t)
{
	int64_t timed = 0, texts = 0, differ = 0, outliers = 0;

	for (int64_t i = 0; i < t->n; i++) {
		timed += t->row[i].kernels != NULL;
		texts += t->row[i].kernels && t->row[i].from_text;
		differ += t->row[i].differs;
		outliers += t->row[i].kernels && t->row[i].outlier;
	}
	pen->paragraph(
		pen,
		arena_printf(
			pen->arena,
			"%lld of %lld measured programs are timed, %lld of their "
			"texts, "
			"the others of the kernels that were made of these texts "
			"before; "
			"the kernels of %lld texts are not those of the table. %lld "
			"are "
			"outliers, which are listed and in no mean. An error is a "
			"factor, exp |log(simulated / measured)|, the mean geometric; "
			"least and most are of simulated / measured; tau is Kendall's "
			"of the two times.",
			(long long)timed, (long long)t->n, (long long)texts,
			(long long)differ, (long long)outliers));
}

void program_table_words(const struct pen *pen, const struct program_table *t)
{
	pen->heading(pen, 1, "Whole programs, simulated and measured");
	summary(pen, t);
	for (int i = 0; i < (int)KINDS; i++)
		errors_table(pen, t, i);
	pen->heading(pen, 2, "Models left out");
	held_out_table(pen, t);
	pen->heading(pen, 2, "Programs");
	rows_table(pen, t, "Programs", false);
	pen->heading(pen, 2, "Outliers");
	rows_table(pen, t, "Programs that are listed and in no mean", true);
	pen->heading(pen, 2, "Left out");
	left_out_table(pen, t);
}

/* --- rows ----------------------------------------------------------------------------- */

static void csv_number(FILE *out, double x)
{
	fprintf(out, isnan(x) ? "," : ",%.9g", x);
}

void program_table_csv(FILE *out, const struct program_table *t)
{
	fprintf(out,
	        "file,set,model,phase,platform,outlier,left_out,devices,measured_s,"
	        "time_s,error,held_out_s,matmul_s,convolution_s,memory_s,line\n");
	for (int64_t i = 0; i < t->n; i++) {
		const struct measured_program *p = &t->row[i];
		const char *const text[] = {p->file,
		                            p->set,
		                            p->model,
		                            p->phase,
		                            p->platform,
		                            p->outlier ? p->outlier : "",
		                            p->left_out ? p->left_out : ""};
		const double number[] = {p->measured_s,
		                         p->time_s,
		                         factor_error(p->time_s, p->measured_s),
		                         p->held_out_s,
		                         p->kind_s[COMPUTE_MATMUL],
		                         p->kind_s[COMPUTE_CONVOLUTION],
		                         p->kind_s[COMPUTE_MEMORY]};

		for (size_t k = 0; k < sizeof(text) / sizeof(*text); k++)
			csv_put(out, text[k], k == 0);
		fprintf(out, ",%lld", (long long)p->devices);
		for (size_t k = 0; k < sizeof(number) / sizeof(*number); k++)
			csv_number(out, number[k]);
		fprintf(out, ",%lld\n", (long long)p->line);
	}
}

static json_t *row_json(const struct measured_program *p)
{
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:I, s:f, s:o, s:o, s:o, s:f, "
	                 "s:f, s:f, "
	                 "s:s?, s:s?, s:I}",
	                 "set", json_text(p->set), "model", json_text(p->model),
	                 "phase", json_text(p->phase), "source", json_text(p->source),
	                 "platform", json_text(p->platform), "file", json_text(p->file),
	                 "devices", (json_int_t)p->devices, "measured_s", p->measured_s,
	                 "time_s", json_known(p->time_s), "error",
	                 json_known(factor_error(p->time_s, p->measured_s)),
	                 "held_out_s", json_known(p->held_out_s), "matmul_s",
	                 p->kind_s[COMPUTE_MATMUL], "convolution_s",
	                 p->kind_s[COMPUTE_CONVOLUTION], "memory_s",
	                 p->kind_s[COMPUTE_MEMORY], "outlier", p->outlier, "left_out",
	                 p->left_out, "line", (json_int_t)p->line);
}

void program_table_json(FILE *out, const struct program_table *t)
{
	json_t *rows = json_array(), *all;
	char *s;

	for (int64_t i = 0; i < t->n; i++)
		json_array_append_new(rows, row_json(&t->row[i]));
	all = json_pack("{s:s, s:o}", "schema", "shardsim/1", "programs", rows);
	s = json_dumps(all, JSON_INDENT(1) | JSON_REAL_PRECISION(15));
	fprintf(out, "%s\n", s);
	free(s);
	json_decref(all);
}
