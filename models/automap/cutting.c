#include "automap/cutting.h"

#include "base/assert.h"

#include <string.h>

/* The trail holds a number and what was done with it. */
enum { DID_VALUE, DID_OP, DID_ATOMIC, DID_SUMS, DID_EXPERTS, DID_KINDS };

void cutting_start(struct cutting *out, struct arena *a, const struct graph *g,
                   int naxes, const int32_t *size)
{
	assert(naxes <= CUT_AXES);
	*out = (struct cutting){.graph = g, .arena = a, .naxes = naxes};
	for (int i = 0; i < naxes; i++) {
		out->size[i] = size[i];
		out->sums[i] = -1;
	}
	out->value = arena_alloc(a, (size_t)g->value.n + 1, sizeof(*out->value));
	out->op = arena_alloc(a, (size_t)g->op.n + 1, sizeof(*out->op));
	out->atomic = arena_alloc(a, (size_t)g->value.n + 1, sizeof(*out->atomic));
	out->changed = arena_alloc(a, (size_t)cutting_parts(out) + 1, sizeof(bool));
	out->queued = arena_alloc(a, (size_t)g->op.n + 1, sizeof(*out->queued));
}

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

/* --- parts ------------------------------------------------------------------------ */

static int32_t count(const struct cutting *c)
{
	return (int32_t)(c->graph->value.n + c->graph->op.n);
}

int32_t cutting_parts(const struct cutting *c)
{
	return (count(c) + CUT_PART - 1) / CUT_PART;
}

static void change_part(struct cutting *c, int kind, int32_t number)
{
	int32_t at = kind == DID_OP ? (int32_t)c->graph->value.n + number : number;

	c->changed[at / CUT_PART] = true;
}

size_t cutting_key(uint8_t *out, const struct cutting *c, int32_t part)
{
	int32_t values = (int32_t)c->graph->value.n, first = part * CUT_PART;
	int32_t end = first + CUT_PART < count(c) ? first + CUT_PART : count(c);
	uint8_t *at = out;

	for (int32_t i = first; i < end; i++) {
		const struct cuts *own = i < values ? &c->value[i] : &c->op[i - values];
		struct cuts sorted;

		*at++ = own->n;
		*at++ = i < values ? c->atomic[i] : 0;
		if (!own->n)
			continue;
		if (own->n > 1) {
			sorted = cuts_sorted(own);
			own = &sorted;
		}
		/* All of them, which is quicker; what is behind the n-th is written over. */
		memcpy(at, own->axis, sizeof(own->axis));
		at += own->n;
		memcpy(at, own->at, sizeof(own->at));
		at += own->n * sizeof(*own->at);
	}
	return (size_t)(at - out);
}

/* --- the trail -------------------------------------------------------------------- */

/* Notes one more axis of a value or an op. */
static void note(struct cutting *c, int kind, int32_t number, struct cuts *cuts,
                 int axis, int at)
{
	change_part(c, kind, number);
	cuts_add(cuts, axis, at);
	*list_add(&c->trail, c->arena) = number * DID_KINDS + kind;
}

static void take_back(struct cutting *c, int kind, int32_t number, struct cuts *cuts)
{
	int last = --cuts->n;

	change_part(c, kind, number);
	cuts->mask &= (uint8_t) ~(1 << cuts->axis[last]);
	cuts->axis[last] = 0;
	cuts->at[last] = 0;
}

void cutting_undo(struct cutting *c, int64_t mark)
{
	while (c->trail.n > mark) {
		int32_t did = c->trail.at[--c->trail.n], number = did / DID_KINDS;
		int axis;

		switch (did % DID_KINDS) {
		case DID_VALUE:
			take_back(c, DID_VALUE, number, &c->value[number]);
			break;
		case DID_OP:
			take_back(c, DID_OP, number, &c->op[number]);
			break;
		case DID_SUMS:
			c->sums[number] = -1;
			break;
		case DID_EXPERTS:
			c->experts &= (uint8_t) ~(1 << number);
			break;
		default:
			axis = number % CUT_AXES;
			number /= CUT_AXES;
			c->atomic[number] &= (uint8_t) ~(1 << axis);
			change_part(c, DID_ATOMIC, number);
		}
	}
}

