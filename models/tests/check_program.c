/*
 * Programs in HLO's text: what is in ours, counted by hand; groups, trips and work against
 * definitions; texts that are wrong, cut off or damaged.
 */
#include "base/input.h"
#include "base/rng.h"
#include "program/read/trips.h"
#include "program/work.h"
#include "tests/program_help.h"
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

/* Runs of an opcode and their bytes, of those with more bytes than `least`. */
static void count(const struct program *p, enum opcode code, int64_t least, double *n,
                  double *bytes)
{
	*n = *bytes = 0;
	for (int64_t i = 0; i < p->op.n; i++) {
		const struct instruction *op = &p->op.at[i];

		if (op->code != code || op->async == ASYNC_DONE ||
		    op_result_bytes(p, op) <= least)
			continue;
		*n += p->region.at[op->region].runs;
		*bytes += p->region.at[op->region].runs * (double)op_result_bytes(p, op);
	}
}

/*
 * FSDP with L = 4 layers of m = 2 matrices and v = 1 vector, h = 512, f = 1024, V = 2048, 128
 * tokens: 2mL + 2 all-gathers of 4 L (2hf) + 4 V h bytes (each matrix twice, in two
 * bytes), (m + v)L + 3 all-reduces above 1 KiB, and one of the loss.
 */
START_TEST(fsdp_closed_form)
{
	const double L = 4, m = 2, v = 1, h = 512, f = 1024, V = 2048, tokens = 128;
	struct program p = program_sample(arena, "fsdp.hlo");
	double n, bytes;

	ck_assert_int_eq(p.stage, STAGE_PARTITIONED);
	ck_assert_int_eq(p.ndevices, 8);
	ck_assert_int_eq(p.warning.n, 0);
	count(&p, HLO_ALL_GATHER, 0, &n, &bytes);
	ck_assert_double_eq(n, 2 * m * L + 2);
	ck_assert_double_eq(bytes, 4 * L * 2 * h * f + 4 * V * h);
	count(&p, HLO_ALL_REDUCE, 1024, &n, &bytes);
	ck_assert_double_eq(n, (m + v) * L + 3);
	ck_assert_double_eq(bytes, L * (2 * 2 * h * f + 4 * h) + 2 * 2 * V * h + 4 * h);
	count(&p, HLO_ALL_REDUCE, 0, &n, &bytes);
	ck_assert_double_eq(n, (m + v) * L + 4);
	/* 2 forward, 1 again, 4 backward in each layer; 3 at the head. */
	ck_assert_double_eq(program_work(&p).dot_flops,
	                    L * 7 * 2 * tokens * h * f + 3 * 2 * tokens * h * V);
	ck_assert_int_eq(p.alias.n, 6);
	ck_assert_int_eq(p.alias.at[5].result, 5);
	ck_assert_int_eq(p.alias.at[5].parameter, 5);
	ck_assert_int_eq(program_sample_op(&p, "w2.2")->source_line, 32);
	ck_assert(span_is(program_sample_op(&p, "w2.2")->op_name,
	                  "jit(step)/backward/layer/w2"));
}
END_TEST

START_TEST(groups_of_all_spellings)
{
	struct program p = program_sample(arena, "constructs.hlo");

	ck_assert_str_eq(program_sample_groups(arena, &p, "ar"), "0 1 2 3,4 5 6 7");
	ck_assert_str_eq(program_sample_groups(arena, &p, "gathered"),
	                 "0 1 2 3,4 5 6 7");
	/* Device 4a + b is at (a, b); [2,4] read by columns. */
	ck_assert_str_eq(program_sample_groups(arena, &p, "crossed"),
	                 "0 4,1 5,2 6,3 7");
	ck_assert_str_eq(program_sample_groups(arena, &p, "along"), "0 4,1 5,2 6,3 7");
	/* The minor digit of model: members differ by 1. */
	ck_assert_str_eq(program_sample_groups(arena, &p, "digit"), "0 1,2 3,4 5,6 7");
	ck_assert_str_eq(program_sample_groups(arena, &p, "parts"), "0 4,1 5,2 6,3 7");
	ck_assert_str_eq(program_sample_groups(arena, &p, "everyone"),
	                 "0 1 2 3 4 5 6 7");
	ck_assert_int_eq(program_sample_op(&p, "shifted")->as.collective->pairs.n, 8);
	ck_assert_int_eq(program_sample_op(&p, "shifted")->as.collective->pairs.at[7],
	                 0);
}
END_TEST

