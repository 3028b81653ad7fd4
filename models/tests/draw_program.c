#include "tests/draw_program.h"

#include "tests/draw_ops.h"

#include <check.h>
#include <stdbool.h>
#include <string.h>

int drawing_number(struct drawing *g, int n)
{
	g->state = g->state * UINT64_C(6364136223846793005) +
	           UINT64_C(1442695040888963407);
	return (int)((g->state >> 33) % (uint64_t)n);
}

const char *drawing_type(const struct drawing *g, const struct array_of *t)
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
	int first = drawing_number(g, 3);

	for (int i = 0; i < 3; i++) {
		int to = drawing_number(g, rank + 1);
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

void drawing_add(struct drawing *g, struct array_of t)
{
	ck_assert_int_lt(g->n, VALUES_MAX);
	g->pool[g->n++] = t;
}

void draw_unary(struct drawing *g, int v, const char *op)
{
	text_printf(&g->text, " %%%d = stablehlo.%s %%%d : %s\n", g->n, op, v,
	            drawing_type(g, &g->pool[v]));
	drawing_add(g, g->pool[v]);
}

int drawing_like(struct drawing *g, int v)
{
	for (int i = 0, k = drawing_number(g, g->n); i < g->n; i++, k = (k + 1) % g->n)
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
	            ops[drawing_number(g, 3)], v, drawing_like(g, v),
	            drawing_type(g, &g->pool[v]));
	drawing_add(g, g->pool[v]);
}

/* A matmul along the first dimensions of equal size; batched where both have three. */
static void add_dot(struct drawing *g, int v)
{
	const struct array_of *l = &g->pool[v];

	for (int i = 0, k = drawing_number(g, g->n); i < g->n; i++, k = (k + 1) % g->n) {
		const struct array_of *r = &g->pool[k];
		struct array_of out;
		bool batched = l->rank == 3 && r->rank == 3;
		int a = l->rank - 1 - drawing_number(g, 2),
		    b = r->rank - 1 - drawing_number(g, 2);

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
			drawing_type(g, l), drawing_type(g, r), drawing_type(g, &out));
		drawing_add(g, out);
		draw_unary(g, g->n - 1, "tanh");
		return;
	}
	draw_unary(g, v, "negate");
}

static void add_transpose(struct drawing *g, int v)
{
	struct array_of t = g->pool[v], out = t;
	int turn = t.rank > 1 ? 1 + drawing_number(g, t.rank - 1) : 0;

	text_printf(&g->text, " %%%d = stablehlo.transpose %%%d, dims = [", g->n, v);
	for (int d = 0; d < t.rank; d++) {
		out.dim[d] = t.dim[(d + turn) % t.rank];
		text_printf(&g->text, "%s%d", d ? ", " : "", (d + turn) % t.rank);
	}
	text_printf(&g->text, "] : (%s) -> %s\n", drawing_type(g, &t),
	            drawing_type(g, &out));
	drawing_add(g, out);
}

/* A sum or maximum along a dimension, given back to all along a dimension. */
static void add_reduce(struct drawing *g, int v)
{
	struct array_of t = g->pool[v], out = {t.rank - 1, {0}}, back;
	int gone = drawing_number(g, t.rank), n = 0, at = drawing_number(g, t.rank);

	for (int d = 0; d < t.rank; d++)
		if (d != gone)
			out.dim[n++] = t.dim[d];
	text_printf(
		&g->text,
		" %%%d = stablehlo.reduce(%%%d init: %%z) applies stablehlo.%s across "
		"dimensions = [%d] : (%s, tensor<f32>) -> %s\n",
		g->n, v, drawing_number(g, 2) ? "add" : "maximum", gone,
		drawing_type(g, &t), drawing_type(g, &out));
	drawing_add(g, out);
	if (drawing_number(g, 2) && out.rank)
		return;
	back = (struct array_of){t.rank, {0}};
	n = 0;
	for (int d = 0; d < t.rank; d++)
		back.dim[d] = d == at ? 8 * (1 + drawing_number(g, 2)) : out.dim[n++];
	text_printf(&g->text, " %%%d = stablehlo.broadcast_in_dim %%%d, dims = [", g->n,
	            g->n - 1);
	n = 0;
	for (int d = 0; d < t.rank; d++)
		if (d != at)
			text_printf(&g->text, "%s%d", n++ ? ", " : "", d);
	text_printf(&g->text, "] : (%s) -> %s\n", drawing_type(g, &out),
	            drawing_type(g, &back));
	drawing_add(g, back);
	/* Scalars are in no pool. */
	if (!out.rank)
		g->pool[g->n - 2] = (struct array_of){0, {0}};
}

