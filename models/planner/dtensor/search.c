#include "base/assert.h"
#include "planner/dtensor/dtensor.h"

#include "base/heap.h"
#include "base/list.h"
#include "base/table.h"
#include "planner/dtensor/bound.h"

#include <math.h>
#include <stdlib.h>

/* --- states ------------------------------------------------------------------------ */

/* The most mesh dimensions longer than 1: the binary digits of MESH_DEVICES_MAX. */
enum { LONG_AXES_MAX = 22 };
static_assert(MESH_DEVICES_MAX == 1 << LONG_AXES_MAX, "room for every long axis");

/*
 * The placement and place of each long mesh dimension, four to a word. Only the words
 * that have some are compared and hashed.
 */
enum { KEY_WORDS = (LONG_AXES_MAX + 3) / 4 };

union key {
	uint64_t word[KEY_WORDS];
	struct {
		int8_t placement, place;
	} axis[LONG_AXES_MAX];
};
static_assert(RANK_MAX <= INT8_MAX, "a byte holds a placement");

struct node {
	double cost_us;
	int32_t parent; /* -1: the source */
	bool done;
	union key key;
};

/* By what a node waits. Apart from the nodes: the queue looks at so many of them. */
struct turn {
	double total_us; /* the cost by which it is queued */
	int32_t came;    /* when it was queued last */
};

struct search {
	const struct mesh *mesh;
	struct dtensor_links links;
	double array_bytes;
	int rank, naxes, nwords; /* words of a key */
	int axis[LONG_AXES_MAX]; /* the axes of the mesh */
	bool partial;            /* an end has one */
	LIST(struct node) nodes;
	LIST(struct turn) turns; /* of the nodes */
	struct table numbers;    /* of nodes by their keys */
	struct heap queue;       /* by cost, then first come first served */
	int32_t queued;          /* so far */
	int32_t target;
	union key target_key;
	struct dtensor_bound bound;
	int32_t most;    /* states */
	double limit_us; /* ways that must cost more are left out */
	bool by_total;   /* the queue's order includes the bound of the rest */
};

static uint64_t key_hash(const struct search *s, const union key *k)
{
	uint64_t h = 0;

	for (int i = 0; i < s->nwords; i++)
		h = (h ^ h >> 32 ^ k->word[i]) * UINT64_C(0x9e3779b97f4a7c15);
	return h;
}

static bool key_equal(const struct search *s, const union key *a, const union key *b)
{
	for (int i = 0; i < s->nwords; i++)
		if (a->word[i] != b->word[i])
			return false;
	return true;
}

/* Returns the node of a key; a new one has an infinite cost. */
static int32_t node_of_key(struct search *s, const union key *k)
{
	uint64_t hash = key_hash(s, k);
	size_t at;

	for (int32_t i = table_first(&s->numbers, hash, &at); i >= 0;
	     i = table_next(&s->numbers, hash, &at))
		if (key_equal(s, &s->nodes.at[i].key, k))
			return i;
	table_add(&s->numbers, hash, (int32_t)s->nodes.n);
	*list_add(&s->nodes, NULL) =
		(struct node){.key = *k, .parent = -1, .cost_us = INFINITY};
	list_add(&s->turns, NULL);
	return (int32_t)s->nodes.n - 1;
}

static bool node_before(const void *context, int32_t a, int32_t b)
{
	const struct search *s = context;
	const struct turn *x = &s->turns.at[a], *y = &s->turns.at[b];

	return x->total_us < y->total_us ||
	       (x->total_us == y->total_us && x->came < y->came);
}

static void queue_node(struct search *s, int32_t node, double total_us)
{
	s->turns.at[node] = (struct turn){total_us, s->queued++};
	heap_queue(&s->queue, node_before, s, node, total_us);
}

/*
 * Sums of the same costs in another order differ by rounding, which is far less than
 * this share of them.
 */
static const double SLACK = 1e-9;

/* --- the search -------------------------------------------------------------------- */

/* The state that is expanded: its node and what its transforms share. */
struct expansion {
	int32_t node, number; /* of the bound's state */
	union key key;
	double cost_us, local_GiB;
	int count[RANK_MAX], top[RANK_MAX]; /* shards of a tensor dimension, innermost */
	uint32_t right[RANK_MAX]; /* the places that have the target's mesh dimension */
};

static bool is_right(const struct search *s, int i, int dim, int place)
{
	return s->target_key.axis[i].placement == dim &&
	       s->target_key.axis[i].place == place;
}

