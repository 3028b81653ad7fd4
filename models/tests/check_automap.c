/*
 * Propagation and the collectives that follow, against published counts and closed forms.
 */
#include "automap/tariff.h"
#include "placement/matrix.h"
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

static const int32_t mesh_8x4[] = {8, 4};

#define COUNTS(c, text) ck_assert_str_eq(automap_counts(arena, c), text)

/*
 * Table 1 of arXiv 2210.06352: all-gathers, all-reduces and reduce-scatters of 24 layers
 * on a mesh of 8 x 4, for data parallelism, Megatron on top of it, and ZeRO-3 on top of
 * both. 387 are 386 gradients and the loss, 96 are 4 of each layer, 578 are 386
 * parameters and 8 of each layer once more in the backward pass. The count is the same
 * whatever the optimizer, and whether layers are folded or not.
 */
START_TEST(published_counts)
{
	static const int optimizers[] = {OPTIMIZER_SGD, OPTIMIZER_ADAM};
	struct architecture m = automap_model(arena, "gpt-24");
	struct cutting *c;

	m.train.optimizer = optimizers[_i / 2];
	c = automap_cutting(arena, automap_train(arena, &m, _i % 2), 2, mesh_8x4);
	ck_assert_int_eq(c->graph->repeats->run.n, 3);
	COUNTS(c, "0 0 0 0");
	ck_assert_int_eq(automap_tactic(c, "data", 0), 1);
	COUNTS(c, "0 387 0 0");
	ck_assert_int_eq(automap_tactic(c, "megatron", 1), 2);
	COUNTS(c, "0 483 0 0");
	automap_tactic(c, "zero3", 0);
	COUNTS(c, "578 97 386 0");
}
END_TEST

/* Per layer 2 all-reduces forward and 2 backward, of batch x seq x hidden elements each. */
START_TEST(megatron_reduces_four_times)
{
	static const char *const models[] = {"llama-3-8b", "llama-3-70b", "gpt-24"};
	struct architecture m = automap_model(arena, models[_i]);
	const int32_t size[] = {4};
	struct cutting *c;
	struct evaluator e;
	struct evaluation r;

	m.train.global_batch = 1;
	m.train.seq = 1024;
	/* The head alone would add its own. */
	m.head = HEAD_NONE;
	c = automap_cutting(arena, automap_train(arena, &m, true), 1, size);
	automap_tactic(c, "megatron", 0);
	evaluator_start(&e, arena, c->graph, NULL);
	r = evaluate(&e, c);
	ck_assert_double_eq(r.count[COUNT_REDUCE], 4. * (double)m.layers);
	ck_assert_double_eq(r.bytes[COUNT_REDUCE],
	                    4. * (double)m.layers * 1024 * (double)m.hidden * 2);
	ck_assert_double_eq(r.count[COUNT_GATHER] + r.count[COUNT_SCATTER] +
	                            r.count[COUNT_ALL_TO_ALL],
	                    0);
}
END_TEST

/* y = act(x v) w with its gradients; n = 64 tokens of h = 32, a hidden layer of 4 h. */
static const char mlp[] =
	"HloModule mlp, input_output_alias={ {2}: (2, {}), {3}: (3, {}) }\n"
	"ENTRY %main {\n"
	"  %x = f32[64,32] parameter(0)\n"
	"  %dy = f32[64,32] parameter(1)\n"
	"  %v = f32[32,128] parameter(2)\n"
	"  %w = f32[128,32] parameter(3)\n"
	"  %z = f32[64,128] dot(%x, %v), lhs_contracting_dims={1}, "
	"rhs_contracting_dims={0}\n"
	"  %a = f32[64,128] tanh(%z)\n"
	"  %y = f32[64,32] dot(%a, %w), lhs_contracting_dims={1}, "
	"rhs_contracting_dims={0}\n"
	"  %da = f32[64,128] dot(%dy, %w), lhs_contracting_dims={1}, "
	"rhs_contracting_dims={1}, metadata={op_name=\"backward/dot\"}\n"
	"  %dw = f32[128,32] dot(%a, %dy), lhs_contracting_dims={0}, "
	"rhs_contracting_dims={0}, metadata={op_name=\"backward/dot\"}\n"
	"  %dz = f32[64,128] multiply(%da, %z), metadata={op_name=\"backward/mul\"}\n"
	"  %dv = f32[32,128] dot(%x, %dz), lhs_contracting_dims={0}, "
	"rhs_contracting_dims={0}, metadata={op_name=\"backward/dot\"}\n"
	"  %dx = f32[64,32] dot(%dz, %v), lhs_contracting_dims={1}, "
	"rhs_contracting_dims={1}, metadata={op_name=\"backward/dot\"}\n"
	"  %v1 = f32[32,128] subtract(%v, %dv), metadata={op_name=\"update/sub\"}\n"
	"  %w1 = f32[128,32] subtract(%w, %dw), metadata={op_name=\"update/sub\"}\n"
	"  ROOT %t = (f32[64,32], f32[64,32], f32[32,128], f32[128,32]) tuple(%y, %dx, "
	"%v1, %w1)\n}\n";

