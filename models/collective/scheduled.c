/*
 * scheduled: an exchange that is a whole plan, as flows of data over every link at once
 * instead of one message from each holder to each device that lacks something.
 *
 * What several devices want is sent along trees, whose inner devices hand it on; what one
 * wants goes by several ways at once, over other dimension orders than the machine's, the
 * longer way round, or a third device where that is idle (flow/forest.h). Data are cut into
 * chunks, so that all of that happens together (flow/pipeline.h), and only once are they
 * packed and unpacked. A runtime has to run it that takes schedules of messages, as
 * MSCCL does for GPUs; baselines never get it.
 *
 *   rounds  C + D - 1 for C chunks and data that are relayed up to D - 1 times
 *   bytes   all links together carry least where data are wanted once and go straight
 *   cost    flow/pipeline.h; for C without end the time of the busiest link, which for
 *           all-gathers, reduce-scatters' mirror images, all-to-alls, broadcasts and
 *           transpositions tends to the bound (tests/check_flows.c)
 *   need    as direct, and two chunks of what a device relays: lowered.relay_bytes, for
 *           which chunks are smaller where memory is short
 * Each round has a task for each fabric that it uses. Where plain sends cost more than
 * their wires each of them pays that.
 */
#include "base/assert.h"
#include "collective/local.h"
#include "collective/nccl.h"
#include "collective/sent.h"
#include "flow/pipeline.h"

#include <math.h>

/* Adds one round's messages on a fabric, which are a task. */
static void add_task(struct schedule *out, const struct network *net,
                     const struct flows *flows, const struct pipeline *p,
                     const struct pipeline_round *round, const int32_t *platform,
                     int32_t fabric)
{
	schedule_task(out, round->repeats);
	for (int32_t i = 0; i < flows->nmessages; i++) {
		const struct flow_message *message = &flows->message[i];
		double bytes = 0;

		if (network_fabric(net, message->via) != fabric)
			continue;
		for (int32_t d = round->first; d <= round->last; d++)
			bytes += flows->bytes[(int64_t)i * flows->depths + d];
		schedule_message(out, fabric, platform[message->src],
		                 platform[message->dst],
		                 bytes * round->repeats / p->chunks);
	}
}

/* Returns the bytes that the busiest relay receives and does not want. */
static double relayed_bytes(const struct flows *flows, const struct demand *demand,
                            struct arena *a)
{
	double *over = arena_alloc(a, (size_t)demand->ndevices, sizeof(*over)), most = 0;

	for (int32_t i = 0; i < flows->nmessages; i++)
		for (int32_t d = 0; d < flows->depths; d++)
			over[flows->message[i].dst] +=
				flows->bytes[(int64_t)i * flows->depths + d];
	for (int32_t s = 0; s < demand->nsupplies; s++) {
		const struct supply *supply = &demand->supply[s];

		for (int64_t k = 0; k < supply->ndata; k++) {
			const struct party *w = &demand->party[supply->datum[k].wanters];

			for (int32_t i = 0; i < w->n; i++)
				if (demand->supply_of[w->device[i]] != s)
					over[w->device[i]] -= supply->datum[k].bytes;
		}
	}
	for (int32_t d = 0; d < demand->ndevices; d++)
		most = fmax(most, over[d]);
	return most;
}

/*
 * Returns the fewest chunks of which two, of all that is relayed, fit beside what the plan
 * holds; 0: there are none.
 */
static int32_t fewest_chunks(const struct plan *plan, double relayed)
{
	int64_t memory = plan->problem->device_memory_bytes;
	double room = (double)(memory - plan->peak_live_bytes);

	if (memory == 0 || relayed < 1)
		return 1;
	if (room <= 0 || 2 * relayed / room > PIPELINE_CHUNKS_MAX)
		return 0;
	return (int32_t)ceil(2 * relayed / room);
}

static void add_rounds(struct schedule *out, const struct machine *m,
                       const struct network *net, const struct flows *flows,
                       const struct pipeline *p)
{
	for (int32_t i = 0; i < pipeline_rounds(p); i++) {
		struct pipeline_round round = pipeline_round(p, i);

		schedule_round(out);
		for (int32_t f = 0; f < m->nfabrics; f++)
			add_task(out, net, flows, p, &round, net->platform, f);
	}
	schedule_end(out);
}

/* Appends all rounds; false where the machine or the problem is none for it. */
static bool build(struct schedule *out, int64_t *relay_bytes, const struct machine *m,
                  const int32_t *platform, const struct plan *plan)
{
	const struct problem *problem = plan->problem;
	struct arena *a = out->arena;
	struct network net;
	struct demand demand;
	struct symmetry symmetry;
	struct forest forest;
	struct flows flows;
	struct pipeline p;
	double relayed;
	int32_t fewest;

	if (!network_make(&net, m, platform, problem->ndevices, a) ||
	    !demand_make(&demand, problem, a))
		return false;
	symmetry_find(&symmetry, &net, &demand, &problem->mesh, a);
	if (!forest_make(&forest, &net, &demand, &symmetry, false, a))
		return false;
	flows_of_forest(&flows, &forest, &net, &symmetry, a);
	relayed = relayed_bytes(&flows, &demand, a);
	fewest = fewest_chunks(plan, relayed);
	if (fewest == 0)
		return false;
	p = pipeline_make(&flows, &net, fewest, a);
	*relay_bytes = relayed < 1 ? 0 : (int64_t)ceil(2 * relayed / p.chunks);
	add_rounds(out, m, &net, &flows, &p);
	return true;
}

void scheduled_exchange(struct lowered *out, const struct machine *m,
                        const struct placement *place, const struct plan *plan)
{
	struct schedule own = {.arena = out->schedule.arena};
	int32_t n = plan->problem->ndevices;
	int32_t *platform = arena_alloc(own.arena, (size_t)n, sizeof(*platform));
	struct nccl_wire *wire;
	int64_t relay_bytes;

	for (int32_t d = 0; d < n; d++)
		platform[d] = placement_device(place, d);
	if (!build(&own, &relay_bytes, m, platform, plan))
		return;
	sent_finish(&own, m);
	wire = nccl_wire_new(own.arena, m);
	if (nccl_wire_rounds_s(&own, wire) >= nccl_wire_rounds_s(&out->schedule, wire))
		return;
	out->schedule = own;
	out->algorithm = "scheduled";
	out->relay_bytes = relay_bytes;
}
