#include "validate/refits.h"

#include "measure/clocks.h"
#include "move/move.h"
#include "move/read.h"
#include "planner/best/best.h"
#include "validate/sheet.h"

#include <math.h>
#include <string.h>

enum column {
	SET,
	SYSTEM,
	METHOD,
	DETAIL,
	SOURCE,
	MEASURED,
	LEFT_OUT,
	PLATFORM,
	MODEL,
	ARRAY,
	FROM,
	TO,
	DEVICES,
	TO_DEVICES,
	GATHER,
	PLANNER,
	CONCURRENT,
	BATCH,
	COLUMNS
};
static const char *const columns[COLUMNS] = {
	"set",      "system",     "method", "detail",  "source",     "measured_s",
	"left_out", "platform",   "model",  "array",   "from",       "to",
	"devices",  "to_devices", "gather", "planner", "concurrent", "batch",
};

bool refit_table_is(const char *path)
{
	return csv_names(path, "method", "left_out");
}

/* --- one row -------------------------------------------------------------------------- */

/* A row's workload on its machine. */
struct refit_run {
	const struct sheet *sheet;
	int64_t row;
	struct move_work work;
	struct clocks clocks;
	struct bench bench;
};

/* Returns one end of the row, from a column that says its mesh. */
static enum status read_end(struct scheme *out, struct refit_run *run, enum column mesh,
                            enum column devices)
{
	const struct sheet *s = run->sheet;

	*out = (struct scheme){.arena = s->arena,
	                       .text = sheet_field(s, run->row, mesh),
	                       .at = sheet_where(s, run->row, mesh)};
	if (!out->text)
		return error_set(s->error, E_SYNTAX, out->at, "%s is blank, expected %s",
		                 columns[mesh], "a mesh such as fsdp=8");
	if (devices < COLUMNS) {
		out->devices = sheet_field(s, run->row, devices);
		out->devices_at = sheet_where(s, run->row, devices);
	}
	return scheme_make(out, s->error);
}

/* Adds the row's model, or its array, from one end to the other. */
static enum status fill_work(struct move_work *w, struct move_sides *sides,
                             struct refit_run *run)
{
	const struct sheet *s = run->sheet;
	const char *model = sheet_path(s, run->row, MODEL, s->arena);
	const char *text = sheet_field(s, run->row, ARRAY);
	const struct problem_text none = {0};
	struct model_tensor tensor = {.name = "array"};
	struct array array = {0};

	*w = (struct move_work){.arena = s->arena, .any_memory = true};
	sides->given = true;
	if (model)
		return move_add_model(w, sides, model, s->error);
	if (!text)
		return error_set(s->error, E_SYNTAX, sheet_where(s, run->row, MODEL),
		                 "neither a model nor an array");
	if (array_parse(&array, text, sheet_where(s, run->row, ARRAY), s->error) != OK)
		return s->error->code;
	tensor.rank = array.shape.rank < TENSOR_RANK ? array.shape.rank : TENSOR_RANK;
	for (int i = 0; i < tensor.rank; i++)
		tensor.dim[i] = array.shape.dim[i];
	return move_add_tensor(w, sides, &tensor, array.dtype, &none,
	                       sheet_where(s, run->row, ARRAY), s->error);
}

static enum status read_refit_work(struct refit_run *run)
{
	const struct sheet *s = run->sheet;
	struct move_sides sides = {.given = true};
	const struct move_texts texts = {
		.concurrent = sheet_field(s, run->row, CONCURRENT),
		.batch = sheet_field(s, run->row, BATCH),
		.concurrent_at = sheet_where(s, run->row, CONCURRENT),
		.batch_at = sheet_where(s, run->row, BATCH),
	};

	if (read_end(&sides.from, run, FROM, DEVICES) != OK ||
	    read_end(&sides.to, run, TO, TO_DEVICES) != OK ||
	    fill_work(&run->work, &sides, run) != OK)
		return s->error->code;
	return move_settings(&run->work, &texts, s->error);
}

/* Finds how long it takes to gather everything on the mesh where it is before. */
static enum status gather_row(double *out, struct refit_run *run)
{
	const struct sheet *s = run->sheet;
	struct move_sides sides = {.given = true};
	struct move_work w;