/* Activations of the block's ends are whole on every device. */
static void keep_ends(struct cutting *c)
{
	const struct graph *g = c->graph;

	for (int32_t v = 0; v < g->value.n; v++) {
		const struct graph_value *value = &g->value.at[v];

		if ((value->result && value->becomes < 0) ||
		    (value->argument >= 0 && value->argument < 2))
			cutting_atomic(c, v, 0);
	}
}

/* Whether the same array was brought to the same form before, in the other pass. */
static bool seen_before(const struct lowered_cuts *l, int64_t at)
{
	for (int64_t i = 0; i < at; i++)
		if (l->step.at[i].op == OP_EXCHANGE && l->step.at[at].op == OP_EXCHANGE &&
		    l->step.at[i].value == l->step.at[at].value &&
		    cuts_equal(&l->step.at[i].to, &l->step.at[at].to))
			return true;
	return false;
}

/*
 * Bytes that a device sends by rings, in units of (T - 1) / T of an activation. What is
 * gathered for the forward pass is kept for the backward one.
 */
static double volume(const struct cutting *c)
{
	const struct graph *g = c->graph;
	struct lowered_cuts l;
	double sum = 0;

	lower_start(&l, arena, g);
	lower_cuts(&l, c);
	for (int64_t i = 0; i < l.step.n; i++) {
		const struct transfer_step *s = &l.step.at[i];
		double whole = g->value.at[s->value].bytes / (64 * 32 * 4);
		struct hop hop[HOPS_MAX];

		if (s->op == OP_ALL_REDUCE)
			sum += 2 * whole / (double)cuts_all(&s->from, c->size);
		else if (s->op == OP_REDUCE_SCATTER)
			sum += whole;
		else if (!seen_before(&l, i) && reshard_hops(hop, &s->from, &s->to) &&
		         hop[0].op == OP_ALL_GATHER)
			sum += whole;
	}
	return sum;
}

/*
 * All ways to cut both weights of a feed-forward layer, by hand: columns, then rows, is
 * Megatron-LM's. By columns twice the hidden layer (4 units) and y are gathered, its
 * gradient is reduce-scattered (4), that of x all-reduced (2): 11. By rows twice z is
 * reduce-scattered (4), y all-reduced (2), dz gathered (4), dx gathered: 11. Rows, then
 * columns: z and da are all-reduced (8 each), y and dx gathered: 18. Whole weights move
 * nothing.
 */
START_TEST(ways_to_cut_a_layer)
{
	static const struct {
		int v, w; /* dimensions; -1: whole */
		double units;
	} way[] = {{1, 0, 4}, {1, 1, 11}, {0, 0, 11}, {0, 1, 18}, {-1, -1, 0}};
	const int32_t t[] = {2, 4, 8};

	for (size_t i = 0; i < sizeof(way) / sizeof(*way); i++)
		for (int k = 0; k < 3; k++) {
			struct cutting *c = automap_cutting(
				arena, automap_graph(arena, mlp, false), 1, &t[k]);

			keep_ends(c);
			/* By columns the first one cuts the other by rows, if it can. */
			if (way[i].v == 1 && way[i].w == 1)
				automap_cut(c, "w", way[i].w, 0);
			if (way[i].v >= 0)
				automap_cut(c, "v", way[i].v, 0);
			if (way[i].v == 0)
				automap_cut(c, "w", way[i].w, 0);
			ck_assert_double_eq(volume(c), way[i].units);
		}
}
END_TEST

