/* Texts with all shardings in them read back to the same ones, value by value. */
#include "program/annotate.h"

#include "program/propagate.h"
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

static void propagated(struct shardings *s, struct program *p)
{
	struct error e = {0};

	ck_assert_msg(propagate(s, arena, p, PROPAGATION_SHARDY, &e) == OK, "%s",
	              e.text);
}

static bool is_added(const struct instruction *op)
{
	return op->name.length > 11 && !strncmp(op->name.at, "%constraint", 11);
}

static void check_equal(const struct program *p, const struct shardings *s,
                        const struct program *q, const struct shardings *t)
{
	int64_t k = 0;

	for (int64_t i = 0; i < p->op.n; i++, k++) {
		const struct instruction *op = &p->op.at[i];

		while (is_added(&q->op.at[k]) && !is_added(op))
			k++;
		ck_assert_int_eq(op->code, q->op.at[k].code);
		for (int32_t v = 0; v < op->nvalues; v++) {
			struct layout l = shardings_value(s, op->first_value + v);
			struct layout m =
				shardings_value(t, q->op.at[k].first_value + v);

			ck_assert_msg(layout_same_tiles(&l, &s->mesh, &m, &t->mesh) ||
			                      s->at[s->of[op->first_value + v]].anew,
			              "line %d", (int)op->line);
		}
	}
	for (int32_t i = 0; i < p->region.at[p->entry].result.n; i++) {
		struct layout l = shardings_result(s, p, i);
		struct layout m = shardings_result(t, q, i);

		ck_assert(layout_same_tiles(&l, &s->mesh, &m, &t->mesh));
	}
}

/* Annotates a program and reads it again; returns the text, the arena's. */
static const char *check_text(struct program *p, const char *name)
{
	struct program q;
	struct shardings s, t;
	struct text out = {0}, why = {0};
	struct error e = {0};

	propagated(&s, p);
	ck_assert_msg(program_annotate(&out, arena, p, &s, &why), "%s: %s", name, why.s);
	ck_assert_msg(program_of_text(&q, arena, out.s, out.length, name, &e) == OK,
	              "%s:%u: %s\n%s", name, e.at.line, e.text, out.s);
	propagated(&t, &q);
	check_equal(p, &s, &q, &t);
	return text_take(&out, arena);
}

static void read_text(struct program *p, const char *text)
{
	struct error e = {0};

	ck_assert_msg(program_of_text(p, arena, text, strlen(text), "text", &e) == OK,
	              "%u: %s", e.at.line, e.text);
}

/* What a text becomes, which reads back to the same shardings. */
static const char *annotated(const char *text)
{
	struct program p;

	read_text(&p, text);
	return check_text(&p, "text");
}

static void check_has(const char *text, const char *part)
{
	ck_assert_msg(strstr(text, part), "no '%s' in:\n%s", part, text);
}

START_TEST(samples)
{
	static const char *const names[] = {"mlp.mlir", "mlp-sharded.mlir",
	                                    "megatron.mlir", "fsdp-loop.mlir",
	                                    "constructs.hlo"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		struct program p;
		struct error e = {0};

		ck_assert(program_read(&p, arena,
		                       arena_printf(arena, "scenarios/programs/%s",
		                                    names[i]),
		                       &e) == OK);
		check_text(&p, names[i]);
	}
}
END_TEST

