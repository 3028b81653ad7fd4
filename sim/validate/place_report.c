#include "validate/place_report.h"

#include "plan/plan_json.h"
#include "text/csv.h"
#include "text/words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Returns the systems in order of appearance, then NULL, which is all of them. */
static const char **systems_of(int *n, const struct place_table *t, struct arena *a)
{
	const char **list = arena_alloc(a, (size_t)t->n + 1, sizeof(*list));

	*n = 0;
	for (int64_t i = 0; i < t->n; i++) {
		int k = 0;

		while (k < *n && strcmp(list[k], t->row[i].system) != 0)
			k++;
		if (k == *n)
			list[(*n)++] = t->row[i].system;
	}
	if (*n > 1)
		list[(*n)++] = NULL;
	return list;
}

static const char *number(struct arena *a, double x)
{
	return isnan(x) ? "-" : arena_printf(a, "%.3f", x);
}

static const char *pairs(struct arena *a, struct place_pairs p)
{
	return arena_printf(a, "%lld of %lld", (long long)p.inversions,
	                    (long long)p.pairs);
}

static void errors_table(const struct pen *pen, const struct place_table *t,
                         const char *const *system, int n)
{
	static const char *const head[] = {
		"system", "n",      "error",      "sim/measured", "tau",
		"inv.",   "n best", "error best", "tau best",     "inv. best",
	};
	struct arena *a = pen->arena;
	struct pen_table table = words_table(a, "Simulated against measured placements",
	                                     "lrrrrrrrrr", head, n);

	for (int i = 0; i < n; i++) {
		struct place_errors e = place_errors_of(t, system[i], a);
		const char **cell = words_row(&table);

		cell[0] = system[i] ? system[i] : "all";
		cell[1] = words_count(a, e.n);
		cell[2] = number(a, e.error);
		cell[3] = arena_printf(a, "%.3f-%.3f", e.least, e.most);
		cell[4] = number(a, e.tau);
		cell[5] = pairs(a, e.pairs);
		cell[6] = words_count(a, e.nbest);
		cell[7] = number(a, e.best_error);
		cell[8] = number(a, e.best_tau);
		cell[9] = pairs(a, e.best_pairs);
	}
	pen->table(pen, &table);
}

static void improvements_table(const struct pen *pen, const struct place_table *t,
                               const char *const *system, int n)
{
	static const char *const head[] = {"system", "n", "", "better", "mean", "most"};
	struct arena *a = pen->arena;
	struct pen_table table = words_table(a, "Programs against one all-reduce",
	                                     "lrlrrr", head, 2 * (size_t)n);

	for (int i = 0; i < 2 * n; i++) {
		const char *name = system[i / 2];
		struct place_errors e = place_errors_of(t, name, a);
		int k = i % 2;
		const char **cell = words_row(&table);

		cell[0] = name ? name : "all";
		cell[1] = words_count(a, e.improvable);
		cell[2] = k ? "simulated" : "measured";
		cell[3] = e.improvable ? words_percent(a, (double)e.improved[k] /
		                                                  (double)e.improvable)
		                       : "-";
		cell[4] = number(a, e.speedup[k]);
		cell[5] = e.improved[k] ? number(a, e.most_speedup[k]) : "-";
	}
	pen->table(pen, &table);
}

static void tops_table(const struct pen *pen, const struct place_table *t,
                       const char *const *system, int n)
{
	const char *head[2 + PLACE_TOPS] = {"system", "n"};
	struct arena *a = pen->arena;
	struct pen_table table;

	for (int k = 0; k < PLACE_TOPS; k++)
		head[2 + k] = arena_printf(a, "top %d", place_tops[k]);
	table = words_table(a, "Accuracy of the fastest program", "lrrrrrr", head,
	                    (size_t)n);
	for (int i = 0; i < n; i++) {
		struct place_errors e = place_errors_of(t, system[i], a);
		const char **cell = words_row(&table);

		cell[0] = system[i] ? system[i] : "all";
		cell[1] = words_count(a, e.named);
		for (int k = 0; k < PLACE_TOPS; k++)
			cell[2 + k] = e.named ? words_percent(a, (double)e.top[k] /
			                                                 (double)e.named)
			                      : "-";
	}
	pen->table(pen, &table);
}

void place_validate_words(const struct pen *pen, const struct place_table *t)
{
	int n;
	const char *const *system = (const char *const *)systems_of(&n, t, pen->arena);

	pen->heading(pen, 1, "Simulated against measured placements");
	pen->paragraph(
		pen,
		"An error is a factor, exp |log(simulated / measured)|, the mean "
		"geometric; tau is Kendall's over all rows; inversions are of pairs of "
		"matrices of one case whose simulated and measured times both differ. "
		"The best is the fastest program of a matrix.");
	errors_table(pen, t, system, n);
	pen->heading(pen, 2, "Programs against one all-reduce");
	improvements_table(pen, t, system, n);
	pen->heading(pen, 2, "Accuracy of the fastest program");
	pen->paragraph(pen, "Of the rows that name the program measured to be the "
	                    "fastest, those where it is among the k that are simulated "
	                    "to be.");
	tops_table(pen, t, system, n);
}

