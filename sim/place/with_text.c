#include "measure/library.h"
#include "place/place.h"
#include "place/with.h"
#include "plan/plan_json.h"
#include "text/columns.h"
#include "text/words.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN = 3 };
static const char *const shown_names[SHOWN] = {"best", "row-major", "worst"};

static void shown_of(const struct work_placement *out[SHOWN],
                     const struct workload *workload)
{
	out[0] = workload->best;
	out[1] = workload->row_major;
	out[2] = workload->worst;
}

static const char *matrix_text(const struct work_placement *p, struct arena *a)
{
	struct text t = {0};

	if (!p->matrix)
		return "none";
	matrix_print(&t, p->matrix);
	return text_take(&t, a);
}

/* Returns how many times as fast as `then_s` the time `now_s` is, as text. */
static const char *speedup(double then_s, double now_s, struct arena *a)
{
	return now_s > 0 ? arena_printf(a, "%.2f", then_s / now_s) : "-";
}

static void totals_text(struct text *out, const struct place_output *o,
                        const struct workload *workload, struct arena *a)
{
	int columns = 3 + o->nclocks;
	const char *cell[3 + CLOCKS_MAX] = {"placement"};
	const struct work_placement *shown[SHOWN];
	struct columns t;

	shown_of(shown, workload);
	columns_start(&t, a, columns, 1);
	for (int k = 0; k < o->nclocks; k++)
		cell[1 + k] = arena_printf(a, "total (%s)", o->clock[k]);
	cell[columns - 2] = "speedup";
	cell[columns - 1] = "matrix";
	columns_row(&t, cell);
	for (int i = 0; i < SHOWN; i++) {
		cell[0] = shown_names[i];
		for (int k = 0; k < o->nclocks; k++)
			cell[1 + k] = words_time(a, shown[i]->clock_total_s[k]);
		cell[columns - 2] = speedup(workload->row_major->clock_total_s[0],
		                            shown[i]->clock_total_s[0], a);
		cell[columns - 1] = matrix_text(shown[i], a);
		columns_row(&t, cell);
	}
	columns_print(out, &t, 0);
	for (int i = 0; i < SHOWN; i++)
		if (*shown[i]->message &&
		    (!i || strcmp(shown[i]->message, shown[i - 1]->message) != 0))
			text_printf(out, "%s\n", shown[i]->message);
}

/*
 * Prints the time of each scenario by the first clock, and its plan in the best
 * placement.
 */
static void scenarios_text(struct text *out, const struct workload *workload,
                           struct arena *a)
{
	const char *cell[7] = {"scenario", "weight",  "best",       "row-major",
	                       "worst",    "speedup", "in the best"};
	const struct work_placement *shown[SHOWN];
	struct columns t;

	shown_of(shown, workload);
	columns_start(&t, a, 7, 1);
	columns_row(&t, cell);
	for (int i = 0; i < workload->nscenarios; i++) {
		const struct scenario *sc = workload->scenario[i];

		cell[0] = sc->name;
		cell[1] = arena_printf(a, "%g", sc->weight);
		for (int k = 0; k < SHOWN; k++)
			cell[2 + k] =
				words_time(a, sc->weight * shown[k]->time[i].time_s[0]);
		cell[5] = speedup(shown[1]->time[i].time_s[0],
		                  shown[0]->time[i].time_s[0], a);
		cell[6] = shown[0]->time[i].plan;
		columns_row(&t, cell);
	}
	columns_print(out, &t, 0);
}

void place_with_text(struct text *out, const struct place_output *o, struct arena *a)
{
	for (int i = 0; i < o->n; i++) {
		const struct workload *workload = &o->workload[i];

		text_printf(out, "%s%s of %s on %s%s", i ? "\n" : "", workload->family,
		            o->suite, o->platform, library_words(o->machine, a));
		if (workload->position)
			text_printf(out, ", %s", workload->position);
		text_printf(out, "; hierarchy ");
		hierarchy_print(out, &workload->hierarchy);
		text_printf(out, "; axes ");
		axes_print(out, &workload->mesh);
		text_printf(out, "; %lld placement%s\n\n",
		            (long long)workload->nplacements,
		            workload->nplacements == 1 ? "" : "s");
		totals_text(out, o, workload, a);
		text_printf(out, "\n");
		scenarios_text(out, workload, a);
	}
}

/* --- JSON ---------------------------------------------------------------------------- */

static json_t *placement_json(const struct place_output *o,
                              const struct workload *workload,
                              const struct work_placement *p)
{
	json_t *scenarios = json_array();

	for (int i = 0; i < workload->nscenarios; i++)
		json_array_append_new(
			scenarios,
			json_pack("{s:o, s:o, s:o, s:o}", "name",
		                  json_text(workload->scenario[i]->name), "weight",
		                  json_quantity(workload->scenario[i]->weight), "time_s",
		                  place_times_json(o->clock, o->nclocks,
		                                   p->time[i].time_s),
		                  "plan", json_text(p->time[i].plan)));
	return json_pack("{s:o, s:o, s:o, s:o}", "matrix",
	                 p->matrix ? place_matrix_json(p->matrix) : json_null(),
	                 "total_s",
	                 place_times_json(o->clock, o->nclocks, p->clock_total_s),
	                 "message", json_text(p->message), "scenarios", scenarios);
}

static json_t *workload_json(const struct place_output *o,
                             const struct workload *workload)
{
	json_t *all = json_array();

	for (int64_t i = 0; i < workload->nplacements; i++) {
		const struct work_placement *p = &workload->placement[i];

		json_array_append_new(all,
		                      json_pack("{s:o, s:{s:f}}", "matrix",
		                                p->matrix ? place_matrix_json(p->matrix)
		                                          : json_null(),
		                                "total_s", "model", p->total_s));
	}
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "family",
	                 json_text(workload->family), "hierarchy",
	                 place_levels_json(&workload->hierarchy), "axes",
	                 place_axes_json(&workload->mesh), "devices",
	                 place_seat_json(&workload->hierarchy), "best",
	                 placement_json(o, workload, workload->best), "row_major",
	                 placement_json(o, workload, workload->row_major), "worst",
	                 placement_json(o, workload, workload->worst), "placements",
	                 all);
}

void place_with_json(struct text *out, const struct place_output *o)
{
	json_t *workloads = json_array(), *all;
	char *s;

	for (int i = 0; i < o->n; i++)
		json_array_append_new(workloads, workload_json(o, &o->workload[i]));
	all = json_pack("{s:s, s:o, s:o, s:o, s:o}", "schema", "shardsim/1", "suite",
	                json_text(o->suite), "platform", json_text(o->platform),
	                "launch", library_json(o->machine), "workloads", workloads);
	s = json_dumps(all, JSON_REAL_PRECISION(17));
	text_printf(out, "%s\n", s);
	free(s);
	json_decref(all);
}
