#include "collective/nccl.h"
#include "collective/nccl_data.h"

#include <math.h>

/* That the library has for sends between devices of a node. */
enum { CHANNELS = 32 };

struct nccl_wire {
	const struct machine *machine;
	bool is_network[MACHINE_FABRICS_MAX];
	double *bytes;        /* [nlinks], 0 between uses */
	bool *network;        /* [nlinks], of links in use (nccl_load_make) */
	int32_t *used, nused; /* [nlinks] */
	/* [2 * ndevices] messages that each sends, receives; 0 between uses */
	int32_t *inside, *across;
};

struct nccl_wire *nccl_wire_new(struct arena *a, const struct machine *m)
{
	struct nccl_wire *wire = arena_alloc(a, 1, sizeof(*wire));
	size_t links = (size_t)m->nlinks + 1, devices = (size_t)m->ndevices + 1;

	wire->machine = m;
	for (int f = 0; f < m->nfabrics; f++)
		wire->is_network[f] = nccl_is_network(m, f);
	wire->bytes = arena_alloc(a, links, sizeof(*wire->bytes));
	wire->network = arena_alloc(a, links, sizeof(*wire->network));
	wire->used = arena_alloc(a, links, sizeof(*wire->used));
	wire->inside = arena_alloc(a, 2 * devices, sizeof(*wire->inside));
	wire->across = arena_alloc(a, 2 * devices, sizeof(*wire->across));
	return wire;
}

bool nccl_wire_task(double *wire_s, double *route_s, struct nccl_wire *wire,
                    const struct schedule *s, const struct task *t)
{
	const struct machine *m = wire->machine;
	int32_t links[ROUTE_LINKS_MAX];
	bool joined = true;

	*wire_s = *route_s = 0;
	for (int64_t i = 0; i < t->nmessages && joined; i++) {
		const struct message *msg = &s->message[t->first + i];
		int n = machine_route(m, msg->fabric, msg->src, msg->dst, links,
		                      ROUTE_LINKS_MAX);
		double latency_s = 0;

		joined = n >= 0;
		for (int k = 0; k < n; k++) {
			if (wire->bytes[links[k]] == 0)
				wire->used[wire->nused++] = links[k];
			wire->bytes[links[k]] += msg->bytes;
			latency_s += m->link[links[k]].latency_s;
		}
		*route_s = fmax(*route_s, latency_s);
	}
	while (wire->nused) {
		int32_t link = wire->used[--wire->nused];

		*wire_s = fmax(*wire_s, wire->bytes[link] / m->link[link].bandwidth_Bps);
		wire->bytes[link] = 0;
	}
	return joined;
}

void nccl_load_make(struct nccl_load *out, struct nccl_wire *wire,
                    const struct schedule *s, const int32_t *kind, int32_t nkinds,
                    struct arena *a)
{
	int32_t *of_kind = arena_alloc(a, (size_t)nkinds, sizeof(*of_kind));
	int32_t links[ROUTE_LINKS_MAX];
	double longest_s = -1;

	*out = (struct nccl_load){.joined = true};
	for (int64_t i = 0; i < s->nmessages && out->joined; i++) {
		const struct message *msg = &s->message[i];
		int n = machine_route(wire->machine, msg->fabric, msg->src, msg->dst,
		                      links, ROUTE_LINKS_MAX);
		double latency_s = 0;

		out->joined = n >= 0;
		for (int k = 0; k < n; k++) {
			if (wire->bytes[links[k]] == 0)
				wire->used[wire->nused++] = links[k];
			wire->bytes[links[k]] += msg->bytes;
			wire->network[links[k]] = wire->is_network[msg->fabric];
			latency_s += wire->machine->link[links[k]].latency_s;
		}
		if (n >= 0 && latency_s > longest_s) {
			longest_s = latency_s;
			out->nroute = n;
			out->route = arena_dup(a, links, (size_t)n, sizeof(*links));
		}
	}
	out->link = arena_alloc(a, (size_t)nkinds, sizeof(*out->link));
	out->bytes = arena_alloc(a, (size_t)nkinds, sizeof(*out->bytes));
	out->network = arena_alloc(a, (size_t)nkinds, sizeof(*out->network));
	while (wire->nused) {
		int32_t link = wire->used[--wire->nused], *at = &of_kind[kind[link]];

		if (!*at)
			*at = ++out->n;
		if (wire->bytes[link] > out->bytes[*at - 1]) {
			out->bytes[*at - 1] = wire->bytes[link];
			out->link[*at - 1] = link;
			out->network[*at - 1] = wire->network[link];
		}
		wire->bytes[link] = 0;
	}
}

