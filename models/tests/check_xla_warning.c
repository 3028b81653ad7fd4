/* Warnings of XLA's partitioner in the wordings of 2022 to 2026. */
#include "notation/xla_warning.h"

#include "base/rng.h"
#include "tests/tests.h"

#include <check.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static struct arena *arena;

static void setup(void)
{
	arena = arena_new();
}

static void teardown(void)
{
	arena_free(arena);
}

static const struct {
	const char *text, *from, *to, *shard, *array;
	unsigned line, col; /* of `to` */
} warning_table[] = {
	/* 2022, with its slip, and device lists in full */
	{"2022-09-16 03:44:56: E xla/service/spmd/spmd_partitioner.cc:509] [spmd] "
         "Involuntary full rematerialization. The compiled was not able to go from "
         "sharding {devices=[4,1]0,1,2,3} to {devices=[2,2]0,1,2,3} without doing a "
         "full rematerialization of the tensor. You probably want to enrich the "
         "sharding annotations to prevent this from happening.",
         "{devices=[4,1]0,1,2,3}", "{devices=[2,2]0,1,2,3}", NULL, NULL, 1, 181},
	/* 2024-05: iota lists; metadata with braces and quotes in it */
	{"from sharding {devices=[2,1,4]<=[4,2]T(1,0) metadata={op_name=\"a {'b\" "
         "source_line=3}} to {devices=[1,8,1]<=[8]} without",
         "{devices=[2,1,4]<=[4,2]T(1,0) metadata={op_name=\"a {'b\" source_line=3}}",
         "{devices=[1,8,1]<=[8]}", NULL, NULL, 1, 90},
	/* 2024-08: the instruction, of a shard */
	{"go from sharding {devices=[2,8]<=[16]} to {devices=[16,1]<=[16]} without "
         "doing "
         "a full rematerialization of the tensor for HLO operation: %dot.4 = "
         "bf16[24,5]{1,0} dot(bf16[24,7]{1,0} %a, bf16[7,5]{1,0} %b), sharding={x=1}. "
         "You probably want to",
         "{devices=[2,8]<=[16]}", "{devices=[16,1]<=[16]}", "bf16[24,5]", "bf16[48,40]",
         1, 43},
	/* 2025: replicas do not count; broken by a terminal */
	{"W1015 18:20:08.668874 spmd_partitioner.cc:645] [SPMD] Involuntary full\n"
         "rematerialization. The compiler cannot go from\n sharding "
         "{devices=[2,32,4]<=[2,8,4,4]T(0,2,1,3) last_tile_dim_replicate} to "
         "{devices=[1,256]<=[256]} efficiently for HLO operation %param = "
         "f32[1024,64]{1,0} parameter(0), sharding={devices=[2,32,4]<=[256]}. As the "
         "last resort, SPMD will replicate the tensor",
         "{devices=[2,32,4]<=[2,8,4,4]T(0,2,1,3) last_tile_dim_replicate}",
         "{devices=[1,256]<=[256]}", "f32[1024,64]", "f32[2048,2048]", 3, 78},
	/* one device; a scalar of it; names without a percent sign */
	{"from sharding {maximal device=0} to sharding {devices=[4,1]<=[4]} for x.1 = "
         "f32[9,3] add(",
         "{maximal device=0}", "{devices=[4,1]<=[4]}", "f32[9,3]", "f32[9,3]", 1, 46},
	/* another rank than the sharding's, a tuple, and no result at all */
	{"from sharding {devices=[1,1,2,2]<=[4] last_tile_dim_replicate} to "
         "{devices=[2,2]<=[4]} for HLO operation: %pad = f64[96]{0} pad(",
         "{devices=[1,1,2,2]<=[4] last_tile_dim_replicate}", "{devices=[2,2]<=[4]}",
         "f64[96]", NULL, 1, 67},
	{"from sharding {replicated} to {devices=[2,2]<=[4]} for HLO operation: %g = "
         "(f32[4,4], f32[2]) while(",
         "{replicated}", "{devices=[2,2]<=[4]}", NULL, NULL, 1, 31},
	{"from sharding {devices=[3]<=[3]} to {replicated}, twice: from sharding "
         "{devices=[3]<=[3]} to {replicated} for %a = f32[3] add(",
         "{devices=[3]<=[3]}", "{replicated}", NULL, NULL, 1, 37},
	/* shardings that name their mesh, of 2026 */
	{"from sharding {mesh['x'=4,'y'=2], [{'x'}, {}]} to {mesh['x'=4,'y'=2], [{}, "
         "{'y', 'x'}]} for %p = f32[6,5] add(",
         "{mesh['x'=4,'y'=2], [{'x'}, {}]}", "{mesh['x'=4,'y'=2], [{}, {'y', 'x'}]}",
         "f32[6,5]", "f32[24,5]", 1, 51},
	/* a manual region: two groups, of even and of odd devices, each 2x2 */
	{"from sharding {devices=[2,2,2]<=[8] last_tile_dims={manual}} to "
         "{devices=[4,1,2]<=[8] last_tile_dims={manual}} for %p = f32[6,5] add(",
         "{devices=[2,2,2]<=[4,2]T(1,0)}", "{devices=[2,4,1]<=[4,2]T(1,0)}", "f32[6,5]",
         "f32[2,12,10]", 1, 65},
};

