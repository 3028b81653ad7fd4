/*
 * HeAT's resplit (arXiv 2007.13552) as `direct` on a mesh of one axis: the bytes that every
 * rank sends to every other one against the counts of its MPI calls, also of uneven arrays.
 *
 * With rows of chunk r on rank i and columns of chunk c on rank j, a resplit from 0 to 1 is
 * an MPI_Alltoallw in which i sends |r_i| |c_j| elements to j; to None an MPI_Allgatherv in
 * which i sends its chunk to all; from None a local slice. Chunks here are ceil(n / p), the
 * last ones shorter, where HeAT's differ by at most one: the counts of both are the formula
 * with the chunks of each, and the same wherever the chunks are.
 */
#include "plan/check.h"
#include "planner/planner.h"
#include "tests/tests.h"

#include <check.h>

#include <string.h>

enum { RANKS = 7 };

static struct arena *arena;

static void setup(void)
{
	arena = arena_new();
}

static void teardown(void)
{
	arena_free(arena);
}

static int64_t chunk(int64_t n, int p, int rank)
{
	int64_t size = (n + p - 1) / p, low = rank * size, high = low + size;

	low = low < n ? low : n;
	high = high < n ? high : n;
	return high - low;
}

/* As HeAT deals n elements out: the first n mod p ranks have one more. */
static int64_t heat_chunk(int64_t n, int p, int rank)
{
	return n / p + (rank < n % p);
}

static const struct plan *resplit(const struct problem **problem, int64_t n, int64_t m,
                                  int p, const char *from, const char *to)
{
	struct problem *q = arena_alloc(arena, 1, sizeof(*q));
	const struct planner *direct = planner_find("direct", strlen("direct"));
	const struct problem_text text = {
		.array = arena_printf(arena, "f32[%lld,%lld]", (long long)n,
	                              (long long)m),
		.mesh = arena_printf(arena, "split=%d", p),
		.from = from,
		.to = to,
	};
	struct text why = {0};
	struct error e = {0};
	struct plan *plan = NULL;

	ck_assert_msg(problem_make(q, arena, &text, &e) == OK, "%s", e.text);
	ck_assert_msg(planner_run(direct, &plan, q, &prices_bytes, arena, &why) ==
	                      ANSWER_PLAN,
	              "%s", why.s);
	ck_assert(plan_check(plan, &why));
	*problem = q;
	return plan;
}

/* Adds up what goes from each rank to each other one, in elements. */
static void sent(int64_t out[RANKS][RANKS], const struct plan *plan)
{
	memset(out, 0, sizeof(int64_t[RANKS][RANKS]));
	for (int i = 0; i < plan->nsteps; i++)
		for (int64_t k = 0; k < plan->step[i].ntransfers; k++) {
			const struct transfer *t = &plan->step[i].transfers[k];

			out[t->src][t->dst] += t->elements;
		}
}

START_TEST(from_rows_to_columns)
{
	static const int64_t shapes[][2] = {{12, 12}, {5, 7}, {10, 4}, {13, 29}, {3, 64}};
	int64_t found[RANKS][RANKS];
	int alike = 0;

	for (size_t k = 0; k < sizeof(shapes) / sizeof(*shapes); k++)
		for (int p = 2; p <= RANKS; p++) {
			int64_t n = shapes[k][0], m = shapes[k][1], most = 0;
			const struct problem *q;
			const struct plan *plan =
				resplit(&q, n, m, p, "P('split', None)",
			                "P(None, "
			                "'split')");

			sent(found, plan);
			for (int j = 0; j < p; j++) {
				int64_t received = 0;

				for (int i = 0; i < p; i++) {
					int64_t count = i == j ? 0
					                       : chunk(n, p, i) *
					                                 chunk(m, p, j);

					ck_assert_int_eq(found[i][j], count);
					received += count;
					alike += i != j &&
					         chunk(n, p, i) == heat_chunk(n, p, i) &&
					         chunk(m, p, j) == heat_chunk(m, p, j);
				}
				/* Of a rank: its columns, less the rows it has. */
				ck_assert_int_eq(received,
				                 chunk(m, p, j) * (n - chunk(n, p, j)));
				most = received > most ? received : most;
			}
			ck_assert_int_eq(plan->recv_bytes, 4 * most);
			if (n % p == 0 && m % p == 0)
				ck_assert_int_eq(plan->recv_bytes,
				                 4 * n * m / p * (p - 1) / p);
		}
	ck_assert_int_gt(alike, 100);
}
END_TEST

START_TEST(to_none_and_back)
{
	for (int p = 2; p <= RANKS; p++) {
		int64_t n = 17, m = 3, found[RANKS][RANKS];
		const struct problem *q;
		const struct plan *plan =
			resplit(&q, n, m, p, "P('split', None)", "P(None, None)");

		sent(found, plan);
		for (int j = 0; j < p; j++)
			for (int i = 0; i < p; i++)
				ck_assert_int_eq(found[i][j],
				                 i == j ? 0 : chunk(n, p, i) * m);
		plan = resplit(&q, n, m, p, "P(None, None)", "P(None, 'split')");
		ck_assert_int_eq(plan->recv_bytes, 0);
	}
}
END_TEST

Suite *tests(void)
{
	Suite *s = suite_create("heat");
	TCase *t = tcase_create("heat");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, from_rows_to_columns);
	tcase_add_test(t, to_none_and_back);
	suite_add_tcase(s, t);
	return s;
}