bool nccl_load_time(double *wire_s, double *route_s, const struct nccl_load *l,
                    const struct machine *m, double factor, double net_factor)
{
	*wire_s = *route_s = 0;
	if (!l->joined)
		return false;
	for (int i = 0; i < l->n; i++)
		*wire_s = fmax(*wire_s, l->bytes[i] * factor *
		                                (l->network[i] ? net_factor : 1) /
		                                m->link[l->link[i]].bandwidth_Bps);
	for (int i = 0; i < l->nroute; i++)
		*route_s += m->link[l->route[i]].latency_s;
	return true;
}

/* Where a message is counted with its sender, and with its receiver. */
static int32_t end_of(const struct message *msg, int end)
{
	return end ? 2 * msg->dst + 1 : 2 * msg->src;
}

/*
 * Returns the most messages that any device sends or receives, inside nodes or across,
 * cleared behind it.
 */
static int32_t most_messages(int32_t *count, const struct schedule *s,
                             const struct task *t)
{
	int32_t peers = 0;

	for (int64_t i = 0; i < 2 * t->nmessages; i++) {
		int32_t *n = &count[end_of(&s->message[t->first + i / 2], i % 2)];

		peers = *n > peers ? *n : peers;
		*n = 0;
	}
	return peers;
}

/*
 * Returns into how many parts the library cuts a send, each on a channel of its own: as many as leave
 * each of the ranks one of 32, but none of less than `part` bytes; then twice as many as long as one
 * has more than `most`, up to 32, before Hopper 16. So 17 MiB take half as long as 16 MiB. Source:
 * NCCL's enqueue.cc (addP2pToPlan, scheduleP2pTasksToPlan). Measured alike on 8 H100 (79, 82, 162,
 * 299, 356 GB/s for 32 to 512 MiB, set xxrjun-N1G8), 64 GB200 (21, 22, 44, 88, 174 for 4, 16, 32,
 * 64, 128 MiB) and 72 (22, 44, 86, 170, 335 for 9, 18, 36, 72, 144 MiB, measured-xla.csv).
 */
static int parts_of(const struct machine *m, const struct nccl_sends *sends,
                    double most, double part)
{
	int limit = m->tuning.value[TUNING_CC] < 90 ? 16 : CHANNELS, parts = limit;
	double bytes = sends->most_bytes;

	while (parts > 1 && (int64_t)parts * sends->ranks > CHANNELS)
		parts /= 2;
	parts = (int)fmin(parts, fmax(1, ceil(bytes / part)));
	while (bytes / parts > most && 2 * parts <= limit)
		parts *= 2;
	return parts;
}

/* Returns whether a message inside a node, of a step on one node, goes by LL. */
static bool sends_ll(double bytes)
{
	return bytes <= CHANNELS * 16 * 1024.;
}

