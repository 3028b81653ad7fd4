#include "automap/evaluate.h"

#include "program/kernels.h"

#include <math.h>
#include <string.h>

const char *count_name(int count)
{
	static const char *const names[COUNTS] = {"all-gather", "all-reduce",
	                                          "reduce-scatter", "all-to-all"};

	return names[count];
}

/* Made by the passes and read by updates alone. */
static bool is_gradient(const struct graph *g, const struct graph_value *v)
{
	if (v->op < 0 || v->result || v->constant || !v->nusers ||
	    g->op.at[v->op].phase == PHASE_UPDATE)
		return false;
	for (int32_t k = 0; k < v->nusers; k++)
		if (g->op.at[g->user.at[v->first_user + k]].phase != PHASE_UPDATE)
			return false;
	return true;
}

int count_of(enum op op)
{
	switch (op) {
	case OP_ALL_GATHER:
		return COUNT_GATHER;
	case OP_ALL_REDUCE:
		return COUNT_REDUCE;
	case OP_REDUCE_SCATTER:
		return COUNT_SCATTER;
	case OP_ALL_TO_ALL:
		return COUNT_ALL_TO_ALL;
	default:
		return -1;
	}
}

/* For each op the kernels that read or write as it runs. */
static void list_kernels(struct evaluator *e, struct arena *a)
{
	const struct graph *g = e->graph;
	int32_t *last = arena_alloc(a, (size_t)g->op.n + 1, sizeof(*last)), at = 0;

	e->first_kernel = arena_alloc(a, (size_t)g->op.n + 2, sizeof(int32_t));
	e->kernel =
		arena_alloc(a, (size_t)(g->kernel.n + g->leaf.n) + 1, sizeof(int32_t));
	for (int64_t i = 0; i < g->kernel.n; i++)
		e->first_kernel[g->kernel.at[i].op]++;
	for (int64_t i = 0; i < g->leaf.n; i++)
		e->first_kernel[g->leaf.at[i].op]++;
	for (int64_t i = 0; i <= g->op.n; i++) {
		int32_t n = e->first_kernel[i];

		last[i] = e->first_kernel[i] = at;
		at += n;
	}
	for (int32_t i = 0; i < g->kernel.n; i++) {
		const struct graph_kernel *k = &g->kernel.at[i];

		e->kernel[last[k->op]++] = i;
		for (int32_t n = 0; n < k->nleaves; n++)
			e->kernel[last[g->leaf.at[k->first_leaf + n].op]++] = i;
	}
}

void evaluator_start(struct evaluator *out, struct arena *a, const struct graph *g,
                     const struct cut_prices *tariff)
{
	size_t values = (size_t)g->value.n + 1, ops = (size_t)g->op.n + 1;

	*out = (struct evaluator){.graph = g, .tariff = tariff};
	lower_start(&out->lowered, a, g);
	out->alloc = arena_alloc(a, ops, sizeof(*out->alloc));
	out->release = arena_alloc(a, ops, sizeof(*out->release));
	out->times = arena_alloc(a, ops, sizeof(*out->times));
	out->gradient = arena_alloc(a, values, sizeof(*out->gradient));
	out->again = arena_alloc(a, values, sizeof(*out->again));
	out->last_forward = arena_alloc(a, values, sizeof(*out->last_forward));
	out->cost = arena_alloc(a, (size_t)out->lowered.nslots, sizeof(*out->cost));
	out->held_bytes = arena_alloc(a, values, sizeof(*out->held_bytes));
	out->kernel_s = arena_alloc(a, (size_t)g->kernel.n + 1, sizeof(*out->kernel_s));
	out->stale = arena_alloc(a, (size_t)g->kernel.n + 1, sizeof(*out->stale));
	list_kernels(out, a);
	for (int64_t v = 0; v < g->value.n; v++) {
		out->gradient[v] = is_gradient(g, &g->value.at[v]);
		out->held_bytes[v] = g->value.at[v].bytes;
	}
	evaluator_repeat(out, a, 1, false);
}

