#include "automap/lower.h"

#include "base/sets.h"

#include <string.h>

/* What is summed over where a value is made: axes, those of its operands that wait, and whether it is
 * reduced there. */
struct partial_sum {
	uint8_t axes, waits;
	bool reduced;
};

/* --- room ------------------------------------------------------------------------- */

/* Partial sums of a value hang on those of what linear ops make it of, or make of it. */
static void find_sets(struct lowered_cuts *l, const struct graph *g)
{
	int32_t n = (int32_t)g->value.n, at = 0;
	int32_t *size = arena_alloc(l->arena, (size_t)n + 1, sizeof(*size));

	sets_apart(l->set, n);
	for (int64_t i = 0; i < g->op.n; i++) {
		const struct graph_op *o = &g->op.at[i];
		const struct graph_tensor *t = &g->tensor.at[o->first_tensor];

		for (int32_t k = 0; o->linear && k < o->nin; k++)
			if (!g->value.at[t[k].value].constant)
				sets_join(l->set, t[k].value, t[o->nin].value);
	}
	for (int32_t v = 0; v < n; v++)
		size[sets_of(l->set, v)]++;
	for (int32_t v = 0; v < n; v++) {
		l->first_of[v] = at;
		at += size[v];
		size[v] = 0;
	}
	l->first_of[n] = at;
	for (int32_t v = 0; v < n; v++) {
		int32_t set = l->set[v] = sets_of(l->set, v);

		l->of[l->first_of[set] + size[set]++] = v;
	}
}

/*
 * Every operand has a slot for what is moved for it, every result two for its reductions; then come
 * what loops hand on, and values as they leave the program.
 */
static int32_t operand_slot(const struct graph_op *o, int32_t tensor)
{
	return 2 * (o->first_tensor + tensor);
}

static int32_t carry_slot(const struct graph *g, int64_t carry)
{
	return (int32_t)(2 * g->tensor.n + carry);
}

static int32_t result_slot(const struct graph *g, int64_t value)
{
	return carry_slot(g, g->carry.n) + (int32_t)value;
}

void lower_start(struct lowered_cuts *out, struct arena *a, const struct graph *g)
{
	size_t values = (size_t)g->value.n + 1, ops = (size_t)g->op.n + 1;
	size_t slots = (size_t)result_slot(g, g->value.n);

	*out = (struct lowered_cuts){.arena = a, .nslots = (int32_t)slots};
	out->made = arena_alloc(a, values, sizeof(*out->made));
	out->runs_without = arena_alloc(a, ops, sizeof(*out->runs_without));
	out->in_slot = arena_alloc(a, slots, sizeof(*out->in_slot));
	out->filled = arena_alloc(a, slots, sizeof(*out->filled));
	out->next = arena_alloc(a, slots, sizeof(*out->next));
	out->first_slot = arena_alloc(a, values, sizeof(*out->first_slot));
	memset(out->first_slot, -1, values * sizeof(*out->first_slot));
	out->value = arena_alloc(a, values, sizeof(*out->value));
	out->op = arena_alloc(a, ops, sizeof(*out->op));
	out->stale_value = arena_alloc(a, values, sizeof(*out->stale_value));
	out->stale_op = arena_alloc(a, ops, sizeof(*out->stale_op));
	out->stale_set = arena_alloc(a, values, sizeof(*out->stale_set));
	out->sum = arena_alloc(a, values, sizeof(*out->sum));
	out->was = arena_alloc(a, values, sizeof(*out->was));
	out->set = arena_alloc(a, values, sizeof(*out->set));
	out->first_of = arena_alloc(a, values, sizeof(*out->first_of));
	out->of = arena_alloc(a, values, sizeof(*out->of));
	find_sets(out, g);
	for (int32_t v = 0; v < g->value.n; v++)
		if (g->value.at[v].result && g->value.at[v].becomes >= 0)
			*list_add(&out->in_place, a) = v;
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
		uint8_t own = g->value.at[v].constant || l->sum[v].reduced
		                      ? 0
		                      : l->sum[v].axes;

		if (!own || (axes && own != axes))
			return 0;
		axes = own;
	}
	return axes;
}

static void find_partial(struct lowered_cuts *l, const struct cutting *c, int32_t v)
{
	const struct graph_value *value = &c->graph->value.at[v];
	const struct graph_op *o = &c->graph->op.at[value->op];
	struct partial_sum *sum = &l->sum[v];

	sum->waits = o->linear ? waiting_axes(l, c->graph, o) : 0;
	sum->axes = sum->waits |
	            (c->op[value->op].n ? summed_axes(c, value->op, o->nin + value->out)
	                                : 0);
	l->runs_without[value->op] = sum->waits;
}

/* Reduces a partial sum that a user cannot take; returns whether it was none of these before. */
static bool reduce_partial(struct lowered_cuts *l, const struct graph *g, int32_t v)
{
	const struct graph_value *value = &g->value.at[v];
	bool now = value->result || !value->nusers;

	if (!l->sum[v].axes || l->sum[v].reduced || value->constant)
		return false;
	for (int32_t i = 0; i < value->nusers && !now; i++)
		now = l->runs_without[g->user.at[value->first_user + i]] !=
		      l->sum[v].axes;
	l->sum[v].reduced = now;
	return now;
}

