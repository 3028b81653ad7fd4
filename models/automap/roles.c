/* Which arguments are data, which parameters, and which states of an optimizer. */
#include "automap/graph_build.h"

#include <string.h>

/* Names of JAX (flax, optax), PyTorch and MaxText: of parameters, and of states. */
static const char parameter_names[] = "(params?[^a-z]|weight|kernel|bias|embedding|(^|["
				      "^a-z])scale|(^|[^a-z])model[.]|layers?[._[])";
static const char state_names[] = "(opt_state|exp_avg|momentum|moment[^a-z]|[.](mu|nu|"
				  "master|mean|square)([^a-z]|$))";

struct span argument_name(const struct program *p, int32_t argument)
{
	const struct region *r = &p->region.at[p->entry];
	const struct instruction *op = &p->op.at[p->value.at[r->param.at[argument]].op];

	return op->op_name.at ? op->op_name : op->name;
}

enum status graph_matches(bool *out, const struct program *p, const int32_t *argument,
                          int64_t n, const char *option, const char *text,
                          struct error *e)
{
	struct where at = where_option(option, text);
	struct span first = {"none, as there are none", 23};
	bool found = false;
	regex_t re;

	if (pattern_compile(&re, text, at, e) != OK)
		return e->code;
	for (int64_t i = n; i-- > 0;) {
		first = argument_name(p, argument ? argument[i] : (int32_t)i);
		if (pattern_matches(&re, first.at, (size_t)first.length))
			out[i] = found = true;
	}
	regfree(&re);
	if (found)
		return OK;
	return error_set(e, E_TYPE, at,
	                 "no argument has such a name, expected one like %.*s",
	                 (int)first.length, first.at);
}

bool group_matches(const struct graph *g, int64_t group, const regex_t *re)
{
	struct span name = argument_name(
		g->program, g->argument.at[g->group.at[group].first_argument]);

	return pattern_matches(re, name.at, (size_t)name.length);
}

/* Values, or dimensions of tensors, that are gone through, each once. */
struct walk {
	int32_t *queue;
	bool *seen;
	int64_t n;
};

static struct walk walk_new(struct arena *a, int64_t most)
{
	return (struct walk){arena_alloc(a, (size_t)most + 1, sizeof(int32_t)),
	                     arena_alloc(a, (size_t)most + 1, sizeof(bool)), 0};
}

static void walk_to(struct walk *w, int32_t number)
{
	if (!w->seen[number])
		w->queue[w->n++] = number;
	w->seen[number] = true;
}

static void walk_clear(struct walk *w)
{
	while (w->n > 0)
		w->seen[w->queue[--w->n]] = false;
}

static int32_t first_member(const struct graph *g, int64_t group)
{
	return g->member.at[g->group.at[group].first];
}

static bool alike(const struct graph *g, int32_t a, int32_t b)
{
	return same_dims(g->value.at[a].type, g->value.at[b].type);
}

static bool set_all(struct graph *g, const enum group_role *role)
{
	bool any = false, data = false;

	for (int64_t i = 0; i < g->group.n; i++) {
		any |= role[i] == ROLE_PARAMETER;
		data |= role[i] == ROLE_DATA;
	}
	for (int64_t i = 0; i < g->group.n && any && data; i++)
		g->group.at[i].role = role[i];
	return any && data;
}

/* --- by buffers ------------------------------------------------------------------- */

static enum group_role replaced_role(const struct graph *g, int32_t value)
{
	const struct graph_value *v = &g->value.at[value];

	if (v->turns_into < 0)
		return ROLE_DATA;
	for (int32_t k = 0; k < v->nusers; k++)
		if (g->op.at[g->user.at[v->first_user + k]].phase != PHASE_UPDATE)
			return ROLE_PARAMETER;
	return ROLE_STATE;
}

static bool by_buffers(struct graph *g)
{
	bool any = false;

	for (int64_t i = 0; i < g->group.n; i++) {
		g->group.at[i].role = replaced_role(g, first_member(g, i));
		any |= g->group.at[i].role != ROLE_DATA;
	}
	return any;
}

/* --- by names --------------------------------------------------------------------- */

