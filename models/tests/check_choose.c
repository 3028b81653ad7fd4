/*
 * Which axes the factors of an op are split over where its arrays disagree. Expectations are
 * those of Shardy's own tests of its explicit reshards (openxla/shardy, transforms/export/test/
 * insert_explicit_reshards: dot_dot_general, elementwise_ops, reduce): operands as they are
 * resharded, the result as the op has it before it is, and the axes of its all-reduce.
 */
#include "notation/notation.h"
#include "program/partition/choose.h"
#include "program/propagate.h"
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

#define M "\"x\"=4, \"y\"=2"
#define Z "\"x\"=4, \"y\"=2, \"z\"=4"
#define T "\"x\"=4, \"y\"=4, \"z\"=4, \"t\"=8"
#define R "\"x\"=16, \"y\"=4, \"z\"=2"

/*
 * Axes of dimensions between bars: "x,y|" is [{"x", "y"}, {}]. `got` are operands and result
 * as given, `want` as chosen, then the axes summed over.
 */
struct row {
	const char *mesh, *op, *type[3], *given[3], *want[3], *sum;
};

#define DOT "stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]"
#define BATCHED                                                                        \
	"stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = " \
	"[2] x [1]"
#define TWO "stablehlo.dot_general %a, %b, contracting_dims = [1, 2] x [0, 1]"
#define LAST "stablehlo.dot_general %a, %b, contracting_dims = [2] x [1]"
#define THREE "stablehlo.dot_general %a, %b, contracting_dims = [2] x [0]"
#define USUAL                                                                          \
	{                                                                              \
		"8x32", "32x16", "8x16"                                                \
	}
#define SMALL                                                                          \
	{                                                                              \
		"8x4", "4x16", "8x16"                                                  \
	}
#define CUBES                                                                          \
	{                                                                              \
		"4x8x32", "4x32x16", "4x8x16"                                          \
	}
#define LARGE                                                                          \
	{                                                                              \
		"64x8x32", "64x32x16", "64x8x16"                                       \
	}

