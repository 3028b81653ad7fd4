#include "tests/draw_program.h"

#include <check.h>
#include <stdbool.h>
#include <string.h>

struct array_of {
	int rank, dim[3];
};

enum { POOL = 64 };

struct drawing {
	struct arena *a;
	uint64_t state;
	struct text text;
	struct array_of pool[POOL];
	int n; /* values %0 .. %(n-1) */
};

static int draw(struct drawing *g, int n)
{
	g->state = g->state * UINT64_C(6364136223846793005) +
	           UINT64_C(1442695040888963407);
	return (int)((g->state >> 33) % (uint64_t)n);
}

static const char *type_text(const struct drawing *g, const struct array_of *t)
{
	struct text out = {0};

	text_printf(&out, "tensor<");
	for (int d = 0; d < t->rank; d++)
		text_printf(&out, "%dx", t->dim[d]);
	text_printf(&out, "f32>");
	return text_take(&out, g->a);
}

/* Each axis on a dimension or on none, in any order. */
static const char *draw_sharding(struct drawing *g, int rank)
{
	const char *dims[3] = {"", "", ""};
	struct text out = {0};
	int first = draw(g, 3);

	for (int i = 0; i < 3; i++) {
		int to = draw(g, rank + 1);
		char axis = (char)('a' + (first + i) % 3);

		if (to < rank)
			dims[to] = arena_printf(g->a, "%s%s\"%c\"", dims[to],
			                        *dims[to] ? ", " : "", axis);
	}
	text_printf(&out, "<@m, [");
	for (int d = 0; d < rank; d++)
		text_printf(&out, "%s{%s}", d ? ", " : "", dims[d]);
	text_printf(&out, "]>");
	return text_take(&out, g->a);
}

static void add_value(struct drawing *g, struct array_of t)
{
	ck_assert_int_lt(g->n, POOL);
	g->pool[g->n++] = t;
}

static void add_unary(struct drawing *g, int v, const char *op)
{
	text_printf(&g->text, " %%%d = stablehlo.%s %%%d : %s\n", g->n, op, v,
	            type_text(g, &g->pool[v]));
	add_value(g, g->pool[v]);
}

/* A partner of equal shape, or the value itself. */
static int find_like(struct drawing *g, int v)
{
	for (int i = 0, k = draw(g, g->n); i < g->n; i++, k = (k + 1) % g->n)
		if (g->pool[k].rank == g->pool[v].rank &&
		    !memcmp(g->pool[k].dim, g->pool[v].dim,
		            (size_t)g->pool[v].rank * sizeof(int)))
			return k;
	return v;
}

static void add_binary(struct drawing *g, int v)
{
	static const char *const ops[] = {"add", "subtract", "maximum"};

	text_printf(&g->text, " %%%d = stablehlo.%s %%%d, %%%d : %s\n", g->n,
	            ops[draw(g, 3)], v, find_like(g, v), type_text(g, &g->pool[v]));
	add_value(g, g->pool[v]);
}

/* A matmul along the first dimensions of equal size; batched where both have three. */
static void add_dot(struct drawing *g, int v)
{
	const struct array_of *l = &g->pool[v];

	for (int i = 0, k = draw(g, g->n); i < g->n; i++, k = (k + 1) % g->n) {
		const struct array_of *r = &g->pool[k];
		struct array_of out;
		bool batched = l->rank == 3 && r->rank == 3;
		int a = l->rank - 1 - draw(g, 2), b = r->rank - 1 - draw(g, 2);

		if (l->rank < 2 || r->rank != l->rank || l->dim[a] != r->dim[b] ||
		    (batched && l->dim[0] != r->dim[0]))
			continue;
		out = (struct array_of){l->rank, {l->dim[0]}};
		out.dim[batched] = l->dim[batched + !(a - batched)];
		out.dim[batched + 1] = r->dim[batched + !(b - batched)];
		text_printf(
			&g->text,
			" %%%d = stablehlo.dot_general %%%d, %%%d,%s contracting_dims "
			"= [%d] x [%d] : (%s, %s) -> %s\n",
			g->n, v, k, batched ? " batching_dims = [0] x [0]," : "", a, b,
			type_text(g, l), type_text(g, r), type_text(g, &out));
		add_value(g, out);
		add_unary(g, g->n - 1, "tanh");
		return;
	}
	add_unary(g, v, "negate");
}

