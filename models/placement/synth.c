#include "placement/synth.h"

#include "base/hash.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { TABLE_START = 1024 };

/*
 * States are kept packed, a row in as many bytes as k bits need, behind the powers of
 * the levels scattered over; that is what the table compares.
 */
struct run {
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
	struct node *node;
	int32_t nnodes, nodes_capacity;
	struct synth_edge *edge;
	int32_t nedges, edges_capacity;
	struct step_kind *kind;
	int32_t nkinds, kinds_capacity;
	int32_t *table; /* node + 1, 0: free */
	int32_t table_size;
	int32_t goal_node;
	uint64_t *row, *work;
	uint8_t *key;
};

struct node {
	const uint8_t *key;
	uint64_t hash;
	int32_t first, nedges;
};

/* Room for one more in a malloc'ed array. */
static void *room(void *array, int32_t n, int32_t *capacity, size_t size)
{
	if (n < *capacity)
		return array;
	*capacity = *capacity ? 2 * *capacity : 64;
	return xrealloc(array, (size_t)*capacity, size);
}

static void pack(const struct run *r, uint8_t *key, const uint64_t *row,
                 const int8_t *scattered)
{
	memcpy(key, scattered, SYNTH_LEVELS_MAX + 1);
	key += SYNTH_LEVELS_MAX + 1;
	for (int32_t i = 0; i < r->k * r->k; i++)
		for (int32_t b = 0; b < r->row_bytes; b++)
			*key++ = (uint8_t)(row[i] >> 8 * b);
}

static void unpack(const struct run *r, uint64_t *row, const uint8_t *key)
{
	key += SYNTH_LEVELS_MAX + 1;
	for (int32_t i = 0; i < r->k * r->k; i++) {
		row[i] = 0;
		for (int32_t b = 0; b < r->row_bytes; b++)
			row[i] |= (uint64_t)*key++ << 8 * b;
	}
}

static void table_grow(struct run *r)
{
	free(r->table);
	r->table_size = r->table_size ? 2 * r->table_size : TABLE_START;
	r->table = xmalloc((size_t)r->table_size, sizeof(*r->table));
	memset(r->table, 0, (size_t)r->table_size * sizeof(*r->table));
	for (int32_t n = 0; n < r->nnodes; n++) {
		uint64_t at = r->node[n].hash;

		while (r->table[at & (uint64_t)(r->table_size - 1)])
			at++;
		r->table[at & (uint64_t)(r->table_size - 1)] = n + 1;
	}
}

/* The node of the state in r->key, made if it is new. */
static int32_t node_of(struct run *r)
{
	uint64_t hash = hash_bytes(HASH_START, r->key, r->key_bytes), at = hash;
	int32_t slot;

	if (2 * (r->nnodes + 1) > r->table_size)
		table_grow(r);
	for (;; at++) {
		slot = (int32_t)(at & (uint64_t)(r->table_size - 1));
		if (!r->table[slot])
			break;
		if (!memcmp(r->node[r->table[slot] - 1].key, r->key, r->key_bytes))
			return r->table[slot] - 1;
	}
	r->node = room(r->node, r->nnodes, &r->nodes_capacity, sizeof(*r->node));
	r->node[r->nnodes] = (struct node){
		.key = arena_dup(r->arena, r->key, r->key_bytes, 1),
		.hash = hash,
	};
	r->table[slot] = ++r->nnodes;
	return r->nnodes - 1;
}

static int32_t kind_of(struct run *r, int instruction, const int8_t *scattered)
{
	const struct instruction *i = &r->instruction[instruction];
	struct step_kind *k;

	for (int32_t n = 0; n < r->nkinds; n++)
		if (!memcmp(&r->kind[n].instruction, i, sizeof(*i)) &&
		    !memcmp(r->kind[n].scattered, scattered, sizeof(k->scattered)))
			return n;
	r->kind = room(r->kind, r->nkinds, &r->kinds_capacity, sizeof(*r->kind));
	k = &r->kind[r->nkinds];
	*k = (struct step_kind){*i, r->slice_of[instruction], {0}};
	memcpy(k->scattered, scattered, sizeof(k->scattered));
	return r->nkinds++;
}

/*
 * All groups scatter alike, so the powers are the same on every device that has data.
 */
