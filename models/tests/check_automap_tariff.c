/* Prices of changes of layout on a machine. */
#include "automap/tariff.h"

#include "base/rng.h"
#include "cost/model.h"
#include "price/price.h"
#include "tests/automap_help.h"
#include "tests/tests.h"

#include <check.h>
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
	struct hop hop[HOPS_MAX];
	int n = reshard_hops(hop, &from, &to);

	for (int k = 0; k < 3; k++) {
		const struct planner *planner = planner_find(names[k], strlen(names[k]));
		struct machine_tariff *t =
			machine_tariff_new(m, &mesh, NULL, planner, NULL);
		struct cut_prices prices = machine_tariff_prices(t);
		const struct reshard_cost *cost =
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
}
END_TEST

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

/* A machine of 6 nodes of 4 devices whose collectives a library runs. */
static struct machine *library_machine(void)
{
	struct link nvlink = {"nvlink", 270e9, 1e-6}, nic = {"nic", 12e9, 3e-6};
	struct device device = {40e9, 1.5e12, 5e-6};
	struct machine *m = machine_gpu(arena, 6, 4, nvlink, nic, device);

	m->fabric[0].profile = m->fabric[1].profile = "nccl";
	return m;
}

static void same_prices(const struct machine *m, const struct mesh *mesh,
                        const int32_t *device, struct even_prices *even)
{
	static const enum op op[] = {OP_ALL_GATHER, OP_ALL_REDUCE, OP_REDUCE_SCATTER,
	                             OP_ALL_TO_ALL, OP_SLICE};
	struct machine_tariff *all = machine_tariff_new(m, mesh, device, NULL, NULL);
	struct machine_tariff *one = machine_tariff_new(m, mesh, device, NULL, even);
	struct cut_prices x = machine_tariff_prices(all), y = machine_tariff_prices(one);

	for (int i = 0; i < 5; i++)
		for (int first = 0; first < mesh->naxes; first++)
			for (int second = -1; second < mesh->naxes; second++)
				for (double bytes = 480; bytes < 1e10; bytes *= 40) {
					struct collective_ask ask;

					if (first == second)
						continue;
					ask = ask_of(op[i], first, second, bytes);
					ck_assert_double_eq_tol(
						y.collective(y.self, &ask) /
							x.collective(x.self, &ask),
						1, 1e-12);
				}
	machine_tariff_free(all);
	machine_tariff_free(one);
}

/* One group that stands for all has the price of all of them: devices in order, by stride, at random. */
START_TEST(one_group_stands_for_all)
{
	const struct mesh mesh = {
		.naxes = 3, .axis = {{"a", 2}, {"b", 3}, {"c", 4}}, .ndevices = 24};
	struct machine *m = library_machine();
	struct even_prices *even = even_prices_new(m);
	int32_t stride[24], mixed[24];
	struct rng *rng = rng_new(7);

	ck_assert_ptr_nonnull(even);
	for (int32_t i = 0; i < 24; i++) {
		stride[i] = i % 6 * 4 + i / 6;
		mixed[i] = i;
	}
	same_prices(m, &mesh, NULL, even);
	same_prices(m, &mesh, stride, even);
	for (int k = 0; k < 4; k++) {
		for (uint32_t i = 23; i > 0; i--) {
			uint32_t j = rng_below(rng, i + 1);
			int32_t d = mixed[i];

			mixed[i] = mixed[j];
			mixed[j] = d;
		}
		same_prices(m, &mesh, mixed, even);
	}
	rng_free(rng);
	even_prices_free(even);
}
END_TEST

/* A machine with one slower port, or with closed forms for its collectives, is not even. */
START_TEST(unlike_devices_are_not_even)
{
	struct machine *m = library_machine();
	struct link *link = arena_dup(arena, m->link, (size_t)m->nlinks, sizeof(*link));

	link[m->fabric[1].port[2 * 17]].bandwidth_Bps /= 2;
	m->link = link;
	ck_assert_ptr_null(even_prices_new(m));
	m = library_machine();
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
	tcase_add_test(t, one_group_stands_for_all);
	tcase_add_test(t, unlike_devices_are_not_even);
	suite_add_tcase(s, t);
	return s;
}