static void add_transpose(struct drawing *g, int v)
{
	struct array_of t = g->pool[v], out = t;
	int turn = t.rank > 1 ? 1 + draw(g, t.rank - 1) : 0;

	text_printf(&g->text, " %%%d = stablehlo.transpose %%%d, dims = [", g->n, v);
	for (int d = 0; d < t.rank; d++) {
		out.dim[d] = t.dim[(d + turn) % t.rank];
		text_printf(&g->text, "%s%d", d ? ", " : "", (d + turn) % t.rank);
	}
	text_printf(&g->text, "] : (%s) -> %s\n", type_text(g, &t), type_text(g, &out));
	add_value(g, out);
}

/* A sum or maximum along a dimension, given back to all along a dimension. */
static void add_reduce(struct drawing *g, int v)
{
	struct array_of t = g->pool[v], out = {t.rank - 1, {0}}, back;
	int gone = draw(g, t.rank), n = 0, at = draw(g, t.rank);

	for (int d = 0; d < t.rank; d++)
		if (d != gone)
			out.dim[n++] = t.dim[d];
	text_printf(
		&g->text,
		" %%%d = stablehlo.reduce(%%%d init: %%z) applies stablehlo.%s across "
		"dimensions = [%d] : (%s, tensor<f32>) -> %s\n",
		g->n, v, draw(g, 2) ? "add" : "maximum", gone, type_text(g, &t),
		type_text(g, &out));
	add_value(g, out);
	if (draw(g, 2) && out.rank)
		return;
	back = (struct array_of){t.rank, {0}};
	n = 0;
	for (int d = 0; d < t.rank; d++)
		back.dim[d] = d == at ? 8 * (1 + draw(g, 2)) : out.dim[n++];
	text_printf(&g->text, " %%%d = stablehlo.broadcast_in_dim %%%d, dims = [", g->n,
	            g->n - 1);
	n = 0;
	for (int d = 0; d < t.rank; d++)
		if (d != at)
			text_printf(&g->text, "%s%d", n++ ? ", " : "", d);
	text_printf(&g->text, "] : (%s) -> %s\n", type_text(g, &out),
	            type_text(g, &back));
	add_value(g, back);
	/* Scalars are in no pool. */
	if (!out.rank)
		g->pool[g->n - 2] = (struct array_of){0, {0}};
}

/* All dimensions stay multiples of 8, as no masks are made for those that do not divide. */
static void add_reshape(struct drawing *g, int v)
{
	struct array_of t = g->pool[v], out;

	if (t.rank == 3)
		out = draw(g, 2) ? (struct array_of){2, {t.dim[0] * t.dim[1], t.dim[2]}}
		                 : (struct array_of){2, {t.dim[0], t.dim[1] * t.dim[2]}};
	else if (t.rank == 2 && t.dim[1] % 64 == 0)
		out = (struct array_of){3, {t.dim[0], 8, t.dim[1] / 8}};
	else if (t.rank == 2)
		out = (struct array_of){1, {t.dim[0] * t.dim[1]}};
	else if (t.dim[0] % 64 == 0)
		out = (struct array_of){2, {8, t.dim[0] / 8}};
	else
		out = t;
	text_printf(&g->text, " %%%d = stablehlo.reshape %%%d : (%s) -> %s\n", g->n, v,
	            type_text(g, &t), type_text(g, &out));
	add_value(g, out);
}

/* Two of a shape behind each other, then the middle of both. */
static void add_pieces(struct drawing *g, int v)
{
	struct array_of t = g->pool[v], out = t, cut;
	int d = draw(g, t.rank), with = find_like(g, v);

	out.dim[d] *= 2;
	text_printf(
		&g->text,
		" %%%d = stablehlo.concatenate %%%d, %%%d, dim = %d : (%s, %s) -> %s\n",
		g->n, v, with, d, type_text(g, &t), type_text(g, &t),
		type_text(g, &out));
	add_value(g, out);
	cut = out;
	cut.dim[d] = t.dim[d];
	text_printf(&g->text, " %%%d = stablehlo.slice %%%d [", g->n, g->n - 1);
	for (int i = 0; i < t.rank; i++)
		text_printf(&g->text, "%s%d:%d", i ? ", " : "",
		            i == d ? t.dim[d] / 2 : 0,
		            i == d ? t.dim[d] / 2 + t.dim[d] : t.dim[i]);
	text_printf(&g->text, "] : (%s) -> %s\n", type_text(g, &out),
	            type_text(g, &cut));
	add_value(g, cut);
}