/* Open dimensions and user's priorities are closed as they came out; loops and calls. */
START_TEST(open_dimensions)
{
	static const char text[] =
		"sdy.mesh @m = <[\"x\"=2, \"y\"=2]>\n"
		"func.func @main(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, "
		"[{\"x\", ?}, {?}p1]>}, %b: tensor<8x8xf32>) -> tensor<8x8xf32> {\n"
		"  %c = stablehlo.constant dense<0> : tensor<i32>\n"
		"  %n = stablehlo.constant dense<3> : tensor<i32>\n"
		"  %one = stablehlo.constant dense<1> : tensor<i32>\n"
		"  %0 = call @f(%a, %b) : (tensor<8x8xf32>, tensor<8x8xf32>) -> "
		"tensor<8x8xf32>\n"
		"  %1:2 = stablehlo.while(%i = %c, %v = %0) : tensor<i32>, "
		"tensor<8x8xf32>\n"
		"   cond {\n"
		"    %l = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, "
		"tensor<i32>) -> tensor<i1>\n"
		"    stablehlo.return %l : tensor<i1>\n"
		"  } do {\n"
		"    %w = stablehlo.dot_general %v, %b, contracting_dims = [1] x [0] : "
		"(tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>\n"
		"    %j = stablehlo.add %i, %one : tensor<i32>\n"
		"    stablehlo.return %j, %w : tensor<i32>, tensor<8x8xf32>\n"
		"  }\n"
		"  return %1#1 : tensor<8x8xf32>\n"
		"}\n"
		"func.func private @f(%p: tensor<8x8xf32>, %q: tensor<8x8xf32>) -> "
		"tensor<8x8xf32> {\n"
		"  %r = stablehlo.add %p, %q : tensor<8x8xf32>\n"
		"  return %r : tensor<8x8xf32>\n"
		"}\n";

	annotated(text);
}
END_TEST

#define MESH "sdy.mesh @mesh = <[\"x\"=4, \"y\"=2]>\n"
#define SAID(dims) "sdy.sharding = #sdy.sharding<@mesh, " dims ">"
#define A "%a: tensor<64x32xf32> {" SAID("[{\"x\"}, {}]") "}"

/* Results are said as the function says them, or as what they are. */
START_TEST(results)
{
	const char *out;

	out = annotated(MESH "func.func @main(" A ") -> (tensor<64x32xf32> {" SAID(
		"[{}, {\"x\"}]") "}, "
	                         "tensor<64x32xf32> {jax.result_info = \"b\"}, "
	                         "tensor<64x32xf32>) {\n"
	                         "  %0 = stablehlo.tanh %a : tensor<64x32xf32>\n"
	                         "  return %0, %0, %0 : tensor<64x32xf32>, "
	                         "tensor<64x32xf32>, tensor<64x32xf32>\n}\n");
	check_has(out, "-> (tensor<64x32xf32> {" SAID("[{}, {\"x\"}]") "}, ");
	check_has(out, SAID("[{\"x\"}, {}]") ", jax.result_info = \"b\"}, ");
	check_has(out, "tensor<64x32xf32> {" SAID("[{\"x\"}, {}]") "}) {");
	out = annotated(MESH "func.func @main(" A ") -> tensor<64x32xf32> {\n"
	                     "  return %a : tensor<64x32xf32>\n}\n");
	check_has(out, "-> (tensor<64x32xf32> {" SAID("[{\"x\"}, {}]") "}) {");
	out = annotated("HloModule m, num_partitions=8\n\nENTRY %main {\n"
	                "  %a = f32[64,32] parameter(0), "
	                "sharding={devices=[8,1]<=[8]}\n"
	                "  %b = f32[64,32] tanh(%a)\n"
	                "  ROOT %t = (f32[64,32], f32[64,32]) tuple(%b, %b), "
	                "sharding={{devices=[1,8]<=[8]}, {replicated}}\n}\n");
	check_has(out, "sharding={{devices=[1,8]<=[8]}, {replicated}}");
	out = annotated("HloModule m, num_partitions=8\n\nENTRY %main {\n"
	                "  %a = f32[64,32] parameter(0), "
	                "sharding={devices=[8,1]<=[8]}\n"
	                "  ROOT %t = (f32[64,32], f32[64,32]) tuple(%a, %a)\n}\n");
	check_has(out, "tuple(%a, %a), sharding={{devices=[8,1]<=[8]}, "
	               "{devices=[8,1]<=[8]}}");
}
END_TEST