static const struct row dots[] = {
	{M, DOT, USUAL, {"x|", "|y", "x|y"}, {"x|", "|y", "x|y"}, ""},
	{M, DOT, USUAL, {"x|y", "y|", "x|"}, {"x|y", "y|", "x|"}, "y"},
	{M, DOT, USUAL, {"x|y", "y|", "x|y"}, {"x|y", "y|", "x|"}, "y"},
	{M, DOT, USUAL, {"x|y", "y|", "x,y|"}, {"x|y", "y|", "x|"}, "y"},
	{M, DOT, USUAL, {"x|y", "y|", "y,x|"}, {"x|y", "y|", "x|"}, "y"},
	{M, DOT, USUAL, {"x|y", "|y", "x|y"}, {"x|", "|y", "x|y"}, ""},
	{M,
         DOT,
         USUAL,
         {"x:(1)2|y", "y|", "|x:(2)2"},
         {"x:(1)2|y", "y|x:(2)2", "x:(1)2|x:(2)2"},
         "y"},
	{M, DOT, USUAL, {"|y", "y|x", "|x"}, {"|y", "y|x", "|x"}, "y"},
	{M, DOT, USUAL, {"|y", "y|", "|"}, {"|y", "y|", "|"}, "y"},
	{M, DOT, USUAL, {"|", "|", "|"}, {"|", "|", "|"}, ""},
	{M, DOT, USUAL, {"x|y", "y|x", "|"}, {"|y", "y|x", "|x"}, "y"},
	{M, DOT, {"16x16", "16x16", "16x16"}, {"x|y", "x|y", "x|y"}, {"x|", "|y", "x|y"}, ""},
	{M,
         DOT,
         {"4x4096", "4096x4096", "4x4096"},
         {"x|", "x|", "x|"},
         {"|x", "x|", "|"},
         "x"},
	{M, DOT, USUAL, {"x|y", "y|x", "x|"}, {"|y", "y|x", "|x"}, "y"},
	{M, DOT, USUAL, {"x|y", "y|x", "|x"}, {"|y", "y|x", "|x"}, "y"},
	{M, DOT, USUAL, {"x|y", "y|", "|"}, {"x|y", "y|", "x|"}, "y"},
	{M, DOT, USUAL, {"|y", "y|", "x|"}, {"x|y", "y|", "x|"}, "y"},
	{M, DOT, USUAL, {"|y", "y|", "y|"}, {"|y", "y|", "|"}, "y"},
	{M, DOT, USUAL, {"|y", "y|", "|y"}, {"|y", "y|", "|"}, "y"},
	{M, DOT, USUAL, {"x|y", "y|", "y|"}, {"x|y", "y|", "x|"}, "y"},
	{M, DOT, SMALL, {"x|y", "y|", "|x"}, {"|y", "y|x", "|x"}, "y"},
	{M, DOT, USUAL, {"x|y", "y|", "|x"}, {"x|y", "y|", "x|"}, "y"},
	{M, DOT, {"8x16", "16x16", "8x16"}, {"x|y", "y|", "|x"}, {"|y", "y|x", "|x"}, "y"},
	{M, DOT, USUAL, {"|y", "y|x", "x|"}, {"|y", "y|x", "|x"}, "y"},
	{M, DOT, USUAL, {"x|", "|y", "y|x"}, {"x|", "|y", "x|y"}, ""},
	{M, DOT, {"16x32", "32x8", "16x8"}, {"x|", "|y", "y|x"}, {"x|", "|y", "x|y"}, ""},
	{M, DOT, {"128x4", "4x256", "128x256"}, {"x|", "|y", "y|x"}, {"y|", "|x", "y|x"}, ""},
	{M, DOT, {"8x1024", "1024x16", "8x16"}, {"x|", "|y", "y|x"}, {"x|", "|y", "x|y"}, ""},
	{M,
         DOT,
         USUAL,
         {"x:(2)2|y", "y|", "|x"},
         {"x:(2)2|y", "y|x:(1)2", "x:(2)2|x:(1)2"},
         "y"},
	{M, DOT, USUAL, {"x|y", "x|y", "y|x"}, {"|x", "x|y", "|y"}, "x"},
	{M, DOT, SMALL, {"x|y", "x|y", "y|x"}, {"y|", "|x", "y|x"}, ""},
	{Z, DOT, USUAL, {"|z", "|", "|x,y"}, {"|z", "z|x,y", "|x,y"}, "z"},
	{Z, DOT, USUAL, {"|z,x:(2)2", "|x,y", "|x,y"}, {"|z", "z|x,y", "|x,y"}, "z"},
	{Z,
         DOT,
         USUAL,
         {"|z,x:(2)2", "|x,y,z:(2)2", "|x,y,z:(2)2"},
         {"|z:(1)2", "z:(1)2|x,y,z:(2)2", "|x,y,z:(2)2"},
         "z:(1)2"},
	{Z, DOT, USUAL, {"x:(1)2|x:(2)2", "x|", "x|"}, {"|x", "x|", "|"}, "x"},
	{Z, DOT, SMALL, {"x:(1)2|x:(2)2", "x|", "x|"}, {"x|", "|", "x|"}, ""},
	{Z, DOT, {"4x2", "2x4", "4x4"}, {"|x", "x|", "x|"}, {"x|", "|", "x|"}, ""},
	{Z, BATCHED, CUBES, {"y||x,z", "y|x,z|", "y||"}, {"y||x,z", "y|x,z|", "y||"}, "x,z"},
	{Z,
         TWO,
         {"4x8x32", "8x32x16", "4x16"},
         {"|y|x,z", "y|x,z|", "|"},
         {"|y|x,z", "y|x,z|", "|"},
         "x,y,z"},
	{T,
         TWO,
         {"16x32x64", "32x64x128", "16x128"},
         {"x|z|t", "z|t|x,y", "x|z,t"},
         {"|z|t", "z|t|x,y", "|x,y"},
         "z,t"},
	{M, BATCHED, CUBES, {"x|y|", "x||y", "|x|y"}, {"x||", "x||y", "x||y"}, ""},
	{Z, BATCHED, CUBES, {"x||", "y||", "z||"}, {"y||", "y||", "y||"}, ""},
	{Z,
         BATCHED,
         CUBES,
         {"y,x:(1)2||", "y||", "||"},
         {"y,x:(1)2||", "y,x:(1)2||", "y,x:(1)2||"},
         ""},
	{Z, BATCHED, CUBES, {"y,x:(1)2||", "y,x||", "z||"}, {"y,x||", "y,x||", "y,x||"}, ""},
	{Z,
         BATCHED,
         {"4x8x8", "4x8x16", "4x8x16"},
         {"y,x:(1)2|x:(2)2|", "y,x||", "|x:(2)2|"},
         {"y,x:(1)2|x:(2)2|", "y,x:(1)2||", "y,x:(1)2|x:(2)2|"},
         ""},
	{T,
         BATCHED,
         LARGE,
         {"y,x:(1)2,t:(1)2|t:(2)2|", "y,x:(1)2,t:(2)2||t:(1)2", "|t:(2)2|t:(1)2"},
         {"y,x:(1)2,t:(2)2||", "y,x:(1)2,t:(2)2||t:(1)2", "y,x:(1)2,t:(2)2||t:(1)2"},
         ""},
	{T,
         BATCHED,
         LARGE,
         {"y:(1)2||", "y:(1)2||", "|x,y,z|"},
         {"y:(1)2|x|", "y:(1)2||", "y:(1)2|x|"},
         ""},
	{T,
         BATCHED,
         LARGE,
         {"y:(1)2||", "y:(1)2||", "|y|"},
         {"y:(1)2||", "y:(1)2||", "y:(1)2||"},
         ""},
	{T,
         BATCHED,
         LARGE,
         {"y:(2)2||", "y:(2)2||", "|y|"},
         {"y:(2)2|y:(1)2|", "y:(2)2||", "y:(2)2|y:(1)2|"},
         ""},
	{T,
         BATCHED,
         LARGE,
         {"y:(2)2||", "y:(2)2||", "|x,y,z|"},
         {"y:(2)2|x,y:(1)2|", "y:(2)2||", "y:(2)2|x,y:(1)2|"},
         ""},
	{M, DOT, {"16x8", "8x8", "16x8"}, {"|x", "|x", "x|"}, {"x|", "|", "x|"}, ""},
	{M, DOT, {"8x16", "16x8", "8x8"}, {"|x", "|x", "x|"}, {"|", "|x", "|x"}, ""},
	{M, DOT, {"8x8", "8x16", "8x16"}, {"|x", "|x", "x|"}, {"|", "|x", "|x"}, ""},
	{M, DOT, {"8x8", "8x8", "8x8"}, {"|x", "|x", "x|"}, {"|", "|x", "|x"}, ""},
	{M, DOT, {"8x8", "8x8", "8x8"}, {"|y", "|y", "|"}, {"|", "|y", "|y"}, ""},
	{M, DOT, {"8x2", "2x8", "8x8"}, {"|y", "|y", "|"}, {"|", "|y", "|y"}, ""},
	{M, DOT, {"8x16", "16x8", "8x8"}, {"|y", "|y", "|"}, {"|", "|y", "|y"}, ""},
	{M, DOT, {"8x2", "2x8", "8x8"}, {"|y", "|", "|y"}, {"|", "|y", "|y"}, ""},
	{M, DOT, {"8x16", "16x8", "8x8"}, {"|y", "|", "|y"}, {"|y", "y|", "|"}, "y"},
	{Z,
         THREE,
         {"8x32x64", "64x256", "8x32x256"},
         {"x|z|y", "y|", "x,y|z|"},
         {"x,y|z|", "|", "x,y|z|"},
         ""},
	{R,
         LAST,
         {"64x1024x8192", "256x8192", "64x1024x256"},
         {"|y,z|x", "|x", "y|x,z|"},
         {"|y,z|x", "|x", "|y,z|"},
         "x"},
};

