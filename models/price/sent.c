#include "price/sent.h"

#include "base/sets.h"
#include "collective/local.h"
#include "collective/nccl.h"
#include "collective/nccl_data.h"
#include "collective/profile.h"

#include <stdlib.h>
#include <string.h>

struct price_sent {
	const struct machine *machine;
	struct model *model;
	int32_t n; /* placed devices; 0: nothing is priced */
	bool library, is_network[MACHINE_FABRICS_MAX];
	double network_share; /* of a NIC, that plain sends of a library reach */
	int32_t *device;      /* [n]: where each is placed */
	int32_t *ascending;   /* [n]: in the order of their devices */
	/* [n] of the exchange that is priced: */
	int32_t *set;             /* of those that send to one another (base/sets.h) */
	int32_t *order;           /* devices by set */
	int64_t *first;           /* [n + 1]: of the boxes that each receives */
	int32_t *inside, *across; /* messages that each sends; 0 between uses */
	int32_t *last;            /* the last receiver that each sends to, + 1; ranks */
};

/* Returns whether libraries run the sends of all fabrics, or of none. */
static bool find_library(struct price_sent *sent)
{
	const struct machine *m = sent->machine;

	for (int f = 0; f < m->nfabrics; f++) {
		bool library = profile_of_fabric(m, f)->library != NULL;

		if (f > 0 && library != sent->library)
			return false;
		sent->library = library;
		sent->is_network[f] = nccl_is_network(m, f);
	}
	sent->network_share = sent->library ? m->tuning.value[TUNING_NET_SEND_SHARE] : 1;
	return true;
}

static int32_t *zeros(size_t n)
{
	int32_t *out = xmalloc(n, sizeof(*out));

	memset(out, 0, n * sizeof(*out));
	return out;
}

/* Lists the devices that are placed in ascending order, each of which is there once. */
static void sort_devices(struct price_sent *sent)
{
	int32_t ndevices = sent->n ? sent->machine->ndevices : 0, n = 0;
	int32_t *at = zeros((size_t)ndevices + 1);

	for (int32_t d = 0; d < sent->n; d++)
		at[sent->device[d]] = d + 1;
	for (int32_t d = 0; d < ndevices; d++)
		if (at[d])
			sent->ascending[n++] = at[d] - 1;
	xfree(at);
}

struct price_sent *price_sent_new(const struct machine *m,
                                  const struct placement *place, struct model *model)
{
	struct price_sent *sent = xmalloc(1, sizeof(*sent));
	size_t n = (size_t)placement_size(place, m);

	*sent = (struct price_sent){.machine = m, .model = model};
	sent->n = find_library(sent) ? (int32_t)n : 0;
	sent->device = zeros(n + 1);
	sent->ascending = zeros(n + 1);
	sent->set = zeros(n + 1);
	sent->order = zeros(n + 1);
	sent->first = xmalloc(n + 1, sizeof(*sent->first));
	sent->inside = zeros(n + 1);
	sent->across = zeros(n + 1);
	sent->last = zeros(n + 1);
	for (int32_t d = 0; d < sent->n; d++) {
		sent->device[d] = placement_device(place, d);
		if (sent->device[d] < 0 || sent->device[d] >= m->ndevices)
			sent->n = 0;
	}
	sort_devices(sent);
	return sent;
}

void price_sent_free(struct price_sent *sent)
{
	if (!sent)
		return;
	xfree(sent->device);
	xfree(sent->ascending);
	xfree(sent->set);
	xfree(sent->order);
	xfree(sent->first);
	xfree(sent->inside);
	xfree(sent->across);
	xfree(sent->last);
	xfree(sent);
}

/*
 * Finds the sets and the boxes of each receiver. Returns false where boxes are in another
 * order, or two have the same ends.
 */
static bool find_sets(struct price_sent *sent, const struct step *s, int32_t n)
{
	int32_t dst = 0;

	sets_apart(sent->set, n);
	memset(sent->last, 0, (size_t)n * sizeof(*sent->last));
	sent->first[0] = 0;
	for (int64_t i = 0; i < s->ntransfers; i++) {
		const struct transfer *t = &s->transfers[i];

		if (t->dst < dst || t->dst >= n || t->src == t->dst || t->src >= n ||
		    sent->last[t->src] == t->dst + 1 || t->elements == 0)
			return false;
		while (dst < t->dst)
			sent->first[++dst] = i;
		sent->last[t->src] = dst + 1;
		sets_join(sent->set, t->src, dst);
	}
	while (dst < n)
		sent->first[++dst] = s->ntransfers;
	return true;
}