/* --- micro batches and recomputation ---------------------------------------------- */

/* The layer of the forward pass that an op is in, as a number; -1: it is in none. */
static int32_t layer_of(const struct graph *g, int32_t op)
{
	const struct repeats *r = g->repeats;
	int32_t step = g->op.at[op].step, run = r->run_of[step], before = 0;

	if (run < 0 || g->op.at[op].phase != PHASE_FORWARD)
		return -1;
	for (int32_t i = 0; i < run; i++)
		before += r->run.at[i].n;
	return before + repeat_instance(r, step);
}

/*
 * Which values are computed again, and the last op of the forward pass that reads them: those that
 * kernels of their own layer alone read in the forward pass.
 */
static void find_again(struct evaluator *e)
{
	const struct graph *g = e->graph;

	for (int32_t i = 0; i < g->value.n; i++) {
		const struct graph_value *v = &g->value.at[i];

		e->again[i] = v->op < 0 || v->result ? -1 : layer_of(g, v->op);
		e->last_forward[i] = v->op;
	}
	for (int64_t i = 0; i < g->kernel.n; i++) {
		const struct graph_kernel *k = &g->kernel.at[i];

		if (g->op.at[k->op].phase != PHASE_FORWARD)
			continue;
		for (int32_t n = 0; n < k->nleaves; n++) {
			const struct graph_leaf *l = &g->leaf.at[k->first_leaf + n];
			int32_t v =
				g->tensor.at[g->op.at[l->op].first_tensor + l->tensor].value;

			e->last_forward[v] = k->op;
			if (layer_of(g, k->op) != e->again[v])
				e->again[v] = -1;
		}
	}
}

void evaluator_repeat(struct evaluator *e, struct arena *a, double micro_batches,
                      bool recompute)
{
	const struct graph *g = e->graph;

	e->micro_batches = micro_batches;
	e->nlayers = 0;
	for (int64_t i = 0; i < g->repeats->run.n; i++)
		e->nlayers += recompute ? g->repeats->run.at[i].n : 0;
	e->layer_bytes = arena_alloc(a, (size_t)e->nlayers + 1, sizeof(*e->layer_bytes));
	for (int32_t i = 0; i < g->op.n; i++)
		e->times[i] = g->op.at[i].phase == PHASE_UPDATE  ? 1
		              : recompute && layer_of(g, i) >= 0 ? 2 * micro_batches
		                                                 : micro_batches;
	if (recompute)
		find_again(e);
	else
		memset(e->again, -1, (size_t)g->value.n * sizeof(*e->again));
	memset(e->stale, true, (size_t)g->kernel.n * sizeof(*e->stale));
}

/* How often a step is taken in all. */
static double times_of(const struct evaluator *e, const struct transfer_step *s)
{
	const struct graph_value *v = &e->graph->value.at[s->value];
	double n = s->weight;

	/* What a loop reads of the outside is moved once, in front of it. */
	if (s->before >= 0 && v->op >= 0)
		n *= fmin(e->graph->op.at[s->before].times,
		          e->graph->op.at[v->op].times);
	if (s->before < 0 || (s->op == OP_ALL_REDUCE && e->gradient[s->value]))
		return n;
	return n * e->times[s->before];
}

/* --- collectives ------------------------------------------------------------------ */

/* Blocks of a gather lie as they must if no dimension outside a gathered one is larger than 1. */
static bool unpacks(const struct graph_value *v, const struct cuts *from,
                    const struct cuts *to, const int32_t *size)
{
	for (int i = 0; i < from->n; i++) {
		if (to->mask >> from->axis[i] & 1)
			continue;
		for (int d = 0; d < from->at[i]; d++)
			if (v->type->dim[d] / cuts_shards(from, size, d) > 1)
				return true;
	}
	return false;
}

