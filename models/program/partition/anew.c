/* What is made of constants alone: each layout in which it is used is made for itself. */
#include "program/partition/split.h"

/* Deeper expressions are made whole, and cut. */
enum { DEPTH_MAX = 64 };

bool split_is_anew(const struct split *b, int32_t old)
{
	return b->s->at[b->s->of[old]].anew;
}

/* The layout of an operand of a broadcast or transpose of which this is the result's. */
static struct layout mapped(const struct split *b, const struct instruction *op,
                            const struct layout *result)
{
	const struct value_type *in = &b->p->value.at[op_operand(b->p, op, 0)].type;
	const struct value_type *out = &b->p->value.at[op->first_value].type;
	struct layout l = layout_replicated(in->rank <= RANK_MAX ? in->rank : 0);
	bool turned = op->code == HLO_TRANSPOSE;

	for (int32_t d = 0; d < l.rank; d++)
		for (int32_t i = 0; i < op->dims.n; i++) {
			int64_t at = turned ? op->dims.at[i] : i;
			int64_t to = turned ? i : op->dims.at[i];
			const struct part *part;
			int n;

			if (at != d || to < 0 || to >= result->rank ||
			    in->dim[d] != out->dim[to])
				continue;
			part = layout_parts(result, (int)to, &n);
			for (int k = 0; k < n; k++)
				layout_append(&l, d, part[k]);
		}
	return l;
}

/* Makes the op on tiles of its result's layout; false if that cannot be said. */
static bool make(struct split *b, const struct instruction *op, int32_t old,
                 int32_t layout, int depth)
{
	struct value_type t = split_type(b, &b->p->value.at[old].type, layout);
	int32_t rank = t.rank, operand[64];
	bool moves = op->code == HLO_BROADCAST || op->code == HLO_TRANSPOSE;
	struct instruction *added;

	if (op->nvalues != 1 || op->noperands > 64 || depth > DEPTH_MAX ||
	    (op->code != HLO_CONSTANT && op->code != HLO_COPY && !moves &&
	     opcode_class(op->code) != CLASS_ELEMENTWISE))
		return false;
	for (int32_t k = 0; k < op->noperands; k++) {
		int32_t v = op_operand(b->p, op, k);
		int32_t to = layout;

		if (moves)
			to = split_layout(b, mapped(b, op, &b->layout.at[layout]));
		else if (b->p->value.at[v].type.rank != rank)
			to = split_whole(b, b->p->value.at[v].type.rank);
		operand[k] = split_anew(b, v, to, depth + 1);
	}
	added = split_op(b, op, op->code, &t, 1);
	for (int32_t k = 0; k < op->noperands; k++)
		split_operand(b, added, operand[k]);
	split_is(b, old, layout, added->first_value);
	return true;
}

int32_t split_anew(struct split *b, int32_t old, int32_t layout, int depth)
{
	const struct instruction *op = &b->p->op.at[b->p->value.at[old].op];
	int32_t whole = split_whole(b, b->p->value.at[old].type.rank), made = -1;

	for (int32_t i = b->copies[old]; i >= 0; i = b->copy.at[i].next) {
		if (b->copy.at[i].layout == layout)
			return b->copy.at[i].value;
		if (b->copy.at[i].layout == whole)
			made = b->copy.at[i].value;
	}
	if (made >= 0 && !make(b, op, old, layout, depth)) {
		struct resharding r = {op, &b->p->value.at[old].type, whole, layout,
		                       false};

		split_is(b, old, layout, split_reshard(b, made, &r));
	}
	return b->copy.at[b->copies[old]].value;
}
