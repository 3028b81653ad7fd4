#include "flow/forest.h"

#include "base/heap.h"

#include <math.h>
#include <string.h>

/*
 * How many looks at a message may be spent on all shares together, for each of at least so
 * many devices, and how many the fewest shares may take. Trees of their own for each datum
 * are worth more, for what they share counts most. With ten times as many, means over drawn
 * problems are 5 % less on 256 devices and no less on 64, where symmetries leave little to
 * do; planning on 128 takes 20 ms more.
 */
static const int64_t WORK_EACH = 1200;
static const int64_t TREES_WORK_EACH = 3200;
static const int64_t LEAST_WORK_MAX = 12000000;
enum { DEVICES_MIN = 128 };
enum { SHARES_MIN = 2, SHARES_MAX = 64 };

/*
 * What a link costs that carries nothing, and what a relay adds to the price of a path,
 * beside a link that carries most. Small enough that detours are taken where they help,
 * and large enough that trees are not deep without need. Both are the middle of a range
 * (0.01 to 0.1) over which means over drawn problems differ by 2 %.
 */
static const double IDLE_PRICE = 0.05, RELAY_PRICE = 0.02;

enum { HOLDER = -1, UNREACHED = -2 };

/* A cheap way into a switch, from one of its members. */
struct entry {
	int32_t src;  /* -1: there is none yet */
	int32_t from; /* where that is on the fabric before, which joins some of them */
};

struct growth {
	const struct network *net;
	const struct demand *demand;
	const struct symmetry *symmetry;
	struct arena *arena;
	struct forest *out;
	bool trees, parts; /* one for each datum, else for each supply; list parts */
	int64_t *first;    /* [supplies + 1] datum number of each one's first */
	double *load;      /* [nlinks] seconds so far, where the lowest of an orbit is */
	double *price;     /* [nlinks] of a byte */
	/*
	 * The tree: of each device its price and the message by which it is reached. Behind
	 * the devices there are two entries for each hub, not from one place.
	 */
	double *cost;
	struct entry *entry;
	int32_t *before, *via, *depth;
	bool *has, *wants; /* is in the tree; is to be */
	double *bytes;     /* [devices] that pass it on a tree of cheapest paths */
	int32_t *list, nlist;
	struct heap heap;
	struct flow_part part; /* what is being sent */
};

/* --- prices ----------------------------------------------------------------------- */

/* Sets the prices of links for so many bytes more: as the eighth power of their time. */
static void price_links(struct growth *f, double bytes)
{
	const struct symmetry *sym = f->symmetry;

	for (int32_t l = 0; l < f->net->nlinks; l++) {
		double rate = f->net->s_per_byte[l], s, x = 0;

		if (sym->link_orbit[l] != l) {
			f->price[l] = f->price[sym->link_orbit[l]];
			continue;
		}
		s = f->load[l] + bytes * rate / sym->link_orbit_size[l];
		if (f->out->busiest_s > 0)
			x = s / f->out->busiest_s;
		x *= x;
		x *= x;
		f->price[l] = rate * (IDLE_PRICE + x * x);
	}
}

static double edge_price(const struct growth *f, const struct flow_edge *e)
{
	double price = 0;

	for (int32_t i = e->first; i < e->last; i++)
		price += f->price[f->net->link[i]];
	return price;
}

/* Returns the message by which a device is reached. */
static struct flow_message message_to(const struct growth *f, int32_t device)
{
	return (struct flow_message){f->before[device], device, f->via[device]};
}

/* Puts bytes of a share and its images on the message by which a device is reached. */
static bool send(struct growth *f, int32_t device, double bytes)
{
	struct flow_message m = message_to(f, device);
	int32_t depth = f->depth[device] - 1, pair[2];
	const int32_t *link;
	int32_t n = network_links(f->net, &m, &link, pair);

	if (depth >= FLOW_DEPTH_MAX)
		return false;
	for (int32_t i = 0; i < n; i++) {
		int32_t l = f->symmetry->link_orbit[link[i]];

		f->load[l] += bytes * f->net->s_per_byte[l] /
		              f->symmetry->link_orbit_size[l];
		f->out->busiest_s = fmax(f->out->busiest_s, f->load[l]);
	}
	*list_add(&f->out->hops, f->arena) = (struct flow_hop){m, depth, bytes};
	if (depth >= f->out->depths)
		f->out->depths = depth + 1;
	return true;
}

