/*
 * Regions of MLIR see the values around them. In a program ops hand in what their regions use:
 * loops carry it unchanged, branches take it as operands.
 */
#include "program/read/shlo.h"

#include <string.h>

static bool seen(const struct numbers *list, int32_t value)
{
	for (int32_t i = 0; i < list->n; i++)
		if (list->at[i] == value)
			return true;
	return false;
}

/* Adds the values that a region uses and that are made in none that is closed. */
static void find_captured(const struct build *b, int32_t region, struct numbers *list,
                          int32_t **room, int64_t *rooms)
{
	const struct region *r = &b->p->region.at[region];

	for (int32_t i = 0; i < r->nops + 1; i++) {
		const struct instruction *op =
			i < r->nops ? &b->p->op.at[r->op[i]] : NULL;
		int32_t n = op ? op->noperands : r->result.n;

		for (int32_t k = 0; k < n; k++) {
			int32_t v = op ? op_operand(b->p, op, k) : r->result.at[k];

			if (b->p->op.at[b->p->value.at[v].op].region >= 0 ||
			    seen(list, v))
				continue;
			*room = list_grow(b->a, *room, list->n, 1, rooms,
			                  sizeof(**room));
			(*room)[list->n++] = v;
			list->at = *room;
		}
	}
}

/* Makes the values parameters of the region, in place of their uses there. */
static void take_captured(struct build *b, int32_t number, struct numbers list)
{
	struct region *r = &b->p->region.at[number];
	int32_t *ops = arena_alloc(b->a, (size_t)(r->nops + list.n), sizeof(*ops));
	int32_t *params =
		arena_alloc(b->a, (size_t)(r->param.n + list.n), sizeof(*params));
	int32_t *results =
		arena_dup(b->a, r->result.at, (size_t)r->result.n, sizeof(*results));

	memcpy(params, r->param.at, (size_t)r->param.n * sizeof(*params));
	for (int32_t i = 0; i < list.n; i++) {
		int32_t v = list.at[i], op, own;

		b->type.leaf.n = b->type.split.n = 0;
		build_leaf(b, &b->p->value.at[v].type);
		op = build_op(b, HLO_PARAMETER, (struct span){"", 0});
		b->order.n--;
		b->p->op.at[op].region = number;
		b->p->op.at[op].index = r->param.n + i;
		own = b->p->op.at[op].first_value;
		ops[i] = op;
		params[r->param.n + i] = own;
		for (int32_t k = 0; k < r->nops; k++) {
			const struct instruction *of = &b->p->op.at[r->op[k]];

			for (int32_t j = 0; j < of->noperands; j++)
				if (op_operand(b->p, of, j) == v)
					b->p->operand.at[of->first_operand + j] = own;
		}
		for (int32_t k = 0; k < r->result.n; k++)
			results[k] = results[k] == v ? own : results[k];
	}
	memcpy(ops + list.n, r->op, (size_t)r->nops * sizeof(*ops));
	r->op = ops;
	r->nops += list.n;
	r->param = (struct numbers){r->param.n + list.n, params};
	r->result.at = results;
}

/* A loop carries what its regions use, unchanged. */
static void carry(struct build *b, int32_t body, int32_t n)
{
	struct region *r = &b->p->region.at[body];
	int32_t *at = arena_alloc(b->a, (size_t)(r->result.n + n), sizeof(*at));

	memcpy(at, r->result.at, (size_t)r->result.n * sizeof(*at));
	for (int32_t i = 0; i < n; i++)
		at[r->result.n + i] = r->param.at[r->param.n - n + i];
	r->result = (struct numbers){r->result.n + n, at};
}

bool shlo_runs_regions(enum opcode code)
{
	return code == HLO_WHILE || code == HLO_CONDITIONAL ||
	       code == HLO_MANUAL_COMPUTATION || code == HLO_NAMED_COMPUTATION;
}

void shlo_hand_in(struct build *b, struct shlo_op *m)
{
	LIST(struct value_type) types = {0};
	struct numbers list = {0, NULL};
	int32_t *room = NULL;
	int64_t rooms = 0;

	if (!shlo_runs_regions(m->code))
		return;
	for (int64_t i = 0; i < b->type.leaf.n; i++)
		*list_add(&types, b->a) = b->type.leaf.at[i];
	for (int64_t i = 0; i < m->region.n; i++) {
		if (m->code != HLO_WHILE) {
			list = (struct numbers){0, NULL};
			room = NULL;
			rooms = 0;
		}
		find_captured(b, m->region.at[i], &list, &room, &rooms);
		if (m->code == HLO_WHILE)
			continue;
		take_captured(b, m->region.at[i], list);
		for (int32_t k = 0; k < list.n; k++)
			*list_add(&m->operand, b->a) = list.at[k];
	}
	if (m->code == HLO_WHILE && m->region.n == 2) {
		for (int64_t i = 0; i < 2; i++)
			take_captured(b, m->region.at[i], list);
		carry(b, m->region.at[1], list.n);
		for (int32_t k = 0; k < list.n; k++) {
			*list_add(&m->operand, b->a) = list.at[k];
			*list_add(&types, b->a) = b->p->value.at[list.at[k]].type;
		}
	}
	b->type.leaf.n = b->type.split.n = 0;
	for (int64_t i = 0; i < types.n; i++)
		build_leaf(b, &types.at[i]);
}
