/*
 * Min-cost assignments against all permutations where these can be counted, against
 * cheapest flows found by Bellman-Ford elsewhere, and by hand.
 */
#include "planner/send/assign.h"
#include "tests/tests.h"

#include "base/arena.h"
#include "base/rng.h"

#include <check.h>

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

enum { BRUTE_MAX = 7, ROWS_MAX = 48, NODES = 2 * ROWS_MAX };

/* The cheapest way to give rows from `row` on columns that are not used yet. */
static double brute(const double *cost, int32_t rows, int32_t cols, int32_t row,
                    unsigned used)
{
	double best = INFINITY;

	if (row == rows)
		return 0;
	for (int32_t j = 0; j < cols; j++)
		if (!(used >> j & 1))
			best = fmin(best, cost[row * cols + j] + brute(cost, rows, cols,
			                                               row + 1,
			                                               used | 1u << j));
	return best;
}

/* Every row has a column of its own; the sum of their costs. */
static double cost_of(const double *cost, int32_t rows, int32_t cols,
                      const int32_t *column)
{
	bool used[ROWS_MAX * 4] = {false};
	double sum = 0;

	for (int32_t i = 0; i < rows; i++) {
		ck_assert(column[i] >= 0 && column[i] < cols && !used[column[i]]);
		used[column[i]] = true;
		sum += cost[(int64_t)i * cols + column[i]];
	}
	return sum;
}

/* Whole numbers, so that sums are exact; few of them, so that many are equal. */
static void fill(double *cost, int32_t cells, struct rng *r, uint32_t range, bool forbid)
{
	for (int32_t i = 0; i < cells; i++) {
		cost[i] = (double)rng_below(r, range) - (double)(range / 3);
		if (forbid && rng_below(r, 3) == 0)
			cost[i] = INFINITY;
	}
}

START_TEST(no_permutation_is_cheaper)
{
	struct rng *r = rng_new((uint64_t)_i);
	double cost[BRUTE_MAX * BRUTE_MAX];
	int32_t column[BRUTE_MAX];
	int impossible = 0;

	for (int k = 0; k < 60; k++) {
		int32_t cols = 1 + (int32_t)rng_below(r, BRUTE_MAX);
		int32_t rows = 1 + (int32_t)rng_below(r, (uint32_t)cols);
		double best, sum;

		fill(cost, rows * cols, r, k % 2 ? 3 : 1000, k % 3 == 0);
		best = brute(cost, rows, cols, 0, 0);
		sum = assign_min_cost(column, cost, rows, cols);
		ck_assert_msg(sum == best, "%g, best %g", sum, best);
		impossible += best == INFINITY;
		if (best < INFINITY)
			ck_assert(cost_of(cost, rows, cols, column) == best);
	}
	ck_assert_int_lt(impossible, 30);
	rng_free(r);
}
END_TEST

/* Node of a row is its number, of a column rows + number; flow[i][j]: is it matched? */
struct flow {
	const double *cost;
	int32_t rows, cols;
	bool flow[ROWS_MAX][ROWS_MAX];
	bool row_used[ROWS_MAX], col_used[ROWS_MAX];
	double distance[NODES];
	int32_t before[NODES];
};

static bool relax(struct flow *f, int32_t from, int32_t to, double cost)
{
	if (f->distance[from] + cost >= f->distance[to])
		return false;
	f->distance[to] = f->distance[from] + cost;
	f->before[to] = from;
	return true;
}

static void bellman_ford(struct flow *f)
{
	bool changed = true;

	for (int32_t k = 0; k < f->rows + f->cols; k++) {
		f->distance[k] = k < f->rows && !f->row_used[k] ? 0 : INFINITY;
		f->before[k] = -1;
	}
	while (changed) {
		changed = false;
		for (int32_t i = 0; i < f->rows; i++)
			for (int32_t j = 0; j < f->cols; j++) {
				double c = f->cost[i * f->cols + j];
				int32_t col = f->rows + j;

				changed = (f->flow[i][j] ? relax(f, col, i, -c)
				                         : relax(f, i, col, c)) ||
				          changed;
			}
	}
}

/* One more row at a time along the cheapest path of the residual graph. */
static double cheapest_flow(const double *cost, int32_t rows, int32_t cols)
{
	struct flow f = {.cost = cost, .rows = rows, .cols = cols};
	double sum = 0;

	for (int32_t k = 0; k < rows; k++) {
		int32_t end = -1;

		bellman_ford(&f);
		for (int32_t j = 0; j < cols; j++)
			if (!f.col_used[j] &&
			    (end < 0 || f.distance[rows + j] < f.distance[rows + end]))
				end = j;
		sum += f.distance[rows + end];
		f.col_used[end] = true;
		for (int32_t at = rows + end; f.before[at] >= 0; at = f.before[at]) {
			int32_t from = f.before[at];

			if (from < rows)
				f.flow[from][at - rows] = true;
			else
				f.flow[at][from - rows] = false;
			if (from < rows && f.before[from] < 0)
				f.row_used[from] = true;
		}
	}
	return sum;
}

START_TEST(no_flow_is_cheaper)
{
	struct rng *r = rng_new(100 + (uint64_t)_i);
	double cost[ROWS_MAX * ROWS_MAX];
	int32_t column[ROWS_MAX];
	int32_t cols = ROWS_MAX - _i % 5, rows = cols - 7 * (_i % 3);
	double sum;

	fill(cost, rows * cols, r, _i % 2 ? 7 : 100000, false);
	sum = assign_min_cost(column, cost, rows, cols);
	ck_assert(sum == cost_of(cost, rows, cols, column));
	ck_assert(sum == cheapest_flow(cost, rows, cols));
	rng_free(r);
}
END_TEST

START_TEST(equal_costs_keep_the_order)
{
	const double ones[3 * 5] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
	/* Row 1 can only have column 0, so row 0 makes way for it. */
	const double one_way[2 * 2] = {1, 3, 2, INFINITY};
	int32_t column[3];

	ck_assert(assign_min_cost(column, ones, 3, 5) == 3);
	for (int32_t i = 0; i < 3; i++)
		ck_assert_int_eq(column[i], i);
	ck_assert(assign_min_cost(column, one_way, 2, 2) == 5);
	ck_assert_int_eq(column[0], 1);
	ck_assert_int_eq(column[1], 0);
	ck_assert(assign_min_cost(column, NULL, 0, 0) == 0);
}
END_TEST

/* cost (i + 1)(j + 1): the largest row takes the smallest column (rearrangement). */
START_TEST(products_are_assigned_in_opposite_order)
{
	enum { N = 151 };
	struct arena *a = arena_new();
	double *cost = arena_alloc(a, N * N, sizeof(*cost));
	int32_t column[N];

	for (int i = 0; i < N; i++)
		for (int j = 0; j < N; j++)
			cost[i * N + j] = (i + 1.) * (j + 1);
	assign_min_cost(column, cost, N, N);
	for (int i = 0; i < N; i++)
		ck_assert_int_eq(column[i], N - 1 - i);
	arena_free(a);
}
END_TEST

Suite *tests(void)
{
	Suite *suite = suite_create("assign");
	TCase *c = tcase_create("assign");

	tcase_add_loop_test(c, no_permutation_is_cheaper, 0, 8);
	tcase_add_loop_test(c, no_flow_is_cheaper, 0, 12);
	tcase_add_test(c, equal_costs_keep_the_order);
	tcase_add_test(c, products_are_assigned_in_opposite_order);
	suite_add_tcase(suite, c);
	return suite;
}
