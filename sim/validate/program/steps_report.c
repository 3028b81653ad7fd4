#include "validate/program/factors.h"
#include "validate/program/steps.h"

#include "plan/plan_json.h"
#include "text/csv.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static double error_of(const struct measured_step *s)
{
	return factor_error(s->time_s, s->measured_s);
}

/* --- classes of rows ------------------------------------------------------------------ */

/* Each names the class of a row. */
typedef const char *(*class_of)(const struct measured_step *s);

static const char *by_set(const struct measured_step *s)
{
	return s->set;
}

static const char *by_machine(const struct measured_step *s)
{
	return s->family;
}

static const char *by_size(const struct measured_step *s)
{
	return s->params < 1e9    ? "under 1e9"
	       : s->params < 1e10 ? "under 1e10"
	       : s->params < 1e11 ? "under 1e11"
	                          : "1e11 and more";
}

static const char *by_devices(const struct measured_step *s)
{
	return s->devices <= 8     ? "up to 8"
	       : s->devices <= 64  ? "9 to 64"
	       : s->devices <= 512 ? "65 to 512"
	                           : "more than 512";
}

static const char *by_parallelism(const struct measured_step *s)
{
	return s->experts    ? "experts"
	       : s->pipeline ? "pipeline"
	       : s->context  ? "context"
	       : s->tensor   ? "tensor"
	                     : "data, fsdp";
}

static const char *by_precision(const struct measured_step *s)
{
	return s->precision;
}

/* Errors of the rows of a class; `name` NULL: of all. */
static struct factors errors_of(const struct step_table *t, class_of class,
                                const char *name, struct arena *a)
{
	double *x = arena_alloc(a, (size_t)t->n + 1, sizeof(*x));
	double *y = arena_alloc(a, (size_t)t->n + 1, sizeof(*y));
	size_t n = 0;

	for (int64_t i = 0; i < t->n; i++) {
		const struct measured_step *s = &t->row[i];

		if (isnan(s->time_s) || (name && strcmp(class(s), name) != 0))
			continue;
		x[n] = s->measured_s;
		y[n++] = s->time_s;
	}
	return factors_of(x, y, n);
}

static const char **classes_of(int *n, const struct step_table *t, class_of class,
                               struct arena *a)
{
	const char **out = arena_alloc(a, (size_t)t->n + 1, sizeof(*out));

	*n = 0;
	for (int64_t i = 0; i < t->n; i++) {
		int k = 0;

		if (isnan(t->row[i].time_s))
			continue;
		while (k < *n && strcmp(out[k], class(&t->row[i])) != 0)
			k++;
		if (k == *n)
			out[(*n)++] = class(&t->row[i]);
	}
	return out;
}

static const struct {
	const char *name, *caption;
	class_of class;
} kinds[] = {
	{"set", "Steps by source and machine", by_set},
	{"machine", "Steps by family", by_machine},
	{"parameters", "Steps by size of the model", by_size},
	{"devices", "Steps by number of devices", by_devices},
	{"parallelism", "Steps by parallelism", by_parallelism},
	{"precision", "Steps by precision", by_precision},
};
enum { KINDS = sizeof(kinds) / sizeof(*kinds) };

/* --- tables --------------------------------------------------------------------------- */

static void errors_table(const struct pen *pen, const struct step_table *t, int kind)
{
	const char *head[] = {kinds[kind].name, "n", "error", "least", "most", "tau"};
	struct arena *a = pen->arena;
	int n;
	const char **class = classes_of(&n, t, kinds[kind].class, a);
	struct pen_table table =
		words_table(a, kinds[kind].caption, "lrrrrr", head, (size_t)n + 1);
	struct factors all = errors_of(t, NULL, NULL, a);

	for (int i = 0; i < n; i++) {
		struct factors e = errors_of(t, kinds[kind].class, class[i], a);

		factors_row(&table, a, class[i], &e);
	}
	factors_row(&table, a, "all", &all);
	pen->table(pen, &table);
}

