#include "placement/synth.h"

#include "base/assert.h"
#include "base/hash.h"
#include "base/list.h"
#include "base/table.h"

#include <stdlib.h>
#include <string.h>

/* A state that was met, and its edges edges[first..first + nedges). */
struct node {
	const uint8_t *key;
	int32_t first, nedges;
};

/*
 * States are kept packed, a row in as many bytes as k bits need, behind the powers of
 * the levels scattered over; that is what the table compares.
 */
struct search {
	struct arena *arena;
	const struct hierarchy *tree;
	const int32_t *goal;
	int limit;
	int32_t k, row_bytes;
	size_t key_bytes;
	int nslices, ninstructions;
	struct slice *slice;
	struct groups *groups; /* [nslices] */
	struct instruction *instruction;
	int *slice_of; /* [ninstructions] */
	LIST(struct node) nodes;
	LIST(struct synth_edge) edges;
	LIST(struct step_kind) kinds;
	struct table by_state; /* of the nodes */
	int32_t goal_node;
	uint64_t *row, *work;
	uint8_t *key;
};

static void pack_state(const struct search *search, uint8_t *key, const uint64_t *row,
                       const int8_t *scattered)
{
	memcpy(key, scattered, SYNTH_LEVELS_MAX + 1);
	key += SYNTH_LEVELS_MAX + 1;
	for (int32_t i = 0; i < search->k * search->k; i++)
		for (int32_t b = 0; b < search->row_bytes; b++)
			*key++ = (uint8_t)(row[i] >> 8 * b);
}

static void unpack_state(const struct search *search, uint64_t *row, const uint8_t *key)
{
	key += SYNTH_LEVELS_MAX + 1;
	for (int32_t i = 0; i < search->k * search->k; i++) {
		row[i] = 0;
		for (int32_t b = 0; b < search->row_bytes; b++)
			row[i] |= (uint64_t)*key++ << 8 * b;
	}
}

/* Returns the node of the state in search->key, which is made if it is new. */
static int32_t node_of_found(struct search *search)
{
	uint64_t hash = hash_bytes(HASH_START, search->key, search->key_bytes);
	int32_t n = (int32_t)search->nodes.n;
	size_t at;

	for (int32_t i = table_first(&search->by_state, hash, &at); i >= 0;
	     i = table_next(&search->by_state, hash, &at))
		if (!memcmp(search->nodes.at[i].key, search->key, search->key_bytes))
			return i;
	table_add(&search->by_state, hash, n);
	*list_add(&search->nodes, NULL) = (struct node){
		.key = arena_dup(search->arena, search->key, search->key_bytes, 1)};
	return n;
}

static int32_t kind_of(struct search *search, int instruction, const int8_t *scattered)
{
	const struct instruction *i = &search->instruction[instruction];
	struct step_kind *k;

	for (int32_t n = 0; n < search->kinds.n; n++) {
		k = &search->kinds.at[n];
		if (!memcmp(&k->instruction, i, sizeof(*i)) &&
		    !memcmp(k->scattered, scattered, sizeof(k->scattered)))
			return n;
	}
	k = list_add(&search->kinds, NULL);
	*k = (struct step_kind){*i, search->slice_of[instruction], {0}};
	memcpy(k->scattered, scattered, sizeof(k->scattered));
	return (int32_t)search->kinds.n - 1;
}

/*
 * Brings the powers of an instruction's levels up to date. All groups scatter alike, so
 * the powers are the same on every device that has data.
 */
static void scatter_levels(const struct search *search, int8_t *scattered,
                           const struct instruction *i)
{
	int first, last;

	if (i->op != OP_REDUCE_SCATTER && i->op != OP_ALL_GATHER)
		return;
	slice_levels(&first, &last, search->tree, i->slice);
	for (int j = first; j <= last; j++)
		scattered[j] += i->op == OP_REDUCE_SCATTER ? 1 : -1;
}

/* Finds the edges of node `n`, from which `left` more steps may go. */
static void expand_node(struct search *search, int32_t n, int left)
{
	int8_t before[SYNTH_LEVELS_MAX + 1], after[SYNTH_LEVELS_MAX + 1];

	unpack_state(search, search->row, search->nodes.at[n].key);
	memcpy(before, search->nodes.at[n].key, sizeof(before));
	search->nodes.at[n].first = (int32_t)search->edges.n;
	for (int i = 0; i < search->ninstructions; i++) {
		const struct instruction *in = &search->instruction[i];
		bool goal;
		int32_t to;

		memcpy(search->work, search->row,
		       (size_t)search->k * (size_t)search->k * sizeof(*search->row));
		if (!sums_step(search->work, search->k, in->op,
		               &search->groups[search->slice_of[i]]))
			continue;
		goal = sums_are_goal(search->work, search->k, search->goal);
		if (left == 1 && !goal)
			continue;
		memcpy(after, before, sizeof(after));
		scatter_levels(search, after, in);
		pack_state(search, search->key, search->work, after);
		to = node_of_found(search);
		if (goal)
			search->goal_node = to;
		*list_add(&search->edges, NULL) =
			(struct synth_edge){kind_of(search, i, before), to};
		search->nodes.at[n].nedges++;
	}
}

