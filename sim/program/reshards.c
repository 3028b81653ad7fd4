#include "program/reshards.h"

#include "base/units.h"
#include "cost/model.h"
#include "notation/notation.h"
#include "plan/plan_json.h"
#include "planner/advise/advise.h"
#include "price/price.h"
#include "program/rows.h"
#include "text/columns.h"
#include "text/words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* How many are advised on, and what they lose at least. */
enum { ADVISED_MOST = 3 };
static const double ADVISED_LOSS = 1.05;

struct pricing {
	const struct reshard_ask *ask;
	struct arena *a;
	struct placement place;
	struct model *model;
	struct pricer *pricer;
	struct prices prices;
};

/* --- seconds --- */

static double seconds_of(const struct pricing *p, const struct plan *plan)
{
	char message[256];
	double s = plan_seconds(NULL, plan, p->ask->machine, &p->place, model_clock,
	                        p->model, message, sizeof(message));

	return s >= 0 ? s : NAN;
}

static double best_of(struct pricing *p, const struct problem *problem)
{
	struct plan *plan;
	struct text why = {0};
	bool good = planner_run(planner_find("best", 4), &plan, problem, &p->prices,
	                        p->a, &why) == ANSWER_PLAN;

	text_free(&why);
	return good ? seconds_of(p, plan) : NAN;
}

/* One that was priced with the same plan, NULL: there is none. */
static const struct reshard_cost *same_plan(const struct reshard_costs *costs,
                                            const struct plan *plan)
{
	for (int64_t i = 0; i < costs->row.n; i++)
		if (costs->row.at[i].is->plan == plan)
			return &costs->row.at[i];
	return NULL;
}

static bool sends(const struct plan *plan)
{
	for (int i = 0; i < plan->nsteps; i++)
		if (op_communicates(plan->step[i].op))
			return true;
	return false;
}

static int by_time(const void *a, const void *b)
{
	const struct reshard_cost *x = a, *y = b;
	double s = x->count *
	           (isnan(x->time_s) ? (double)x->is->plan->recv_bytes : x->time_s);
	double t = y->count *
	           (isnan(y->time_s) ? (double)y->is->plan->recv_bytes : y->time_s);

	if (s != t)
		return (s < t) - (s > t);
	return (x->is > y->is) - (x->is < y->is);
}

/* --- layouts on the way --- */

static const char *layout_text(struct arena *a, const struct layout *l,
                               const struct mesh *m, const struct shape *shape)
{
	struct text out = {0};

	layout_print(&out, l, m, shape);
	return text_take(&out, a);
}

static void advise_on(struct reshard_cost *row, struct pricing *p)
{
	const struct problem *problem = row->is->plan->problem;
	const struct plan *none = NULL;
	const struct advise_ask ask = {.problem = problem,
	                               .compiler = p->ask->planner,
	                               .prices = &p->prices,
	                               .guide = &none};
	const struct advised_chain *chain;
	struct advice advice;
	struct text out = {0};

	advise(&advice, &ask, p->a);
	if (!advice.nchains)
		return;
	chain = &advice.chain[advice.nchains - 1];
	if (chain->nhops < 2 || !(chain->price.cost * ADVISED_LOSS < row->time_s))
		return;
	for (int i = 0; i + 1 < chain->nhops; i++)
		text_printf(&out, "%s%s", i ? ", " : "",
		            layout_text(p->a, &chain->hop[i].problem->to, p->ask->mesh,
		                        &problem->array.shape));
	row->by = text_take(&out, p->a);
	row->by_s = chain->price.cost;
}

/* The dearest that lose something; equal plans are advised on once. */
static void advise_dearest(struct reshard_costs *out, struct pricing *p)
{
	int asked = 0;

	for (int64_t i = 0; i < out->row.n && asked < ADVISED_MOST; i++) {
		struct reshard_cost *row = &out->row.at[i];
		bool seen = false;

		for (int64_t k = 0; k < i && !seen; k++)
			seen = out->row.at[k].is->plan == row->is->plan;
		if (seen || row->is->from.nunreduced ||
		    !(row->time_s > ADVISED_LOSS * row->best_s))
			continue;
		advise_on(row, p);
		asked++;
	}
}

/* --- all of them --- */

static void add_row(struct reshard_costs *out, struct pricing *p,
                    const struct reshard *r)
{
	const struct reshard_cost *known = same_plan(out, r->plan);
	struct reshard_cost row = {r, r->count, NAN, NAN, NULL, 0};

	if (known) {
		row.time_s = known->time_s;
		row.best_s = known->best_s;
	} else if (p->model) {
		row.time_s = seconds_of(p, r->plan);
		if (p->ask->best)
			row.best_s = best_of(p, r->plan->problem);
	}
	*list_add(&out->row, p->a) = row;
}

