#include "flow/forest.h"

#include "base/heap.h"

#include <math.h>
#include <string.h>

/*
 * How many looks at a message may be spent on all shares together. Trees of their own for
 * each datum are worth three times as many, for what they share counts most.
 */
static const int64_t WORK_MAX = 4000000;
static const int64_t TREES_WORK_MAX = 12000000;
enum { SHARES_MIN = 2, SHARES_MAX = 64 };

/*
 * What a link costs that carries nothing, and what a relay adds to the price of a path,
 * beside a link that carries most. Small enough that detours are taken where they help,
 * and large enough that trees are not deep without need. Both are the middle of a range
 * (0.01 to 0.1) over which means over drawn problems differ by 2 %.
 */
static const double IDLE_PRICE = 0.05, RELAY_PRICE = 0.02;

enum { HOLDER = -1, UNREACHED = -2 };

struct forest {
	const struct network *net;
	const struct demand *demand;
	bool trees; /* one for each datum, else one for each supply */
	int shares;
	double *load;  /* [nlinks] seconds so far */
	double *price; /* [nlinks] of a byte */
	double busiest_s;
	/* The tree: of each device its price and the message by which it is reached. */
	double *cost;
	int32_t *via, *depth;
	bool *has, *wants; /* is in the tree; is to be */
	double *bytes;     /* [devices] that pass it on a tree of cheapest paths */
	int32_t *list, nlist;
	struct heap heap;
	struct flows flows;
};

/* --- prices ----------------------------------------------------------------------- */

/* Sets the prices of links for so many bytes more: as the eighth power of their time. */
static void price_links(struct forest *f, double bytes)
{
	for (int32_t l = 0; l < f->net->nlinks; l++) {
		double s = f->load[l] + bytes * f->net->s_per_byte[l], x = 0;

		if (f->busiest_s > 0)
			x = s / f->busiest_s;
		x *= x;
		x *= x;
		f->price[l] = f->net->s_per_byte[l] * (IDLE_PRICE + x * x);
	}
}

static double edge_price(const struct forest *f, const struct flow_edge *e)
{
	double price = 0;

	for (int32_t i = e->first; i < e->last; i++)
		price += f->price[f->net->link[i]];
	return price;
}

/* Puts bytes of one share on the message by which a device is reached. */
static bool send(struct forest *f, int32_t device, double bytes)
{
	const struct flow_edge *e = &f->net->edge[f->via[device]];
	int32_t depth = f->depth[device] - 1;

	if (depth >= FLOW_DEPTH_MAX)
		return false;
	for (int32_t i = e->first; i < e->last; i++) {
		int32_t link = f->net->link[i];

		f->load[link] += bytes * f->net->s_per_byte[link];
		f->busiest_s = fmax(f->busiest_s, f->load[link]);
	}
	f->flows.bytes[(int64_t)depth * f->net->nedges + f->via[device]] += bytes;
	if (depth >= f->flows.depths)
		f->flows.depths = depth + 1;
	return true;
}

/* --- cheapest paths --------------------------------------------------------------- */

/* A heap_order: of equal prices the lower number. */
static bool cheaper(const void *context, int32_t a, int32_t b)
{
	const struct forest *f = context;

	return f->cost[a] != f->cost[b] ? f->cost[a] < f->cost[b] : a < b;
}

static void queue(struct forest *f, int32_t device, double cost)
{
	f->cost[device] = cost;
	heap_queue(&f->heap, cheaper, f, device, cost);
}

/* Begins a tree with the holders of a supply. */
static void begin(struct forest *f, const struct supply *s)
{
	while (heap_take(&f->heap, cheaper, f) >= 0)
		;
	for (int32_t d = 0; d < f->net->n; d++) {
		f->via[d] = UNREACHED;
		f->has[d] = f->wants[d] = false;
	}
	for (int32_t i = 0; i < s->holders.n; i++) {
		int32_t d = s->holders.device[i];

		f->via[d] = HOLDER;
		f->has[d] = true;
		f->depth[d] = 0;
		queue(f, d, 0);
	}
}