#define NEGATE "stablehlo.negate %a"
#define ADD "stablehlo.add %a, %b"
#define FLAT                                                                           \
	{                                                                              \
		"4x32", NULL, "4x32"                                                   \
	}
#define FLATS                                                                          \
	{                                                                              \
		"4x32", "4x32", "4x32"                                                 \
	}
#define SUM "stablehlo.reduce(%a init: %z) applies stablehlo.add across dimensions = "

static const struct row others[] = {
	{Z, NEGATE, FLAT, {"|", NULL, "x|"}, {"x|", NULL, "x|"}, ""},
	{Z, NEGATE, FLAT, {"x|", NULL, "y|"}, {"x|", NULL, "x|"}, ""},
	{Z, NEGATE, FLAT, {"y|", NULL, "x|"}, {"x|", NULL, "x|"}, ""},
	{Z, NEGATE, FLAT, {"x|", NULL, "|y"}, {"x|", NULL, "x|"}, ""},
	{Z, NEGATE, FLAT, {"y|", NULL, "|x"}, {"|x", NULL, "|x"}, ""},
	{Z, ADD, FLATS, {"x|", "|", "x|"}, {"x|", "x|", "x|"}, ""},
	{Z, ADD, FLATS, {"x|", "x|", "y|"}, {"x|", "x|", "x|"}, ""},
	{Z, ADD, FLATS, {"y|", "y|", "x|"}, {"y|", "y|", "y|"}, ""},
	{Z, ADD, FLATS, {"x|", "x|", "|y"}, {"x|y", "x|y", "x|y"}, ""},
	{Z, ADD, FLATS, {"x|", "x|", "|"}, {"x|", "x|", "x|"}, ""},
	{Z,
         "stablehlo.transpose %a, dims = [3, 1, 0, 2]",
         {"256x32x64x100", NULL, "100x32x256x64"},
         {"|x|y|", NULL, "|y|z|"},
         {"|x|y|", NULL, "|x||y"},
         ""},
	{M,
         SUM "[1]",
         {"2x64x13", NULL, "2x13"},
         {"x||", NULL, "|"},
         {"x||", NULL, "x|"},
         ""},
	{M,
         SUM "[1]",
         {"2x64x13", NULL, "2x13"},
         {"|x|", NULL, "|"},
         {"|x|", NULL, "|"},
         "x"},
	{M,
         SUM "[0, 1]",
         {"2x64x13", NULL, "13"},
         {"y|x|", NULL, ""},
         {"y|x|", NULL, ""},
         "x,y"},
	{M,
         SUM "[0, 1]",
         {"2x64x13", NULL, "13"},
         {"x:(2)2|y,x:(1)2|", NULL, ""},
         {"x:(2)2|y,x:(1)2|", NULL, ""},
         "x,y"},
};