/* Notes that the share of the datum in hand comes to a device, if that is asked for. */
static void note_part(struct growth *f, int32_t device)
{
	if (!f->parts)
		return;
	f->part.message = message_to(f, device);
	f->part.depth = f->depth[device] - 1;
	*list_add(&f->out->parts, f->arena) = f->part;
}

/* --- cheapest paths --------------------------------------------------------------- */

/* A heap_order: of equal prices the lower number. */
static bool cheaper(const void *context, int32_t a, int32_t b)
{
	const struct growth *f = context;

	return f->cost[a] != f->cost[b] ? f->cost[a] < f->cost[b] : a < b;
}

/* Queues a device, or an entry into a switch. */
static void queue(struct growth *f, int32_t node, double cost)
{
	f->cost[node] = cost;
	heap_queue(&f->heap, cheaper, f, node, cost);
}

/* Begins a tree with the holders of a supply. */
static void begin(struct growth *f, const struct supply *s)
{
	while (heap_take(&f->heap, cheaper, f) >= 0)
		;
	for (int32_t d = 0; d < f->net->n; d++) {
		f->via[d] = UNREACHED;
		f->has[d] = f->wants[d] = false;
	}
	for (int32_t i = 0; i < 2 * f->net->nhubs; i++)
		f->entry[i].src = -1;
	for (int32_t i = 0; i < s->holders.n; i++) {
		int32_t d = s->holders.device[i];

		f->via[d] = HOLDER;
		f->has[d] = true;
		f->depth[d] = 0;
		queue(f, d, 0);
	}
}

/* Says that a device can be reached from another one at a price. */
static void offer(struct growth *f, int32_t from, int32_t to, int32_t via, double cost)
{
	if (f->has[to] || (f->via[to] != UNREACHED && cost >= f->cost[to]))
		return;
	f->before[to] = from;
	f->via[to] = via;
	f->depth[to] = f->depth[from] + 1;
	queue(f, to, cost);
}

/* Returns where a device is on the fabric before; those that share it send by that. */
static int32_t place_before(const struct growth *f, int32_t device, int32_t fabric)
{
	const struct machine *m = f->net->machine;
	int32_t domain =
		fabric > 0 ? m->fabric[fabric - 1].domain[f->net->platform[device]] : -1;

	return domain >= 0 ? domain : -1 - device;
}

/* Returns the entry of a hub that a way from some place may take. */
static int32_t entry_for(const struct growth *f, int32_t hub, int32_t from)
{
	int32_t a = 2 * hub, b = a + 1, n = f->net->n;

	if (f->entry[a].src < 0 || f->entry[a].from == from)
		return a;
	if (f->entry[b].src < 0 || f->entry[b].from == from)
		return b;
	return f->cost[n + a] > f->cost[n + b] ? a : b;
}

/* Looks at a way into a switch, of which the two cheapest from two places are kept. */
static void look_into(struct growth *f, int32_t hub, int32_t device, double cost)
{
	int32_t from = place_before(f, device, f->net->hub[hub].fabric);
	int32_t slot = entry_for(f, hub, from);

	if (f->entry[slot].src >= 0 && cost >= f->cost[f->net->n + slot])
		return;
	f->entry[slot] = (struct entry){device, from};
	queue(f, f->net->n + slot, cost);
}

/* Looks from an entry into a switch at its members that are elsewhere. */
static void look_out_of(struct growth *f, int32_t slot)
{
	const struct network *net = f->net;
	const struct flow_hub *hub = &net->hub[slot / 2];
	const struct entry *e = &f->entry[slot];
	int fabrics = net->machine->nfabrics;

	for (int32_t i = 0; i < hub->n; i++) {
		int32_t to = hub->member[i];
		int32_t down = net->port[to * fabrics + hub->fabric].down;

		if (f->has[to] || to == e->src ||
		    place_before(f, to, hub->fabric) == e->from ||
		    machine_fabric(net->machine, net->platform[e->src],
		                   net->platform[to]) != hub->fabric)
			continue;
		offer(f, e->src, to, net->nedges + hub->fabric,
		      f->cost[net->n + slot] + f->price[down]);
	}
}

/* Looks from a device at all that it has messages to. */
static void look_from(struct growth *f, int32_t device)
{
	const struct network *net = f->net;
	int fabrics = net->machine->nfabrics;

	for (int32_t i = net->out[device]; i < net->out[device + 1]; i++)
		offer(f, device, net->edge[i].dst, i,
		      f->cost[device] + edge_price(f, &net->edge[i]));
	for (int fabric = 0; fabric < fabrics; fabric++) {
		const struct flow_port *port = &net->port[device * fabrics + fabric];

		if (port->hub >= 0)
			look_into(f, port->hub, device,
			          f->cost[device] + f->price[port->up]);
	}
}

