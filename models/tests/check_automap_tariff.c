/* Prices of collectives and of changes of layout on a machine. */
#include "automap/tariff.h"

#include "base/rng.h"
#include "collective/local.h"
#include "cost/model.h"
#include "placement/matrix.h"
#include "plan/groups.h"
#include "price/curve.h"
#include "price/even.h"
#include "price/price.h"
#include "price/translates.h"
#include "tests/automap_help.h"
#include "tests/tests.h"

#include <check.h>
#include <math.h>
#include <string.h>

static struct arena *arena;

static void setup(void)
{
	arena = arena_new();
}

static void teardown(void)
{
	arena_free(arena);
}

static const int64_t dims[] = {4096, 8192};

static struct cuts cut(int n, const int *axis, const int *dim)
{
	struct cuts c = {0};

	for (int i = 0; i < n; i++)
		cuts_add(&c, axis[i], dim[i]);
	return c;
}

/* What the planner's own plan of `P(from) -> P(to)` takes by the clock `model`. */
static double planned_s(const struct planner *planner, const struct machine *m,
                        const char *from, const char *to)
{
	const struct problem_text text = {
		.array = "f32[4096,8192]", .mesh = "a=2,b=4", .from = from, .to = to};
	struct pricer *pricer = pricer_new(m, NULL);
	struct prices prices = pricer_prices(pricer);
	struct model *model = model_new(m);
	struct problem p;
	struct plan *plan;
	struct text why = {0};
	struct error e = {0};
	char message[200];
	double s;

	ck_assert(problem_make(&p, arena, &text, &e) == OK);
	ck_assert(planner_run(planner, &plan, &p, &prices, arena, &why) == ANSWER_PLAN);
	s = plan_seconds(NULL, plan, m, NULL, model_clock, model, message,
	                 sizeof(message));
	model_free(model);
	pricer_free(pricer);
	text_free(&why);
	return s;
}

/*
 * Changes of layout of an array in tiles over 2 nodes of 4 devices cost what the planner's plans of
 * the same problems do; those of `best` no more than the steps that are taken without a planner.
 */
START_TEST(changes_cost_what_plans_do)
{
	static const struct {
		const char *from, *to;
		int nfrom, from_axis[2], from_dim[2];
		int nto, to_axis[2], to_dim[2];
	} of[] = {
		{"P('a', 'b')", "P('b', 'a')", 2, {0, 1}, {0, 1}, 2, {0, 1}, {1, 0}},
		{"P('a', None)", "P(None, 'b')", 1, {0}, {0}, 1, {1}, {1}},
		{"P(('a', 'b'), None)", "P('b', None)", 2, {0, 1}, {0, 0}, 1, {1}, {0}},
	};
	static const char *const names[] = {"best", "xla", "xla-2021"};
	struct link nvlink = {"nvlink", 270e9, 1e-6}, nic = {"nic", 8e9 / 4, 3e-6};
	struct device device = {40e9, 1.5e12, 5e-6};
	struct machine *m = machine_gpu(arena, 2, 4, nvlink, nic, device);
	const struct mesh mesh = {
		.naxes = 2, .axis = {{"a", 2}, {"b", 4}}, .ndevices = 8};
	const struct value_type type = {
		.dtype = dtype_find("f32", 3), .rank = 2, .dim = dims};
	struct cuts from = cut(of[_i].nfrom, of[_i].from_axis, of[_i].from_dim);
	struct cuts to = cut(of[_i].nto, of[_i].to_axis, of[_i].to_dim);
	double plain = 0, best = 0;
	struct group_prices *shared = group_prices_new(m);
	struct hop hop[HOPS_MAX];
	int n = reshard_hops(hop, &from, &to);

	for (int k = 0; k < 3; k++) {
		const struct planner *planner = planner_find(names[k], strlen(names[k]));
		struct machine_tariff *t =
			machine_tariff_new(m, shared, &mesh, NULL, planner);
		struct cut_prices prices = machine_tariff_prices(t);
		const struct planned_reshard *cost =
			prices.reshard(prices.self, &type, &from, &to);
		double sum = 0;

		ck_assert_ptr_nonnull(cost);
		ck_assert_ptr_eq(prices.reshard(prices.self, &type, &from, &to), cost);
		for (int i = 0; i < cost->n; i++)
			sum += cost->part[i].s;
		ck_assert_double_eq_tol(
			sum / planned_s(planner, m, of[_i].from, of[_i].to), 1, 1e-9);
		for (int i = 0; i < n && !k; i++) {
			struct collective_ask ask = {
				.op = hop[i].op, .from = hop[i].from, .to = hop[i].to};

			ask.bytes = 4. * 4096 * 8192 /
			            (double)cuts_all(&hop[i].from, (int32_t[]){2, 4});
			plain += prices.collective(prices.self, &ask);
		}
		best = k ? best : sum;
		ck_assert_double_ge(sum, best * (1 - 1e-9));
		machine_tariff_free(t);
	}
	ck_assert_double_le(best, plain * (1 + 1e-9));
	group_prices_free(shared);
}
END_TEST