/*
 * XLA's choice, each by hand from its rules in order (xla/service/spmd/dot_handler.cc): all
 * devices on the rows of one operand and the result, the other is gathered; the same for columns
 * and batch; sums over what both contract; rows and columns by groups; a group on rows where the
 * sum is over the rest, as in Megatron's layers; weights gathered for a batch that is sharded
 * alike (FSDP); their gradients; nothing in common but the result; nothing at all; a large
 * operand alone that is split where it is contracted.
 */
static const struct row xla[] = {
	{M, DOT, USUAL, {"x,y|", "x|", "x,y|"}, {"x,y|", "|", "x,y|"}, ""},
	{M, DOT, USUAL, {"|x", "|x,y", "|x,y"}, {"|", "|x,y", "|x,y"}, ""},
	{M,
         BATCHED,
         {"8x8x32", "8x32x16", "8x8x16"},
         {"x,y||", "x,y||", "|x,y|"},
         {"x,y||", "x,y||", "x,y||"},
         ""},
	{M, DOT, USUAL, {"|x,y", "x,y|", "|"}, {"|x,y", "x,y|", "|"}, "x,y"},
	{M, DOT, {"64x32", "32x16", "64x16"}, {"x|", "|y", "x|y"}, {"x|", "|y", "x|y"}, ""},
	{M, DOT, USUAL, {"x|y", "y|", "x|"}, {"x|y", "y|", "x|"}, "y"},
	{M, DOT, USUAL, {"x|", "x|", "x|"}, {"x|", "|", "x|"}, ""},
	{M, DOT, USUAL, {"|x", "x|", "x|"}, {"|x", "x|", "|"}, "x"},
	{M, DOT, USUAL, {"|", "|", "x|y"}, {"x|", "|y", "x|y"}, ""},
	{M, DOT, USUAL, {"x|", "|x", "|"}, {"|", "|", "|"}, ""},
	{M, DOT, {"8x64", "64x8", "8x8"}, {"|x,y", "|", "|"}, {"|x,y", "x,y|", "|"}, "x,y"},
	/* Two operands alike; else as the result is. A sum as its operand is. */
	{Z, ADD, FLATS, {"x|", "x|", "y|"}, {"x|", "x|", "x|"}, ""},
	{Z, ADD, FLATS, {"x|", "|", "y|"}, {"y|", "y|", "y|"}, ""},
	{Z, NEGATE, FLAT, {"x|", NULL, "|y"}, {"|y", NULL, "|y"}, ""},
	{M,
         SUM "[1]",
         {"2x64x13", NULL, "2x13"},
         {"|x|", NULL, "y|"},
         {"|x|", NULL, "|"},
         "x"},
	/* The joined dimension is whole, and its axes go where they divide. */
	{M,
         "stablehlo.concatenate %a, %b, dim = 0",
         {"4x8", "4x8", "8x8"},
         {"x|", "x|", "x|"},
         {"|x", "|x", "|x"},
         ""},
	/* Split and merged dimensions; one that cannot be said of the operand is whole. */
	{M,
         "stablehlo.reshape %a",
         {"4x8", NULL, "32"},
         {"|", NULL, "x"},
         {"x|", NULL, "x"},
         ""},
	{M,
         "stablehlo.reshape %a",
         {"32", NULL, "4x8"},
         {"", NULL, "|y"},
         {"", NULL, "|"},
         ""},
	{M,
         "stablehlo.reshape %a",
         {"32", NULL, "4x8"},
         {"x,y", NULL, "|y"},
         {"x,y", NULL, "x|y"},
         ""},
};