/* A loop that reads %w hands it on, too, as a third value that has no name in the text. */
START_TEST(names_of_results)
{
	const char *out = annotated(
		MESH
		"func.func @main(" A ", %w: tensor<32x32xf32>) -> "
		"tensor<64x32xf32> {\n"
		"  %c = stablehlo.constant dense<0> : tensor<i32>\n"
		"  %n = stablehlo.constant dense<3> : tensor<i32>\n"
		"  %one = stablehlo.constant dense<1> : tensor<i32>\n"
		"  %0:2 = stablehlo.while(%i = %c, %v = %a) : tensor<i32>, "
		"tensor<64x32xf32>\n"
		"   cond {\n"
		"    %l = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, "
		"tensor<i32>) -> tensor<i1>\n"
		"    stablehlo.return %l : tensor<i1>\n"
		"  } do {\n"
		"    %d = stablehlo.dot_general %v, %w, contracting_dims = [1] x [0] "
		": (tensor<64x32xf32>, tensor<32x32xf32>) -> tensor<64x32xf32>\n"
		"    %j = stablehlo.add %i, %one : tensor<i32>\n"
		"    stablehlo.return %j, %d : tensor<i32>, tensor<64x32xf32>\n"
		"  }\n"
		"  %1, %2 = \"stablehlo.custom_call\"(%0#1) {call_target_name = "
		"\"f\", sdy.sharding = #sdy.sharding_per_value<[<@mesh, "
		"[{\"x\"}, {}]>, <@mesh, [{}, {\"y\"}]>]>} : (tensor<64x32xf32>) "
		"-> (tensor<64x32xf32>, tensor<64x32xf32>)\n"
		"  %3 = stablehlo.add %1, %2 : tensor<64x32xf32>\n"
		"  return %3 : tensor<64x32xf32>\n"
		"}\n");

	check_has(out, "sdy.sharding_constraint %0#1 <@mesh, [{\"x\"}, {}]>");
	ck_assert(!strstr(out, "%0#2"));
	check_has(out, "sdy.sharding_constraint %1 <@mesh, [{\"x\"}, {}]>");
	check_has(out, "sdy.sharding_constraint %2 <@mesh, [{}, {\"y\"}]>");
}
END_TEST

/* Instructions of several lines, several in a line, comments at their ends. */
START_TEST(ends_of_instructions)
{
	const char *out = annotated(
		"HloModule m, num_partitions=8\n\nENTRY %main {\n"
		"  %a = f32[64,32] parameter(0), sharding={devices=[8,1]<=[8]}\n"
		"  %b = f32[64,64] dot(%a, %a),\n    lhs_contracting_dims={1},\n"
		"    rhs_contracting_dims={1}\n"
		"  %c = f32[64,64] tanh(%b) // sharding={replicated}\n"
		"  %d = f32[64,64] tanh(%c), metadata={op_name=\"a // b\"} /* end\n"
		"  */ %e = f32[64,64] tanh(%d)   ROOT %f = f32[64,64] tanh(%e)\n}\n");

	check_has(out, "rhs_contracting_dims={1}, sharding={devices=[8,1]<=[8]}\n");
	check_has(out, "tanh(%b), sharding={devices=[8,1]<=[8]} // sharding");
	check_has(out, "\"a // b\"}, sharding={devices=[8,1]<=[8]} /* end\n");
	check_has(out, "tanh(%d), sharding={devices=[8,1]<=[8]}   ROOT");
	check_has(out, "tanh(%e), sharding={devices=[8,1]<=[8]}\n}");
}
END_TEST

START_TEST(arguments)
{
	const char *out =
		annotated("sdy.mesh @m = <[\"x\"=4, \"y\"=2]>\n"
	                  "func.func @main(%a: tensor<64x32xf32> {sdy.sharding = "
	                  "#sdy.sharding<@m, [{\"x\"}, {}], unreduced={\"y\"}>},\n"
	                  "    %b: // tensor<8xf32>\n    tensor<64x32xf32> { },\n"
	                  "    %c: tensor<64x32xf32> {jax.b = \"}\"} // {\n"
	                  "    ) -> tensor<64x32xf32> {\n"
	                  "  %0 = stablehlo.add %b, %c : tensor<64x32xf32>\n"
	                  "  return %0 : tensor<64x32xf32>\n}\n");

	check_has(out, "{sdy.sharding = #sdy.sharding<@m, [{\"x\"}, {}], "
	               "unreduced={\"y\"}>},");
	check_has(out, "// tensor<8xf32>\n    tensor<64x32xf32> {sdy.sharding = "
	               "#sdy.sharding<@m, [{}, {}]> },");
	check_has(out, "{sdy.sharding = #sdy.sharding<@m, [{}, {}]>, jax.b = \"}\"} ");
}
END_TEST

