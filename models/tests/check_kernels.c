/*
 * Kernels of programs, their seconds and the memory over time, worked out by hand for small
 * programs. 1 MiB arrays are f32[512,512].
 */
#include "program/clean.h"
#include "program/custom.h"
#include "program/liveness.h"
#include "tests/program_help.h"
#include "tests/tests.h"

#include <check.h>
#include <string.h>

static const double MiB = 1 << 20;

static struct arena *arena;

static void setup(void)
{
	arena = arena_new();
}

static void teardown(void)
{
	arena_free(arena);
}

#define M "f32[512,512]{1,0} "

static struct program text_of(const char *parameters, const char *ops)
{
	return program_sample_text(
		arena,
		arena_printf(
			arena,
			"HloModule m%s\n%%sum {\n a = f32[] parameter(0)\n b = f32[] "
			"parameter(1)\n ROOT c = f32[] add(a, b)\n}\nENTRY e {\n a "
			"= " M "parameter(0)\n b = " M "parameter(1)\n%s}\n",
			parameters, ops));
}

static const struct kernels *kernels_of(const struct program *p)
{
	struct kernels *k = arena_alloc(arena, 1, sizeof(*k));

	ck_assert(kernels_make(k, arena, p, p->entry));
	return k;
}

static void has(const struct kernels *k, const struct program *p, int64_t i,
                const char *name, double bytes, double flops)
{
	ck_assert_int_lt(i, k->kernel.n);
	const struct kernel *one = &k->kernel.at[i];

	ck_assert_msg(span_is(p->op.at[one->op].name, name) &&
	                      one->ask.bytes == bytes && one->flops == flops,
	              "%.*s %g bytes %g flops", (int)p->op.at[one->op].name.length,
	              p->op.at[one->op].name.at, one->ask.bytes, one->flops);
}

/* Elementwise ops in a row are one kernel: two arrays in, one out. */
START_TEST(fused)
{
	struct program p = text_of("", " c = " M "add(a, b)\n d = " M
	                               "negate(c)\n e = " M "multiply(d, b)\n dead = " M
	                               "negate(a)\n ROOT f = " M "tanh(e)\n");
	const struct kernels *k = kernels_of(&p);

	ck_assert_int_eq(k->kernel.n, 1);
	has(k, &p, 0, "f", 3 * MiB, 3 * 512 * 512);
	ck_assert_double_eq(k->kernel.at[0].transcendentals, 512 * 512);
}
END_TEST

/* What a matmul reads is written first; a transpose on the way is part of it. */
START_TEST(matmul)
{
	struct program p = text_of("", " c = " M "add(a, b)\n t = " M
	                               "transpose(b), dimensions={1,0}\n d = " M
	                               "dot(c, t), lhs_contracting_dims={1}, "
	                               "rhs_contracting_dims={0}\n z = f32[] "
	                               "constant(0)\n n = " M
	                               "negate(d)\n ROOT s = f32[512]{0} reduce(n, z), "
	                               "dimensions={1}, to_apply=%sum\n");
	const struct kernels *k = kernels_of(&p);

	ck_assert_int_eq(k->kernel.n, 3);
	has(k, &p, 0, "c", 3 * MiB, 512 * 512);
	has(k, &p, 1, "d", 3 * MiB, 2. * 512 * 512 * 512);
	ck_assert_int_eq(k->kernel.at[1].ask.kind, COMPUTE_MATMUL);
	ck_assert_double_eq(k->kernel.at[1].ask.m, 512);
	ck_assert_double_eq(k->kernel.at[1].ask.n, 512);
	ck_assert_double_eq(k->kernel.at[1].ask.k, 512);
	/* The negation is computed on the way; 2 KiB of result are free. */
	has(k, &p, 2, "s", MiB, 512 * 512 + 512 * 511);
}
END_TEST

/*
 * A sum of four arrays that two ops read: written once 1 x 3 + 4 < 2 x 4 MiB. A negation of one
 * that two read is computed twice.
 */