static void same(const char *found, const char *wanted)
{
	ck_assert_int_eq(!found, !wanted);
	if (wanted)
		ck_assert_str_eq(found, wanted);
}

START_TEST(warnings)
{
	const char *text = warning_table[_i].text;
	struct xla_warning w;
	struct error e = {0};

	ck_assert_msg(
		xla_warning_parse(&w, arena, text, where_option("-w", text), &e) == OK,
		"%s", e.text);
	same(w.from, warning_table[_i].from);
	same(w.to, warning_table[_i].to);
	same(w.shard, warning_table[_i].shard);
	same(w.array, warning_table[_i].array);
	ck_assert_uint_eq(w.to_at.line, warning_table[_i].line);
	ck_assert_uint_eq(w.to_at.col, warning_table[_i].col);
	if (w.manual)
		return;
	ck_assert_ptr_eq(strstr(w.to_at.source + w.to_at.col - 1, w.to),
	                 w.to_at.source + w.to_at.col - 1);
}
END_TEST

static const struct {
	const char *text, *reason;
	unsigned line, col;
} error_table[] = {
	{"", "no warning of XLA", 1, 1},
	{"go\nto hell from sharding", "expected a sharding", 2, 22},
	{"from sharding P('x') to {replicated}", "expected a sharding", 1, 15},
	{"unfrom sharding {replicated}", "no warning of XLA", 1, 1},
	{"from sharding {devices=[2]<=[2] to {replicated", "not closed", 1, 15},
	{"from sharding {replicated metadata=\"} to {replicated}", "not closed", 1, 15},
	{"from sharding {replicated}, {replicated}", "expected 'to", 1, 27},
	{"from sharding {replicated} to\nfrom", "expected a sharding", 2, 1},
	{"from sharding {replicated} to {devices=[2]<=[3]}", "", 1, 0},
	/* manual on one side only; other groups; as many, but not the same devices */
	{"from sharding {devices=[2,2]<=[4] last_tile_dims={manual}} to "
         "{devices=[4]<=[4]}",
         "same manual devices", 1, 63},
	{"from sharding {devices=[2,2]<=[4] last_tile_dims={manual}} to "
         "{devices=[1,4]<=[4] last_tile_dims={manual}}",
         "same manual devices", 1, 63},
	{"from sharding {devices=[2,2]<=[4] last_tile_dims={manual}} to "
         "{devices=[2,2]<=[2,2]T(1,0) last_tile_dims={manual}}",
         "same manual devices", 1, 63},
	{"from sharding {replicated} to {devices=[0]<=[3]}", "", 1, 41},
};

START_TEST(errors)
{
	const char *text = error_table[_i].text;
	struct xla_warning w;
	struct error e = {0};

	ck_assert_int_ne(
		xla_warning_parse(&w, arena, text, where_option("-w", text), &e), OK);
	ck_assert_msg(strstr(e.text, error_table[_i].reason), "%s", e.text);
	ck_assert_uint_eq(e.at.line, error_table[_i].line);
	if (error_table[_i].col)
		ck_assert_uint_eq(e.at.col, error_table[_i].col);
}
END_TEST