static void scatter_levels(const struct run *r, int8_t *scattered,
                           const struct instruction *i)
{
	int first, last;

	if (i->op != OP_REDUCE_SCATTER && i->op != OP_ALL_GATHER)
		return;
	slice_levels(&first, &last, r->tree, i->slice);
	for (int j = first; j <= last; j++)
		scattered[j] += i->op == OP_REDUCE_SCATTER ? 1 : -1;
}

/* The edges of node `n`, from which `left` more steps may go. */
static void expand(struct run *r, int32_t n, int left)
{
	int8_t before[SYNTH_LEVELS_MAX + 1], after[SYNTH_LEVELS_MAX + 1];

	unpack(r, r->row, r->node[n].key);
	memcpy(before, r->node[n].key, sizeof(before));
	r->node[n].first = r->nedges;
	for (int i = 0; i < r->ninstructions; i++) {
		const struct instruction *in = &r->instruction[i];
		bool goal;
		int32_t to;

		memcpy(r->work, r->row, (size_t)r->k * (size_t)r->k * sizeof(*r->row));
		if (!sums_step(r->work, r->k, in->op, &r->groups[r->slice_of[i]]))
			continue;
		goal = sums_are_goal(r->work, r->k, r->goal);
		if (left == 1 && !goal)
			continue;
		memcpy(after, before, sizeof(after));
		scatter_levels(r, after, in);
		pack(r, r->key, r->work, after);
		to = node_of(r);
		if (goal)
			r->goal_node = to;
		r->edge = room(r->edge, r->nedges, &r->edges_capacity, sizeof(*r->edge));
		r->edge[r->nedges++] = (struct synth_edge){kind_of(r, i, before), to};
		r->node[n].nedges++;
	}
}

static void instructions(struct run *r)
{
	r->nslices = slices_of(&r->slice, r->arena, r->tree);
	r->groups = arena_alloc(r->arena, (size_t)r->nslices + 1, sizeof(*r->groups));
	r->instruction = arena_alloc(r->arena, (size_t)r->nslices * SUMS_OPS + 1,
	                             sizeof(*r->instruction));
	r->slice_of = arena_alloc(r->arena, (size_t)r->nslices * SUMS_OPS + 1,
	                          sizeof(*r->slice_of));
	for (int i = 0; i < r->nslices; i++) {
		r->groups[i] = slice_groups(r->tree, r->slice[i], r->arena);
		for (int k = 0; k < SUMS_OPS; k++) {
			enum op op = sums_ops[k];

			if (r->slice[i].form == FORM_MASTER && op != OP_ALL_REDUCE)
				continue;
			r->slice_of[r->ninstructions] = i;
			r->instruction[r->ninstructions++] =
				(struct instruction){r->slice[i], (uint8_t)op};
		}
	}
}

/* Breadth first, a length of programs after the other. False: too many states. */
static bool walk(struct run *r)
{
	int32_t begin = 0, end;
	int8_t nothing[SYNTH_LEVELS_MAX + 1] = {0};

	sums_start(r->row, r->k);
	pack(r, r->key, r->row, nothing);
	if (sums_are_goal(r->row, r->k, r->goal))
		r->goal_node = 0;
	end = node_of(r) + 1;
	for (int depth = 0; depth < r->limit; depth++) {
		for (int32_t n = begin; n < end; n++) {
			expand(r, n, r->limit - depth);
			if (r->nnodes * (int64_t)r->key_bytes > SYNTH_STATES_BYTES)
				return false;
		}
		begin = end;
		end = r->nnodes;
	}
	return true;
}

/*
 * Count the programs behind every node by length, and leave out what leads nowhere.
 */