START_TEST(loops_and_branches)
{
	struct program p = program_sample(arena, "constructs.hlo");

	/* 7, 5, 3, 1 are not below 0: four turns. */
	ck_assert_int_eq(program_sample_op(&p, "loop")->as.loop->trips, 4);
	ck_assert(program_sample_op(&p, "loop")->as.loop->known);
	ck_assert(!program_sample_op(&p, "endless")->as.loop->known);
	ck_assert_double_eq(p.region.at[program_sample_op(&p, "k.1")->region].runs, 4);
	ck_assert_double_eq(p.region.at[program_sample_op(&p, "gt")->region].runs, 5);
	/* A computation that a loop calls; reducers run as part of what applies them. */
	ck_assert_double_eq(p.region.at[program_sample_op(&p, "ar")->region].runs, 4);
	ck_assert_double_eq(p.region.at[program_sample_op(&p, "add")->region].runs, 0);
	/* Of both conditionals the costlier branch. */
	ck_assert_double_eq(p.region.at[program_sample_op(&p, "e")->region].runs, 2);
	ck_assert_double_eq(p.region.at[program_sample_op(&p, "n")->region].runs, 0);
	ck_assert_int_eq(program_set_trips(&p, "endless", 9), 1);
	ck_assert_double_eq(p.region.at[program_sample_op(&p, "u.2")->region].runs, 9);
	ck_assert_int_eq(program_set_trips(&p, "unknown_body", 3), 1);
	ck_assert_double_eq(p.region.at[program_sample_op(&p, "u.2")->region].runs, 3);
	ck_assert_int_eq(program_set_trips(&p, "nobody", 3), 0);
}
END_TEST

START_TEST(parts_of_ops)
{
	struct program p = program_sample(arena, "constructs.hlo");
	const struct instruction *op = program_sample_op(&p, "p1");
	int32_t value = program_sample_op(&p, "barrier")->first_value;

	ck_assert_int_eq(p.stage, STAGE_ANNOTATED);
	ck_assert_int_eq(p.ndevices, 8);
	ck_assert_int_eq(p.mesh.n, 1);
	ck_assert_int_eq(p.value.at[op->first_value].type.space, SPACE_HOST);
	ck_assert_int_eq(
		p.value.at[program_sample_op(&p, "turned")->first_value].type.layout[0],
		0);
	ck_assert_int_eq(
		p.value.at[program_sample_op(&p, "nothing")->first_value].type.dim[0],
		0);
	ck_assert(span_is(program_sample_op(&p, "mystery")->source_file, "layers.py"));
	ck_assert_int_eq(program_sample_op(&p, "mystery")->source_line, 33);
	ck_assert(span_is(program_sample_op(&p, "mystery")->as.custom->target,
	                  "my_kernel"));
	ck_assert_int_eq(program_sample_op(&p, "strange")->code, HLO_CUSTOM_CALL);
	ck_assert(span_is(program_sample_op(&p, "p0")->sharding,
	                  "{devices=[2,1,4]<=[8] last_tile_dim_replicate}"));
	ck_assert_double_eq(program_sample_op(&p, "half")->as.constant->value, 0.5);
	ck_assert_double_eq(program_sample_op(&p, "yes")->as.constant->value, 1);
	ck_assert_int_eq(program_sample_op(&p, "padded")->as.slice->start.at[1], -1);
	ck_assert_int_eq(program_sample_op(&p, "padded")->as.slice->stride.at[1], 1);
	ck_assert_int_eq(program_sample_op(&p, "ids")->as.slice->stride.at[1], 16);
	ck_assert_int_eq(
		program_sample_op(&p, "batched")->as.gather->operand_batching_dims.n, 1);
	/* Through tuple and barrier, and through the end of an asynchronous op. */
	op = program_sample_op(&p, "start");
	ck_assert_int_eq(op->nresults, 1);
	ck_assert_int_eq(p.value.at[value].same, op->first_result);
	ck_assert_int_eq(op_result_bytes(&p, op), 64 * 16 * 4);
	ck_assert_int_eq(p.warning.n, 1);
	trips_warn(&p);
	ck_assert_int_eq(p.warning.n, 2);
	ck_assert_int_eq(p.warning.at[1].line, 101);
	ck_assert_int_eq(p.alias.n, 2);
	ck_assert_int_eq(p.alias.at[0].result, -1);
}
END_TEST

