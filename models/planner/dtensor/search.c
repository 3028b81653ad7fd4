#include "planner/dtensor/dtensor.h"

#include "planner/dtensor/bound.h"
#include "planner/dtensor/queue.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

/* --- costs ------------------------------------------------------------------------- */

static const double base_us = 6.6; /* of every collective */
static const double alltoall_penalty_us = 1.0;

struct dtensor_links dtensor_links_of(const struct mesh *m, int host_devices)
{
	struct dtensor_links out;
	int64_t devices = 1;

	for (int i = m->naxes - 1; i >= 0; i--) {
		devices *= m->axis[i].size;
		out.latency_us[i] = devices > host_devices ? 2.7 : 0.6;
		out.bandwidth_GiBps[i] = devices > host_devices ? 87.7 * 0.22 : 87.7;
	}
	return out;
}

static double ring_us(const struct dtensor_links *links, int mesh_dim, int32_t n,
                      int64_t hops, double GiB)
{
	double seconds = GiB * (double)hops / n / links->bandwidth_GiBps[mesh_dim];

	return base_us + (double)hops * links->latency_us[mesh_dim] + seconds * 1e6;
}

double dtensor_transform_us(const struct dtensor_links *links, const struct mesh *m,
                            const struct dtensor_transform *t, double local_GiB)
{
	int32_t n = m->axis[t->mesh_dim].size;
	int64_t hops = n - 1;

	if (t->from == DTENSOR_REPLICATE)
		return 0;
	if (t->from == DTENSOR_PARTIAL && t->to == DTENSOR_REPLICATE)
		return ring_us(links, t->mesh_dim, n, 2 * hops, local_GiB);
	if (t->from == DTENSOR_PARTIAL)
		return ring_us(links, t->mesh_dim, n, hops, local_GiB);
	assert(t->to != DTENSOR_PARTIAL);
	if (t->to == DTENSOR_REPLICATE)
		return ring_us(links, t->mesh_dim, n, hops, local_GiB * n);
	return ring_us(links, t->mesh_dim, n, hops, local_GiB) + alltoall_penalty_us;
}

/* --- states ------------------------------------------------------------------------ */

/* Mesh dimensions longer than 1: at most the binary digits of MESH_DEVICES_MAX. */
enum { LONG_AXES_MAX = 22 };
static_assert(MESH_DEVICES_MAX == 1 << LONG_AXES_MAX, "room for every long axis");

/*
 * Placements and places of the long mesh dimensions, a byte each, eight to a word: only
 * the words that have some are compared and hashed.
 */
enum { KEY_WORDS = (LONG_AXES_MAX + 7) / 8 };

struct key {
	union {
		uint64_t placement_word[KEY_WORDS];
		int8_t placement[LONG_AXES_MAX];
	};
	union {
		uint64_t place_word[KEY_WORDS];
		int8_t place[LONG_AXES_MAX];
	};
};
static_assert(RANK_MAX <= INT8_MAX, "a byte holds a placement");

struct node {
	struct key key;
	bool done;
	int32_t parent; /* -1: the source */
	double cost_us;
};

/* Where a node is found; the hash is here so that most others need no look. */
struct slot {
	int32_t node; /* -1: empty */
	uint32_t hash;
};

struct search {
	const struct mesh *mesh;
	struct dtensor_links links;
	double array_bytes;
	int rank, naxes, nwords; /* words of a key */
	int axis[LONG_AXES_MAX]; /* of the mesh */
	bool partial;            /* an end has one */
	struct node *node;
	int32_t nnodes, node_capacity;
	struct slot *slot; /* open addressing; twice as many as nodes, or more */
	int32_t nslots;
	struct dtensor_queue queue;
	int32_t target;
	struct key target_key;
	struct dtensor_bound bound;
	int32_t most;    /* states */
	double limit_us; /* a way that must cost more is none */
	bool by_total;   /* the queue's order: with the bound of what is left */
};

