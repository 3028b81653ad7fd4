#include "flow/trees.h"

enum { NODE_FABRIC, RAIL_FABRIC, TREE_FABRICS };

struct trees {
	const struct network *net;
	int32_t rails;   /* of the node that has most */
	int32_t *first;  /* [hubs] of a node: its first holder, -1 for none */
	bool *lacks;     /* [hubs] of a node: some device wants what it has not */
	int32_t *holder; /* [hubs] nodes with holders, */
	int32_t *needer; /* [hubs] and those without that want it, by rising number */
	int32_t nholders, nneeders;
	/* The share in hand. */
	struct growth *f;
	double bytes;
	int32_t rail; /* number of its hub */
	int32_t tree; /* 0 or 1 */
	int32_t turn; /* which of its node hands on what the holder has */
};

static int32_t hub_of(const struct trees *t, int32_t device, int fabric)
{
	return t->net->port[device * TREE_FABRICS + fabric].hub;
}

struct trees *trees_new(const struct network *net, struct arena *a)
{
	struct trees *t = arena_alloc(a, 1, sizeof(*t));
	size_t hubs = (size_t)net->nhubs;

	t->net = net;
	if (net->machine->nfabrics != TREE_FABRICS)
		return NULL;
	for (int32_t d = 0; d < net->n; d++)
		if (hub_of(t, d, NODE_FABRIC) < 0 || hub_of(t, d, RAIL_FABRIC) < 0)
			return NULL;
	for (int32_t h = 0; h < net->nhubs; h++)
		if (net->hub[h].fabric == NODE_FABRIC && net->hub[h].n > t->rails)
			t->rails = net->hub[h].n;
	t->first = arena_alloc(a, hubs, sizeof(*t->first));
	t->lacks = arena_alloc(a, hubs, sizeof(*t->lacks));
	t->holder = arena_alloc(a, hubs, sizeof(*t->holder));
	t->needer = arena_alloc(a, hubs, sizeof(*t->needer));
	return t;
}

/* Devices of a node beside one, by turns of which it sends what no other has. */
static int32_t turns(const struct trees *t)
{
	return t->rails > 1 ? t->rails - 1 : 1;
}

int32_t trees_shares(const struct trees *t)
{
	return 2 * t->rails * turns(t);
}

/* Sends the share from one device to another that has it not. */
static void send_to(struct trees *t, int32_t dst, int32_t src, int fabric)
{
	struct growth *f = t->f;

	if (f->has[dst])
		return;
	f->before[dst] = src;
	f->via[dst] = t->net->nedges + fabric;
	f->depth[dst] = f->depth[src] + 1;
	f->has[dst] = true;
	growth_send(f, dst, t->bytes);
	growth_note(f, dst);
}

/* Returns the device of a node on the rail; -1: there is none. */
static int32_t on_rail(const struct trees *t, int32_t node)
{
	const struct flow_hub *rail = &t->net->hub[t->rail];

	for (int32_t i = 0; i < rail->n; i++)
		if (hub_of(t, rail->member[i], NODE_FABRIC) == node)
			return rail->member[i];
	return -1;
}

/* Hands the share on to all of a node that want it, from the one on the rail. */
static void send_inside(struct trees *t, int32_t node, int32_t from)
{
	const struct flow_hub *hub = &t->net->hub[node];
	struct growth *f = t->f;
	int32_t left = 0, turn;

	for (int32_t i = 0; i < hub->n; i++)
		left += f->wants[hub->member[i]] && !f->has[hub->member[i]];
	if (f->via[from] == GROWTH_HOLDER && left > 1) {
		turn = t->turn % left;
		for (int32_t i = 0, k = 0; i < hub->n; i++)
			if (f->wants[hub->member[i]] && !f->has[hub->member[i]] &&
			    k++ == turn) {
				send_to(t, hub->member[i], from, NODE_FABRIC);
				from = hub->member[i];
				break;
			}
	}
	for (int32_t i = 0; i < hub->n; i++)
		if (f->wants[hub->member[i]])
			send_to(t, hub->member[i], from, NODE_FABRIC);
}