/* --- rows --- */

static void csv_number(FILE *out, double x)
{
	fprintf(out, isnan(x) ? "," : ",%.9g", x);
}

void place_validate_csv(FILE *out, const struct place_table *t)
{
	fprintf(out, "system,hierarchy,axes,reduce,matrix,algorithm,measured_s,time_s,"
	             "best_measured_s,best_s,programs,best_program,place\n");
	for (int64_t i = 0; i < t->n; i++) {
		const struct place_measured *m = &t->row[i];
		struct text matrix = {0};

		matrix_print(&matrix, &m->matrix);
		csv_put(out, m->system, true);
		csv_put(out, m->hierarchy, false);
		csv_put(out, m->axes, false);
		csv_put(out, m->reduce, false);
		csv_put(out, matrix.s, false);
		csv_put(out, m->algorithm, false);
		csv_number(out, m->runs * m->measured_s);
		csv_number(out, m->runs * m->time_s);
		csv_number(out, m->runs * m->best_measured_s);
		csv_number(out, m->runs * m->best_s);
		fprintf(out, ",%lld", (long long)m->programs);
		csv_put(out, m->best_program ? m->best_program : "", false);
		if (m->place)
			fprintf(out, ",%lld\n", (long long)m->place);
		else
			fprintf(out, ",\n");
		text_free(&matrix);
	}
}

static json_t *real(double x)
{
	return isnan(x) || isinf(x) ? json_null() : json_real(x);
}

static json_t *row_json(const struct place_measured *m)
{
	struct text matrix = {0};
	json_t *row;

	matrix_print(&matrix, &m->matrix);
	row = json_pack("{s:s, s:o, s:o, s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:I, s:s?, "
	                "s:o}",
	                "system", m->system, "hierarchy", json_text(m->hierarchy),
	                "axes", json_text(m->axes), "reduce", json_text(m->reduce),
	                "matrix", matrix.s, "algorithm", json_text(m->algorithm),
	                "measured_s", real(m->runs * m->measured_s), "time_s",
	                real(m->runs * m->time_s), "best_measured_s",
	                real(m->runs * m->best_measured_s), "best_s",
	                real(m->runs * m->best_s), "programs", (json_int_t)m->programs,
	                "best_program", m->best_program, "place",
	                m->place ? json_integer(m->place) : json_null());
	text_free(&matrix);
	return row;
}

static json_t *tops_json(const struct place_errors *e)
{
	json_t *tops = json_object();
	char k[16];

	for (int i = 0; i < PLACE_TOPS; i++) {
		snprintf(k, sizeof(k), "%d", place_tops[i]);
		json_object_set_new(
			tops, k,
			real(e->named ? (double)e->top[i] / (double)e->named : NAN));
	}
	return tops;
}

static json_t *pairs_json(struct place_pairs p)
{
	return json_pack("{s:I, s:I}", "pairs", (json_int_t)p.pairs, "inversions",
	                 (json_int_t)p.inversions);
}

static json_t *system_json(const char *name, const struct place_errors *e)
{
	return json_pack("{s:s?, s:I, s:o, s:o, s:o, s:I, s:o, s:o, s:o, s:I, s:o}",
	                 "system", name, "n", (json_int_t)e->n, "error", real(e->error),
	                 "tau", real(e->tau), "order", pairs_json(e->pairs), "best_n",
	                 (json_int_t)e->nbest, "best_error", real(e->best_error),
	                 "best_tau", real(e->best_tau), "best_order",
	                 pairs_json(e->best_pairs), "named", (json_int_t)e->named,
	                 "top", tops_json(e));
}

void place_validate_json(FILE *out, const struct place_table *t)
{
	struct arena *a = arena_new();
	json_t *rows = json_array(), *systems = json_array(), *all;
	int n;
	const char **system = systems_of(&n, t, a);
	char *s;

	for (int i = 0; i < n; i++) {
		struct place_errors e = place_errors_of(t, system[i], a);

		json_array_append_new(systems, system_json(system[i], &e));
	}
	for (int64_t i = 0; i < t->n; i++)
		json_array_append_new(rows, row_json(&t->row[i]));
	all = json_pack("{s:s, s:o, s:o}", "schema", "shardsim/1", "systems", systems,
	                "rows", rows);
	s = json_dumps(all, JSON_INDENT(1) | JSON_REAL_PRECISION(15));
	fprintf(out, "%s\n", s);
	free(s);
	json_decref(all);
	arena_free(a);
}