START_TEST(shared)
{
	struct program p = program_sample_text(
		arena, "HloModule m\nENTRY e {\n a = " M "parameter(0)\n b = " M
		       "parameter(1)\n c = " M "parameter(2)\n d = " M
		       "parameter(3)\n x = " M "add(a, b)\n y = " M "add(x, c)\n s = " M
		       "add(y, d)\n p = " M "negate(s)\n q = " M "abs(s)\n ROOT t = (" M
		       ", " M ") tuple(p, q)\n}\n");
	struct program one =
		text_of("", " s = " M "negate(a)\n p = " M "add(s, b)\n q = " M
	                    "abs(s)\n ROOT t = (" M ", " M ") tuple(p, q)\n");
	const struct kernels *k = kernels_of(&p), *twice = kernels_of(&one);

	ck_assert_int_eq(k->kernel.n, 3);
	has(k, &p, 0, "s", 5 * MiB, 3 * 512 * 512);
	has(k, &p, 1, "p", 2 * MiB, 512 * 512);
	ck_assert_int_eq(twice->kernel.n, 2);
	has(twice, &one, 0, "p", 3 * MiB, 2 * 512 * 512);
	has(twice, &one, 1, "q", 2 * MiB, 2 * 512 * 512);
}
END_TEST

/* Of a leaf that is read through a slice the slice counts; an update is read and written. */
START_TEST(slices)
{
	struct program p = text_of("", " i = s32[] constant(3)\n s = f32[128,512]{1,0} "
	                               "dynamic-slice(a, i, i), "
	                               "dynamic_slice_sizes={128,512}\n n = "
	                               "f32[128,512]{1,0} negate(s)\n ROOT u = " M
	                               "dynamic-update-slice(b, n, i, i)\n");
	const struct kernels *k = kernels_of(&p);

	ck_assert_int_eq(k->kernel.n, 1);
	has(k, &p, 0, "u", 2 * MiB / 4, 128 * 512);
}
END_TEST

/* Calls are put in line, and copies that move nothing are names. */
START_TEST(in_line)
{
	struct program p = program_sample(arena, "mlp.mlir");
	const struct kernels *k = kernels_of(&p);
	int dots = 0;

	for (int64_t i = 0; i < k->kernel.n; i++)
		dots += k->kernel.at[i].class == CLASS_MATMUL;
	ck_assert_int_eq(dots, 5);
	for (int64_t i = 0; i < k->kernel.n; i++)
		ck_assert_int_ne(p.op.at[k->kernel.at[i].op].code, HLO_CALL);
}
END_TEST

START_TEST(fusions)
{
	struct program p = program_sample(arena, "optimised.hlo");
	struct kernels k;
	int32_t body = op_called(&p, program_sample_op(&p, "loop"), 1);
	bool found = false;

	ck_assert(kernels_make(&k, arena, &p, body));
	for (int64_t i = 0; i < k.kernel.n; i++) {
		const struct kernel *one = &k.kernel.at[i];

		if (span_is(p.op.at[one->op].name, "fusion")) {
			ck_assert_double_eq(one->ask.bytes, 2 * 256 * 1024 * 2);
			found = true;
		}
		if (span_is(p.op.at[one->op].name, "part")) {
			ck_assert_int_eq(one->ask.kind, COMPUTE_MATMUL);
			ck_assert_double_eq(one->flops, 2. * 256 * 1024 * 1024);
		}
		/* A copy to the host takes the link, not the memory. */
		if (span_is(p.op.at[one->op].name, "copy-start"))
			ck_assert_double_eq(one->host_bytes, 2 * MiB);
	}
	ck_assert(found);
}
END_TEST

