#include "bound/bound.h"
#include "tests/tests.h"

#include "array/tile.h"
#include "base/list.h"
#include "bound_machine.h"
#include "flow/forest.h"
#include "plan_random.h"
#include "planner_case.h"
#include "price/price.h"

#include <check.h>
#include <glpk.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

/*
 * Bounds against the best that flows of data can do, by a linear program (GLPK): every
 * datum flows from its holders to each device that wants it, flows of one datum to
 * several devices share links, and the busiest link is to be least busy. No plan can do
 * better (cuts of Ahlswede, Cai, Li and Yeung, IEEE Trans. Inf. Theory 2000), and every
 * cut says less.
 */

static struct arena *arena;

static void setup(void)
{
	arena = arena_new();
}

static void teardown(void)
{
	arena_free(arena);
}

/* --- the program ------------------------------------------------------------------ */

/* What the same devices hold and the same devices want: bit d is device d. */
struct kind {
	uint32_t holders, wanters;
	double bytes;
};

/* A message between two devices, and the links of its route. */
struct edge {
	int32_t src, dst;
	int n, link[2];
};

struct program {
	const struct machine *machine;
	int32_t n;
	LIST(struct kind) data;
	LIST(struct edge) edges;
	glp_prob *lp;
	int *row, *column; /* of the entries, from 1 */
	double *value;
	int entries, room;
};

static void add_datum(struct program *x, uint32_t holders, uint32_t wanters,
                      double bytes)
{
	wanters &= ~holders;
	if (!wanters)
		return;
	for (int64_t i = 0; i < x->data.n; i++) {
		struct kind *d = &x->data.at[i];

		if (d->holders != holders || d->wanters != wanters)
			continue;
		d->bytes += bytes;
		return;
	}
	*list_add(&x->data, NULL) = (struct kind){holders, wanters, bytes};
}

/* Cuts a dimension at all tiles of both layouts; returns the number of pieces. */
static int cut_dimension(int64_t *at, const struct problem *p, int dim)
{
	int64_t extent = p->array.shape.dim[dim];
	int64_t from = extent / layout_shards(&p->from, dim);
	int64_t to = extent / layout_shards(&p->to, dim);
	int n = 0;

	for (int64_t i = 0; i < extent; i++)
		if (i % from == 0 || i % to == 0)
			at[n++] = i;
	at[n] = extent;
	return n;
}

/* Returns the devices whose tile of a layout holds an element. */
static uint32_t holders_of(const struct tilemap *t, const struct shape *shape,
                           const int64_t *element, int32_t n)
{
	uint32_t out = 0;

	for (int32_t d = 0; d < n; d++) {
		bool holds = tilemap_has(t, d);

		for (int i = 0; i < shape->rank; i++) {
			int64_t lo, hi;

			tilemap_interval(t, shape, d, i, &lo, &hi);
			holds = holds && element[i] >= lo && element[i] < hi;
		}
		out |= holds ? UINT32_C(1) << d : 0;
	}
	return out;
}

/*
 * Of a sum the data are those of the problem turned around: where all that contribute come
 * together on one device, the same flows backwards lead from it to all of them, and links are
 * as fast either way.
 */
static void list_data(struct program *x, const struct problem *p)
{
	const struct shape *shape = &p->array.shape;
	struct tilemap from = tilemap_make(&p->from, &p->mesh, shape, arena);
	struct tilemap to = tilemap_make(&p->to, &p->to_mesh, shape, arena);
	int64_t *at[RANK_MAX], element[RANK_MAX];
	int pieces[RANK_MAX], all = 1;

	for (int i = 0; i < shape->rank; i++) {
		at[i] = arena_alloc(arena, (size_t)shape->dim[i] + 1, sizeof(int64_t));
		pieces[i] = cut_dimension(at[i], p, i);
		all *= pieces[i];
	}
	for (int k = 0; k < all; k++) {
		double bytes = p->array.dtype->bits / 8.;

		for (int i = 0, rest = k; i < shape->rank; i++) {
			element[i] = at[i][rest % pieces[i]];
			bytes *= (double)(at[i][rest % pieces[i] + 1] - element[i]);
			rest /= pieces[i];
		}
		if (p->from.nunreduced > 0)
			add_datum(x, holders_of(&to, shape, element, x->n),
			          holders_of(&from, shape, element, x->n), bytes);
		else
			add_datum(x, holders_of(&from, shape, element, x->n),
			          holders_of(&to, shape, element, x->n), bytes);
	}
}