/* One collective of a step, or a slice. */
static struct reshard_part part_alone(const struct evaluator *e, const struct cutting *c,
                                      const struct transfer_step *s,
                                      const struct hop *hop)
{
	const struct graph_value *v = &c->graph->value.at[s->value];
	const struct collective_ask ask = {
		.op = hop->op,
		.from = hop->from,
		.to = hop->to,
		.axes = s->axes,
		.bytes = v->bytes / (double)cuts_all(&hop->from, c->size),
		.unpack = hop->op == OP_ALL_GATHER &&
	                  unpacks(v, &hop->from, &hop->to, c->size)};

	return (struct reshard_part){
		hop->op, ask.bytes,
		e->tariff ? e->tariff->collective(e->tariff->self, &ask) : 0};
}

/* What a step takes each time, as it is planned, or where nobody plans it hop by hop. */
static void find_cost(struct evaluator *e, const struct cutting *c,
                      const struct transfer_step *s, struct transfer_cost *out)
{
	const struct cut_prices *t = e->tariff;
	const struct planned_reshard *planned = NULL;
	struct hop hop[HOPS_MAX] = {{s->op, s->from, s->to}};
	int n = s->op == OP_EXCHANGE ? reshard_hops(hop, &s->from, &s->to) : 1;

	if (n > 1 && t && t->reshard)
		planned = t->reshard(t->self, e->graph->value.at[s->value].type,
		                     &s->from, &s->to);
	if (planned) {
		out->of = *planned;
		return;
	}
	if (n > out->room) {
		out->own = arena_alloc(e->lowered.arena, (size_t)n, sizeof(*out->own));
		out->room = n;
	}
	out->of = (struct planned_reshard){n, out->own};
	for (int k = 0; k < n; k++)
		out->own[k] = part_alone(e, c, s, &hop[k]);
}

/* What differs from the last evaluation. */
static void find_costs(struct evaluator *e, const struct cutting *c)
{
	const struct lowered_cuts *l = &e->lowered;

	for (int64_t i = 0; i < l->changed_value.n; i++) {
		int32_t v = l->changed_value.at[i];
		const struct graph_value *value = &e->graph->value.at[v];
		const struct cuts *as = value->op < 0 ? &c->value[v] : &l->made[v];

		e->held_bytes[v] = value->bytes / (double)cuts_all(as, c->size);
		for (int32_t k = l->first_slot[v]; k >= 0; k = l->next[k])
			find_cost(e, c, &l->in_slot[k], &e->cost[k]);
	}
	for (int64_t i = 0; i < l->changed_op.n; i++) {
		int32_t op = l->changed_op.at[i];

		for (int32_t k = e->first_kernel[op]; k < e->first_kernel[op + 1]; k++)
			e->stale[e->kernel[k]] = true;
	}
}

static void add_part(struct evaluator *e, int32_t step, struct reshard_part part,
                     struct evaluation *out)
{
	double times = times_of(e, &e->lowered.step.at[step]);
	int count = count_of(part.op);

	*list_add(&e->moved, e->lowered.arena) =
		(struct moved){step, part.op, times, part.s};
	if (count < 0)
		return;
	out->count[count] += times;
	out->bytes[count] += times * part.bytes;
}

/* Adds up the seconds of the parts of a change from the first one on; returns them. */
static double add_seconds(struct evaluator *e, int64_t first, struct evaluation *out)
{
	struct moved *talks = NULL;
	double sum = 0;

	for (int64_t k = first; k < e->moved.n && !talks; k++)
		if (op_communicates(e->moved.at[k].op))
			talks = &e->moved.at[k];
	for (int64_t k = first; k < e->moved.n && talks; k++) {
		struct moved *m = &e->moved.at[k];

		if (op_communicates(m->op))
			continue;
		talks->s += m->s;
		m->s = 0;
	}
	for (int64_t k = first; k < e->moved.n; k++) {
		const struct moved *m = &e->moved.at[k];
		int count = count_of(m->op);
		double s = m->times * m->s;

		sum += s;
		*(talks ? &out->communication_s : &out->compute_s) += s;
		if (count >= 0)
			out->time_s[count] += s;
	}
	return sum;
}

