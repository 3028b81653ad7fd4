#include "program/step/write.h"

#include <string.h>

struct array_of array_new(const char *type, int rank, int64_t d0, int64_t d1,
                          int64_t d2, int64_t d3)
{
	return (struct array_of){-1, type, rank, {d0, d1, d2, d3}};
}

double array_elements(const struct array_of *x)
{
	double n = 1;

	for (int i = 0; i < x->rank; i++)
		n *= (double)x->dim[i];
	return n;
}

static bool same_shape(const struct array_of *a, const struct array_of *b)
{
	return a->rank == b->rank &&
	       !memcmp(a->dim, b->dim, (size_t)a->rank * sizeof(a->dim[0]));
}

static void print_shape(struct text *t, const struct array_of *x)
{
	text_printf(t, "%s[", x->type);
	for (int i = 0; i < x->rank; i++)
		text_printf(t, "%s%lld", i ? "," : "", (long long)x->dim[i]);
	text_printf(t, "]");
}

static void print_list(struct text *t, const struct array_of *x, int n, bool shapes)
{
	for (int i = 0; i < n; i++) {
		text_printf(t, "%s", i ? ", " : "");
		if (shapes)
			print_shape(t, &x[i]);
		else
			text_printf(t, "%%v%d", (int)x[i].number);
	}
}

/* --- computations ----------------------------------------------------------------- */

void write_begin(struct step_writer *w)
{
	w->params.n = 0;
	w->body = (struct text){0};
}

struct array_of write_param(struct step_writer *w, struct array_of shape)
{
	shape.number = w->arrays++;
	text_printf(&w->body, "  %%v%d = ", (int)shape.number);
	print_shape(&w->body, &shape);
	text_printf(&w->body, " parameter(%d)\n", (int)w->params.n);
	*list_add(&w->params, w->a) = shape;
	return shape;
}

const char *write_end(struct step_writer *w, const struct array_of *results, int n,
                      bool entry)
{
	struct text name = {0};

	text_printf(&name, "%s_%d", entry ? "main" : "part", (int)w->computations++);
	text_printf(&w->done, "%s%%%s {\n", entry ? "ENTRY " : "", name.s);
	text_printf(&w->done, "%s", w->body.s ? w->body.s : "");
	text_printf(&w->done, "  ROOT %%v%d = (", (int)w->arrays++);
	print_list(&w->done, results, n, true);
	text_printf(&w->done, ") tuple(");
	print_list(&w->done, results, n, false);
	text_printf(&w->done, ")\n}\n\n");
	text_free(&w->body);
	return text_take(&name, w->a);
}

void write_call(struct step_writer *w, const char *name, const struct array_of *in,
                int nin, struct array_of *results, int n)
{
	int tuple = w->arrays++;

	text_printf(&w->body, "  %%v%d = (", tuple);
	print_list(&w->body, results, n, true);
	text_printf(&w->body, ") call(");
	print_list(&w->body, in, nin, false);
	text_printf(&w->body, "), to_apply=%%%s\n", name);
	for (int i = 0; i < n; i++) {
		results[i].number = w->arrays++;
		text_printf(&w->body, "  %%v%d = ", (int)results[i].number);
		print_shape(&w->body, &results[i]);
		text_printf(&w->body, " get-tuple-element(%%v%d), index=%d\n", tuple, i);
	}
}

/* --- ops -------------------------------------------------------------------------- */

struct array_of write_op(struct step_writer *w, const char *op, const char *name,
                         struct array_of out, const struct array_of *in, int n,
                         const char *text)
{
	out.number = w->arrays++;
	text_printf(&w->body, "  %%v%d = ", (int)out.number);
	print_shape(&w->body, &out);
	text_printf(&w->body, " %s(", op);
	print_list(&w->body, in, n, false);
	text_printf(&w->body, ")%s", text);
	if (name)
		text_printf(&w->body, ", metadata={op_name=\"%s/%s\"}", w->part, name);
	text_printf(&w->body, "\n");
	return out;
}