/*
 * Returns the seconds that the busiest channel of a node needs for messages as large as the largest.
 * Up to 16 KiB for each of 32 channels it takes LL, which reaches a quarter of a channel's
 * bandwidth: 5.2 of 22 GB/s on GB200 (measured-xla.csv, permutes of 128 to 512 KiB), 5 to 7.5 of
 * 20.6 on H100. On one node the parts of peer k are on channels k, k + 32 / parts and so on
 * (NCCL's ncclP2pChannelBaseForRound and ncclP2pChannelForPart; peer 0 of a device is itself), so
 * the busiest channel has one of each 32 / parts peers. All-to-alls of 18, 36 and 72 GB200 show it: their busiest
 * channel has one, two and three peers of one part (365, 370 to 400 and 458 to 506 GB/s), and
 * three quarters of 17 peers of four parts (499). On Hopper a block that serves one direction alone is
 * 1.5 times as fast: pairs of 8 H100 swap 4 to 64 MiB at 116 GB/s, where a shift by one has 76
 * (measured-xla.csv). On GB200 that table has the same times for both; of others nothing is known.
 */
static double channels_s(const struct machine *m, const struct nccl_sends *sends)
{
	static const double KiB = 1024, MiB = 1024 * 1024;
	double bytes = sends->most_bytes, peers = sends->several ? 1 : sends->inside;
	bool ll = !sends->several && sends_ll(bytes);
	double Bps = m->tuning.value[TUNING_CHANNEL_BPS] / (ll ? 4 : 1);
	int parts;

	if (sends->lone)
		Bps *= nccl_data.lone_block[nccl_generation(m->tuning.value[TUNING_CC])];
	if (Bps == 0 || bytes == 0)
		return 0;
	parts = parts_of(m, sends, sends->several ? MiB / 2 : 16 * MiB,
	                 ll               ? 8 * KiB
	                 : sends->several ? MiB / 4
	                                  : MiB / 16);
	return fmax(1, ceil(peers * parts / CHANNELS)) * bytes / parts / Bps;
}

/* Returns what the sends to so many peers wait for one another. */
static double waits_s(const struct machine *m, int32_t peers)
{
	return .5 * peers * (peers - 1.) * m->tuning.value[TUNING_SEND_WAIT_S];
}

double nccl_sends_large_s(const struct machine *m, int32_t peers, double bytes)
{
	const struct nccl_data *d = &nccl_data;
	int simple = PROTOCOL_SIMPLE, ll = PROTOCOL_LL;

	if (peers < 2 || sends_ll(bytes))
		return 0;
	return waits_s(m, peers) +
	       1e-6 * (d->base_us[NCCL_RING][simple] - d->base_us[NCCL_RING][ll] +
	               (d->nvlink_us[NCCL_RING][simple] - d->nvlink_us[NCCL_RING][ll]) *
	                       m->tuning.value[TUNING_STEP]);
}

double nccl_send_batches(int32_t peers)
{
	return fmax(1, (double)peers / nccl_data.batch);
}

double nccl_sends_far_s(const struct machine *m, int32_t peers)
{
	const struct nccl_data *d = &nccl_data;
	const double *tuning = m->tuning.value;
	int simple = PROTOCOL_SIMPLE, ll = PROTOCOL_LL;

	return nccl_send_batches(peers) *
	       (tuning[TUNING_NET_LATENCY_S] +
	        1e-6 * (d->base_us[NCCL_RING][simple] - d->base_us[NCCL_RING][ll] +
	                (d->net_us[NCCL_RING][simple] - d->net_us[NCCL_RING][ll]) *
	                        tuning[TUNING_NET_STEP]));
}

double nccl_sends_chunks_s(const struct machine *m, int32_t peers, double bytes,
                           double wire_s)
{
	double chunk = bytes > 0 ? fmin(1, nccl_data.net_chunk_bytes / bytes) : 0;

	if (m->tuning.value[TUNING_CC] == 0 || peers < 2)
		return 0;
	return 2 * (fmin(peers, nccl_data.batch) - 1) * chunk * wire_s / peers;
}

/*
 * Returns the seconds that the largest message across a network needs at least. It has channels for
 * what a NIC carries, two or more, which are halved as long as channels times ranks exceed four
 * times the channels of all sends (send_channels). Before 2.29 there are net_send_channels, two
 * unless an environment says more, halved by the channels that collectives have. AMD's library has
 * two; nothing is known of how it halves them.
 */