static void give_role(const struct graph *g, enum group_role *role, const char *names,
                      enum group_role to)
{
	regex_t re;

	if (regcomp(&re, names, REG_EXTENDED | REG_NOSUB))
		return;
	for (int64_t i = 0; i < g->group.n; i++)
		if (group_matches(g, i, &re))
			role[i] = to;
	regfree(&re);
}

static bool by_names(struct graph *g, enum group_role *role)
{
	for (int64_t i = 0; i < g->group.n; i++)
		role[i] = ROLE_DATA;
	give_role(g, role, parameter_names, ROLE_PARAMETER);
	give_role(g, role, state_names, ROLE_STATE);
	return set_all(g, role);
}

/* --- by results ------------------------------------------------------------------- */

/* Whether an op multiplies by its operand t, or looks something up in it. */
static bool reads_weight(const struct graph *g, const struct graph_op *o, int32_t t)
{
	const struct instruction *op = graph_instruction(g, o);

	switch (op->code) {
	case HLO_DOT:
		/* Keys and values that are kept have a batch and heads. */
		return t == 1 && op->as.dot->rhs_batch.n < 2;
	case HLO_CONVOLUTION:
		return t == 1;
	case HLO_GATHER:
		return t == 0;
	default:
		return false;
	}
}

/* What reads the value as it is, in another form, or a layer of it. */
static bool only_forms(const struct graph *g, const struct graph_op *o)
{
	switch (graph_instruction(g, o)->code) {
	case HLO_CONVERT:
	case HLO_RESHAPE:
	case HLO_TRANSPOSE:
	case HLO_BITCAST:
	case HLO_COPY:
	case HLO_SLICE:
	case HLO_DYNAMIC_SLICE:
		return true;
	default:
		return false;
	}
}

static bool is_weight(const struct graph *g, struct walk *w, int32_t value)
{
	bool found = false;

	walk_to(w, value);
	for (int64_t i = 0; i < w->n && !found; i++) {
		const struct graph_value *v = &g->value.at[w->queue[i]];

		for (int32_t k = 0; k < v->nusers; k++) {
			const struct graph_op *o =
				&g->op.at[g->user.at[v->first_user + k]];
			const struct graph_tensor *t = &g->tensor.at[o->first_tensor];

			for (int32_t n = 0; n < o->nin; n++)
				found |= t[n].value == w->queue[i] &&
				         reads_weight(g, o, n);
			if (only_forms(g, o))
				walk_to(w, t[o->nin].value);
		}
	}
	walk_clear(w);
	return found;
}

/* Results of a value's dimensions, less the arguments of them that have one already. */
static int32_t results_like(const struct graph *g, int32_t value,
                            const enum group_role *role)
{
	int32_t n = 0;

	for (int32_t v = 0; v < g->value.n; v++)
		n += g->value.at[v].result && g->value.at[v].op >= 0 &&
		     alike(g, v, value);
	for (int64_t i = 0; i < g->group.n; i++)
		if (role[i] != ROLE_DATA && alike(g, first_member(g, i), value))
			n -= g->group.at[i].n;
	return n;
}

/* Whether ops that keep its dimensions alone make a result of a value. */
static bool is_updated(const struct graph *g, struct walk *w, int32_t value)
{
	bool found = false;

	walk_to(w, value);
	for (int64_t i = 0; i < w->n && !found; i++) {
		const struct graph_value *v = &g->value.at[w->queue[i]];

		found = v->result && v->op >= 0;
		for (int32_t k = 0; k < v->nusers; k++) {
			const struct graph_op *o =
				&g->op.at[g->user.at[v->first_user + k]];
			int32_t made = g->tensor.at[o->first_tensor + o->nin].value;

			if (opcode_class(graph_instruction(g, o)->code) ==
			            CLASS_ELEMENTWISE &&
			    alike(g, made, value))
				walk_to(w, made);
		}
	}
	walk_clear(w);
	return found;
}

/* States are read by ops that keep their dimensions alone. */
static bool is_state(const struct graph *g, int32_t value)
{
	const struct graph_value *v = &g->value.at[value];

	for (int32_t k = 0; k < v->nusers; k++) {
		const struct graph_op *o = &g->op.at[g->user.at[v->first_user + k]];

		if (!alike(g, g->tensor.at[o->first_tensor + o->nin].value, value))
			return false;
	}
	return v->type->rank > 0;
}

