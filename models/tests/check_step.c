/*
 * The program of a training step against closed forms: parameters, flops and collectives of a
 * transformer under each axis of a job.
 */
#include "program/step.h"
#include "program/tensors.h"
#include "program/work.h"
#include "tests/program_help.h"
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

/* 4 layers of 64, 8 heads, a gated feed-forward layer; 4 sequences of 32 tokens. */
static struct architecture small(void)
{
	struct architecture m = {.name = "small",
	                         .layers = 4,
	                         .hidden = 64,
	                         .heads = 8,
	                         .kv_heads = 8,
	                         .head_dim = 8,
	                         .ffn = 128,
	                         .gated = true,
	                         .vocab = 512,
	                         .vocab_multiple = 1,
	                         .final_norm = true,
	                         .head = HEAD_UNTIED};

	m.train = (struct model_train){.seq = 32,
	                               .global_batch = 64,
	                               .micro_batch = 4,
	                               .dtype = dtype_find("bf16", 4),
	                               .master_dtype = dtype_find("f32", 3),
	                               .optimizer = OPTIMIZER_ADAMW,
	                               .causal = true,
	                               .fuse = FUSE_COMPILED};
	return m;
}

static struct program step_of(const struct architecture *m, struct step_degrees d,
                              struct step_facts *facts)
{
	struct text text = {0}, why = {0};
	struct program p;

	ck_assert_msg(step_text(&text, facts, m, &d, &why), "%s", why.s);
	p = program_sample_text(arena, arena_strdup(arena, text.s));
	text_free(&text);
	text_free(&why);
	return p;
}

/* How often collectives of a kind run in a step, and the bytes of their results. */
struct counted {
	double n, bytes;
};

static struct counted count(const struct program *p, enum opcode code)
{
	struct counted c = {0, 0};

	for (int64_t i = 0; i < p->op.n; i++) {
		const struct instruction *op = &p->op.at[i];
		double runs = p->region.at[op->region].runs;

		if (op->code != code)
			continue;
		c.n += runs;
		c.bytes += runs * (double)op_result_bytes(p, op);
	}
	return c;
}

/* Elements of matrices of the layers, and of the head. */
static double matrices(const struct architecture *m)
{
	double h = (double)m->hidden;

	return (double)m->layers * (4 * h * h + (m->gated ? 3 : 2) * h * (double)m->ffn) +
	       h * (double)m->vocab;
}

/* A micro batch of T tokens: 2 flops forward and 4 backward of each weight. */
START_TEST(computes_what_models_do)
{
	struct architecture m = small();
	struct step_facts f;
	struct program p = step_of(&m, (struct step_degrees){1, 1, 1, 1, 1, 1, 0}, &f);
	double tokens = 64 * 32, layers = matrices(&m) - 64 * 512;

	ck_assert_int_eq(f.devices, 1);
	ck_assert_int_eq(f.micro_batches, 16);
	ck_assert_double_eq(f.tokens, tokens);
	ck_assert_double_eq(f.params, (double)model_parameters(&m));
	ck_assert_double_eq(program_work(&p).dot_flops, 6 * tokens * matrices(&m));
	/* The two flops of attention for each pair of tokens, head and column, six times. */
	ck_assert_double_eq(f.model_flops,
	                    6 * tokens * (matrices(&m) + (2 * 4 + 1) * 64) +
	                            12 * 4 * 64 * 32 * tokens);
	m.train.recompute = RECOMPUTE_FULL;
	m.train.fuse = FUSE_EAGER;
	p = step_of(&m, (struct step_degrees){1, 1, 1, 1, 1, 1, 0}, &f);
	ck_assert_double_eq(program_work(&p).dot_flops,
	                    6 * tokens * matrices(&m) + 2 * tokens * layers);
}
END_TEST

/* Megatron: two all-reduces of the activations in each pass of a layer, and two at the ends. */
START_TEST(tensor_reduces_four_times)
{
	struct architecture m = small();
	struct step_facts f;
	struct program p = step_of(&m, (struct step_degrees){1, 1, 4, 1, 1, 1, 0}, &f);
	struct counted c = count(&p, HLO_ALL_REDUCE);

	ck_assert_double_eq(c.n, 16 * (4 * 4 + 2));
	ck_assert_double_eq(c.bytes, c.n * 4 * 32 * 64 * 2);
	ck_assert_double_eq(program_work(&p).dot_flops, 6 * 64 * 32 * matrices(&m) / 4);
	/* With sequence parallelism each is a reduce-scatter, and gathers come before. */
	m.train.sequence_parallel = true;
	p = step_of(&m, (struct step_degrees){1, 1, 4, 1, 1, 1, 0}, &f);
	ck_assert_double_eq(count(&p, HLO_ALL_REDUCE).n, 0);
	ck_assert_double_eq(count(&p, HLO_REDUCE_SCATTER).n, 16 * (4 * 4 + 2));
	/* Forward 2; backward the gradient and what a matmul read, each twice. */
	ck_assert_double_eq(count(&p, HLO_ALL_GATHER).n, 16 * (4 * (2 + 4) + 2));
}
END_TEST