/* Brings an array into the shape of another, for an op of theirs; `half` of a wider one. */
static struct array_of fit(struct step_writer *w, const char *name, struct array_of out,
                           struct array_of x, int64_t half)
{
	struct text how = {0};
	int last = out.rank - 1;
	struct array_of got = out, twice[2] = {x, x};

	got.type = x.type;
	if (same_shape(&x, &out))
		return x;
	if (x.rank == out.rank && x.dim[last] > out.dim[last]) {
		text_printf(&how, ", slice={");
		for (int i = 0; i < last; i++)
			text_printf(&how, "[0:%lld], ", (long long)out.dim[i]);
		text_printf(&how, "[%lld:%lld]}", (long long)(half * out.dim[last]),
		            (long long)((half + 1) * out.dim[last]));
		got = write_op(w, "slice", name, got, &x, 1, how.s);
	} else if (x.rank == out.rank) {
		text_printf(&how, ", dimensions={%d}", last);
		got = write_op(w, "concatenate", name, got, twice, 2, how.s);
	} else {
		text_printf(&how, ", dimensions={%d}", last);
		got = write_op(w, "broadcast", name, got, &x, 1, how.s);
	}
	text_free(&how);
	return got;
}

/* Multiplies all, and both halves of what is wider. */
static struct array_of combine(struct step_writer *w, const char *name,
                               struct array_of out, const struct array_of *in, int n)
{
	struct array_of sum = fit(w, name, out, in[0], 0);

	for (int i = 0; i < n; i++) {
		bool wider = in[i].rank == out.rank &&
		             in[i].dim[out.rank - 1] > out.dim[out.rank - 1];
		struct array_of x[2] = {sum, fit(w, name, out, in[i], wider)};

		if (i > 0 || n == 1 || wider)
			sum = write_op(w, "multiply", name, out, x, 2, "");
	}
	return sum;
}

static struct array_of fusion(struct step_writer *w, const char *name,
                              struct array_of out, const struct array_of *in, int n)
{
	struct text kept = w->body, how = {0};
	struct array_of inside[COMBINED_MAX], root;
	int64_t nparams = w->params.n;
	int number = w->computations++;

	w->body = (struct text){0};
	for (int i = 0; i < n; i++) {
		inside[i] = in[i];
		inside[i].number = w->arrays++;
		text_printf(&w->body, "  %%v%d = ", (int)inside[i].number);
		print_shape(&w->body, &in[i]);
		text_printf(&w->body, " parameter(%d)\n", i);
	}
	root = combine(w, NULL, out, inside, n);
	text_printf(&w->done, "%%fused_%d {\n%s  ROOT %%v%d = ", number, w->body.s,
	            (int)w->arrays++);
	print_shape(&w->done, &out);
	text_printf(&w->done, " copy(%%v%d)\n}\n\n", (int)root.number);
	text_free(&w->body);
	w->body = kept;
	w->params.n = nparams;
	text_printf(&how, ", kind=kLoop, calls=%%fused_%d", number);
	out = write_op(w, "fusion", name, out, in, n, how.s);
	text_free(&how);
	return out;
}

struct array_of write_combine(struct step_writer *w, const char *name,
                              struct array_of out, const struct array_of *in, int n)
{
	return w->eager ? fusion(w, name, out, in, n) : combine(w, name, out, in, n);
}

struct array_of write_reduce(struct step_writer *w, const char *name, struct array_of x)
{
	struct array_of in[2], out = x;
	struct text how = {0};

	in[0] = x;
	in[1] = write_zero(w, x.type);
	out.rank = 1;
	out.dim[0] = x.dim[x.rank - 1];
	text_printf(&how, ", dimensions={");
	for (int i = 0; i + 1 < x.rank; i++)
		text_printf(&how, "%s%d", i ? "," : "", i);
	text_printf(&how, "}, to_apply=%%add_%s", x.type);
	out = write_op(w, "reduce", name, out, in, 2, how.s);
	text_free(&how);
	return out;
}

struct array_of write_dot(struct step_writer *w, const char *name, const char *type,
                          struct array_of x, struct array_of y, bool back)
{
	struct array_of in[2] = {x, y}, out = x;
	struct text how = {0};