/* A machine of 6 nodes of 4 devices whose collectives a library runs. */
static struct machine *library_machine(int32_t nodes, int32_t gpus)
{
	struct link nvlink = {"nvlink", 270e9, 1e-6}, nic = {"nic", 12e9, 3e-6};
	struct device device = {40e9, 1.5e12, 5e-6};
	struct machine *m = machine_gpu(arena, nodes, gpus, nvlink, nic, device);

	for (int f = 0; f < m->nfabrics; f++)
		m->fabric[f].profile = "nccl";
	return m;
}

/*
 * Seconds that a planner's pricer has for a collective of one axis or two over all groups, without
 * what it charges for adding up.
 */
static double pricer_s(struct pricer *pricer, const struct machine *m,
                       const struct mesh *mesh, const struct collective_ask *ask)
{
	struct part part[2];
	struct move move[2] = {{-1, -1, 1, 0, part}, {-1, -1, 1, 0, part + 1}};
	struct step_ask step = {.op = ask->op, .move = move, .unpack = ask->unpack};
	struct problem problem = {.mesh = *mesh, .ndevices = mesh->ndevices};
	struct prices prices = pricer_prices(pricer);
	int32_t q = 1;
	double s;
	int n = 0;

	for (int a = 0; a < mesh->naxes; a++) {
		int from = cuts_at(&ask->from, a), to = cuts_at(&ask->to, a);

		if (!(ask->axes >> a & 1))
			continue;
		q *= mesh->axis[a].size;
		part[n] = (struct part){a, 1, mesh->axis[a].size};
		if (n && ask->op == OP_ALL_REDUCE) {
			move[0].factor *= mesh->axis[a].size;
			move[0].nparts++;
		} else {
			move[n] = (struct move){from, to, mesh->axis[a].size, 1,
			                        part + n};
			step.nmoves++;
		}
		n++;
	}
	step.before_bytes = (int64_t)ask->bytes;
	s = prices.step(prices.self, &problem, &step).cost;
	if (ask->op == OP_ALL_REDUCE || ask->op == OP_REDUCE_SCATTER)
		s -= local_traffic_bytes(ask->op, ask->bytes, ask->bytes, q, false) *
		     local_rates(m, NULL, m->ndevices).s_per_byte;
	return s;
}

/* A change of one axis or two by a collective, with as many bytes on each device before it. */
static struct collective_ask ask_of(enum op op, int first, int second, double bytes)
{
	struct collective_ask ask = {.op = op, .bytes = bytes};
	struct cuts cut = {0}, moved = {0};

	cuts_add(&cut, first, 0);
	cuts_add(&moved, first, 1);
	if (second >= 0 && op != OP_ALL_TO_ALL) {
		cuts_add(&cut, second, 1);
		cuts_add(&moved, second, 0);
	}
	ask.axes = cut.mask;
	if (op == OP_ALL_GATHER || op == OP_ALL_TO_ALL)
		ask.from = cut;
	if (op == OP_REDUCE_SCATTER || op == OP_SLICE)
		ask.to = cut;
	if (op == OP_ALL_TO_ALL)
		ask.to = moved;
	ask.unpack = second >= 0;
	return ask;
}