/* Whatever actions come, taking them back leads to where they began. */
START_TEST(takes_back)
{
	struct architecture m = automap_model(arena, "gpt-24");
	struct cuts *values, *ops;
	struct cutting *c;
	size_t nvalues, nops;
	int64_t mark;

	m.layers = 2;
	c = automap_cutting(arena, automap_train(arena, &m, true), 2, mesh_8x4);
	nvalues = (size_t)c->graph->value.n;
	nops = (size_t)c->graph->op.n;
	automap_tactic(c, "data", 0);
	values = arena_dup(arena, c->value, nvalues, sizeof(*values));
	ops = arena_dup(arena, c->op, nops, sizeof(*ops));
	mark = cutting_mark(c);
	automap_tactic(c, "megatron", 1);
	automap_tactic(c, "zero2", 0);
	ck_assert(memcmp(values, c->value, nvalues * sizeof(*values)));
	cutting_undo(c, mark);
	ck_assert_mem_eq(values, c->value, nvalues * sizeof(*values));
	ck_assert_mem_eq(ops, c->op, nops * sizeof(*ops));
	COUNTS(c, "0 35 0 0");
	automap_tactic(c, "megatron", 1);
	COUNTS(c, "0 43 0 0");
}
END_TEST

/* Folded layers have the counts and, but for the two ends, the memory of all of them. */
START_TEST(folds_layers)
{
	static const char *const models[] = {"llama-3-8b", "mixtral-8x7b",
	                                     "deepseek-v3"};
	static const char *const tactics[] = {"data", "megatron", "sequence", "zero3"};
	struct architecture m = automap_model(arena, models[_i]);
	struct cutting *c[2];

	m.train.global_batch = 8;
	for (int fold = 0; fold < 2; fold++)
		c[fold] = automap_cutting(arena, automap_train(arena, &m, fold), 2,
		                          mesh_8x4);
	ck_assert_int_lt(c[1]->graph->op.n, c[0]->graph->op.n / 4);
	for (int i = 0; i < 4; i++) {
		struct evaluation r[2];

		for (int fold = 0; fold < 2; fold++) {
			struct evaluator e;

			automap_tactic(c[fold], tactics[i], i == 1 || i == 2);
			evaluator_start(&e, arena, c[fold]->graph, NULL);
			r[fold] = evaluate(&e, c[fold]);
		}
		for (int k = 0; k < COUNTS; k++) {
			ck_assert_double_eq(r[1].count[k], r[0].count[k]);
			ck_assert_double_eq(r[1].bytes[k], r[0].bytes[k]);
		}
		ck_assert_double_eq_tol(r[1].params_bytes / r[0].params_bytes, 1, 1e-9);
		ck_assert_double_eq_tol(r[1].peak_bytes / r[0].peak_bytes, 1, .01);
	}
}
END_TEST

/*
 * Parts of sequences on 4 devices: keys and values are gathered for attention in both
 * passes, and their gradients scattered; experts on 4: their tokens go there and back by
 * all-to-alls (rows, their gates, and gradients of both), and nothing is gathered.
 */
START_TEST(parallel_attention_and_experts)
{
	struct architecture m = automap_model(arena, "llama-3-8b");
	const int32_t size[] = {2, 4};
	struct cutting *c;
	struct evaluator e;
	struct evaluation r;

	m.train.global_batch = 8;
	c = automap_cutting(arena, automap_train(arena, &m, true), 2, size);
	automap_tactic(c, "data", 0);
	automap_tactic(c, "context", 1);
	evaluator_start(&e, arena, c->graph, NULL);
	r = evaluate(&e, c);
	ck_assert_double_eq(r.count[COUNT_GATHER], 4. * (double)m.layers);
	ck_assert_double_eq(r.count[COUNT_SCATTER], 2. * (double)m.layers);
	ck_assert_double_eq(r.count[COUNT_ALL_TO_ALL], 0);

	m = automap_model(arena, "mixtral-8x7b");
	m.train.global_batch = 8;
	c = automap_cutting(arena, automap_train(arena, &m, true), 2, size);
	automap_tactic(c, "expert", 1);
	automap_tactic(c, "data", 0);
	automap_tactic(c, "data", 1);
	evaluator_start(&e, arena, c->graph, NULL);
	r = evaluate(&e, c);
	ck_assert_double_eq(r.count[COUNT_GATHER] + r.count[COUNT_SCATTER], 0);
	ck_assert_double_eq(r.count[COUNT_ALL_TO_ALL], 8. * (double)m.layers);
}
END_TEST