/*
 * Returns the role of a mesh dimension whose tensor dimension has the target's at
 * `right`.
 */
static enum dtensor_role role_of(int placement, int place, uint32_t right)
{
	if (placement < 0)
		return placement == DTENSOR_PARTIAL ? ROLE_PARTIAL : ROLE_REPLICATED;
	return ~right & ((UINT32_C(2) << place) - 1) ? ROLE_ASTRAY : ROLE_PLACED;
}

/* Returns what long mesh dimension i adds to the number of the bound's state. */
static int32_t weight(const struct search *s, const struct expansion *expansion, int i)
{
	int dim = expansion->key.axis[i].placement;
	uint32_t right = dim < 0 ? 0 : expansion->right[dim];

	return s->bound.weight[i][role_of(dim, expansion->key.axis[i].place, right)];
}

static int32_t weight_after(const struct search *s, const struct expansion *expansion,
                            int i, int to)
{
	int place = to < 0 ? 0 : expansion->count[to];
	uint32_t right = to < 0 ? 0 : expansion->right[to];

	right |= (uint32_t)is_right(s, i, to, place) << place;
	return s->bound.weight[i][role_of(to, place, right)];
}

static struct expansion expansion_of(const struct search *s, int32_t node)
{
	struct expansion expansion = {.node = node,
	                              .key = s->nodes.at[node].key,
	                              .cost_us = s->nodes.at[node].cost_us};
	double shards = 1;

	for (int i = 0; i < s->naxes; i++) {
		int dim = expansion.key.axis[i].placement,
		    place = expansion.key.axis[i].place;

		if (dim < 0)
			continue;
		shards *= s->mesh->axis[s->axis[i]].size;
		if (expansion.count[dim]++ == 0 ||
		    place > expansion.key.axis[expansion.top[dim]].place)
			expansion.top[dim] = i;
		expansion.right[dim] |= (uint32_t)is_right(s, i, dim, place) << place;
	}
	for (int i = 0; i < s->naxes; i++)
		expansion.number += weight(s, &expansion, i);
	expansion.local_GiB = s->array_bytes / shards / 1024 / 1024 / 1024;
	return expansion;
}

/*
 * Reaches the state that changes long mesh dimension i. A state that waits at the same
 * cost or less would be taken first, so it is left alone. So is one that costs no less
 * than the target, which waits and would be taken before it.
 */
static void reach_placement(struct search *s, const struct expansion *expansion, int i,
                            int to)
{
	struct dtensor_transform t = {s->axis[i], expansion->key.axis[i].placement, to};
	double cost_us =
		expansion->cost_us +
		dtensor_transform_us(&s->links, s->mesh, &t, expansion->local_GiB);
	double rest_us = s->bound.rest_us[expansion->number - weight(s, expansion, i) +
	                                  weight_after(s, expansion, i, to)];
	union key key = expansion->key;
	int32_t node;

	if (cost_us >= s->nodes.at[s->target].cost_us || cost_us + rest_us > s->limit_us)
		return;
	key.axis[i].placement = (int8_t)to;
	key.axis[i].place = (int8_t)(to < 0 ? 0 : expansion->count[to]);
	node = node_of_key(s, &key);
	if (s->nodes.at[node].done || s->nodes.at[node].cost_us <= cost_us)
		return;
	s->nodes.at[node].cost_us = cost_us;
	s->nodes.at[node].parent = expansion->node;
	queue_node(s, node, s->by_total ? cost_us + rest_us * (1 + SLACK) : cost_us);
}

/*
 * Reaches all states that change a mesh dimension of one placement to one other or
 * (RANK_MAX) to every Shard.
 */
static void reach_all(struct search *s, const struct expansion *expansion, int from,
                      int to)
{
	for (int i = 0; i < s->naxes; i++) {
		if (expansion->key.axis[i].placement != from)
			continue;
		if (to != RANK_MAX)
			reach_placement(s, expansion, i, to);
		for (int dim = 0; to == RANK_MAX && dim < s->rank; dim++)
			reach_placement(s, expansion, i, dim);
	}
}