START_TEST(optimised)
{
	struct program p = program_sample(arena, "optimised.hlo");
	const struct instruction *op = program_sample_op(&p, "copy-start");

	ck_assert_int_eq(p.stage, STAGE_OPTIMISED);
	ck_assert(p.scheduled);
	ck_assert_int_eq(p.ndevices, 4);
	ck_assert_int_eq(program_sample_op(&p, "loop")->as.loop->trips, 6);
	ck_assert_int_eq(p.region.at[program_sample_op(&p, "tanh")->region].kind,
	                 REGION_FUSED);
	ck_assert_double_eq(p.region.at[program_sample_op(&p, "tanh")->region].runs, 6);
	ck_assert_int_eq(op->first_result, op->first_value);
	ck_assert_int_eq(p.value.at[op->first_result].type.space, SPACE_HOST);
	op = program_sample_op(&p, "cp-start");
	ck_assert_int_eq(op->first_result, op->first_value + 1);
	ck_assert_int_eq(p.op.at[op->pair].pair, op - p.op.at);
	/* A reduce-scatter in a computation that async-start calls. */
	op = program_sample_op(&p, "start");
	ck_assert_int_eq(op_result_bytes(&p, op), 64 * 1024 * 2);
	ck_assert_double_eq(p.region.at[program_sample_op(&p, "rs")->region].runs, 1);
	ck_assert_double_eq(op_work(&p, program_sample_op(&p, "fusion")).transcendentals,
	                    256 * 1024);
	ck_assert_double_eq(op_work(&p, program_sample_op(&p, "fusion")).flops,
	                    256 * 1024);
}
END_TEST

/* Pairs of result and kernel positions of one dimension that meet an element. */
static double met(int in, int kernel, int out, int stride, int low, int apart,
                  int dilate)
{
	int n = 0;

	for (int o = 0; o < out; o++)
		for (int k = 0; k < kernel; k++)
			for (int i = 0; i < in; i++)
				n += o * stride + k * dilate - low == i * apart;
	return n;
}