/* A type with another size of a dimension. */
static const char *resized(const struct drawing *g, struct array_of t, int d, int size)
{
	t.dim[d] = size;
	return type_text(g, &t);
}

/*
 * Elements put in front and behind, or taken away there: 8 more, or as many; at times one between
 * each two, and one more behind.
 */
static void add_pad(struct drawing *g, int v)
{
	struct array_of t = g->pool[v];
	int d = draw(g, t.rank), more = 8 * draw(g, 2), low = draw(g, 9);
	int between = t.dim[d] <= 32 && !draw(g, 3);

	text_printf(&g->text, " %%%d = stablehlo.pad %%%d, %%one, ", g->n, v);
	for (int side = 0; side < 3; side++) {
		text_printf(&g->text, "%s = [",
		            side == 0   ? "low"
		            : side == 1 ? ", high"
		                        : ", interior");
		for (int i = 0; i < t.rank; i++)
			text_printf(&g->text, "%s%d", i ? ", " : "",
			            i != d      ? 0
			            : side == 0 ? low - 4
			            : side == 1 ? more - (low - 4) + between
			                        : between);
		text_printf(&g->text, "]");
	}
	text_printf(&g->text, " : (%s, tensor<f32>) -> %s\n", type_text(g, &t),
	            resized(g, t, d, t.dim[d] * (1 + between) + more));
	t.dim[d] += t.dim[d] * between + more;
	add_value(g, t);
}

/* Every other element, 8 of many in one place, or all in the reverse order. */
static void add_turned(struct drawing *g, int v)
{
	struct array_of t = g->pool[v];
	int d = draw(g, t.rank), start = draw(g, 2), size = t.dim[d] / 2;
	bool few = t.dim[d] >= 32 && draw(g, 2);

	if (t.dim[d] % 16) {
		text_printf(&g->text,
		            " %%%d = stablehlo.reverse %%%d, dims = [%d] : %s\n", g->n,
		            v, d, type_text(g, &t));
		add_value(g, t);
		return;
	}
	if (few) {
		size = 8;
		start = draw(g, t.dim[d] - size + 1);
	}
	text_printf(&g->text, " %%%d = stablehlo.slice %%%d [", g->n, v);
	for (int i = 0; i < t.rank; i++)
		text_printf(&g->text, "%s%d:%d:%d", i ? ", " : "", i == d ? start : 0,
		            i == d && few ? start + size : t.dim[i],
		            i == d && !few ? 2 : 1);
	text_printf(&g->text, "] : (%s) -> %s\n", type_text(g, &t),
	            resized(g, t, d, size));
	t.dim[d] = size;
	add_value(g, t);
}

/* The sum or maximum of three neighbours, of all or of every other one. */
static void add_window(struct drawing *g, int v)
{
	struct array_of t = g->pool[v], ones = {t.rank, {1, 1, 1}};
	int d = draw(g, t.rank), stride = t.dim[d] % 16 ? 1 : 1 + draw(g, 2);
	const char *sizes[2] = {"", ""}, *pads = "";

	for (int i = 0; i < t.rank; i++) {
		const char *between = i ? ", " : "";

		sizes[0] = arena_printf(g->a, "%s%s%d", sizes[0], between,
		                        i == d ? 3 : ones.dim[i]);
		sizes[1] = arena_printf(g->a, "%s%s%d", sizes[1], between,
		                        i == d ? stride : 1);
		pads = arena_printf(g->a, "%s%s[%d, %d]", pads, between, i == d,
		                    i == d && stride == 1);
	}
	text_printf(&g->text,
	            " %%%d = \"stablehlo.reduce_window\"(%%%d, %%z) <{padding = "
	            "dense<[%s]> : tensor<%dx2xi64>, window_dimensions = array<i64: "
	            "%s>, window_strides = array<i64: %s>}> ({\n ^bb0(%%p: "
	            "tensor<f32>, %%q: tensor<f32>):\n  %%r = stablehlo.%s %%p, %%q : "
	            "tensor<f32>\n  stablehlo.return %%r : tensor<f32>\n }) : (%s, "
	            "tensor<f32>) -> %s\n",
	            g->n, v, pads, t.rank, sizes[0], sizes[1],
	            draw(g, 2) ? "add" : "maximum", type_text(g, &t),
	            resized(g, t, d, t.dim[d] / stride));
	t.dim[d] /= stride;
	add_value(g, t);
}

