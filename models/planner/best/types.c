#include "planner/best/types.h"

#include "plan/groups.h"

/* Returns the one collective or slice that tiles of these sizes leave. */
static enum op op_between(const struct types_between *t, const struct type *before,
                          const struct type *after)
{
	int64_t had = type_elements(t, before), has = type_elements(t, after);

	if (has == had)
		return OP_ALL_TO_ALL;
	return has < had ? OP_SLICE : OP_ALL_GATHER;
}

void type_step(struct script_step *out, const struct types_between *t,
               const struct type *before, const struct type *after, bool collective,
               struct arena *a)
{
	struct move move[RANK_MAX];
	struct layout from;
	enum op op = op_between(t, before, after);
	int n;

	*out = (struct script_step){.op = OP_EXCHANGE};
	layout_of_type(&out->after, after, &t->pieces, &t->problem->mesh);
	if (!collective)
		return;
	layout_of_type(&from, before, &t->pieces, &t->problem->mesh);
	n = moves_between(move, op, &from, &out->after, a);
	if (n <= 0)
		return;
	out->op = op;
	out->nmoves = n;
	out->move = arena_dup(a, move, (size_t)n, sizeof(*move));
}
