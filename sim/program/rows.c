#include "program/rows.h"

#include "base/keys.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LOOK_MAX = 16, NAME_PARTS = 5 };

struct span op_source_name(const struct program *p, const struct instruction *op)
{
	for (int i = 0; i < LOOK_MAX; i++) {
		if (op->op_name.length)
			return op->op_name;
		if (!op->noperands)
			break;
		op = &p->op.at[p->value.at[op_operand(p, op, 0)].op];
	}
	return (struct span){"", 0};
}

/* The name without its last part, and no more than its first parts. */
static struct span name_prefix(struct span name)
{
	int32_t slash = 0;
	int parts = 0, depth = 0;

	for (int32_t i = 0; i < name.length && parts < NAME_PARTS; i++) {
		depth += name.at[i] == '(' ? 1 : name.at[i] == ')' ? -1 : 0;
		if (name.at[i] != '/' || depth > 0)
			continue;
		slash = i;
		parts++;
	}
	if (slash)
		name.length = slash;
	return name;
}

const int32_t *rows_loops(const struct program *p, struct arena *a)
{
	int32_t *loop = arena_alloc(a, (size_t)p->region.n, sizeof(*loop));

	for (int64_t i = 0; i < p->region.n; i++)
		loop[i] = p->entry;
	for (int64_t i = p->region.n; i-- > 0;) {
		int32_t r = p->calls_first[i];

		for (int32_t k = 0; k < p->region.at[r].nops; k++) {
			const struct instruction *op = &p->op.at[p->region.at[r].op[k]];

			for (int32_t j = 0; j < op->ncalled; j++) {
				int32_t called = op_called(p, op, j);

				loop[called] = op->code == HLO_WHILE ? called : loop[r];
			}
		}
	}
	return loop;
}

const char *rows_name(const struct program *p, const int32_t *loop, int32_t of,
                      enum rows_by by, struct arena *a)
{
	const struct instruction *op = &p->op.at[of];
	struct span s;

	switch (by) {
	case ROWS_BY_COMPUTATION:
		s = p->region.at[op->region].name;
		break;
	case ROWS_BY_LOOP:
		s = p->region.at[loop[op->region]].name;
		break;
	case ROWS_BY_OP_NAME:
		s = name_prefix(op_source_name(p, op));
		break;
	case ROWS_BY_OP:
		s = op->op_name.length ? op->op_name : op->name;
		break;
	default:
		s = op_source_name(p, op);
	}
	return arena_strndup(a, s.at ? s.at : "", (size_t)s.length);
}

/* What the key of a row is: by bytes, names of equal collectives may differ. */
static const char *row_key(const struct priced *one, const char *name, enum rows_by by,
                           struct arena *a)
{
	bool collective = one->class == CLASS_COLLECTIVE;

	if (by == ROWS_BY_BYTES)
		return arena_printf(a, "%s %d %.0f", opcode_name(one->code),
		                    (int)one->collective.group_size, one->bytes);
	if (by == ROWS_BY_OP)
		return arena_printf(a, "%d", (int)one->op);
	return arena_printf(a, "%s %d %s",
	                    collective ? opcode_name(one->code)
	                               : op_class_name(one->class),
	                    (int)one->collective.group_size, name);
}

static int by_time(const void *a, const void *b)
{
	const struct table_row *x = a, *y = b;
	double s = isnan(x->time_s) ? x->bytes : x->time_s;
	double t = isnan(y->time_s) ? y->bytes : y->time_s;
	int order = (s < t) - (s > t);

	if (!order)
		order = strcmp(opcode_name(x->code), opcode_name(y->code));
	return order ? order : strcmp(x->name, y->name);
}

void rows_of(struct table_rows *out, struct arena *a, const struct program_price *price,
             bool collectives, enum rows_by by)
{
	const struct program *p = price->program;
	const int32_t *loop = rows_loops(p, a);
	struct keys keys = {.arena = a, .table = {.arena = a}};
	int64_t n = collectives ? price->collective.n : price->kernel.n;

	*out = (struct table_rows){0};
	for (int64_t i = 0; i < n; i++) {
		const struct priced *one =
			collectives ? &price->collective.at[i] : &price->kernel.at[i];
		const char *name = rows_name(p, loop, one->op, by, a);
		const char *key = row_key(one, name, by, a);
		struct table_row *row;
		bool fresh;
		int32_t k = keys_add(&keys, key, strlen(key), &fresh);

		if (fresh)
			*list_add(&out->row, a) = (struct table_row){
				.code = one->code,
				.class = one->class,
				.name = name,
				.group_size = one->collective.group_size,
				.algorithm = one->collective.algorithm};
		row = &out->row.at[k];
		row->count += one->count;
		row->time_s += one->count * one->time_s;
		row->bound_s += one->count * one->collective.bound_s;
		row->best_s += one->count * one->collective.best_s;
		row->flops += one->count * one->flops;
		row->bytes += one->count * one->bytes;
	}
	if (out->row.n)
		qsort(out->row.at, (size_t)out->row.n, sizeof(*out->row.at), by_time);
}