/* A convolution along the middle dimension, with a kernel of 3 or 8 that is an argument. */
static void add_convolution(struct drawing *g, int v)
{
	struct array_of t = g->pool[v];
	int size = draw(g, 2) ? 3 : 8, stride = t.dim[1] % 16 ? 1 : 1 + draw(g, 2);

	if (t.rank != 3 || t.dim[2] != 8) {
		add_window(g, v);
		return;
	}
	text_printf(
		&g->text,
		" %%%d = stablehlo.convolution(%%%d, %%k%d) dim_numbers = [b, 0, "
		"f]x[0, "
		"i, o]->[b, 0, f], window = {stride = [%d], pad = [[%d, %d]]} "
		"{batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (%s, "
		"tensor<%dx8x8xf32>) -> %s\n",
		g->n, v, size, stride, size / 2, (size - 1) / 2 - (stride == 2),
		type_text(g, &t), size, resized(g, t, 1, t.dim[1] / stride));
	t.dim[1] /= stride;
	add_value(g, t);
	add_unary(g, g->n - 1, "tanh");
}

/*
 * Eight slices of an array, by indices along its first or second dimension, and these put back
 * by others.
 */
static void add_look(struct drawing *g, int v)
{
	struct array_of t = g->pool[v], out = t;
	int d = t.rank > 1 ? draw(g, 2) : 0, n = 0;
	const char *offset = "", *sizes = "", *one = draw(g, 2) ? "1" : "";
	const char *index = *one ? "tensor<8x1xi32>" : "tensor<8xi32>";

	out.dim[0] = 8;
	for (int i = 0; i < t.rank; i++) {
		const char *between = n ? ", " : "";

		sizes = arena_printf(g->a, "%s%s%d", sizes, i ? ", " : "",
		                     i == d ? 1 : t.dim[i]);
		if (i == d)
			continue;
		out.dim[++n] = t.dim[i];
		offset = arena_printf(g->a, "%s%s%d", offset, between, n);
	}
	text_printf(
		&g->text,
		" %%%d = \"stablehlo.gather\"(%%%d, %%i%s) <{dimension_numbers = "
		"#stablehlo.gather<offset_dims = [%s], collapsed_slice_dims = [%d], "
		"start_index_map = [%d], index_vector_dim = 1>, slice_sizes = "
		"array<i64: %s>}> : (%s, %s) -> %s\n",
		g->n, v, one, offset, d, d, sizes, type_text(g, &t), index,
		type_text(g, &out));
	add_value(g, out);
	text_printf(
		&g->text,
		" %%%d = \"stablehlo.scatter\"(%%%d, %%j%s, %%%d) "
		"<{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = "
		"[%s], inserted_window_dims = [%d], scatter_dims_to_operand_dims = "
		"[%d], index_vector_dim = 1>}> ({\n ^bb0(%%p: tensor<f32>, %%q: "
		"tensor<f32>):\n  %%r = stablehlo.%s %%p, %%q : tensor<f32>\n  "
		"stablehlo.return %%r : tensor<f32>\n }) : (%s, %s, %s) -> %s\n",
		g->n, v, one, g->n - 1, offset, d, d, draw(g, 2) ? "add" : "maximum",
		type_text(g, &t), index, type_text(g, &out), type_text(g, &t));
	add_value(g, t);
}

/*
 * One element, or slice, of each of 8 rows, by the row's own number and an index, and these put
 * back.
 */