	*out = 0;
	if (!sheet_field(s, run->row, GATHER))
		return OK;
	if (read_end(&sides.from, run, GATHER, COLUMNS) != OK ||
	    read_end(&sides.to, run, GATHER, COLUMNS) != OK ||
	    fill_work(&w, &sides, run) != OK)
		return s->error->code;
	return move_gather(out, &w, &run->bench, s->arena, s->error);
}

static const struct planner *row_planner(struct refit_run *run)
{
	const struct sheet *s = run->sheet;
	const char *name = sheet_field(s, run->row, PLANNER);
	const struct planner *planner =
		name ? planner_find(name, strlen(name)) : &planner_best;

	if (!planner)
		error_set(s->error, E_TYPE, sheet_where(s, run->row, PLANNER),
		          "unknown planner '%.40s'", name);
	return planner;
}

static enum status time_row(struct refit *out, struct refit_run *run)
{
	const struct sheet *s = run->sheet;
	struct move_how how = {.concurrent = 1};
	struct host_costs costs;
	struct move_result result;
	struct error none = {0};
	const struct planner *planner = row_planner(run);
	double gather_s;

	if (!planner || read_refit_work(run) != OK)
		return s->error->code;
	if (run->work.concurrent)
		how.concurrent = run->work.concurrent;
	how.batch_bytes = run->work.batch_bytes;
	if (host_costs_find(&costs, s->arena, out->platform, (struct where){0},
	                    &none) == OK)
		how.host = &costs;
	if (move_run(&result, &run->work, &how, planner, &run->bench, s->arena,
	             s->error) != OK)
		return s->error->code;
	if (result.status != OUTCOME_OK)
		return error_set(s->error, E_INFEASIBLE,
		                 sheet_where(s, run->row, PLATFORM), "%.200s",
		                 result.message);
	out->planner = planner->name;
	out->time_s = result.time_s[0];
	if (!(out->time_s > 0))
		return error_set(s->error, E_RANGE, sheet_where(s, run->row, TO),
		                 "nothing is sent: all of it is there");
	if (gather_row(&gather_s, run) != OK || !how.host)
		return s->error->code;
	out->hosts_s =
		out->time_s + result.host->call_s + result.host->pack_s + gather_s;
	return OK;
}

static enum status simulate_row(struct refit *out, const struct sheet *s, int64_t row)
{
	static const int model_clock_number = 0;
	struct refit_run run = {.sheet = s, .row = row};

	out->platform = sheet_field(s, row, PLATFORM);
	if (!out->platform)
		return error_set(s->error, E_SYNTAX, sheet_where(s, row, PLATFORM),
		                 "platform is blank, and so is left_out");
	out->ends = arena_printf(s->arena, "%s -> %s", sheet_text(s, row, FROM),
	                         sheet_text(s, row, TO));
	if (clocks_open(&run.clocks, s->arena, out->platform, NULL, 0,
	                &model_clock_number, 1, s->error) == OK) {
		bench_init(&run.bench, run.clocks.platform->machine);
		clocks_bench(&run.clocks, &run.bench, model_clock_number);
		time_row(out, &run);
		bench_free(&run.bench);
	}
	clocks_free(&run.clocks);
	return s->error->code;
}

static enum status read_row(struct refit *out, const struct sheet *s, int64_t row)
{
	*out = (struct refit){
		.set = sheet_text(s, row, SET),
		.system = sheet_text(s, row, SYSTEM),
		.method = sheet_text(s, row, METHOD),
		.detail = sheet_text(s, row, DETAIL),
		.source = sheet_text(s, row, SOURCE),
		.left_out = sheet_field(s, row, LEFT_OUT),
		.time_s = NAN,
		.hosts_s = NAN,
		.line = csv_where(&s->csv, row).line,
	};
	if (sheet_number(&out->measured_s, s, row, MEASURED) != OK)
		return s->error->code;
	return out->left_out ? OK : simulate_row(out, s, row);
}

enum status refit_table_read(struct refit_table *out, struct arena *a, const char *path,
                             struct error *e)
{
	struct sheet s;

	if (sheet_read(&s, a, path, columns, COLUMNS, COLUMNS, e) != OK)
		return e->code;
	out->n = s.csv.nrows;
	out->row = arena_alloc(a, (size_t)out->n + 1, sizeof(*out->row));
	for (int64_t i = 0; i < out->n; i++)
		if (read_row(&out->row[i], &s, i) != OK)
			return e->code;
	return OK;
}