/* ZeRO-2 keeps parameters whole and gathers the new ones once, behind the update. */
START_TEST(keeps_states_in_parts)
{
	struct architecture m = automap_model(arena, "gpt-24");
	struct cutting *c;
	struct evaluator e;
	struct evaluation before, after;

	m.train.optimizer = OPTIMIZER_ADAM;
	c = automap_cutting(arena, automap_train(arena, &m, true), 2, mesh_8x4);
	automap_tactic(c, "data", 0);
	automap_tactic(c, "megatron", 1);
	evaluator_start(&e, arena, c->graph, NULL);
	before = evaluate(&e, c);
	automap_tactic(c, "zero2", 0);
	after = evaluate(&e, c);
	/* Gradients are scattered, new parameters gathered: 386 of each. */
	COUNTS(c, "386 97 386 0");
	/* Of 14 bytes a parameter 2 stay whole, and the others are an eighth. */
	ck_assert_double_eq_tol(after.params_bytes / before.params_bytes,
	                        (2 + 12. / 8) / 14, .01);
}
END_TEST

/*
 * With fast links Megatron's cuts of a feed-forward layer take less time than the whole
 * layer on every device: its two all-reduces, 16 n h (T - 1) / T bytes, against 48 n h^2
 * (1 - 1 / T) flops, so that it pays from links of F / 3h bytes per second on.
 */
START_TEST(pays_from_a_width_on)
{
	const int32_t t[] = {4};
	const double flops = 1e12, threshold = flops / (3 * 32);

	for (int k = 0; k < 2; k++) {
		struct plain_machine machine = {
			{threshold * (k ? 1.05 : .95)}, 0, flops, 1e30, {4}};
		struct cut_prices prices = automap_tariff(&machine);
		struct cutting *c =
			automap_cutting(arena, automap_graph(arena, mlp, false), 1, t);
		struct evaluator e;
		double whole;

		keep_ends(c);
		evaluator_start(&e, arena, c->graph, &prices);
		whole = evaluate(&e, c).step_s;
		automap_cut(c, "v", 1, 0);
		COUNTS(c, "0 2 0 0");
		ck_assert_int_eq(evaluate(&e, c).step_s < whole, k);
	}
}
END_TEST

/*
 * The rule of AutoParallel (meta-pytorch/autoparallel): where memory is what limits a product of M
 * tokens with a K x N matrix, cutting the matrix by columns reads M K + K N / T elements, cutting
 * tokens M K / T + K N, so that tokens win where M > N: with 8,192 tokens for the output
 * projection of Llama-3-8B (4,096), while 70B (8,192) is just at the crossover.
 */
START_TEST(tokens_or_columns)
{
	static const int width[] = {4096, 8192, 16384};
	static const int sign[] = {1, 0, -1}; /* of columns' time less tokens' */
	const int32_t t[] = {8};
	struct plain_machine machine = {{1e30}, 0, 1e30, 1e12, {8}};
	struct cut_prices prices = automap_tariff(&machine);
	double s[2], more;

	for (int k = 0; k < 2; k++) {
		const struct graph *g = automap_graph(
			arena,
			arena_printf(arena,
		                     "HloModule p\nENTRY %%main {\n"
		                     "  %%x = bf16[8192,%d] parameter(0)\n"
		                     "  %%w = bf16[%d,%d] parameter(1)\n"
		                     "  ROOT %%y = bf16[8192,%d] dot(%%x, %%w), "
		                     "lhs_contracting_dims={1}, "
		                     "rhs_contracting_dims={0}\n}\n",
		                     width[_i], width[_i], width[_i], width[_i]),
			false);
		struct cutting *c = automap_cutting(arena, g, 1, t);
		struct evaluator e;

		automap_cut(c, k ? "x" : "w", k ? 0 : 1, 0);
		evaluator_start(&e, arena, g, &prices);
		s[k] = evaluate(&e, c).step_s;
	}
	more = s[0] - s[1];
	ck_assert_int_eq((more > 1e-12) - (more < -1e-12), sign[_i]);
}
END_TEST

