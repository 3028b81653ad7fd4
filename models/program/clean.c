#include "program/clean.h"

enum { DEPTH_MAX = 12 };

/* Returns whether a number comes from the partition's. */
static bool of_partition(const struct program *p, int32_t value, int depth)
{
	const struct instruction *op = &p->op.at[p->value.at[value].op];

	if (op->code == HLO_PARTITION_ID)
		return true;
	if (depth == DEPTH_MAX || opcode_class(op->code) == CLASS_COLLECTIVE)
		return false;
	for (int32_t i = 0; i < op->noperands; i++)
		if (of_partition(p, op_operand(p, op, i), depth + 1))
			return true;
	return false;
}

/* A slice that is one of `parts` equal ones, by the number of the partition. */
static bool takes_part(const struct program *p, const struct instruction *op,
                       int32_t value, int32_t parts)
{
	const struct value_type *whole = &p->value.at[value].type;

	if (op->code != HLO_DYNAMIC_SLICE || op_operand(p, op, 0) != value ||
	    value_elements(&p->value.at[op->first_value].type) * parts !=
	            value_elements(whole))
		return false;
	for (int32_t i = 1; i < op->noperands; i++)
		if (of_partition(p, op_operand(p, op, i), 0))
			return true;
	return false;
}

static bool is_candidate(const struct instruction *op)
{
	return op->code == HLO_ALL_REDUCE && op->async == ASYNC_NONE &&
	       op->nvalues == 1 && op->as.collective->groups >= 0;
}

bool *clean_scattered(struct arena *a, const struct program *p)
{
	bool *scattered = arena_alloc(a, (size_t)p->op.n, sizeof(*scattered));
	int32_t *uses = arena_alloc(a, (size_t)p->op.n, sizeof(*uses));

	for (int64_t i = 0; i < p->op.n; i++)
		scattered[i] = is_candidate(&p->op.at[i]);
	for (int64_t i = 0; i < p->op.n; i++) {
		const struct instruction *op = &p->op.at[i];

		/* Names use nothing: what uses them has the value itself. */
		if (op->code == HLO_TUPLE || op->code == HLO_GET_TUPLE_ELEMENT)
			continue;
		for (int32_t k = 0; k < op->noperands; k++) {
			int32_t value = op_operand(p, op, k), by = p->value.at[value].op;
			const struct instruction *all = &p->op.at[by];

			uses[by]++;
			if (scattered[by])
				scattered[by] = takes_part(
					p, op, value,
					p->groups.at[all->as.collective->groups].size);
		}
	}
	for (int64_t r = 0; r < p->region.n; r++)
		for (int32_t i = 0; i < p->region.at[r].result.n; i++)
			scattered[p->value.at[p->region.at[r].result.at[i]].op] = false;
	for (int64_t i = 0; i < p->op.n; i++)
		scattered[i] &= uses[i] > 0;
	return scattered;
}