/* What is not handed on stays: by hand, of one device, of odd orders, of a mesh in its place. */
START_TEST(left_as_they_are)
{
	static const char *const hlo[] = {
		"{manual}", "{maximal device=3}", "{devices=[8,1]0,2,1,3,4,5,7,6}",
		"{devices=[2,1,2,2]<=[8] last_tile_dims={manual, replicated}}"};
	const char *out;

	for (size_t i = 0; i < sizeof(hlo) / sizeof(*hlo); i++) {
		out = annotated(
			arena_printf(arena,
		                     "HloModule m, num_partitions=8\n\nENTRY %%main {\n"
		                     "  %%a = f32[64,32] parameter(0), sharding=%s\n"
		                     "  %%b = f32[64,32] parameter(1), "
		                     "sharding={devices=[8,1]<=[8]}\n"
		                     "  ROOT %%c = f32[64,32] tanh(%%b)\n}\n",
		                     hlo[i]));
		check_has(out,
		          arena_printf(arena, "parameter(0), sharding=%s\n", hlo[i]));
		check_has(out, "tanh(%b), sharding={devices=[8,1]<=[8]}\n");
	}
	out = annotated(MESH "func.func @main(" A ", %b: tensor<64x32xf32> "
	                     "{sdy.sharding = #sdy.sharding<mesh<[\"x\"=8]>, "
	                     "[{\"x\"}, {}]>}) -> tensor<64x32xf32> {\n"
	                     "  %0 = stablehlo.tanh %a : tensor<64x32xf32>\n"
	                     "  return %0 : tensor<64x32xf32>\n}\n");
	check_has(out,
	          "{sdy.sharding = #sdy.sharding<mesh<[\"x\"=8]>, [{\"x\"}, {}]>})");
}
END_TEST

/* Constraints name the mesh that the text's own shardings name. */
START_TEST(mesh_in_use)
{
	const char *out = annotated(
		"sdy.mesh @empty_mesh = <[]>\nsdy.mesh @other = <[\"z\"=8]>\n" MESH
		"func.func @main(" A ") -> tensor<64x32xf32> {\n"
		"  %0 = stablehlo.tanh %a : tensor<64x32xf32>\n"
		"  return %0 : tensor<64x32xf32>\n}\n");

	check_has(out, "sdy.sharding_constraint %0 <@mesh, [{\"x\"}, {}]>");
}
END_TEST

/* Constraints of the text say what they became; a text that has all shardings stays as it is. */
START_TEST(constraints)
{
	const char *once = annotated(
		MESH "func.func @main(" A ") -> tensor<64x32xf32> {\n"
		     "  %0 = stablehlo.tanh %a : tensor<64x32xf32>\n"
		     "  %1 = sdy.sharding_constraint %0 <@mesh, [{?}, {\"y\", ?}]> : "
		     "tensor<64x32xf32>\n"
		     "  %2 = stablehlo.tanh %1 : tensor<64x32xf32>\n"
		     "  %3 = sdy.sharding_constraint %2 <@mesh, [{\"y\"}, {?}]> : "
		     "tensor<64x32xf32>\n"
		     "  return %2 : tensor<64x32xf32>\n}\n");
	const char *twice = annotated(once);

	ck_assert_str_eq(once, twice);
	ck_assert(!strchr(once, '?'));
	ck_assert(!strstr(once, "constraint %2 <@mesh, [{\"y\"}, {}]> : "
	                        "tensor<64x32xf32>\n    %"));
	ck_assert(!strstr(once, "sdy.sharding_constraint %1"));
}
END_TEST