/* Causal attention: half of 2 b h s t (d + v); backward 2.5 times that, twice the bytes. */
START_TEST(attention)
{
	static const char *const text =
		"HloModule m\nENTRY e {\n q = bf16[2,64,8,16]{3,2,1,0} parameter(0)\n "
		"k = "
		"bf16[2,64,2,16]{3,2,1,0} parameter(1)\n ROOT o = "
		"bf16[2,64,8,16]{3,2,1,0} "
		"custom-call(q, k, k), custom_call_target=\"te_fused_attn_%s_ffi\", "
		"backend_config={attn_heads = 8 : i64, input_batch = 2 : i64, "
		"kv_max_seqlen = 64 "
		": i64, mask_type = 3 : i64, num_gqa_groups = 2 : i64, q_max_seqlen = "
		"64 : i64, "
		"qk_head_dim = 16 : i64, v_head_dim = 16 : i64}\n}\n";
	struct attention a;

	for (int back = 0; back < 2; back++) {
		struct program p = program_sample_text(
			arena, arena_printf(arena, text, back ? "backward" : "forward"));

		ck_assert(custom_attention(&a, &p, program_sample_op(&p, "o")));
		ck_assert_double_eq(a.flops,
		                    2. * 2 * 8 * 64 * 64 * 32 / 2 * (back ? 2.5 : 1));
		/* q and o of 8 heads, k and v of 2. */
		ck_assert_double_eq(a.bytes,
		                    2. * 2 * 64 * 16 * (8 + 8 + 2 + 2) * (1 + back));
	}
}
END_TEST

START_TEST(scattered)
{
	struct program p = program_sample(arena, "fsdp.hlo");
	const bool *is = clean_scattered(arena, &p);
	static const char *const yes[] = {"dw1a", "dw2a", "dheada", "dtablea"};
	static const char *const no[] = {"dga", "dgfa", "lossa"};

	for (int i = 0; i < 4; i++)
		ck_assert(is[program_sample_op(&p, yes[i]) - p.op.at]);
	for (int i = 0; i < 3; i++)
		ck_assert(!is[program_sample_op(&p, no[i]) - p.op.at]);
}
END_TEST

/*
 * Sums a, b and d need no other one and are one run; c needs a and begins another, in which i is,
 * which needs d. f has other groups, g is a gather, h has more than 30 MiB.
 */
START_TEST(combined)
{
#define SUM(name, of, type, groups)                                                    \
	" " name " = " type " all-reduce(" of "), replica_groups=" groups              \
	", channel_id=1, use_global_device_ids=true, to_apply=sum\n"
	struct program p = program_sample_text(
		arena,
		"HloModule m, num_partitions=4\nsum {\n p = f32[] parameter(0)\n q = "
		"f32[] "
		"parameter(1)\n ROOT s = f32[] add(p, q)\n}\nENTRY e {\n x = f32[256] "
		"parameter(0)\n y = f32[768] parameter(1)\n z = f32[8388608] "
		"parameter(2)\n" SUM("a", "x", "f32[256]", "{{0,1,2,3}}") SUM(
			"b", "y", "f32[768]", "{{0,1,2,3}}") SUM("f", "x", "f32[256]",
	                                                         "{{0,1},{2,3}}")
			SUM("h", "z", "f32[8388608]",
	                    "{{0,1,2,3}}") " v = f32[256] negate(a)\n" SUM("d", "x",
	                                                                   "f32[256]", "{{0,1,2,3}}")
				SUM(
					"c", "v", "f32[256]",
					"{{0,1,2,3}}") " w = f32[256] negate(d)\n" SUM("i",
	                                                                               "w",
	                                                                               "f32[256]",
	                                                                               "{{0,1,2,3}}") " g = f32[1024] all-gather(x), replica_groups={{0,1,2,3}}, dimensions={0}, "
												      "channel_id=2, use_global_device_ids=true\n ROOT t = (f32[256], f32[768], "
												      "f32[256], f32[8388608], f32[256], f32[1024]) tuple(c, b, f, h, i, g)\n}\n");
	const double *share = clean_combined(arena, &p, clean_scattered(arena, &p),
	                                     clean_gathered(arena, &p));
	static const struct {
		const char *name;
		double share;
	} want[] = {{"a", 0.2}, {"b", 0.6}, {"d", 0.2}, {"c", 0.5},
	            {"i", 0.5}, {"f", 1},   {"g", 1},   {"h", 1}};

	for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++)
		ck_assert_double_eq_tol(
			share[program_sample_op(&p, want[i].name) - p.op.at],
			want[i].share, 1e-12);
}
END_TEST