static void same_prices(const struct machine *m, const struct mesh *mesh,
                        const int32_t *device, struct group_prices *shared)
{
	static const enum op op[] = {OP_ALL_GATHER, OP_ALL_REDUCE, OP_REDUCE_SCATTER,
	                             OP_ALL_TO_ALL, OP_SLICE};
	struct machine_tariff *t = machine_tariff_new(m, shared, mesh, device, NULL);
	struct cut_prices prices = machine_tariff_prices(t);
	struct placement place = {mesh->ndevices, device};
	struct pricer *pricer = pricer_new(m, device ? &place : NULL);

	for (int i = 0; i < 5; i++)
		for (int first = 0; first < mesh->naxes; first++)
			for (int second = -1; second < mesh->naxes; second++)
				for (int k = 0; k < 16 && first != second; k++) {
					/* Far apart, then between those. */
					double bytes =
						floor(k < 8 ? 480 * pow(40, k)
					                    : 500 * pow(9, k - 8));
					struct collective_ask ask =
						ask_of(op[i], first, second, bytes);

					ck_assert_double_eq_tol(
						prices.collective(prices.self, &ask) /
							pricer_s(pricer, m, mesh, &ask),
						1, 1e-11);
				}
	pricer_free(pricer);
	machine_tariff_free(t);
}

static void shuffle(int32_t *device, uint32_t n, struct rng *rng)
{
	for (uint32_t i = n - 1; i > 0; i--) {
		uint32_t j = rng_below(rng, i + 1);
		int32_t d = device[i];

		device[i] = device[j];
		device[j] = d;
	}
}

/*
 * One group that stands for all has the price of all of them: devices in order, by stride, at random,
 * on six nodes of four and on a rack, where XLA's all-to-alls of a tray take longer than others.
 */
START_TEST(one_group_stands_for_all)
{
	const struct mesh mesh = {
		.naxes = 3, .axis = {{"a", 2}, {"b", 3}, {"c", 4}}, .ndevices = 24};
	struct machine *m = _i ? library_machine(1, 24) : library_machine(6, 4);
	struct even_prices *even;
	struct group_prices *shared;
	int32_t stride[24], mixed[24];
	struct rng *rng = rng_new(7);

	m->launch = _i ? LAUNCH_XLA : LAUNCH_PROCESS;
	even = even_prices_new(m);
	shared = group_prices_new(m);
	ck_assert_ptr_nonnull(even);
	even_prices_free(even);
	for (int32_t i = 0; i < 24; i++) {
		stride[i] = i % 6 * 4 + i / 6;
		mixed[i] = i;
	}
	same_prices(m, &mesh, NULL, shared);
	same_prices(m, &mesh, stride, shared);
	for (int k = 0; k < 4; k++) {
		shuffle(mixed, 24, rng);
		same_prices(m, &mesh, mixed, shared);
	}
	rng_free(rng);
	group_prices_free(shared);
}
END_TEST

/* A torus with a fill, one slower cable, or neither. */
static struct machine *torus(int n, const int32_t *shape, const bool *wrap, bool fill,
                             bool slow)
{
	struct link ici = {"ici", 45e9, 1e-6};
	struct device device = {32e9, 1.2e12, 5e-6};
	struct machine *m = machine_torus(arena, n, shape, wrap, ici, device);
	struct link *link = arena_dup(arena, m->link, (size_t)m->nlinks, sizeof(*link));

	m->tuning.value[TUNING_FILL_S] = fill ? 3e-6 : 0;
	link[m->nlinks / 3].bandwidth_Bps /= slow ? 2 : 1;
	m->link = link;
	return m;
}

/* Prices three axes of a mesh wherever they may be put on the machine's, and at random. */
static void same_wherever(const struct machine *m, const struct hierarchy *h,
                          const int32_t *size)
{
	const struct mesh mesh = {
		.naxes = 3,
		.axis = {{"a", size[0]}, {"b", size[1]}, {"c", size[2]}},
		.ndevices = size[0] * size[1] * size[2]};
	struct where at = {.file = "here"};
	struct group_prices *shared = group_prices_new(m);
	struct rng *rng = rng_new(7);
	struct error e = {0};
	struct matrix *matrix;
	int32_t *mixed;
	int64_t n;

	ck_assert_int_eq(matrices_of(&matrix, &n, arena, h, &mesh, at, &e), OK);
	for (int64_t i = 0; i < n; i++)
		same_prices(m, &mesh, matrix_devices(&matrix[i], arena), shared);
	mixed = matrix_devices(&matrix[0], arena);
	shuffle(mixed, (uint32_t)mesh.ndevices, rng);
	same_prices(m, &mesh, mixed, shared);
	rng_free(rng);
	group_prices_free(shared);
}