static double far_channels_s(const struct machine *m, const struct nccl_sends *sends,
                             double wire_s)
{
	const double *tuning = m->tuning.value;
	const struct nccl_data *d = &nccl_data;
	bool nvidia = tuning[TUNING_CC] > 0;
	bool old = nvidia && tuning[TUNING_NET_SEND_CHANNELS] > 0;
	int row = nccl_generation(tuning[TUNING_CC]), channels = 2;
	int most = old ? d->channels_across[row] : d->send_channels[row];
	double Bps = old ? d->old_channel_Bps[row] : d->net_channel_Bps;
	double bytes = sends->most_across_bytes;

	if (bytes == 0 || sends->across == 0)
		return 0;
	if (old)
		channels = (int)fmin(CHANNELS, tuning[TUNING_NET_SEND_CHANNELS]);
	else if (nvidia && wire_s > 0)
		channels = (int)fmin(
			CHANNELS, fmax(2, ceil(bytes * sends->across / wire_s / Bps)));
	while (nvidia && channels > 1 && (int64_t)channels * sends->ranks > 4 * most)
		channels /= 2;
	return bytes / Bps / channels;
}

double nccl_channels_s(const struct machine *m, int32_t ranks, int32_t peers,
                       double bytes)
{
	struct nccl_sends sends = {.ranks = ranks, .inside = peers, .most_bytes = bytes};

	return fmax(channels_s(m, &sends), sends_ll(bytes) ? waits_s(m, peers) : 0);
}

double nccl_blocks_s(const struct machine *m, double bytes)
{
	double Bps = m->tuning.value[TUNING_CHANNEL_BPS];

	return Bps > 0 ? bytes / (CHANNELS * nccl_data.block_links * Bps) : 0;
}

/*
 * Returns the bandwidth of a link where one peer after another has the channels of few rings
 * (nccl_few_devices()), else 0.
 */
static double few_Bps(const struct machine *m, int32_t ranks)
{
	int32_t links[ROUTE_LINKS_MAX];
	int f = ranks > 1 ? machine_fabric(m, 0, 1) : -1;

	if (!nccl_few_devices(m, f, ranks) ||
	    machine_route(m, f, 0, 1, links, ROUTE_LINKS_MAX) < 1)
		return 0;
	return m->link[links[0]].bandwidth_Bps;
}

/* Returns whether links lead from the first device to all others of its node, and no switch. */
static bool linked_to_all(const struct machine *m)
{
	const int32_t *domain = m->fabric[0].domain;

	if (m->fabric[0].geometry == GEOMETRY_SWITCH)
		return false;
	for (int32_t d = 1; d < m->ndevices && domain[d] == domain[0]; d++)
		if (machine_hops(m, 0, 0, d) != 1)
			return false;
	return true;
}

double nccl_sends_wires(const struct machine *m, int32_t peers)
{
	if (peers == 1)
		return nccl_caller_wires(m);
	if (m->tuning.value[TUNING_CC] == 0 && linked_to_all(m))
		return nccl_data.sends_links;
	return nccl_data.sends_wires[nccl_generation(m->tuning.value[TUNING_CC])];
}

/*
 * Returns the seconds that sends within a node need at least beside their channels: waits, slow wires
 * and few rings.
 */
static double node_least_s(const struct machine *m, const struct nccl_sends *sends,
                           double wire_s)
{
	double least_s = sends_ll(sends->most_bytes) ? waits_s(m, sends->inside) : 0;
	double slow = nccl_sends_wires(m, sends->inside), Bps = few_Bps(m, sends->ranks);

	if (slow > 1)
		least_s = fmax(least_s, slow * wire_s);
	if (Bps > 0)
		least_s = fmax(least_s, sends->inside * sends->most_bytes / Bps);
	return least_s;
}

