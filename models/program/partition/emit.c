#include "program/partition/split.h"

struct instruction *split_op(struct split *b, const struct instruction *like,
                             enum opcode code, const struct value_type *type, int32_t n)
{
	struct program *q = b->q;
	int32_t number = (int32_t)q->op.n;
	struct instruction *op = list_add(&q->op, b->a);

	*op = *like;
	if (like->code != code)
		*op = (struct instruction){.name = like->name,
		                           .line = like->line,
		                           .op_name = like->op_name,
		                           .source_file = like->source_file,
		                           .source_line = like->source_line};
	op->code = code;
	op->pair = -1;
	op->region = b->region;
	op->sharding = op->frontend = (struct span){NULL, 0};
	op->first_value = op->first_result = (int32_t)q->value.n;
	op->nvalues = op->nresults = n;
	op->first_operand = (int32_t)q->operand.n;
	op->noperands = 0;
	op->first_called = (int32_t)q->called.n;
	op->ncalled = 0;
	if (like->code == code)
		for (int32_t k = 0; k < like->ncalled; k++, op->ncalled++)
			*list_add(&q->called, b->a) = op_called(b->p, like, k);
	for (int32_t k = 0; k < n; k++) {
		int32_t v = (int32_t)q->value.n;

		*list_add(&q->value, b->a) = (struct value){type[k], number, v};
	}
	*list_add(&b->order, b->a) = number;
	*list_add(&b->out->of, b->a) = -1;
	*list_add(&b->out->step, b->a) = -1;
	*list_add(&b->out->source, b->a) = (int32_t)(like - b->p->op.at);
	return op;
}

void split_operand(struct split *b, struct instruction *op, int32_t value)
{
	*list_add(&b->q->operand, b->a) = value;
	op->noperands++;
}

void split_is(struct split *b, int32_t old, int32_t layout, int32_t value)
{
	*list_add(&b->copy, b->a) = (struct copy){layout, value, b->copies[old]};
	b->copies[old] = (int32_t)b->copy.n - 1;
}
