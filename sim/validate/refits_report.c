#include "validate/refits.h"

#include "plan/plan_json.h"
#include "text/csv.h"
#include "text/words.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Returns exp |log(simulated / measured)|, NaN where one is not known. */
static double error_of(double time_s, double measured_s)
{
	return exp(fabs(log(time_s / measured_s)));
}

static const char *factor(struct arena *a, double x)
{
	return isnan(x) ? "-" : arena_printf(a, "%.2f", x);
}

static void timings_table(const struct pen *pen, const struct refit_table *t)
{
	static const char *const head[] = {"set",         "moved",      "method",
	                                   "ends",        "measured",   "simulated",
	                                   "of measured", "with hosts", "of measured"};
	struct arena *a = pen->arena;
	struct pen_table table =
		words_table(a, "Refits of weights: simulated and measured", "llllrrrrr",
	                    head, (size_t)t->n);

	for (int64_t i = 0; i < t->n; i++) {
		const struct refit *r = &t->row[i];
		const char **cell;

		if (r->left_out)
			continue;
		cell = words_row(&table);
		cell[0] = r->set;
		cell[1] = r->detail;
		cell[2] = r->method;
		cell[3] = r->ends;
		cell[4] = words_time(a, r->measured_s);
		cell[5] = words_time(a, r->time_s);
		cell[6] = factor(a, r->time_s / r->measured_s);
		cell[7] = words_time(a, r->hosts_s);
		cell[8] = factor(a, r->hosts_s / r->measured_s);
	}
	pen->table(pen, &table);
}

static void left_out_table(const struct pen *pen, const struct refit_table *t)
{
	static const char *const head[] = {"set", "rows", "why"};
	struct arena *a = pen->arena;
	struct pen_table table = words_table(a, "Refits of weights that are left out",
	                                     "lrp", head, (size_t)t->n);

	for (int64_t i = 0; i < t->n; i++) {
		const struct refit *r = &t->row[i];
		const char **cell;
		size_t n = 0;
		bool again = false;

		for (int64_t k = 0; k < t->n && r->left_out; k++) {
			const struct refit *o = &t->row[k];
			bool same = o->left_out && !strcmp(o->left_out, r->left_out) &&
			            !strcmp(o->set, r->set);

			n += same;
			again |= same && k < i;
		}
		if (!n || again)
			continue;
		cell = words_row(&table);
		cell[0] = r->set;
		cell[1] = words_count(a, n);
		cell[2] = r->left_out;
	}
	pen->table(pen, &table);
}

/* Geometric means of errors: of all rows, and with and without hosts of those that have both. */
struct refit_errors {
	size_t n, nhosts;
	double all, plain, hosts;
};

static struct refit_errors errors_of(const struct refit_table *t)
{
	struct refit_errors e = {0};

	for (int64_t i = 0; i < t->n; i++) {
		const struct refit *r = &t->row[i];

		if (isnan(r->time_s))
			continue;
		e.all += log(error_of(r->time_s, r->measured_s));
		e.n++;
		if (isnan(r->hosts_s))
			continue;
		e.plain += log(error_of(r->time_s, r->measured_s));
		e.hosts += log(error_of(r->hosts_s, r->measured_s));
		e.nhosts++;
	}
	e.all = exp(e.all / (double)e.n);
	e.plain = exp(e.plain / (double)e.nhosts);
	e.hosts = exp(e.hosts / (double)e.nhosts);
	return e;
}

void refit_words(const struct pen *pen, const struct refit_table *t)
{
	struct arena *a = pen->arena;
	struct refit_errors e = errors_of(t);

	pen->heading(pen, 1, "Refits of weights, simulated and measured");
	pen->paragraph(
		pen,
		arena_printf(
			a,
			"%zu of %lld rows are described well enough to be moved here; "
			"nothing is fitted to them. Simulated is the wire alone, by "
			"the clock model; with hosts come calls, copies into and out "
			"of buffers and, where the method gathers parameters first, "
			"that. Errors are factors, exp |log(simulated / measured)|: "
			"%s in the geometric mean. Of %zu rows the costs of hosts are "
			"known: %s without and %s with them.",
			e.n, (long long)t->n, factor(a, e.all), e.nhosts,
			factor(a, e.plain), factor(a, e.hosts)));
	timings_table(pen, t);
	pen->heading(pen, 2, "Left out");
	left_out_table(pen, t);
}

static void csv_number(FILE *out, double x)
{
	fprintf(out, isnan(x) ? "," : ",%.9g", x);
}

void refit_csv(FILE *out, const struct refit_table *t)
{
	fprintf(out, "set,system,detail,method,platform,ends,planner,measured_s,time_s,"
	             "hosts_s,error,left_out,line\n");
	for (int64_t i = 0; i < t->n; i++) {
		const struct refit *r = &t->row[i];
		const char *const text[] = {r->set,    r->system,   r->detail,
		                            r->method, r->platform, r->ends,
		                            r->planner};

		for (size_t k = 0; k < sizeof(text) / sizeof(*text); k++)
			csv_put(out, text[k] ? text[k] : "", k == 0);
		csv_number(out, r->measured_s);
		csv_number(out, r->time_s);
		csv_number(out, r->hosts_s);
		csv_number(out, error_of(r->time_s, r->measured_s));
		csv_put(out, r->left_out ? r->left_out : "", false);
		fprintf(out, ",%lld\n", (long long)r->line);
	}
}

void refit_json(FILE *out, const struct refit_table *t)
{
	json_t *rows = json_array(), *all;
	char *s;

	for (int64_t i = 0; i < t->n; i++) {
		const struct refit *r = &t->row[i];

		json_array_append_new(
			rows,
			json_pack(
				"{s:o, s:o, s:o, s:o, s:s?, s:s?, s:s?, s:f, s:o, s:o, "
				"s:o, s:s?, s:I}",
				"set", json_text(r->set), "system",
				json_text(r->system), "detail", json_text(r->detail),
				"method", json_text(r->method), "platform", r->platform,
				"ends", r->ends, "planner", r->planner, "measured_s",
				r->measured_s, "time_s", json_known(r->time_s),
				"hosts_s", json_known(r->hosts_s), "error",
				json_known(error_of(r->time_s, r->measured_s)),
				"left_out", r->left_out, "line", (json_int_t)r->line));
	}
	all = json_pack("{s:s, s:o}", "schema", "shardsim/1", "refits", rows);
	s = json_dumps(all, JSON_INDENT(1) | JSON_REAL_PRECISION(15));
	fprintf(out, "%s\n", s);
	free(s);
	json_decref(all);
}
