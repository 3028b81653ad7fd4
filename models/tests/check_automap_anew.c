/* Evaluations find anew what differs from the one before; others find all of it. */
#include "tests/automap_help.h"
#include "tests/program_help.h"
#include "tests/tests.h"

#include <check.h>

static struct arena *arena;

static void setup(void)
{
	arena = arena_new();
}

static void teardown(void)
{
	arena_free(arena);
}

enum way { PLAIN, PASSES, OVERLAPPED, WAYS };

/* Steps of a dense model and of one with experts, and a program with a loop. */
static const struct graph *graph_of(int kind)
{
	static const char *const models[] = {"gpt-24", "mixtral-8x7b"};
	struct architecture m;
	struct program p;
	struct graph *g;
	struct error e = {0};

	if (kind < 2) {
		m = automap_model(arena, models[kind]);
		m.layers = 4;
		m.train.optimizer = OPTIMIZER_ADAM;
		m.train.global_batch = 16;
		m.train.seq = 512;
		return automap_train(arena, &m, true);
	}
	p = program_sample(arena, "fsdp-loop.mlir");
	g = arena_alloc(arena, 1, sizeof(*g));
	ck_assert_int_eq(graph_make(g, arena, arena_dup(arena, &p, 1, sizeof(p)), true,
	                            NULL, 0, &e),
	                 OK);
	return g;
}

static void start(struct evaluator *out, struct arena *a, const struct graph *g,
                  const struct cut_prices *prices, enum way way)
{
	evaluator_start(out, a, g, prices);
	if (way == PASSES)
		evaluator_repeat(out, a, 4, true);
	if (way == OVERLAPPED)
		evaluator_overlap(out, a);
}

static void same(const struct evaluation *x, const struct evaluation *y)
{
	for (int i = 0; i < COUNTS; i++) {
		ck_assert_double_eq(x->count[i], y->count[i]);
		ck_assert_double_eq(x->bytes[i], y->bytes[i]);
		ck_assert_double_eq(x->time_s[i], y->time_s[i]);
	}
	ck_assert_double_eq(x->step_s, y->step_s);
	ck_assert_double_eq(x->compute_s, y->compute_s);
	ck_assert_double_eq(x->communication_s, y->communication_s);
	ck_assert_double_eq(x->params_bytes, y->params_bytes);
	ck_assert_double_eq(x->peak_bytes, y->peak_bytes);
	ck_assert(x->unknown == y->unknown);
}

/*
 * After actions at random, some of them taken back, an evaluator that has seen all states finds bit by
 * bit what one finds that has seen none.
 */
START_TEST(finds_the_same)
{
	enum { DEPTH = 7 };
	static struct plain_machine machine = {
		{100e9, 20e9, 50e9}, 5e-6, 200e12, 1.3e12, {2, 4, 2}};
	struct cut_prices prices = automap_tariff(&machine);
	const struct graph *g = graph_of(_i / WAYS);
	struct cutting *c = automap_cutting(arena, g, 3, machine.size);
	enum way way = (enum way)(_i % WAYS);
	struct rng *rng = rng_new((uint64_t)_i + 1);
	struct evaluator kept;
	struct search s = {.evaluator = &kept, .cutting = c};
	int64_t mark[DEPTH];
	int priced = 0;

	start(&kept, arena, g, &prices, way);
	search_start(&s, arena);
	for (int i = 0, depth = 0; i < 200; i++) {
		struct arena *once = arena_new();
		struct evaluator anew;
		struct evaluation x, y;

		if (depth == DEPTH || (depth && rng_below(rng, 4) == 0)) {
			depth = (int)rng_below(rng, (uint32_t)depth);
			action_undo(&s, mark[depth], 0);
		}
		mark[depth] = cutting_mark(c);
		depth += automap_act(&s, rng);
		start(&anew, once, g, &prices, way);
		x = evaluate(&kept, c);
		y = evaluate(&anew, c);
		same(&x, &y);
		priced += x.communication_s > 0;
		arena_free(once);
	}
	ck_assert_int_gt(priced, 50);
	rng_free(rng);
}
END_TEST

Suite *tests(void)
{
	Suite *s = suite_create("automap anew");
	TCase *t = tcase_create("evaluations");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_set_timeout(t, 120);
	tcase_add_loop_test(t, finds_the_same, 0, 3 * WAYS);
	suite_add_tcase(s, t);
	return s;
}
