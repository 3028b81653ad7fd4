#include "automap/tariff.h"

#include "base/keys.h"
#include "collective/lower.h"
#include "cost/compute.h"
#include "cost/model.h"
#include "price/price.h"
#include "program/timeline.h"

#include <math.h>
#include <string.h>

struct machine_tariff {
	struct arena *arena;
	const struct machine *machine;
	struct placement place;
	struct problem problem; /* its mesh alone is looked at */
	struct pricer *pricer;  /* NULL: not asked yet */
	struct even_prices *even;
	int32_t *node; /* of each position; NULL: not asked yet */
	struct even_shape shape[1 << CUT_AXES];
	bool shaped[1 << CUT_AXES];    /* it is known */
	int8_t fabrics[1 << CUT_AXES]; /* that groups need, counted; 0: not asked yet */
	struct keys keys;
	LIST(double) seconds; /* by the number of the key */
	const struct planner *planner;
	struct model *model; /* NULL: not asked yet */
	struct keys changes;
	LIST(const struct reshard_cost *) cost; /* by the number of the change */
};

struct machine_tariff *machine_tariff_new(const struct machine *m,
                                          const struct mesh *mesh, const int32_t *device,
                                          const struct planner *planner,
                                          struct even_prices *even)
{
	struct machine_tariff *t = xmalloc(1, sizeof(*t));

	*t = (struct machine_tariff){.arena = arena_new(), .machine = m};
	t->keys.arena = t->changes.arena = t->arena;
	t->planner = planner;
	t->even = even;
	t->place = (struct placement){mesh->ndevices, device};
	t->problem.mesh = *mesh;
	return t;
}

static struct prices prices_of(struct machine_tariff *t)
{
	if (!t->pricer)
		t->pricer = pricer_new(t->machine, t->place.platform ? &t->place : NULL);
	return pricer_prices(t->pricer);
}

void machine_tariff_free(struct machine_tariff *t)
{
	if (!t)
		return;
	pricer_free(t->pricer);
	model_free(t->model);
	arena_free(t->arena);
	xfree(t);
}

/* One move per dimension that changes; of sums one for all axes. */
static int moves_of(struct move *move, struct part *part, const struct mesh *mesh,
                    const struct collective_ask *ask)
{
	int n = 0, nparts = 0;

	if (ask->op == OP_ALL_REDUCE) {
		move[n] = (struct move){-1, -1, 1, 0, part};
		for (int a = 0; a < mesh->naxes; a++)
			if (ask->axes >> a & 1) {
				part[nparts++] = (struct part){a, 1, mesh->axis[a].size};
				move[n].factor *= mesh->axis[a].size;
			}
		move[n++].nparts = nparts;
		return n;
	}
	for (int i = 0; i < ask->from.n + ask->to.n; i++) {
		bool gone = i < ask->from.n;
		const struct cuts *c = gone ? &ask->from : &ask->to;
		int k = gone ? i : i - ask->from.n, axis = c->axis[k];
		int from = cuts_at(&ask->from, axis), to = cuts_at(&ask->to, axis);
		struct move *last = n ? &move[n - 1] : NULL;

		if (from == to || (!gone && from >= 0))
			continue;
		part[nparts] = (struct part){axis, 1, mesh->axis[axis].size};
		if (last && last->from_dim == from && last->to_dim == to) {
			last->nparts++;
			last->factor *= mesh->axis[axis].size;
		} else {
			move[n++] = (struct move){from, to, mesh->axis[axis].size, 1,
			                          part + nparts};
		}
		nparts++;
	}
	return n;
}

/* The shape of all groups along the axes whose bits are set. */
static struct even_shape shape_of(struct machine_tariff *t, unsigned axes)
{
	const struct mesh *mesh = &t->problem.mesh;

	if (!t->node) {
		t->node = arena_alloc(t->arena, (size_t)mesh->ndevices, sizeof(int32_t));
		even_nodes(t->node, t->even, mesh, t->place.platform);
	}
	if (!t->shaped[axes])
		t->shape[axes] = even_shape_of(mesh, axes, t->node);
	t->shaped[axes] = true;
	return t->shape[axes];
}

/*
 * Steps of plans are charged for adding up (collective/local.h). Collectives of programs are not, for
 * that is within what they were measured to take, and these here are such.
 */
static bool reduces(enum op op)
{
	return op == OP_ALL_REDUCE || op == OP_REDUCE_SCATTER;
}