/* Every beginning of a warning is read or refused, never more. */
START_TEST(truncated)
{
	const char *text = warning_table[_i].text;

	for (size_t n = 0; n < strlen(text); n++) {
		const char *part = arena_strndup(arena, text, n);
		struct xla_warning w;
		struct error e = {0};

		if (xla_warning_parse(&w, arena, part, where_option("-w", part), &e) ==
		    OK)
			ck_assert_str_eq(w.to, warning_table[_i].to);
		else
			ck_assert(e.text[0]);
	}
}
END_TEST

/* Replicas and manual groups in either order, as two groups of two tiles of two copies. */
START_TEST(manual_orders)
{
	static const char *const text[] = {
		"from sharding {devices=[2,2,2]<=[8] last_tile_dims={manual, "
		"replicated}} to "
		"{devices=[1,2,4]<=[2,2,2]T(1,0,2) last_tile_dims={manual, "
		"replicated}} for "
		"%p = f32[6] add(",
		"from sharding {devices=[2,2,2]<=[2,2,2]T(0,2,1) "
		"last_tile_dims={replicated, "
		"manual}} to {devices=[1,4,2]<=[2,2,2]T(0,2,1) "
		"last_tile_dims={replicated, "
		"manual}} for %p = f32[6] add(",
	};

	for (size_t i = 0; i < COUNT(text); i++) {
		struct xla_warning w;
		struct error e = {0};

		ck_assert_msg(xla_warning_parse(&w, arena, text[i],
		                                where_option("-w", text[i]), &e) == OK,
		              "%s", e.text);
		ck_assert_int_eq(w.manual, 2);
		ck_assert_str_eq(w.from, "{devices=[2,2,2]<=[2,2,2]T(1,0,2) "
		                         "last_tile_dim_replicate}");
		ck_assert_str_eq(w.to, "{devices=[2,1,4]<=[2,2,2]T(1,0,2) "
		                       "last_tile_dim_replicate}");
		ck_assert_str_eq(w.array, "f32[2,12]");
	}
}
END_TEST

/* A log: other lines, a warning over two lines, one cut off, one without its beginning. */
START_TEST(walk)
{
	static const char log[] = "I1015 18:20:08.000000 started = f32[3] from here\n"
				  "W1015 18:20:08.1 a.cc:1] [SPMD] Involuntary full "
				  "rematerialization. The "
				  "compiler cannot go from\nsharding "
				  "{devices=[2]<=[2]} to {replicated} for %a = "
				  "f32[4] add(\n"
				  "I1015 18:20:09.000000 step = 3\n"
				  "W1015 18:20:08.1 a.cc:1] [SPMD] Involuntary full "
				  "rematerialization. The comp\n"
				  "2022-09-16 03:44:56: E a.cc:509] [spmd] Involuntary "
				  "full rematerialization. "
				  "not able to go from sharding {replicated} to "
				  "{devices=[2]<=[2]} without doing "
				  "a full rematerialization of the tensor.\n"
				  "from sharding {devices=[2]<=[2]} to {replicated}";
	static const struct {
		unsigned line, col;
		const char *ends;
		bool read;
		const char *array;
	} found[] = {
		{2, 33, "add(\n", true, "f32[8]"},
		{5, 33, "comp\n", false, NULL},
		{6, 41, "tensor.\n", true, NULL},
		{7, 1, "{replicated}", true, NULL},
	};
	struct xla_warnings w = {{.file = "log", .line = 1, .col = 1}, log};
	struct where at;
	const char *text;

	for (size_t i = 0; i < COUNT(found); i++) {
		struct xla_warning one;
		struct error e = {0};
		size_t n = strlen(found[i].ends);

		text = xla_warnings_next(&w, &at, arena);
		ck_assert_ptr_nonnull(text);
		ck_assert_uint_eq(at.line, found[i].line);
		ck_assert_uint_eq(at.col, found[i].col);
		ck_assert_str_eq(text + strlen(text) - n, found[i].ends);
		ck_assert_int_eq(xla_warning_parse(&one, arena, text, at, &e) == OK,
		                 found[i].read);
		if (found[i].read)
			same(one.array, found[i].array);
	}
	ck_assert_ptr_null(xla_warnings_next(&w, &at, arena));
}
END_TEST