/* Looks from a device at all that it has messages to. */
static void look_from(struct forest *f, int32_t device)
{
	const struct network *net = f->net;

	for (int32_t i = net->out[device]; i < net->out[device + 1]; i++) {
		int32_t to = net->edge[i].dst;
		double cost;

		if (f->has[to])
			continue;
		cost = f->cost[device] + edge_price(f, &net->edge[i]);
		if (f->via[to] != UNREACHED && cost >= f->cost[to])
			continue;
		f->via[to] = i;
		f->depth[to] = f->depth[device] + 1;
		queue(f, to, cost);
	}
}

/* Returns the device from which another one, which is no holder, is reached. */
static int32_t before(const struct forest *f, int32_t device)
{
	return f->net->edge[f->via[device]].src;
}

/* --- a tree for each datum -------------------------------------------------------- */

/*
 * Puts the path to a device into the tree, and sends the datum along it. From then on
 * those on the path have it at no further price but that of relays. *left counts those
 * that still want it.
 */
static bool join(struct forest *f, int32_t device, double bytes, int32_t *left)
{
	f->nlist = 0;
	for (int32_t d = device; !f->has[d]; d = before(f, d))
		f->list[f->nlist++] = d;
	while (f->nlist > 0) {
		int32_t d = f->list[--f->nlist];

		f->depth[d] = f->depth[before(f, d)] + 1;
		f->has[d] = true;
		*left -= f->wants[d];
		if (!send(f, d, bytes))
			return false;
		queue(f, d, f->depth[d] * RELAY_PRICE * f->net->s_per_byte[0]);
	}
	return true;
}

/* Sends a share of a datum along a tree of its own. */
static bool send_datum(struct forest *f, const struct supply *s,
                       const struct datum *datum)
{
	const struct party *wanters = &f->demand->party[datum->wanters];
	double bytes = datum->bytes / f->shares;
	int32_t left = 0, d;

	price_links(f, bytes);
	begin(f, s);
	for (int32_t i = 0; i < wanters->n; i++) {
		d = wanters->device[i];
		f->wants[d] = !f->has[d];
		left += f->wants[d];
	}
	while (left > 0) {
		d = heap_take(&f->heap, cheaper, f);
		if (d < 0)
			return false;
		if (f->has[d] || !f->wants[d])
			look_from(f, d);
		else if (!join(f, d, bytes, &left))
			return false;
	}
	return true;
}

/* --- a tree for each supply ------------------------------------------------------- */

/* Finds the cheapest paths to all devices, which `list` then has by rising price. */
static void find_paths(struct forest *f, const struct supply *s)
{
	double bytes = 0;
	int32_t d;

	for (int64_t i = 0; i < s->ndata; i++)
		bytes += s->datum[i].bytes;
	/* a link may get all that a holder sends, for all take the cheapest */
	price_links(f, bytes / s->holders.n / f->shares);
	begin(f, s);
	f->nlist = 0;
	while ((d = heap_take(&f->heap, cheaper, f)) >= 0) {
		f->list[f->nlist++] = d;
		f->has[d] = true;
		look_from(f, d);
	}
}

/* Sends a share of a datum along the paths to all that want it, on each message once. */
static bool send_shared(struct forest *f, const struct party *wanters, double bytes)
{
	bool done = true;

	for (int32_t i = 0; i < wanters->n && done; i++) {
		int32_t d = wanters->device[i];

		done = f->via[d] != UNREACHED;
		for (; done && f->via[d] >= 0 && !f->wants[d]; d = before(f, d)) {
			f->wants[d] = true;
			done = send(f, d, bytes);
		}
	}
	for (int32_t i = 0; i < wanters->n; i++)
		for (int32_t d = wanters->device[i]; f->via[d] >= 0 && f->wants[d];
		     d = before(f, d))
			f->wants[d] = false;
	return done;
}

