#include "automap/tariff.h"

#include "automap/change.h"
#include "base/keys.h"
#include "collective/local.h"
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
	struct pricer *pricer;  /* of the planner; NULL: not asked yet */
	struct group_prices *shared;
	struct local_rates rates;
	struct keys axes;
	LIST(int32_t) groups;          /* by the number of the axes */
	int8_t fabrics[1 << CUT_AXES]; /* that groups need, counted; 0: not asked yet */
	struct keys keys;
	LIST(double) seconds; /* by the number of the key */
	const struct planner *planner;
	struct model *model; /* NULL: not asked yet */
	struct keys changes;
	LIST(const struct planned_reshard *) cost; /* by the number of the change */
};

struct machine_tariff *machine_tariff_new(const struct machine *m,
                                          struct group_prices *shared,
                                          const struct mesh *mesh, const int32_t *device,
                                          const struct planner *planner)
{
	struct machine_tariff *t = xmalloc(1, sizeof(*t));

	*t = (struct machine_tariff){.arena = arena_new(), .machine = m};
	t->keys.arena = t->axes.arena = t->changes.arena = t->arena;
	t->planner = planner;
	t->shared = shared;
	t->place = (struct placement){mesh->ndevices, device};
	t->rates = local_rates(m, device ? &t->place : NULL, mesh->ndevices);
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

/*
 * The axes that a collective goes along, whole, in the order of plans: by rising dimension of those
 * from which they are gathered or to which they go (price/price.c).
 */
static int parts_of(struct part *part, const struct mesh *mesh,
                    const struct collective_ask *ask)
{
	int dim[2 * CUT_AXES], n = 0;

	for (int a = 0; a < mesh->naxes && ask->op == OP_ALL_REDUCE; a++)
		if (ask->axes >> a & 1)
			part[n++] = (struct part){a, 1, mesh->axis[a].size};
	for (int i = 0; i < ask->from.n + ask->to.n && ask->op != OP_ALL_REDUCE; i++) {
		bool gone = i < ask->from.n;
		const struct cuts *c = gone ? &ask->from : &ask->to;
		int axis = c->axis[gone ? i : i - ask->from.n];
		int from = cuts_at(&ask->from, axis), to = cuts_at(&ask->to, axis), k;

		if (from == to || (!gone && from >= 0))
			continue;
		to = ask->op == OP_ALL_GATHER ? from : to;
		for (k = n++; k > 0 && dim[k - 1] > to; k--) {
			dim[k] = dim[k - 1];
			part[k] = part[k - 1];
		}
		dim[k] = to;
		part[k] = (struct part){axis, 1, mesh->axis[axis].size};
	}
	return n;
}

/* Of the groups along these parts, remembered by their axes. */
static int32_t groups_of(struct machine_tariff *t, const struct part *part, int n)
{
	int8_t axis[2 * CUT_AXES];
	bool fresh;
	int32_t number;

	for (int i = 0; i < n; i++)
		axis[i] = (int8_t)part[i].axis;
	number = keys_add(&t->axes, axis, (size_t)n, &fresh);
	if (fresh)
		*list_add(&t->groups, t->arena) = group_prices_number(
			t->shared, &t->problem.mesh, t->place.platform, part, n);
	return t->groups.at[number];
}

/*
 * What all groups take, as planners price it but for the adding up: steps of plans are charged for it
 * (collective/local.h). Collectives of programs are not, for that is within what they were measured
 * to take, and these here are such.
 */
static double step_s(struct machine_tariff *t, const struct collective_ask *ask)
{
	struct part part[2 * CUT_AXES];
	int n = parts_of(part, &t->problem.mesh, ask);
	double before = ceil(ask->bytes), after = before, s = 0;
	int32_t q = 1;

	if (!n)
		return 0;
	for (int i = 0; i < n; i++)
		q *= part[i].size;
	if (ask->op == OP_SLICE)
		after /= q;
	else
		s += group_prices_s(t->shared, groups_of(t, part, n), ask->op, before);
	if (ask->op == OP_ALL_GATHER)
		after *= q;
	if (ask->op != OP_ALL_REDUCE && ask->op != OP_REDUCE_SCATTER)
		s += local_traffic_bytes(ask->op, before, after, q, ask->unpack) *
		     t->rates.s_per_byte;
	return s + t->rates.launch_s;
}

static double collective_s(void *self, const struct collective_ask *ask)
{
	struct machine_tariff *t = self;
	struct collective_ask key;
	bool fresh;
	int32_t number;

	memset(&key, 0, sizeof(key));
	key.op = ask->op;
	key.from = ask->from;
	key.to = ask->to;
	key.axes = ask->axes;
	key.bytes = ask->bytes;
	key.unpack = ask->unpack;
	number = keys_add(&t->keys, &key, sizeof(key), &fresh);
	if (fresh)
		*list_add(&t->seconds, t->arena) = step_s(t, ask);
	return t->seconds.at[number];
}

/* --- planned changes of layout ---------------------------------------------------- */

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

const struct plan *machine_tariff_plan(struct machine_tariff *t, struct arena *a,
                                       const struct problem *p)
{
	struct prices prices = prices_of(t);
	struct text why = {0};
	struct plan *plan;
	bool good = planner_run(t->planner, &plan, p, &prices, a, &why) == ANSWER_PLAN;

	text_free(&why);
	return good ? plan : NULL;
}

/* NULL where the planner has no plan, and for types that no problem has. */
static const struct planned_reshard *plan_change(struct machine_tariff *t,
                                                 const struct value_type *type,
                                                 const struct cuts *from,
                                                 const struct cuts *to)
{
	struct arena *a = arena_new();
	struct problem p;
	struct planned_reshard *out = NULL;
	struct reshard_part *part;
	const struct plan *plan;

	if (!type->dtype->bits)
		goto done;
	change_problem(&p, a, &t->problem.mesh, t->place.platform, type, from, to, 0);
	plan = machine_tariff_plan(t, a, &p);
	if (!plan)
		goto done;
	out = arena_alloc(t->arena, 1, sizeof(*out));
	part = arena_alloc(t->arena, (size_t)plan->nsteps + 1, sizeof(*part));
	*out = (struct planned_reshard){plan->nsteps, part};
	for (int i = 0; i < plan->nsteps; i++)
		part[i] = (struct reshard_part){
			plan->step[i].op,
			(double)dtype_bytes(type->dtype,
		                            shape_elements(&plan->step[i].before_local)),
			0};
	if (!fill_seconds(t, plan, part))
		out = NULL;
done:
	arena_free(a);
	return out;
}

/* Remembered by element, shape and forms. */
static const struct planned_reshard *reshard(void *self, const struct value_type *type,
                                             const struct cuts *from,
                                             const struct cuts *to)
{
	struct machine_tariff *t = self;
	struct {
		const struct dtype *dtype;
		struct cuts from, to;
		int64_t rank, dim[RANK_MAX];
	} key;
	bool fresh;
	int32_t number;

	memset(&key, 0, sizeof(key));
	key.dtype = type->dtype;
	key.rank = type->rank;
	memcpy(key.dim, type->dim, (size_t)type->rank * sizeof(*key.dim));
	key.from = *from;
	key.to = *to;
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