bool cutting_runs_since(const struct cutting *c, int64_t mark)
{
	for (int64_t i = mark; i < c->trail.n; i++)
		if (c->trail.at[i] % DID_KINDS == DID_OP &&
		    c->graph->op.at[c->trail.at[i] / DID_KINDS].phase != PHASE_UPDATE)
			return true;
	return false;
}

/* --- actions ---------------------------------------------------------------------- */

static void enqueue(struct cutting *c, int32_t op)
{
	if (op < 0 || c->queued[op])
		return;
	c->queued[op] = true;
	*list_add(&c->queue, c->arena) = op;
}

static void enqueue_around(struct cutting *c, int32_t value)
{
	const struct graph_value *v = &c->graph->value.at[value];

	enqueue(c, v->op);
	for (int32_t i = 0; i < v->nusers; i++)
		enqueue(c, c->graph->user.at[v->first_user + i]);
}

bool cutting_may(const struct cutting *c, int32_t value, int32_t dim, int axis)
{
	const struct graph_value *v = &c->graph->value.at[value];
	int64_t shards;

	if ((c->value[value].mask | c->atomic[value]) >> axis & 1 || v->constant ||
	    dim >= v->type->rank)
		return false;
	shards = cuts_shards(&c->value[value], c->size, dim) * c->size[axis];
	return v->type->dim[dim] % shards == 0;
}

bool cutting_cut(struct cutting *c, int32_t value, int32_t dim, int axis)
{
	int32_t v = value;
	bool any = false;

	do {
		if (cutting_may(c, v, dim, axis)) {
			note(c, DID_VALUE, v, &c->value[v], axis, dim);
			enqueue_around(c, v);
			any = true;
		}
		v = c->graph->value.at[v].alike;
	} while (any && v != value);
	return any;
}

void cutting_atomic(struct cutting *c, int32_t value, int axis)
{
	if (c->atomic[value] >> axis & 1)
		return;
	c->atomic[value] |= (uint8_t)(1 << axis);
	change_part(c, DID_ATOMIC, value);
	*list_add(&c->trail, c->arena) =
		(value * CUT_AXES + axis) * DID_KINDS + DID_ATOMIC;
}

void cutting_note_sums(struct cutting *c, int32_t dim, int axis)
{
	if (c->sums[axis] >= 0)
		return;
	c->sums[axis] = (int8_t)dim;
	*list_add(&c->trail, c->arena) = axis * DID_KINDS + DID_SUMS;
}

void cutting_note_experts(struct cutting *c, int axis)
{
	if (c->experts >> axis & 1)
		return;
	c->experts |= (uint8_t)(1 << axis);
	*list_add(&c->trail, c->arena) = axis * DID_KINDS + DID_EXPERTS;
}

/* --- propagation ------------------------------------------------------------------ */

/*
 * The factor of a dimension that its next axis is on: the first one that is not cut to
 * the end. -1: none is left.
 */
static int32_t open_factor(const struct cutting *c, int32_t op,
                           const struct graph_dim *d)
{
	const struct graph *g = c->graph;
	const struct graph_op *o = &g->op.at[op];

	for (int32_t k = 0; k < d->n; k++) {
		int32_t f = g->factor_of.at[d->first + k];
		int64_t size = g->factor.at[o->first_factor + f].size;

		if (size > 1 && cuts_shards(&c->op[op], c->size, f) < size)
			return f;
	}
	return -1;
}