/* "x,y|z" as Shardy writes it: [{"x", "y"}, {"z"}]. */
static const char *sharding_text(const char *bars)
{
	struct text out = {0};
	bool open = false;

	text_printf(&out, "[{");
	for (const char *p = bars; *p; p++) {
		if (*p == '|') {
			text_printf(&out, "%s}, {", open ? "\"" : "");
			open = false;
		} else if (*p == ',') {
			text_printf(&out, "%s, ", open ? "\"" : "");
			open = false;
		} else if (*p == ':') {
			text_printf(&out, "\":(%c)%c", p[2], p[4]);
			p += 4;
			open = false;
		} else {
			text_printf(&out, "%s%c", open ? "" : "\"", *p);
			open = true;
		}
	}
	text_printf(&out, "%s}]", open ? "\"" : "");
	return text_take(&out, arena);
}

static const char *program_text(const struct row *r)
{
	struct text out = {0};

	text_printf(&out, "module {\nsdy.mesh @m = <[%s]>\nfunc.func @main(", r->mesh);
	for (int i = 0; i < 2; i++)
		if (r->type[i])
			text_printf(&out,
			            "%s%%%c: tensor<%sxf32> {sdy.sharding = "
			            "#sdy.sharding<@m, %s>}",
			            i ? ", " : "", 'a' + i, r->type[i],
			            sharding_text(r->given[i]));
	text_printf(&out,
	            ", %%z: tensor<f32>) {\n %%0 = %s {sdy.sharding = "
	            "#sdy.sharding_per_value<[<@m, %s>]>} : (tensor<%sxf32>",
	            r->op, sharding_text(r->given[2]), r->type[0]);
	if (r->type[1])
		text_printf(&out, ", tensor<%sxf32>", r->type[1]);
	if (strstr(r->op, "init"))
		text_printf(&out, ", tensor<f32>");
	text_printf(&out, ") -> tensor<%sxf32>\n return\n}\n}\n", r->type[2]);
	return text_take(&out, arena);
}

static const char *print(const struct layout *l, const struct mesh *m)
{
	struct text out = {0};

	for (int d = 0; d < l->rank; d++) {
		int n;
		const struct part *part = layout_parts(l, d, &n);

		for (int i = 0; i < n; i++) {
			text_printf(&out, "%s", i ? "," : "");
			part_print(&out, m, part[i]);
		}
		text_printf(&out, "%s", d + 1 < l->rank ? "|" : "");
	}
	return out.s ? text_take(&out, arena) : "";
}