/* Tries all transforms from a node in the order that dtensor.h says. */
static void expand_node(struct search *s, const struct expansion *expansion)
{
	for (int from = 0; from < s->rank; from++)
		for (int to = 0; to < s->rank; to++)
			if (expansion->count[from] && from != to)
				reach_placement(s, expansion, expansion->top[from], to);
	for (int from = 0; from < s->rank; from++)
		if (expansion->count[from])
			reach_placement(s, expansion, expansion->top[from],
			                DTENSOR_REPLICATE);
	reach_all(s, expansion, DTENSOR_PARTIAL, DTENSOR_REPLICATE);
	reach_all(s, expansion, DTENSOR_REPLICATE, RANK_MAX);
	reach_all(s, expansion, DTENSOR_PARTIAL, RANK_MAX);
	if (s->partial)
		reach_all(s, expansion, DTENSOR_REPLICATE, DTENSOR_PARTIAL);
}

static union key key_of(struct search *s, const struct dtensor_state *state)
{
	union key k = {{0}};

	for (int i = 0; i < s->naxes; i++) {
		k.axis[i].placement = (int8_t)state->placement[s->axis[i]];
		k.axis[i].place = (int8_t)state->place[s->axis[i]];
		s->partial = s->partial || k.axis[i].placement == DTENSOR_PARTIAL;
	}
	return k;
}

/* Searches from the source to the target. Returns false after too many states. */
static bool search_once(struct search *s, const union key *source)
{
	int32_t node;

	heap_free(&s->queue);
	table_clear(&s->numbers);
	s->nodes.n = s->turns.n = s->queued = 0;
	node = node_of_key(s, source);
	s->target = node_of_key(s, &s->target_key);
	s->nodes.at[node].cost_us = 0;
	queue_node(s, node, 0);
	while (s->nodes.n <= s->most) {
		struct expansion expansion;

		assert(s->queue.n > 0); /* a way leads from every state to every other */
		node = heap_take(&s->queue, node_before, s);
		if (node == s->target)
			return true;
		s->nodes.at[node].done = true;
		expansion = expansion_of(s, node);
		expand_node(s, &expansion);
	}
	return false;
}

/*
 * Finds the cheapest way. A* comes first, to find what it costs or hardly more: of
 * states with equal totals the slack takes the one nearer to the target. Then
 * Dijkstra's algorithm runs over the states through which so cheap a way may lead. All
 * others are on no cheapest way, so those that are on one are reached from the same
 * states and taken in the same order as if none were left out: the answer is the same
 * to the last tie.
 */
static bool find_way(struct search *s, const union key *source)
{
	s->limit_us = INFINITY;
	s->by_total = true;
	if (!search_once(s, source))
		return false;
	s->limit_us = s->nodes.at[s->target].cost_us * (1 + 4 * SLACK);
	s->by_total = false;
	return search_once(s, source);
}

/* Returns the transforms on the way to a node, first to last. */
static struct dtensor_transforms way_to(const struct search *s, int32_t target,
                                        struct arena *a)
{
	struct dtensor_transforms out = {0};
	int at;

	for (int32_t k = target; s->nodes.at[k].parent >= 0; k = s->nodes.at[k].parent)
		out.n++;
	out.step = arena_alloc(a, (size_t)out.n, sizeof(*out.step));
	at = out.n;
	for (int32_t k = target; s->nodes.at[k].parent >= 0; k = s->nodes.at[k].parent) {
		const union key *after = &s->nodes.at[k].key;
		const union key *before = &s->nodes.at[s->nodes.at[k].parent].key;
		int i = 0;

		while (before->axis[i].placement == after->axis[i].placement)
			i++;
		out.step[--at] = (struct dtensor_transform){
			s->axis[i], before->axis[i].placement, after->axis[i].placement};
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
	union key source;
	bool found;

	s.links = dtensor_links_of(m, DTENSOR_HOST_DEVICES);
	s.array_bytes = (double)dtype_bytes(array->dtype, elements);
	for (int i = 0; i < m->naxes; i++)
		if (m->axis[i].size > 1)
			s.axis[s.naxes++] = i;
	s.nwords = (s.naxes + 3) / 4;
	source = key_of(&s, from);
	s.target_key = key_of(&s, to);
	s.bound = dtensor_bound_of(to, &s.links, m, s.axis, s.naxes, s.array_bytes,
	                           s.partial, a);
	found = find_way(&s, &source);
	if (found)
		*out = way_to(&s, s.target, a);
	else
		text_printf(why, "DTensor's search passes %d states", (int)most);
	xfree(s.nodes.at);
	xfree(s.turns.at);
	table_free(&s.numbers);
	heap_free(&s.queue);
	return found;
}