/* Whether it is read once for many: positions are so for each sequence. */
static bool is_spread(const struct graph *g, int32_t value)
{
	const struct graph_value *v = &g->value.at[value];

	for (int32_t k = 0; k < v->nusers; k++)
		if (graph_instruction(g, &g->op.at[g->user.at[v->first_user + k]])->code ==
		    HLO_BROADCAST)
			return true;
	return false;
}

/*
 * What matmuls, convolutions and tables read as weights, and a result has the dimensions of: a
 * gradient, or the weight of the next step. Where there is one, so is what a result is made of
 * element by element; and what is a vector, or spread, and has a result left for it.
 */
static bool by_results(struct graph *g, struct arena *a, enum group_role *role)
{
	struct walk w = walk_new(a, g->value.n);
	bool any = false;

	for (int64_t i = 0; i < g->group.n; i++)
		role[i] = ROLE_DATA;
	for (int64_t i = 0; i < g->group.n; i++) {
		int32_t v = first_member(g, i);

		if (is_weight(g, &w, v) && results_like(g, v, role) > 0) {
			role[i] = ROLE_PARAMETER;
			any = true;
		}
	}
	for (int64_t i = 0; i < g->group.n && any; i++) {
		int32_t v = first_member(g, i);

		if (role[i] != ROLE_DATA || results_like(g, v, role) <= 0)
			continue;
		if (is_updated(g, &w, v))
			role[i] = is_state(g, v) ? ROLE_STATE : ROLE_PARAMETER;
	}
	for (int64_t i = 0; i < g->group.n && any; i++) {
		int32_t v = first_member(g, i);

		if (role[i] == ROLE_DATA && results_like(g, v, role) > 0 &&
		    (g->value.at[v].type->rank == 1 || is_spread(g, v)))
			role[i] = ROLE_PARAMETER;
	}
	return any && set_all(g, role);
}

/* --- by batches ------------------------------------------------------------------- */

/* Goes on from a dimension of the value to those of operands that its outermost factor is in. */
static void follow(const struct graph *g, struct walk *dims, bool *has, int32_t tensor,
                   int32_t dim)
{
	int32_t value = g->tensor.at[tensor].value;
	const struct graph_value *v = &g->value.at[value];

	has[value] = true;
	if (v->op < 0)
		return;
	tensor = g->op.at[v->op].first_tensor + g->op.at[v->op].nin + v->out;
	if (g->tensor.at[tensor].first_dim >= 0)
		walk_to(dims, g->tensor.at[tensor].first_dim + dim);
}

static void follow_factor(const struct graph *g, struct walk *dims, bool *has,
                          const struct graph_op *o, int32_t dim)
{
	const struct graph_factor *f;

	if (!g->dim.at[dim].n)
		return;
	f = &g->factor.at[o->first_factor + g->factor_of.at[g->dim.at[dim].first]];
	for (int32_t k = 0; k < f->nuses; k++) {
		const struct factor_use *u = &g->use.at[f->first_use + k];

		if (u->tensor < o->nin && !u->place)
			follow(g, dims, has, o->first_tensor + u->tensor, u->dim);
	}
}

/* Stores of each value whether it has something of the first dimension of a result. */
static void find_batches(const struct graph *g, struct arena *a, bool *has)
{
	struct walk dims = walk_new(a, g->dim.n);
	int32_t *op_of_dim = arena_alloc(a, (size_t)g->dim.n + 1, sizeof(*op_of_dim));

	for (int32_t i = 0; i < g->op.n; i++) {
		const struct graph_op *o = &g->op.at[i];

		for (int32_t t = o->nin; t < o->nin + o->nout; t++) {
			const struct graph_tensor *tensor =
				&g->tensor.at[o->first_tensor + t];
			int32_t rank = g->value.at[tensor->value].type->rank;

			for (int32_t d = 0; d < rank && tensor->first_dim >= 0; d++)
				op_of_dim[tensor->first_dim + d] = i;
			if (g->value.at[tensor->value].result && rank > 0)
				follow(g, &dims, has, o->first_tensor + t, 0);
		}
	}
	for (int64_t i = 0; i < dims.n; i++)
		follow_factor(g, &dims, has, &g->op.at[op_of_dim[dims.queue[i]]],
		              dims.queue[i]);
}