static void finish(struct synthesis *out, const struct run *r)
{
	struct synth_node *node =
		arena_alloc(r->arena, (size_t)r->nnodes, sizeof(*node));
	struct synth_edge *edge =
		arena_alloc(r->arena, (size_t)r->nedges + 1, sizeof(*edge));
	struct step_kind *kind =
		arena_alloc(r->arena, (size_t)r->nkinds + 1, sizeof(*kind));
	int32_t *number = arena_alloc(r->arena, (size_t)r->nkinds + 1, sizeof(*number));
	int32_t nedges = 0;

	if (r->goal_node >= 0)
		node[r->goal_node].programs[0] = 1;
	for (int length = 1; length <= r->limit; length++)
		for (int32_t n = 0; n < r->nnodes; n++)
			for (int32_t i = 0; i < r->node[n].nedges; i++) {
				int32_t to = r->edge[r->node[n].first + i].to;

				node[n].programs[length] +=
					node[to].programs[length - 1];
			}
	for (int k = 0; k < r->nkinds; k++)
		number[k] = -1;
	for (int32_t n = 0; n < r->nnodes; n++) {
		node[n].first = nedges;
		for (int32_t i = 0; i < r->node[n].nedges; i++) {
			struct synth_edge to = r->edge[r->node[n].first + i];
			int64_t live = 0;

			for (int length = 0; length < r->limit; length++)
				live += node[to.to].programs[length];
			if (!live)
				continue;
			if (number[to.kind] < 0) {
				number[to.kind] = out->nkinds;
				kind[out->nkinds++] = r->kind[to.kind];
			}
			edge[nedges++] = (struct synth_edge){number[to.kind], to.to};
		}
		node[n].nedges = nedges - node[n].first;
	}
	for (int length = 0; length <= r->limit; length++)
		out->programs += node[0].programs[length];
	out->node = node;
	out->edge = edge;
	out->kind = kind;
}

enum status synth_run(struct synthesis *out, struct arena *a,
                      const struct hierarchy *tree, const int32_t *goal, int limit,
                      struct where at, struct error *e)
{
	struct run r = {.arena = a, .tree = tree, .limit = limit, .k = tree->ndevices};
	size_t rows = (size_t)r.k * (size_t)r.k;
	bool done;

	assert(limit >= 1 && limit <= PROGRAM_STEPS_MAX);
	if (r.k > SUMS_DEVICES_MAX)
		return error_set(e, E_RANGE, at,
		                 "a reduction over %d devices, at most %d", (int)r.k,
		                 SUMS_DEVICES_MAX);
	if (tree->nlevels > SYNTH_LEVELS_MAX + 1)
		return error_set(e, E_RANGE, at,
		                 "a reduction over %d levels, at most %d",
		                 tree->nlevels - 1, SYNTH_LEVELS_MAX);
	r.goal = goal ? goal : arena_alloc(a, (size_t)r.k, sizeof(*goal));
	r.goal_node = -1;
	r.row_bytes = (r.k + 7) / 8;
	r.key_bytes = SYNTH_LEVELS_MAX + 1 + rows * (size_t)r.row_bytes;
	r.row = xmalloc(2 * rows, sizeof(*r.row));
	r.work = r.row + rows;
	r.key = xmalloc(r.key_bytes, 1);
	instructions(&r);
	done = walk(&r);
	*out = (struct synthesis){
		.tree = *tree,
		.limit = limit,
		.nslices = r.nslices,
		.nnodes = r.nnodes,
		.slice = r.slice,
		.goal = r.goal_node,
	};
	if (done)
		finish(out, &r);
	free(r.row);
	free(r.key);
	free(r.table);
	free(r.node);
	free(r.edge);
	free(r.kind);
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

/* The node that step `depth` of the walk leaves from. */
static const struct synth_node *node_before(const struct synth_walk *w, int depth)
{
	return &w->s->node[depth ? w->s->edge[w->edge[depth - 1]].to : 0];
}

/*
 * Take edge `e` or the next one of that step behind which a program of this length is.
 */
static bool take(struct synth_walk *w, int depth, int32_t e)
{
	const struct synth_node *from = node_before(w, depth);
	int left = w->length - depth - 1;

	for (; e < from->first + from->nedges; e++) {
		const struct synth_edge *edge = &w->s->edge[e];

		if (!w->s->node[edge->to].programs[left])
			continue;
		w->edge[depth] = e;
		w->kind[depth] = edge->kind;
		w->program.step[depth] = w->s->kind[edge->kind].instruction;
		return true;
	}
	return false;
}

bool synth_next(struct synth_walk *w)
{
	int depth = w->length;

	while (depth > 0 && !take(w, depth - 1, w->edge[depth - 1] + 1))
		depth--;
	if (depth == 0) {
		w->length += w->started;
		w->started = true;
		while (w->length <= w->s->limit && !w->s->node[0].programs[w->length])
			w->length++;
		if (w->length > w->s->limit)
			return false;
	}
	for (; depth < w->length; depth++) {
		bool found = take(w, depth, node_before(w, depth)->first);

		assert(found);
		(void)found;
	}
	w->program.n = w->length;
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