static void left_out_table(const struct pen *pen, const struct step_table *t)
{
	static const char *const head[] = {"set", "rows", "why"};
	struct arena *a = pen->arena;
	struct pen_table table =
		words_table(a, "Steps that are left out", "lrp", head, (size_t)t->n);

	for (int64_t i = 0; i < t->n; i++) {
		const struct measured_step *s = &t->row[i];
		const char **cell;
		size_t n = 0;
		bool again = false;

		for (int64_t k = 0; k < t->n && s->left_out; k++) {
			const struct measured_step *o = &t->row[k];
			bool same = o->left_out && !strcmp(o->left_out, s->left_out) &&
			            !strcmp(o->set, s->set);

			n += same;
			again |= same && k < i;
		}
		if (!n || again)
			continue;
		cell = words_row(&table);
		cell[0] = s->set;
		cell[1] = words_count(a, n);
		cell[2] = s->left_out;
	}
	pen->table(pen, &table);
}

void step_table_words(const struct pen *pen, const struct step_table *t)
{
	struct arena *a = pen->arena;
	struct factors all = errors_of(t, NULL, NULL, a);

	pen->heading(pen, 1, "Training steps, simulated and measured");
	pen->paragraph(
		pen,
		arena_printf(
			a,
			"%zu of %lld published steps are described well enough to be "
			"simulated. An error is a factor, exp |log(simulated / "
			"measured)|, the mean geometric; least and most are of "
			"simulated / measured; tau is Kendall's of the two times.",
			all.n, (long long)t->n));
	for (int i = 0; i < (int)KINDS; i++)
		errors_table(pen, t, i);
	pen->heading(pen, 2, "Left out");
	left_out_table(pen, t);
}

/* --- rows ----------------------------------------------------------------------------- */

static void csv_number(FILE *out, double x)
{
	fprintf(out, isnan(x) ? "," : ",%.9g", x);
}

void step_table_csv(FILE *out, const struct step_table *t)
{
	fprintf(out,
	        "set,name,platform,parallel,precision,devices,params,measured_s,time_s,"
	        "error,compute_s,matmul_s,attention_s,exposed_s,communication_s,bubble_"
	        "s,idle_s,"
	        "layers,expert_layers,peak_bytes,device_bytes,left_out,line\n");
	for (int64_t i = 0; i < t->n; i++) {
		const struct measured_step *s = &t->row[i];
		const char *const text[] = {s->set, s->name, s->platform, s->parallel,
		                            s->precision};
		const double number[] = {
			s->measured_s, s->time_s,      error_of(s),  s->compute_s,
			s->matmul_s,   s->attention_s, s->exposed_s, s->communication_s,
			s->bubble_s,   s->idle_s,      s->layers,    s->expert_layers,
			s->peak_bytes, s->device_bytes};

		for (size_t k = 0; k < sizeof(text) / sizeof(*text); k++)
			csv_put(out, text[k], k == 0);
		fprintf(out, ",%lld,%.0f", (long long)s->devices, s->params);
		for (size_t k = 0; k < sizeof(number) / sizeof(*number); k++)
			csv_number(out, number[k]);
		csv_put(out, s->left_out ? s->left_out : "", false);
		fprintf(out, ",%lld\n", (long long)s->line);
	}
}

static json_t *row_json(const struct measured_step *s)
{
	return json_pack(
		"{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:I, s:o, s:f, s:o, s:o, s:o, "
		"s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:s?, s:I}",
		"set", json_text(s->set), "name", json_text(s->name), "source",
		json_text(s->source), "platform", json_text(s->platform), "model",
		json_text(s->model), "parallel", json_text(s->parallel), "precision",
		json_text(s->precision), "devices", (json_int_t)s->devices, "params",
		json_quantity(s->params), "measured_s", s->measured_s, "time_s",
		json_known(s->time_s), "error", json_known(error_of(s)), "compute_s",
		json_known(s->compute_s), "matmul_s", json_known(s->matmul_s),
		"attention_s", json_known(s->attention_s), "exposed_s",
		json_known(s->exposed_s), "communication_s",
		json_known(s->communication_s), "bubble_s", json_known(s->bubble_s),
		"idle_s", json_known(s->idle_s), "peak_bytes",
		json_known(s->peak_bytes), "device_bytes", json_known(s->device_bytes),
		"left_out", s->left_out, "line", (json_int_t)s->line);
}

void step_table_json(FILE *out, const struct step_table *t)
{
	json_t *rows = json_array(), *all;
	char *s;

	for (int64_t i = 0; i < t->n; i++)
		json_array_append_new(rows, row_json(&t->row[i]));
	all = json_pack("{s:s, s:o}", "schema", "shardsim/1", "steps", rows);
	s = json_dumps(all, JSON_INDENT(1) | JSON_REAL_PRECISION(15));
	fprintf(out, "%s\n", s);
	free(s);
	json_decref(all);
}