/*
 * batch=4, model=16 on 4 nodes of 16 devices that share a NIC of 8 GB/s (arXiv
 * 2110.10548, figure 9a, A100): with the axis model inside the nodes a step is faster
 * than with it across them.
 */
START_TEST(places_axes)
{
	struct link nvlink = {"nvlink", 270e9, 1e-6}, nic = {"nic", 8e9 / 16, 3e-6};
	struct device device = {40e9, 1.5e12, 5e-6};
	struct machine *m = machine_gpu(arena, 4, 16, nvlink, nic, device);
	struct architecture of = automap_model(arena, "gpt-24");
	const int32_t size[] = {4, 16};
	struct matrix inside = {2, 2, {{4, 1}, {1, 16}}},
		      across = {2, 2, {{1, 4}, {4, 4}}};
	const struct matrix *matrix[] = {&inside, &across};
	struct mesh mesh = {
		.naxes = 2, .axis = {{"batch", 4}, {"model", 16}}, .ndevices = 64};
	struct cutting *c =
		automap_cutting(arena, automap_train(arena, &of, true), 2, size);
	struct group_prices *shared = group_prices_new(m);
	double s[2];

	m->tuning.value[TUNING_BF16_FLOPS] = 312e12;
	m->tuning.value[TUNING_F32_FLOPS] = 19e12;
	automap_tactic(c, "data", 0);
	automap_tactic(c, "megatron", 1);
	for (int i = 0; i < 2; i++) {
		struct machine_tariff *t = machine_tariff_new(
			m, shared, &mesh, matrix_devices(matrix[i], arena), NULL);
		struct cut_prices prices = machine_tariff_prices(t);
		struct evaluator e;

		evaluator_start(&e, arena, c->graph, &prices);
		s[i] = evaluate(&e, c).step_s;
		machine_tariff_free(t);
	}
	ck_assert_double_lt(s[0], s[1]);
	group_prices_free(shared);
}
END_TEST

/* Code that nothing reads, wherever it is, changes neither what runs nor what is cut. */
START_TEST(dead_code_is_nothing)
{
	static const char *const dead[] = {"", "%d = f32[] constant(1)\n",
	                                   "%d = f32[8,4] add(%x, %x)\n"
	                                   "%e = f32[8,4] add(%d, %x)\n"};
	struct text text = {0};
	const struct graph *g;
	struct cutting *c;

	for (int i = 0; i < 2; i++) {
		text.length = 0;
		text_printf(&text,
		            "HloModule m\nENTRY e {\n%%x = f32[8,4] parameter(0)\n"
		            "%s%%y = f32[8,4] multiply(%%x, %%x)\n%sROOT %%r = "
		            "f32[8,4] negate(%%y)\n}\n",
		            i ? "" : dead[_i], i ? dead[_i] : "");
		g = automap_graph(arena, text.s, true);
		ck_assert_int_eq(g->repeats->run.n, 0);
		ck_assert_int_eq(g->op.n, 2);
		ck_assert_int_eq(g->value.n, 3);
		for (int64_t v = 0; v < g->flat->value.n; v++)
			ck_assert_int_lt(g->flat->value.at[v].step, g->flat->step.n);
		c = automap_cutting(arena, g, 1, (const int32_t[]){4});
		automap_cut(c, "x", 0, 0);
		COUNTS(c, "0 0 0 0");
	}
	text_free(&text);
}
END_TEST

Suite *tests(void)
{
	Suite *s = suite_create("automap");
	TCase *t = tcase_create("counts");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_set_timeout(t, 60);
	tcase_add_loop_test(t, published_counts, 0, 4);
	tcase_add_loop_test(t, megatron_reduces_four_times, 0, 3);
	tcase_add_test(t, ways_to_cut_a_layer);
	tcase_add_test(t, takes_back);
	tcase_add_loop_test(t, folds_layers, 0, 3);
	tcase_add_test(t, parallel_attention_and_experts);
	tcase_add_test(t, keeps_states_in_parts);
	tcase_add_test(t, pays_from_a_width_on);
	tcase_add_loop_test(t, tokens_or_columns, 0, 3);
	tcase_add_test(t, places_axes);
	tcase_add_loop_test(t, dead_code_is_nothing, 0, 3);
	suite_add_tcase(s, t);
	return s;
}
