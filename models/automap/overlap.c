/*
 * A step whose collectives run beside its kernels: the steps of a set of cuts as a flat region for
 * program/timeline.h. Of a stretch of ops that stands for n layers three are run, one after another,
 * and every further one takes what a fourth would add.
 */
#include "automap/evaluate.h"

#include "program/timeline.h"

#include <math.h>
#include <string.h>

enum { COPIES = 3, LAYER_IDS = COPIES + 3 };

struct laid {
	const struct evaluator *e;
	const struct cutting *c;
	const struct graph *g;
	struct arena *a;
	double more;   /* stretches that stand for so many have one copy more */
	double weight; /* of the stretch that is added, */
	int32_t copy, first, last; /* and which copy of it, from op to op */
	struct flat flat;
	LIST(struct timed_step) step;
	LIST(struct timeline_fact) fact;
	LIST(uint8_t) axes; /* of a step whose waiting counts, over which it talks */
	int32_t *at;    /* [values] the flat value that it is by now; -1: not made */
	int32_t *moved; /* [slots of transfer steps] what it makes; -1: not yet */
	int32_t *first_of,
		*next; /* [ops + 1], [transfer steps] in front of each op, in order */
};

void evaluator_overlap(struct evaluator *e, struct arena *a)
{
	const struct graph *g = e->graph;
	const struct repeats *r = g->repeats;

	e->overlap = true;
	e->next_instance = arena_alloc(a, (size_t)g->value.n + 1, sizeof(int32_t));
	for (int64_t i = 0; i < g->value.n; i++) {
		const struct graph_value *v = &g->value.at[i];
		const struct flat_step *one, *next;
		int32_t step = v->op < 0 ? -1 : g->op.at[v->op].step;
		int32_t run = step < 0 ? -1 : r->run_of[step];

		e->next_instance[i] = -1;
		if (run < 0 || !r->run.at[run].folded || repeat_instance(r, step) > 0)
			continue;
		one = &g->flat->step.at[step];
		next = &g->flat->step.at[step + r->run.at[run].period];
		e->next_instance[i] =
			g->value_of[next->first_out + v->flat - one->first_out];
	}
}

/* --- steps of the region ---------------------------------------------------------- */

static void add_input(struct laid *r, int32_t value)
{
	if (value < 0)
		return;
	*list_add(&r->flat.in, r->a) = value;
	r->flat.step.at[r->flat.step.n - 1].nin++;
}

/* Adds a step without operands that makes so many values; returns the first of these. */
static int32_t add_step(struct laid *r, struct timed_step timed,
                        struct timeline_fact fact, uint8_t axes, int32_t nout)
{
	int32_t first = (int32_t)r->flat.value.n, step = (int32_t)r->flat.step.n;

	*list_add(&r->flat.step, r->a) =
		(struct flat_step){.first_in = (int32_t)r->flat.in.n,
	                           .first_out = first,
	                           .nout = nout,
	                           .times = 1};
	*list_add(&r->step, r->a) = timed;
	*list_add(&r->fact, r->a) = fact;
	*list_add(&r->axes, r->a) = axes;
	for (int32_t i = 0; i < nout; i++)
		*list_add(&r->flat.value, r->a) = (struct flat_value){.step = step};
	return first;
}

/* What a value is to an op of this copy: of the layer before, not of the first one. */
static int32_t value_here(const struct laid *r, int32_t v)
{
	int32_t next = r->copy > 0 ? r->e->next_instance[v] : -1;

	if (next >= 0 && r->g->value.at[next].op >= r->first &&
	    r->g->value.at[next].op <= r->last && r->at[next] >= 0)
		return r->at[next];
	return r->at[v];
}

/* Numbers rise from layer to layer in the order of the text; -1: an op is in none. */
static int32_t layer_here(const struct laid *r, int32_t op)
{
	const struct repeats *of = r->g->repeats;
	int32_t step = r->g->op.at[op].step, run = of->run_of[step], instance;

	if (run < 0)
		return -1;
	instance = repeat_instance(of, step);
	if (of->run.at[run].folded && instance > 1)
		instance = LAYER_IDS - 1;
	return of->run.at[run].first + instance + r->copy;
}

