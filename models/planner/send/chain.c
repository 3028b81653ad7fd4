#include "planner/send/chain.h"

#include <math.h>

double spreading_most(const struct spreading *spread)
{
	double most = 0;

	for (int32_t k = 0; k < spread->nsenders; k++)
		most = fmax(most, spread->busy[k]);
	return most;
}

double spreading_sum(const struct spreading *spread)
{
	double sum = 0;

	for (int32_t k = 0; k < spread->nsenders; k++)
		sum += spread->busy[k];
	return sum;
}

void spreading_link(struct spreading *spread, int32_t b, int32_t sender)
{
	int32_t head = spread->first[sender];

	spread->sender[b] = sender;
	spread->busy[sender] += spreading_loads(spread, b)[sender];
	spread->before[b] = -1;
	spread->next[b] = head;
	spread->first[sender] = b;
	if (head >= 0)
		spread->before[head] = b;
}

void spreading_give(struct spreading *spread, int32_t b, int32_t sender)
{
	int32_t from = spread->sender[b], before = spread->before[b],
		next = spread->next[b];

	spread->busy[from] -= spreading_loads(spread, b)[from];
	if (before >= 0)
		spread->next[before] = next;
	else
		spread->first[from] = next;
	if (next >= 0)
		spread->before[next] = before;
	spreading_link(spread, b, sender);
}

/* --- chains ----------------------------------------------------------------------- */

/*
 * A graph whose nodes are senders. The edge from i to j is the box of i that adds least
 * to the sum when j sends it. Heights keep all edges >= 0: added + height[i] -
 * height[j]. They can, as at first every box has its cheapest sender and only shortest
 * chains are shifted.
 */
struct chains {
	struct spreading *spread;
	double *added; /* [nsenders * nsenders]; INFINITY: i has no box */
	int32_t *box;
	double *height, *distance;
	int32_t *from; /* the sender before in the chain, -1 where it starts */
	int32_t *root; /* where it starts */
	int32_t *end;  /* of the chain of a root to be shifted; -1: none */
	bool *done;
};

static void add_edges(struct chains *c, int32_t sender, int32_t box)
{
	const double *load = spreading_loads(c->spread, box);
	int64_t row = (int64_t)sender * c->spread->nsenders;
	double own = load[sender];

	for (int32_t k = 0; k < c->spread->nsenders; k++) {
		if (load[k] - own >= c->added[row + k])
			continue;
		c->added[row + k] = load[k] - own;
		c->box[row + k] = box;
	}
	c->spread->work -= c->spread->nsenders;
}

/* Finds other boxes for the edges of a box that was given away. */
static void drop_edges(struct chains *c, int32_t sender, int32_t box)
{
	struct spreading *spread = c->spread;
	int64_t row = (int64_t)sender * spread->nsenders;

	for (int32_t k = 0; k < spread->nsenders; k++) {
		if (c->box[row + k] != box)
			continue;
		c->added[row + k] = INFINITY;
		c->box[row + k] = -1;
		for (int32_t b = spread->first[sender]; b >= 0; b = spread->next[b]) {
			const double *load = spreading_loads(spread, b);

			spread->work--;
			if (load[k] - load[sender] >= c->added[row + k])
				continue;
			c->added[row + k] = load[k] - load[sender];
			c->box[row + k] = b;
		}
	}
	spread->work -= spread->nsenders;
}

static void chains_make(struct chains *c, struct arena *a)
{
	size_t n = (size_t)c->spread->nsenders;

	c->added = arena_alloc(a, n * n, sizeof(*c->added));
	c->box = arena_alloc(a, n * n, sizeof(*c->box));
	c->height = arena_alloc(a, n, sizeof(*c->height));
	c->distance = arena_alloc(a, n, sizeof(*c->distance));
	c->from = arena_alloc(a, n, sizeof(*c->from));
	c->root = arena_alloc(a, n, sizeof(*c->root));
	c->end = arena_alloc(a, n, sizeof(*c->end));
	c->done = arena_alloc(a, n, sizeof(*c->done));
	for (size_t i = 0; i < n * n; i++) {
		c->added[i] = INFINITY;
		c->box[i] = -1;
	}
	for (int32_t b = 0; b < c->spread->nboxes; b++)
		add_edges(c, c->spread->sender[b], b);
}