static void add_pick(struct drawing *g, int v)
{
	struct array_of t = g->pool[v], out = {t.rank - 1, {8}};
	const char *offset = "", *sizes = "1, 1";
	int at = g->n + 2;

	for (int i = 2; i < t.rank; i++) {
		out.dim[i - 1] = t.dim[i];
		offset = arena_printf(g->a, "%s%s%d", offset, i > 2 ? ", " : "", i - 1);
		sizes = arena_printf(g->a, "%s, %d", sizes, t.dim[i]);
	}
	text_printf(&g->text, " %%%d = stablehlo.iota dim = 0 : tensor<8x1xi32>\n",
	            g->n);
	add_value(g, (struct array_of){0, {0}});
	add_value(g, (struct array_of){0, {0}});
	add_value(g, (struct array_of){0, {0}});
	text_printf(&g->text, " %%%d = stablehlo.convert %%%d : tensor<8x1xi32>\n",
	            at - 1, at - 2);
	text_printf(&g->text,
	            " %%%d = stablehlo.concatenate %%%d, %%i1, dim = 1 : "
	            "(tensor<8x1xi32>, tensor<8x1xi32>) -> tensor<8x2xi32>\n",
	            at, at - 1);
	text_printf(
		&g->text,
		" %%%d = \"stablehlo.gather\"(%%%d, %%%d) <{dimension_numbers = "
		"#stablehlo.gather<offset_dims = [%s], collapsed_slice_dims = [0, 1], "
		"start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = "
		"array<i64: %s>}> : (%s, tensor<8x2xi32>) -> %s\n",
		g->n, v, at, offset, sizes, type_text(g, &t), type_text(g, &out));
	add_value(g, out);
	text_printf(
		&g->text,
		" %%%d = \"stablehlo.scatter\"(%%%d, %%%d, %%%d) "
		"<{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = "
		"[%s], inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = "
		"[0, 1], index_vector_dim = 1>}> ({\n ^bb0(%%p: tensor<f32>, %%q: "
		"tensor<f32>):\n  %%r = stablehlo.add %%p, %%q : tensor<f32>\n  "
		"stablehlo.return %%r : tensor<f32>\n }) : (%s, tensor<8x2xi32>, %s) "
		"-> "
		"%s\n",
		g->n, v, at, g->n - 1, offset, type_text(g, &t), type_text(g, &out),
		type_text(g, &t));
	add_value(g, t);
}

/* A slice of one element or of all in another place of a dimension. */
static void add_update(struct drawing *g, int v)
{
	struct array_of t = g->pool[v], part = t;
	int d = draw(g, t.rank);

	part.dim[d] = 1;
	text_printf(&g->text, " %%%d = stablehlo.slice %%%d [", g->n, find_like(g, v));
	for (int i = 0; i < t.rank; i++)
		text_printf(&g->text, "%s%d:%d", i ? ", " : "", i == d ? 3 : 0,
		            i == d ? 4 : t.dim[i]);
	text_printf(&g->text, "] : (%s) -> %s\n", type_text(g, &t), type_text(g, &part));
	/* What has one element is in no other op. */
	add_value(g, (struct array_of){0, {0}});
	text_printf(&g->text, " %%%d = stablehlo.dynamic_update_slice %%%d, %%%d", g->n,
	            v, g->n - 1);
	for (int i = 0; i < t.rank; i++)
		text_printf(&g->text, ", %s", i == d ? "%at" : "%zero");
	text_printf(&g->text, " : (%s, %s", type_text(g, &t), type_text(g, &part));
	for (int i = 0; i < t.rank; i++)
		text_printf(&g->text, ", tensor<i32>");
	text_printf(&g->text, ") -> %s\n", type_text(g, &t));
	add_value(g, t);
}

static void add_constraint(struct drawing *g, int v)
{
	text_printf(&g->text, " %%%d = sdy.sharding_constraint %%%d %s : %s\n", g->n, v,
	            draw_sharding(g, g->pool[v].rank), type_text(g, &g->pool[v]));
	add_value(g, g->pool[v]);
}

/* Numbers that are made of constants, and a counter along a dimension. */
static void add_constants(struct drawing *g, int v)
{
	text_printf(
		&g->text,
		" %%%d = stablehlo.broadcast_in_dim %%one, dims = [] : (tensor<f32>) "
		"-> %s\n",
		g->n, type_text(g, &g->pool[v]));
	add_value(g, g->pool[v]);
	text_printf(&g->text, " %%%d = stablehlo.iota dim = %d : %s\n", g->n,
	            draw(g, g->pool[v].rank), type_text(g, &g->pool[v]));
	add_value(g, g->pool[v]);
	text_printf(&g->text, " %%%d = stablehlo.add %%%d, %%%d : %s\n", g->n, g->n - 1,
	            g->n - 2, type_text(g, &g->pool[v]));
	add_value(g, g->pool[v]);
	text_printf(&g->text, " %%%d = stablehlo.multiply %%%d, %%%d : %s\n", g->n,
	            g->n - 1, v, type_text(g, &g->pool[v]));
	add_value(g, g->pool[v]);
}

