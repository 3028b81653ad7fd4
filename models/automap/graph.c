#include "automap/graph.h"

#include "automap/graph_build.h"
#include "program/custom.h"
#include "program/rules.h"

#include <ctype.h>
#include <string.h>

static const struct instruction *op_of(const struct graph_build *b, int32_t step)
{
	return &b->p->op.at[b->flat->step.at[step].op];
}

static bool text_has(struct span s, const char *word)
{
	return s.at && memmem(s.at, (size_t)s.length, word, strlen(word));
}

/* By what the source calls it: JAX writes transpose(jvp(f)) for the backward pass. */
static enum phase phase_of(const struct instruction *op)
{
	if (text_has(op->op_name, "backward") || text_has(op->op_name, "transpose("))
		return PHASE_BACKWARD;
	return text_has(op->op_name, "update") ? PHASE_UPDATE : PHASE_FORWARD;
}

/*
 * Through these sums may stay partial; not into a wider type, in which they would take
 * more memory and longer to reduce.
 */
static bool is_linear(const struct program *p, const struct instruction *op)
{
	switch (op->code) {
	case HLO_CONVERT:
		return p->value.at[op->first_value].type.dtype->bits <=
		       p->value.at[op_operand(p, op, 0)].type.dtype->bits;
	case HLO_ADD:
	case HLO_SUBTRACT:
	case HLO_NEGATE:
	case HLO_RESHAPE:
	case HLO_TRANSPOSE:
	case HLO_BITCAST:
	case HLO_COPY:
		return true;
	default:
		return false;
	}
}

/* --- values ----------------------------------------------------------------------- */

static int32_t add_value(struct graph_build *b, int32_t flat, int32_t op, int32_t out)
{
	struct graph_value *v = list_add(&b->g->value, b->a);

	*v = (struct graph_value){.type = b->flat->value.at[flat].type,
	                          .flat = flat,
	                          .op = op,
	                          .out = out,
	                          .argument = op < 0 ? flat : -1,
	                          .group = -1,
	                          .becomes = -1,
	                          .turns_into = -1,
	                          .alike = (int32_t)b->g->value.n - 1,
	                          .weight = b->r.weight[flat]};
	v->bytes = (double)value_type_bytes(v->type);
	return b->g->value_of[flat] = (int32_t)b->g->value.n - 1;
}

static void add_arguments(struct graph_build *b)
{
	int32_t n = b->p->region.at[b->flat->region].param.n;

	for (int32_t v = 0; v < n; v++)
		if (b->r.stands[v] == v)
			add_value(b, v, -1, -1);
}

/* --- ops and their rules ---------------------------------------------------------- */

/* Factors of a rule as those of the graph's op; tensors are in the same order. */
static void add_factors(struct graph_build *b, struct graph_op *op,
                        const struct op_rule *r)
{
	struct graph *g = b->g;

	op->first_factor = (int32_t)g->factor.n;
	op->nfactors = (int32_t)r->factor.n;
	for (int64_t f = 0; f < r->factor.n; f++) {
		struct graph_factor *to = list_add(&g->factor, b->a);
		bool in_result = false;

		*to = (struct graph_factor){.size = r->factor.at[f].size,
		                            .sums = r->factor.at[f].kind == FACTOR_REDUCE,
		                            .first_use = (int32_t)g->use.n};
		for (int32_t t = 0; t < r->ntensors; t++)
			for (int32_t d = 0; d < r->tensor[t].rank; d++)
				for (int32_t k = 0; k < r->tensor[t].dim[d].n; k++)
					if (r->tensor[t].dim[d].at[k] == f) {
						*list_add(&g->use, b->a) =
							(struct factor_use){(int16_t)t,
						                            (int16_t)d,
						                            (int16_t)k};
						in_result |= t >= r->noperands;
					}
		to->nuses = (int32_t)g->use.n - to->first_use;
		to->fixed = r->factor.at[f].kind == FACTOR_REPLICATE ||
		            r->factor.at[f].kind == FACTOR_PERMUTE ||
		            (!in_result && !to->sums);
	}
	for (int32_t t = 0; t < r->ntensors; t++) {
		g->tensor.at[op->first_tensor + t].first_dim = (int32_t)g->dim.n;
		for (int32_t d = 0; d < r->tensor[t].rank; d++) {
			const struct rule_dim *from = &r->tensor[t].dim[d];

			*list_add(&g->dim, b->a) =
				(struct graph_dim){(int32_t)g->factor_of.n, from->n};
			for (int32_t k = 0; k < from->n; k++)
				*list_add(&g->factor_of, b->a) = from->at[k];
		}
	}
}