START_TEST(flops_of_convolutions)
{
	struct rng *r = rng_new(11);
	struct program p = program_sample(arena, "constructs.hlo");
	int some = 0;

	ck_assert_double_eq(op_work(&p, program_sample_op(&p, "conv")).flops,
	                    2. * 2 * 8 * 2 * met(5, 3, 3, 2, 1, 1, 1) *
	                            met(6, 3, 6, 1, 1, 1, 1));
	for (int i = 0; i < 300; i++) {
		int in = 1 + (int)rng_below(r, 9), kernel = 1 + (int)rng_below(r, 5);
		int stride = 1 + (int)rng_below(r, 4), apart = 1 + (int)rng_below(r, 4);
		int dilate = 1 + (int)rng_below(r, 3), low = (int)rng_below(r, 7) - 2;
		int out = 1 + (int)rng_below(r, 12);
		double pairs = met(in, kernel, out, stride, low, apart, dilate);
		const char *text = arena_printf(
			arena,
			"HloModule m\nENTRY e {\n a = f32[3,%d,4] parameter(0)\n"
			" b = f32[%d,4,5] parameter(1)\n"
			" ROOT c = f32[3,%d,5] convolution(a, b), window={size=%d "
			"stride=%d pad=%d_9 lhs_dilate=%d rhs_dilate=%d}, "
			"dim_labels=b0f_0io->b0f\n}\n",
			in, kernel, out, kernel, stride, low, apart, dilate);
		struct error e = {0};

		program_of_text(&p, arena, text, strlen(text), "conv", &e);
		ck_assert_msg(e.code == OK, "%s%s", text, e.text);
		ck_assert_msg(op_work(&p, program_sample_op(&p, "c")).dot_flops ==
		                      2 * 3 * 5 * 4 * pairs,
		              "%s", text);
		some += pairs > 0;
	}
	ck_assert_int_gt(some, 200);
	rng_free(r);
}
END_TEST

START_TEST(work_of_ops)
{
	struct program p = program_sample(arena, "constructs.hlo");
	const struct {
		const char *op;
		double flops, transcendentals, bytes;
	} known[] = {
		{"d", 2 * 8 * 8 * 16, 0, 4 * (8 * 16 + 8 * 16 + 8 * 8)},
		{"n", 128, 0, 1024},
		/* 8 rows of 16 elements: 16 x 4 each. */
		{"sorted", 8 * 64, 0, 2048},
		{"last", 127, 0, 128 * 4 + 4 + 4},
		{"ids", 0, 0, 2 * 8 * 4},
		{"taken", 0, 0, 2 * 512 + 32},
		{"put", 128, 0, 2 * 512 + 32},
		/* (2 x 2 - 1) additions for each of 2 x 3 x 3 x 8 results. */
		{"pooled", 3 * 144, 0, 4 * (288 + 1 + 144)},
		{"tied", 0, 0, 0},
		{"mystery", 0, 0, 3 * 512},
		{"shifted", 0, 0, 1024},
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
		struct work w = op_work(&p, program_sample_op(&p, known[i].op));

		ck_assert_msg(w.flops == known[i].flops &&
		                      w.transcendentals == known[i].transcendentals &&
		                      w.bytes == known[i].bytes,
		              "%s: %g %g %g", known[i].op, w.flops, w.transcendentals,
		              w.bytes);
	}
}
END_TEST

/* --- wrong texts --- */

