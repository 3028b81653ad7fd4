#include "collective/lower.h"

#include "base/assert.h"
#include "collective/collective.h"
#include "collective/local.h"
#include "collective/nccl_data.h"
#include "collective/profile.h"
#include "collective/sent.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Names two devices of a group that no fabric joins, if there are any. */
static void explain_unjoined(struct text *why, const struct machine *m,
                             const struct groups *g)
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

/* Returns whether the user forces another algorithm than this one. */
static bool forced_away(const struct machine *m, const struct algorithm *a)
{
	return m->forced.algorithm && strcmp(m->forced.algorithm, a->name) != 0;
}

static void explain_forced(struct text *why, const struct machine *m, enum op op,
                           const struct groups *g)
{
	const char *before = ", expected ";

	if (m->forced.protocol) {
		text_printf(why, "the collectives of %s have no protocols", m->name);
		return;
	}
	text_printf(why, "%s cannot run this %s on %s", m->forced.algorithm,
	            op_name(op), m->name);
	for (int i = 0; algorithms[i]; i++) {
		if (!algorithms[i]->applies(m, op, g))
			continue;
		text_printf(why, "%s%s", before, algorithms[i]->name);
		before = ", ";
	}
}

/* Returns whether it is too much work, and says so. */
static bool too_many(struct text *why, const struct algorithm *a, enum op op,
                     const struct groups *g)
{
	if (!a->messages || a->messages(g) <= ALGORITHM_MESSAGES_MAX)
		return false;
	text_printf(why,
	            "%s has %lld messages for an %s in %d groups of %d devices, and "
	            "at most %d are timed",
	            a->name, (long long)a->messages(g), op_name(op), (int)g->ngroups,
	            (int)g->size, ALGORITHM_MESSAGES_MAX);
	return true;
}

static bool has_fill(const struct machine *m, const struct profile *profile)
{
	const double *tuning = m->tuning.value;

	return profile->fill &&
	       (tuning[TUNING_FILL_S] != 0 || tuning[TUNING_NET_FILL_S] != 0);
}

/* Adds the fill and drain of every task's pipeline (nccl.h). */
static void add_fill(struct schedule *s, const struct machine *m)
{
	const double *tuning = m->tuning.value;
	struct nccl_wire *wire;

	wire = nccl_wire_new(s->arena, m);
	for (int64_t i = 0; i < s->ntasks; i++) {
		struct task *t = &s->task[i];
		bool network = nccl_is_network(m, s->message[t->first].fabric);
		double wire_s, route_s;

		if (nccl_wire_task(&wire_s, &route_s, wire, s, t))
			t->delay_s +=
				2 *
				sqrt(wire_s *
			             tuning[network ? TUNING_NET_FILL_S : TUNING_FILL_S]);
	}
}

static bool lower_geometry(struct lowered *out, const struct profile *profile,
                           const struct machine *m, enum op op,
                           const struct groups *groups, double bytes, struct text *why)
{
	const struct algorithm *first = profile->first, *algorithm;

	algorithm =
		first && first->applies(m, op, groups)
			? first
			: algorithm_fastest(out->schedule.arena, m, op, groups, bytes);
	if (!algorithm) {
		explain_unjoined(why, m, groups);
		return false;
	}
	for (int i = 0; forced_away(m, algorithm) && algorithms[i]; i++)
		if (algorithms[i]->applies(m, op, groups))
			algorithm = algorithms[i];
	if (m->forced.protocol || forced_away(m, algorithm)) {
		explain_forced(why, m, op, groups);
		return false;
	}
	if (too_many(why, algorithm, op, groups))
		return false;
	out->algorithm = algorithm->name;
	/*
	 * Which fabrics are asked may hang on the order, too; and where a torus lacks cables,
	 * whether a ring in that order is faster.
	 */
	out->any_order = algorithm->any_order && m->nfabrics == 1 &&
	                 m->fabric[0].geometry == GEOMETRY_TORUS;
	algorithm->build(&out->schedule, m, op, groups, bytes);
	if (has_fill(m, profile))
		add_fill(&out->schedule, m);
	return true;
}

