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
 *   need    as direct, and two chunks of what a device relays
 * Each round has a task for each fabric that it uses. Where plain sends cost more than
 * their wires each of them pays that.
 */
#include "base/assert.h"
#include "collective/local.h"
#include "collective/nccl.h"
#include "collective/sent.h"
#include "flow/pipeline.h"

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

/* Appends all rounds; false where the machine or the problem is none for it. */
static bool build(struct schedule *out, const struct machine *m,
                  const int32_t *platform, const struct problem *problem)
{
	struct arena *a = out->arena;
	struct network net;
	struct demand demand;
	struct symmetry symmetry;
	struct forest forest;
	struct flows flows;
	struct pipeline p;

	if (!network_make(&net, m, platform, problem->ndevices, a) ||
	    !demand_make(&demand, problem, a))
		return false;
	symmetry_find(&symmetry, &net, &demand, &problem->mesh, a);
	if (!forest_make(&forest, &net, &demand, &symmetry, false, a))
		return false;
	flows_of_forest(&flows, &forest, &net, &symmetry, a);
	p = pipeline_make(&flows, &net, a);
	for (int32_t i = 0; i < pipeline_rounds(&p); i++) {
		struct pipeline_round round = pipeline_round(&p, i);

		schedule_round(out);
		for (int32_t f = 0; f < m->nfabrics; f++)
			add_task(out, &net, &flows, &p, &round, platform, f);
	}
	schedule_end(out);
	return true;
}

bool scheduled_exchange(struct schedule *s, const struct machine *m,
                        const struct placement *place, const struct problem *problem)
{
	struct schedule own = {.arena = s->arena};
	struct nccl_wire *wire;
	int32_t *platform = arena_alloc(s->arena, (size_t)problem->ndevices,
	                                sizeof(*platform));

	for (int32_t d = 0; d < problem->ndevices; d++)
		platform[d] = placement_device(place, d);
	if (!build(&own, m, platform, problem))
		return false;
	sent_finish(&own, m);
	wire = nccl_wire_new(s->arena, m);
	if (nccl_wire_rounds_s(&own, wire) >= nccl_wire_rounds_s(s, wire))
		return false;
	*s = own;
	return true;
}
