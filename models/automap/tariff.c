#include "automap/tariff.h"

#include "base/keys.h"
#include "collective/lower.h"
#include "cost/compute.h"
#include "price/price.h"

#include <math.h>
#include <string.h>

struct machine_tariff {
	struct arena *arena;
	const struct machine *machine;
	struct placement place;
	struct problem problem; /* its mesh alone is looked at */
	struct pricer *pricer;
	struct keys keys;
	LIST(double) seconds; /* by the number of the key */
};

struct machine_tariff *machine_tariff_new(const struct machine *m,
                                          const struct mesh *mesh, const int32_t *device)
{
	struct machine_tariff *t = xmalloc(1, sizeof(*t));

	*t = (struct machine_tariff){.arena = arena_new(), .machine = m};
	t->keys.arena = t->arena;
	t->place = (struct placement){mesh->ndevices, device};
	t->problem.mesh = *mesh;
	t->pricer = pricer_new(m, device ? &t->place : NULL);
	return t;
}

void machine_tariff_free(struct machine_tariff *t)
{
	pricer_free(t->pricer);
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
	s = step.nmoves
	            ? pricer_prices(t->pricer).step(t->pricer, &t->problem, &step).cost
	            : 0;
	return *list_add(&t->seconds, t->arena) = s;
}

static double kernel_s(void *self, const struct compute_ask *ask)
{
	const struct machine_tariff *t = self;

	return compute_op_s(t->machine, ask);
}

struct cut_prices machine_tariff_prices(struct machine_tariff *t)
{
	return (struct cut_prices){collective_s, kernel_s, t};
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