static void add_op(struct graph_build *b, int32_t step)
{
	const struct flat_step *s = &b->flat->step.at[step];
	const struct instruction *op = op_of(b, step);
	int32_t number = (int32_t)b->g->op.n;
	struct graph_op *o = list_add(&b->g->op, b->a);
	struct op_rule rule;

	*o = (struct graph_op){.step = step,
	                       .first_tensor = (int32_t)b->g->tensor.n,
	                       .nin = s->nin,
	                       .nout = s->nout,
	                       .phase = phase_of(op),
	                       .linear = is_linear(b->p, op),
	                       .weight = b->r.step_weight[step],
	                       .times = s->times};
	for (int32_t i = 0; i < s->nin; i++)
		*list_add(&b->g->tensor, b->a) = (struct graph_tensor){
			b->g->value_of[b->r.stands[b->flat->in.at[s->first_in + i]]],
			-1};
	for (int32_t i = 0; i < s->nout; i++)
		*list_add(&b->g->tensor, b->a) = (struct graph_tensor){
			add_value(b, s->first_out + i, number, i), -1};
	if (graph_attention_rule(&rule, b->a, b->p, op) ||
	    op_rule_of(&rule, b->a, b->p, op))
		if (rule.noperands == o->nin && rule.ntensors == o->nin + o->nout)
			add_factors(b, o, &rule);
}

/* Values that are made of constants alone. */
static void mark_constants(struct graph_build *b)
{
	for (int64_t i = 0; i < b->g->op.n; i++) {
		const struct graph_op *o = &b->g->op.at[i];
		const struct graph_tensor *t = &b->g->tensor.at[o->first_tensor];
		bool constant = true;

		for (int32_t k = 0; k < o->nin; k++)
			constant &= b->g->value.at[t[k].value].constant;
		for (int32_t k = 0; k < o->nout; k++)
			b->g->value.at[t[o->nin + k].value].constant = constant;
	}
}

static void list_users(struct graph_build *b)
{
	struct graph *g = b->g;
	int32_t *fill = arena_alloc(b->a, (size_t)g->value.n + 1, sizeof(*fill)), n = 0;

	for (int64_t t = 0; t < g->tensor.n; t++)
		g->value.at[g->tensor.at[t].value].nusers++;
	for (int64_t v = 0; v < g->value.n; v++) {
		g->value.at[v].first_user = fill[v] = n;
		n += g->value.at[v].nusers;
		g->value.at[v].nusers = 0;
	}
	list_reserve(&g->user, b->a, n);
	g->user.n = n;
	for (int64_t i = 0; i < g->op.n; i++)
		for (int32_t k = 0; k < g->op.at[i].nin; k++) {
			int32_t v = g->tensor.at[g->op.at[i].first_tensor + k].value;
			struct graph_value *value = &g->value.at[v];

			if (value->nusers && g->user.at[fill[v] - 1] == (int32_t)i)
				continue;
			g->user.at[fill[v]++] = (int32_t)i;
			value->nusers++;
		}
}

static void put_in_place(struct graph *g, int32_t argument, int32_t result)
{
	g->value.at[result].becomes = argument;
	g->value.at[argument].turns_into = result;
}

/* A buffer that any result may have goes to the first of its type that has none (as in JAX). */
static void place_donor(struct graph_build *b, int32_t parameter)
{
	struct graph *g = b->g;
	int32_t argument = g->value_of[b->r.stands[parameter]];
	const struct value_type *type = g->value.at[argument].type;

	for (int32_t i = 0;
	     i < b->flat->result.n && g->value.at[argument].turns_into < 0; i++) {
		int32_t v = g->value_of[b->r.stands[b->flat->result.at[i]]];
		const struct graph_value *of = &g->value.at[v];

		if (of->op >= 0 && of->becomes < 0 && of->type->dtype == type->dtype &&
		    same_dims(of->type, type))
			put_in_place(g, argument, v);
	}
}

