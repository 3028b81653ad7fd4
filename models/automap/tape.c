#include "automap/tape.h"

#include "base/assert.h"

#include <string.h>

struct term term_new(const char *type, int rank, const int64_t *dim)
{
	struct term x = {.number = -1, .type = type, .rank = rank};

	assert(rank <= TERM_RANK);
	for (int i = 0; i < rank; i++)
		x.dim[i] = dim[i];
	return x;
}

void term_print_type(struct text *out, const struct term *x)
{
	text_printf(out, "%s[", x->type);
	for (int i = 0; i < x->rank; i++)
		text_printf(out, "%s%lld", i ? "," : "", (long long)x->dim[i]);
	text_printf(out, "]");
}

void terms_print(struct text *out, const struct term *x, int n, bool types)
{
	for (int i = 0; i < n; i++) {
		text_printf(out, "%s", i ? ", " : "");
		if (types)
			term_print_type(out, &x[i]);
		else
			text_printf(out, "%%v%d", (int)x[i].number);
	}
}

static void print_dims(struct text *out, const char *name, const int64_t *dim, int n)
{
	text_printf(out, ", %s={", name);
	for (int i = 0; i < n; i++)
		text_printf(out, "%s%lld", i ? "," : "", (long long)dim[i]);
	text_printf(out, "}");
}

/* Writes the node's op with `how` behind its operands, and notes it; takes `how`. */
static struct term add_node(struct tape *t, struct tape_node node, const char *op,
                            struct text *how)
{
	node.out.number = t->terms++;
	text_printf(&t->body, "  %%v%d = ", (int)node.out.number);
	term_print_type(&t->body, &node.out);
	text_printf(&t->body, " %s(", op);
	terms_print(&t->body, node.in, node.n, false);
	text_printf(&t->body, ")%s", how && how->s ? how->s : "");
	if (t->part)
		text_printf(&t->body, ", metadata={op_name=\"%s/%s\"}", t->part, op);
	text_printf(&t->body, "\n");
	if (how)
		text_free(how);
	*list_add(&t->node, t->a) = node;
	return node.out;
}

struct term tape_argument(struct tape *t, const char *type, int rank, const int64_t *dim)
{
	struct tape_node node = {.kind = TAPE_ARGUMENT,
	                         .out = term_new(type, rank, dim)};

	node.out.number = t->terms++;
	*list_add(&t->node, t->a) = node;
	return node.out;
}

struct term tape_scalar(struct tape *t, const char *type, double value)
{
	struct tape_node node = {
		.kind = TAPE_CONSTANT, .out = term_new(type, 0, NULL), .value = value};

	node.out.number = t->terms++;
	text_printf(&t->body, "  %%v%d = %s[] constant(%.9g)\n", (int)node.out.number,
	            type, value);
	*list_add(&t->node, t->a) = node;
	return node.out;
}

struct term tape_element(struct tape *t, const char *op, struct term a, struct term b)
{
	struct tape_node node = {
		.kind = TAPE_ELEMENT, .op = op, .n = 2, .in = {a, b}, .out = a};

	assert(a.rank == b.rank &&
	       !memcmp(a.dim, b.dim, (size_t)a.rank * sizeof(*a.dim)));
	return add_node(t, node, op, NULL);
}

/* An op on one array, whose result is of another type. */
static struct term unary(struct tape *t, const char *op, struct term a, const char *type)
{
	struct tape_node node = {
		.kind = TAPE_ELEMENT, .op = op, .n = 1, .in = {a}, .out = a};

	node.out.type = type;
	return add_node(t, node, op, NULL);
}

struct term tape_unary(struct tape *t, const char *op, struct term a)
{
	return unary(t, op, a, a.type);
}

struct term tape_convert(struct tape *t, struct term a, const char *type)
{
	return strcmp(a.type, type) ? unary(t, "convert", a, type) : a;
}

/* --- dots by letters -------------------------------------------------------------- */

static int place(const char *from, const char *end, char letter)
{
	const char *p = memchr(from, letter, (size_t)(end - from));

	return p ? (int)(p - from) : -1;
}