/* --- a tree for each datum -------------------------------------------------------- */

/*
 * Puts the path to a device into the tree, and sends the datum along it. From then on
 * those on the path have it at no further price but that of relays. *left counts those
 * that still want it.
 */
static bool join(struct growth *f, int32_t device, double bytes, int32_t *left)
{
	f->nlist = 0;
	for (int32_t d = device; !f->has[d]; d = f->before[d])
		f->list[f->nlist++] = d;
	while (f->nlist > 0) {
		int32_t d = f->list[--f->nlist];

		f->depth[d] = f->depth[f->before[d]] + 1;
		f->has[d] = true;
		*left -= f->wants[d];
		if (!send(f, d, bytes))
			return false;
		note_part(f, d);
		queue(f, d, f->depth[d] * RELAY_PRICE * f->net->s_per_byte[0]);
	}
	return true;
}

/* Sends a share of a datum along a tree of its own. */
static bool send_datum(struct growth *f, const struct supply *s,
                       const struct datum *datum)
{
	const struct party *wanters = &f->demand->party[datum->wanters];
	int64_t number = f->first[s - f->demand->supply] + (datum - s->datum);
	double bytes = datum->bytes / f->out->shares *
	               (double)f->symmetry->datum_orbit_size[number];
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
		if (d >= f->net->n)
			look_out_of(f, d - f->net->n);
		else if (f->has[d] || !f->wants[d])
			look_from(f, d);
		else if (!join(f, d, bytes, &left))
			return false;
	}
	return true;
}

/* --- a tree for each supply ------------------------------------------------------- */

/* Finds the cheapest paths to all devices, which `list` then has by rising price. */
static void find_paths(struct growth *f, const struct supply *s, double images)
{
	double bytes = 0;
	int32_t d;

	for (int64_t i = 0; i < s->ndata; i++)
		bytes += s->datum[i].bytes;
	/* a link may get all that a holder sends, for all take the cheapest */
	price_links(f, bytes * images / s->holders.n / f->out->shares);
	begin(f, s);
	f->nlist = 0;
	while ((d = heap_take(&f->heap, cheaper, f)) >= 0) {
		if (d >= f->net->n) {
			look_out_of(f, d - f->net->n);
			continue;
		}
		f->list[f->nlist++] = d;
		f->has[d] = true;
		look_from(f, d);
	}
}

/* Sends a share of a datum along the paths to all that want it, on each message once. */
static bool send_shared(struct growth *f, const struct party *wanters, double bytes)
{
	bool done = true;

	for (int32_t i = 0; i < wanters->n && done; i++) {
		int32_t d = wanters->device[i];

		done = f->via[d] != UNREACHED;
		for (; done && f->via[d] >= 0 && !f->wants[d]; d = f->before[d]) {
			f->wants[d] = true;
			done = send(f, d, bytes);
			note_part(f, d);
		}
	}
	for (int32_t i = 0; i < wanters->n; i++)
		for (int32_t d = wanters->device[i]; f->via[d] >= 0 && f->wants[d];
		     d = f->before[d])
			f->wants[d] = false;
	return done;
}

/* Sends all that ends at single devices: of each the bytes that pass it, far ones first. */
static bool send_passing(struct growth *f)
{
	for (int32_t i = f->nlist - 1; i >= 0; i--) {
		int32_t d = f->list[i];

		if (f->via[d] < 0 || f->bytes[d] == 0)
			continue;
		if (!send(f, d, f->bytes[d]))
			return false;
		f->bytes[f->before[d]] += f->bytes[d];
	}
	return true;
}

/* Sends shares of all data of a supply along one tree of cheapest paths. */
static bool send_supply(struct growth *f, const struct supply *s)
{
	double images = f->symmetry->supply_orbit_size[s - f->demand->supply];

	find_paths(f, s, images);
	memset(f->bytes, 0, (size_t)f->net->n * sizeof(*f->bytes));
	for (int64_t k = 0; k < s->ndata; k++) {
		const struct party *w = &f->demand->party[s->datum[k].wanters];
		double bytes = s->datum[k].bytes * images / f->out->shares;
		int32_t d = w->device[0];

		f->part.datum = k;
		if (w->n > 1) {
			if (!send_shared(f, w, bytes))
				return false;
			continue;
		}
		if (f->via[d] == UNREACHED)
			return false;
		f->bytes[d] += bytes;
		for (; f->via[d] >= 0; d = f->before[d])
			note_part(f, d);
	}
	return send_passing(f);
}

