#include "planner/best/types.h"

#include "plan/groups.h"

void type_step(struct script_step *out, const struct types_between *t,
               const struct type *before, const struct type *after, bool collective,
               struct arena *a)
{
	struct move move[RANK_MAX];
	struct layout from;
	enum op op = collective ? type_op(before, after) : OP_EXCHANGE;
	int n;

	*out = (struct script_step){.op = OP_EXCHANGE};
	layout_of_type(&out->after, after, &t->pieces, t->mesh);
	if (op == OP_EXCHANGE)
		return;
	layout_of_type(&from, before, &t->pieces, t->mesh);
	n = moves_between(move, op, &from, &out->after, a);
	if (n <= 0)
		return;
	out->op = op;
	out->nmoves = n;
	out->move = arena_dup(a, move, (size_t)n, sizeof(*move));
}