static const struct {
	const char *text;
	unsigned line, col;
	const char *why;
} bad[] = {
	{"", 1, 1, "expected 'HloModule' or 'module'"},
	{"HloModule", 1, 10, "expected the name of the module"},
	{"HloModule m, x", 1, 15, "expected '='"},
	{"HloModule m, num_partitions=0\n", 1, 29, "1"},
	{"HloModule m\n", 2, 1, "expected a computation"},
	{"HloModule m\ne {\n}\n", 4, 1, "without instructions"},
	{"HloModule m\ne {\n a = f32[] parameter(0)\n", 4, 1, "expected an instruction"},
	{"HloModule m\ne (\n", 2, 3, "this ( is not closed"},
	{"HloModule m\ne {\n a = g32[] parameter(0)\n}\n", 3, 9, "expected a type"},
	{"HloModule m\ne {\n a = f32[?] parameter(0)\n}\n", 3, 10, "without a bound"},
	{"HloModule m\ne {\n a = f32[2]{1} parameter(0)\n}\n", 3, 13, "dimension"},
	{"HloModule m\ne {\n a = f32[2,2]{0,0} parameter(0)\n}\n", 3, 18, "twice"},
	{"HloModule m\ne {\n a = f32[4294967296,4294967296] parameter(0)\n}\n", 3, 31,
         "2^62"},
	{"HloModule m\ne {\n a = f32[] negate(b)\n}\n", 3, 19, "'b' is not there"},
	{"HloModule m\ne {\n a = f32[] negate(a)\n}\n", 3, 19, "'a' is not there"},
	{"HloModule m\ne {\n a = f32[] parameter(0)\n a = f32[] negate(a)\n}\n", 4, 2,
         "'a' is there twice"},
	{"HloModule m\ne {\n a = f32[] parameter(1)\n}\n", 2, 1,
         "parameter 0 is not there"},
	{"HloModule m\ne {\n a = f32[] parameter(0)\n b = f32[] parameter(0)\n}\n", 4,
         22, "twice"},
	{"HloModule m\ne {\n a = f32[2] parameter(0)\n b = f32[3] "
         "get-tuple-element(a), "
         "index=0\n}\n",
         4, 13, "no tuple"},
	{"HloModule m\ne {\n a = f32[2] parameter(0)\n b = (f32[3]) tuple(a)\n}\n", 4,
         15, "not that of what it is made of"},
	{"HloModule m\ne {\n a = f32[2,3] parameter(0)\n b = f32[2,2] dot(a, a), "
         "lhs_contracting_dims={1}, rhs_contracting_dims={0}\n}\n",
         4, 15, "do not fit"},
	{"HloModule m\ne {\n a = f32[2,3] parameter(0)\n b = f32[2] reduce(a, a), "
         "dimensions={2}\n}\n",
         4, 13, "no such dimension"},
	{"HloModule m\ne {\n a = f32[2] parameter(0)\n b = f32[2] call(a), "
         "to_apply=f\n}\n",
         4, 31, "'f' is called and is not there"},
	{"HloModule m\ne {\n a = f32[2] parameter(0)\n b = f32[2] call(a), "
         "to_apply=e\n}\n",
         4, 2, "in a circle"},
	{"HloModule m\ne {\n a = f32[2] parameter(0)\n b = f32[2] all-reduce(a), "
         "replica_groups=[2,4]<=[6]\n}\n",
         4, 43, "of as many devices"},
	{"HloModule m\ne {\n a = f32[2] parameter(0)\n b = f32[2] all-reduce(a), "
         "replica_groups={{0,1},{1,2}}\n}\n",
         4, 43, "device 1 is in two groups"},
	{"HloModule m, num_partitions=2\ne {\n a = f32[2] parameter(0)\n b = f32[2] "
         "all-reduce(a), replica_groups={{0,3}}\n}\n",
         4, 2, "a device that is not there"},
	{"HloModule m\ne {\n a = f32[2] parameter(0)\n b = f32[2] all-to-all(a), "
         "replica_groups={{0,1,2,3}}, dimensions={0}\n}\n",
         4, 13, "dimension 0 has 2 elements, expected a multiple of 4"},
	{"HloModule m\ne {\n a = f32[2] parameter(0)\n b = f32[2] all-to-all(a), "
         "replica_groups={{0,1}}, dimensions={1}\n}\n",
         4, 13, "no such dimension"},
	{"HloModule m\ne {\n a = f32[2] parameter(0)\n b = f32[2] "
         "all-reduce-done(a)\n}\n",
         4, 2, "has no start"},
	{"HloModule m, input_output_alias={ {1}: (0, {}) }\nENTRY e {\n a = f32[2] "
         "parameter(0)\n}\n",
         1, 39, "no such result or parameter"},
	{"HloModule m\ne {\n a = f32[2] parameter(0), sharding={devices=[2\n}\n", 4, 1,
         "expected ]"},
	{"HloModule m\ne {\n a = f32[2] parameter(0), metadata={op_name=\"x\n}\n", 3,
         45, "this \" is not closed"},
	{"HloModule m\nENTRY e {\n a = f32[] parameter(0)\n}\nENTRY f {\n a = f32[] "
         "parameter(0)\n}\n",
         5, 7, "a second ENTRY"},
};