/* Lowers a pair of a permute, which is a task of its own. */
static bool lower_pair(struct lowered *out, const struct machine *m, int32_t src,
                       int32_t dst, double bytes, struct text *why)
{
	int fabric = machine_fabric(m, src, dst);

	if (src == dst)
		return true;
	if (fabric < 0) {
		text_printf(why, "no fabric of %s joins devices %d and %d", m->name,
		            (int)src, (int)dst);
		return false;
	}
	schedule_task(&out->schedule, 1);
	schedule_message(&out->schedule, fabric, src, dst, bytes);
	return true;
}

static bool lower_shift(struct lowered *out, const struct machine *m,
                        const struct groups *g, double bytes, struct text *why)
{
	bool done = true;

	out->algorithm = "permute";
	schedule_round(&out->schedule);
	for (int32_t i = 0; i < g->ngroups; i++) {
		const int32_t *ids = g->ids + (int64_t)i * g->size;

		for (int32_t k = 0; k < g->size && done; k++)
			done = lower_pair(out, m, ids[k],
			                  ids[k + 1 == g->size ? 0 : k + 1], bytes, why);
	}
	schedule_end(&out->schedule);
	sent_finish(&out->schedule, m, NULL);
	return done;
}

/* Lowers into the schedule of `out`, by the profile of the groups. */
static bool lower_groups(struct lowered *out, const struct profile *profile,
                         const struct machine *m, enum op op, struct groups groups,
                         double bytes, struct text *why)
{
	assert(op == OP_ALL_GATHER || op == OP_ALL_TO_ALL || op == OP_REDUCE_SCATTER ||
	       op == OP_ALL_REDUCE || op == OP_BROADCAST || op == OP_REDUCE ||
	       op == OP_PERMUTE);
	out->launch_s = profile_launch_s(m, groups.ids, groups.ngroups * groups.size);
	if (op == OP_PERMUTE)
		return lower_shift(out, m, &groups, bytes, why);
	for (int32_t i = 0; i < groups.ngroups && profile->library; i++) {
		const int32_t *ids = groups.ids + (int64_t)i * groups.size;

		if (machine_joins(m, ids, groups.size))
			continue;
		explain_unjoined(why, m, &groups);
		return false;
	}
	if (profile->library)
		return nccl_lower(out, profile->library, m, op, &groups, bytes, why);
	return lower_geometry(out, profile, m, op, &groups, bytes, why);
}

/* Settles what starting a library's call costs, now that its time beside that is known. */
static void settle_launch(struct lowered *out, const struct profile *profile,
                          const struct machine *m, enum op op, const struct groups *g,
                          double bytes)
{
	struct nccl_wire *wire;
	double s;

	if (!nccl_callers[m->launch].one_process || !profile->library)
		return;
	wire = nccl_wire_new(out->schedule.arena, m);
	s = nccl_wire_rounds_s(&out->schedule, wire);
	if (op == OP_ALL_GATHER)
		bytes *= g->size;
	out->launch_s = profile_call_s(m, g->ids, g->ngroups * g->size,
	                               nccl_enqueue_s(m, op, g->size, bytes), s);
}

bool lower_collective(struct lowered *out, struct arena *a, const struct machine *m,
                      enum op op, struct groups groups, double bytes, struct text *why)
{
	const struct profile *profile = profile_of(m, &groups);
	bool done;

	*out = (struct lowered){.schedule.arena = a};
	done = lower_groups(out, profile, m, op, groups, bytes, why);
	if (done)
		settle_launch(out, profile, m, op, &groups, bytes);
	return done;
}

bool lower_collective_rounds(struct lowered *out, struct arena *a,
                             const struct machine *m, enum op op, struct groups groups,
                             double bytes, round_fn *reader, void *self,
                             struct text *why)
{
	const struct profile *profile = profile_of(m, &groups);
	bool done;

	*out = (struct lowered){.schedule.arena = a};
	/* What libraries and pipelines add to tasks is known when all are there. */
	if (op != OP_PERMUTE && !profile->library && !has_fill(m, profile)) {
		out->schedule.reader = reader;
		out->schedule.reader_self = self;
	}
	done = lower_groups(out, profile, m, op, groups, bytes, why);
	if (done && !out->schedule.reader) {
		settle_launch(out, profile, m, op, &groups, bytes);
		schedule_rounds(&out->schedule, reader, self);
	}
	out->schedule = (struct schedule){.arena = a};
	return done;
}