void nccl_sends_cost(double *delay_s, double *least_s, const struct machine *m,
                     const struct nccl_sends *sends, double wire_s, double route_s)
{
	const double *tuning = m->tuning.value;
	struct nccl_core core =
		nccl_core_sends(sends->core_devices, sends->across,
	                        sends->most_across_bytes, sends->core_both);
	double peers_s, fill_s = 0;

	*least_s = fmax(channels_s(m, sends), far_channels_s(m, sends, wire_s));
	*least_s = fmax(*least_s, nccl_core_chunks_s(m, &core));
	if (!sends->several)
		*least_s = fmax(*least_s, node_least_s(m, sends, wire_s));
	peers_s = sends->inside * tuning[TUNING_SEND_S] +
	          sends->across * tuning[TUNING_NET_SEND_S];
	if (sends->most_across_bytes > 0)
		peers_s += nccl_sends_far_s(m, sends->across) +
		           1e-6 * nccl_data.net_call_us +
		           nccl_core_wait_s(m, &core, nccl_send_batches(sends->across));
	if (!sends->several)
		peers_s += nccl_sends_large_s(m, sends->inside, sends->most_bytes);
	if (!sends->several && !sends->apart && !sends->later && sends->inside > 1)
		peers_s += nccl_callers[m->launch].node_sends_s;
	if (sends->network)
		fill_s = nccl_sends_chunks_s(m, sends->across, sends->most_across_bytes,
		                             wire_s);
	else if (tuning[TUNING_CC] > 0 || sends->switched)
		fill_s = 2 * sqrt(wire_s * tuning[TUNING_FILL_S]);
	*delay_s = fmax(0, peers_s - route_s) + fill_s;
}

int32_t nccl_send_round(int32_t src, int32_t dst, int32_t ranks)
{
	return 1 + ((dst - src) % ranks + ranks - 1) % ranks;
}

/*
 * Returns whether each device sends to one peer at most and receives from one, in different rounds.
 * `rank` has those of the devices; `round` ([2 x devices]) is zero before and after.
 */
static bool is_lone(const struct schedule *s, const int32_t *rank, int32_t ranks,
                    int32_t *round)
{
	bool lone = true;

	for (int64_t i = 0; i < s->nmessages; i++) {
		const struct message *msg = &s->message[i];
		int32_t *from = &round[end_of(msg, 0)], *to = &round[end_of(msg, 1)];

		lone = lone && !*from && !*to;
		*from = *to = nccl_send_round(rank[msg->src], rank[msg->dst], ranks);
	}
	for (int64_t i = 0; i < s->nmessages && lone; i++) {
		int32_t src = s->message[i].src;

		lone = round[2 * src] != round[2 * src + 1];
	}
	for (int64_t i = 0; i < 2 * s->nmessages; i++)
		round[end_of(&s->message[i / 2], i % 2)] = 0;
	return lone;
}

/* Numbers the devices that send or receive, in the order of the machine; returns how many. */
static int32_t number_ranks(int32_t *rank, const struct schedule *s, int32_t ndevices)
{
	int32_t ranks = 0;

	for (int64_t i = 0; i < s->nmessages; i++)
		rank[s->message[i].src] = rank[s->message[i].dst] = 1;
	for (int32_t d = 0; d < ndevices; d++)
		if (rank[d])
			rank[d] = ranks++;
	return ranks;
}

/* Stores how many devices of a node cross a network and share a core, 0 where none do. */
static void find_core(struct nccl_sends *out, const struct schedule *s,
                      const struct nccl_wire *wire)
{
	unsigned char *uses = nccl_core_uses(wire->machine);

	for (int64_t i = 0; uses && i < s->nmessages; i++) {
		if (!wire->is_network[s->message[i].fabric])
			continue;
		uses[s->message[i].src] |= CORE_SENDS;
		uses[s->message[i].dst] |= CORE_RECEIVES;
	}
	out->core_devices = nccl_core_devices(&out->core_both, wire->machine, uses);
}