static uint32_t hash(const struct search *s, const struct key *k)
{
	uint64_t h = 0;

	for (int i = 0; i < s->nwords; i++) {
		h = (h ^ k->placement_word[i]) * UINT64_C(0x9e3779b97f4a7c15);
		h = (h ^ h >> 32 ^ k->place_word[i]) * UINT64_C(0x9e3779b97f4a7c15);
	}
	return (uint32_t)(h >> 32);
}

static bool key_equal(const struct search *s, const struct key *a, const struct key *b)
{
	for (int i = 0; i < s->nwords; i++)
		if (a->placement_word[i] != b->placement_word[i] ||
		    a->place_word[i] != b->place_word[i])
			return false;
	return true;
}

/* The slot of a key, or the empty one where it belongs. */
static struct slot *find_slot(const struct search *s, const struct key *k, uint32_t hash)
{
	uint32_t mask = (uint32_t)s->nslots - 1, i = hash & mask;

	while (s->slot[i].node >= 0 && (s->slot[i].hash != hash ||
	                                !key_equal(s, &s->node[s->slot[i].node].key, k)))
		i = (i + 1) & mask;
	return &s->slot[i];
}

static void grow_nodes(struct search *s)
{
	s->node_capacity = s->node_capacity ? 2 * s->node_capacity : 256;
	s->node = xrealloc(s->node, (size_t)s->node_capacity, sizeof(*s->node));
	s->nslots = 2 * s->node_capacity;
	s->slot = xrealloc(s->slot, (size_t)s->nslots, sizeof(*s->slot));
	for (int32_t i = 0; i < s->nslots; i++)
		s->slot[i].node = -1;
	for (int32_t i = 0; i < s->nnodes; i++) {
		uint32_t h = hash(s, &s->node[i].key);

		*find_slot(s, &s->node[i].key, h) = (struct slot){i, h};
	}
}

/* The node of a key; a new one has an infinite cost. */
static int32_t node_of(struct search *s, const struct key *k)
{
	uint32_t h = hash(s, k);
	struct slot *slot;

	if (s->nnodes == s->node_capacity)
		grow_nodes(s);
	slot = find_slot(s, k, h);
	if (slot->node < 0) {
		*slot = (struct slot){s->nnodes, h};
		s->node[s->nnodes++] =
			(struct node){.key = *k, .parent = -1, .cost_us = INFINITY};
	}
	return slot->node;
}

/*
 * Sums of the same costs in another order differ by rounding, which is far less than this
 * part of them.
 */
static const double SLACK = 1e-9;

/* --- the search -------------------------------------------------------------------- */

/* The state that is expanded: its node and what its transforms share. */
struct expansion {
	int32_t node, number; /* of the bound's state */
	struct key key;
	double cost_us, local_GiB;
	int count[RANK_MAX], top[RANK_MAX]; /* shards of a tensor dimension, innermost */
	uint32_t right[RANK_MAX]; /* the places that have the target's mesh dimension */
};

static bool is_right(const struct search *s, int i, int dim, int place)
{
	return s->target_key.placement[i] == dim && s->target_key.place[i] == place;
}

/* The role of a mesh dimension whose tensor dimension has the target's at `right`. */
static enum dtensor_role role_of(int placement, int place, uint32_t right)
{
	if (placement < 0)
		return placement == DTENSOR_PARTIAL ? ROLE_PARTIAL : ROLE_REPLICATED;
	return ~right & ((UINT32_C(2) << place) - 1) ? ROLE_ASTRAY : ROLE_PLACED;
}

/* What long mesh dimension i adds to the number of the bound's state. */
static int32_t weight(const struct search *s, const struct expansion *x, int i)
{
	int dim = x->key.placement[i];
	uint32_t right = dim < 0 ? 0 : x->right[dim];

	return s->bound.weight[i][role_of(dim, x->key.place[i], right)];
}