/* Sends all that ends at single devices: of each the bytes that pass it, far ones first. */
static bool send_passing(struct forest *f)
{
	for (int32_t i = f->nlist - 1; i >= 0; i--) {
		int32_t d = f->list[i];

		if (f->via[d] < 0 || f->bytes[d] == 0)
			continue;
		if (!send(f, d, f->bytes[d]))
			return false;
		f->bytes[before(f, d)] += f->bytes[d];
	}
	return true;
}

/* Sends shares of all data of a supply along one tree of cheapest paths. */
static bool send_supply(struct forest *f, const struct supply *s)
{
	find_paths(f, s);
	memset(f->bytes, 0, (size_t)f->net->n * sizeof(*f->bytes));
	for (int64_t k = 0; k < s->ndata; k++) {
		const struct party *w = &f->demand->party[s->datum[k].wanters];
		double bytes = s->datum[k].bytes / f->shares;

		if (w->n == 1 && f->via[w->device[0]] == UNREACHED)
			return false;
		if (w->n == 1)
			f->bytes[w->device[0]] += bytes;
		else if (!send_shared(f, w, bytes))
			return false;
	}
	return send_passing(f);
}

/* --- all of it -------------------------------------------------------------------- */

/* Sends a share of everything, every second one in the reverse order. */
static bool send_share(struct forest *f, int share)
{
	int32_t n = f->demand->nsupplies;
	bool done = true;

	for (int32_t k = 0; k < n && done; k++) {
		const struct supply *s = &f->demand->supply[share % 2 ? n - 1 - k : k];

		if (!f->trees)
			done = send_supply(f, s);
		for (int64_t i = 0; i < s->ndata && done && f->trees; i++)
			done = send_datum(f, s, &s->datum[i]);
	}
	return done;
}

/* Chooses between the two kinds of trees, and the number of shares. */
static bool plan_work(struct forest *f)
{
	int64_t looks = f->net->nedges + f->net->n + f->net->nlinks;
	int64_t data = f->demand->ndata * looks, most = WORK_MAX, shares;

	f->trees = !f->demand->single && data * SHARES_MIN <= TREES_WORK_MAX;
	if (f->trees) {
		looks = data;
		most = data * SHARES_MAX <= WORK_MAX ? WORK_MAX : TREES_WORK_MAX;
	} else {
		looks *= f->demand->nsupplies;
	}
	shares = most / (looks + 1);
	f->shares = (int)(shares < SHARES_MAX ? shares : SHARES_MAX);
	if (f->shares < SHARES_MIN)
		f->shares = SHARES_MIN;
	return looks * f->shares <= 4 * TREES_WORK_MAX;
}

bool forest_make(struct flows *out, const struct network *network,
                 const struct demand *demand, struct arena *a)
{
	size_t n = (size_t)network->n, links = (size_t)network->nlinks;
	struct forest f = {.net = network, .demand = demand};
	bool done = plan_work(&f);

	if (!done)
		return false;
	f.load = arena_alloc(a, links, sizeof(*f.load));
	f.price = arena_alloc(a, links, sizeof(*f.price));
	f.cost = arena_alloc(a, n, sizeof(*f.cost));
	f.via = arena_alloc(a, n, sizeof(*f.via));
	f.depth = arena_alloc(a, n, sizeof(*f.depth));
	f.has = arena_alloc(a, n, sizeof(*f.has));
	f.wants = arena_alloc(a, n, sizeof(*f.wants));
	f.bytes = arena_alloc(a, n, sizeof(*f.bytes));
	f.list = arena_alloc(a, n, sizeof(*f.list));
	f.flows.nedges = network->nedges;
	f.flows.bytes = arena_alloc(a, FLOW_DEPTH_MAX * (size_t)network->nedges,
	                            sizeof(*f.flows.bytes));
	for (int share = 0; share < f.shares && done; share++)
		done = send_share(&f, share);
	heap_free(&f.heap);
	f.flows.busiest_s = f.busiest_s;
	*out = f.flows;
	return done;
}
