#include "automap/lower.h"

#include <string.h>

struct cuts cuts_sorted(const struct cuts *c)
{
	struct cuts s = *c;

	for (int i = 1; i < s.n; i++)
		for (int j = i; j > 0 && s.at[j] < s.at[j - 1]; j--) {
			uint8_t axis = s.axis[j];
			int16_t at = s.at[j];

			s.axis[j] = s.axis[j - 1];
			s.at[j] = s.at[j - 1];
			s.axis[j - 1] = axis;
			s.at[j - 1] = at;
		}
	return s;
}

bool cuts_equal(const struct cuts *a, const struct cuts *b)
{
	if (a->n != b->n || a->mask != b->mask)
		return false;
	for (int i = 0; i < a->n; i++)
		if (a->axis[i] != b->axis[i] || a->at[i] != b->at[i])
			return false;
	return true;
}

void lower_start(struct lowered_cuts *out, struct arena *a, const struct graph *g)
{
	size_t values = (size_t)g->value.n + 1, ops = (size_t)g->op.n + 1;

	*out = (struct lowered_cuts){.arena = a};
	out->made = arena_alloc(a, values, sizeof(*out->made));
	out->runs_without = arena_alloc(a, ops, sizeof(*out->runs_without));
	out->partial = arena_alloc(a, values, sizeof(*out->partial));
	out->waiting = arena_alloc(a, ops, sizeof(*out->waiting));
	out->reduced = arena_alloc(a, values, sizeof(*out->reduced));
	out->first_step = arena_alloc(a, values, sizeof(*out->first_step));
}

/* Where a factor is in a tensor: the dimension, and the place in it; -1: nowhere. */
static int find_factor(const struct graph *g, const struct graph_op *o, int32_t f,
                       int32_t tensor, int *place)
{
	const struct graph_factor *factor = &g->factor.at[o->first_factor + f];

	for (int32_t i = 0; i < factor->nuses; i++) {
		const struct factor_use *u = &g->use.at[factor->first_use + i];

		if (u->tensor != tensor)
			continue;
		*place = u->place;
		return u->dim;
	}
	return -1;
}

struct cuts lower_form(const struct lowered_cuts *l, const struct cutting *c,
                       int32_t op, int32_t tensor)
{
	const struct graph_op *o = &c->graph->op.at[op];
	const struct cuts *runs = &c->op[op];
	struct cuts out = {0};
	int place[CUT_AXES];

	for (int i = 0; i < runs->n; i++) {
		int at, dim, j;

		if (l->runs_without[op] >> runs->axis[i] & 1)
			continue;
		dim = find_factor(c->graph, o, runs->at[i], tensor, &at);
		if (dim < 0)
			continue;
		/* By dimension, then by the place of the factor, then by arrival. */
		for (j = out.n; j > 0 && (out.at[j - 1] > dim ||
		                          (out.at[j - 1] == dim && place[j - 1] > at));
		     j--) {
			out.at[j] = out.at[j - 1];
			out.axis[j] = out.axis[j - 1];
			place[j] = place[j - 1];
		}
		out.at[j] = (int16_t)dim;
		out.axis[j] = runs->axis[i];
		place[j] = at;
		out.n++;
		out.mask |= (uint8_t)(1 << runs->axis[i]);
	}
	return out;
}

/* --- partial sums ----------------------------------------------------------------- */

/* Axes along which a result is a partial sum because its op runs along them. */
static uint8_t summed_axes(const struct cutting *c, int32_t op, int32_t tensor)
{
	const struct graph_op *o = &c->graph->op.at[op];
	const struct cuts *runs = &c->op[op];
	uint8_t axes = 0;
	int place;

	for (int i = 0; i < runs->n; i++)
		if (c->graph->factor.at[o->first_factor + runs->at[i]].sums &&
		    find_factor(c->graph, o, runs->at[i], tensor, &place) < 0)
			axes |= (uint8_t)(1 << runs->axis[i]);
	return axes;
}

/* Axes that all operands of a linear op are partial on; 0 if they differ. */
static uint8_t waiting_axes(const struct lowered_cuts *l, const struct graph *g,
                            const struct graph_op *o)
{
	uint8_t axes = 0;

	for (int32_t t = 0; t < o->nin; t++) {
		int32_t v = g->tensor.at[o->first_tensor + t].value;
		uint8_t own =
			g->value.at[v].constant || l->reduced[v] ? 0 : l->partial[v];

		if (!own || (axes && own != axes))
			return 0;
		axes = own;
	}
	return axes;
}

static void find_partial(struct lowered_cuts *l, const struct cutting *c)
{
	const struct graph *g = c->graph;

	for (int32_t i = 0; i < g->op.n; i++) {
		const struct graph_op *o = &g->op.at[i];

		l->waiting[i] = o->linear ? waiting_axes(l, g, o) : 0;
		l->runs_without[i] = l->waiting[i];
		for (int32_t t = o->nin; t < o->nin + o->nout; t++)
			l->partial[g->tensor.at[o->first_tensor + t].value] =
				l->waiting[i] | (c->op[i].n ? summed_axes(c, i, t) : 0);
	}
}