static int32_t nearest(const struct chains *c)
{
	int32_t near = -1;
	double least = INFINITY;

	for (int32_t k = 0; k < c->spread->nsenders; k++) {
		if (c->done[k] || c->distance[k] >= least)
			continue;
		least = c->distance[k];
		near = k;
	}
	return near;
}

/*
 * Finds the shortest chains from all senders with more than `limit` to all others, by
 * Dijkstra's algorithm.
 */
static void find_chains(struct chains *c, double limit)
{
	struct spreading *spread = c->spread;
	int32_t n = spread->nsenders, i;

	for (int32_t k = 0; k < n; k++) {
		bool source = spread->busy[k] > limit;

		c->distance[k] = source ? 0 : INFINITY;
		c->from[k] = -1;
		c->root[k] = source ? k : -1;
		c->done[k] = false;
		c->end[k] = -1;
	}
	while ((i = nearest(c)) >= 0) {
		const double *added = c->added + (int64_t)i * n;
		double base = c->distance[i] + c->height[i];

		c->done[i] = true;
		spread->work -= 2 * n;
		for (int32_t k = 0; spread->first[i] >= 0 && k < n; k++) {
			double d = base + added[k] - c->height[k];

			if (c->done[k] || d >= c->distance[k])
				continue;
			c->distance[k] = d;
			c->from[k] = i;
			c->root[k] = c->root[i];
		}
	}
	for (int32_t k = 0; k < n; k++)
		if (c->done[k])
			c->height[k] += c->distance[k];
}

static int32_t last_box(const struct chains *c, int32_t sender)
{
	return c->box[(int64_t)c->from[sender] * c->spread->nsenders + sender];
}

/* Returns whether all senders behind the root stay less busy than it is. */
static bool relieves(const struct chains *c, int32_t sender)
{
	const struct spreading *spread = c->spread;
	double limit = spread->busy[c->root[sender]] * (1 - SPREADING_SLACK), leaves = 0;

	for (; c->from[sender] >= 0; sender = c->from[sender]) {
		const double *load = spreading_loads(spread, last_box(c, sender));

		if (spread->busy[sender] - leaves + load[sender] >= limit)
			return false;
		leaves = load[c->from[sender]];
	}
	return true;
}

static void shift_chain(struct chains *c, int32_t sender)
{
	for (; c->from[sender] >= 0; sender = c->from[sender]) {
		int32_t box = last_box(c, sender);

		spreading_give(c->spread, box, sender);
		drop_edges(c, c->from[sender], box);
		add_edges(c, sender, box);
	}
}

/*
 * Shifts one chain from each sender with more than `limit`: the one that adds least to
 * the sum. Chains of two roots have no sender in common. Returns false if there is
 * none.
 */
static bool relieve(struct chains *c, double limit)
{
	const struct spreading *spread = c->spread;
	bool found = false;

	find_chains(c, limit);
	for (int32_t k = 0; k < spread->nsenders; k++) {
		int32_t *end;

		if (c->from[k] < 0)
			continue;
		/* heights are now what the sum grows by, less the growth at the root */
		end = &c->end[c->root[k]];
		if ((*end < 0 || c->height[k] < c->height[*end] ||
		     (c->height[k] == c->height[*end] &&
		      spread->busy[k] < spread->busy[*end])) &&
		    relieves(c, k))
			*end = k;
	}
	for (int32_t k = 0; k < spread->nsenders; k++) {
		if (c->end[k] < 0)
			continue;
		shift_chain(c, c->end[k]);
		found = true;
	}
	return found;
}

bool spreading_relieve(struct spreading *spread, int64_t least_left)
{
	int64_t edges = (int64_t)spread->nsenders * spread->nsenders;
	double enough = spread->least_most * (1 + SPREADING_SLACK);
	struct chains c = {.spread = spread};
	struct arena *a;
	bool done;

	if (spreading_most(spread) <= enough)
		return true;
	if (edges > spread->work - least_left)
		return false;
	spread->work -= edges;
	a = arena_new();
	chains_make(&c, a);
	do
		done = spreading_most(spread) <= enough ||
		       !relieve(&c, spreading_most(spread) * (1 - SPREADING_SLACK));
	while (!done && spread->work > least_left);
	arena_free(a);
	return done;
}
