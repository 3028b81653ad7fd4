#include "cost/flow_net.h"

#include "base/assert.h"
#include "base/hash.h"
#include "base/table.h"
#include "cost/alike.h"

#include <string.h>

/* A device's part in one task. */
struct member {
	int32_t device;
	int64_t round; /* numbered over all schedules together */
};

struct flow_nets {
	const struct machine *machine;
	struct routes *routes;
	int32_t *link;   /* [nlinks]: its number in the net; -1: it is not there */
	int64_t *member; /* [ndevices]: its last member */
};

/* The net that is made. */
struct making {
	struct flow_nets *nets;
	struct flow_net *net;
	struct table whats;
	int64_t rounds;
	LIST(struct fair_task) task;
	LIST(struct fair_use) use;
	LIST(double) link_Bps;
	LIST(struct member) member;
};

struct flow_nets *flow_nets_new(const struct machine *m)
{
	struct flow_nets *nets = xmalloc(1, sizeof(*nets));

	*nets = (struct flow_nets){.machine = m, .routes = routes_new(m)};
	nets->link = xmalloc((size_t)m->nlinks + 1, sizeof(*nets->link));
	nets->member = xmalloc((size_t)m->ndevices + 1, sizeof(*nets->member));
	return nets;
}

void flow_nets_free(struct flow_nets *nets)
{
	if (!nets)
		return;
	routes_free(nets->routes);
	xfree(nets->link);
	xfree(nets->member);
	xfree(nets);
}

void flow_net_free(struct flow_net *net)
{
	fair_free(&net->fair);
	xfree(net->what.at);
	*net = (struct flow_net){.nmessages = 0};
}

/* Returns the number of what a message is, a new one unless there is one like it. */
static int32_t find_what(struct making *k, const struct net_what *what)
{
	struct flow_net *net = k->net;
	uint64_t hash;
	size_t at;

	if (net->what.n && !memcmp(&net->what.at[net->what.n - 1], what, sizeof(*what)))
		return (int32_t)net->what.n - 1;
	hash = hash_bytes(HASH_START, what, sizeof(*what));
	for (int32_t i = table_first(&k->whats, hash, &at); i >= 0;
	     i = table_next(&k->whats, hash, &at))
		if (!memcmp(&net->what.at[i], what, sizeof(*what)))
			return i;
	table_add(&k->whats, hash, (int32_t)net->what.n);
	*list_add(&net->what, NULL) = *what;
	return (int32_t)net->what.n - 1;
}

static int32_t find_link(struct making *k, int32_t link)
{
	int32_t *number = &k->nets->link[link];

	if (*number < 0) {
		*number = (int32_t)k->link_Bps.n;
		*list_add(&k->link_Bps, NULL) =
			k->nets->machine->link[link].bandwidth_Bps;
	}
	return *number;
}

/* Returns the device's member of the task whose members begin with `first`. */
static int32_t find_member(struct making *k, int32_t device, int64_t first)
{
	int64_t *member = &k->nets->member[device];

	if (*member < first) {
		*member = k->member.n;
		*list_add(&k->member, NULL) = (struct member){device, k->rounds};
	}
	return (int32_t)*member;
}

static void add_use(struct making *k, int32_t link, double bytes)
{
	*list_add(&k->use, NULL) = (struct fair_use){link, 1, bytes};
	k->task.at[k->task.n - 1].nuses++;
}

/*
 * Adds a message. Members stand with negative numbers, from -1 down, until it is known how
 * many links there are. Returns false without a route.
 */
static bool add_message(struct making *k, const struct message *m,
                        const struct net_what *what, int64_t first)
{
	const struct machine *machine = k->nets->machine;
	double latency_s = 0;
	int n;
	const int32_t *links =
		routes_find(&n, k->nets->routes, m->fabric, m->src, m->dst);

	if (n < 0)
		return false;
	*list_add(&k->task, NULL) =
		(struct fair_task){.after_s = find_what(k, what), .first = k->use.n};
	for (int i = 0; i < n; i++) {
		latency_s += machine->link[links[i]].latency_s;
		add_use(k, find_link(k, links[i]), NET_WIRE);
	}
	add_use(k, -1 - find_member(k, m->src, first), NET_SENDS);
	add_use(k, -1 - find_member(k, m->dst, first), NET_RECEIVES);
	k->task.at[k->task.n - 1].latency_s = latency_s;
	return true;
}

