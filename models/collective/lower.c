#include "collective/lower.h"

#include "collective/collective.h"
#include "collective/local.h"

#include <assert.h>

/* Name two devices of a group that no fabric joins, if there are. */
static void explain(struct text *why, const struct machine *m, const struct groups *g)
{
	for (int32_t i = 0; i < g->ngroups; i++) {
		const int32_t *ids = g->ids + (int64_t)i * g->size;

		for (int32_t j = 0; j < g->size; j++)
			for (int32_t k = j + 1; k < g->size; k++) {
				if (machine_fabric(m, ids[j], ids[k]) >= 0)
					continue;
				text_printf(why,
				            "no fabric of %s joins devices %d and %d",
				            m->name, (int)ids[j], (int)ids[k]);
				return;
			}
	}
	text_printf(why, "no algorithm for these groups of devices of %s", m->name);
}

bool lower_collective(struct lowered *out, struct arena *a, const struct machine *m,
                      enum op op, struct groups groups, double bytes, struct text *why)
{
	const struct algorithm *algorithm = algorithm_choose(m, op, &groups);

	assert(op == OP_ALL_GATHER || op == OP_ALL_TO_ALL || op == OP_REDUCE_SCATTER ||
	       op == OP_ALL_REDUCE);
	*out = (struct lowered){.schedule.arena = a};
	if (!algorithm) {
		explain(why, m, &groups);
		return false;
	}
	out->algorithm = algorithm->name;
	algorithm->build(&out->schedule, m, op, &groups, bytes);
	for (int64_t i = 0; i < (int64_t)groups.ngroups * groups.size; i++)
		if (m->device[groups.ids[i]].launch_s > out->launch_s)
			out->launch_s = m->device[groups.ids[i]].launch_s;
	return true;
}

/* A permute is one round with a task for each pair of two devices. */
static bool lower_permute(struct lowered *out, const struct machine *m,
                          const struct placement *place, const struct step *s,
                          double bytes, struct text *why)
{
	out->algorithm = "permute";
	schedule_round(&out->schedule);
	for (int32_t i = 0; i < s->npairs; i++) {
		int32_t src = placement_device(place, s->pairs[i].src);
		int32_t dst = placement_device(place, s->pairs[i].dst);
		int fabric;

		if (src == dst)
			continue;
		fabric = machine_fabric(m, src, dst);
		if (fabric < 0) {
			text_printf(why, "no fabric of %s joins devices %d and %d",
			            m->name, (int)src, (int)dst);
			return false;
		}
		schedule_task(&out->schedule, 1);
		schedule_message(&out->schedule, fabric, src, dst, bytes);
	}
	schedule_end(&out->schedule);
	return true;
}

/* The groups on platform devices. */
static struct groups place_groups(struct groups g, const struct placement *place,
                                  struct arena *a)
{
	int64_t n = (int64_t)g.ngroups * g.size;
	int32_t *ids;

	if (!place || !place->platform)
		return g;
	ids = arena_alloc(a, (size_t)n, sizeof(*ids));
	for (int64_t i = 0; i < n; i++)
		ids[i] = place->platform[g.ids[i]];
	g.ids = ids;
	return g;
}

/* Is every logical device on a device of the machine? */
static bool placement_fits(const struct machine *m, const struct placement *place,
                           int32_t n, struct text *why)
{
	if (placement_size(place, m) < n) {
		text_printf(why, "%d devices do not fit on the %d of %s", (int)n,
		            (int)placement_size(place, m), m->name);
		return false;
	}
	for (int32_t d = 0; d < n; d++) {
		int32_t device = placement_device(place, d);

		if (device >= 0 && device < m->ndevices)
			continue;
		text_printf(why, "%s has no device %d", m->name, (int)device);
		return false;
	}
	return true;
}

static double step_bytes(const struct plan *plan, const struct shape *tile)
{
	return (double)dtype_bytes(plan->problem->array.dtype, shape_elements(tile));
}

bool lower_step(struct lowered *out, struct arena *a, const struct machine *m,
                const struct placement *place, const struct plan *plan, int step,
                struct text *why)
{
	const struct step *s = &plan->step[step];
	int32_t n = plan->problem->mesh.ndevices;
	double bytes = step_bytes(plan, &s->before_local);
	bool done = true;

	assert(step >= 0 && step < plan->nsteps);
	*out = (struct lowered){.schedule.arena = a};
	if (!placement_fits(m, place, n, why))
		return false;
	if (s->op == OP_PERMUTE)
		done = lower_permute(out, m, place, s, bytes, why);
	else if (s->op != OP_SLICE)
		done = lower_collective(out, a, m, s->op,
		                        place_groups(s->groups, place, a), bytes, why);
	out->launch_s = local_rates(m, place, n).launch_s;
	out->local_s = lower_local_s(m, place, plan, step);
	return done;
}

/* Does some gathered dimension have a dimension of size > 1 outside it? */
static bool needs_unpack(const struct step *s)
{
	for (int i = 0; i < s->nmoves; i++) {
		if (s->move[i].factor == 1)
			continue;
		for (int dim = 0; dim < s->move[i].from_dim; dim++)
			if (s->local.dim[dim] > 1)
				return true;
	}
	return false;
}

double lower_local_s(const struct machine *m, const struct placement *place,
                     const struct plan *plan, int step)
{
	const struct step *s = &plan->step[step];
	double traffic_bytes = local_traffic_bytes(
		s->op, step_bytes(plan, &s->before_local), step_bytes(plan, &s->local),
		s->groups.size, needs_unpack(s));

	if (traffic_bytes == 0)
		return 0;
	return traffic_bytes *
	       local_rates(m, place, plan->problem->mesh.ndevices).s_per_byte;
}