/* Lists the messages of one link on a torus, or between any two devices elsewhere. */
static void list_edges(struct program *x)
{
	for (int32_t s = 0; s < x->n; s++)
		for (int32_t d = 0; d < x->n; d++) {
			struct edge e = {s, d, 0, {0, 0}};
			int fabric = machine_fabric(x->machine, s, d);

			if (s == d)
				continue;
			ck_assert_int_ge(fabric, 0);
			e.n = machine_hops(x->machine, fabric, s, d);
			if (e.n > 1 &&
			    x->machine->fabric[fabric].geometry == GEOMETRY_TORUS)
				continue;
			e.n = machine_route(x->machine, fabric, s, d, e.link, 2);
			*list_add(&x->edges, NULL) = e;
		}
}

static void entry(struct program *x, int row, int column, double value)
{
	if (x->entries + 1 >= x->room) {
		x->room = 2 * x->room + 1024;
		x->row = xrealloc(x->row, (size_t)x->room, sizeof(int));
		x->column = xrealloc(x->column, (size_t)x->room, sizeof(int));
		x->value = xrealloc(x->value, (size_t)x->room, sizeof(double));
	}
	x->entries++;
	x->row[x->entries] = row;
	x->column[x->entries] = column;
	x->value[x->entries] = value;
}

static int add_column(struct program *x)
{
	int column = glp_add_cols(x->lp, 1);

	glp_set_col_bnds(x->lp, column, GLP_LO, 0, 0);
	return column;
}

/*
 * Adds a flow of `demand[d]` bytes to each device d out of the holders: what comes into
 * a device less what leaves it is at least what it wants. Returns its first column, one
 * for each edge.
 */
static int add_flow(struct program *x, uint32_t holders, const double *demand)
{
	int first = glp_get_num_cols(x->lp) + 1;

	for (int64_t e = 0; e < x->edges.n; e++)
		add_column(x);
	for (int32_t d = 0; d < x->n; d++) {
		int row;

		if (holders >> d & 1)
			continue;
		row = glp_add_rows(x->lp, 1);
		glp_set_row_bnds(x->lp, row, GLP_LO, demand[d], 0);
		for (int64_t e = 0; e < x->edges.n; e++) {
			if (x->edges.at[e].dst == d)
				entry(x, row, first + (int)e, 1);
			if (x->edges.at[e].src == d)
				entry(x, row, first + (int)e, -1);
		}
	}
	return first;
}

/* Puts what the columns from `first` on say of each edge on the edge's links. */
static void load_links(struct program *x, int first)
{
	for (int64_t e = 0; e < x->edges.n; e++)
		for (int i = 0; i < x->edges.at[e].n; i++)
			entry(x, 1 + x->edges.at[e].link[i], first + (int)e, 1);
}

/* Adds flows of one datum to several devices, which share what an edge carries. */
static void add_shared(struct program *x, const struct kind *d)
{
	int shared = glp_get_num_cols(x->lp) + 1;

	for (int64_t e = 0; e < x->edges.n; e++)
		add_column(x);
	load_links(x, shared);
	for (int32_t w = 0; w < x->n; w++) {
		double demand[32] = {0};
		int first;

		if (!(d->wanters >> w & 1))
			continue;
		demand[w] = d->bytes;
		first = add_flow(x, d->holders, demand);
		for (int64_t e = 0; e < x->edges.n; e++) {
			int row = glp_add_rows(x->lp, 1);

			glp_set_row_bnds(x->lp, row, GLP_LO, 0, 0);
			entry(x, row, shared + (int)e, 1);
			entry(x, row, first + (int)e, -1);
		}
	}
}