/* Returns the parent of place `i` of 1 to n, which is 0 for the root's child. */
static int32_t parent_of(int32_t i, int32_t n)
{
	int32_t bit = i & -i, up = (i ^ bit) | bit << 1;

	return up > n ? i ^ bit : up;
}

/* Returns which of n nodes is at place `i` of 1 to n of the share's tree. */
static int32_t at_place(const struct trees *t, int32_t i, int32_t n)
{
	if (t->tree == 0)
		return i - 1;
	return n % 2 ? i % n : n - i;
}

/*
 * Returns the node at place `i` of the tree that holder number `of` is the root of: its part
 * of those in need, the next behind it first.
 */
static int32_t node_at(const struct trees *t, int32_t i, int32_t of, int32_t n)
{
	int32_t start = 0, k = at_place(t, i, n);

	while (start < n && t->needer[start * t->nholders + of] < t->holder[of])
		start++;
	return t->needer[(start + k) % n * t->nholders + of];
}

/* Sends the share from a holder's node to its part of those that lack it. */
static bool send_over(struct trees *t, int32_t of, int32_t root)
{
	int32_t n = (t->nneeders - of + t->nholders - 1) / t->nholders, bit = 1;

	while (bit <= n / 2)
		bit *= 2;
	for (; n > 0 && bit > 0; bit /= 2)
		for (int32_t i = bit; i <= n; i += 2 * bit) {
			int32_t up = parent_of(i, n), node = node_at(t, i, of, n);
			int32_t to = on_rail(t, node);
			int32_t from = up ? on_rail(t, node_at(t, up, of, n)) : root;

			if (to < 0 || from < 0)
				return false;
			send_to(t, to, from, RAIL_FABRIC);
			send_inside(t, node, to);
		}
	return true;
}

/* Lists the nodes that have the datum, and those that lack it. */
static void find_nodes(struct trees *t, const struct supply *s,
                       const struct party *wanters)
{
	struct growth *f = t->f;

	for (int32_t h = 0; h < t->net->nhubs; h++) {
		t->first[h] = -1;
		t->lacks[h] = false;
	}
	for (int32_t i = s->holders.n - 1; i >= 0; i--)
		t->first[hub_of(t, s->holders.device[i], NODE_FABRIC)] =
			s->holders.device[i];
	for (int32_t i = 0; i < wanters->n; i++) {
		int32_t d = wanters->device[i];

		f->wants[d] = !f->has[d];
		t->lacks[hub_of(t, d, NODE_FABRIC)] |= f->wants[d];
	}
	t->nholders = t->nneeders = 0;
	for (int32_t h = 0; h < t->net->nhubs; h++) {
		if (t->first[h] >= 0)
			t->holder[t->nholders++] = h;
		else if (t->lacks[h])
			t->needer[t->nneeders++] = h;
	}
}

bool trees_send(struct growth *f, struct trees *t, const struct supply *s,
                const struct party *wanters, double bytes)
{
	int32_t share = f->part.share;

	t->f = f;
	t->bytes = bytes;
	t->tree = share / t->rails % 2;
	t->turn = share / t->rails / 2;
	growth_begin(f, s);
	find_nodes(t, s, wanters);
	for (int32_t i = 0; i < t->nholders; i++) {
		int32_t node = t->holder[i], root;
		const struct flow_hub *hub = &t->net->hub[node];

		if (i >= t->nneeders && !t->lacks[node])
			continue;
		t->rail = hub_of(t, hub->member[share % t->rails % hub->n], RAIL_FABRIC);
		root = on_rail(t, node);
		send_to(t, root, t->first[node], NODE_FABRIC);
		send_inside(t, node, root);
		if (!send_over(t, i, root))
			return false;
	}
	return true;
}
