#include "program/lines.h"

#include "base/keys.h"
#include "base/units.h"
#include "plan/plan_json.h"
#include "text/columns.h"

#include <stdlib.h>
#include <string.h>

/* Arrays of one line: one, or all of a name. */
struct held_row {
	const char *op, *what, *until;
	double bytes;
	int64_t n;
};

static const char *span_text(struct span s, struct arena *a)
{
	return arena_strndup(a, s.at ? s.at : "", (size_t)s.length);
}

static const char *until(const struct program *p, const struct live_array *one,
                         struct arena *a)
{
	return one->last < 0 ? "the end" : span_text(p->op.at[one->last].name, a);
}

static int larger(const void *a, const void *b)
{
	const struct held_row *x = a, *y = b;

	if (x->bytes != y->bytes)
		return x->bytes > y->bytes ? -1 : 1;
	return strcmp(x->what, y->what) ? strcmp(x->what, y->what)
	                                : strcmp(x->op, y->op);
}

/* Makes a row of each array, or of each name; the largest first. */
static struct held_row *rows_make(int64_t *n, struct arena *a, const struct program *p,
                                  const struct held *h, bool summed, enum rows_by by)
{
	struct held_row *row =
		arena_alloc(a, (size_t)h->arrays.array.n + 1, sizeof(*row));
	struct keys keys = {.arena = a, .table = {.arena = a}};
	const int32_t *loop = rows_loops(p, a);

	*n = 0;
	for (int64_t i = 0; i < h->arrays.array.n; i++) {
		const struct live_array *one = &h->arrays.array.at[i];
		const struct instruction *op = &p->op.at[one->op];
		const char *what = one->argument ? "argument"
		                   : summed      ? rows_name(p, loop, one->op, by, a)
		                                 : span_text(op_source_name(p, op), a);
		struct held_row *r = &row[*n];
		bool fresh;

		if (summed) {
			r = &row[keys_add(&keys, what, strlen(what), &fresh)];
			*n += fresh;
		} else {
			++*n;
		}
		r->what = what;
		r->op = summed ? "" : span_text(op->name, a);
		r->until = summed ? "" : until(p, one, a);
		r->bytes += one->bytes;
		r->n++;
	}
	if (*n)
		qsort(row, (size_t)*n, sizeof(*row), larger);
	return row;
}

void held_show(struct text *out, struct arena *a, const struct program *p,
               const struct held *h, bool summed, enum rows_by by, int64_t most)
{
	static const char *const head[] = {"made by", "until", "held", "arrays", "what"};
	int64_t n;
	const struct held_row *row = rows_make(&n, a, p, h, summed, by);
	struct columns t;

	columns_start(&t, a, 5, 2);
	columns_row(&t, head);
	for (int64_t i = 0; i < n && i < most; i++) {
		struct text bytes = {0};
		const char *cells[5];

		units_print_bytes(&bytes, row[i].bytes);
		cells[0] = row[i].op;
		cells[1] = row[i].until;
		cells[2] = text_take(&bytes, a);
		cells[3] = arena_printf(a, "%lld", (long long)row[i].n);
		cells[4] = row[i].what;
		columns_row(&t, cells);
	}
	columns_print(out, &t, 2);
	if (n > most)
		text_printf(out, "  and %lld more\n", (long long)(n - most));
}

void held_csv(struct text *out, const struct program *p, const struct held *h)
{
	text_printf(out, "step,op,name,held_bytes,computed_bytes\n");
	for (int64_t i = 0; i < h->points.point.n; i++) {
		const struct live_point *one = &h->points.point.at[i];
		const struct instruction *op = &p->op.at[one->op];

		text_printf(out, "%lld,%s,%.*s,%.17g,%.17g\n", (long long)i + 1,
		            opcode_name(op->code), (int)op->name.length, op->name.at,
		            h->params_bytes + one->bytes, one->bytes);
	}
}

json_t *held_json(const struct program *p, const struct held *h)
{
	json_t *points = json_array(), *arrays = json_array();
	struct arena *a = arena_new();

	for (int64_t i = 0; i < h->points.point.n; i++) {
		const struct live_point *one = &h->points.point.at[i];
		const struct instruction *op = &p->op.at[one->op];

		json_array_append_new(
			points,
			json_pack("{s:s,s:o,s:o}", "op", opcode_name(op->code), "name",
		                  json_text(span_text(op->name, a)), "held_bytes",
		                  json_quantity(h->params_bytes + one->bytes)));
	}
	for (int64_t i = 0; i < h->arrays.array.n; i++) {
		const struct live_array *one = &h->arrays.array.at[i];
		const struct instruction *op = &p->op.at[one->op];

		json_array_append_new(
			arrays, json_pack("{s:o,s:o,s:o,s:b,s:o}", "name",
		                          json_text(span_text(op->name, a)), "op_name",
		                          json_text(span_text(op_source_name(p, op), a)),
		                          "bytes", json_quantity(one->bytes),
		                          "argument", one->argument, "until",
		                          one->last < 0 ? json_null()
		                                        : json_text(until(p, one, a))));
	}
	arena_free(a);
	return json_pack("{s:o,s:o}", "points", points, "peak", arrays);
}