/* Permutes a and b are between the same pairs, c between others; d needs a. */
START_TEST(combined_permutes)
{
#define PERMUTE(name, of, type, pairs)                                                 \
	" " name " = " type " collective-permute(" of "), channel_id=1, "              \
	"source_target_pairs=" pairs "\n"
	struct program p = program_sample_text(
		arena,
		"HloModule m, num_partitions=4\nENTRY e {\n"
		" x = f32[256] parameter(0)\n y = f32[768] parameter(1)\n" PERMUTE(
			"a", "x", "f32[256]", "{{0,1},{2,3}}")
			PERMUTE("b", "y", "f32[768]", "{{0,1},{2,3}}")
				PERMUTE("c", "x", "f32[256]", "{{0,1},{3,2}}")
					PERMUTE("d", "a", "f32[256]",
	                                        "{{0,1},{2,3}}") " ROOT t = (f32[256], "
								 "f32[768], f32[256]) "
								 "tuple(d, b, c)\n}\n");
	const double *share = clean_combined(arena, &p, clean_scattered(arena, &p),
	                                     clean_gathered(arena, &p));

	ck_assert_double_eq(share[program_sample_op(&p, "a") - p.op.at], 0.25);
	ck_assert_double_eq(share[program_sample_op(&p, "b") - p.op.at], 0.75);
	ck_assert_double_eq(share[program_sample_op(&p, "c") - p.op.at], 1);
	ck_assert_double_eq(share[program_sample_op(&p, "d") - p.op.at], 1);
}
END_TEST

/*
 * b brings what a does; c brings more of it, d brings it along another dimension, e over other
 * groups, f something else, which g brings again. h needs b, which is a, and cannot run beside it.
 */
START_TEST(gathered)
{
#define GATHER(name, of, type, groups, dim)                                            \
	" " name " = " type " all-gather(" of "), channel_id=1, dimensions={" dim      \
	"}, "                                                                          \
	"replica_groups=" groups ", use_global_device_ids=true\n"
	struct program p = program_sample_text(
		arena,
		"HloModule m, num_partitions=4\nENTRY e {\n"
		" x = f32[4,4] parameter(0)\n y = f32[4,4] parameter(1)\n" GATHER(
			"a", "x", "f32[8,4]", "{{0,1},{2,3}}",
			"0") GATHER("b", "x", "f32[8,4]", "{{0,1},{2,3}}", "0")
			GATHER("c", "x", "f32[16,4]", "{{0,1,2,3}}", "0") GATHER(
				"d", "x", "f32[4,8]", "{{0,1},{2,3}}",
				"1") GATHER("e", "x", "f32[8,4]", "{{0,2},{1,3}}", "0")
				GATHER("f", "y", "f32[8,4]", "{{0,1},{2,3}}", "0")
					GATHER("g", "y", "f32[8,4]", "{{0,1},{2,3}}", "0") " z = f32[8,4] negate(b)\n" GATHER(
						"h", "z", "f32[16,4]", "{{0,1},{2,3}}",
						"0") " ROOT t = (f32[8,4], f32[16,4], "
						     "f32[4,8], "
						     "f32[8,4], f32[8,4], f32[8,4], "
						     "f32[16,4]) "
						     "tuple(a, c, d, e, f, g, h)\n}\n");
	const int32_t *before = clean_gathered(arena, &p);
	const double *share =
		clean_combined(arena, &p, clean_scattered(arena, &p), before);

	for (int64_t i = 0; i < p.op.n; i++) {
		const char *of = span_is(p.op.at[i].name, "b")   ? "a"
		                 : span_is(p.op.at[i].name, "g") ? "f"
		                                                 : NULL;

		ck_assert_int_eq(before[i],
		                 of ? program_sample_op(&p, of) - p.op.at : -1);
	}
	ck_assert_double_eq(share[program_sample_op(&p, "a") - p.op.at], 0.5);
	ck_assert_double_eq(share[program_sample_op(&p, "f") - p.op.at], 0.5);
	ck_assert_double_eq(share[program_sample_op(&p, "h") - p.op.at], 1);
}
END_TEST