/* Axes in the order of the mesh. */
static const char *print_sums(const struct choosing *c, const struct axes *factor)
{
	struct layout sums = layout_replicated(1), sorted = layout_replicated(1);

	for (int64_t f = 0; f < c->rule->factor.n; f++)
		for (int32_t i = 0;
		     c->rule->factor.at[f].kind == FACTOR_REDUCE && i < factor[f].n; i++)
			layout_append(&sums, 0, factor[f].at[i]);
	for (int axis = 0; axis < c->mesh->naxes; axis++)
		for (int pre = 1; pre <= c->mesh->axis[axis].size; pre++)
			for (int i = 0; i < sums.nparts[0]; i++)
				if (sums.part[i].axis == axis && sums.part[i].pre == pre)
					layout_append(&sorted, 0, sums.part[i]);
	layout_normalise(&sorted);
	return print(&sorted, c->mesh);
}

static struct layout chosen(const struct choosing *c, const struct axes *factor,
                            int32_t t)
{
	const struct rule_tensor *at = &c->rule->tensor[t];
	struct layout l = layout_replicated(at->rank);

	for (int32_t d = 0; d < at->rank; d++)
		for (int32_t k = 0; k < at->dim[d].n; k++)
			for (int32_t i = 0; i < factor[at->dim[d].at[k]].n; i++)
				layout_append(&l, d, factor[at->dim[d].at[k]].at[i]);
	layout_normalise(&l);
	return l;
}

static void check_row(const struct row *r, const char *name, int number,
                      void choose(struct axes *, const struct choosing *))
{
	struct program p = program_sample_text(arena, program_text(r));
	struct shardings s;
	struct error e = {0};
	struct op_rule rule;
	struct axes factor[16];
	const struct sharding *tensor[4];
	struct choosing c = {
		program_sample_op(&p, "%0"), &rule, tensor, &p, &s.mesh, arena, 0};
	int at = 0;

	ck_assert_msg(propagate(&s, arena, &p, PROPAGATION_SHARDY, &e) == OK, "%s",
	              e.text);
	ck_assert(op_rule_of(&rule, arena, &p, program_sample_op(&p, "%0")));
	for (int32_t t = 0; t < rule.ntensors; t++)
		tensor[t] = &s.at[s.of[rule.tensor[t].value]];
	choose(factor, &c);
	for (int i = 0; i < 3; i++) {
		int32_t t = i == 2 ? rule.noperands : at++;
		struct layout l;

		if (!r->type[i])
			continue;
		l = chosen(&c, factor, t);
		ck_assert_msg(!strcmp(print(&l, c.mesh), r->want[i]),
		              "%s %d, array %d: %s, expected %s", name, number, i,
		              print(&l, c.mesh), r->want[i]);
	}
	ck_assert_msg(!strcmp(print_sums(&c, factor), r->sum),
	              "%s %d: sums over %s, expected %s", name, number,
	              print_sums(&c, factor), r->sum);
}

START_TEST(two_operands)
{
	for (size_t i = 0; i < sizeof(dots) / sizeof(*dots); i++)
		check_row(&dots[i], "dot", (int)i, choose_shardy);
}
END_TEST

START_TEST(one_shape)
{
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		check_row(&others[i], "op", (int)i, choose_shardy);
}
END_TEST

/* XLA's choice where nothing goes round a ring. */
static void choose_no_ring(struct axes *out, const struct choosing *c)
{
	struct einsum_ring ring;

	choose_xla(out, &ring, c);
	ck_assert_int_eq(ring.tensor, -1);
}

START_TEST(by_xla)
{
	for (size_t i = 0; i < sizeof(xla) / sizeof(*xla); i++)
		check_row(&xla[i], "xla", (int)i, choose_no_ring);
}
END_TEST

Suite *tests(void)
{
	Suite *s = suite_create("choose");
	TCase *c = tcase_create("choose");

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_add_test(c, two_operands);
	tcase_add_test(c, one_shape);
	tcase_add_test(c, by_xla);
	suite_add_tcase(s, c);
	return s;
}