static void draw_op(struct drawing *g)
{
	int v = draw(g, g->n);

	while (!g->pool[v].rank)
		v = draw(g, g->n);
	switch (draw(g, 16)) {
	case 0:
		add_unary(g, v, "negate");
		break;
	case 1:
		add_binary(g, v);
		break;
	case 2:
	case 3:
		add_dot(g, v);
		break;
	case 4:
		add_transpose(g, v);
		break;
	case 5:
		add_reduce(g, v);
		break;
	case 6:
		add_reshape(g, v);
		break;
	case 7:
		add_pieces(g, v);
		break;
	case 8:
		add_constants(g, v);
		break;
	case 9:
		add_pad(g, v);
		break;
	case 10:
		add_turned(g, v);
		break;
	case 11:
		add_window(g, v);
		break;
	case 12:
		add_convolution(g, v);
		break;
	case 13:
		if (g->pool[v].rank > 1 && g->pool[v].dim[0] == 8)
			add_pick(g, v);
		else
			add_look(g, v);
		break;
	case 14:
		add_update(g, v);
		break;
	default:
		add_constraint(g, v);
	}
}

enum { ARGS = 4, DRAWN = 10 };

const char *draw_program(struct arena *a, uint64_t seed)
{
	struct drawing g = {.a = a, .state = seed};

	for (int i = 0; i < 8; i++)
		draw(&g, 2);
	text_printf(&g.text, "module {\nsdy.mesh @m = <[\"a\"=2, \"b\"=2, \"c\"=2]>\n"
	                     "func.func @main(");
	for (int i = 0; i < ARGS; i++) {
		struct array_of t = {2 + (draw(&g, 3) == 0), {0}};

		for (int d = 0; d < t.rank; d++)
			t.dim[d] = 8 * (1 + draw(&g, 2));
		text_printf(&g.text, "%s%%%d: %s {sdy.sharding = #sdy.sharding%s}",
		            i ? ", " : "", i, type_text(&g, &t),
		            draw_sharding(&g, t.rank));
		add_value(&g, t);
	}
	/* Kernels, of 3 elements whole, of 8 split in any way. */
	text_printf(&g.text,
	            ", %%k3: tensor<3x8x8xf32> {sdy.sharding = "
	            "#sdy.sharding<@m, [{}, {?}, {?}]>}, %%k8: "
	            "tensor<8x8x8xf32> {sdy.sharding = #sdy.sharding%s}",
	            draw_sharding(&g, 3));
	for (int i = 0; i < 4; i++)
		text_printf(&g.text,
		            ", %%%s: tensor<8%sxi32> {sdy.sharding = "
		            "#sdy.sharding<@m, [{%s}%s]>}",
		            (const char *[]){"i", "i1", "j", "j1"}[i], i % 2 ? "x1" : "",
		            (const char *[]){"", "\"a\"", "\"b\", \"a\""}[draw(&g, 3)],
		            i % 2 ? ", {}" : "");
	text_printf(&g.text, ", %%at: tensor<i32>");
	text_printf(&g.text, ") -> (@) {\n %%z = stablehlo.constant dense<0.0> : "
	                     "tensor<f32>\n %%one = stablehlo.constant dense<1.0> : "
	                     "tensor<f32>\n %%zero = stablehlo.constant dense<0> : "
	                     "tensor<i32>\n");
	for (int i = 0; i < DRAWN; i++)
		draw_op(&g);
	while (!g.pool[g.n - 1].rank)
		g.n--;
	text_printf(&g.text, " return %%%d, %%%d : %s, %s\n}\n}\n", g.n - 1, ARGS - 1,
	            type_text(&g, &g.pool[g.n - 1]), type_text(&g, &g.pool[ARGS - 1]));
	/* Only now the results' types are known. */
	const char *text = text_take(&g.text, a), *at = strchr(text, '@');

	at = strstr(text, "-> (@)");
	return arena_printf(a, "%.*s-> (%s, %s)%s", (int)(at - text), text,
	                    type_text(&g, &g.pool[g.n - 1]),
	                    type_text(&g, &g.pool[ARGS - 1]), at + 6);
}