/* Puts devices in the order of their sets, the numbers of which are the smallest in them. */
static void sort_sets(struct price_sent *sent, int32_t n)
{
	int32_t *next = sent->last, at = 0;

	memset(next, 0, (size_t)n * sizeof(*next));
	for (int32_t d = 0; d < n; d++)
		next[sent->set[d] = sets_of(sent->set, d)]++;
	for (int32_t d = 0; d < n; d++) {
		int32_t size = next[d];

		next[d] = at;
		at += size;
	}
	for (int32_t d = 0; d < n; d++)
		sent->order[next[sent->set[d]]++] = d;
}

/* Returns machine_fabric(), for devices that differ. */
static inline int fabric_between(const struct machine *m, int32_t a, int32_t b)
{
	const struct fabric *f = m->fabric;

	for (int i = 0; i < m->nfabrics; i++, f++)
		if (f->domain[a] == f->domain[b] && f->domain[a] >= 0 &&
		    (f->share <= 1 || a / f->share != b / f->share))
			return i;
	return -1;
}

static int32_t most(int32_t a, int32_t b)
{
	return a > b ? a : b;
}

/*
 * Returns whether each device sends to one peer at most and receives from one, in different rounds
 * of the library (collective/nccl_wire.c). Where ranks are known, in `last`.
 */
static bool is_lone(struct price_sent *sent, const struct step *s, int32_t n,
                    int32_t ranks)
{
	int32_t *to = sent->inside, *from = sent->across; /* the rounds of each */
	const int32_t *rank = sent->last;
	bool lone = true;

	for (int32_t dst = 0; dst < n && lone; dst++) {
		int64_t i = sent->first[dst];
		int32_t src;

		if (i == sent->first[dst + 1])
			continue;
		src = s->transfers[i].src;
		lone = !to[src] && i + 1 == sent->first[dst + 1];
		to[src] = from[dst] = nccl_send_round(rank[src], rank[dst], ranks);
	}
	for (int32_t d = 0; d < n; d++) {
		lone = lone && (!to[d] || to[d] != from[d]);
		to[d] = from[d] = 0;
	}
	return lone;
}

/* Numbers the devices that send or receive, in the order of the machine; returns how many. */
static int32_t number_ranks(struct price_sent *sent, int32_t n)
{
	int32_t ranks = 0, *rank = sent->last;

	for (int32_t i = 0; i < n; i++) {
		int32_t d = sent->order[i], set = sent->set[d];

		rank[d] = (i > 0 && sent->set[sent->order[i - 1]] == set) ||
		          (i + 1 < n && sent->set[sent->order[i + 1]] == set);
	}
	for (int32_t i = 0; i < sent->n; i++) {
		int32_t d = sent->ascending[i];

		if (d < n && rank[d])
			rank[d] = ranks++;
	}
	return ranks;
}

/* Stores how many devices of a node cross a network and share a core, 0 where none do. */
static void find_core(struct nccl_sends *step, const struct price_sent *sent,
                      const struct step *s, int32_t n)
{
	unsigned char *uses = nccl_core_uses(sent->machine);

	for (int32_t dst = 0; uses && dst < n; dst++)
		for (int64_t i = sent->first[dst]; i < sent->first[dst + 1]; i++) {
			int32_t from = sent->device[s->transfers[i].src];
			int32_t to = sent->device[dst];
			int fabric = fabric_between(sent->machine, from, to);

			if (fabric < 0 || !sent->is_network[fabric])
				continue;
			uses[from] |= CORE_SENDS;
			uses[to] |= CORE_RECEIVES;
		}
	step->core_devices = nccl_core_devices(&step->core_both, sent->machine, uses);
}

/*
 * Stores how many devices send or receive, and whether some do so across a network or processes,
 * which libraries ask. Where sets are found and sorted.
 */
static void find_step(struct nccl_sends *step, struct price_sent *sent,
                      const struct step *s, int32_t n)
{
	*step = (struct nccl_sends){.ranks = 0};
	if (!sent->library)
		return;
	step->ranks = number_ranks(sent, n);
	find_core(step, sent, s, n);
	for (int32_t dst = 0; dst < n && !step->several; dst++)
		for (int64_t i = sent->first[dst]; i < sent->first[dst + 1]; i++) {
			int32_t from = sent->device[s->transfers[i].src];
			int32_t to = sent->device[dst];
			int fabric = fabric_between(sent->machine, from, to);

			step->several = step->several ||
			                (fabric >= 0 && sent->is_network[fabric]);
			step->apart = step->apart ||
			              !nccl_one_process(sent->machine, from, to);
		}
	step->lone = !step->several && is_lone(sent, s, n, step->ranks);
}

