#include "program/program.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void program_warn(struct program *p, int32_t line, const char *fmt, ...)
{
	char text[512];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	for (int64_t i = 0; i < p->warning.n; i++)
		if (!strcmp(p->warning.at[i].text, text))
			return;
	*list_add(&p->warning, p->arena) =
		(struct warning){line, arena_strdup(p->arena, text)};
}

enum opcode op_applied(const struct program *p, const struct instruction *op)
{
	enum opcode code = HLO_OPCODES;

	if (op->applies.at)
		code = opcode_of_stablehlo(op->applies.at, (size_t)op->applies.length);
	for (int32_t k = 0; k < op->ncalled; k++) {
		const struct region *r = &p->region.at[op_called(p, op, k)];

		for (int32_t i = 0; r->kind == REGION_APPLIED && i < r->nops; i++)
			if (opcode_class(p->op.at[r->op[i]].code) == CLASS_ELEMENTWISE)
				code = p->op.at[r->op[i]].code;
	}
	return code == HLO_OPCODES ? HLO_ADD : code;
}

int64_t value_elements(const struct value_type *t)
{
	int64_t n = 1;

	for (int32_t i = 0; i < t->rank; i++)
		n *= t->dim[i];
	return n;
}

int64_t value_type_bytes(const struct value_type *t)
{
	return dtype_bytes(t->dtype, value_elements(t));
}

int64_t op_operand_bytes(const struct program *p, const struct instruction *op)
{
	int64_t sum = 0;

	for (int32_t i = 0; i < op->noperands; i++)
		sum += value_type_bytes(&p->value.at[op_operand(p, op, i)].type);
	return sum;
}

int64_t op_result_bytes(const struct program *p, const struct instruction *op)
{
	int64_t sum = 0;

	for (int32_t i = 0; i < op->nresults; i++)
		sum += value_type_bytes(&p->value.at[op->first_result + i].type);
	return sum;
}

const char *stage_name(enum stage s)
{
	return s == STAGE_ANNOTATED     ? "annotated"
	       : s == STAGE_PARTITIONED ? "partitioned"
	                                : "optimised";
}