/* `op` is that in front of which, or behind which it runs; -1: it is behind the last one. */
static void add_transfer(struct laid *r, int32_t number, int32_t op)
{
	const struct transfer_step *s = &r->e->lowered.step.at[number];
	const struct cut_prices *t = r->e->tariff;
	const struct graph_value *v = &r->g->value.at[s->value];
	bool each = op >= 0 && s->weight == r->weight;
	bool counts = !(r->more > 0) || (r->weight == r->more && r->copy == COPIES);
	double seconds = r->e->moved_s.at[number] / (each ? r->weight : 1);
	int32_t from = value_here(r, s->value), made;
	uint8_t axes = transfer_axes(s);

	/* What is common to all layers moves once. */
	if (!each && r->copy > 0)
		return;
	made = add_step(
		r,
		(struct timed_step){seconds,
	                            (int8_t)(axes ? t->stream(t->self, axes) : -1)},
		(struct timeline_fact){!axes, op < 0 ? -1 : layer_here(r, op),
	                               v->bytes / (double)cuts_all(&s->to, r->c->size)},
		counts ? axes : 0, 1);
	add_input(r, from);
	if (s->op == OP_EXCHANGE)
		r->moved[r->e->lowered.slot.at[number]] = made;
	else
		r->at[s->value] = made;
}

/* Those of an op: what is made by the op itself moves behind it. */
static void add_transfers(struct laid *r, int32_t op, bool behind)
{
	for (int32_t i = r->first_of[op]; i >= 0; i = r->next[i])
		if ((r->g->value.at[r->e->lowered.step.at[i].value].op == op) == behind)
			add_transfer(r, i, op);
}

/* The flat value that an op reads: the value, or what is moved for it. */
static int32_t operand(const struct laid *r, int32_t op, int32_t tensor)
{
	const struct lowered_cuts *l = &r->e->lowered;
	const struct graph_op *o = &r->g->op.at[op];
	int32_t v = r->g->tensor.at[o->first_tensor + tensor].value;
	struct cuts form;

	if (r->g->value.at[v].constant)
		return -1;
	if (l->first_slot[v] < 0)
		return value_here(r, v);
	form = lower_form(l, r->c, op, tensor);
	for (int32_t i = l->first_slot[v]; i >= 0; i = l->next[i])
		if (l->in_slot[i].op == OP_EXCHANGE && l->in_slot[i].phase == o->phase &&
		    r->moved[i] >= 0 && cuts_equal(&l->in_slot[i].to, &form))
			return r->moved[i];
	return value_here(r, v);
}

static bool op_forms(const struct graph *g, const struct graph_op *o)
{
	enum op_class c = opcode_class(graph_instruction(g, o)->code);

	return c == CLASS_FREE || c == CLASS_ELEMENTWISE || c == CLASS_MOVE;
}

/* Seconds of the op's kernel in one layer. */
static double kernel_s(const struct evaluator *e, int32_t op)
{
	double s = 0;

	for (int32_t i = e->first_kernel[op]; i < e->first_kernel[op + 1]; i++)
		if (e->graph->kernel.at[e->kernel[i]].op == op)
			s = fmax(0, e->kernel_s[e->kernel[i]]);
	return s;
}

static void add_op(struct laid *r, int32_t op)
{
	const struct graph_op *o = &r->g->op.at[op];
	int32_t made;

	add_transfers(r, op, false);
	made = add_step(r, (struct timed_step){kernel_s(r->e, op), -1},
	                (struct timeline_fact){op_forms(r->g, o), -1, 0}, 0, o->nout);
	for (int32_t t = 0; t < o->nin; t++)
		add_input(r, operand(r, op, t));
	for (int32_t t = 0; t < o->nout; t++)
		r->at[r->g->tensor.at[o->first_tensor + o->nin + t].value] = made + t;
	add_transfers(r, op, true);
}