/*
 * On tori few groups stand for all, wherever three axes of a mesh are put on those of the machine;
 * where they are at random, or a cable is slow, all are looked at.
 */
START_TEST(few_groups_of_a_torus_stand_for_all)
{
	static const struct {
		int n;
		int32_t shape[3];
		bool wrap[3];
		int32_t axis[3];
	} of[] = {
		{2, {8, 6}, {true, true}, {4, 6, 2}},
		{3, {4, 4, 4}, {true, true, true}, {4, 8, 2}},
		{3, {2, 4, 6}, {false, true, true}, {2, 4, 6}},
		{2, {8, 8}, {false, true}, {2, 16, 2}},
	};
	bool slow = _i / 4 == 2;
	int k = _i % 4;
	struct machine *m = torus(of[k].n, of[k].shape, of[k].wrap, _i / 4 == 1, slow);
	struct hierarchy h = {0};

	ck_assert((translates_new(arena, m) != NULL) == !slow);
	for (int a = 0; a < of[k].n; a++)
		hierarchy_add(&h, NULL, of[k].shape[a]);
	same_wherever(m, &h, of[k].axis);
}
END_TEST

/* Two of a torus of one slice, whose devices have a port each on one switch. */
static struct machine *two_slices(const struct machine *one, const char *profile)
{
	struct machine *m = arena_dup(arena, one, 1, sizeof(*m));
	struct fabric *ici = &m->fabric[0], *net = &m->fabric[1];
	int32_t n = one->ndevices, ports = 2 * ici->naxes;
	struct link *link =
		arena_alloc(arena, 4 * (size_t)(one->nlinks + n), sizeof(*link));
	int32_t *domain = arena_alloc(arena, 2 * (size_t)n, sizeof(int32_t));
	int32_t *place = arena_alloc(arena, 2 * (size_t)n, sizeof(int32_t));
	int32_t *at = arena_alloc(arena, 2 * (size_t)n, sizeof(int32_t));
	int32_t *port = arena_alloc(arena, 2 * (size_t)(n * ports), sizeof(int32_t));
	int32_t *up = arena_alloc(arena, 4 * (size_t)n, sizeof(int32_t));
	struct device *device = arena_alloc(arena, 2 * (size_t)n, sizeof(*device));

	m->ndevices = 2 * n;
	m->nfabrics = 2;
	for (int32_t d = 0; d < 2 * n; d++) {
		device[d] = one->device[d % n];
		domain[d] = d / n;
		place[d] = d % n;
		at[d] = d;
		for (int32_t k = 0; k < ports; k++) {
			int32_t of = ici->port[d % n * ports + k];

			port[d * ports + k] = of < 0 ? -1 : of + d / n * one->nlinks;
		}
		for (int32_t k = 0; k < 2; k++)
			up[2 * d + k] = 2 * one->nlinks + 2 * d + k;
	}
	for (int32_t i = 0; i < 2 * one->nlinks; i++)
		link[i] = one->link[i % one->nlinks];
	for (int32_t i = 0; i < 4 * n; i++)
		link[2 * one->nlinks + i] = (struct link){"net", 3e9, 1e-5};
	m->nlinks = 2 * one->nlinks + 4 * n;
	m->link = link;
	m->device = device;
	ici->domain = domain;
	ici->place = place;
	ici->at = at;
	ici->port = port;
	ici->ndomains = 2;
	*net = (struct fabric){
		.name = "net",
		.profile = profile,
		.domain = arena_alloc(arena, 2 * (size_t)n, sizeof(int32_t)),
		.priority = 1,
		.share = 1,
		.port = up,
		.geometry = GEOMETRY_SWITCH,
		.ndomains = 1};
	return m;
}