static bool add_round(struct making *k, const struct schedule *s, int step,
                      const struct round *r)
{
	for (int64_t i = 0; i < r->ntasks; i++) {
		const struct task *t = &s->task[r->first + i];
		int64_t first = k->member.n;
		struct net_what what = {.step = step,
		                        .repeats = t->repeats,
		                        .delay_s = t->delay_s / t->repeats,
		                        .least_s = t->least_s / t->repeats};

		for (int64_t j = 0; j < t->nmessages; j++) {
			what.bytes = s->message[t->first + j].bytes;
			if (!add_message(k, &s->message[t->first + j], &what, first))
				return false;
		}
	}
	k->rounds++;
	return true;
}

/* Lists the members by device, in order: [n] of them. */
static int32_t *sort_members(const struct making *k)
{
	int32_t ndevices = k->nets->machine->ndevices;
	int64_t n = k->member.n;
	int32_t *sorted = xmalloc((size_t)n + 1, sizeof(*sorted));
	int64_t *next = xmalloc((size_t)ndevices + 1, sizeof(*next));

	memset(next, 0, ((size_t)ndevices + 1) * sizeof(*next));
	for (int64_t i = 0; i < n; i++)
		next[k->member.at[i].device + 1]++;
	for (int32_t d = 0; d < ndevices; d++)
		next[d + 1] += next[d];
	for (int64_t i = 0; i < n; i++)
		sorted[next[k->member.at[i].device]++] = (int32_t)i;
	xfree(next);
	return sorted;
}

/* Adds the devices that have members, and gives members their numbers behind the links. */
static void add_devices(struct making *k)
{
	int32_t *sorted = sort_members(k);
	int32_t device = -1, nlinks = (int32_t)k->link_Bps.n;

	for (int64_t i = 0; i < k->use.n; i++)
		if (k->use.at[i].link < 0)
			k->use.at[i].link = nlinks - 1 - k->use.at[i].link;
	for (int64_t i = 0; i < k->member.n; i++) {
		const struct member *m = &k->member.at[sorted[i]];

		if (m->device != device)
			*list_add(&k->task, NULL) =
				(struct fair_task){.after_s = -1, .first = k->use.n};
		device = m->device;
		add_use(k, nlinks + sorted[i], NET_ROUND + (double)m->round);
		*list_add(&k->link_Bps, NULL) = 0;
	}
	xfree(sorted);
}

/* Counts what the folded, or the whole, system is made of. */
static void count_kinds(struct flow_net *net)
{
	const struct fair *f = &net->fair;

	net->nmessages = net->nlinks = 0;
	while (net->nmessages < f->ntasks && f->task[net->nmessages].after_s >= 0)
		net->nmessages++;
	while (net->nlinks < f->nlinks && f->link_Bps[net->nlinks] > 0)
		net->nlinks++;
	net->ndevices = (int32_t)f->ntasks - net->nmessages;
	net->nmembers = f->nlinks - net->nlinks;
}

enum flow_net_status flow_net_make(struct flow_net *out, struct flow_nets *nets,
                                   const struct schedule *s, int n, int64_t most)
{
	struct making k = {.nets = nets, .net = out};
	struct fair whole;
	bool routed = true;

	*out = (struct flow_net){.nmessages = 0};
	for (int32_t l = 0; l < nets->machine->nlinks; l++)
		nets->link[l] = -1;
	for (int32_t d = 0; d < nets->machine->ndevices; d++)
		nets->member[d] = -1;
	for (int i = 0; i < n && routed; i++)
		for (int64_t r = 0; r < s[i].nrounds && routed; r++)
			routed = add_round(&k, &s[i], i, &s[i].round[r]);
	if (routed)
		add_devices(&k);
	table_free(&k.whats);
	xfree(k.member.at);
	whole = (struct fair){.ntasks = k.task.n,
	                      .nuses = k.use.n,
	                      .task = k.task.at,
	                      .use = k.use.at,
	                      .nlinks = (int32_t)k.link_Bps.n,
	                      .link_Bps = k.link_Bps.at};
	if (routed && alike_fold(&out->fair, &whole, most))
		fair_free(&whole);
	else
		out->fair = whole;
	if (!routed)
		return FLOW_NET_NO_ROUTE;
	if (out->fair.ntasks > most)
		return FLOW_NET_TOO_LARGE;
	count_kinds(out);
	return FLOW_NET_OK;
}
