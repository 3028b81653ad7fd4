/*
 * Searches against optima that others have published: the solver tests of Alpa
 * (github.com/alpa-projects/alpa, playground/auto_sharding_solver, test_solver_mlp.py and
 * test_solver_attention.py), to the 1e-3 that these ask for.
 *
 * Their prices: a collective over an axis of n devices takes 1 + B bytes, (n - 1) / n of
 * these for a gather and twice that for an all-reduce (and .1 and .01 to break ties); only
 * all-reduces and whole gathers are to be had, and in the tests of attention a gather costs
 * 1e8. Slices are free. A matmul has to be split over all axes: so flops cost more here than
 * any collective, and the least that they cost is taken off in the end.
 */
#include "tests/automap_help.h"
#include "tests/program_help.h"
#include "tests/tests.h"

#include <check.h>
#include <math.h>

static struct arena *arena;

static void setup(void)
{
	arena = arena_new();
}

static void teardown(void)
{
	arena_free(arena);
}

enum { FLOP_S = 100 };

struct alpa {
	double B[CUT_AXES];
	int32_t size[CUT_AXES];
	double gather_s; /* 0: by its bytes */
};

static double all_reduce_s(const struct alpa *m, int axis, double bytes)
{
	double n = m->size[axis];

	return 1 + 2 * m->B[axis] * (n - 1) / n * bytes + .01;
}

static double collective_s(void *self, const struct collective_ask *ask)
{
	const struct alpa *m = self;
	double sum = 0;

	if (ask->op == OP_SLICE)
		return 0;
	if (ask->op == OP_REDUCE_SCATTER || ask->op == OP_ALL_TO_ALL)
		return 1e12;
	for (int axis = 0; axis < 2; axis++) {
		double n = m->size[axis];

		if (ask->op == OP_ALL_REDUCE && ask->axes >> axis & 1)
			sum += all_reduce_s(m, axis, ask->bytes);
		else if (cuts_at(&ask->from, axis) != cuts_at(&ask->to, axis))
			sum += m->gather_s > 0
			               ? m->gather_s
			               : 1 + m->B[axis] * (n - 1) * ask->bytes + .1;
	}
	return sum;
}

static double kernel_s(void *self, const struct compute_ask *ask)
{
	(void)self;
	return ask->kind == COMPUTE_MATMUL ? FLOP_S * ask->flops : 0;
}

/* What the search finds besides matmuls that are all split; `whole`: its results are. */
static double find(struct alpa *m, const char *text, const char *const *like, int nlike,
                   bool whole)
{
	struct program p = program_sample_text(arena, text);
	struct cut_prices prices = {collective_s, kernel_s, NULL, NULL, m};
	struct evaluator e;
	struct search s = {.evaluator = &e};
	struct error error = {0};
	struct graph g;
	double flops = 0;

	ck_assert(graph_make(&g, arena, &p, false, like, nlike, &error) == OK);
	s.cutting = automap_cutting(arena, &g, m->size[1] > 1 ? 2 : 1, m->size);
	for (int64_t v = 0; v < g.value.n && whole; v++)
		for (int axis = 0; g.value.at[v].result && axis < s.cutting->naxes;
		     axis++)
			cutting_atomic(s.cutting, (int32_t)v, axis);
	for (int64_t i = 0; i < g.kernel.n; i++)
		if (g.kernel.at[i].ask.kind == COMPUTE_MATMUL)
			flops += g.kernel.at[i].ask.flops;
	evaluator_start(&e, arena, &g, &prices);
	search_start(&s, arena);
	search_structure(&s);
	return s.best.step_s - FLOP_S * flops / m->size[0] / m->size[1];
}

/* --- chains of matmuls ------------------------------------------------------------ */

static const char *weight(int i)
{
	return arena_printf(arena, "%s%d", i % 2 ? "odd" : "even", i);
}

/* %a1 = x w1, ..., and the gradient %dn of the mean square of y - %an. */
static void put_forward(struct text *t, int n, int batch, int h)
{
	for (int i = 1; i <= n; i++)
		text_printf(t, "  %%%s = f32[%d,%d] parameter(%d)\n", weight(i), h, h,
		            i + 1);
	for (int i = 1; i <= n; i++)
		text_printf(t,
		            "  %%a%d = f32[%d,%d] dot(%%a%d, %%%s), "
		            "lhs_contracting_dims={1}, rhs_contracting_dims={0}\n",
		            i, batch, h, i - 1, weight(i));
	text_printf(t, "  %%loss = f32[%d,%d] subtract(%%a%d, %%y)\n", batch, h, n);
	text_printf(t, "  %%c = f32[] constant(0.001)\n");
	text_printf(t, "  %%cs = f32[%d,%d] broadcast(%%c), dimensions={}\n", batch, h);
	text_printf(t, "  %%d%d = f32[%d,%d] multiply(%%loss, %%cs)\n", n, batch, h);
}

