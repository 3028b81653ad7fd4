/* Ops of drawn programs that read or write parts of an array. */
#include "tests/draw_ops.h"

#include <stdbool.h>

/* Two of a shape behind each other, then the middle of both. */
void draw_pieces(struct drawing *g, int v)
{
	struct array_of t = g->pool[v], out = t, cut;
	int d = drawing_number(g, t.rank), with = drawing_like(g, v);

	out.dim[d] *= 2;
	text_printf(
		&g->text,
		" %%%d = stablehlo.concatenate %%%d, %%%d, dim = %d : (%s, %s) -> %s\n",
		g->n, v, with, d, drawing_type(g, &t), drawing_type(g, &t),
		drawing_type(g, &out));
	drawing_add(g, out);
	cut = out;
	cut.dim[d] = t.dim[d];
	text_printf(&g->text, " %%%d = stablehlo.slice %%%d [", g->n, g->n - 1);
	for (int i = 0; i < t.rank; i++)
		text_printf(&g->text, "%s%d:%d", i ? ", " : "",
		            i == d ? t.dim[d] / 2 : 0,
		            i == d ? t.dim[d] / 2 + t.dim[d] : t.dim[i]);
	text_printf(&g->text, "] : (%s) -> %s\n", drawing_type(g, &out),
	            drawing_type(g, &cut));
	drawing_add(g, cut);
}

/* A type with another size of a dimension. */
static const char *resized(const struct drawing *g, struct array_of t, int d, int size)
{
	t.dim[d] = size;
	return drawing_type(g, &t);
}

/*
 * Elements put in front and behind, or taken away there: 8 more, or as many; at times one between
 * each two, and one more behind.
 */
void draw_pad(struct drawing *g, int v)
{
	struct array_of t = g->pool[v];
	int d = drawing_number(g, t.rank), more = 8 * drawing_number(g, 2),
	    low = drawing_number(g, 9);
	int between = t.dim[d] <= 32 && !drawing_number(g, 3);

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
	text_printf(&g->text, " : (%s, tensor<f32>) -> %s\n", drawing_type(g, &t),
	            resized(g, t, d, t.dim[d] * (1 + between) + more));
	t.dim[d] += t.dim[d] * between + more;
	drawing_add(g, t);
}

/* Every other element, 8 of many in one place, or all in the reverse order. */
void draw_turned(struct drawing *g, int v)
{
	struct array_of t = g->pool[v];
	int d = drawing_number(g, t.rank), start = drawing_number(g, 2),
	    size = t.dim[d] / 2;
	bool few = t.dim[d] >= 32 && drawing_number(g, 2);

	if (t.dim[d] % 16) {
		text_printf(&g->text,
		            " %%%d = stablehlo.reverse %%%d, dims = [%d] : %s\n", g->n,
		            v, d, drawing_type(g, &t));
		drawing_add(g, t);
		return;
	}
	if (few) {
		size = 8;
		start = drawing_number(g, t.dim[d] - size + 1);
	}
	text_printf(&g->text, " %%%d = stablehlo.slice %%%d [", g->n, v);
	for (int i = 0; i < t.rank; i++)
		text_printf(&g->text, "%s%d:%d:%d", i ? ", " : "", i == d ? start : 0,
		            i == d && few ? start + size : t.dim[i],
		            i == d && !few ? 2 : 1);
	text_printf(&g->text, "] : (%s) -> %s\n", drawing_type(g, &t),
	            resized(g, t, d, size));
	t.dim[d] = size;
	drawing_add(g, t);
}

/* The sum or maximum of three neighbours, of all or of every other one. */
void draw_window(struct drawing *g, int v)
{
	struct array_of t = g->pool[v], ones = {t.rank, {1, 1, 1}};
	int d = drawing_number(g, t.rank),
	    stride = t.dim[d] % 16 ? 1 : 1 + drawing_number(g, 2);
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
	            drawing_number(g, 2) ? "add" : "maximum", drawing_type(g, &t),
	            resized(g, t, d, t.dim[d] / stride));
	t.dim[d] /= stride;
	drawing_add(g, t);
}

