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

int32_t split_made(struct split *b, const struct instruction *like, enum opcode code,
                   const struct value_type *type, const int32_t *operand, int32_t n)
{
	struct instruction *op = split_op(b, like, code, type, 1);

	/* It may have the code of the op that it is for, but is another one. */
	op->dims = (struct ints){0, NULL};
	op->ncalled = 0;
	b->q->called.n = op->first_called;
	op->applies = op->direction = (struct span){NULL, 0};
	op->as.slice = NULL;
	for (int32_t k = 0; k < n; k++)
		split_operand(b, op, operand[k]);
	return op->first_value;
}

struct instruction *split_maker(struct split *b, int32_t value)
{
	return &b->q->op.at[b->q->value.at[value].op];
}

int32_t split_partition_id(struct split *b, const struct instruction *like)
{
	struct value_type t = {.dtype = dtype_find("u32", 3), .rank = 0};

	if (b->partition_id < 0)
		b->partition_id =
			split_op(b, like, HLO_PARTITION_ID, &t, 1)->first_value;
	return b->partition_id;
}

int32_t split_number(struct split *b, const struct instruction *like,
                     const struct dtype *dtype, double number)
{
	const struct value_type t = {.dtype = dtype};
	const struct constant_attr c = {true, number, NULL};
	int32_t v = split_made(b, like, HLO_CONSTANT, &t, NULL, 0);

	split_maker(b, v)->as.constant = arena_dup(b->a, &c, 1, sizeof(c));
	return v;
}

int32_t split_table(struct split *b, const struct instruction *like,
                    const int64_t *number)
{
	int64_t n = b->s->mesh.ndevices, one = 1;
	const struct dtype *s32 = dtype_find("s32", 3);
	const struct value_type whole = {
		.dtype = s32, .rank = 1, .dim = arena_dup(b->a, &n, 1, sizeof(n))};
	const struct value_type part = {
		.dtype = s32, .rank = 1, .dim = arena_dup(b->a, &one, 1, sizeof(one))};
	const struct value_type scalar = {.dtype = s32};
	const struct constant_attr c = {
		false, 0, arena_dup(b->a, number, (size_t)n, sizeof(*number))};
	int32_t in[2];

	in[1] = split_partition_id(b, like);
	in[0] = split_made(b, like, HLO_CONSTANT, &whole, NULL, 0);
	split_maker(b, in[0])->as.constant = arena_dup(b->a, &c, 1, sizeof(c));
	in[0] = split_made(b, like, HLO_DYNAMIC_SLICE, &part, in, 2);
	split_maker(b, in[0])->dims = (struct ints){1, part.dim};
	return split_made(b, like, HLO_RESHAPE, &scalar, in, 1);
}

int32_t split_spread(struct split *b, const struct instruction *like, int32_t scalar,
                     const struct value_type *type)
{
	struct value_type t = *type;

	t.dtype = b->q->value.at[scalar].type.dtype;
	t.layout = NULL;
	return split_made(b, like, HLO_BROADCAST, &t, &scalar, 1);
}

int32_t split_both(struct split *b, const struct instruction *like, enum opcode code,
                   int32_t x, int32_t y)
{
	const struct value_type t = b->q->value.at[x].type;

	return split_made(b, like, code, &t, (const int32_t[]){x, y}, 2);
}

int32_t split_inside(struct split *b, const struct instruction *like, int32_t position,
                     int64_t from, int64_t to)
{
	struct value_type t = b->q->value.at[position].type;
	const int64_t bound[2] = {from, to};
	int32_t inside[2];

	for (int i = 0; i < 2; i++) {
		struct instruction *op;
		int32_t in[2] = {position,
		                 split_number(b, like, t.dtype, (double)bound[i])};

		in[1] = split_spread(b, like, in[1], &t);
		t.dtype = dtype_find("pred", 4);
		inside[i] = split_made(b, like, HLO_COMPARE, &t, in, 2);
		op = split_maker(b, inside[i]);
		op->direction = i ? (struct span){"LT", 2} : (struct span){"GE", 2};
		t.dtype = b->q->value.at[position].type.dtype;
	}
	return split_both(b, like, HLO_AND, inside[0], inside[1]);
}