static void add_steps(struct evaluator *e, struct evaluation *out)
{
	e->moved.n = e->moved_s.n = 0;
	for (int32_t i = 0; i < e->lowered.step.n; i++) {
		const struct planned_reshard *cost = &e->cost[e->lowered.slot.at[i]].of;
		int64_t first = e->moved.n;

		for (int k = 0; k < cost->n; k++)
			add_part(e, i, cost->part[k], out);
		*list_add(&e->moved_s, e->lowered.arena) = add_seconds(e, first, out);
	}
}

/* --- kernels ---------------------------------------------------------------------- */

/* Into how many parts a tensor of an op is cut where the op runs. */
static double parts(const struct evaluator *e, const struct cutting *c, int32_t op,
                    int32_t tensor)
{
	const struct graph *g = c->graph;
	const struct graph_op *o = &g->op.at[op];
	const struct cuts *runs = &c->op[op];
	double n = 1;

	for (int i = 0; i < runs->n; i++) {
		const struct graph_factor *f =
			&g->factor.at[o->first_factor + runs->at[i]];

		if (e->lowered.runs_without[op] >> runs->axis[i] & 1)
			continue;
		for (int32_t k = 0; k < f->nuses; k++)
			if (g->use.at[f->first_use + k].tensor == tensor)
				n *= c->size[runs->axis[i]];
	}
	return n;
}

static double in_memory(double bytes)
{
	return bytes < KERNEL_FREE_BYTES ? 0 : bytes;
}

struct compute_ask evaluated_kernel(const struct evaluator *e, const struct cutting *c,
                                    const struct graph_kernel *k)
{
	const struct graph *g = c->graph;
	const struct graph_op *o = &g->op.at[k->op];
	const struct cuts *runs = &c->op[k->op];
	struct compute_ask ask = k->ask;

	for (int i = 0; i < runs->n; i++) {
		double size = c->size[runs->axis[i]];

		if (e->lowered.runs_without[k->op] >> runs->axis[i] & 1)
			continue;
		ask.flops /= size;
		switch (g->factor.at[o->first_factor + runs->at[i]].part) {
		case 'b':
			ask.b /= size;
			break;
		case 'm':
			ask.m /= size;
			break;
		case 'n':
			ask.n /= size;
			break;
		case 'k':
			ask.k /= size;
			break;
		}
	}
	for (int32_t i = 0; i < k->nleaves; i++) {
		const struct graph_leaf *l = &g->leaf.at[k->first_leaf + i];
		int32_t v = g->tensor.at[g->op.at[l->op].first_tensor + l->tensor].value;

		ask.bytes += in_memory(l->share * g->value.at[v].bytes /
		                       parts(e, c, l->op, l->tensor));
	}
	for (int32_t t = o->nin; t < o->nin + o->nout; t++)
		ask.bytes += in_memory(
			k->written *
			g->value.at[g->tensor.at[o->first_tensor + t].value].bytes /
			parts(e, c, k->op, t));
	return ask;
}

static void add_kernels(struct evaluator *e, const struct cutting *c,
                        struct evaluation *out)
{
	const struct graph *g = c->graph;

	for (int64_t i = 0; i < g->kernel.n; i++) {
		const struct graph_op *o = &g->op.at[g->kernel.at[i].op];

		if (e->stale[i]) {
			struct compute_ask ask =
				evaluated_kernel(e, c, &g->kernel.at[i]);

			e->kernel_s[i] = e->tariff->kernel(e->tariff->self, &ask) *
			                 (o->times * e->times[g->kernel.at[i].op]);
			e->stale[i] = false;
		}
		if (e->kernel_s[i] < 0)
			out->unknown = true;
		else
			out->compute_s += e->kernel_s[i] * o->weight;
	}
}