/* --- seconds --- */

START_TEST(seconds)
{
	struct device device = {.memory_Bps = 1e12};
	struct machine m = {.device = &device, .tuning = tuning_default};
	const struct dtype *bf16 = NULL, *f32 = NULL;
	double *t = m.tuning.value;
	struct compute_ask ask = {.bytes = 4e6};

	for (const struct dtype *d = dtypes; d->name; d++) {
		bf16 = strcmp(d->name, "bf16") ? bf16 : d;
		f32 = strcmp(d->name, "f32") ? f32 : d;
	}
	ck_assert_double_eq_tol(compute_op_s(&m, &ask), 4e-6, 1e-18);
	t[TUNING_MEMORY_SHARE] = 0.5;
	ck_assert_double_eq_tol(compute_op_s(&m, &ask), 8e-6, 1e-18);
	t[TUNING_KERNEL_S] = 9e-6;
	ck_assert_double_eq_tol(compute_op_s(&m, &ask), 9e-6, 1e-18);
	/* Without a peak it is not known; with one the longer of both counts. */
	ask = (struct compute_ask){.kind = COMPUTE_MATMUL,
	                           .dtype = bf16,
	                           .flops = 1e10,
	                           .b = 1,
	                           .m = 1e3,
	                           .n = 1e3,
	                           .k = 5e3,
	                           .bytes = 1e6};
	ck_assert(compute_op_s(&m, &ask) < 0);
	t[TUNING_BF16_FLOPS] = 1e15;
	t[TUNING_MATMUL_SHARE] = 0.8;
	t[TUNING_MATMUL_S] = 3e-6;
	ck_assert_double_eq_tol(compute_op_s(&m, &ask), 3e-6 + 12.5e-6, 1e-18);
	/* f32 at its own peak; a convolution at half of the rate where a side is 500 wide. */
	ask.dtype = f32;
	t[TUNING_F32_FLOPS] = 1e14;
	ck_assert_double_eq_tol(compute_op_s(&m, &ask), 3e-6 + 100e-6, 1e-18);
	ask.kind = COMPUTE_CONVOLUTION;
	ask.k = 500;
	ck_assert_double_eq_tol(compute_op_s(&m, &ask), 3e-6 + 200e-6, 1e-17);
	ask.kind = COMPUTE_ATTENTION_BACK;
	t[TUNING_ATTENTION_BACK_SHARE] = 0.25;
	ck_assert_double_eq_tol(compute_op_s(&m, &ask), 40e-6, 1e-18);
}
END_TEST

/* --- memory --- */

/* Arrays that are held at the peak, which must come to what is held then. */
static struct live_arrays arrays_of(const struct program *p)
{
	struct live_arrays held;
	struct liveness l;
	double sum = 0;

	ck_assert(liveness_of(&l, NULL, arena, p));
	ck_assert(liveness_arrays(&held, arena, p));
	for (int64_t i = 0; i < held.array.n; i++)
		sum += held.array.at[i].bytes;
	ck_assert_double_eq(sum, l.peak_bytes);
	return held;
}

static double temps(struct program p)
{
	struct liveness l;

	arrays_of(&p);
	ck_assert(liveness_of(&l, NULL, arena, &p));
	return l.temp_bytes / MiB;
}

#define DOT(out, l, r)                                                                 \
	" " out " = " M "dot(" l ", " r "), lhs_contracting_dims={1}, "                \
	"rhs_contracting_dims={0}\n"