static void mark_results(struct graph_build *b)
{
	struct graph *g = b->g;
	int32_t nparams = b->p->region.at[b->flat->region].param.n;

	for (int32_t i = 0; i < b->flat->result.n; i++)
		g->value.at[g->value_of[b->r.stands[b->flat->result.at[i]]]].result =
			true;
	for (int64_t k = 0; k < b->p->alias.n; k++) {
		const struct alias *al = &b->p->alias.at[k];
		int32_t v;

		if (al->result < 0 || al->result >= b->flat->result.n ||
		    al->parameter < 0 || al->parameter >= nparams)
			continue;
		v = g->value_of[b->r.stands[b->flat->result.at[al->result]]];
		put_in_place(g, g->value_of[b->r.stands[al->parameter]], v);
	}
	for (int64_t k = 0; k < b->p->alias.n; k++)
		if (b->p->alias.at[k].result < 0 && b->p->alias.at[k].parameter >= 0 &&
		    b->p->alias.at[k].parameter < nparams)
			place_donor(b, b->p->alias.at[k].parameter);
}

/* Puts two values into one ring, unless they are in one. */
static void join_rings(struct graph *g, int32_t a, int32_t b)
{
	int32_t next = g->value.at[a].alike;

	for (int32_t v = next; v != a; v = g->value.at[v].alike)
		if (v == b)
			return;
	g->value.at[a].alike = g->value.at[b].alike;
	g->value.at[b].alike = next;
}

/* What is cut alike: arguments and what takes their places, what loops start from and hand on. */
static void join_alike(struct graph_build *b)
{
	struct graph *g = b->g;

	for (int32_t v = 0; v < g->value.n; v++)
		if (g->value.at[v].becomes >= 0 && g->value.at[v].becomes != v)
			join_rings(g, v, g->value.at[v].becomes);
	for (int64_t i = 0; i < b->flat->carry.n; i++) {
		const struct flat_carry *c = &b->flat->carry.at[i];
		int32_t from = g->value_of[b->r.stands[c->from]],
			to = g->value_of[b->r.stands[c->to]];

		if (from < 0 || to < 0 || from == to || g->value.at[from].constant ||
		    g->value.at[to].constant)
			continue;
		*list_add(&g->carry, b->a) = (struct flat_carry){from, to};
		join_rings(g, from, to);
	}
}

/* What is written for one device: collectives, manual computations. */
static enum status find_cut(const struct graph_build *b, struct error *e)
{
	for (int64_t i = 0; i < b->p->op.n; i++) {
		const struct instruction *op = &b->p->op.at[i];
		const char *name = opcode_name(op->code);

		if (!(b->p->region.at[op->region].runs > 0) ||
		    (op->code != HLO_MANUAL_COMPUTATION &&
		     opcode_class(op->code) != CLASS_COLLECTIVE))
			continue;
		return error_set(e, E_INFEASIBLE,
		                 (struct where){.file = b->p->file,
		                                .line = (unsigned)op->line,
		                                .col = 1},
		                 "%s %s: the program is cut already, expected one of "
		                 "whole arrays",
		                 *name == 'a' ? "an" : "a", name);
	}
	return OK;
}

enum status graph_make(struct graph *out, struct arena *a, const struct program *p,
                       bool fold, const char *const *like, int nlike, struct error *e)
{
	struct flat *flat = arena_alloc(a, 1, sizeof(*flat));
	struct repeats *kept = arena_alloc(a, 1, sizeof(*kept));
	struct graph_build b = {.g = out, .a = a, .p = p, .flat = flat};

	*out = (struct graph){.program = p, .flat = flat, .repeats = kept};
	if (find_cut(&b, e) != OK)
		return e->code;
	if (!flat_make_whole(flat, a, p, p->entry))
		return error_set(e, E_INFEASIBLE, (struct where){.file = p->file},
		                 "more calls than can be put in line");
	repeats_find(&b.r, a, p, flat, fold);
	*kept = b.r;
	out->value_of = arena_alloc(a, (size_t)flat->value.n + 1, sizeof(int32_t));
	memset(out->value_of, -1, ((size_t)flat->value.n + 1) * sizeof(int32_t));
	add_arguments(&b);
	for (int32_t i = 0; i < flat->step.n; i++)
		if (b.r.kept[i])
			add_op(&b, i);
	mark_constants(&b);
	list_users(&b);
	mark_results(&b);
	join_alike(&b);
	graph_kernels(&b);
	return graph_groups(&b, like, nlike, e);
}
