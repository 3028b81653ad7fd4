#include "validate/refits.h"

#include "base/input.h"
#include "measure/clocks.h"
#include "move/move.h"
#include "move/read.h"
#include "planner/best/best.h"
#include "text/csv.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
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

struct table_reader {
	struct arena *arena;
	struct csv csv;
	int column[COLUMNS];
	struct error *error;
};

bool refit_table_is(const char *path)
{
	return csv_names(path, "method", "left_out");
}

/* Returns a field; NULL where it is blank. */
static const char *field(const struct table_reader *r, int64_t row, enum column k)
{
	const char *text = csv_field(&r->csv, row, r->column[k]);

	return *text ? text : NULL;
}

static struct where where_of(const struct table_reader *r, int64_t row, enum column k)
{
	return csv_where_field(&r->csv, row, r->column[k]);
}

/* --- one row -------------------------------------------------------------------------- */

/* A row's workload on its machine. */
struct refit_run {
	struct table_reader *reader;
	int64_t row;
	struct move_work work;
	struct clocks clocks;
	struct bench bench;
};

/* Returns one end of the row, from a column that says its mesh. */
static enum status read_end(struct scheme *out, struct refit_run *run, enum column mesh,
                            enum column devices)
{
	struct table_reader *r = run->reader;

	*out = (struct scheme){.arena = r->arena,
	                       .text = field(r, run->row, mesh),
	                       .at = where_of(r, run->row, mesh)};
	if (!out->text)
		return error_set(r->error, E_SYNTAX, out->at, "%s is blank, expected %s",
		                 columns[mesh], "a mesh such as fsdp=8");
	if (devices < COLUMNS) {
		out->devices = field(r, run->row, devices);
		out->devices_at = where_of(r, run->row, devices);
	}
	return scheme_make(out, r->error);
}

/* Adds the row's model, or its array, from one end to the other. */
static enum status fill_work(struct move_work *w, struct move_sides *sides,
                             struct refit_run *run)
{
	struct table_reader *r = run->reader;
	const char *model = field(r, run->row, MODEL), *text = field(r, run->row, ARRAY);
	const char *slash = strrchr(r->csv.path, '/');
	const struct problem_text none = {0};
	struct model_tensor t = {.name = "array"};
	struct array array = {0};

	*w = (struct move_work){.arena = r->arena, .any_memory = true};
	sides->given = true;
	if (model && *model != '/' && slash)
		model = arena_printf(r->arena, "%.*s/%s", (int)(slash - r->csv.path),
		                     r->csv.path, model);
	if (model)
		return move_add_model(w, sides, model, r->error);
	if (!text)
		return error_set(r->error, E_SYNTAX, where_of(r, run->row, MODEL),
		                 "neither a model nor an array");
	if (array_parse(&array, text, where_of(r, run->row, ARRAY), r->error) != OK)
		return r->error->code;
	t.rank = array.shape.rank < TENSOR_RANK ? array.shape.rank : TENSOR_RANK;
	for (int i = 0; i < t.rank; i++)
		t.dim[i] = array.shape.dim[i];
	return move_add_tensor(w, sides, &t, array.dtype, &none,
	                       where_of(r, run->row, ARRAY), r->error);
}

static enum status read_refit_work(struct refit_run *run)
{
	struct table_reader *r = run->reader;
	struct move_sides sides = {.given = true};
	const struct move_texts texts = {
		.concurrent = field(r, run->row, CONCURRENT),
		.batch = field(r, run->row, BATCH),
		.concurrent_at = where_of(r, run->row, CONCURRENT),
		.batch_at = where_of(r, run->row, BATCH),
	};

	if (read_end(&sides.from, run, FROM, DEVICES) != OK ||
	    read_end(&sides.to, run, TO, TO_DEVICES) != OK ||
	    fill_work(&run->work, &sides, run) != OK)
		return r->error->code;
	return move_settings(&run->work, &texts, r->error);
}

/* Finds how long it takes to gather everything on the mesh where it is before. */
static enum status gather_row(double *out, struct refit_run *run)
{
	struct table_reader *r = run->reader;
	struct move_sides sides = {.given = true};
	struct move_work w;

	*out = 0;
	if (!field(r, run->row, GATHER))
		return OK;
	if (read_end(&sides.from, run, GATHER, COLUMNS) != OK ||
	    read_end(&sides.to, run, GATHER, COLUMNS) != OK ||
	    fill_work(&w, &sides, run) != OK)
		return r->error->code;
	return move_gather(out, &w, &run->bench, r->arena, r->error);
}