/* Whether a factor can take an axis: evenly, and as the next one wherever it is. */
static bool factor_takes(const struct cutting *c, int32_t op, int32_t f, int axis)
{
	const struct graph *g = c->graph;
	const struct graph_op *o = &g->op.at[op];
	const struct graph_factor *factor = &g->factor.at[o->first_factor + f];

	if (factor->fixed ||
	    factor->size % (cuts_shards(&c->op[op], c->size, f) * c->size[axis]) != 0)
		return false;
	for (int32_t i = 0; i < factor->nuses; i++) {
		const struct factor_use *u = &g->use.at[factor->first_use + i];

		if (u->place && open_factor(c, op,
		                            graph_dim_of(g, o->first_tensor + u->tensor,
		                                         u->dim)) != f)
			return false;
	}
	return true;
}

/*
 * The factor on which operands and results have an axis; -1: none, or several, of which
 * `first` wants the first one.
 */
static int32_t candidate(const struct cutting *c, int32_t op, int axis, bool first)
{
	const struct graph *g = c->graph;
	const struct graph_op *o = &g->op.at[op];
	int32_t found = -1;

	for (int32_t t = 0; t < o->nin + o->nout; t++) {
		int32_t value = g->tensor.at[o->first_tensor + t].value, f;
		int dim = cuts_at(&c->value[value], axis);

		if (dim < 0)
			continue;
		f = open_factor(c, op, graph_dim_of(g, o->first_tensor + t, dim));
		if (f < 0 || f == found || !factor_takes(c, op, f, axis))
			continue;
		if (first)
			return f;
		if (found >= 0)
			return -1;
		found = f;
	}
	return found;
}

/* Runs the op in parallel along a factor, and cuts what it reads and makes. */
static void take(struct cutting *c, int32_t op, int32_t f, int axis)
{
	const struct graph *g = c->graph;
	const struct graph_op *o = &g->op.at[op];
	const struct graph_factor *factor = &g->factor.at[o->first_factor + f];

	note(c, DID_OP, op, &c->op[op], axis, f);
	for (int32_t i = 0; i < factor->nuses; i++) {
		const struct factor_use *u = &g->use.at[factor->first_use + i];
		int32_t value = g->tensor.at[o->first_tensor + u->tensor].value;

		if (!(c->value[value].mask >> axis & 1))
			cutting_cut(c, value, u->dim, axis);
	}
}

static void visit(struct cutting *c, int32_t op)
{
	const struct graph_op *o = &c->graph->op.at[op];
	const struct graph_tensor *t = &c->graph->tensor.at[o->first_tensor];
	unsigned axes = 0;

	if (!o->nfactors)
		return;
	for (int32_t i = 0; i < o->nin + o->nout; i++)
		axes |= c->value[t[i].value].mask;
	axes &= ~(unsigned)c->op[op].mask;
	for (int axis = 0; axes >> axis; axis++) {
		int32_t f = axes >> axis & 1 ? candidate(c, op, axis, false) : -1;

		if (f >= 0)
			take(c, op, f, axis);
	}
}

void cutting_propagate(struct cutting *c)
{
	for (int64_t i = 0; i < c->queue.n; i++) {
		int32_t op = c->queue.at[i];

		c->queued[op] = false;
		visit(c, op);
	}
	c->queue.n = 0;
}

void cutting_settle(struct cutting *c, int axis)
{
	for (int32_t i = 0; i < c->graph->op.n; i++) {
		int32_t f;

		if (c->op[i].mask >> axis & 1 || !c->graph->op.at[i].nfactors)
			continue;
		f = candidate(c, i, axis, true);
		if (f < 0)
			continue;
		take(c, i, f, axis);
		cutting_propagate(c);
	}
}

bool cutting_group(struct cutting *c, int32_t group, int32_t dim, int axis)
{
	const struct graph_group *g = &c->graph->group.at[group];
	bool any = false;

	for (int32_t i = 0; i < g->n; i++)
		any |= cutting_cut(c, c->graph->member.at[g->first + i], dim, axis);
	if (any)
		cutting_propagate(c);
	return any;
}