/* A convolution along the middle dimension, with a kernel of 3 or 8 that is an argument. */
void draw_convolution(struct drawing *g, int v)
{
	struct array_of t = g->pool[v];
	int size = drawing_number(g, 2) ? 3 : 8,
	    stride = t.dim[1] % 16 ? 1 : 1 + drawing_number(g, 2);

	if (t.rank != 3 || t.dim[2] != 8) {
		draw_window(g, v);
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
		drawing_type(g, &t), size, resized(g, t, 1, t.dim[1] / stride));
	t.dim[1] /= stride;
	drawing_add(g, t);
	draw_unary(g, g->n - 1, "tanh");
}

/*
 * Eight slices of an array, by indices along its first or second dimension, and these put back
 * by others.
 */
void draw_look(struct drawing *g, int v)
{
	struct array_of t = g->pool[v], out = t;
	int d = t.rank > 1 ? drawing_number(g, 2) : 0, n = 0;
	const char *offset = "", *sizes = "", *one = drawing_number(g, 2) ? "1" : "";
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
		g->n, v, one, offset, d, d, sizes, drawing_type(g, &t), index,
		drawing_type(g, &out));
	drawing_add(g, out);
	text_printf(
		&g->text,
		" %%%d = \"stablehlo.scatter\"(%%%d, %%j%s, %%%d) "
		"<{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = "
		"[%s], inserted_window_dims = [%d], scatter_dims_to_operand_dims = "
		"[%d], index_vector_dim = 1>}> ({\n ^bb0(%%p: tensor<f32>, %%q: "
		"tensor<f32>):\n  %%r = stablehlo.%s %%p, %%q : tensor<f32>\n  "
		"stablehlo.return %%r : tensor<f32>\n }) : (%s, %s, %s) -> %s\n",
		g->n, v, one, g->n - 1, offset, d, d,
		drawing_number(g, 2) ? "add" : "maximum", drawing_type(g, &t), index,
		drawing_type(g, &out), drawing_type(g, &t));
	drawing_add(g, t);
}

/*
 * One element, or slice, of each of 8 rows, by the row's own number and an index, and these put
 * back.
 */
void draw_pick(struct drawing *g, int v)
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
	drawing_add(g, (struct array_of){0, {0}});
	drawing_add(g, (struct array_of){0, {0}});
	drawing_add(g, (struct array_of){0, {0}});
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
		g->n, v, at, offset, sizes, drawing_type(g, &t), drawing_type(g, &out));
	drawing_add(g, out);
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
		g->n, v, at, g->n - 1, offset, drawing_type(g, &t),
		drawing_type(g, &out), drawing_type(g, &t));
	drawing_add(g, t);
}

/* A slice of one element or of all in another place of a dimension. */
void draw_update(struct drawing *g, int v)
{
	struct array_of t = g->pool[v], part = t;
	int d = drawing_number(g, t.rank);

	part.dim[d] = 1;
	text_printf(&g->text, " %%%d = stablehlo.slice %%%d [", g->n,
	            drawing_like(g, v));
	for (int i = 0; i < t.rank; i++)
		text_printf(&g->text, "%s%d:%d", i ? ", " : "", i == d ? 3 : 0,
		            i == d ? 4 : t.dim[i]);
	text_printf(&g->text, "] : (%s) -> %s\n", drawing_type(g, &t),
	            drawing_type(g, &part));
	/* What has one element is in no other op. */
	drawing_add(g, (struct array_of){0, {0}});
	text_printf(&g->text, " %%%d = stablehlo.dynamic_update_slice %%%d, %%%d", g->n,
	            v, g->n - 1);
	for (int i = 0; i < t.rank; i++)
		text_printf(&g->text, ", %s", i == d ? "%at" : "%zero");
	text_printf(&g->text, " : (%s, %s", drawing_type(g, &t), drawing_type(g, &part));
	for (int i = 0; i < t.rank; i++)
		text_printf(&g->text, ", tensor<i32>");
	text_printf(&g->text, ") -> %s\n", drawing_type(g, &t));
	drawing_add(g, t);
}
