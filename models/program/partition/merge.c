/*
 * Sums of sums: where two all-reduces over the same groups are only added up, the addends are
 * added first and summed over the devices once (XLA's AllReduceReassociate).
 */
#include "program/partition/split.h"

static int32_t *count_uses(const struct program *q, struct arena *a)
{
	int32_t *uses = arena_alloc(a, (size_t)q->value.n + 1, sizeof(*uses));

	for (int64_t i = 0; i < q->operand.n; i++)
		uses[q->operand.at[i]]++;
	for (int64_t i = 0; i < q->region.n; i++)
		for (int32_t k = 0; k < q->region.at[i].result.n; k++)
			uses[q->region.at[i].result.at[k]]++;
	return uses;
}

/* The op of a whole change of layout that adds up, and is for one user alone; -1: it is none. */
static int32_t sum_alone(const struct split *b, const int32_t *uses, int32_t value)
{
	int32_t number = b->q->value.at[value].op, of = b->out->of.at[number];
	const struct instruction *op = &b->q->op.at[number];
	bool sums = op->code == HLO_ALL_REDUCE || op->code == HLO_REDUCE_SCATTER;

	if (!sums || op_applied(b->q, op) != HLO_ADD || of < 0 || uses[value] != 1 ||
	    b->out->reshard.at[of].plan->nsteps != 1)
		return -1;
	return number;
}

/* Makes the op `add` of two sums the sum of a new op, which adds; false if it is none. */
static bool merge(struct split *b, const int32_t *uses, int32_t add)
{
	struct program *q = b->q;
	const struct instruction old = q->op.at[add];
	const struct instruction *like = &b->p->op.at[b->out->source.at[add]];
	int32_t sum[2], from[2];
	struct instruction *op;

	if (old.code != HLO_ADD || old.noperands != 2)
		return false;
	for (int i = 0; i < 2; i++) {
		sum[i] = sum_alone(b, uses, op_operand(q, &old, i));
		if (sum[i] < 0)
			return false;
		from[i] = op_operand(q, &q->op.at[sum[i]], 0);
	}
	if (b->out->reshard.at[b->out->of.at[sum[0]]].plan !=
	    b->out->reshard.at[b->out->of.at[sum[1]]].plan)
		return false;
	b->region = old.region;
	op = split_op(b, like, HLO_ADD, &q->value.at[from[0]].type, 1);
	split_operand(b, op, from[0]);
	split_operand(b, op, from[1]);
	/* The old op becomes the sum, so that its users see nothing of it. */
	q->op.at[add] = q->op.at[sum[0]];
	q->op.at[add].first_value = q->op.at[add].first_result = old.first_value;
	q->op.at[add].first_operand = old.first_operand;
	q->op.at[add].noperands = 1;
	q->operand.at[old.first_operand] = q->op.at[q->op.n - 1].first_value;
	b->out->of.at[add] = b->out->of.at[sum[0]];
	b->out->step.at[add] = 0;
	return true;
}

void split_merge_sums(struct split *b)
{
	int32_t *uses = count_uses(b->q, b->a);

	for (int64_t i = 0; i < b->q->region.n; i++) {
		struct region *r = &b->q->region.at[i];
		bool changed = false;

		b->order.n = 0;
		for (int32_t k = 0; r->kind == REGION_CODE && k < r->nops; k++) {
			if (merge(b, uses, r->op[k]))
				changed = true;
			*list_add(&b->order, b->a) = r->op[k];
		}
		if (!changed)
			continue;
		r->nops = (int32_t)b->order.n;
		r->op = arena_dup(b->a, b->order.at, (size_t)r->nops, sizeof(*r->op));
	}
}
