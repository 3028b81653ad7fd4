/*
 * Block graphs: choices by hand, and runs replayed by a reader that knows only who holds
 * what.
 */
#include "base/rng.h"
#include "placement/lshs.h"
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

static double top(const double *load, int32_t n)
{
	double most = 0;

	for (int32_t d = 0; d < n; d++)
		most = fmax(most, load[d]);
	return most;
}

/*
 * 10 bytes on device 0 and 4 on device 1 make 2. On device 0 that takes 4 bytes over: memory
 * 10 + 4 + 2, in 4, out 4: 24. On device 1 it takes 10: 4 + 10 + 2, 10, 10: 36.
 */
START_TEST(goes_to_the_larger_operand)
{
	struct block_graph g = {.arena = arena, .ndevices = 2, .per_node = 1};
	int32_t in[2];
	struct block_run r;

	in[0] = block_there(&g, 10, 0);
	in[1] = block_there(&g, 4, 1);
	block_make(&g, 2, -1, false, in, 2);
	block_place(&r, &g, POLICY_LSHS, arena);
	ck_assert_int_eq(r.copy.n, 1);
	ck_assert(r.copy.at[0].src == 1 && r.copy.at[0].dst == 0);
	ck_assert_double_eq(r.copy.at[0].bytes, 4);
	ck_assert_double_eq(block_price(&r, 2), 24);
	/* Inside of a node a tenth counts: 16 + 0.4 + 0.4. */
	g.per_node = 2;
	block_place(&r, &g, POLICY_LSHS, arena);
	ck_assert_double_eq_tol(block_price(&r, 2), 16.8, 1e-12);
}
END_TEST

/*
 * Memory counts, too: where the operand lies there are 100 bytes more. Staying there is 100
 * + 1 + 1 in all; another device takes 1 byte in and out and holds 2: 101 + 1 + 1. Where
 * what is made has 50 bytes, 151 + 0 + 0 is dearer than 101 + 1 + 1.
 */
START_TEST(leaves_a_full_device)
{
	static const struct {
		double made;
		bool stays;
	} cases[] = {{1, true}, {50, false}};

	for (int k = 0; k < 2; k++) {
		struct block_graph g = {.arena = arena, .ndevices = 2, .per_node = 1};
		struct block_run r;
		int32_t in;

		block_there(&g, 100, 0);
		in = block_there(&g, 1, 0);
		block_make(&g, cases[k].made, -1, false, &in, 1);
		block_place(&r, &g, POLICY_LSHS, arena);
		ck_assert_int_eq(r.copy.n, !cases[k].stays);
		ck_assert_double_eq(block_price(&r, 2), cases[k].stays ? 102 : 103);
	}
}
END_TEST

/* A sum joins what lies on one device first: blocks of 0, 1, 0, 1 on device 0. */
START_TEST(sums_what_is_near)
{
	struct block_graph g = {.arena = arena, .ndevices = 2, .per_node = 1};
	int32_t in[4];
	struct block_run r;

	for (int i = 0; i < 4; i++)
		in[i] = block_there(&g, 8, i % 2);
	block_make(&g, 8, 0, true, in, 4);
	block_place(&r, &g, POLICY_LSHS, arena);
	ck_assert_int_eq(r.copy.n, 1);
	block_place(&r, &g, POLICY_ROUND_ROBIN, arena);
	/* The first two on device 0, the others on device 1, both sums on device 0. */
	ck_assert_int_eq(r.copy.n, 3);
}
END_TEST

/* Who holds how many bytes, from the copies alone; they must be there to be sent. */
static void replay(const struct block_graph *g, const struct block_run *r)
{
	double memory[8] = {0}, in[8] = {0}, out[8] = {0}, made = 0, sums = 0, all = 0;
	int32_t level = -1;

	for (int64_t i = 0; i < g->op.n; i++) {
		const struct block_op *o = &g->op.at[i];

		made += o->bytes;
		if (o->sum && o->nin > 2)
			sums += (o->nin - 2) * o->bytes;
	}
	for (int64_t i = 0; i < r->copy.n; i++) {
		const struct block_copy *c = &r->copy.at[i];
		bool near = c->src / g->per_node == c->dst / g->per_node;

		ck_assert(c->src != c->dst && c->level >= 0 && c->level < r->levels);
		memory[c->dst] += c->bytes;
		in[c->dst] += near ? 0.1 * c->bytes : c->bytes;
		out[c->src] += near ? 0.1 * c->bytes : c->bytes;
		level = c->level > level ? c->level : level;
	}
	for (int32_t d = 0; d < g->ndevices; d++) {
		ck_assert_double_eq_tol(r->load[LOAD_IN][d], in[d], 1e-9);
		ck_assert_double_eq_tol(r->load[LOAD_OUT][d], out[d], 1e-9);
		all += r->load[LOAD_MEMORY][d] - memory[d];
	}
	/* What is not copied was made, once: all blocks and the sums in between. */
	ck_assert_double_eq_tol(all, made + sums, 1e-9);
}

/* Draws a graph of some layers of operations, with sums and pins. */
static struct block_graph draw(struct rng *r)
{
	struct block_graph g = {.arena = arena, .ndevices = 4};

	g.per_node = 1 << rng_below(r, 3);
	for (int i = 0; i < 6; i++)
		block_there(&g, 1 + rng_below(r, 50), (int32_t)rng_below(r, 4));
	for (int i = 0; i < 8; i++) {
		int32_t in[4], n = 1 + (int32_t)rng_below(r, 4);
		int32_t first = (int32_t)rng_below(r, (uint32_t)(g.op.n - 4));

		for (int32_t k = 0; k < n; k++)
			in[k] = first + k;
		block_make(&g, 1 + rng_below(r, 50),
		           rng_below(r, 2) ? -1 : (int32_t)rng_below(r, 4),
		           n > 1 && rng_below(r, 2), in, n);
	}
	return g;
}

START_TEST(replayed)
{
	struct rng *r = rng_new(3);
	double logs = 0;

	for (int k = 0; k < 200; k++) {
		struct block_graph g = draw(r);
		struct block_run lshs, turns;

		block_place(&lshs, &g, POLICY_LSHS, arena);
		replay(&g, &lshs);
		block_place(&turns, &g, POLICY_ROUND_ROBIN, arena);
		replay(&g, &turns);
		logs += log(block_price(&turns, 4) / block_price(&lshs, 4));
		ck_assert(top(lshs.load[LOAD_MEMORY], 4) > 0);
		arena_reset(arena);
	}
	/* It lowers the price that it looks at. */
	ck_assert(logs > 0);
	rng_free(r);
}
END_TEST

Suite *tests(void)
{
	Suite *s = suite_create("lshs");
	TCase *t = tcase_create("lshs");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, goes_to_the_larger_operand);
	tcase_add_test(t, leaves_a_full_device);
	tcase_add_test(t, sums_what_is_near);
	tcase_add_test(t, replayed);
	suite_add_tcase(s, t);
	return s;
}