/* A step of SGD of n matrices of h x h; odd and even ones are told apart by name. */
static const char *chain(int n, int batch, int h)
{
	struct text t = {0};

	text_printf(&t, "HloModule chain, input_output_alias={ ");
	for (int i = 0; i < n; i++)
		text_printf(&t, "%s{%d}: (%d, {})", i ? ", " : "", i, i + 2);
	text_printf(&t, " }\nENTRY %%main {\n  %%a0 = f32[%d,%d] parameter(0)\n", batch,
	            h);
	text_printf(&t, "  %%y = f32[%d,%d] parameter(1)\n", batch, h);
	put_forward(&t, n, batch, h);
	for (int i = n; i >= 1; i--) {
		text_printf(&t,
		            "  %%g%d = f32[%d,%d] dot(%%a%d, %%d%d), "
		            "lhs_contracting_dims={0}, rhs_contracting_dims={0}, "
		            "metadata={op_name=\"backward/dot\"}\n",
		            i, h, h, i - 1, i);
		if (i > 1)
			text_printf(&t,
			            "  %%d%d = f32[%d,%d] dot(%%d%d, %%%s), "
			            "lhs_contracting_dims={1}, "
			            "rhs_contracting_dims={1}, "
			            "metadata={op_name=\"backward/dot\"}\n",
			            i - 1, batch, h, i, weight(i));
	}
	for (int i = 1; i <= n; i++)
		text_printf(&t,
		            "  %%n%d = f32[%d,%d] subtract(%%%s, %%g%d), "
		            "metadata={op_name=\"update/sub\"}\n",
		            i, h, h, weight(i), i);
	text_printf(&t, "  ROOT %%t = (");
	for (int i = 0; i < n; i++)
		text_printf(&t, "%sf32[%d,%d]", i ? ", " : "", h, h);
	text_printf(&t, ") tuple(");
	for (int i = 1; i <= n; i++)
		text_printf(&t, "%s%%n%d", i > 1 ? ", " : "", i);
	text_printf(&t, ")\n}\n");
	return text_take(&t, arena);
}

/*
 * On 4 devices a large batch wants data parallelism, an all-reduce of each weight's
 * gradient; wide layers want their columns and rows cut by turns, an all-reduce of
 * activations for each layer but one. On two axes both are mixed. 3 does not divide the
 * batch of 1,024, which Alpa prices as if it did, and ours are cut evenly: ours is 1,023
 * there, for which the published optimum changes by 1e-4. Of axes that change places
 * (1,4) is the same as (4,1) to us: axes of one device are none.
 */
START_TEST(finds_the_optima_of_chains)
{
	static const struct {
		int n, batch, h;
		int32_t size[2];
		double B[2];
		/* All-reduces of gradients over axis 0, of activations over the last one. */
		int gradients, activations;
		double published_batch;
	} of[] = {
		{2, 1024, 128, {4, 1}, {1, 1}, 2, 0, 1024},
		{2, 128, 1024, {4, 1}, {1, 1}, 0, 1, 128},
		{12, 1024, 128, {4, 1}, {1, 1}, 12, 0, 1024},
		{12, 128, 1024, {4, 1}, {1, 1}, 0, 11, 128},
		{2, 1024, 128, {4, 8}, {1, .01}, 2, 1, 1024},
		{2, 1024, 128, {8, 4}, {1, .01}, 2, 1, 1024},
		{2, 1023, 128, {3, 4}, {1, .01}, 2, 1, 1024},
		{4, 1024, 128, {4, 8}, {1, .01}, 4, 3, 1024},
		{4, 1024, 128, {8, 4}, {1, .01}, 4, 3, 1024},
		{4, 1023, 128, {3, 4}, {1, .01}, 4, 3, 1024},
		{12, 1024, 128, {4, 8}, {1, .01}, 12, 11, 1024},
		{12, 1024, 128, {8, 4}, {1, .01}, 12, 11, 1024},
		{12, 1023, 128, {3, 4}, {1, .01}, 12, 11, 1024},
	};
	static const char *const like[] = {"odd", "even"};
	struct alpa m = {{of[_i].B[0], of[_i].B[1]}, {of[_i].size[0], of[_i].size[1]}, 0};
	bool two = m.size[1] > 1;
	double found = find(&m, chain(of[_i].n, of[_i].batch, of[_i].h), like, 2, false);
	double h = of[_i].h;
	double wanted =
		of[_i].gradients * all_reduce_s(&m, 0, h * h * 4 / m.size[1]) +
		of[_i].activations * all_reduce_s(&m, two,
	                                          of[_i].published_batch * h * 4 /
	                                                  (two ? m.size[0] : 1));

	ck_assert_msg(fabs(found / wanted - 1) < 1e-3, "%.9g of %.9g", found, wanted);
}
END_TEST