/* Adds the flows of all data that one device each wants from the same holders. */
static void add_single(struct program *x, uint32_t holders)
{
	double demand[32] = {0};
	bool any = false;

	for (int64_t i = 0; i < x->data.n; i++) {
		const struct kind *d = &x->data.at[i];
		bool single = !(d->wanters & (d->wanters - 1));

		if (d->holders != holders || !single)
			continue;
		any = true;
		for (int32_t w = 0; w < x->n; w++)
			demand[w] += d->wanters >> w & 1 ? d->bytes : 0;
	}
	if (any)
		load_links(x, add_flow(x, holders, demand));
}

static bool first_of_holders(const struct program *x, int64_t i)
{
	for (int64_t k = 0; k < i; k++)
		if (x->data.at[k].holders == x->data.at[i].holders)
			return false;
	return true;
}

/* Returns the seconds of the busiest link at best. */
static double flow_s(const struct problem *p, const struct machine *m)
{
	struct program x = {.machine = m, .n = p->ndevices, .lp = glp_create_prob()};
	glp_smcp how;
	double out;

	glp_term_out(GLP_OFF);
	glp_init_smcp(&how);
	how.presolve = GLP_ON;
	list_data(&x, p);
	list_edges(&x);
	glp_set_obj_dir(x.lp, GLP_MIN);
	glp_add_rows(x.lp, m->nlinks);
	glp_set_obj_coef(x.lp, add_column(&x), 1);
	for (int32_t l = 0; l < m->nlinks; l++) {
		glp_set_row_bnds(x.lp, 1 + l, GLP_UP, 0, 0);
		entry(&x, 1 + l, 1, -m->link[l].bandwidth_Bps / 1e9);
	}
	for (int64_t i = 0; i < x.data.n; i++) {
		if (first_of_holders(&x, i))
			add_single(&x, x.data.at[i].holders);
		if (x.data.at[i].wanters & (x.data.at[i].wanters - 1))
			add_shared(&x, &x.data.at[i]);
	}
	glp_load_matrix(x.lp, x.entries, x.row, x.column, x.value);
	ck_assert_int_eq(glp_simplex(x.lp, &how), 0);
	out = glp_get_obj_val(x.lp) / 1e9;
	glp_delete_prob(x.lp);
	xfree(x.data.at);
	xfree(x.edges.at);
	xfree(x.row);
	xfree(x.column);
	xfree(x.value);
	return out;
}

/* --- bounds ----------------------------------------------------------------------- */

static const struct {
	const char *name;
	int sizes[4]; /* of the mesh */
	int naxes;    /* of the torus; 0: nodes */
	int32_t shape[3];
	bool wrap[3];
	int problems;
} rows[] = {
	{"ring of 8", {8}, 1, {8}, {true, true, true}, 20},
	{"line of 8", {2, 4}, 1, {8}, {false}, 20},
	{"2x4", {2, 4}, 2, {2, 4}, {true, true, true}, 40},
	{"2x2x2", {2, 2, 2}, 3, {2, 2, 2}, {true, true, true}, 40},
	{"3x3", {3, 3}, 2, {3, 3}, {true, true, true}, 40},
	{"4x4", {4, 4}, 2, {4, 4}, {true, true, true}, 20},
	{"4x4 lines", {4, 4}, 2, {4, 4}, {false}, 20},
	{"2x2x4", {2, 2, 4}, 3, {2, 2, 4}, {true, true, true}, 20},
	{"2 nodes of 4", {2, 4}, 0, {2, 4}, {false}, 40},
};

enum { ROWS = sizeof(rows) / sizeof(rows[0]) };

/* A problem, and the same of an array that is SCALE times as long in both dimensions. */
struct drawn {
	struct problem *small, *large;
};

enum { SCALE = 256 };

static struct drawn draw(struct rng *r, const int *sizes)
{
	struct mesh mesh = case_mesh(arena, sizes);
	struct shape extent = {.rank = 2, .dim = {144, 144}};
	struct shape more = {.rank = 2, .dim = {144 * SCALE, 144 * SCALE}};
	struct layout from = random_layout(r, &mesh, 2), to = random_layout(r, &mesh, 2);

