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
 * Where plain sends cost more than their wires, schedules do, too: the bytes on a network, and
 * what each peer costs, once, as all rounds are one call. So a second schedule is looked for
 * that crosses nodes by rails alone (flow/network.h), and a third of trees over nodes where
 * several want the same (flow/trees.h); the cheapest is taken. Each round has a task for each
 * fabric that it uses, and there for each lag (flow/pipeline.h).
 *
 * On a switch the messages of a round have one link up and one down with others, and equal
 * shares of it: unequal ones would leave a link idle while the other end of the last is busy.
 * So each is sent in as many equal pieces as it is long, as runtimes give a peer more or fewer
 * channels, and pieces with equal shares end together.
 */
#include "base/gcd.h"
#include "base/list.h"
#include "collective/local.h"
#include "collective/nccl.h"
#include "collective/sent.h"
#include "flow/pipeline.h"

#include <math.h>

/* A schedule that is being written. */
struct writing {
	struct schedule *out;
	const int32_t *platform;
	const struct network *net;
	const struct flows *flows;
	bool *known;      /* [flows' messages] was sent in a round before */
	LIST(bool) again; /* of the schedule's messages */
};

/* Adds the messages of a round that are of a lag, on a fabric; they are a task. */
static void add_task(struct writing *w, const struct pipeline *p, int32_t round,
                     int32_t lag, int32_t fabric)
{
	const struct flows *flows = w->flows;

	schedule_task(w->out, pipeline_repeats(p, round));
	for (int32_t i = 0; i < flows->nmessages; i++) {
		const struct flow_message *message = &flows->message[i];
		double bytes;

		if (p->lag[i] != lag || network_fabric(w->net, message->via) != fabric)
			continue;
		bytes = pipeline_bytes(p, i, round);
		if (bytes == 0)
			continue;
		schedule_message(w->out, fabric, w->platform[message->src],
		                 w->platform[message->dst], bytes);
		*list_add(&w->again, w->out->arena) = w->known[i];
		w->known[i] = true;
	}
}

/* Returns the bytes that the busiest relay receives and does not want. */
static double relayed_bytes(const struct flows *flows, const struct demand *demand,
                            struct arena *a)
{
	double *over = arena_alloc(a, (size_t)demand->ndevices, sizeof(*over)), most = 0;

	for (int32_t i = 0; i < flows->nmessages; i++)
		for (int32_t d = 0; d < flows->depths; d++)
			over[flows->message[i].dst] += flows_bytes(flows, i, d);
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

/* Appends all rounds, and to each task what its sends cost beyond their wires. */
static void add_rounds(struct schedule *out, const struct network *net,
                       const struct flows *flows, const struct pipeline *p)
{
	struct writing w = {
		out,
		net->platform,
		net,
		flows,
		arena_alloc(out->arena, (size_t)flows->nmessages, sizeof(bool)),
		{0}};

	for (int32_t i = 0; i < pipeline_rounds(p); i++) {
		schedule_round(out);
		for (int32_t f = 0; f < net->machine->nfabrics; f++)
			for (int32_t lag = 0; lag < p->nlags; lag++)
				add_task(&w, p, i, lag, f);
	}
	schedule_end(out);
	sent_finish(out, net->machine, w.again.at);
}

/* --- pieces ----------------------------------------------------------------------- */

/*
 * In how many pieces the longest message of a fabric is sent. Of 8, 16 and 32 the clock `flow`
 * takes 8, 1 and 1 % longer than the rounds of 43 drawn schedules of 64 GPUs, of one 27 %.
 */
enum { PIECES = 16, MESSAGES_MAX = 1 << 17 };

/* Stores how many pieces each message of a task has; returns their sum. */
static int64_t count_pieces(int32_t *piece, const struct schedule *s,
                            const struct task *t, int32_t most)
{
	const struct message *message = s->message + t->first;
	double longest[MACHINE_FABRICS_MAX] = {0};
	int64_t common[MACHINE_FABRICS_MAX] = {0}, sum = 0;

	for (int64_t i = 0; i < t->nmessages; i++)
		longest[message[i].fabric] =
			fmax(longest[message[i].fabric], message[i].bytes);
	for (int64_t i = 0; i < t->nmessages; i++) {
		int32_t f = message[i].fabric;

		piece[i] = (int32_t)ceil(most * message[i].bytes / longest[f] - 1e-9);
		piece[i] = piece[i] > 0 ? piece[i] : 1;
		common[f] = gcd(common[f], piece[i]);
	}
	for (int64_t i = 0; i < t->nmessages; i++) {
		piece[i] /= (int32_t)common[message[i].fabric];
		sum += piece[i];
	}
	return sum;
}

/* Appends a task in its pieces. */
static void add_pieces(struct schedule *out, const struct schedule *s,
                       const struct task *t, const int32_t *piece)
{
	schedule_task(out, t->repeats);
	schedule_software(out, t->delay_s, t->least_s);
	for (int64_t i = 0; i < t->nmessages; i++) {
		const struct message *m = &s->message[t->first + i];

		for (int32_t k = 0; k < piece[i]; k++)
			schedule_message(out, m->fabric, m->src, m->dst,
			                 m->bytes / piece[i]);
	}
}

/* Cuts messages so that they share switches by their lengths, in fewer pieces if many. */
static struct schedule cut_messages(const struct schedule *s)
{
	struct schedule out = {.arena = s->arena};
	int32_t *piece = arena_alloc(s->arena, (size_t)s->nmessages, sizeof(*piece));
	int32_t most = 2 * PIECES;
	int64_t sum;