static void list_instructions(struct search *search)
{
	search->nslices = slices_of(&search->slice, search->arena, search->tree);
	search->groups = arena_alloc(search->arena, (size_t)search->nslices + 1,
	                             sizeof(*search->groups));
	search->instruction =
		arena_alloc(search->arena, (size_t)search->nslices * SUMS_OPS + 1,
	                    sizeof(*search->instruction));
	search->slice_of =
		arena_alloc(search->arena, (size_t)search->nslices * SUMS_OPS + 1,
	                    sizeof(*search->slice_of));
	for (int i = 0; i < search->nslices; i++) {
		search->groups[i] =
			slice_groups(search->tree, search->slice[i], search->arena);
		for (int k = 0; k < SUMS_OPS; k++) {
			enum op op = sums_ops[k];

			if (search->slice[i].form == FORM_MASTER && op != OP_ALL_REDUCE)
				continue;
			search->slice_of[search->ninstructions] = i;
			search->instruction[search->ninstructions++] =
				(struct instruction){search->slice[i], (uint8_t)op};
		}
	}
}

/*
 * Walks breadth first, a length of programs after the other. Returns false if there are
 * too many states.
 */
static bool walk_states(struct search *search)
{
	int32_t begin = 0, end;
	int8_t nothing[SYNTH_LEVELS_MAX + 1] = {0};

	sums_start(search->row, search->k);
	pack_state(search, search->key, search->row, nothing);
	if (sums_are_goal(search->row, search->k, search->goal))
		search->goal_node = 0;
	end = node_of_found(search) + 1;
	for (int depth = 0; depth < search->limit; depth++) {
		for (int32_t n = begin; n < end; n++) {
			expand_node(search, n, search->limit - depth);
			if (search->nodes.n * (int64_t)search->key_bytes >
			    SYNTH_STATES_BYTES)
				return false;
		}
		begin = end;
		end = (int32_t)search->nodes.n;
	}
	return true;
}

/*
 * Counts the programs behind every node by length, and leaves out what leads nowhere.
 */
static void keep_programs(struct synthesis *out, const struct search *search)
{
	struct synth_node *node =
		arena_alloc(search->arena, (size_t)search->nodes.n, sizeof(*node));
	struct synth_edge *edge =
		arena_alloc(search->arena, (size_t)search->edges.n + 1, sizeof(*edge));
	struct step_kind *kind =
		arena_alloc(search->arena, (size_t)search->kinds.n + 1, sizeof(*kind));
	int32_t *number = arena_alloc(search->arena, (size_t)search->kinds.n + 1,
	                              sizeof(*number));
	int32_t nedges = 0;

	if (search->goal_node >= 0)
		node[search->goal_node].programs[0] = 1;
	for (int length = 1; length <= search->limit; length++)
		for (int32_t n = 0; n < search->nodes.n; n++)
			for (int32_t i = 0; i < search->nodes.at[n].nedges; i++) {
				int32_t to =
					search->edges.at[search->nodes.at[n].first + i].to;

				node[n].programs[length] +=
					node[to].programs[length - 1];
			}
	for (int k = 0; k < search->kinds.n; k++)
		number[k] = -1;
	for (int32_t n = 0; n < search->nodes.n; n++) {
		node[n].first = nedges;
		for (int32_t i = 0; i < search->nodes.at[n].nedges; i++) {
			struct synth_edge to =
				search->edges.at[search->nodes.at[n].first + i];
			int64_t live = 0;

			for (int length = 0; length < search->limit; length++)
				live += node[to.to].programs[length];
			if (!live)
				continue;
			if (number[to.kind] < 0) {
				number[to.kind] = out->nkinds;
				kind[out->nkinds++] = search->kinds.at[to.kind];
			}
			edge[nedges++] = (struct synth_edge){number[to.kind], to.to};
		}
		node[n].nedges = nedges - node[n].first;
	}
	for (int length = 0; length <= search->limit; length++)
		out->programs += node[0].programs[length];
	out->node = node;
	out->edge = edge;
	out->kind = kind;
}

enum status synth_run(struct synthesis *out, struct arena *a,
                      const struct hierarchy *tree, const int32_t *goal, int limit,
                      struct where at, struct error *e)
{
	struct search search = {
		.arena = a, .tree = tree, .limit = limit, .k = tree->ndevices};
	size_t rows = (size_t)search.k * (size_t)search.k;
	bool done;