void reshards_price(struct reshard_costs *out, struct arena *a,
                    const struct reshard_ask *ask)
{
	struct pricing p = {.ask = ask, .a = a};

	*out = (struct reshard_costs){.annotated = ask->annotated, .mesh = ask->mesh};
	if (ask->machine) {
		p.place = (struct placement){ask->mesh->ndevices, ask->devices};
		p.model = model_new(ask->machine);
		p.pricer = pricer_new(ask->machine, &p.place);
		p.prices = pricer_prices(p.pricer);
	}
	for (int64_t i = 0; i < ask->n; i++) {
		const struct reshard *r = &ask->reshard[i];

		if (!r->live)
			continue;
		out->full_rematerializations += r->full_remat;
		if (sends(r->plan))
			add_row(out, &p, r);
	}
	if (out->row.n)
		qsort(out->row.at, (size_t)out->row.n, sizeof(*out->row.at), by_time);
	if (ask->machine && ask->best && ask->advise)
		advise_dearest(out, &p);
	if (ask->machine) {
		pricer_free(p.pricer);
		model_free(p.model);
	}
}

/* --- printing --- */

/* Where the op stands: as the program's author has it, if it is said. */
static const char *place_of(struct arena *a, const struct program *p,
                            const struct instruction *op)
{
	if (op->source_file.length)
		return arena_printf(a, "%.*s:%d", (int)op->source_file.length,
		                    op->source_file.at, (int)op->source_line);
	return arena_printf(a, "%s:%d", p->file, (int)op->line);
}

static const char *name_of(struct arena *a, const struct program *p,
                           const struct instruction *op)
{
	struct span s = op_source_name(p, op);

	if (!s.length)
		s = op->name;
	return arena_strndup(a, s.length ? s.at : "", (size_t)s.length);
}

static void print_row(struct columns *t, struct arena *a,
                      const struct reshard_costs *costs, const struct reshard_cost *row)
{
	const struct reshard *r = row->is;
	const struct instruction *op = &costs->annotated->op.at[r->op];
	struct text array = {0}, received = {0};

	array_print(&array, &r->array);
	units_print_bytes(&received, (double)r->plan->recv_bytes);
	const char *cells[] = {
		arena_printf(a, "%.10g", row->count),
		words_time(a, row->time_s),
		words_time(a, row->best_s),
		text_take(&received, a),
		text_take(&array, a),
		layout_text(a, &r->from, costs->mesh, &r->array.shape),
		layout_text(a, &r->to, costs->mesh, &r->array.shape),
		r->full_remat ? "whole" : "",
		name_of(a, costs->annotated, op),
		place_of(a, costs->annotated, op),
	};

	columns_row(t, cells);
}

void program_show_reshards(struct text *out, struct arena *a,
                           const struct reshard_costs *costs, int64_t most)
{
	static const char *const head[] = {"count", "each", "best", "received",
	                                   "array", "from", "to",   "",
	                                   "what",  "where"};
	struct columns t;
	int64_t n = costs->row.n;

	text_printf(out, "%lld change%s of layout, %lld full rematerialization%s\n",
	            (long long)n, n == 1 ? "" : "s",
	            (long long)costs->full_rematerializations,
	            costs->full_rematerializations == 1 ? "" : "s");
	if (!n)
		return;
	columns_start(&t, a, 10, 10);
	columns_row(&t, head);
	for (int64_t i = 0; i < n && i < most; i++)
		print_row(&t, a, costs, &costs->row.at[i]);
	columns_print(out, &t, 2);
	if (n > most)
		text_printf(out, "  and %lld more\n", (long long)(n - most));
	for (int64_t i = 0; i < n; i++) {
		const struct reshard_cost *row = &costs->row.at[i];

		if (row->by)
			text_printf(out, "  %s: by way of %s it takes %s, not %s\n",
			            name_of(a, costs->annotated,
			                    &costs->annotated->op.at[row->is->op]),
			            row->by, words_time(a, row->by_s),
			            words_time(a, row->time_s));
	}
}

static json_t *real(double x)
{
	return isnan(x) ? json_null() : json_real(x);
}

json_t *reshards_json(const struct reshard_costs *costs, struct arena *a)
{
	json_t *all = json_array();

	for (int64_t i = 0; costs && i < costs->row.n; i++) {
		const struct reshard_cost *row = &costs->row.at[i];
		const struct reshard *r = row->is;
		const struct instruction *op = &costs->annotated->op.at[r->op];
		struct text array = {0};

		array_print(&array, &r->array);
		json_array_append_new(
			all,
			json_pack("{s:o,s:o,s:s,s:s,s:s,s:s,s:I,s:o,s:o,s:o,s:b}",
		                  "op_name", json_text(name_of(a, costs->annotated, op)),
		                  "place", json_text(place_of(a, costs->annotated, op)),
		                  "array", text_take(&array, a), "from",
		                  layout_text(a, &r->from, costs->mesh, &r->array.shape),
		                  "to",
		                  layout_text(a, &r->to, costs->mesh, &r->array.shape),
		                  "planner", r->plan->planner, "bytes",
		                  (json_int_t)r->plan->recv_bytes, "count",
		                  json_real(row->count), "time_s", real(row->time_s),
		                  "best_s", real(row->best_s), "full_rematerialization",
		                  (int)r->full_remat));
	}
	return all;
}