static int32_t weight_after(const struct search *s, const struct expansion *x, int i,
                            int to)
{
	int place = to < 0 ? 0 : x->count[to];
	uint32_t right = to < 0 ? 0 : x->right[to];

	right |= (uint32_t)is_right(s, i, to, place) << place;
	return s->bound.weight[i][role_of(to, place, right)];
}

static struct expansion expansion_of(const struct search *s, int32_t node)
{
	struct expansion x = {.node = node,
	                      .key = s->node[node].key,
	                      .cost_us = s->node[node].cost_us};
	double shards = 1;

	for (int i = 0; i < s->naxes; i++) {
		int dim = x.key.placement[i], place = x.key.place[i];

		if (dim < 0)
			continue;
		shards *= s->mesh->axis[s->axis[i]].size;
		if (x.count[dim]++ == 0 || place > x.key.place[x.top[dim]])
			x.top[dim] = i;
		x.right[dim] |= (uint32_t)is_right(s, i, dim, place) << place;
	}
	for (int i = 0; i < s->naxes; i++)
		x.number += weight(s, &x, i);
	x.local_GiB = s->array_bytes / shards / 1024 / 1024 / 1024;
	return x;
}

/*
 * Reach the state that changes long mesh dimension i. A state that waits at the same
 * cost or less would be taken first, so it is left alone; and so is one that costs no
 * less than the target, which waits and would be taken before it.
 */
static void reach(struct search *s, const struct expansion *x, int i, int to)
{
	struct dtensor_transform t = {s->axis[i], x->key.placement[i], to};
	double cost_us =
		x->cost_us + dtensor_transform_us(&s->links, s->mesh, &t, x->local_GiB);
	double rest_us =
		s->bound.rest_us[x->number - weight(s, x, i) + weight_after(s, x, i, to)];
	struct key key = x->key;
	int32_t node;

	if (cost_us >= s->node[s->target].cost_us || cost_us + rest_us > s->limit_us)
		return;
	key.placement[i] = (int8_t)to;
	key.place[i] = (int8_t)(to < 0 ? 0 : x->count[to]);
	node = node_of(s, &key);
	if (s->node[node].done || s->node[node].cost_us <= cost_us)
		return;
	s->node[node].cost_us = cost_us;
	s->node[node].parent = x->node;
	dtensor_queue_push(&s->queue,
	                   s->by_total ? cost_us + rest_us * (1 + SLACK) : cost_us,
	                   node);
}

/* All mesh dimensions of one placement, to one other or (RANK_MAX) to every Shard. */
static void reach_all(struct search *s, const struct expansion *x, int from, int to)
{
	for (int i = 0; i < s->naxes; i++) {
		if (x->key.placement[i] != from)
			continue;
		if (to != RANK_MAX)
			reach(s, x, i, to);
		for (int dim = 0; to == RANK_MAX && dim < s->rank; dim++)
			reach(s, x, i, dim);
	}
}

/* In the order of the header. */
static void expand(struct search *s, const struct expansion *x)
{
	for (int from = 0; from < s->rank; from++)
		for (int to = 0; to < s->rank; to++)
			if (x->count[from] && from != to)
				reach(s, x, x->top[from], to);
	for (int from = 0; from < s->rank; from++)
		if (x->count[from])
			reach(s, x, x->top[from], DTENSOR_REPLICATE);
	reach_all(s, x, DTENSOR_PARTIAL, DTENSOR_REPLICATE);
	reach_all(s, x, DTENSOR_REPLICATE, RANK_MAX);
	reach_all(s, x, DTENSOR_PARTIAL, RANK_MAX);
	if (s->partial)
		reach_all(s, x, DTENSOR_REPLICATE, DTENSOR_PARTIAL);
}

static struct key key_of(struct search *s, const struct dtensor_state *state)
{
	struct key k = {{{0}}, {{0}}};