const struct algorithm *lower_algorithm(const struct machine *m, enum op op,
                                        const struct groups *groups)
{
	const struct profile *profile = profile_of(m, groups);

	if (profile->library || profile->first || op == OP_PERMUTE ||
	    m->forced.algorithm || m->forced.protocol)
		return NULL;
	return algorithm_untimed(m, op, groups);
}

/* Lowers a permute, which is one round with a task for each pair of two devices. */
static bool lower_permute(struct lowered *out, const struct machine *m,
                          const struct placement *place, const struct step *s,
                          double bytes, struct text *why)
{
	bool done = true;

	out->algorithm = "permute";
	schedule_round(&out->schedule);
	for (int32_t i = 0; i < s->npairs && done; i++)
		done = lower_pair(out, m, placement_device(place, s->pairs[i].src),
		                  placement_device(place, s->pairs[i].dst), bytes, why);
	schedule_end(&out->schedule);
	sent_finish(&out->schedule, m, NULL);
	return done;
}

bool lower_may_schedule(const struct plan *plan, int step)
{
	if (plan->step[step].op != OP_EXCHANGE)
		return false;
	return plan->nsteps == 1 ||
	       (!plan->view &&
	        (step_adds(plan, step) || (step > 0 && step_adds(plan, step - 1))));
}

/*
 * Lowers transfers. Boxes between the same two devices are one message. An exchange is
 * one round with a task for each connected set of senders and receivers, as none waits
 * for another; a permute of parts has a task for each pair.
 */
static bool lower_transfers(struct lowered *out, struct arena *a,
                            const struct machine *m, const struct placement *place,
                            const struct plan *plan, int step, struct text *why)
{
	const struct step *s = &plan->step[step];
	int32_t n = plan->problem->ndevices, last = -1;
	const struct dtype *type = plan->problem->array.dtype;
	bool exchange = s->op == OP_EXCHANGE;
	const int32_t *set;
	const struct sent *sent = sent_sorted(&set, s, n, a);

	out->algorithm = exchange ? "direct" : "permute";
	schedule_reserve(&out->schedule, s->ntransfers);
	schedule_round(&out->schedule);
	for (int64_t i = 0, k; i < s->ntransfers; i = k) {
		int32_t src = placement_device(place, sent[i].src);
		int32_t dst = placement_device(place, sent[i].dst);
		int fabric = machine_fabric(m, src, dst);
		int64_t elements = 0;

		for (k = i; k < s->ntransfers && sent[k].src == sent[i].src &&
		            sent[k].dst == sent[i].dst;
		     k++)
			elements += sent[k].elements;
		if (fabric < 0) {
			text_printf(why, "no fabric of %s joins devices %d and %d",
			            m->name, (int)src, (int)dst);
			return false;
		}
		if (!exchange || set[sent[i].src] != last)
			schedule_task(&out->schedule, 1);
		last = set[sent[i].src];
		schedule_message(&out->schedule, fabric, src, dst,
		                 (double)dtype_bytes(type, elements));
	}
	schedule_end(&out->schedule);
	sent_finish(&out->schedule, m, NULL);
	if (m->tuning.value[TUNING_SCHEDULED] != 0 && lower_may_schedule(plan, step))
		scheduled_exchange(out, m, place, plan, step);
	return true;
}

/* Returns the groups on platform devices. */
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

/* Returns whether every logical device is on a device of the machine. */
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

/* Lowers a collective into the schedule of `out` or, if there is one, for a reader. */
static bool collective(struct lowered *out, struct arena *a, const struct machine *m,
                       enum op op, struct groups groups, double bytes, round_fn *reader,
                       void *self, struct text *why)
{
	return reader ? lower_collective_rounds(out, a, m, op, groups, bytes, reader,
	                                        self, why)
	              : lower_collective(out, a, m, op, groups, bytes, why);
}

static double step_bytes(const struct plan *plan, const struct shape *tile)
{
	return (double)dtype_bytes(plan->problem->array.dtype, shape_elements(tile));
}

bool lower_pairs(struct lowered *out, struct arena *a, const struct machine *m,
                 const struct pair *pairs, int32_t n, double bytes, struct text *why)
{
	const struct step s = {.op = OP_PERMUTE, .npairs = n, .pairs = pairs};

	*out = (struct lowered){.schedule.arena = a};
	out->launch_s = local_rates(m, NULL, m->ndevices).launch_s;
	return lower_permute(out, m, NULL, &s, bytes, why);
}