static const struct planner *row_planner(struct refit_run *run)
{
	struct table_reader *r = run->reader;
	const char *name = field(r, run->row, PLANNER);
	const struct planner *planner =
		name ? planner_find(name, strlen(name)) : &planner_best;

	if (!planner)
		error_set(r->error, E_TYPE, where_of(r, run->row, PLANNER),
		          "unknown planner '%.40s'", name);
	return planner;
}

static enum status time_row(struct refit *out, struct refit_run *run)
{
	struct table_reader *r = run->reader;
	struct move_how how = {.concurrent = 1};
	struct host_costs costs;
	struct move_result result;
	struct error none = {0};
	const struct planner *planner = row_planner(run);
	double gather_s;

	if (!planner || read_refit_work(run) != OK)
		return r->error->code;
	if (run->work.concurrent)
		how.concurrent = run->work.concurrent;
	how.batch_bytes = run->work.batch_bytes;
	if (host_costs_find(&costs, r->arena, out->platform, (struct where){0},
	                    &none) == OK)
		how.host = &costs;
	if (move_run(&result, &run->work, &how, planner, &run->bench, r->arena,
	             r->error) != OK)
		return r->error->code;
	if (result.status != OUTCOME_OK)
		return error_set(r->error, E_INFEASIBLE, where_of(r, run->row, PLATFORM),
		                 "%.200s", result.message);
	out->planner = planner->name;
	out->time_s = result.time_s[0];
	if (!(out->time_s > 0))
		return error_set(r->error, E_RANGE, where_of(r, run->row, TO),
		                 "nothing is sent: all of it is there");
	if (gather_row(&gather_s, run) != OK || !how.host)
		return r->error->code;
	out->hosts_s =
		out->time_s + result.host->call_s + result.host->pack_s + gather_s;
	return OK;
}

static enum status simulate_row(struct refit *out, struct table_reader *r, int64_t row)
{
	static const int model_clock_number = 0;
	struct refit_run run = {.reader = r, .row = row};

	out->platform = field(r, row, PLATFORM);
	if (!out->platform)
		return error_set(r->error, E_SYNTAX, where_of(r, row, PLATFORM),
		                 "platform is blank, and so is left_out");
	out->ends = arena_printf(r->arena, "%s -> %s",
	                         csv_field(&r->csv, row, r->column[FROM]),
	                         csv_field(&r->csv, row, r->column[TO]));
	if (clocks_open(&run.clocks, r->arena, out->platform, NULL, 0,
	                &model_clock_number, 1, r->error) == OK) {
		bench_init(&run.bench, run.clocks.platform->machine);
		clocks_bench(&run.clocks, &run.bench, model_clock_number);
		time_row(out, &run);
		bench_free(&run.bench);
	}
	clocks_free(&run.clocks);
	return r->error->code;
}

static enum status read_row(struct refit *out, struct table_reader *r, int64_t row)
{
	const char *measured = csv_field(&r->csv, row, r->column[MEASURED]);
	char *end;

	*out = (struct refit){
		.set = csv_field(&r->csv, row, r->column[SET]),
		.system = csv_field(&r->csv, row, r->column[SYSTEM]),
		.method = csv_field(&r->csv, row, r->column[METHOD]),
		.detail = csv_field(&r->csv, row, r->column[DETAIL]),
		.source = csv_field(&r->csv, row, r->column[SOURCE]),
		.left_out = field(r, row, LEFT_OUT),
		.measured_s = strtod(measured, &end),
		.time_s = NAN,
		.hosts_s = NAN,
		.line = csv_where(&r->csv, row).line,
	};
	if (*end || !isdigit((unsigned char)*measured) || strpbrk(measured, "xX") ||
	    !(out->measured_s > 0) || isinf(out->measured_s))
		return error_set(r->error, E_SYNTAX, where_of(r, row, MEASURED),
		                 "measured_s is '%.40s', expected a number above 0",
		                 measured);
	return out->left_out ? OK : simulate_row(out, r, row);
}

enum status refit_table_read(struct refit_table *out, struct arena *a, const char *path,
                             struct error *e)
{
	struct table_reader r = {.arena = a, .error = e};
	const char *text = input_text(a, path, e);

	if (!text || csv_read(&r.csv, a, path, text, e) != OK ||
	    csv_columns(r.column, &r.csv, columns, COLUMNS, COLUMNS, e) != OK)
		return e->code;
	out->n = r.csv.nrows;
	out->row = arena_alloc(a, (size_t)out->n + 1, sizeof(*out->row));
	for (int64_t i = 0; i < out->n; i++)
		if (read_row(&out->row[i], &r, i) != OK)
			return e->code;
	return OK;
}