struct term tape_dot(struct tape *t, const char *letters, struct term a, struct term b)
{
	const char *comma = strchr(letters, ','), *arrow = strstr(letters, "->");
	const char *r = comma + 1, *o = arrow + 2, *end = o + strlen(o);
	struct tape_node node = {.kind = TAPE_DOT, .op = letters, .n = 2, .in = {a, b}};
	int64_t batch[2][TERM_RANK], sum[2][TERM_RANK], order[TERM_RANK];
	char natural[2 * TERM_RANK];
	int nbatch = 0, nsum = 0, n = 0;
	bool same = true;
	struct text how = {0};

	for (const char *p = letters; p < comma; p++) {
		int in_b = place(r, arrow, *p);

		if (in_b < 0)
			continue;
		if (place(o, end, *p) >= 0) {
			batch[0][nbatch] = p - letters;
			batch[1][nbatch++] = in_b;
			natural[n++] = *p;
		} else {
			sum[0][nsum] = p - letters;
			sum[1][nsum++] = in_b;
		}
	}
	for (const char *p = letters; p < comma; p++)
		if (place(r, arrow, *p) < 0)
			natural[n++] = *p;
	for (const char *p = r; p < arrow; p++)
		if (place(letters, comma, *p) < 0)
			natural[n++] = *p;
	node.out = term_new(a.type, 0, NULL);
	node.out.rank = n;
	for (int i = 0; i < n; i++) {
		int in_a = place(letters, comma, natural[i]);

		node.out.dim[i] =
			in_a >= 0 ? a.dim[in_a] : b.dim[place(r, arrow, natural[i])];
		same &= o[i] == natural[i];
		order[i] = place(natural, natural + n, o[i]);
	}
	if (nbatch) {
		print_dims(&how, "lhs_batch_dims", batch[0], nbatch);
		print_dims(&how, "rhs_batch_dims", batch[1], nbatch);
	}
	print_dims(&how, "lhs_contracting_dims", sum[0], nsum);
	print_dims(&how, "rhs_contracting_dims", sum[1], nsum);
	if (!same)
		node.op = arena_printf(t->a, "%.*s->%.*s", (int)(arrow - letters),
		                       letters, n, natural);
	node.out = add_node(t, node, "dot", &how);
	return same ? node.out : tape_transpose(t, node.out, order);
}

/* --- movement --------------------------------------------------------------------- */

struct term tape_broadcast(struct tape *t, struct term x, struct term like,
                           const int64_t *dim)
{
	struct tape_node node = {
		.kind = TAPE_BROADCAST, .n = 1, .in = {x}, .out = like, .ndims = x.rank};
	struct text how = {0};

	node.out.type = x.type;
	for (int i = 0; i < x.rank; i++)
		node.dim[i] = dim[i];
	print_dims(&how, "dimensions", node.dim, x.rank);
	return add_node(t, node, "broadcast", &how);
}

static struct term reduce(struct tape *t, enum tape_kind kind, struct term x,
                          const int64_t *dim, int n)
{
	struct term zero = tape_scalar(t, x.type, 0);
	struct tape_node node = {.kind = kind, .n = 2, .in = {x, zero}, .ndims = n};
	struct text how = {0};

	node.out = term_new(x.type, 0, NULL);
	for (int i = 0, k = 0; i < x.rank; i++) {
		if (k < n && dim[k] == i)
			k++;
		else
			node.out.dim[node.out.rank++] = x.dim[i];
	}
	for (int i = 0; i < n; i++)
		node.dim[i] = dim[i];
	print_dims(&how, "dimensions", dim, n);
	text_printf(&how, ", to_apply=%%%s_%s", kind == TAPE_SUM ? "add" : "max",
	            x.type);
	return add_node(t, node, "reduce", &how);
}

struct term tape_sum(struct tape *t, struct term x, const int64_t *dim, int n)
{
	return reduce(t, TAPE_SUM, x, dim, n);
}

struct term tape_max(struct tape *t, struct term x, const int64_t *dim, int n)
{
	return reduce(t, TAPE_MAX, x, dim, n);
}

struct term tape_reshape(struct tape *t, struct term x, int rank, const int64_t *dim)
{
	struct tape_node node = {.kind = TAPE_RESHAPE,
	                         .n = 1,
	                         .in = {x},
	                         .out = term_new(x.type, rank, dim)};