/* Each layer is gathered forward and backward and its gradients scattered, in one collective. */
START_TEST(fsdp_gathers_twice)
{
	struct architecture m = small();
	struct step_facts f;
	struct step_degrees d = {1, 8, 1, 1, 1, 1, 0};
	struct program p = step_of(&m, d, &f);
	double layers = ((double)model_parameters(&m) - 2 * 64 * 512 - 64) * 2;
	double ends = (2 * 64 * 512 + 64) * 2;

	ck_assert_int_eq(f.micro_batches, 2);
	ck_assert_double_eq(count(&p, HLO_ALL_GATHER).n, 2 * (2 * 4 + 3));
	ck_assert_double_eq(count(&p, HLO_ALL_GATHER).bytes, 2 * (2 * layers + ends));
	ck_assert_double_eq(count(&p, HLO_REDUCE_SCATTER).n, 2 * (4 + 3));
	ck_assert_double_eq(count(&p, HLO_REDUCE_SCATTER).bytes,
	                    2 * (layers + ends) / 8);
	/* ZeRO-2 keeps what it gathered. */
	m.train.zero = 2;
	p = step_of(&m, d, &f);
	ck_assert_double_eq(count(&p, HLO_ALL_GATHER).bytes, 2 * (layers + ends));
}
END_TEST

/* Replicas sum their gradients once, whatever the number of micro batches. */
START_TEST(data_reduces_once)
{
	struct architecture m = small();
	struct step_facts f;
	struct program p = step_of(&m, (struct step_degrees){4, 1, 1, 1, 1, 1, 0}, &f);
	double bytes = (double)model_parameters(&m) * 2;

	ck_assert_int_eq(f.micro_batches, 4);
	ck_assert_double_eq(count(&p, HLO_ALL_REDUCE).bytes, bytes);
	m.train.zero = 1;
	p = step_of(&m, (struct step_degrees){4, 1, 1, 1, 1, 1, 0}, &f);
	ck_assert_double_eq(count(&p, HLO_ALL_REDUCE).n, 0);
	ck_assert_double_eq(count(&p, HLO_REDUCE_SCATTER).bytes, bytes / 4);
	ck_assert_double_eq(count(&p, HLO_ALL_GATHER).bytes, bytes);
	/* Beside fsdp the parts of replicas are alike: each sums those it has with the others'. */
	m.train.zero = 3;
	p = step_of(&m, (struct step_degrees){4, 2, 1, 1, 1, 1, 0}, &f);
	ck_assert_double_eq(count(&p, HLO_ALL_REDUCE).bytes, bytes / 2);
}
END_TEST

/* A token of each of 2 experts goes there and back, forward and backward. */
START_TEST(experts_exchange_tokens)
{
	struct architecture m = small();
	struct step_facts f;
	struct program p;
	struct counted c;
	double expert = 3 * 64 * 32.0;

	m.moe = (struct model_moe){.experts = 16, .top_k = 2, .ffn = 32};
	p = step_of(&m, (struct step_degrees){8, 1, 1, 1, 8, 1, 0}, &f);
	c = count(&p, HLO_ALL_TO_ALL);
	ck_assert_int_eq(f.micro_batches, 2);
	ck_assert_double_eq(c.n, 2 * 4 * 4);
	ck_assert_double_eq(c.bytes, c.n * 4 * 32 * 2 * 64 * 2);
	/* Per token: attention, two experts, the router and the head. */
	ck_assert_double_eq(
		program_work(&p).dot_flops,
		6 * 64 * 32 / 8 * (4 * (4 * 64 * 64 + 2 * expert + 64 * 16) + 64 * 512));
}
END_TEST

/*
 * With two nodes of four devices a token goes once to a node that has one of its two experts:
 * to each with probability 1 - (1/2)^2, and in the node a copy to each expert.
 */