/* Of a program without gradients: what has nothing of the first dimension of its results. */
static bool by_batches(struct graph *g, struct arena *a, enum group_role *role)
{
	bool *batch = arena_alloc(a, (size_t)g->value.n + 1, sizeof(*batch)),
	     any = false;

	find_batches(g, a, batch);
	for (int64_t i = 0; i < g->group.n; i++) {
		bool has = batch[first_member(g, i)];

		any |= has;
		role[i] = has || !g->group.at[i].type->rank ? ROLE_DATA : ROLE_PARAMETER;
	}
	return any && set_all(g, role);
}

/* --- states of what --------------------------------------------------------------- */

/* The states that ops of an update read on the way to a value belong to a group. */
static void claim_states(struct graph *g, struct walk *w, int32_t value, int32_t group)
{
	int64_t i = w->n;

	for (walk_to(w, value); i < w->n; i++) {
		const struct graph_value *v = &g->value.at[w->queue[i]];
		const struct graph_op *o = v->op < 0 ? NULL : &g->op.at[v->op];

		if (!o && v->group >= 0 && g->group.at[v->group].role == ROLE_STATE)
			g->group.at[v->group].state_of = group;
		for (int32_t t = 0; o && t < o->nin && o->phase == PHASE_UPDATE; t++)
			walk_to(w, g->tensor.at[o->first_tensor + t].value);
	}
}

static void find_states(struct graph *g, struct arena *a)
{
	struct walk w = walk_new(a, g->value.n);

	for (int32_t i = 0; i < g->group.n; i++)
		g->group.at[i].state_of = -1;
	for (int32_t i = 0; i < g->group.n; i++) {
		const struct graph_group *group = &g->group.at[i];

		for (int32_t k = 0; k < group->n && group->role == ROLE_PARAMETER; k++) {
			int32_t next =
				g->value.at[g->member.at[group->first + k]].turns_into;

			if (next >= 0)
				claim_states(g, &w, next, i);
		}
	}
}

void graph_roles(struct graph *g, struct arena *a)
{
	enum group_role *role = arena_alloc(a, (size_t)g->group.n + 1, sizeof(*role));

	g->weights = by_buffers(g)            ? WEIGHTS_BUFFERS
	             : by_results(g, a, role) ? WEIGHTS_RESULTS
	             : by_names(g, role)      ? WEIGHTS_NAMES
	             : by_batches(g, a, role) ? WEIGHTS_BATCHES
	                                      : WEIGHTS_NONE;
	find_states(g, a);
}

enum status graph_weights(struct graph *g, struct arena *a, const char *const *regex,
                          int n, struct error *e)
{
	bool *matches = arena_alloc(a, (size_t)g->group.n + 1, sizeof(*matches));
	int32_t *first = arena_alloc(a, (size_t)g->group.n + 1, sizeof(*first));

	for (int64_t k = 0; k < g->group.n; k++)
		first[k] = g->argument.at[g->group.at[k].first_argument];
	for (int i = 0; i < n; i++)
		if (graph_matches(matches, g->program, first, g->group.n, "--weights",
		                  regex[i], e) != OK)
			return e->code;
	for (int64_t k = 0; k < g->group.n; k++) {
		enum group_role *role = &g->group.at[k].role;

		*role = matches[k]            ? ROLE_PARAMETER
		        : *role == ROLE_STATE ? ROLE_STATE
		                              : ROLE_DATA;
	}
	g->weights = WEIGHTS_GIVEN;
	find_states(g, a);
	return OK;
}

const char *weights_rule(enum weights_rule rule)
{
	static const char *const name[] = {
		[WEIGHTS_NONE] = "none",       [WEIGHTS_BUFFERS] = "buffers",
		[WEIGHTS_NAMES] = "names",     [WEIGHTS_RESULTS] = "results",
		[WEIGHTS_BATCHES] = "batches", [WEIGHTS_GIVEN] = "given"};

	return name[rule];
}