/* Within slices and over several, level by level, prices are those of all messages. */
START_TEST(slices_are_priced_by_levels)
{
	static const struct {
		int n;
		int32_t shape[3], axis[3];
	} of[] = {
		{2, {4, 4}, {2, 4, 4}},
		{3, {4, 2, 4}, {4, 2, 8}},
		{2, {6, 4}, {8, 3, 2}},
	};
	int k = _i % 3;
	const bool wrap[] = {true, true, true};
	struct machine *m = two_slices(torus(of[k].n, of[k].shape, wrap, _i >= 6, false),
	                               _i / 3 % 2 ? "plain" : "tpu");
	struct hierarchy h = {0};

	hierarchy_add(&h, NULL, 2);
	for (int a = 0; a < of[k].n; a++)
		hierarchy_add(&h, NULL, of[k].shape[a]);
	same_wherever(m, &h, of[k].axis);
}
END_TEST

/* Of whole rows or columns of a torus one is looked at; of parts of a column those that share its links. */
START_TEST(rows_of_a_torus_are_one)
{
	const struct mesh mesh = {
		.naxes = 2, .axis = {{"a", 16}, {"b", 8}}, .ndevices = 128};
	struct machine *m =
		torus(2, (int32_t[]){16, 8}, (bool[]){true, true}, true, false);
	const struct translates *t = translates_new(arena, m);
	struct part row = {1, 1, 8}, column = {0, 1, 16}, half = {0, 1, 4};
	const struct move of[] = {
		{-1, -1, 1, 1, &row}, {-1, -1, 1, 1, &column}, {-1, -1, 1, 1, &half}};
	static const int32_t few[] = {1, 1, 4};

	for (int i = 0; i < 3; i++) {
		struct groups g = groups_of_moves(&mesh, &of[i], 1, arena);

		ck_assert_int_eq(translates_few(t, &g, arena).ngroups, few[i]);
	}
}
END_TEST

/* The larger of 3 + x and 2 x is known between three points of either line, not where they meet. */
START_TEST(points_on_a_line_tell_those_between)
{
	static const double at[] = {1, 6, 2, 1.5, 100, 5, 4.5};
	struct curve c = {0};

	for (int i = 0; i < 7; i++)
		curve_add(&c, arena, at[i], fmax(3 + at[i], 2 * at[i]), true);
	ck_assert_double_eq(curve_s(&c, 1), 4);
	ck_assert_double_eq_tol(curve_s(&c, 1.7), 4.7, 1e-12);
	ck_assert_double_eq_tol(curve_s(&c, 50), 100, 1e-10);
	ck_assert_double_lt(curve_s(&c, 2.5), 0);
	ck_assert_double_lt(curve_s(&c, .5), 0);
	ck_assert_double_lt(curve_s(&c, 101), 0);
}
END_TEST

/* A machine with one slower port, or with closed forms for its collectives, is not even. */
START_TEST(unlike_devices_are_not_even)
{
	struct machine *m = library_machine(6, 4);
	struct link *link = arena_dup(arena, m->link, (size_t)m->nlinks, sizeof(*link));

	link[m->fabric[1].port[2 * 17]].bandwidth_Bps /= 2;
	m->link = link;
	ck_assert_ptr_null(even_prices_new(m));
	m = library_machine(6, 4);
	m->fabric[1].profile = "plain";
	ck_assert_ptr_null(even_prices_new(m));
}
END_TEST

Suite *tests(void)
{
	Suite *s = suite_create("automap tariff");
	TCase *t = tcase_create("tariff");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, changes_cost_what_plans_do, 0, 3);
	tcase_add_loop_test(t, one_group_stands_for_all, 0, 2);
	tcase_add_loop_test(t, few_groups_of_a_torus_stand_for_all, 0, 12);
	tcase_add_loop_test(t, slices_are_priced_by_levels, 0, 12);
	tcase_add_test(t, rows_of_a_torus_are_one);
	tcase_add_test(t, points_on_a_line_tell_those_between);
	tcase_add_test(t, unlike_devices_are_not_even);
	suite_add_tcase(s, t);
	return s;
}