/* --- what changes ----------------------------------------------------------------- */

static void change_value(struct lowered_cuts *l, const struct graph *g, int32_t v)
{
	if (l->stale_value[v] || g->value.at[v].constant)
		return;
	l->stale_value[v] = true;
	*list_add(&l->changed_value, l->arena) = v;
}

/* An op that runs otherwise needs and makes other forms. */
static void change_op(struct lowered_cuts *l, const struct graph *g, int32_t op)
{
	const struct graph_op *o = &g->op.at[op];

	if (l->stale_op[op])
		return;
	l->stale_op[op] = true;
	*list_add(&l->changed_op, l->arena) = op;
	for (int32_t t = 0; t < o->nin + o->nout; t++)
		change_value(l, g, g->tensor.at[o->first_tensor + t].value);
}

/* The sums of values that hang together. */
static void find_set(struct lowered_cuts *l, const struct graph *g,
                     const struct cutting *c, int32_t set)
{
	const int32_t *of = l->of + l->first_of[set];
	int32_t n = l->first_of[set + 1] - l->first_of[set];
	bool more = true;

	for (int32_t i = 0; i < n; i++) {
		l->was[i] = l->sum[of[i]];
		l->sum[of[i]].reduced = false;
	}
	while (more) {
		more = false;
		for (int32_t i = 0; i < n; i++)
			if (g->value.at[of[i]].op >= 0)
				find_partial(l, c, of[i]);
		for (int32_t i = 0; i < n; i++)
			more |= reduce_partial(l, g, of[i]);
	}
	for (int32_t i = 0; i < n; i++) {
		const struct partial_sum *now = &l->sum[of[i]];

		if (now->waits != l->was[i].waits)
			change_op(l, g, g->value.at[of[i]].op);
		if (now->axes != l->was[i].axes || now->reduced != l->was[i].reduced)
			change_value(l, g, of[i]);
	}
}

/* The first from `i` on whose cuts are not what the last call found; n: there is none. */
static int32_t next_change(const struct cuts *was, const struct cuts *now, int32_t i,
                           int32_t n)
{
	enum { BLOCK = 64 };

	for (; i < n; i++) {
		int32_t some = n - i < BLOCK ? n - i : BLOCK;

		if (i % BLOCK == 0 &&
		    !memcmp(was + i, now + i, (size_t)some * sizeof(*was)))
			i += some - 1;
		else if (!cuts_equal(&was[i], &now[i]))
			return i;
	}
	return n;
}

static void find_changes(struct lowered_cuts *l, const struct cutting *c)
{
	const struct graph *g = c->graph;
	int32_t values = (int32_t)g->value.n, ops = (int32_t)g->op.n;

	for (int32_t i = 0; (i = next_change(l->op, c->op, i, ops)) < ops; i++) {
		const struct graph_op *o = &g->op.at[i];

		l->op[i] = c->op[i];
		change_op(l, g, i);
		for (int32_t t = o->nin; t < o->nin + o->nout; t++) {
			int32_t set = l->set[g->tensor.at[o->first_tensor + t].value];

			if (!l->stale_set[set])
				*list_add(&l->stale, l->arena) = set;
			l->stale_set[set] = true;
		}
	}
	for (int32_t v = 0; (v = next_change(l->value, c->value, v, values)) < values;
	     v++) {
		l->value[v] = c->value[v];
		change_value(l, g, v);
	}
	for (int64_t i = 0; i < g->carry.n; i++)
		if (l->stale_value[g->carry.at[i].from])
			change_value(l, g, g->carry.at[i].to);
	for (int64_t i = 0; i < l->in_place.n; i++)
		if (l->stale_value[g->value.at[l->in_place.at[i]].becomes])
			change_value(l, g, l->in_place.at[i]);
	for (int64_t i = 0; i < l->stale.n; i++) {
		find_set(l, g, c, l->stale.at[i]);
		l->stale_set[l->stale.at[i]] = false;
	}
	l->stale.n = 0;
}

/* --- steps ------------------------------------------------------------------------ */

static struct transfer_step *add_step(struct lowered_cuts *l, const struct graph *g,
                                      int32_t value, enum op op, int32_t slot)
{
	struct transfer_step *s = &l->in_slot[slot];

	*s = (struct transfer_step){
		.op = op, .value = value, .weight = g->value.at[value].weight};
	l->filled[slot] = true;
	l->next[slot] = l->first_slot[value];
	l->first_slot[value] = slot;
	return s;
}

/* A reduction of a value where it is made. */
static void add_sum(struct lowered_cuts *l, const struct graph *g, int32_t v,
                    enum op op, uint8_t axes, struct cuts to, int32_t slot)
{
	struct transfer_step *s = add_step(l, g, v, op, slot);
	int32_t made_by = g->value.at[v].op;

	s->axes = axes;
	s->from = op == OP_ALL_REDUCE ? to : l->made[v];
	s->to = to;
	s->before = s->until = made_by;
	s->phase = g->op.at[made_by].phase;
}