	out.type = type;
	out.dim[x.rank - 1] = y.dim[back ? y.rank - 2 : y.rank - 1];
	if (y.rank == 3)
		text_printf(&how, ", lhs_batch_dims={0}, rhs_batch_dims={0}");
	text_printf(&how, ", lhs_contracting_dims={%d}, rhs_contracting_dims={%d}",
	            x.rank - 1, back ? y.rank - 1 : y.rank - 2);
	out = write_op(w, "dot", name, out, in, 2, how.s);
	text_free(&how);
	return out;
}

struct array_of write_dot_grad(struct step_writer *w, const char *name,
                               const char *type, struct array_of x, struct array_of y)
{
	struct array_of in[2] = {x, y}, out = x;
	struct text how = {0};
	int m = x.rank - 2;

	out.type = type;
	out.dim[m] = x.dim[m + 1];
	out.dim[m + 1] = y.dim[m + 1];
	if (x.rank == 3)
		text_printf(&how, ", lhs_batch_dims={0}, rhs_batch_dims={0}");
	text_printf(&how, ", lhs_contracting_dims={%d}, rhs_contracting_dims={%d}", m,
	            m);
	out = write_op(w, "dot", name, out, in, 2, how.s);
	text_free(&how);
	return out;
}

struct array_of write_zero(struct step_writer *w, const char *type)
{
	struct array_of zero = array_new(type, 0, 0, 0, 0, 0);

	zero.number = w->arrays++;
	text_printf(&w->body, "  %%v%d = %s[] constant(0)\n", (int)zero.number, type);
	return zero;
}

void write_keep(struct step_writer *w, struct array_of x)
{
	text_printf(&w->body,
	            "  %%v%d = () custom-call(%%v%d), "
	            "custom_call_target=\"xla.sdy.ShardingGroup\"\n",
	            (int)w->arrays++, (int)x.number);
}

void write_tuple_op(struct step_writer *w, const char *op, const char *name,
                    const struct array_of *in, int nin, struct array_of *out, int n,
                    const char *text)
{
	int tuple = w->arrays++;

	text_printf(&w->body, "  %%v%d = (", tuple);
	print_list(&w->body, out, n, true);
	text_printf(&w->body, ") %s(", op);
	print_list(&w->body, in, nin, false);
	text_printf(&w->body, ")%s", text);
	if (name)
		text_printf(&w->body, ", metadata={op_name=\"%s/%s\"}", w->part, name);
	text_printf(&w->body, "\n");
	for (int i = 0; i < n; i++) {
		out[i].number = w->arrays++;
		text_printf(&w->body, "  %%v%d = ", (int)out[i].number);
		print_shape(&w->body, &out[i]);
		text_printf(&w->body, " get-tuple-element(%%v%d), index=%d\n", tuple, i);
	}
}

static struct array_of row_numbers(struct step_writer *w, int64_t rows)
{
	struct array_of out = array_new("s32", 2, rows, 1, 0, 0);

	return write_op(w, "iota", NULL, out, NULL, 0, ", iota_dimension=0");
}

struct array_of write_rows(struct step_writer *w, const char *name, struct array_of x,
                           int64_t rows)
{
	struct array_of in[2] = {x, row_numbers(w, rows)}, out = x;
	struct text how = {0};

	out.dim[0] = rows;
	text_printf(&how,
	            ", offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, "
	            "index_vector_dim=1, slice_sizes={1,%lld}",
	            (long long)x.dim[1]);
	out = write_op(w, "gather", name, out, in, 2, how.s);
	text_free(&how);
	return out;
}

struct array_of write_add_rows(struct step_writer *w, const char *name,
                               struct array_of table, struct array_of rows)
{
	struct array_of in[3], zero = write_zero(w, table.type);
	struct text how = {0};

	in[0] = write_op(w, "broadcast", name, table, &zero, 1, ", dimensions={}");
	in[1] = row_numbers(w, rows.dim[0]);
	in[2] = rows;
	text_printf(&how,
	            ", update_window_dims={1}, inserted_window_dims={0}, "
	            "scatter_dims_to_operand_dims={0}, index_vector_dim=1, "
	            "to_apply=%%add_%s",
	            table.type);
	table = write_op(w, "scatter", name, table, in, 3, how.s);
	text_free(&how);
	return table;
}

