/* What the text makes by hand: manual computations, and the borders of HLO's. */
#include "program/lex.h"
#include "program/partition/split.h"

#include <string.h>

/* The part of a layout that a manual computation makes by hand. */
static int32_t by_hand(struct split *b, const struct instruction *op, int32_t number)
{
	int32_t given = split_given(b, number);
	const struct layout l = b->layout.at[given];
	struct layout out = layout_replicated(l.rank);

	for (int d = 0; d < l.rank; d++) {
		int n;
		const struct part *part = layout_parts(&l, d, &n);

		for (int i = 0; i < n; i++)
			if (manual_has_axis(op, &b->s->mesh, part[i].axis))
				layout_append(&out, d, part[i]);
	}
	return split_layout(b, out);
}

/* That, and behind it how the body has its own part: the layout of an array that it runs on. */
static int32_t inside(struct split *b, const struct instruction *op, int32_t number,
                      int32_t body)
{
	struct layout out = b->layout.at[by_hand(b, op, number)];
	const struct layout own = b->layout.at[body];

	if (!manual_leaves_axes(op, &b->s->mesh) || own.rank != out.rank)
		return split_layout(b, out);
	for (int d = 0; d < own.rank; d++) {
		int n;
		const struct part *part = layout_parts(&own, d, &n);

		for (int i = 0; i < n; i++)
			layout_append(&out, d, part[i]);
	}
	return split_layout(b, out);
}

void split_manual(struct split *b, const struct instruction *op)
{
	const struct region *body = &b->p->region.at[op_called(b->p, op, 0)];
	int32_t first = b->s->manual[op - b->p->op.at];
	int32_t *operand =
		arena_alloc(b->a, (size_t)op->noperands + 1, sizeof(*operand));
	int32_t *layout = arena_alloc(b->a, (size_t)op->nvalues + 1, sizeof(*layout));
	struct value_type *type =
		arena_alloc(b->a, (size_t)op->nvalues + 1, sizeof(*type));
	struct instruction *added;
	int32_t value;

	for (int32_t k = 0; k < op->noperands; k++)
		operand[k] = split_value(
			b, op, op_operand(b->p, op, k),
			inside(b, op, first + k, split_given(b, body->param.at[k])));
	for (int32_t k = 0; k < op->nvalues; k++) {
		layout[k] = inside(b, op, op->first_value + k,
		                   split_result(b, op_called(b->p, op, 0), k, -1));
		type[k] = split_type(b, &b->p->value.at[op->first_value + k].type,
		                     layout[k]);
	}
	added = split_op(b, op, op->code, type, op->nvalues);
	value = added->first_value;
	for (int32_t k = 0; k < op->noperands; k++)
		split_operand(b, added, operand[k]);
	for (int32_t k = 0; k < op->nvalues; k++) {
		int32_t old = op->first_value + k;
		struct resharding r = {op, &b->p->value.at[old].type, layout[k],
		                       split_given(b, old), false};

		split_is(b, old, r.to, split_reshard(b, value + k, &r));
	}
}

enum status split_check_manual(struct split *b, const struct instruction *op,
                               struct error *e)
{
	const struct where at = {b->p->file, (unsigned)op->line, 1, NULL};
	const struct region *body = &b->p->region.at[op_called(b->p, op, 0)];
	int32_t first = b->s->manual[op - b->p->op.at];
	int32_t n = op->noperands;

	for (int32_t k = 0; k < n + op->nvalues; k++) {
		int32_t v = k < n ? body->param.at[k] : body->result.at[k - n];
		int32_t whole =
			k < n ? op_operand(b->p, op, k) : op->first_value + k - n;
		int32_t said = k < n ? first + k : whole;
		const struct value_type *own = &b->p->value.at[v].type;
		struct value_type tile = split_type(b, &b->p->value.at[whole].type,
		                                    by_hand(b, op, said));

		if (own->rank != tile.rank ||
		    memcmp(own->dim, tile.dim, (size_t)own->rank * sizeof(*own->dim)) !=
		            0)
			return error_set(
				e, E_TYPE, at,
				"%s %d of the manual computation: its body has "
				"another shape than a tile of the array",
				k < n ? "operand" : "result", (int)(k < n ? k : k - n));
	}
	return OK;
}

bool split_has_target(const struct instruction *op, const char *target)
{
	return op->code == HLO_CUSTOM_CALL && op->noperands == 1 && op->nvalues == 1 &&
	       span_is(op->as.custom->target, target);
}

void split_border(struct split *b, const struct instruction *op)
{
	bool in = split_has_target(op, "SPMDFullToShardShape");
	int32_t from = op_operand(b->p, op, 0), to = op->first_value;
	int32_t tiled = split_given(b, in ? from : to);
	int32_t whole = split_whole(b, b->p->value.at[in ? to : from].type.rank);
	int32_t value = split_value(b, op, from, in ? tiled : whole);
	struct value_type t = in ? b->p->value.at[to].type
	                         : split_type(b, &b->p->value.at[to].type, tiled);
	struct instruction *added = split_op(b, op, HLO_RESHAPE, &t, 1);

	split_operand(b, added, value);
	split_is(b, to, in ? whole : tiled, added->first_value);
}
