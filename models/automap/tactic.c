#include "automap/tactic.h"

#include <string.h>

static const char *const kinds[TACTICS] = {"data",   "context", "megatron", "sequence",
                                           "expert", "zero2",   "zero3"};

/* Names of Megatron-LM, Transformers, GPT-2, MaxText, and of our own steps (train.h). */
const struct tactic_names tactic_names = {
	"(wq|q_proj|query|query_key_value|c_attn|qkv|w1|wi|wi_0|up_proj|c_fc|fc1|dense_"
	"h_to_4h"
	"|intermediate)([]._'[-]*(weight|kernel|w))?[]'\"]*$",
	"(moe|expert)[^ ]*(w1|w2|w3|wgate|wi|wo|up_proj|gate_proj|down_proj)"};

enum tactic_kind tactic_find(const char *name, size_t length)
{
	for (int i = 0; i < TACTICS; i++)
		if (strlen(kinds[i]) == length && !memcmp(kinds[i], name, length))
			return (enum tactic_kind)i;
	return TACTICS;
}

/* --- the tactics ------------------------------------------------------------------ */

static int cut_data(struct cutting *c, int32_t dim, int axis)
{
	int n = 0;

	for (int32_t i = 0; i < c->graph->group.n; i++)
		if (c->graph->group.at[i].role == ROLE_DATA)
			n += cutting_group(c, i, dim, axis);
	return n;
}

/* Cuts arguments whose names match, on a dimension counted from the end if < 0. */
static int cut_matches(struct cutting *c, const struct tactic_rule *rule)
{
	const struct graph *g = c->graph;
	regex_t re;
	int n = 0;

	if (regcomp(&re, rule->match, REG_EXTENDED | REG_NOSUB))
		return 0;
	for (int32_t i = 0; i < g->group.n; i++) {
		const struct graph_group *group = &g->group.at[i];
		int32_t rank = group->type->rank, dim = rule->dim;

		if (dim < 0)
			dim += rank;
		if (dim < 0 || dim >= rank || !group_matches(g, i, &re))
			continue;
		if (rule->atomic)
			for (int32_t k = 0; k < group->n; k++)
				cutting_atomic(c, g->member.at[group->first + k],
				               rule->axis);
		n += rule->atomic ? 1 : cutting_group(c, i, dim, rule->axis);
	}
	regfree(&re);
	return n;
}

int tactic_cut_sums(struct cutting *c, struct lowered_cuts *l, int32_t dim, int axis)
{
	int n = 0;

	lower_cuts(l, c);
	for (int64_t i = 0; i < l->step.n; i++) {
		const struct transfer_step *s = &l->step.at[i];

		if (s->op == OP_ALL_REDUCE && s->axes == 1 << axis &&
		    c->graph->value.at[s->value].type->rank > 2)
			n += cutting_cut(c, s->value, dim, axis);
	}
	if (n)
		cutting_note_sums(c, dim, axis);
	cutting_propagate(c);
	return n;
}

/* The array that a gather makes or a scatter adds, if it has a dimension of experts; -1. */
static int32_t expert_rows(const struct graph *g, int64_t i, int64_t experts)
{
	const struct graph_op *o = &g->op.at[i];
	const struct instruction *op = graph_instruction(g, o);
	int32_t tensor = op->code == HLO_GATHER    ? o->nin
	                 : op->code == HLO_SCATTER ? o->nin - 1
	                                           : -1;
	const struct value_type *type;
	int32_t value;

	if (tensor < 0)
		return -1;
	value = g->tensor.at[o->first_tensor + tensor].value;
	type = g->value.at[value].type;
	return type->rank > 2 && type->dim[1] == experts ? value : -1;
}

static bool may_be_experts(const struct graph_group *group)
{
	return group->type->rank == 3 && group->role == ROLE_PARAMETER;
}

bool tactic_has_experts(const struct graph *g)
{
	for (int64_t k = 0; k < g->group.n; k++)
		for (int64_t i = 0; i < g->op.n && may_be_experts(&g->group.at[k]); i++)
			if (expert_rows(g, i, g->group.at[k].type->dim[0]) >= 0)
				return true;
	return false;
}