/* What a step takes of which one group stands for all; < 0: none does. */
static double even_s(struct machine_tariff *t, const struct step_ask *ask)
{
	double before = (double)ask->before_bytes, after = before, wires_s = 0;
	struct local_rates rates;
	struct even_shape shape;
	unsigned axes = 0;
	int32_t q = 1;

	if (!t->even)
		return -1;
	for (int i = 0; i < ask->nmoves; i++)
		for (int k = 0; k < ask->move[i].nparts; k++) {
			axes |= 1u << ask->move[i].parts[k].axis;
			q *= ask->move[i].parts[k].size;
		}
	if (ask->op == OP_SLICE) {
		after /= q;
	} else {
		shape = shape_of(t, axes);
		wires_s = shape.nodes ? even_wires_s(t->even, ask->op, shape, before)
		                      : -1;
		after *= ask->op == OP_ALL_GATHER ? q : 1;
	}
	if (wires_s < 0)
		return -1;
	rates = even_rates(t->even);
	if (!reduces(ask->op))
		wires_s += local_traffic_bytes(ask->op, before, after, q, ask->unpack) *
		           rates.s_per_byte;
	return wires_s + rates.launch_s;
}

/* What all groups take, as planners price it but for the adding up. */
static double step_s(struct machine_tariff *t, const struct step_ask *ask)
{
	struct prices prices = prices_of(t);
	double s = prices.step(prices.self, &t->problem, ask).cost;
	double bytes = (double)ask->before_bytes;
	int32_t q = 1;

	for (int i = 0; i < ask->nmoves; i++)
		q *= ask->move[i].factor;
	if (reduces(ask->op))
		s -= local_traffic_bytes(ask->op, bytes, bytes, q, false) *
		     local_rates(t->machine, t->place.platform ? &t->place : NULL,
		                 t->place.n)
		             .s_per_byte;
	return s;
}

static double collective_s(void *self, const struct collective_ask *ask)
{
	struct machine_tariff *t = self;
	struct move move[2 * CUT_AXES];
	struct part part[2 * CUT_AXES];
	struct collective_ask key;
	struct step_ask step;
	bool fresh;
	int32_t number;
	double s;

	memset(&key, 0, sizeof(key));
	key.op = ask->op;
	for (int i = 0; i < ask->from.n; i++)
		cuts_add(&key.from, ask->from.axis[i], ask->from.at[i]);
	for (int i = 0; i < ask->to.n; i++)
		cuts_add(&key.to, ask->to.axis[i], ask->to.at[i]);
	key.axes = ask->axes;
	key.bytes = ask->bytes;
	key.unpack = ask->unpack;
	number = keys_add(&t->keys, &key, sizeof(key), &fresh);
	if (!fresh)
		return t->seconds.at[number];
	step = (struct step_ask){.op = ask->op,
	                         .nmoves = moves_of(move, part, &t->problem.mesh, ask),
	                         .move = move,
	                         .before_bytes = (int64_t)ceil(ask->bytes),
	                         .unpack = ask->unpack};
	s = step.nmoves ? even_s(t, &step) : 0;
	if (s < 0)
		s = step_s(t, &step);
	return *list_add(&t->seconds, t->arena) = s;
}

/* --- planned changes of layout ---------------------------------------------------- */

static struct layout layout_of(const struct cuts *c, const struct mesh *mesh, int rank)
{
	struct layout l = layout_replicated(rank);

	for (int i = 0; i < c->n; i++)
		layout_append(&l, c->at[i],
		              (struct part){c->axis[i], 1, mesh->axis[c->axis[i]].size});
	return l;
}

/* The seconds of each step; false if the machine cannot run one. */
static bool fill_seconds(struct machine_tariff *t, const struct plan *plan,
                         struct reshard_part *part)
{
	struct step_time *time = xmalloc((size_t)plan->nsteps + 1, sizeof(*time));
	char message[256];
	double s;

	t->model = t->model ? t->model : model_new(t->machine);
	s = plan_seconds(time, plan, t->machine, t->place.platform ? &t->place : NULL,
	                 model_clock, t->model, message, sizeof(message));
	for (int i = 0; i < plan->nsteps && s >= 0; i++)
		part[i].s = time[i].time_s;
	xfree(time);
	return s >= 0;
}