	return add_node(t, node, "reshape", NULL);
}

struct term tape_transpose(struct tape *t, struct term x, const int64_t *dim)
{
	struct tape_node node = {
		.kind = TAPE_TRANSPOSE, .n = 1, .in = {x}, .out = x, .ndims = x.rank};
	struct text how = {0};

	for (int i = 0; i < x.rank; i++) {
		node.dim[i] = dim[i];
		node.out.dim[i] = x.dim[dim[i]];
	}
	print_dims(&how, "dimensions", dim, x.rank);
	return add_node(t, node, "transpose", &how);
}

/* The attributes of a gather or scatter of rows, under the names of either. */
static void print_rows(struct text *how, struct term table, struct term index,
                       int batch, bool adds)
{
	int64_t dims[TERM_RANK], row[1] = {batch}, n = 0;

	for (int i = 0; i < batch; i++)
		dims[i] = i;
	print_dims(how, adds ? "inserted_window_dims" : "collapsed_slice_dims", row, 1);
	print_dims(how, adds ? "scatter_dims_to_operand_dims" : "start_index_map", row,
	           1);
	if (batch) {
		print_dims(how, adds ? "input_batching_dims" : "operand_batching_dims",
		           dims, batch);
		print_dims(how,
		           adds ? "scatter_indices_batching_dims"
		                : "start_indices_batching_dims",
		           dims, batch);
	}
	for (int i = batch + 1; i < table.rank; i++)
		dims[n++] = index.rank + i - batch - 1;
	print_dims(how, adds ? "update_window_dims" : "offset_dims", dims, (int)n);
	text_printf(how, ", index_vector_dim=%d", index.rank);
	for (int i = 0; i < table.rank; i++)
		dims[i] = i > batch ? table.dim[i] : 1;
	if (!adds)
		print_dims(how, "slice_sizes", dims, table.rank);
}

struct term tape_rows(struct tape *t, struct term table, struct term index, int batch)
{
	struct tape_node node = {
		.kind = TAPE_ROWS, .n = 2, .in = {table, index}, .batch = batch};
	struct text how = {0};

	node.out = index;
	node.out.type = table.type;
	for (int i = batch + 1; i < table.rank; i++)
		node.out.dim[node.out.rank++] = table.dim[i];
	print_rows(&how, table, index, batch, false);
	return add_node(t, node, "gather", &how);
}

struct term tape_add_rows(struct tape *t, struct term like, struct term index,
                          struct term x, int batch)
{
	struct term zero = tape_broadcast(t, tape_scalar(t, like.type, 0), like, NULL);
	struct tape_node node = {.kind = TAPE_ADD_ROWS,
	                         .n = 3,
	                         .in = {zero, index, x},
	                         .out = like,
	                         .batch = batch};
	struct text how = {0};

	print_rows(&how, like, index, batch, true);
	text_printf(&how, ", to_apply=%%add_%s", like.type);
	return add_node(t, node, "scatter", &how);
}

struct term tape_attention(struct tape *t, struct term q, struct term k, struct term v,
                           bool causal, bool torch)
{
	struct tape_node node = {.kind = TAPE_ATTENTION,
	                         .n = 3,
	                         .in = {q, k, v},
	                         .out = q,
	                         .causal = causal,
	                         .torch = torch};
	struct text how = {0};

	node.out.dim[3] = v.dim[3];
	text_printf(
		&how,
		", custom_call_target=\"%s\", "
		"backend_config={mask_type = %d : i64, num_gqa_groups = %lld : i64}",
		torch ? "flash_attn_forward" : "te_fused_attn_forward_ffi",
		causal ? 2 : 0, (long long)k.dim[2]);
	return add_node(t, node, "custom-call", &how);
}

struct term tape_scaled(struct tape *t, struct term x, double by)
{
	struct term c = tape_broadcast(t, tape_scalar(t, x.type, by), x, NULL);

	return tape_element(t, "multiply", x, c);
}

struct term tape_along(struct tape *t, const char *op, struct term x,
                       struct term vector, int64_t dim)
{
	return tape_element(t, op, x, tape_broadcast(t, vector, x, &dim));
}