enum { BAD = (int)(sizeof(bad) / sizeof(*bad)) };

START_TEST(wrong_texts)
{
	struct program p;
	struct error e = {0};

	ck_assert_int_ne(program_of_text(&p, arena, bad[_i].text, strlen(bad[_i].text),
	                                 "bad.hlo", &e),
	                 OK);
	ck_assert_msg(e.at.line == bad[_i].line && e.at.col == bad[_i].col &&
	                      strstr(e.text, bad[_i].why),
	              "%s -> %u:%u: %s", bad[_i].text, e.at.line, e.at.col, e.text);
	ck_assert_str_eq(e.at.file, "bad.hlo");
}
END_TEST

static const char *const ours[] = {"fsdp.hlo", "constructs.hlo", "optimised.hlo",
                                   "mlp.mlir", "constructs.mlir"};

/* A text that is cut off is refused at a place inside of it, or has whole computations. */
START_TEST(cut_off)
{
	struct text text = {0};
	struct error e = {0};
	int refused = 0, taken = 0;

	ck_assert_int_eq(
		input_read(&text,
	                   arena_printf(arena, "scenarios/programs/%s", ours[_i]), &e),
		OK);
	for (size_t n = 0; n < text.length; n += 1 + n % 61) {
		struct arena *a = arena_new();
		struct error why = {0};
		struct program p;

		if (program_of_text(&p, a, text.s, n, "cut", &why) == OK) {
			ck_assert(strchr("}\n", text.s[n - 1]) || text.s[n] == '\n');
			taken++;
		} else {
			ck_assert_uint_ge(why.at.line, 1);
			ck_assert_uint_ge(why.at.col, 1);
			ck_assert_str_ne(why.text, "");
			refused++;
		}
		arena_free(a);
	}
	ck_assert_int_gt(refused, 50);
	ck_assert_int_lt(taken, refused / 10);
	text_free(&text);
}
END_TEST

/* Bytes changed at random: no harm, and most of the time an error with a place. */
START_TEST(damaged)
{
	static const char other[] = "{}()[]<>,=:\"%#0129ax \n\\/-";
	struct rng *r = rng_new(3);
	struct text text = {0};
	struct error e = {0};
	int refused = 0;

	ck_assert_int_eq(
		input_read(&text,
	                   arena_printf(arena, "scenarios/programs/%s", ours[_i]), &e),
		OK);
	for (int i = 0; i < 400; i++) {
		struct arena *a = arena_new();
		char *copy = arena_dup(a, text.s, text.length, 1);
		struct error why = {0};
		struct program p;

		for (int k = 0; k < 3; k++)
			copy[rng_below(r, (uint32_t)text.length)] =
				other[rng_below(r, sizeof(other) - 1)];
		refused += program_of_text(&p, a, copy, text.length, "damaged", &why) !=
		           OK;
		arena_free(a);
	}
	ck_assert_int_gt(refused, 200);
	text_free(&text);
	rng_free(r);
}
END_TEST

Suite *tests(void)
{
	Suite *s = suite_create("program");
	TCase *t = tcase_create("hlo");
	const int texts = (int)(sizeof(ours) / sizeof(*ours));

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, fsdp_closed_form);
	tcase_add_test(t, groups_of_all_spellings);
	tcase_add_test(t, loops_and_branches);
	tcase_add_test(t, parts_of_ops);
	tcase_add_test(t, optimised);
	tcase_add_test(t, flops_of_convolutions);
	tcase_add_test(t, work_of_ops);
	tcase_add_loop_test(t, wrong_texts, 0, BAD);
	tcase_add_loop_test(t, cut_off, 0, texts);
	tcase_add_loop_test(t, damaged, 0, texts);
	suite_add_tcase(s, t);
	return s;
}