/* Brackets in texts, a return in the line of an op, two ops in a line. */
START_TEST(ends_of_ops)
{
	const char *out = annotated(
		MESH "func.func @main(" A ") -> tensor<64x32xf32> {\n"
		     "  %0 = stablehlo.tanh %a : tensor<64x32xf32> loc(\"f(x\")\n"
		     "  %1 = stablehlo.tanh %0 : tensor<64x32xf32> %2 = stablehlo.tanh "
		     "%1 : tensor<64x32xf32> // {\n"
		     "  %3 = stablehlo.tanh %2 : tensor<64x32xf32> return %3 : "
		     "tensor<64x32xf32>\n}\n");

	check_has(out, "loc(\"f(x\")\n    %constraint0 = sdy.sharding_constraint %0 ");
	check_has(out, "tanh %0 : tensor<64x32xf32>\n    %constraint1 = "
	               "sdy.sharding_constraint %1 <@mesh, [{\"x\"}, {}]> : "
	               "tensor<64x32xf32> %2 = ");
	check_has(out, "// {\n    %constraint2 = sdy.sharding_constraint %2 ");
	check_has(out, "tensor<64x32xf32> return %3 ");
}
END_TEST

/* A value without a name of its own gets nothing, which is said. */
START_TEST(without_a_place)
{
	struct program p;
	struct shardings s;
	struct text out = {0}, why = {0};

	read_text(&p, MESH "func.func @main(" A ") {\n"
	                   "  %t = \"stablehlo.custom_call\"(%a) {call_target_name = "
	                   "\"f\", sdy.sharding = #sdy.sharding_per_value<[<@mesh, "
	                   "[{\"x\"}, {}]>, <@mesh, [{}, {}]>]>} : (tensor<64x32xf32>) "
	                   "-> tuple<tensor<64x32xf32>, tensor<64x32xf32>>\n"
	                   "  return\n}\n");
	propagated(&s, &p);
	ck_assert(program_annotate(&out, arena, &p, &s, &why));
	ck_assert(!strstr(out.s, "sharding_constraint"));
	check_has(why.s, "of 2 values the text has no place for a sharding");
	text_free(&out);
	text_free(&why);
}
END_TEST

/* What many devices have is in parts; what one has is whole, and may be cut. */
START_TEST(partitioned)
{
	struct program p;
	struct shardings s;
	struct text out = {0}, why = {0};

	read_text(&p, "HloModule m, num_partitions=8\n\nENTRY %main {\n"
	              "  %a = f32[8,32] parameter(0)\n"
	              "  ROOT %b = f32[64,32] all-gather(%a), channel_id=1, "
	              "replica_groups=[1,8]<=[8], dimensions={0}, "
	              "use_global_device_ids=true\n}\n");
	shardings_start(&s, arena, &p);
	ck_assert(!program_annotate(&out, arena, &p, &s, &why));
	check_has(why.s, "not partitioned yet");
	read_text(&p, "HloModule m\n\nENTRY %main {\n"
	              "  ROOT %a = f32[8,32] parameter(0)\n}\n");
	shardings_start(&s, arena, &p);
	ck_assert(program_annotate(&out, arena, &p, &s, &why));
	text_free(&out);
	text_free(&why);
}
END_TEST

Suite *tests(void)
{
	Suite *s = suite_create("annotate");
	TCase *c = tcase_create("annotate");

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_add_test(c, samples);
	tcase_add_test(c, open_dimensions);
	tcase_add_test(c, results);
	tcase_add_test(c, names_of_results);
	tcase_add_test(c, ends_of_instructions);
	tcase_add_test(c, arguments);
	tcase_add_test(c, partitioned);
	tcase_add_test(c, ends_of_ops);
	tcase_add_test(c, without_a_place);
	tcase_add_test(c, constraints);
	tcase_add_test(c, mesh_in_use);
	tcase_add_test(c, left_as_they_are);
	suite_add_tcase(s, c);
	return s;
}