/* --- all of it -------------------------------------------------------------------- */

/* Sends a share of a supply, and of all that symmetries turn it into. */
static bool send_some(struct growth *f, int32_t supply)
{
	const struct symmetry *sym = f->symmetry;
	const struct supply *s = &f->demand->supply[supply];
	bool done = true;

	f->part.supply = supply;
	if (!f->trees)
		return sym->supply_orbit[supply] != supply || send_supply(f, s);
	for (int64_t i = 0; i < s->ndata && done; i++) {
		f->part.datum = i;
		if (sym->datum_orbit[f->first[supply] + i] == f->first[supply] + i)
			done = send_datum(f, s, &s->datum[i]);
	}
	return done;
}

/* Sends a share of everything, every second one in the reverse order. */
static bool send_share(struct growth *f, int32_t share)
{
	int32_t n = f->demand->nsupplies;
	bool done = true;

	f->part.share = share;
	for (int32_t k = 0; k < n && done; k++)
		done = send_some(f, share % 2 ? n - 1 - k : k);
	return done;
}

/* Returns how many data, or supplies, have trees of their own. */
static int64_t count_trees(const struct growth *f, bool of_data)
{
	const struct symmetry *s = f->symmetry;
	int64_t n = 0;

	for (int64_t i = 0; of_data && i < f->demand->ndata; i++)
		n += s->datum_orbit[i] == i;
	for (int32_t i = 0; !of_data && i < f->demand->nsupplies; i++)
		n += s->supply_orbit[i] == i;
	return n;
}

/* Chooses between the two kinds of trees, and the number of shares. */
static bool plan_work(struct growth *f)
{
	int64_t looks = f->net->looks + f->net->nlinks;
	int64_t devices = f->net->n > DEVICES_MIN ? f->net->n : DEVICES_MIN;
	int64_t data = count_trees(f, true) * looks, most = devices * WORK_EACH, shares;

	f->trees = !f->demand->single && data * SHARES_MIN <= devices * TREES_WORK_EACH;
	if (f->trees) {
		looks = data;
		most = devices * TREES_WORK_EACH;
	} else {
		looks *= count_trees(f, false);
	}
	shares = most / (looks + 1);
	shares = shares < SHARES_MAX ? shares : SHARES_MAX;
	*f->out = (struct forest){0};
	f->out->shares = (int32_t)(shares > SHARES_MIN ? shares : SHARES_MIN);
	return looks * f->out->shares <= LEAST_WORK_MAX;
}

static void make_room(struct growth *f)
{
	size_t n = (size_t)f->net->n, links = (size_t)f->net->nlinks;
	size_t entries = 2 * (size_t)f->net->nhubs;

	f->load = arena_alloc(f->arena, links, sizeof(*f->load));
	f->price = arena_alloc(f->arena, links, sizeof(*f->price));
	f->cost = arena_alloc(f->arena, n + entries, sizeof(*f->cost));
	f->entry = arena_alloc(f->arena, entries, sizeof(*f->entry));
	f->before = arena_alloc(f->arena, n, sizeof(*f->before));
	f->via = arena_alloc(f->arena, n, sizeof(*f->via));
	f->depth = arena_alloc(f->arena, n, sizeof(*f->depth));
	f->has = arena_alloc(f->arena, n, sizeof(*f->has));
	f->wants = arena_alloc(f->arena, n, sizeof(*f->wants));
	f->bytes = arena_alloc(f->arena, n, sizeof(*f->bytes));
	f->list = arena_alloc(f->arena, n, sizeof(*f->list));
	f->first = arena_alloc(f->arena, (size_t)f->demand->nsupplies + 1,
	                       sizeof(*f->first));
	for (int32_t i = 0; i < f->demand->nsupplies; i++)
		f->first[i + 1] = f->first[i] + f->demand->supply[i].ndata;
}

bool forest_make(struct forest *out, const struct network *network,
                 const struct demand *demand, const struct symmetry *symmetry, bool parts,
                 struct arena *a)
{
	struct growth f = {.net = network,
	                   .demand = demand,
	                   .symmetry = symmetry,
	                   .arena = a,
	                   .parts = parts,
	                   .out = out};
	bool done = plan_work(&f);

	if (!done)
		return false;
	make_room(&f);
	for (int32_t k = 0; k < out->shares && done; k++)
		done = send_share(&f, k);
	heap_free(&f.heap);
	return done;
}