	for (int i = 0; i < s->naxes; i++) {
		k.placement[i] = (int8_t)state->placement[s->axis[i]];
		k.place[i] = (int8_t)state->place[s->axis[i]];
		s->partial = s->partial || k.placement[i] == DTENSOR_PARTIAL;
	}
	return k;
}

/* From the source to the target; false after too many states. */
static bool run(struct search *s, const struct key *source)
{
	int32_t node;

	s->nnodes = s->queue.n = s->queue.counter = 0;
	for (int32_t i = 0; i < s->nslots; i++)
		s->slot[i].node = -1;
	node = node_of(s, source);
	s->target = node_of(s, &s->target_key);
	s->node[node].cost_us = 0;
	dtensor_queue_push(&s->queue, 0, node);
	while (s->nnodes <= s->most) {
		struct expansion x;

		assert(s->queue.n > 0); /* a way leads from every state to every other */
		node = dtensor_queue_pop(&s->queue);
		if (node == s->target)
			return true;
		if (s->node[node].done)
			continue;
		s->node[node].done = true;
		x = expansion_of(s, node);
		expand(s, &x);
	}
	return false;
}

/*
 * A* first, for what the cheapest way costs, or hardly more: of states with equal totals
 * the slack takes the one nearer to the target. Then Dijkstra's algorithm over the states
 * through which so cheap a way may lead. All others are on no cheapest way, so those that
 * are on one are reached from the same states and taken in the same order as if none were
 * left out: the answer is the same to the last tie.
 */
static bool find_way(struct search *s, const struct key *source)
{
	s->limit_us = INFINITY;
	s->by_total = true;
	if (!run(s, source))
		return false;
	s->limit_us = s->node[s->target].cost_us * (1 + 4 * SLACK);
	s->by_total = false;
	return run(s, source);
}

/* The transforms on the way to a node, first to last. */
static struct dtensor_transforms way_to(const struct search *s, int32_t target,
                                        struct arena *a)
{
	struct dtensor_transforms out = {0};
	int at;

	for (int32_t k = target; s->node[k].parent >= 0; k = s->node[k].parent)
		out.n++;
	out.step = arena_alloc(a, (size_t)out.n, sizeof(*out.step));
	at = out.n;
	for (int32_t k = target; s->node[k].parent >= 0; k = s->node[k].parent) {
		const struct key *after = &s->node[k].key;
		const struct key *before = &s->node[s->node[k].parent].key;
		int i = 0;

		while (before->placement[i] == after->placement[i])
			i++;
		out.step[--at] = (struct dtensor_transform){
			s->axis[i], before->placement[i], after->placement[i]};
	}
	return out;
}

bool dtensor_search(struct dtensor_transforms *out, const struct dtensor_state *from,
                    const struct dtensor_state *to, const struct array *array,
                    const struct mesh *m, int32_t most, struct arena *a,
                    struct text *why)
{
	struct search s = {.mesh = m, .rank = array->shape.rank, .most = most};
	int64_t elements = shape_elements(&array->shape);
	struct key source;
	bool found;

	s.links = dtensor_links_of(m, DTENSOR_HOST_DEVICES);
	s.array_bytes = (double)dtype_bytes(array->dtype, elements);
	for (int i = 0; i < m->naxes; i++)
		if (m->axis[i].size > 1)
			s.axis[s.naxes++] = i;
	s.nwords = (s.naxes + 7) / 8;
	source = key_of(&s, from);
	s.target_key = key_of(&s, to);
	s.bound = dtensor_bound_of(to, &s.links, m, s.axis, s.naxes, s.array_bytes,
	                           s.partial, a);
	found = find_way(&s, &source);
	if (found)
		*out = way_to(&s, s.target, a);
	else
		text_printf(why, "DTensor's search passes %d states", (int)most);
	free(s.node);
	free(s.slot);
	free(s.queue.entry);
	return found;
}