/* Whatever is damaged, every warning is read or refused, and the walk comes to its end. */
START_TEST(damaged)
{
	static const char bytes[] = "{}[]<=(),0129 fI\n\"'\\%T\xff";
	struct rng *rng = rng_new(5);
	int read = 0;

	for (int i = 0; i < 3000; i++) {
		struct xla_warnings w = {.at = {.file = "log", .line = 1, .col = 1}};
		struct text log = {0};
		struct where at;
		const char *text;
		int n = 0;

		arena_reset(arena);
		for (int k = 0; k < 3; k++)
			text_printf(
				&log, "%s\n",
				warning_table[rng_below(rng, COUNT(warning_table))].text);
		for (int k = (int)rng_below(rng, 6); k > 0; k--)
			log.s[rng_below(rng, (uint32_t)log.length)] =
				bytes[rng_below(rng, sizeof(bytes) - 1)];
		for (w.rest = log.s; (text = xla_warnings_next(&w, &at, arena)); n++) {
			struct xla_warning one;
			struct error e = {0};

			if (xla_warning_parse(&one, arena, text, at, &e) == OK)
				read++;
			else
				ck_assert(e.text[0] && e.at.line >= at.line);
		}
		ck_assert_int_le(n, 8);
		text_free(&log);
	}
	ck_assert_int_gt(read, 3000);
	rng_free(rng);
}
END_TEST

/* What is resharded, and where the metadata say it is from: each part where it is there. */
static const struct {
	const char *text, *operation;
} operations[] = {
	{"from sharding {replicated} to {devices=[4]<=[4]} without", NULL},
	{"from sharding {replicated} to {devices=[4]<=[4]} for HLO operation: %dot.12 "
         "= "
         "f32[4]{0} dot(f32[2] %a), sharding={replicated}, "
         "metadata={op_name=\"jit(f)/dot\" source_file=\"/a b/m.py\" source_line=42}.",
         "%dot.12, jit(f)/dot, /a b/m.py:42"},
	{"from sharding {replicated} to {devices=[4]<=[4]} for x = f32[4] add(), "
         "metadata={source_file=\"m.py\"}",
         "x, m.py"},
	{"from sharding {replicated} to {devices=[4]<=[4]} for %x = f32[4] add(), "
         "metadata={op_name=\"\" source_line=3}",
         "%x"},
	/* of a tuple, and what another warning behind it tells */
	{"from sharding {replicated} to {devices=[4]<=[4]} for %g = (f32[4], f32[2]) "
         "while(). from sharding {replicated} to {devices=[4]<=[4]} for %h = f32[4] "
         "add(), metadata={op_name=\"other\"}",
         "%g"},
};

START_TEST(test_operations)
{
	struct xla_warning w;
	struct error e = {0};

	ck_assert_int_eq(xla_warning_parse(&w, arena, operations[_i].text,
	                                   where_option("w", operations[_i].text), &e),
	                 OK);
	if (operations[_i].operation)
		ck_assert_str_eq(w.operation, operations[_i].operation);
	else
		ck_assert_ptr_null(w.operation);
}
END_TEST

Suite *tests(void)
{
	Suite *suite = suite_create("xla_warning");
	TCase *tc = tcase_create("xla_warning");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, test_operations, 0, (int)COUNT(operations));
	tcase_add_loop_test(tc, warnings, 0, COUNT(warning_table));
	tcase_add_loop_test(tc, errors, 0, COUNT(error_table));
	tcase_add_loop_test(tc, truncated, 0, COUNT(warning_table));
	tcase_add_test(tc, manual_orders);
	tcase_add_test(tc, walk);
	tcase_add_test(tc, damaged);
	suite_add_tcase(suite, tc);
	return suite;
}
