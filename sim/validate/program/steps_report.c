#include "validate/program/factors.h"
#include "validate/program/steps.h"

#include "measure/held.h"
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
	return step_scale(s->devices);
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

/* Which seconds of a row. */
typedef double (*seconds_of)(const struct measured_step *s);

static double own_s(const struct measured_step *s)
{
	return s->time_s;
}

static double without_set_s(const struct measured_step *s)
{
	return s->without_s[HELD_SET];
}

static double without_model_s(const struct measured_step *s)
{
	return s->without_s[HELD_MODEL];
}

static double without_scale_s(const struct measured_step *s)
{
	return s->without_s[HELD_SCALE];
}

/* Errors of the rows of a class; `name` NULL: of all. */
static struct factors errors_of(const struct step_table *t, class_of class,
                                const char *name, seconds_of seconds, struct arena *a)
{
	double *x = arena_alloc(a, (size_t)t->n + 1, sizeof(*x));
	double *y = arena_alloc(a, (size_t)t->n + 1, sizeof(*y));
	size_t n = 0;

	for (int64_t i = 0; i < t->n; i++) {
		const struct measured_step *s = &t->row[i];

		if (isnan(seconds(s)) || (name && strcmp(class(s), name) != 0))
			continue;
		x[n] = s->measured_s;
		y[n++] = seconds(s);
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
	struct factors all = errors_of(t, NULL, NULL, own_s, a);

	for (int i = 0; i < n; i++) {
		struct factors e = errors_of(t, kinds[kind].class, class[i], own_s, a);

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

/* --- left out in turn ------------------------------------------------------------------ */

static void held_out_row(struct pen_table *table, struct arena *a,
                         const struct step_table *t, class_of class, const char *name)
{
	static const seconds_of seconds[1 + STEP_HELD] = {
		own_s, without_set_s, without_model_s, without_scale_s};
	const char **cell = words_row(table);

	cell[0] = name ? name : "all";
	for (int i = 0; i < 1 + STEP_HELD; i++) {
		struct factors f = errors_of(t, class, name, seconds[i], a);

		cell[1 + 2 * i] = words_count(a, f.n);
		cell[2 + 2 * i] = factor_text(a, f.error);
	}
}

static void held_out_table(const struct pen *pen, const struct step_table *t, int kind)
{
	const char *head[] = {kinds[kind].name,   "n", "as shipped",        "n",
	                      "without its set",  "n", "without its model", "n",
	                      "without its scale"};
	struct arena *a = pen->arena;
	int n;
	const char **class = classes_of(&n, t, kinds[kind].class, a);
	struct pen_table table =
		words_table(a, kinds[kind].caption, "lrrrrrrrr", head, (size_t)n + 1);

	for (int i = 0; i < n; i++)
		held_out_row(&table, a, t, kinds[kind].class, class[i]);
	held_out_row(&table, a, t, NULL, NULL);
	pen->table(pen, &table);
}

static const char *constant(struct arena *a, const struct step_fit *f, int k)
{
	const char *name = tuning_name(step_constants[k]);
	const char *mark = f->kept[k] ? " (kept)" : "";
	size_t n = strlen(name);

	if (!(f->value[k] > 0))
		return "-";
	if (n > 4 && !strcmp(name + n - 4, "_Bps"))
		return arena_printf(a, "%.3g GB/s%s", f->value[k] / 1e9, mark);
	if (n > 2 && !strcmp(name + n - 2, "_s"))
		return arena_printf(a, "%s%s", words_time(a, f->value[k]), mark);
	return arena_printf(a, "%.3f%s", f->value[k], mark);
}

/* The constants without each set. */
static void fits_table(const struct pen *pen, const struct step_table *t)
{
	const char *head[3 + STEP_CONSTANTS] = {"left out", "machine", "fitted to"};
	struct arena *a = pen->arena;
	struct pen_table table;

	for (int k = 0; k < STEP_CONSTANTS; k++)
		head[3 + k] = tuning_name(step_constants[k]);
	table = words_table(a, "Constants fitted without a set", "llrrrrrrr", head,
	                    (size_t)t->fit.n);
	for (int64_t i = 0; i < t->fit.n; i++) {
		const struct step_fit *f = &t->fit.at[i];
		const char **cell;

		if (f->held != HELD_SET)
			continue;
		cell = words_row(&table);
		cell[0] = f->set;
		cell[1] = f->family;
		cell[2] = words_count(a, f->others);
		for (int k = 0; k < STEP_CONSTANTS; k++)
			cell[3 + k] = constant(a, f, k);
	}
	pen->table(pen, &table);
}

static void held_out_words(const struct pen *pen, const struct step_table *t)
{
	pen->heading(pen, 2, "Left out in turn");
	pen->paragraph(
		pen,
		"Each set is predicted with constants of its machine that are fitted "
		"to "
		"the other sets of it, each model of a set with constants fitted to "
		"all "
		"other rows of the machine, and each scale (up to 8 devices, to 64, to "
		"512, more) with constants fitted to its other scales; constants of "
		"experts are fitted as all "
		"others are. A constant on which none of these rows depends keeps the "
		"family's value, and rows that depend on it have no error here, for it "
		"was fitted to them. Where a machine has one set nothing is left to "
		"fit "
		"to.");
	for (int i = 0; i < (int)KINDS; i++)
		if (kinds[i].class != by_size)
			held_out_table(pen, t, i);
	fits_table(pen, t);
}

/* --- how sure -------------------------------------------------------------------------- */

/* Prints how many steps lie where four of five should. */
static void print_sure(const struct pen *pen, const struct step_table *t)
{
	static const char *const name[] = {"not held out", "held out"};
	struct arena *a = pen->arena;
	struct held_time *time = arena_alloc(a, (size_t)t->n + 1, sizeof(*time));
	struct pen_table table = held_table(
		a, "Steps inside the intervals that should hold 80 %", "steps", 2);

	for (int held_out = 0; held_out < 2; held_out++) {
		size_t n = 0;

		for (int64_t i = 0; i < t->n; i++)
			if (t->row[i].held_out == held_out)
				time[n++] = (struct held_time){t->row[i].set,
				                               t->row[i].measured_s,
				                               t->row[i].likely_s};
		held_row(&table, a, name[held_out], time, n);
	}
	held_words(pen, &table);
}

void step_table_words(const struct pen *pen, const struct step_table *t)
{
	struct arena *a = pen->arena;
	struct factors all = errors_of(t, NULL, NULL, own_s, a);

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
	if (t->fit.n)
		held_out_words(pen, t);
	print_sure(pen, t);
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
	        "layers,expert_bytes,peak_bytes,device_bytes,without_set_s,without_"
	        "model_s,without_scale_s,low_s,high_s,held_out,left_out,line\n");
	for (int64_t i = 0; i < t->n; i++) {
		const struct measured_step *s = &t->row[i];
		const char *const text[] = {s->set, s->name, s->platform, s->parallel,
		                            s->precision};
		const double number[] = {
			s->measured_s,      s->time_s,          error_of(s),
			s->compute_s,       s->matmul_s,        s->attention_s,
			s->exposed_s,       s->communication_s, s->bubble_s,
			s->idle_s,          s->layers,          s->expert_bytes,
			s->peak_bytes,      s->device_bytes,    without_set_s(s),
			without_model_s(s), without_scale_s(s), s->likely_s.low,
			s->likely_s.high};

		for (size_t k = 0; k < sizeof(text) / sizeof(*text); k++)
			csv_put(out, text[k], k == 0);
		fprintf(out, ",%lld,%.0f", (long long)s->devices, s->params);
		for (size_t k = 0; k < sizeof(number) / sizeof(*number); k++)
			csv_number(out, number[k]);
		csv_put(out, s->held_out ? "yes" : "no", false);
		csv_put(out, s->left_out ? s->left_out : "", false);
		fprintf(out, ",%lld\n", (long long)s->line);
	}
}

static json_t *row_json(const struct measured_step *s)
{
	return json_pack(
		"{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:I, s:o, s:f, s:o, s:o, s:o, "
		"s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:b, s:o, "
		"s:s?, s:I}",
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
		"without_set_s", json_known(without_set_s(s)), "without_model_s",
		json_known(without_model_s(s)), "without_scale_s",
		json_known(without_scale_s(s)), "held_out", s->held_out, "interval_s",
		likely_json(&s->likely_s), "left_out", s->left_out, "line",
		(json_int_t)s->line);
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