	do {
		sum = 0;
		most /= 2;
		for (int64_t i = 0; i < s->ntasks; i++)
			sum += count_pieces(piece + s->task[i].first, s, &s->task[i],
			                    most);
	} while (sum > MESSAGES_MAX && most > 1);
	schedule_reserve(&out, sum);
	for (int64_t r = 0; r < s->nrounds; r++) {
		schedule_round(&out);
		for (int64_t i = 0; i < s->round[r].ntasks; i++) {
			const struct task *t = &s->task[s->round[r].first + i];

			add_pieces(&out, s, t, piece + t->first);
		}
	}
	schedule_end(&out);
	return out;
}

/* --- all of it -------------------------------------------------------------------- */

/* Appends all rounds; false where the machine or the problem is none for it. */
static bool build(struct schedule *out, int64_t *relay_bytes, const struct network *net,
                  const struct demand *demand, const struct symmetry *symmetry,
                  const struct plan *plan)
{
	struct arena *a = out->arena;
	struct forest forest;
	struct flows flows;
	struct pipeline p;
	double relayed;
	int32_t fewest;

	if (!forest_make(&forest, net, demand, symmetry, false, a) ||
	    forest.depths == 0 || !flows_of_forest(&flows, &forest, net, symmetry, a))
		return false;
	relayed = relayed_bytes(&flows, demand, a);
	fewest = fewest_chunks(plan, relayed);
	if (fewest == 0)
		return false;
	p = pipeline_make(&flows, net, fewest, a);
	*relay_bytes = relayed < 1 ? 0 : (int64_t)ceil(2 * relayed / p.chunks);
	add_rounds(out, net, &flows, &p);
	return true;
}

/* Looks for a schedule that takes less than *least_s, and puts it into `out`. */
static void try_reach(struct lowered *out, double *least_s, struct nccl_wire *wire,
                      const struct network *net, const struct demand *demand,
                      const struct symmetry *symmetry, const struct plan *plan)
{
	struct schedule own = {.arena = out->schedule.arena};
	int64_t relay_bytes;
	double seconds;

	if (!build(&own, &relay_bytes, net, demand, symmetry, plan))
		return;
	seconds = nccl_wire_rounds_s(&own, wire);
	if (seconds >= *least_s)
		return;
	*least_s = seconds;
	out->schedule = own;
	out->algorithm = "scheduled";
	out->relay_bytes = relay_bytes;
	out->reach = net->reach;
}

void scheduled_exchange(struct lowered *out, const struct machine *m,
                        const struct placement *place, const struct plan *plan)
{
	struct arena *a = out->schedule.arena;
	int32_t n = plan->problem->ndevices;
	int32_t *platform = arena_alloc(a, (size_t)n, sizeof(*platform));
	struct nccl_wire *wire = nccl_wire_new(a, m);
	const struct schedule direct = out->schedule;
	double least_s = nccl_wire_rounds_s(&direct, wire);
	struct network all, rails, trees;
	struct demand demand;
	struct symmetry symmetry;
	bool has_all, has_rails;

	for (int32_t d = 0; d < n; d++)
		platform[d] = placement_device(place, d);
	has_all = network_make(&all, m, platform, n, FLOW_ALL, a);
	has_rails = network_make(&rails, m, platform, n, FLOW_RAILS, a);
	if ((!has_all && !has_rails) || !demand_make(&demand, plan->problem, a))
		return;
	/* what keeps rails keeps all messages, whose links are the same */
	symmetry_find(&symmetry, has_rails ? &rails : &all, &demand,
	              &plan->problem->mesh, a);
	if (has_all)
		try_reach(out, &least_s, wire, &all, &demand, &symmetry, plan);
	if (has_rails)
		try_reach(out, &least_s, wire, &rails, &demand, &symmetry, plan);
	if (has_rails && !demand.single &&
	    network_make(&trees, m, platform, n, FLOW_TREES, a))
		try_reach(out, &least_s, wire, &trees, &demand, &symmetry, plan);
	if (out->schedule.message != direct.message && (has_rails || all.nhubs > 0))
		out->schedule = cut_messages(&out->schedule);
}