/* --- memory ----------------------------------------------------------------------- */

/* Bytes that are taken at an op, and given back behind one; -1: never. */
static void live(struct evaluator *e, double bytes, int32_t from, int32_t to)
{
	int32_t last = (int32_t)e->graph->op.n - 1;

	e->alloc[from < 0 ? last : from] += bytes;
	if (to >= 0)
		e->release[to] += bytes;
}

/* What an op makes: it is held until its last use, or added up, or computed again. */
static void note_made(struct evaluator *e, int32_t value, double bytes,
                      struct evaluation *out)
{
	const struct graph *g = e->graph;
	const struct graph_value *v = &g->value.at[value];
	int32_t until = v->result                ? -1
	                : g->last_use[value] < 0 ? v->op
	                                         : g->last_use[value];

	if (e->again[value] >= 0) {
		e->layer_bytes[e->again[value]] += bytes;
		until = e->last_forward[value];
	} else if (e->micro_batches > 1 && e->gradient[value]) {
		out->peak_bytes += v->weight * bytes;
		until = v->op;
	}
	live(e, bytes, v->op, until);
}

static void note_live(struct evaluator *e, const struct cutting *c,
                      struct evaluation *out)
{
	const struct graph *g = e->graph;

	memset(e->alloc, 0, (size_t)g->op.n * sizeof(*e->alloc));
	memset(e->release, 0, (size_t)g->op.n * sizeof(*e->release));
	memset(e->layer_bytes, 0, (size_t)e->nlayers * sizeof(*e->layer_bytes));
	for (int32_t i = 0; i < g->value.n; i++) {
		const struct graph_value *v = &g->value.at[i];

		if (v->op < 0)
			out->params_bytes += v->weight * e->held_bytes[i];
		else if (v->in_memory && v->becomes < 0 && !v->constant)
			note_made(e, i, e->held_bytes[i], out);
	}
	for (int64_t i = 0; i < e->lowered.step.n; i++) {
		const struct transfer_step *s = &e->lowered.step.at[i];

		if (s->op == OP_EXCHANGE && s->before >= 0)
			live(e,
			     g->value.at[s->value].bytes /
			             (double)cuts_all(&s->to, c->size),
			     s->before, s->until);
	}
}

/* What the layer that computes most computes again. */
static double computed_again(const struct evaluator *e)
{
	double most = 0;

	for (int32_t i = 0; i < e->nlayers; i++)
		most = e->layer_bytes[i] > most ? e->layer_bytes[i] : most;
	return most;
}

/*
 * The most that is held. A stretch of ops that stands for n instances is gone through
 * once: what it leaves behind, or takes away, it does n times, and the most is in the
 * first instance or in the last one.
 */
static double peak_of(const struct evaluator *e)
{
	const struct graph *g = e->graph;
	double held = 0, most = 0, again = computed_again(e);

	for (int64_t i = 0; i < g->op.n;) {
		double n = g->op.at[i].weight, now = 0, top = 0;

		for (; i < g->op.n && g->op.at[i].weight == n; i++) {
			double here = g->op.at[i].phase == PHASE_BACKWARD ? again : 0;

			now += e->alloc[i];
			top = now + here > top ? now + here : top;
			now -= e->release[i];
		}
		top += held + (now > 0 ? (n - 1) * now : 0);
		most = top > most ? top : most;
		held += n * now;
	}
	return most;
}

struct evaluation evaluate(struct evaluator *e, const struct cutting *c)
{
	struct evaluation out = {0};

	lower_cuts(&e->lowered, c);
	find_costs(e, c);
	add_steps(e, &out);
	if (e->tariff)
		add_kernels(e, c, &out);
	out.step_s = out.compute_s + out.communication_s;
	if (e->overlap && e->tariff && out.communication_s > 0)
		out.step_s = evaluation_overlapped_s(e, c, NULL);
	note_live(e, c, &out);
	out.peak_bytes += out.params_bytes + peak_of(e);
	return out;
}