/* Such arrays are not to be cut. */
static bool keep_rows(struct cutting *c, int64_t experts, int axis)
{
	const struct graph *g = c->graph;
	bool any = false;

	for (int64_t i = 0; i < g->op.n; i++) {
		int32_t rows = expert_rows(g, i, experts);

		if (rows < 0)
			continue;
		any = true;
		cutting_atomic(c, rows, axis);
	}
	if (any)
		cutting_note_experts(c, axis);
	return any;
}

int tactic_cut_experts(struct cutting *c, int axis)
{
	const struct graph *g = c->graph;
	int n = 0;

	for (int32_t i = 0; i < g->group.n; i++) {
		const struct graph_group *group = &g->group.at[i];

		if (may_be_experts(group) && keep_rows(c, group->type->dim[0], axis))
			n += cutting_group(c, i, 0, axis);
	}
	return n;
}

static int cut_experts(struct cutting *c, int axis)
{
	const struct graph *g = c->graph;
	const struct tactic_rule rule = {tactic_names.experts, 0, axis, false};

	for (int32_t i = 0; i < g->group.n; i++)
		if (may_be_experts(&g->group.at[i]))
			keep_rows(c, g->group.at[i].type->dim[0], axis);
	return cut_matches(c, &rule);
}

/* The first dimension that has no axis and can be cut, else one more axis on the first. */
static int cut_whole(struct cutting *c, int32_t group, int axis)
{
	const struct graph_group *g = &c->graph->group.at[group];
	int32_t value = c->graph->member.at[g->first];

	for (int32_t d = 0; d < g->type->rank; d++)
		if (cuts_shards(&c->value[value], c->size, d) == 1 &&
		    cutting_group(c, group, d, axis))
			return 1;
	return cutting_group(c, group, 0, axis);
}

int tactic_cut_states(struct cutting *c, int32_t group, int axis)
{
	const struct graph *g = c->graph;
	const struct graph_group *of = &g->group.at[group];
	int n = 0;

	for (int32_t k = 0; k < of->n; k++) {
		int32_t value = g->member.at[of->first + k];

		if (!(c->value[value].mask >> axis & 1))
			cutting_atomic(c, value, axis);
	}
	for (int32_t i = 0; i < g->group.n; i++)
		if (g->group.at[i].state_of == group)
			n += cut_whole(c, i, axis);
	return n;
}

static int cut_parameters(struct cutting *c, int axis, bool states_alone)
{
	const struct graph *g = c->graph;
	int n = 0;

	for (int32_t i = 0; i < g->group.n && states_alone; i++)
		for (int32_t k = 0;
		     k < g->group.at[i].n && g->group.at[i].role == ROLE_PARAMETER; k++)
			cutting_atomic(c, g->member.at[g->group.at[i].first + k], axis);
	for (int32_t i = 0; i < g->group.n; i++)
		if (g->group.at[i].role != ROLE_DATA)
			n += cut_whole(c, i, axis);
	return n;
}

int tactic_apply(struct cutting *c, const struct tactic *t)
{
	const struct tactic_rule columns = {tactic_names.columns, -1, t->axis, false};
	struct lowered_cuts l;
	struct arena *a;
	int n = 0;

	switch (t->kind) {
	case TACTIC_DATA:
		return cut_data(c, 0, t->axis);
	case TACTIC_CONTEXT:
		n = cut_data(c, 1, t->axis);
		cutting_settle(c, t->axis);
		return n;
	case TACTIC_MEGATRON:
		return cut_matches(c, &columns);
	case TACTIC_SEQUENCE:
		a = arena_new();
		lower_start(&l, a, c->graph);
		n = tactic_cut_sums(c, &l, 1, t->axis);
		arena_free(a);
		return n;
	case TACTIC_EXPERT:
		return cut_experts(c, t->axis);
	case TACTIC_ZERO2:
	case TACTIC_ZERO3:
		return cut_parameters(c, t->axis, t->kind == TACTIC_ZERO2);
	case TACTIC_USER:
		for (int i = 0; i < t->nrules; i++)
			n += cut_matches(c, &t->rule[i]);
	}
	return n;
}