START_TEST(experts_in_nodes)
{
	struct architecture m = small();
	struct step_facts f;
	struct program p;
	double inside = 0, over = 0;

	m.moe = (struct model_moe){
		.experts = 16, .top_k = 2, .ffn = 32, .dispatch = DISPATCH_NODES};
	p = step_of(&m, (struct step_degrees){8, 1, 1, 1, 8, 1, 4}, &f);
	ck_assert(f.expert_nodes);
	ck_assert_double_eq(f.expert_bytes, 2 * 4 * 4 * 32 * 2 * 64 * 2);
	ck_assert_double_eq(count(&p, HLO_ALL_TO_ALL).n, 2 * 2 * 4 * 4);
	for (int64_t i = 0; i < p.op.n; i++) {
		const struct instruction *op = &p.op.at[i];
		double bytes =
			p.region.at[op->region].runs * (double)op_result_bytes(&p, op);
		const struct replica_groups *g;

		if (op->code != HLO_ALL_TO_ALL)
			continue;
		g = &p.groups.at[op->as.collective->groups];
		ck_assert(g->size == 4 || g->size == 2);
		ck_assert_int_eq(g->ids[1], g->size == 4 ? 1 : 4);
		*(g->size == 4 ? &inside : &over) += bytes;
	}
	ck_assert_double_eq(inside, 2 * 4 * 4 * 4 * 32 * 2 * 64 * 2);
	ck_assert_double_eq(over, 2 * 4 * 4 * 4 * 32 * 0.75 * 2 * 64 * 2);
	/* In one node, and where nodes are not told, it is one all-to-all. */
	p = step_of(&m, (struct step_degrees){8, 1, 1, 1, 8, 1, 8}, &f);
	ck_assert_double_eq(count(&p, HLO_ALL_TO_ALL).n, 2 * 4 * 4);
	p = step_of(&m, (struct step_degrees){8, 1, 1, 1, 8, 1, 0}, &f);
	ck_assert_double_eq(count(&p, HLO_ALL_TO_ALL).n, 2 * 4 * 4);
}
END_TEST

/*
 * A forward pass runs beside a backward pass but for the first ones. Of two stages on each of
 * four devices the last one runs forward, of micro batches 1 2 3 4, the first of its stages,
 * then the second of micro batch 1, and only then anything backward: 5 of 2 x 16.
 */
START_TEST(experts_overlap)
{
	struct architecture m = small();
	struct step_facts f;

	m.moe = (struct model_moe){.experts = 16, .top_k = 2, .ffn = 32};
	step_of(&m, (struct step_degrees){4, 1, 1, 1, 4, 1, 0}, &f);
	ck_assert_double_eq(f.paired, 0);
	m.moe.overlap = true;
	step_of(&m, (struct step_degrees){4, 1, 1, 1, 4, 1, 0}, &f);
	ck_assert_int_eq(f.micro_batches, 4);
	ck_assert_double_eq(f.paired, 3 / 4.0);
	step_of(&m, (struct step_degrees){16, 1, 1, 1, 4, 1, 0}, &f);
	ck_assert_int_eq(f.micro_batches, 1);
	ck_assert_double_eq(f.paired, 0);
	m.train.interleave = 2;
	step_of(&m, (struct step_degrees){1, 1, 1, 1, 1, 4, 0}, &f);
	ck_assert_int_eq(f.micro_batches, 16);
	ck_assert_double_eq(f.paired, 27 / 32.0);
}
END_TEST

START_TEST(pipelines_wait)
{
	struct architecture m = small();
	struct step_facts f;
	struct program p = step_of(&m, (struct step_degrees){1, 1, 1, 1, 1, 4, 0}, &f);
	double head = 64 * 512,
	       layers = (4 * (4 * 64 * 64 + 3 * 64 * 128 + 2 * 64) + 64) / 4.0;

	ck_assert_int_eq(f.devices, 4);
	ck_assert_double_eq_tol(f.bubble, 3.0 / 16 * layers / (layers + head), 1e-12);
	/* An activation comes in and its gradient goes out, for each micro batch. */
	ck_assert_double_eq(count(&p, HLO_COLLECTIVE_PERMUTE).n, 2 * 16);
	ck_assert_double_eq(program_work(&p).dot_flops,
	                    6 * 64 * 32 * ((matrices(&m) - head) / 4 + head));
}
END_TEST

/* Four layers on three stages: two on the first, and the head in place of one on the last. */
START_TEST(stages_differ_by_the_head)
{
	struct architecture m = small();
	struct step_facts f;
	struct program p = step_of(&m, (struct step_degrees){1, 1, 1, 1, 1, 3, 0}, &f);
	double head = 64 * 512;

	ck_assert_double_eq(f.layers, 16);
	ck_assert_double_eq(program_work(&p).dot_flops,
	                    6 * 64 * 32 * ((matrices(&m) - head) / 4 + head));
}
END_TEST

/*
 * Projections in 8 bits: three matmuls for each of the six matrices of a layer have such
 * operands, those of the head do not. Sums between layers in 32 bits do not change what
 * matmuls read.
 */
