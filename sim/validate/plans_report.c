#include "validate/plans.h"

#include "plan/plan_json.h"
#include "text/csv.h"
#include "text/words.h"

#include <math.h>
#include <stdlib.h>

static double error_of(const struct plan_timing *r)
{
	return r->left_out ? NAN : exp(fabs(log(r->time_s / r->measured_s)));
}

void plan_timings_words(const struct pen *pen, const struct plan_timings *t)
{
	static const char *const head[] = {"array",     "mesh",     "from",
	                                   "to",        "planner",  "ranks",
	                                   "simulated", "measured", "error"};
	struct arena *a = pen->arena;
	struct pen_table table =
		words_table(a, "Simulated against measured redistributions",
	                    "lllllrrrr", head, (size_t)t->n);
	double sum = 0;
	size_t n = 0;

	for (int64_t i = 0; i < t->n; i++) {
		const struct plan_timing *r = &t->row[i];
		const char **cell = words_row(&table);

		cell[0] = r->problem.array;
		cell[1] = r->problem.to_mesh
		                  ? arena_printf(a, "%s to %s", r->problem.mesh,
		                                 r->problem.to_mesh)
		                  : r->problem.mesh;
		cell[2] = r->problem.from;
		cell[3] = r->problem.to;
		cell[4] = r->planner;
		cell[5] = words_count(a, (size_t)r->ranks);
		cell[6] = r->left_out ? r->left_out : words_time(a, r->time_s);
		cell[7] = words_time(a, r->measured_s);
		cell[8] = words_ratio(a, error_of(r));
		sum += r->left_out ? 0 : log(error_of(r));
		n += !r->left_out;
	}
	pen->heading(pen, 1, "Simulated against measured redistributions");
	pen->paragraph(
		pen, arena_printf(a,
	                          "%zu of %lld plans on %s. An error is a factor, "
	                          "exp |log(simulated / measured)|; the geometric mean "
	                          "is %s.",
	                          n, (long long)t->n, t->platform,
	                          words_ratio(a, n ? exp(sum / (double)n) : NAN)));
	pen->table(pen, &table);
}

void plan_timings_csv(FILE *out, const struct plan_timings *t)
{
	fprintf(out, "array,mesh,to_mesh,from,to,planner,ranks,measured_s,time_s,error,"
	             "left_out\n");
	for (int64_t i = 0; i < t->n; i++) {
		const struct plan_timing *r = &t->row[i];

		csv_put(out, r->problem.array, true);
		csv_put(out, r->problem.mesh ? r->problem.mesh : "", false);
		csv_put(out, r->problem.to_mesh ? r->problem.to_mesh : "", false);
		csv_put(out, r->problem.from, false);
		csv_put(out, r->problem.to, false);
		csv_put(out, r->planner, false);
		fprintf(out, ",%d,%.9g", (int)r->ranks, r->measured_s);
		if (r->left_out)
			fprintf(out, ",,");
		else
			fprintf(out, ",%.9g,%.9g", r->time_s, error_of(r));
		csv_put(out, r->left_out ? r->left_out : "", false);
		putc('\n', out);
	}
}

static json_t *row_json(const struct plan_timing *r)
{
	return json_pack("{s:o,s:s?,s:s?,s:o,s:o,s:o,s:i,s:f,s:o,s:o,s:s?,s:i}", "array",
	                 json_text(r->problem.array), "mesh", r->problem.mesh, "to_mesh",
	                 r->problem.to_mesh, "from", json_text(r->problem.from), "to",
	                 json_text(r->problem.to), "planner", json_text(r->planner),
	                 "devices", (int)r->ranks, "measured_s", r->measured_s,
	                 "time_s", json_known(r->left_out ? NAN : r->time_s), "error",
	                 json_known(error_of(r)), "left_out", r->left_out, "line",
	                 (int)r->at.line);
}

void plan_timings_json(FILE *out, const struct plan_timings *t)
{
	json_t *rows = json_array(), *all;
	char *s;

	for (int64_t i = 0; i < t->n; i++)
		json_array_append_new(rows, row_json(&t->row[i]));
	all = json_pack("{s:s,s:o,s:o}", "schema", "shardsim/1", "platform",
	                json_text(t->platform), "rows", rows);
	s = json_dumps(all, JSON_INDENT(1) | JSON_REAL_PRECISION(15));
	fputs(s, out);
	fputc('\n', out);
	free(s);
	json_decref(all);
}
