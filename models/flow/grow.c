#include "flow/grow.h"

#include <math.h>

/*
 * What a link costs that carries nothing, and what a relay adds to the price of a path,
 * beside a link that carries most. Small enough that detours are taken where they help,
 * and large enough that trees are not deep without need. Both are the middle of a range
 * (0.01 to 0.1) over which means over drawn problems differ by 2 %.
 */
static const double IDLE_PRICE = 0.05, RELAY_PRICE = 0.02;

/* By how much a link gets dearer before a tree that has taken it looks for other ways. */
static const double DEARER = 1.25;

/* --- prices ----------------------------------------------------------------------- */

/* Returns the price of a byte on the lowest link of an orbit, for so many bytes more. */
static double link_price(const struct growth *f, int32_t link, double bytes)
{
	double rate = f->net->s_per_byte[link], x = 0;

	if (f->out->busiest_s > 0)
		x = (f->load[link] + bytes * rate / f->symmetry->link_orbit_size[link]) /
		    f->out->busiest_s;
	x *= x;
	x *= x;
	return rate * (IDLE_PRICE + x * x);
}

void growth_price(struct growth *f, double bytes)
{
	const int32_t *orbit = f->symmetry->link_orbit;

	for (int32_t l = 0; l < f->net->nlinks; l++)
		f->price[l] =
			orbit[l] == l ? link_price(f, l, bytes) : f->price[orbit[l]];
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

void growth_load(struct growth *f, const struct flow_message *m, double bytes)
{
	const int32_t *link;
	int32_t pair[2], n = network_links(f->net, m, &link, pair);

	for (int32_t i = 0; i < n; i++) {
		int32_t l = f->symmetry->link_orbit[link[i]];

		f->load[l] +=
			bytes * f->net->s_per_byte[l] / f->symmetry->link_orbit_size[l];
		f->out->busiest_s = fmax(f->out->busiest_s, f->load[l]);
	}
}

void growth_send(struct growth *f, int32_t device, double bytes)
{
	struct flow_message m = message_to(f, device);

	growth_load(f, &m, bytes);
	*list_add(&f->out->hops, f->arena) =
		(struct flow_hop){m, f->depth[device] - 1, 0, bytes};
}

void growth_note(struct growth *f, int32_t device)
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

/* Forgets all ways but those in the tree. */
static void forget_ways(struct growth *f)
{
	while (heap_take(&f->heap, cheaper, f) >= 0)
		;
	for (int32_t i = 0; i < 2 * f->net->nhubs; i++)
		f->entry[i].src = -1;
}

void growth_begin(struct growth *f, const struct supply *s)
{
	forget_ways(f);
	for (int32_t d = 0; d < f->net->n; d++) {
		f->via[d] = GROWTH_UNREACHED;
		f->has[d] = f->wants[d] = false;
	}
	for (int32_t i = 0; i < s->holders.n; i++) {
		int32_t d = s->holders.device[i];

		f->via[d] = GROWTH_HOLDER;
		f->has[d] = true;
		f->depth[d] = 0;
		queue(f, d, 0);
	}
}

/*
 * Returns the depth of a device that a message reaches from one of depth `depth`. On rails
 * all messages between two depths take one fabric, first the inner one, so that the rounds
 * before all are at work are those of the fast links.
 */
static int32_t next_depth(const struct growth *f, int32_t depth, int32_t via)
{
	int32_t fabrics = f->net->machine->nfabrics;

	if (f->net->reach == FLOW_RAILS)
		while (depth % fabrics != network_fabric(f->net, via))
			depth++;
	return depth + 1;
}

/* Says that a device can be reached from another one at a price. */
static void offer(struct growth *f, int32_t from, int32_t to, int32_t via, double cost)
{
	int32_t depth = next_depth(f, f->depth[from], via);

	if (f->has[to] || (f->via[to] != GROWTH_UNREACHED && cost >= f->cost[to]) ||
	    depth > f->net->depth_max)
		return;
	f->before[to] = from;
	f->via[to] = via;
	f->depth[to] = depth;
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
	f->entry[slot] = (struct growth_entry){device, from};
	queue(f, f->net->n + slot, cost);
}

/* Looks from an entry into a switch at its members that are elsewhere. */
static void look_out_of(struct growth *f, int32_t slot)
{
	const struct network *net = f->net;
	const struct flow_hub *hub = &net->hub[slot / 2];
	const struct growth_entry *e = &f->entry[slot];
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

int32_t growth_next(struct growth *f)
{
	return heap_take(&f->heap, cheaper, f);
}

void growth_look(struct growth *f, int32_t node)
{
	if (node < f->net->n)
		look_from(f, node);
	else
		look_out_of(f, node - f->net->n);
}

/* Queues a device of the tree. */
static void queue_joined(struct growth *f, int32_t device)
{
	queue(f, device, f->depth[device] * RELAY_PRICE * f->net->s_per_byte[0]);
}

void growth_join(struct growth *f, int32_t device)
{
	f->depth[device] = next_depth(f, f->depth[f->before[device]], f->via[device]);
	f->has[device] = true;
	queue_joined(f, device);
}

void growth_again(struct growth *f, int32_t device, double bytes)
{
	const struct network *net = f->net;
	int32_t fabric = f->via[device] - net->nedges, src = f->before[device], up;
	double price;

	if (fabric < 0)
		return;
	up = f->symmetry->link_orbit[net->port[src * net->machine->nfabrics + fabric].up];
	price = link_price(f, up, bytes);
	if (price <= DEARER * f->price[up] || f->again_left < net->looks)
		return;
	f->again_left -= net->looks;
	for (int32_t l = 0; l < net->nlinks; l++)
		if (f->symmetry->link_orbit[l] == up)
			f->price[l] = price;
	forget_ways(f);
	for (int32_t d = 0; d < net->n; d++) {
		if (f->has[d])
			queue_joined(f, d);
		else
			f->via[d] = GROWTH_UNREACHED;
	}
}

void growth_room(struct growth *f)
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
	f->bytes = arena_alloc(f->arena, n * (FLOW_DEPTH_MAX + 1), sizeof(*f->bytes));
	f->list = arena_alloc(f->arena, n, sizeof(*f->list));
	f->first = arena_alloc(f->arena, (size_t)f->demand->nsupplies + 1,
	                       sizeof(*f->first));
	for (int32_t i = 0; i < f->demand->nsupplies; i++)
		f->first[i + 1] = f->first[i] + f->demand->supply[i].ndata;
}