	return (struct drawn){case_of_layouts(arena, &mesh, &extent, &from, &to),
	                      case_of_layouts(arena, &mesh, &more, &from, &to)};
}

static struct machine *machine_of(int row, double latency_s)
{
	struct link link = {"", 100e9, latency_s}, nic = {"", 25e9, 2 * latency_s};

	if (rows[row].naxes == 0)
		return machine_gpu(arena, rows[row].shape[0], rows[row].shape[1], link,
		                   nic, bound_device);
	return machine_torus(arena, rows[row].naxes, rows[row].shape, rows[row].wrap,
	                     link, bound_device);
}

/*
 * Logarithms of how far the best flows are above bounds, those of schedules (flow/forest.h)
 * above the best, and the wires of plans of 5 GB, which may be schedules, with latencies.
 */
struct gaps {
	int n;
	double logs, most, schedules, worst, plans, worst_plan;
};

/* Returns the seconds of the busiest link of a schedule. */
static double schedule_s(const struct problem *p, const struct machine *m)
{
	int32_t *platform = arena_alloc(arena, (size_t)p->ndevices, sizeof(*platform));
	struct network network;
	struct demand demand;
	struct symmetry symmetry;
	struct forest forest;

	for (int32_t d = 0; d < p->ndevices; d++)
		platform[d] = d;
	ck_assert(network_make(&network, m, platform, p->ndevices, FLOW_ALL, arena) &&
	          demand_make(&demand, p, arena) &&
	          (!demand.sums || network_turn(&network, arena)));
	symmetry_find(&symmetry, &network, &demand, &p->mesh, arena);
	ck_assert(forest_make(&forest, &network, &demand, &symmetry, false, arena));
	return forest.busiest_s;
}

/* Returns the seconds on the wires of the plan of `best` with links of 1 us. */
static double plan_s(const struct problem *p, struct machine *m)
{
	struct pricer *pricer;
	struct prices prices;
	struct model *model;
	struct plan *plan = NULL;
	struct step_time *times;
	struct text why = {0};
	char message[200];
	double wire_s = 0;

	m->tuning = tuning_default;
	m->tuning.value[TUNING_SCHEDULED] = 1;
	pricer = pricer_new(m, NULL);
	prices = pricer_prices(pricer);
	model = model_new(m);
	ck_assert_int_eq(
		planner_run(planner_find("best", 4), &plan, p, &prices, arena, &why),
		ANSWER_PLAN);
	times = arena_alloc(arena, (size_t)plan->nsteps + 1, sizeof(*times));
	ck_assert_double_ge(plan_seconds(times, plan, m, NULL, model_clock, model,
	                                 message, sizeof(message)),
	                    0);
	for (int i = 0; i < plan->nsteps; i++)
		wire_s += times[i].wire_s;
	text_free(&why);
	model_free(model);
	pricer_free(pricer);
	return wire_s;
}

/* Compares bound and flows, and names what the bound misses by more than 5 %. */
static void compare(struct gaps *g, int row, const struct drawn *drawn)
{
	const struct problem *p = drawn->small;
	struct machine *m = machine_of(row, 0);
	double least_s = bound_s(p, m, NULL), best_s, sent_s, planned;

	if (least_s == 0)
		return;
	sent_s = schedule_s(p, m);
	best_s = flow_s(p, m);
	ck_assert_msg(least_s <= best_s * (1 + 1e-6), "%s, %s: bound %g s, flows %g s",
	              rows[row].name, case_describe(arena, p), least_s, best_s);
	if (best_s > 1.05 * least_s)
		printf("%s, %s: %.3f\n", rows[row].name, case_describe(arena, p),
		       best_s / least_s);
	ck_assert_double_ge(sent_s, best_s * (1 - 1e-6));
	planned = plan_s(drawn->large, machine_of(row, 1e-6)) / (SCALE * SCALE) / best_s;
	ck_assert_double_ge(planned, 1 - 1e-6);
	g->plans += log(planned);
	g->worst_plan = fmax(g->worst_plan, planned);
	g->schedules += log(sent_s / best_s);
	g->worst = fmax(g->worst, sent_s / best_s);
	g->logs += log(best_s / least_s);
	g->most = fmax(g->most, best_s / least_s);
	g->n++;
}