/* --- attention -------------------------------------------------------------------- */

/* A projection of the hidden states and its bias, by heads, as [b, s, heads, d]. */
static void put_projection(struct text *t, const char *name, int b, int s, int h,
                           int heads, int first)
{
	int d = h / heads;

	text_printf(t, "  %%w%s = f32[%d,%d,%d] parameter(%d)\n", name, h, heads, d,
	            first);
	text_printf(t, "  %%b%s = f32[%d,%d] parameter(%d)\n", name, heads, d,
	            first + 1);
	text_printf(t, "  %%m%s = f32[%d,%d] reshape(%%w%s)\n", name, h, h, name);
	text_printf(t,
	            "  %%p%s = f32[%d,%d] dot(%%x, %%m%s), lhs_contracting_dims={1}, "
	            "rhs_contracting_dims={0}\n",
	            name, b * s, h, name);
	text_printf(t, "  %%r%s = f32[%d,%d,%d,%d] reshape(%%p%s)\n", name, b, s, heads,
	            d, name);
	text_printf(t, "  %%c%s = f32[%d,%d,%d,%d] broadcast(%%b%s), dimensions={2,3}\n",
	            name, b, s, heads, d, name);
	text_printf(t, "  %%%s = f32[%d,%d,%d,%d] add(%%r%s, %%c%s)\n", name, b, s,
	            heads, d, name, name);
}

/* Scores of %q and %k with a mask, and their softmax, as [b, heads, s, s]. */
static void put_scores(struct text *t, int b, int s, int heads, int d)
{
	const char *scores = arena_printf(arena, "f32[%d,%d,%d,%d]", b, heads, s, s);
	const char *rows = arena_printf(arena, "f32[%d,%d,%d]", b, heads, s);

	text_printf(t, "  %%eighth = f32[] constant(0.125)\n");
	text_printf(t,
	            "  %%eighths = f32[%d,%d,%d,%d] broadcast(%%eighth), "
	            "dimensions={}\n",
	            b, s, heads, d);
	text_printf(t, "  %%qs = f32[%d,%d,%d,%d] multiply(%%eighths, %%q)\n", b, s,
	            heads, d);
	text_printf(t,
	            "  %%qt = f32[%d,%d,%d,%d] transpose(%%qs), dimensions={0,2,1,3}\n",
	            b, heads, s, d);
	text_printf(t,
	            "  %%kt = f32[%d,%d,%d,%d] transpose(%%k), dimensions={0,2,3,1}\n",
	            b, heads, d, s);
	text_printf(t,
	            "  %%qk = %s dot(%%qt, %%kt), lhs_batch_dims={0,1}, "
	            "rhs_batch_dims={0,1}, lhs_contracting_dims={3}, "
	            "rhs_contracting_dims={2}\n",
	            scores);
	text_printf(t, "  %%mask = f32[%d,%d] parameter(1)\n", b, s);
	text_printf(t, "  %%masks = %s broadcast(%%mask), dimensions={0,3}\n", scores);
	text_printf(t, "  %%masked = %s add(%%qk, %%masks)\n", scores);
	text_printf(t, "  %%zero = f32[] constant(0)\n");
	text_printf(t,
	            "  %%top = %s reduce(%%masked, %%zero), dimensions={3}, "
	            "to_apply=%%max\n",
	            rows);
	text_printf(t, "  %%tops = %s broadcast(%%top), dimensions={0,1,2}\n", scores);
	text_printf(t, "  %%low = %s subtract(%%masked, %%tops)\n", scores);
	text_printf(t, "  %%exp = %s exponential(%%low)\n", scores);
	text_printf(t,
	            "  %%sum = %s reduce(%%exp, %%zero), dimensions={3}, "
	            "to_apply=%%add\n",
	            rows);
	text_printf(t, "  %%sums = %s broadcast(%%sum), dimensions={0,1,2}\n", scores);
	text_printf(t, "  %%softmax = %s divide(%%exp, %%sums)\n", scores);
}