/* Partial sums that a user cannot take are reduced; returns whether there were new ones. */
static bool reduce_partial(struct lowered_cuts *l, const struct graph *g)
{
	bool more = false;

	for (int64_t v = 0; v < g->value.n; v++) {
		const struct graph_value *value = &g->value.at[v];
		bool now = value->result || !value->nusers;

		if (!l->partial[v] || l->reduced[v] || value->constant)
			continue;
		for (int32_t i = 0; i < value->nusers && !now; i++)
			now = l->waiting[g->user.at[value->first_user + i]] !=
			      l->partial[v];
		l->reduced[v] = now;
		more |= now;
	}
	return more;
}

/* --- steps ------------------------------------------------------------------------ */

static struct transfer_step *add_step(struct lowered_cuts *l, const struct graph *g,
                                      int32_t value, enum op op)
{
	struct transfer_step *s = list_add(&l->step, l->arena);

	*s = (struct transfer_step){
		.op = op, .value = value, .weight = g->value.at[value].weight};
	*list_add(&l->next, l->arena) = l->first_step[value];
	l->first_step[value] = (int32_t)l->step.n - 1;
	return s;
}

/* Reduces a partial sum where it is made; `made` has the form with which it is left. */
static void add_reduction(struct lowered_cuts *l, const struct cutting *c, int32_t v)
{
	const struct graph_value *value = &c->graph->value.at[v];
	const struct cuts *own = &c->value[v];
	uint8_t partial = l->partial[v], scattered = 0;
	struct cuts to = l->made[v];
	struct transfer_step *s;

	for (int i = 0; i < own->n; i++)
		if (partial >> own->axis[i] & 1) {
			cuts_add(&to, own->axis[i], own->at[i]);
			scattered |= (uint8_t)(1 << own->axis[i]);
		}
	to = cuts_sorted(&to);
	if (scattered) {
		s = add_step(l, c->graph, v, OP_REDUCE_SCATTER);
		s->axes = scattered;
		s->from = l->made[v];
		s->to = to;
		s->before = s->until = value->op;
		s->phase = c->graph->op.at[value->op].phase;
	}
	if (partial & ~scattered) {
		s = add_step(l, c->graph, v, OP_ALL_REDUCE);
		s->axes = partial & (uint8_t)~scattered;
		s->from = s->to = to;
		s->before = s->until = value->op;
		s->phase = c->graph->op.at[value->op].phase;
	}
	l->made[v] = to;
}

/* Brings a value to a form that an op needs, unless an op of the phase had it so. */
static void need(struct lowered_cuts *l, const struct cutting *c, int32_t v,
                 struct cuts form, int32_t op, enum phase phase)
{
	struct transfer_step *s;

	if (cuts_equal(&l->made[v], &form))
		return;
	for (int32_t i = l->first_step[v]; i >= 0; i = l->next.at[i]) {
		s = &l->step.at[i];
		if (s->op != OP_EXCHANGE || s->phase != phase ||
		    !cuts_equal(&s->to, &form))
			continue;
		s->until = op < 0 ? s->until : op;
		return;
	}
	s = add_step(l, c->graph, v, OP_EXCHANGE);
	s->from = l->made[v];
	s->to = form;
	s->before = s->until = op;
	s->phase = phase;
}

static void add_needs(struct lowered_cuts *l, const struct cutting *c, int32_t op)
{
	const struct graph *g = c->graph;
	const struct graph_op *o = &g->op.at[op];

	for (int32_t t = 0; t < o->nin; t++) {
		int32_t v = g->tensor.at[o->first_tensor + t].value;

		if (!g->value.at[v].constant && (c->op[op].n || l->made[v].n))
			need(l, c, v, lower_form(l, c, op, t), op, o->phase);
	}
}

void lower_cuts(struct lowered_cuts *l, const struct cutting *c)
{
	const struct graph *g = c->graph;

	memset(l->reduced, 0, (size_t)g->value.n * sizeof(*l->reduced));
	memset(l->first_step, -1, (size_t)g->value.n * sizeof(*l->first_step));
	l->step.n = l->next.n = 0;
	do
		find_partial(l, c);
	while (reduce_partial(l, g));
	for (int32_t v = 0; v < g->value.n && g->value.at[v].op < 0; v++)
		l->made[v] = cuts_sorted(&c->value[v]);
	for (int32_t i = 0; i < g->op.n; i++) {
		const struct graph_op *o = &g->op.at[i];

		add_needs(l, c, i);
		for (int32_t t = o->nin; t < o->nin + o->nout; t++) {
			int32_t v = g->tensor.at[o->first_tensor + t].value;

			if (g->value.at[v].constant)
				continue;
			/* Sums that wait keep the form in which they were made. */
			l->made[v] = lower_form(l, c, i, t);
			if (l->partial[v] && l->reduced[v])
				add_reduction(l, c, v);
		}
	}
	for (int64_t i = 0; i < g->carry.n; i++) {
		int32_t v = g->carry.at[i].to, op = g->value.at[v].op;

		if (op >= 0)
			need(l, c, v, cuts_sorted(&c->value[g->carry.at[i].from]), op,
			     g->op.at[op].phase);
	}
	for (int32_t v = 0; v < g->value.n; v++) {
		const struct graph_value *value = &g->value.at[v];
		struct cuts form;

		if (!value->result || value->constant)
			continue;
		form = cuts_sorted(value->becomes >= 0 ? &c->value[value->becomes]
		                                       : &c->value[v]);
		need(l, c, v, form, -1, PHASE_UPDATE);
	}
}