START_TEST(live)
{
	/* c dies with d, whose room e cannot take, for d is read by it. */
	ck_assert_double_eq(temps(text_of("", DOT("c", "a", "b") DOT("d", "c", "b")
	                                              DOT("ROOT e", "d", "b"))),
	                    2);
	/* c is needed to the end. */
	ck_assert_double_eq(temps(text_of("", DOT("c", "a", "b") DOT("d", "c", "b")
	                                              DOT("ROOT e", "d", "c"))),
	                    3);
	/* An elementwise result is written over an operand that dies. */
	ck_assert_double_eq(
		temps(text_of("", DOT("c", "a", "b") " ROOT d = " M "negate(c)\n")), 1);
	/* Arguments may not be written over unless they are given away. */
	ck_assert_double_eq(temps(text_of("", " ROOT d = " M "add(a, b)\n")), 1);
	ck_assert_double_eq(temps(text_of(", input_output_alias={ {}: (1, {}) }",
	                                  " ROOT d = " M "add(a, b)\n")),
	                    0);
	/* What is computed again takes no room: d and e are one kernel. */
	ck_assert_double_eq(
		temps(text_of("",
	                      DOT("c", "a", "b") " d = " M "tanh(c)\n e = " M
	                                         "add(d, b)\n" DOT("ROOT f", "a", "e"))),
		2);
}
END_TEST

/* A loop has one copy of what it carries; its body has a matmul's result on top. */
START_TEST(live_loop)
{
	static const char *const text =
		"HloModule m\nbody {\n c = (s32[], " M ", " M
		") parameter(0)\n i = s32[] "
		"get-tuple-element(c), index=0\n x = " M
		"get-tuple-element(c), index=1\n w = " M
		"get-tuple-element(c), index=2\n one = s32[] constant(1)\n j = s32[] "
		"add(i, one)\n"
		" y = " M "dot(x, w), lhs_contracting_dims={1}, "
		"rhs_contracting_dims={0}\n ROOT t "
		"= (s32[], " M ", " M ") tuple(j, y, w)\n}\nmore {\n c = (s32[], " M
		", " M ") parameter(0)\n i = s32[] get-tuple-element(c), index=0\n n = "
		"s32[] constant(9)\n"
		" ROOT l = pred[] compare(i, n), direction=LT\n}\nENTRY e {\n a = " M
		"parameter(0)\n b = " M
		"parameter(1)\n z = s32[] constant(0)\n t = (s32[], " M ", " M
		") tuple(z, a, b)\n l = (s32[], " M ", " M
		") while(t), condition=more, body=body\n ROOT r = " M
		"get-tuple-element(l), index=1\n}\n";
	struct liveness l;
	struct live_points points = {0};
	struct live_arrays held;
	struct program p = program_sample_text(arena, text);

	ck_assert(liveness_of(&l, &points, arena, &p));
	ck_assert_double_eq(l.params_bytes, 2 * MiB);
	/* A copy of a, and y beside it; w is the argument itself. Scalars are 4 bytes. */
	ck_assert_double_eq_tol(l.temp_bytes, 2 * MiB, 32);
	ck_assert(span_is(p.op.at[l.peak_op].name, "y"));
	ck_assert_int_gt(points.point.n, 0);
	held = arrays_of(&p);
	/* Both arguments, the copy, and within the loop y, which lasts to its turn's end. */
	ck_assert(held.array.at[0].argument && held.array.at[1].argument);
	ck_assert(span_is(p.op.at[held.array.at[held.array.n - 1].op].name, "y"));
}
END_TEST

Suite *tests(void)
{
	Suite *s = suite_create("kernels");
	TCase *t = tcase_create("kernels");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, fused);
	tcase_add_test(t, matmul);
	tcase_add_test(t, shared);
	tcase_add_test(t, slices);
	tcase_add_test(t, in_line);
	tcase_add_test(t, fusions);
	tcase_add_test(t, attention);
	tcase_add_test(t, scattered);
	tcase_add_test(t, combined);
	tcase_add_test(t, combined_permutes);
	tcase_add_test(t, gathered);
	tcase_add_test(t, seconds);
	tcase_add_test(t, live);
	tcase_add_test(t, live_loop);
	suite_add_tcase(s, t);
	return s;
}