/* Adds the ops from `first` to `last`, all of one weight, as often as they are run. */
static void add_stretch(struct laid *r, int32_t first, int32_t last)
{
	double n = r->g->op.at[first].weight;
	int32_t copies = (int32_t)fmin(n, COPIES + (n == r->more));

	r->first = first;
	r->last = last;
	r->weight = n;
	for (r->copy = 0; r->copy < copies; r->copy++)
		for (int32_t i = first; i <= last; i++)
			add_op(r, i);
	r->copy = 0;
}

static int32_t stretch_end(const struct graph *g, int32_t first)
{
	int32_t last = first;

	while (last + 1 < g->op.n && g->op.at[last + 1].weight == g->op.at[first].weight)
		last++;
	return last;
}

/* Chains the transfer steps to their ops, those behind the last one to the end. */
static void chain_transfers(struct laid *r)
{
	const struct lowered_cuts *l = &r->e->lowered;
	size_t ops = (size_t)r->g->op.n + 1;

	r->first_of = arena_alloc(r->a, ops, sizeof(*r->first_of));
	r->next = arena_alloc(r->a, (size_t)l->step.n + 1, sizeof(*r->next));
	r->moved = arena_alloc(r->a, (size_t)l->nslots, sizeof(*r->moved));
	memset(r->first_of, -1, ops * sizeof(*r->first_of));
	memset(r->moved, -1, (size_t)l->nslots * sizeof(*r->moved));
	for (int32_t i = (int32_t)l->step.n - 1; i >= 0; i--) {
		int32_t before = l->step.at[i].before;
		int32_t *first = &r->first_of[before < 0 ? r->g->op.n : before];

		r->next[i] = *first;
		*first = i;
	}
}

static void add_arguments(struct laid *r)
{
	size_t size = (size_t)r->g->value.n + 1;

	r->at = arena_alloc(r->a, size, sizeof(*r->at));
	memset(r->at, -1, size * sizeof(*r->at));
	for (int32_t v = 0; v < r->g->value.n && r->g->value.at[v].op < 0; v++) {
		r->at[v] = (int32_t)r->flat.value.n;
		*list_add(&r->flat.value, r->a) = (struct flat_value){.step = -1};
	}
}

/*
 * Seconds with one copy more of the stretches that stand for `more` layers; 0: of none. How long
 * kernels wait for collectives, of that copy or else of all, is added to exposed_s so many times.
 */
static double run_line(const struct evaluator *e, const struct cutting *c, double more,
                       double *exposed_s, double times)
{
	struct laid r = {.e = e, .c = c, .g = e->graph, .a = arena_new(), .more = more};
	struct timeline line;

	chain_transfers(&r);
	add_arguments(&r);
	for (int32_t i = 0, last; i < r.g->op.n; i = last + 1) {
		last = stretch_end(r.g, i);
		add_stretch(&r, i, last);
	}
	for (int32_t i = r.first_of[r.g->op.n]; i >= 0; i = r.next[i])
		add_transfer(&r, i, -1);
	timeline_run(&line, r.a,
	             &(struct timeline_ask){NULL, &r.flat, r.step.at, OVERLAP_ASYNC, 1,
	                                    r.fact.at});
	for (int64_t i = 0; i < r.axes.n && exposed_s; i++)
		if (r.axes.at[i])
			exposed_s[r.axes.at[i]] += times * line.exposed[i];
	arena_free(r.a);
	return line.s;
}

double evaluation_overlapped_s(const struct evaluator *e, const struct cutting *c,
                               double *exposed_s)
{
	const struct graph *g = e->graph;
	double least = run_line(e, c, 0, exposed_s, 1), s = least;

	/* Stretches of equally many layers together, each number once. */
	for (int32_t i = 0, last; i < g->op.n; i = last + 1) {
		double n = g->op.at[i].weight;
		bool known = n <= COPIES;

		last = stretch_end(g, i);
		for (int32_t k = 0; k < i && !known; k++)
			known = g->op.at[k].weight == n;
		if (!known)
			s += (n - COPIES) *
			     (run_line(e, c, n, exposed_s, n - COPIES) - least);
	}
	return s;
}