START_TEST(types_are_as_asked)
{
	struct architecture m = small();
	struct step_facts f;
	struct program p;
	int64_t small_dots = 0, dots = 0;

	m.train.matmul_dtype = dtype_find("f8e4m3fn", 8);
	m.train.residual_dtype = dtype_find("f32", 3);
	p = step_of(&m, (struct step_degrees){1, 1, 1, 1, 1, 1, 0}, &f);
	for (int64_t i = 0; i < p.op.n; i++) {
		const struct instruction *op = &p.op.at[i];
		int bits;

		if (op->code != HLO_DOT)
			continue;
		bits = p.value.at[op_operand(&p, op, 0)].type.dtype->bits;
		ck_assert_int_eq(p.value.at[op_operand(&p, op, 1)].type.dtype->bits,
		                 bits);
		ck_assert_int_eq(p.value.at[op->first_value].type.dtype->bits, 16);
		ck_assert(bits == 8 || bits == 16);
		small_dots += bits == 8;
		dots++;
	}
	ck_assert_int_eq(small_dots, 3 * 6);
	ck_assert_int_eq(dots, 3 * 6 + 3);
}
END_TEST

START_TEST(context_gathers_keys)
{
	struct architecture m = small();
	struct step_facts f;
	struct program p = step_of(&m, (struct step_degrees){1, 1, 1, 2, 1, 1, 0}, &f);
	struct counted c = count(&p, HLO_ALL_GATHER);

	ck_assert_double_eq(c.n, 16 * 4 * 2);
	ck_assert_double_eq(c.bytes, c.n * 4 * 32 * 64 * 2);
	ck_assert_double_eq(count(&p, HLO_REDUCE_SCATTER).n, 16 * 4 * 2);
}
END_TEST

static void refused(struct architecture m, struct step_degrees d, const char *expected)
{
	struct step_facts f;
	struct text text = {0}, why = {0};

	ck_assert(!step_text(&text, &f, &m, &d, &why));
	ck_assert_str_eq(why.s, expected);
	ck_assert_ptr_null(text.s);
	text_free(&why);
}

START_TEST(says_what_does_not_fit)
{
	struct architecture m = small();

	refused(m, (struct step_degrees){1, 1, 3, 1, 1, 1, 0},
	        "heads 8 does not divide by tensor 3");
	refused(m, (struct step_degrees){1, 1, 1, 1, 1, 5, 0},
	        "4 layers are fewer than pipeline 5");
	refused(m, (struct step_degrees){1, 5, 1, 1, 1, 1, 0},
	        "train.global_batch 64 does not divide by data x fsdp x micro_batch "
	        "20");
	m.moe.overlap = true;
	refused(m, (struct step_degrees){1, 1, 1, 1, 1, 2, 0},
	        "moe.overlap in a pipeline needs train.interleave of 2 or more");
	m.train.recompute = RECOMPUTE_FULL;
	refused(m, (struct step_degrees){1, 1, 1, 1, 1, 1, 0},
	        "moe.overlap does not go with train.recompute full");
	m.train.seq = 0;
	refused(m, (struct step_degrees){1, 1, 1, 1, 1, 1, 0},
	        "train.seq, train.global_batch and train.micro_batch are needed");
}
END_TEST

START_TEST(reads_degrees)
{
	static const struct {
		const char *text, *error;
	} bad[] = {
		{"fsdp=4,foo=2", "'foo' is no axis of a job, expected data, fsdp, "
	                         "tensor, context, expert or pipeline"},
		{"fsdp=4,fsdp=2", NULL},
		{"fsdp=0", NULL},
		{"fsdp", NULL},
	};
	struct step_degrees d;
	struct error e = {0};

	ck_assert_int_eq(step_degrees_parse(&d, arena, "fsdp=64,tensor=8,pipeline=4",
	                                    (struct where){0}, &e),
	                 OK);
	ck_assert(d.fsdp == 64 && d.tensor == 8 && d.pipeline == 4 && d.data == 1 &&
	          d.context == 1 && d.expert == 1);
	ck_assert_int_eq(step_devices(&d), 2048);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		e = (struct error){0};
		ck_assert_int_ne(step_degrees_parse(&d, arena, bad[i].text,
		                                    (struct where){0}, &e),
		                 OK);
		if (bad[i].error)
			ck_assert_str_eq(e.text, bad[i].error);
	}
}
END_TEST

Suite *tests(void)
{
	Suite *s = suite_create("step");
	TCase *t = tcase_create("closed forms");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, computes_what_models_do);
	tcase_add_test(t, tensor_reduces_four_times);
	tcase_add_test(t, fsdp_gathers_twice);
	tcase_add_test(t, data_reduces_once);
	tcase_add_test(t, experts_exchange_tokens);
	tcase_add_test(t, experts_in_nodes);
	tcase_add_test(t, experts_overlap);
	tcase_add_test(t, pipelines_wait);
	tcase_add_test(t, stages_differ_by_the_head);
	tcase_add_test(t, types_are_as_asked);
	tcase_add_test(t, context_gathers_keys);
	tcase_add_test(t, says_what_does_not_fit);
	tcase_add_test(t, reads_degrees);
	suite_add_tcase(s, t);
	return s;
}