bool lower_step(struct lowered *out, struct arena *a, const struct machine *m,
                const struct placement *place, const struct plan *plan, int step,
                struct text *why)
{
	return lower_step_rounds(out, a, m, place, plan, step, NULL, NULL, why);
}

bool lower_step_rounds(struct lowered *out, struct arena *a, const struct machine *m,
                       const struct placement *place, const struct plan *plan, int step,
                       round_fn *reader, void *self, struct text *why)
{
	const struct step *s = &plan->step[step];
	int32_t n = plan->problem->ndevices;
	double bytes = step_bytes(plan, step_operand(s));
	bool done = true;

	assert(step >= 0 && step < plan->nsteps);
	*out = (struct lowered){.schedule.arena = a};
	if (!placement_fits(m, place, n, why))
		return false;
	if (s->part)
		bytes = (double)dtype_bytes(plan->problem->array.dtype, s->part);
	if (s->transfers && !s->part)
		done = lower_transfers(out, a, m, place, plan, step, why);
	else if (s->op == OP_PERMUTE)
		done = lower_permute(out, m, place, s, bytes, why);
	else if (op_communicates(s->op) && s->op != OP_EXCHANGE)
		done = collective(out, a, m, s->op, place_groups(s->groups, place, a),
		                  bytes, reader, self, why);
	out->launch_s = local_rates(m, place, n).launch_s;
	out->local_s = lower_local_s(m, place, plan, step);
	return done;
}

/*
 * Returns whether an all-gather's blocks have to be unpacked. They arrive one after the
 * other, in the order of the gathered dimensions, and lie as they must unless each
 * holds several elements of a dimension outside a gathered one.
 */
static bool needs_unpack(const struct step *s)
{
	for (int i = 0; i < s->nmoves; i++) {
		if (s->move[i].factor == 1)
			continue;
		for (int dim = 0; dim < s->move[i].from_dim; dim++)
			if (s->before_local.dim[dim] > 1)
				return true;
	}
	return false;
}

/*
 * Returns the memory traffic of the busiest device that packs what it sends and unpacks
 * what it receives; a whole tile is sent from and received into its place. To add up what is
 * received takes a pass over three arrays and nothing else, as in a reduction.
 */
static double transfer_traffic_bytes(const struct plan *plan, int step)
{
	const struct step *s = &plan->step[step];
	const struct dtype *type = plan->problem->array.dtype;
	int64_t before = shape_elements(&s->before_local),
		after = shape_elements(&s->local);
	size_t n = (size_t)plan->problem->ndevices;
	int64_t *traffic = xmalloc(n, sizeof(*traffic)), most = 0;
	bool adds = step_adds(plan, step);

	for (size_t d = 0; d < n; d++)
		traffic[d] = 0;
	for (int32_t i = 0; i < s->npairs && s->part != before; i++) {
		if (s->pairs[i].src == s->pairs[i].dst)
			continue;
		traffic[s->pairs[i].src] += 2 * s->part;
		traffic[s->pairs[i].dst] += 2 * s->part;
	}
	for (int64_t i = 0; i < s->ntransfers && !s->part; i++) {
		const struct transfer *t = &s->transfers[i];

		if (adds) {
			traffic[t->dst] += 3 * t->elements;
			continue;
		}
		traffic[t->src] += t->elements == before ? 0 : 2 * t->elements;
		traffic[t->dst] += t->elements == after ? 0 : 2 * t->elements;
	}
	for (size_t d = 0; d < n; d++)
		most = traffic[d] > most ? traffic[d] : most;
	xfree(traffic);
	return adds ? (double)dtype_bytes(type, most)
	            : 2.0 * (double)dtype_bytes(type, most / 2);
}

double lower_local_bytes(const struct plan *plan, int step)
{
	const struct step *s = &plan->step[step];

	return s->transfers
	               ? transfer_traffic_bytes(plan, step)
	               : local_traffic_bytes(s->op, step_bytes(plan, step_operand(s)),
	                                     step_bytes(plan, &s->local),
	                                     s->groups.size, needs_unpack(s));
}

double lower_local_s(const struct machine *m, const struct placement *place,
                     const struct plan *plan, int step)
{
	double traffic_bytes = lower_local_bytes(plan, step);

	if (traffic_bytes == 0)
		return 0;
	return traffic_bytes * local_rates(m, place, plan->problem->ndevices).s_per_byte;
}