/* All dimensions stay multiples of 8, as no masks are made for those that do not divide. */
static void add_reshape(struct drawing *g, int v)
{
	struct array_of t = g->pool[v], out;

	if (t.rank == 3)
		out = drawing_number(g, 2)
		              ? (struct array_of){2, {t.dim[0] * t.dim[1], t.dim[2]}}
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
	            drawing_type(g, &t), drawing_type(g, &out));
	drawing_add(g, out);
}

static void add_constraint(struct drawing *g, int v)
{
	text_printf(&g->text, " %%%d = sdy.sharding_constraint %%%d %s : %s\n", g->n, v,
	            draw_sharding(g, g->pool[v].rank), drawing_type(g, &g->pool[v]));
	drawing_add(g, g->pool[v]);
}

/* Numbers that are made of constants, and a counter along a dimension. */
static void add_constants(struct drawing *g, int v)
{
	text_printf(
		&g->text,
		" %%%d = stablehlo.broadcast_in_dim %%one, dims = [] : (tensor<f32>) "
		"-> %s\n",
		g->n, drawing_type(g, &g->pool[v]));
	drawing_add(g, g->pool[v]);
	text_printf(&g->text, " %%%d = stablehlo.iota dim = %d : %s\n", g->n,
	            drawing_number(g, g->pool[v].rank), drawing_type(g, &g->pool[v]));
	drawing_add(g, g->pool[v]);
	text_printf(&g->text, " %%%d = stablehlo.add %%%d, %%%d : %s\n", g->n, g->n - 1,
	            g->n - 2, drawing_type(g, &g->pool[v]));
	drawing_add(g, g->pool[v]);
	text_printf(&g->text, " %%%d = stablehlo.multiply %%%d, %%%d : %s\n", g->n,
	            g->n - 1, v, drawing_type(g, &g->pool[v]));
	drawing_add(g, g->pool[v]);
}

static void add_negate(struct drawing *g, int v)
{
	draw_unary(g, v, "negate");
}

/* Elements of rows where there are eight rows, else slices of the array. */
static void add_gather(struct drawing *g, int v)
{
	if (g->pool[v].rank > 1 && g->pool[v].dim[0] == 8)
		draw_pick(g, v);
	else
		draw_look(g, v);
}

static void draw_op(struct drawing *g)
{
	static void (*const ops[])(struct drawing *, int) = {
		add_negate,       add_binary, add_dot,     add_dot,
		add_transpose,    add_reduce, add_reshape, draw_pieces,
		add_constants,    draw_pad,   draw_turned, draw_window,
		draw_convolution, add_gather, draw_update, add_constraint};
	int v = drawing_number(g, g->n);

	while (!g->pool[v].rank)
		v = drawing_number(g, g->n);
	ops[drawing_number(g, sizeof(ops) / sizeof(*ops))](g, v);
}

enum { ARGS = 4, DRAWN = 10 };

const char *draw_program(struct arena *a, uint64_t seed)
{
	struct drawing g = {.a = a, .state = seed};

	for (int i = 0; i < 8; i++)
		drawing_number(&g, 2);
	text_printf(&g.text, "module {\nsdy.mesh @m = <[\"a\"=2, \"b\"=2, \"c\"=2]>\n"
	                     "func.func @main(");
	for (int i = 0; i < ARGS; i++) {
		struct array_of t = {2 + (drawing_number(&g, 3) == 0), {0}};

		for (int d = 0; d < t.rank; d++)
			t.dim[d] = 8 * (1 + drawing_number(&g, 2));
		text_printf(&g.text, "%s%%%d: %s {sdy.sharding = #sdy.sharding%s}",
		            i ? ", " : "", i, drawing_type(&g, &t),
		            draw_sharding(&g, t.rank));
		drawing_add(&g, t);
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
		            (const char *[]){"", "\"a\"",
		                             "\"b\", \"a\""}[drawing_number(&g, 3)],
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
	            drawing_type(&g, &g.pool[g.n - 1]),
	            drawing_type(&g, &g.pool[ARGS - 1]));
	/* Only now the results' types are known. */
	const char *text = text_take(&g.text, a), *at = strstr(text, "-> (@)");

	return arena_printf(a, "%.*s-> (%s, %s)%s", (int)(at - text), text,
	                    drawing_type(&g, &g.pool[g.n - 1]),
	                    drawing_type(&g, &g.pool[ARGS - 1]), at + 6);
}
