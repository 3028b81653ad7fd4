#include "flow_help.h"
#include "tests/tests.h"

#include "bound/bound.h"
#include "bound_machine.h"
#include "planner_case.h"

#include <check.h>
#include <glpk.h>

/*
 * Transpositions of k x k tori against the best that flows can do, by a linear program
 * (GLPK): device (i, j) sends its tile to (j, i), in any shares by any ways, and the busiest
 * link is to be least busy. Moved along the diagonal a transposition stays what it is, and so
 * flows can be had that do as well and are moved with it (the mean of all k of them), so that
 * the tiles of row 0 stand for all, and links that can be moved to one another for one.
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

/* A program that grows by entries, whose rows and columns are counted from 1. */
struct entries {
	int n, row[1 << 15], column[1 << 15];
	double value[1 << 15];
};

static void add_entry(struct entries *e, int row, int column, double value)
{
	e->n++;
	ck_assert_int_lt(e->n, 1 << 15);
	e->row[e->n] = row;
	e->column[e->n] = column;
	e->value[e->n] = value;
}

/* Adds what a flow on one link of the tile of (0, c) does to devices and to its class. */
static void add_link(struct entries *e, int k, int c, int node, int way)
{
	static const int step[4][2] = {{1, 0}, {-1, 0}, {0, 1}, {0, -1}};
	int i = node / k, j = node % k;
	int next = (i + step[way][0] + k) % k * k + (j + step[way][1] + k) % k;
	int column = 2 + ((c - 1) * k * k + node) * 4 + way;
	int rows = (c - 1) * k * k;

	add_entry(e, 1 + rows + node, column, 1);
	add_entry(e, 1 + rows + next, column, -1);
	add_entry(e, 1 + (k - 1) * k * k + way * k + (j - i + k) % k, column, 1);
}

/* Returns by how many tiles the busiest link is least busy. */
static double least_busy(int k)
{
	struct entries *e = arena_alloc(arena, 1, sizeof(*e));
	int flows = (k - 1) * k * k, classes = 4 * k;
	glp_prob *lp = glp_create_prob();
	double least;

	glp_term_out(GLP_OFF);
	glp_add_rows(lp, flows + classes);
	glp_add_cols(lp, 1 + 4 * flows);
	glp_set_col_bnds(lp, 1, GLP_LO, 0, 0);
	glp_set_obj_coef(lp, 1, 1);
	for (int i = 2; i <= 1 + 4 * flows; i++)
		glp_set_col_bnds(lp, i, GLP_LO, 0, 0);
	for (int c = 1; c < k; c++)
		for (int node = 0; node < k * k; node++) {
			int out = (node == c) - (node == c * k);

			glp_set_row_bnds(lp, 1 + (c - 1) * k * k + node, GLP_FX, out, 0);
			for (int way = 0; way < 4; way++)
				add_link(e, k, c, node, way);
		}
	for (int i = 1; i <= classes; i++) {
		glp_set_row_bnds(lp, flows + i, GLP_UP, 0, 0);
		add_entry(e, flows + i, 1, -1);
	}
	glp_load_matrix(lp, e->n, e->row, e->column, e->value);
	ck_assert_int_eq(glp_simplex(lp, NULL), 0);
	ck_assert_int_eq(glp_get_status(lp), GLP_OPT);
	least = glp_get_obj_val(lp);
	glp_delete_prob(lp);
	return least;
}

/* By how much the flows may be above the program's: tiles go in at most 16 equal shares. */
static const struct {
	int k;
	double most;
} sides[] = {{3, 1.02}, {4, 1.02}, {5, 1.08}, {6, 1.08}, {8, 1.075}};

START_TEST(transpositions_are_near_the_program)
{
	int32_t k = sides[_i].k, shape[] = {k, k};
	struct machine *m = flow_machine(arena, flow_torus(arena, 2, shape), false);
	const char *array = arena_printf(arena, "f32[%d,%d]", 32 * k, 32 * k);
	struct problem *p = case_of_texts(arena, arena_printf(arena, "x=%d,y=%d", k, k),
	                                  array, "P('x','y')", "P('y','x')");
	double least_s = 32 * 32 * 4 * least_busy(k) / bound_ici.bandwidth_Bps;
	struct found found;

	ck_assert(flow_find(&found, p, m, flow_identity(arena, p->ndevices), FLOW_ALL,
	                    arena));
	printf("%d x %d: %.3f of the program, which is %.4f tiles\n", k, k,
	       found.flows.busiest_s / least_s, least_busy(k));
	ck_assert_double_le(bound_s(p, m, NULL), least_s * (1 + 1e-9));
	ck_assert_double_ge(found.flows.busiest_s, least_s * (1 - 1e-9));
	ck_assert_double_le(found.flows.busiest_s, least_s * sides[_i].most);
}
END_TEST

Suite *tests(void)
{
	Suite *suite = suite_create("transpose_lp");
	TCase *c = tcase_create("transpose_lp");

	tcase_set_timeout(c, 240);
	tcase_add_checked_fixture(c, setup, teardown);
	tcase_add_loop_test(c, transpositions_are_near_the_program, 0,
	                    (int)(sizeof(sides) / sizeof(*sides)));
	suite_add_tcase(suite, c);
	return suite;
}