struct array_of write_view(struct step_writer *w, struct array_of x, int rank,
                           int64_t d0, int64_t d1, int64_t d2, int64_t d3)
{
	struct array_of out = array_new(x.type, rank, d0, d1, d2, d3);

	return same_shape(&x, &out) ? x : write_op(w, "bitcast", NULL, out, &x, 1, "");
}

/* --- loops ------------------------------------------------------------------------ */

/* Takes a tuple of the arrays as the one parameter, and names its elements. */
static void tuple_param(struct step_writer *w, struct array_of *x, int n)
{
	int tuple = w->arrays++;

	text_printf(&w->body, "  %%v%d = (", tuple);
	print_list(&w->body, x, n, true);
	text_printf(&w->body, ") parameter(0)\n");
	for (int i = 0; i < n; i++) {
		x[i].number = w->arrays++;
		text_printf(&w->body, "  %%v%d = ", (int)x[i].number);
		print_shape(&w->body, &x[i]);
		text_printf(&w->body, " get-tuple-element(%%v%d), index=%d\n", tuple, i);
	}
}

void write_loop(struct step_writer *w, int64_t trips, struct array_of *x, int n,
                void (*body)(void *self, struct array_of *x), void *self)
{
	struct text kept = w->body, how = {0};
	struct array_of *in = arena_alloc(w->a, (size_t)n + 1, sizeof(*in)), one[2];
	int number = w->computations++, limit;

	/* The counter goes first. */
	in[0] = array_new("s32", 0, 0, 0, 0, 0);
	memcpy(in + 1, x, (size_t)n * sizeof(*x));
	w->body = (struct text){0};
	tuple_param(w, in, n + 1);
	limit = w->arrays++;
	text_printf(&w->done,
	            "%%condition_%d {\n%s  %%v%d = s32[] constant(%lld)\n"
	            "  ROOT %%v%d = pred[] compare(%%v%d, %%v%d), direction=LT\n}\n\n",
	            number, w->body.s, limit, (long long)trips, w->arrays,
	            (int)in[0].number, limit);
	w->arrays++;
	text_free(&w->body);
	w->body = (struct text){0};
	tuple_param(w, in, n + 1);
	body(self, in + 1);
	one[0] = in[0];
	one[1] = in[0];
	one[1].number = w->arrays++;
	text_printf(&w->body, "  %%v%d = s32[] constant(1)\n", (int)one[1].number);
	in[0] = write_op(w, "add", NULL, in[0], one, 2, "");
	text_printf(&w->done, "%%body_%d {\n%s  ROOT %%v%d = (", number, w->body.s,
	            (int)w->arrays++);
	print_list(&w->done, in, n + 1, true);
	text_printf(&w->done, ") tuple(");
	print_list(&w->done, in, n + 1, false);
	text_printf(&w->done, ")\n}\n\n");
	text_free(&w->body);
	w->body = kept;
	in[0] = write_zero(w, "s32");
	memcpy(in + 1, x, (size_t)n * sizeof(*x));
	one[0] = (struct array_of){.number = w->arrays++};
	text_printf(&w->body, "  %%v%d = (", (int)one[0].number);
	print_list(&w->body, in, n + 1, true);
	text_printf(&w->body, ") tuple(");
	print_list(&w->body, in, n + 1, false);
	text_printf(&w->body, ")\n");
	text_printf(&how,
	            ", condition=%%condition_%d, body=%%body_%d, "
	            "backend_config={\"known_trip_count\":{\"n\":\"%lld\"}}",
	            number, number, (long long)trips);
	write_tuple_op(w, "while", NULL, one, 1, in, n + 1, how.s);
	memcpy(x, in + 1, (size_t)n * sizeof(*x));
	text_free(&how);
}

struct array_of write_convert(struct step_writer *w, struct array_of x, const char *type)
{
	struct array_of out = x;

	out.type = type;
	return strcmp(x.type, type) ? write_op(w, "convert", "convert", out, &x, 1, "")
	                            : x;
}