static const char *attention(int b, int s, int h, int heads)
{
	int d = h / heads;
	struct text t = {0};

	text_printf(&t, "HloModule attention\n");
	for (int i = 0; i < 2; i++)
		text_printf(&t,
		            "%%%s {\n  %%l%d = f32[] parameter(0)\n"
		            "  %%h%d = f32[] parameter(1)\n"
		            "  ROOT %%o%d = f32[] %s(%%l%d, %%h%d)\n}\n",
		            i ? "max" : "add", i, i, i, i ? "maximum" : "add", i, i);
	text_printf(&t, "ENTRY %%main {\n  %%hidden = f32[%d,%d,%d] parameter(0)\n", b,
	            s, h);
	text_printf(&t, "  %%x = f32[%d,%d] reshape(%%hidden)\n", b * s, h);
	put_projection(&t, "q", b, s, h, heads, 2);
	put_projection(&t, "k", b, s, h, heads, 4);
	put_projection(&t, "v", b, s, h, heads, 6);
	put_scores(&t, b, s, heads, d);
	text_printf(&t,
	            "  %%vt = f32[%d,%d,%d,%d] transpose(%%v), dimensions={0,2,3,1}\n",
	            b, heads, d, s);
	text_printf(&t,
	            "  %%self = f32[%d,%d,%d,%d] dot(%%vt, %%softmax), "
	            "lhs_batch_dims={0,1}, rhs_batch_dims={0,1}, "
	            "lhs_contracting_dims={3}, rhs_contracting_dims={3}\n",
	            b, heads, d, s);
	text_printf(&t,
	            "  %%selft = f32[%d,%d,%d,%d] transpose(%%self), "
	            "dimensions={0,3,1,2}\n",
	            b, s, heads, d);
	text_printf(&t, "  %%selfr = f32[%d,%d] reshape(%%selft)\n", b * s, h);
	text_printf(&t, "  %%wo = f32[%d,%d,%d] parameter(8)\n", h, heads, d);
	text_printf(&t, "  %%mo = f32[%d,%d] reshape(%%wo)\n", h, h);
	text_printf(&t,
	            "  %%po = f32[%d,%d] dot(%%selfr, %%mo), "
	            "lhs_contracting_dims={1}, rhs_contracting_dims={0}\n",
	            b * s, h);
	text_printf(&t, "  %%ro = f32[%d,%d,%d] reshape(%%po)\n", b, s, h);
	text_printf(&t, "  %%bo = f32[%d] parameter(9)\n", h);
	text_printf(&t, "  %%co = f32[%d,%d,%d] broadcast(%%bo), dimensions={2}\n", b,
	            s, h);
	text_printf(&t, "  ROOT %%out = f32[%d,%d,%d] add(%%ro, %%co)\n}\n", b, s, h);
	return text_take(&t, arena);
}

/*
 * A forward pass of attention without gathers is Megatron's: heads are cut and the output is
 * reduced once, on all devices of one axis where it has to be whole, and on the devices of
 * the second axis where the first one cuts the batch.
 */
START_TEST(finds_the_optima_of_attention)
{
	static const struct {
		int h;
		int32_t size[2];
		bool whole;
	} of[] = {{512, {4, 1}, true}, {2048, {4, 4}, false}};
	struct alpa m = {{1, 1}, {of[_i].size[0], of[_i].size[1]}, 1e8};
	double found = find(&m, attention(4, 128, of[_i].h, 16), NULL, 0, of[_i].whole);
	double wanted = all_reduce_s(&m, _i, 4. * 128 * of[_i].h * 4 / (_i ? 4 : 1));

	ck_assert_msg(fabs(found / wanted - 1) < 1e-3, "%.9g of %.9g", found, wanted);
}
END_TEST

Suite *tests(void)
{
	Suite *s = suite_create("automap optima");
	TCase *t = tcase_create("Alpa");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_set_timeout(t, 120);
	tcase_add_loop_test(t, finds_the_optima_of_chains, 0, 13);
	tcase_add_loop_test(t, finds_the_optima_of_attention, 0, 2);
	suite_add_tcase(s, t);
	return s;
}