	assert(limit >= 1 && limit <= PROGRAM_STEPS_MAX);
	if (search.k > SUMS_DEVICES_MAX)
		return error_set(e, E_RANGE, at,
		                 "a reduction over %d devices, at most %d",
		                 (int)search.k, SUMS_DEVICES_MAX);
	if (tree->nlevels > SYNTH_LEVELS_MAX + 1)
		return error_set(e, E_RANGE, at,
		                 "a reduction over %d levels, at most %d",
		                 tree->nlevels - 1, SYNTH_LEVELS_MAX);
	search.goal = goal ? goal : arena_alloc(a, (size_t)search.k, sizeof(*goal));
	search.goal_node = -1;
	search.row_bytes = (search.k + 7) / 8;
	search.key_bytes = SYNTH_LEVELS_MAX + 1 + rows * (size_t)search.row_bytes;
	search.row = xmalloc(2 * rows, sizeof(*search.row));
	search.work = search.row + rows;
	search.key = xmalloc(search.key_bytes, 1);
	list_instructions(&search);
	done = walk_states(&search);
	*out = (struct synthesis){
		.tree = *tree,
		.limit = limit,
		.nslices = search.nslices,
		.nnodes = (int)search.nodes.n,
		.slice = search.slice,
		.goal = search.goal_node,
	};
	if (done)
		keep_programs(out, &search);
	xfree(search.row);
	xfree(search.key);
	table_free(&search.by_state);
	xfree(search.nodes.at);
	xfree(search.edges.at);
	xfree(search.kinds.at);
	if (!done)
		return error_set(e, E_RANGE, at,
		                 "too many states of a reduction over %d levels in "
		                 "programs of up to %d steps, expected fewer levels or "
		                 "steps",
		                 tree->nlevels - 1, limit);
	return OK;
}

enum status synth_cached(const struct synthesis **out, struct synth_cache *cache,
                         const struct hierarchy *tree, int limit, struct where at,
                         struct error *e)
{
	int nlevels = tree->nlevels - 1;
	struct hierarchy small = {0};
	struct synthesis *s;

	assert(limit >= 1 && limit <= PROGRAM_STEPS_MAX);
	if (nlevels > SYNTH_LEVELS_MAX)
		return error_set(e, E_RANGE, at,
		                 "a reduction over %d levels, at most %d", nlevels,
		                 SYNTH_LEVELS_MAX);
	if (!cache->of[nlevels][limit]) {
		for (int j = 0; j <= nlevels; j++) {
			assert((tree->level[j].size == 1) == (j == 0));
			hierarchy_add(&small, NULL, j ? 2 : 1);
		}
		s = arena_alloc(cache->arena, 1, sizeof(*s));
		if (synth_run(s, cache->arena, &small, NULL, limit, at, e) != OK)
			return e->code;
		cache->of[nlevels][limit] = s;
	}
	*out = cache->of[nlevels][limit];
	return OK;
}

/* Returns the node that step `depth` of the walk leaves from. */
static const struct synth_node *node_before(const struct synth_walk *walk, int depth)
{
	return &walk->s->node[depth ? walk->s->edge[walk->edge[depth - 1]].to : 0];
}

/*
 * Takes edge `e` or the next one of that step behind which a program of this length is.
 */
static bool take_edge(struct synth_walk *walk, int depth, int32_t e)
{
	const struct synth_node *from = node_before(walk, depth);
	int left = walk->length - depth - 1;

	for (; e < from->first + from->nedges; e++) {
		const struct synth_edge *edge = &walk->s->edge[e];

		if (!walk->s->node[edge->to].programs[left])
			continue;
		walk->edge[depth] = e;
		walk->kind[depth] = edge->kind;
		walk->program.step[depth] = walk->s->kind[edge->kind].instruction;
		return true;
	}
	return false;
}

bool synth_next(struct synth_walk *walk)
{
	int depth = walk->length;

	while (depth > 0 && !take_edge(walk, depth - 1, walk->edge[depth - 1] + 1))
		depth--;
	if (depth == 0) {
		walk->length += walk->started;
		walk->started = true;
		while (walk->length <= walk->s->limit &&
		       !walk->s->node[0].programs[walk->length])
			walk->length++;
		if (walk->length > walk->s->limit)
			return false;
	}
	for (; depth < walk->length; depth++) {
		bool found = take_edge(walk, depth, node_before(walk, depth)->first);

		assert(found);
		(void)found;
	}
	walk->program.n = walk->length;
	return true;
}

bool synth_has(const struct synthesis *s, const struct program *p)
{
	int32_t n = 0;

	for (int i = 0; i < p->n; i++) {
		const struct synth_edge *edge = s->edge + s->node[n].first,
					*end = edge + s->node[n].nedges;

		while (edge < end && memcmp(&s->kind[edge->kind].instruction,
		                            &p->step[i], sizeof(p->step[i])) != 0)
			edge++;
		if (edge == end)
			return false;
		n = edge->to;
	}
	return n == s->goal;
}

double step_share(const struct step_kind *k, const struct hierarchy *tree)
{
	double parts = 1;

	for (int j = 1; j < tree->nlevels; j++)
		for (int n = 0; n < k->scattered[j]; n++)
			parts *= tree->level[j].size;
	return 1 / parts;
}