/* Reduces a partial sum; `made` has the form with which it is left. */
static void add_reduction(struct lowered_cuts *l, const struct cutting *c, int32_t v)
{
	const struct graph_value *value = &c->graph->value.at[v];
	const struct graph_op *o = &c->graph->op.at[value->op];
	const struct cuts *own = &c->value[v];
	uint8_t partial = l->sum[v].axes, scattered = 0;
	int32_t slot = operand_slot(o, o->nin + value->out);
	struct cuts to = l->made[v];

	for (int i = 0; i < own->n; i++) {
		int64_t shards =
			cuts_shards(&to, c->size, own->at[i]) * c->size[own->axis[i]];

		/* The op may cut the dimension on axes on which the value is whole. */
		if (!(partial >> own->axis[i] & 1) ||
		    value->type->dim[own->at[i]] % shards)
			continue;
		cuts_add(&to, own->axis[i], own->at[i]);
		scattered |= (uint8_t)(1 << own->axis[i]);
	}
	to = cuts_sorted(&to);
	if (scattered)
		add_sum(l, c->graph, v, OP_REDUCE_SCATTER, scattered, to, slot);
	if (partial & ~scattered)
		add_sum(l, c->graph, v, OP_ALL_REDUCE, partial & (uint8_t)~scattered,
		        to, slot + 1);
	l->made[v] = to;
}

/* Brings a value to a form that an op needs, unless an op of the phase had it so. */
static void need(struct lowered_cuts *l, const struct cutting *c, int32_t v,
                 struct cuts form, int32_t op, enum phase phase, int32_t slot)
{
	struct transfer_step *s;

	if (cuts_equal(&l->made[v], &form))
		return;
	for (int32_t i = l->first_slot[v]; i >= 0; i = l->next[i]) {
		s = &l->in_slot[i];
		if (s->op != OP_EXCHANGE || s->phase != phase ||
		    !cuts_equal(&s->to, &form))
			continue;
		s->until = op < 0 ? s->until : op;
		return;
	}
	s = add_step(l, c->graph, v, OP_EXCHANGE, slot);
	s->from = l->made[v];
	s->to = form;
	s->before = s->until = op;
	s->phase = phase;
}

/* What ops need of a value, loops that hand it on, and the program that results in it. */
static void add_needs(struct lowered_cuts *l, const struct cutting *c, int32_t v)
{
	const struct graph *g = c->graph;
	const struct graph_value *value = &g->value.at[v];

	for (int32_t k = 0; k < value->nusers; k++) {
		int32_t op = g->user.at[value->first_user + k];
		const struct graph_op *o = &g->op.at[op];

		for (int32_t t = 0; t < o->nin; t++)
			if (g->tensor.at[o->first_tensor + t].value == v)
				need(l, c, v, lower_form(l, c, op, t), op, o->phase,
				     operand_slot(o, t));
	}
	for (int64_t i = 0; i < g->carry.n && value->op >= 0; i++)
		if (g->carry.at[i].to == v)
			need(l, c, v, cuts_sorted(&c->value[g->carry.at[i].from]),
			     value->op, g->op.at[value->op].phase, carry_slot(g, i));
	if (value->result)
		need(l, c, v,
		     cuts_sorted(&c->value[value->becomes >= 0 ? value->becomes : v]),
		     -1, PHASE_UPDATE, result_slot(g, v));
}

/* All steps of a value, and how it is made. */
static void move_value(struct lowered_cuts *l, const struct cutting *c, int32_t v)
{
	const struct graph *g = c->graph;
	const struct graph_value *value = &g->value.at[v];

	for (int32_t i = l->first_slot[v]; i >= 0; i = l->next[i])
		l->filled[i] = false;
	l->first_slot[v] = -1;
	/* Sums that wait keep the form in which they were made. */
	l->made[v] = value->op < 0 ? cuts_sorted(&c->value[v])
	                           : lower_form(l, c, value->op,
	                                        g->op.at[value->op].nin + value->out);
	if (l->sum[v].axes && l->sum[v].reduced)
		add_reduction(l, c, v);
	add_needs(l, c, v);
}

static void list_steps(struct lowered_cuts *l)
{
	const bool *end = l->filled + l->nslots, *at = l->filled;

	l->step.n = l->slot.n = 0;
	while ((at = memchr(at, true, (size_t)(end - at)))) {
		int32_t slot = (int32_t)(at++ - l->filled);

		*list_add(&l->step, l->arena) = l->in_slot[slot];
		*list_add(&l->slot, l->arena) = slot;
	}
}

void lower_cuts(struct lowered_cuts *l, const struct cutting *c)
{
	for (int64_t i = 0; i < l->changed_op.n; i++)
		l->stale_op[l->changed_op.at[i]] = false;
	for (int64_t i = 0; i < l->changed_value.n; i++)
		l->stale_value[l->changed_value.at[i]] = false;
	l->changed_op.n = l->changed_value.n = 0;
	find_changes(l, c);
	for (int64_t i = 0; i < l->changed_value.n; i++)
		move_value(l, c, l->changed_value.at[i]);
	if (l->changed_value.n)
		list_steps(l);
}