/* Counts a message of a library, and returns the bytes that it puts on links. */
static double count_message(struct price_sent *sent, struct nccl_sends *sends,
                            int32_t src, int fabric, double bytes)
{
	bool network = fabric >= 0 && sent->is_network[fabric];

	sent->inside[src] += !network;
	sent->across[src] += network;
	if (network) {
		if (bytes > sends->most_across_bytes)
			sends->most_across_bytes = bytes;
		return bytes / sent->network_share;
	}
	if (bytes > sends->most_bytes)
		sends->most_bytes = bytes;
	if (fabric >= 0 && sent->machine->fabric[fabric].geometry == GEOMETRY_SWITCH)
		sends->switched = true;
	return bytes;
}

/* Sends all that a device receives. Returns false where there is no route. */
static bool receive(struct price_sent *sent, struct nccl_sends *sends,
                    const struct step *s, const struct dtype *type, int32_t dst)
{
	int64_t first = sent->first[dst], end = sent->first[dst + 1], elements = 0;
	int32_t to = sent->device[dst], across = 0;
	double all_bytes = 0;

	for (int64_t i = first; i < end; i++) {
		const struct transfer *t = &s->transfers[i];
		int32_t from = sent->device[t->src];
		int fabric = fabric_between(sent->machine, from, to);
		double bytes;

		if (t->elements != elements) {
			elements = t->elements;
			all_bytes = (double)dtype_bytes(type, elements);
		}
		bytes = all_bytes;
		if (sent->library) {
			bytes = count_message(sent, sends, t->src, fabric, bytes);
			across += fabric >= 0 && sent->is_network[fabric];
		}
		if (fabric < 0 || !model_message(sent->model, fabric, from, to, bytes))
			return false;
	}
	sends->inside = most(sends->inside, (int32_t)(end - first) - across);
	sends->across = most(sends->across, across);
	sends->network = sends->network || across > 0;
	return true;
}

/* Stores the largest numbers of messages that one device sends, and forgets them. */
static void take_counts(struct price_sent *sent, struct nccl_sends *sends,
                        const int32_t *device, int32_t n)
{
	for (int32_t i = 0; i < n; i++) {
		int32_t d = device[i];

		sends->inside = most(sends->inside, sent->inside[d]);
		sends->across = most(sends->across, sent->across[d]);
		sent->inside[d] = sent->across[d] = 0;
	}
}

/* Ends the task of a set of these `n` devices. */
static void end_task(struct price_sent *sent, struct nccl_sends *sends,
                     const int32_t *device, int32_t n)
{
	double wire_s = model_task_wire_s(sent->model), delay_s = 0, least_s = 0;

	if (sent->library) {
		take_counts(sent, sends, device, n);
		nccl_sends_cost(&delay_s, &least_s, sent->machine, sends, wire_s,
		                model_task_route_s(sent->model));
	}
	model_task_end(sent->model, wire_s, 1, delay_s, least_s);
}

bool price_sent_s(double *seconds, struct price_sent *sent, const struct plan *plan,
                  int step, double most_s)
{
	const struct step *s = &plan->step[step];
	const struct dtype *type = plan->problem->array.dtype;
	int32_t n = plan->problem->ndevices, end = 0;
	struct nccl_sends all;

	if (s->op != OP_EXCHANGE || n > sent->n || !find_sets(sent, s, n))
		return false;
	sort_sets(sent, n);
	find_step(&all, sent, s, n);
	model_round(sent->model);
	for (int32_t begin = 0; begin < n; begin = end) {
		struct nccl_sends sends = all;
		int32_t set = sent->set[sent->order[begin]];
		bool routed = true;

		model_task(sent->model);
		for (end = begin; end < n && sent->set[sent->order[end]] == set; end++)
			routed = routed &&
			         receive(sent, &sends, s, type, sent->order[end]);
		/* a device alone neither sends nor receives */
		if (end > begin + 1)
			end_task(sent, &sends, sent->order + begin, end - begin);
		if (!routed)
			return false;
		if (model_round_least_s(sent->model) > most_s)
			break;
	}
	*seconds = end < n ? model_round_least_s(sent->model)
	                   : model_round_end(sent->model);
	return true;
}