/* NULL where the planner has no plan, and for types and ranks that no problem has. */
static const struct reshard_cost *plan_change(struct machine_tariff *t,
                                              const struct value_type *type,
                                              const struct cuts *from,
                                              const struct cuts *to)
{
	struct arena *a = arena_new();
	struct prices prices = prices_of(t);
	struct problem p = {.arena = a,
	                    .array = {.dtype = type->dtype, .shape.rank = type->rank},
	                    .mesh = t->problem.mesh,
	                    .to_mesh = t->problem.mesh,
	                    .ndevices = t->problem.mesh.ndevices,
	                    .same_devices = true,
	                    .platform = t->place.platform,
	                    .memory_limit_bytes = -1,
	                    .vocabulary = VOCABULARY_ANY};
	struct reshard_cost *out = NULL;
	struct reshard_part *part;
	struct plan *plan = NULL;
	struct text why = {0};

	for (int d = 0; d < type->rank && type->rank <= RANK_MAX; d++)
		p.array.shape.dim[d] = type->dim[d];
	if (type->rank > RANK_MAX || !type->dtype->bits)
		goto done;
	p.from = layout_of(from, &p.mesh, type->rank);
	p.to = layout_of(to, &p.mesh, type->rank);
	problem_finish(&p);
	if (planner_run(t->planner, &plan, &p, &prices, a, &why) != ANSWER_PLAN)
		goto done;
	out = arena_alloc(t->arena, 1, sizeof(*out));
	part = arena_alloc(t->arena, (size_t)plan->nsteps + 1, sizeof(*part));
	*out = (struct reshard_cost){plan->nsteps, part};
	for (int i = 0; i < plan->nsteps; i++)
		part[i] = (struct reshard_part){
			count_of(plan->step[i].op),
			(double)dtype_bytes(type->dtype,
		                            shape_elements(&plan->step[i].before_local)),
			0};
	if (!fill_seconds(t, plan, part))
		out = NULL;
done:
	text_free(&why);
	arena_free(a);
	return out;
}

/* Remembered by element, shape and forms. */
static const struct reshard_cost *reshard(void *self, const struct value_type *type,
                                          const struct cuts *from, const struct cuts *to)
{
	struct machine_tariff *t = self;
	struct {
		const struct dtype *dtype;
		struct cuts from, to;
		int64_t rank, dim[RANK_MAX];
	} key;
	bool fresh;
	int32_t number;

	if (type->rank > RANK_MAX)
		return NULL;
	memset(&key, 0, sizeof(key));
	key.dtype = type->dtype;
	key.rank = type->rank;
	memcpy(key.dim, type->dim, (size_t)type->rank * sizeof(*key.dim));
	for (int i = 0; i < from->n; i++)
		cuts_add(&key.from, from->axis[i], from->at[i]);
	for (int i = 0; i < to->n; i++)
		cuts_add(&key.to, to->axis[i], to->at[i]);
	number = keys_add(&t->changes, &key, sizeof(key), &fresh);
	if (fresh)
		*list_add(&t->cost, t->arena) = plan_change(t, type, from, to);
	return t->cost.at[number];
}

static double kernel_s(void *self, const struct compute_ask *ask)
{
	const struct machine_tariff *t = self;

	return compute_op_s(t->machine, ask);
}

/* The number of the fabric that the first group needs, nearest first. */
static int fabric_of(const struct machine_tariff *t, unsigned axes)
{
	const struct mesh *mesh = &t->problem.mesh;
	const int32_t *device = t->place.platform;
	int32_t first = device ? device[0] : 0;
	int most = 0;

	for (int32_t i = 0; i < mesh->ndevices; i++) {
		int32_t left = i;
		bool member = true;
		int fabric;

		for (int a = mesh->naxes - 1; a >= 0; a--) {
			member &= axes >> a & 1 || left % mesh->axis[a].size == 0;
			left /= mesh->axis[a].size;
		}
		if (!member)
			continue;
		fabric = machine_fabric(t->machine, first, device ? device[i] : i);
		most = fabric > most ? fabric : most;
	}
	return most;
}

/* Each fabric is one. */
static int stream(void *self, unsigned axes)
{
	struct machine_tariff *t = self;
	int fabric;

	if (!t->fabrics[axes])
		t->fabrics[axes] = (int8_t)(fabric_of(t, axes) + 1);
	fabric = t->fabrics[axes] - 1;
	return fabric < TIMELINE_STREAMS ? fabric : TIMELINE_STREAMS - 1;
}

struct cut_prices machine_tariff_prices(struct machine_tariff *t)
{
	return (struct cut_prices){collective_s, kernel_s, stream,
	                           t->planner ? reshard : NULL, t};
}

double machine_bound_s(const struct machine *m, const struct graph *g, int64_t devices,
                       double micro_batches)
{
	double sum = 0;

	for (int64_t i = 0; i < g->kernel.n; i++) {
		struct compute_ask ask = g->kernel.at[i].ask;
		const struct graph_op *o = &g->op.at[g->kernel.at[i].op];
		double s;

		ask.flops /= (double)devices;
		s = compute_op_s(m, &ask);
		if (s > 0)
			sum += s * o->weight * o->times *
			       (o->phase == PHASE_UPDATE ? 1 : micro_batches);
	}
	return sum;
}