START_TEST(bounds_are_near_the_best_flows)
{
	struct rng *r = rng_new(100);
	struct gaps all = {0};

	for (int row = 0; row < ROWS; row++) {
		struct gaps g = {0};

		for (int k = 0; k < rows[row].problems; k++) {
			struct drawn drawn = draw(r, rows[row].sizes);

			compare(&g, row, &drawn);
			arena_reset(arena);
		}
		printf("%s: %d problems, best flows over bound: mean %.4f, most %.3f; "
		       "schedules over these: mean %.3f, most %.3f; "
		       "plans of best over these: mean %.3f, most %.3f\n",
		       rows[row].name, g.n, exp(g.logs / g.n), g.most,
		       exp(g.schedules / g.n), g.worst, exp(g.plans / g.n),
		       g.worst_plan);
		ck_assert_double_le(exp(g.plans / g.n), 1.25);
		ck_assert_double_le(exp(g.schedules / g.n), 1.10);
		all.n += g.n;
		all.logs += g.logs;
	}
	ck_assert_int_gt(all.n, 150);
	ck_assert_double_le(exp(all.logs / all.n), 1.01);
	rng_free(r);
}
END_TEST

/* --- sums ------------------------------------------------------------------------- */

/* A problem in which no two devices have the same contribution, or want the same sum. */
static struct drawn draw_sum(struct rng *r, const int *sizes)
{
	struct mesh mesh = case_mesh(arena, sizes);
	struct shape extent = {.rank = 2, .dim = {144, 144}};
	struct shape more = {.rank = 2, .dim = {144 * SCALE, 144 * SCALE}};
	struct layout from = layout_replicated(2), to = layout_replicated(2);
	int summed = (int)rng_below(r, (uint32_t)mesh.naxes);

	for (int k = 0; k < mesh.naxes; k++) {
		struct part part = {k, 1, mesh.axis[k].size};

		layout_append(&from, k == summed ? 2 : (int)rng_below(r, 3), part);
		layout_append(&to, (int)rng_below(r, 2), part);
	}
	return (struct drawn){case_of_layouts(arena, &mesh, &extent, &from, &to),
	                      case_of_layouts(arena, &mesh, &more, &from, &to)};
}

/* No bound of a sum is above the best flows, which run backwards, and no plan below. */
START_TEST(sums_are_near_the_best_flows)
{
	struct rng *r = rng_new(101);

	for (int row = 0; row < ROWS; row++) {
		struct gaps g = {0};

		/* programs of 16 devices take half a minute together */
		if (machine_of(row, 0)->ndevices > 9)
			continue;
		for (int k = 0; k < 12; k++) {
			struct drawn drawn = draw_sum(r, rows[row].sizes);

			compare(&g, row, &drawn);
			arena_reset(arena);
		}
		printf("%s, sums: %d problems, best flows over bound: mean %.4f, most "
		       "%.3f; "
		       "schedules over these: mean %.3f, most %.3f; "
		       "plans of best over these: mean %.3f, most %.3f\n",
		       rows[row].name, g.n, exp(g.logs / g.n), g.most,
		       exp(g.schedules / g.n), g.worst, exp(g.plans / g.n),
		       g.worst_plan);
		ck_assert_int_gt(g.n, 8);
		ck_assert_double_le(exp(g.schedules / g.n), 1.10);
		ck_assert_double_le(exp(g.plans / g.n), 1.25);
	}
	rng_free(r);
}
END_TEST

Suite *tests(void)
{
	Suite *suite = suite_create("bound_lp");
	TCase *c = tcase_create("bound_lp");

	tcase_set_timeout(c, 240);
	tcase_add_checked_fixture(c, setup, teardown);
	tcase_add_test(c, bounds_are_near_the_best_flows);
	tcase_add_test(c, sums_are_near_the_best_flows);
	suite_add_tcase(suite, c);
	return suite;
}