void nccl_sends_step(struct nccl_sends *out, const struct schedule *s,
                     struct nccl_wire *wire)
{
	int32_t *rank = wire->across;

	*out = (struct nccl_sends){
		.ranks = number_ranks(rank, s, wire->machine->ndevices)};
	find_core(out, s, wire);
	for (int64_t i = 0; i < s->nmessages; i++) {
		const struct message *msg = &s->message[i];

		out->several = out->several || wire->is_network[msg->fabric];
		out->apart = out->apart ||
		             !nccl_one_process(wire->machine, msg->src, msg->dst);
	}
	out->lone = !out->several && is_lone(s, rank, out->ranks, wire->inside);
	for (int64_t i = 0; i < s->nmessages; i++)
		rank[s->message[i].src] = rank[s->message[i].dst] = 0;
}

/* Returns whether no message before the task crosses a network. */
static bool is_first_across(const struct schedule *s, const struct task *t,
                            const struct nccl_wire *wire)
{
	for (int64_t i = 0; i < t->first; i++)
		if (wire->is_network[s->message[i].fabric])
			return false;
	return true;
}

void nccl_sends_task(struct schedule *s, struct task *t, struct nccl_wire *wire,
                     const struct nccl_sends *step, const bool *again)
{
	struct nccl_sends sends = {.ranks = step->ranks,
	                           .core_devices = step->core_devices,
	                           .core_both = step->core_both,
	                           .several = step->several,
	                           .apart = step->apart,
	                           .lone = step->lone,
	                           .later = step->later,
	                           .network = again && step->several};
	double wire_s, route_s;

	for (int64_t i = 0; i < t->nmessages; i++) {
		struct message *msg = &s->message[t->first + i];
		bool across = wire->is_network[msg->fabric];
		int32_t *count = across ? wire->across : wire->inside;

		if (!again || !again[t->first + i]) {
			count[end_of(msg, 0)]++;
			count[end_of(msg, 1)]++;
		}
		sends.network = sends.network || across;
		if (!across) {
			sends.most_bytes = fmax(sends.most_bytes, msg->bytes);
			sends.switched = sends.switched ||
			                 wire->machine->fabric[msg->fabric].geometry ==
			                         GEOMETRY_SWITCH;
			continue;
		}
		sends.most_across_bytes = fmax(sends.most_across_bytes, msg->bytes);
		msg->bytes /= wire->machine->tuning.value[TUNING_NET_SEND_SHARE];
	}
	sends.inside = most_messages(wire->inside, s, t);
	sends.across = most_messages(wire->across, s, t);
	/* One call has its first step once. */
	if (again && !is_first_across(s, t, wire))
		sends.most_across_bytes = 0;
	/* Without a route no clock has a time. */
	if (t->nmessages && nccl_wire_task(&wire_s, &route_s, wire, s, t))
		nccl_sends_cost(&t->delay_s, &t->least_s, wire->machine, &sends, wire_s,
		                route_s);
}

double nccl_wire_rounds_s(const struct schedule *s, struct nccl_wire *wire)
{
	double total_s = 0;

	for (int64_t r = 0; r < s->nrounds; r++) {
		const struct task *t = &s->task[s->round[r].first];
		struct task all = {.first = t->first};
		double slowest_s = 0, least_s = INFINITY, wire_s, route_s;

		for (int64_t i = 0; i < s->round[r].ntasks; i++, t++) {
			nccl_wire_task(&wire_s, &route_s, wire, s, t);
			route_s = t->repeats * route_s + t->delay_s;
			slowest_s = fmax(slowest_s, fmax(wire_s, t->least_s) + route_s);
			least_s = fmin(least_s, route_s);
			all.nmessages += t->nmessages;
		}
		nccl_wire_task(&wire_s, &route_s, wire, s, &all);
		total_s += fmax(slowest_s, wire_s + least_s);
	}
	return total_s;
}
