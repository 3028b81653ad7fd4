#include "cost/bound_cells.h"

#include "array/tile.h"
#include "base/assert.h"

#include <string.h>

/*
 * Where more pairs of cells meet than this, they are not looked at for every set of
 * devices.
 */
enum { PAIRS_MAX = 1 << 15 };

/* Who holds which cell of one layout. */
struct grid {
	struct tilemap map;
	const struct shape *shape;
	int rank;
	int32_t ncells, shards[RANK_MAX];
	const int32_t *cell;    /* [ndevices] the device's, -1 without one */
	const int32_t *index;   /* [ncells * rank] of a cell, per dimension */
	const int64_t *size;    /* [ncells] real elements */
	const int32_t *holders; /* [ncells * partials] devices that hold it */
};

/* How often each of some things was met since the counter was cleared. */
struct counter {
	int32_t *count, *when;
	int32_t now;
};

/* A union of cells, of one grid. */
struct cell_set {
	const struct grid *grid;
	int32_t n, *list;
	struct counter in;
	int64_t elements;
};

/* Source tiles first..last of a dimension that meet a target tile; none: last < first. */
struct overlap {
	int32_t first, last;
	const int64_t *elements; /* what each shares with the target tile */
};

/* The distinct indices in one dimension of the cells of a set. */
struct indices {
	int32_t n, *list;
	struct counter in;
};

/* A source cell that a target cell meets, and what they have in common. */
struct meeting {
	int32_t source;
	int64_t elements;
};

struct cells {
	struct arena *arena;
	struct grid from, to;
	bool free_target;       /* unreduced: nothing is known to be wanted anywhere */
	struct counter have;    /* members that hold a contribution */
	struct counter parts;   /* contributions of a cell that members hold */
	struct counter want;    /* members that want a cell */
	struct cell_set held;   /* by members, all contributions */
	struct cell_set hidden; /* some contribution only with members */
	struct cell_set wanted; /* by some member */
	struct cell_set inner;  /* wanted by members only */
	struct indices from_index[RANK_MAX], to_index[RANK_MAX];
	struct overlap *overlap[RANK_MAX]; /* [target's shards] */
	/* Target cell c meets pair[first[c]..first[c + 1]); NULL: not listed (yet). */
	bool too_many;
	int64_t *first;
	struct meeting *pair;
};

/* --- counters and sets ------------------------------------------------------------ */

static struct counter counter_make(struct arena *a, int64_t n)
{
	return (struct counter){.count = arena_alloc(a, (size_t)n, sizeof(int32_t)),
	                        .when = arena_alloc(a, (size_t)n, sizeof(int32_t)),
	                        .now = 1};
}

static void counter_clear(struct counter *c)
{
	c->now++;
}

/* Counts thing `i` once more and returns how often it has been met. */
static int32_t counter_add(struct counter *c, int64_t i)
{
	if (c->when[i] != c->now) {
		c->when[i] = c->now;
		c->count[i] = 0;
	}
	return ++c->count[i];
}

static bool counter_has(const struct counter *c, int64_t i)
{
	return c->when[i] == c->now;
}

static struct cell_set set_make(struct arena *a, const struct grid *g)
{
	return (struct cell_set){
		.grid = g,
		.list = arena_alloc(a, (size_t)g->ncells, sizeof(int32_t)),
		.in = counter_make(a, g->ncells),
	};
}

static void set_clear(struct cell_set *s)
{
	s->n = 0;
	s->elements = 0;
	counter_clear(&s->in);
}

static void set_add(struct cell_set *s, int32_t cell)
{
	if (counter_add(&s->in, cell) > 1)
		return;
	s->list[s->n++] = cell;
	s->elements += s->grid->size[cell];
}

/* --- grids ------------------------------------------------------------------------ */

/*
 * Finds the real interval [*lo, *hi) of tile number `index` of a dimension; it is empty
 * if *lo >= *hi.
 */
static void interval(const struct grid *g, int dim, int32_t index, int64_t *lo,
                     int64_t *hi)
{
	int64_t size = g->map.tile.dim[dim], extent = g->shape->dim[dim];

	*lo = index * size;
	*hi = *lo + size < extent ? *lo + size : extent;
}

static void size_cells(struct grid *g, struct arena *a)
{
	int32_t *index = arena_alloc(a, (size_t)g->ncells * (size_t)(g->rank + 1),
	                             sizeof(*index));
	int64_t *size = arena_alloc(a, (size_t)g->ncells, sizeof(*size));

	for (int32_t c = 0; c < g->ncells; c++) {
		int32_t rest = c;

		size[c] = 1;
		for (int i = g->rank - 1; i >= 0; i--) {
			int64_t lo, hi;

			index[(int64_t)c * g->rank + i] = rest % g->shards[i];
			rest /= g->shards[i];
			interval(g, i, index[(int64_t)c * g->rank + i], &lo, &hi);
			size[c] *= hi > lo ? hi - lo : 0;
		}
	}
	g->index = index;
	g->size = size;
}

static void grid_make(struct grid *g, const struct layout *l, const struct mesh *m,
                      const struct shape *shape, struct arena *a)
{
	int32_t *cell, *holders;

	*g = (struct grid){.map = tilemap_make(l, m, shape, a),
	                   .shape = shape,
	                   .rank = shape->rank,
	                   .ncells = 1};
	for (int i = 0; i < g->rank; i++) {
		g->shards[i] = (int32_t)layout_shards(l, i);
		g->ncells *= g->shards[i];
	}
	size_cells(g, a);
	cell = arena_alloc(a, (size_t)g->map.ndevices, sizeof(*cell));
	holders = arena_alloc(a, (size_t)g->ncells * (size_t)g->map.partials,
	                      sizeof(*holders));
	for (int32_t d = 0; d < g->map.ndevices; d++) {
		cell[d] = -1;
		if (!tilemap_has(&g->map, d))
			continue;
		cell[d] = 0;
		for (int i = 0; i < g->rank; i++)
			cell[d] = cell[d] * g->shards[i] +
			          g->map.index[(int64_t)d * g->rank + i];
		holders[(int64_t)cell[d] * g->map.partials + g->map.partial[d]]++;
	}
	g->cell = cell;
	g->holders = holders;
}

/* --- tiles in one dimension -------------------------------------------------------- */

static struct overlap overlap_make(const struct grid *g, const struct grid *h, int dim,
                                   int32_t index, struct arena *a)
{
	struct overlap out = {.first = 0, .last = -1};
	int64_t lo, hi, hlo, hhi, *elements;

	interval(g, dim, index, &lo, &hi);
	if (lo >= hi)
		return out;
	out.first = (int32_t)(lo / h->map.tile.dim[dim]);
	out.last = (int32_t)((hi - 1) / h->map.tile.dim[dim]);
	elements = arena_alloc(a, (size_t)(out.last - out.first + 1), sizeof(*elements));
	for (int32_t k = out.first; k <= out.last; k++) {
		interval(h, dim, k, &hlo, &hhi);
		elements[k - out.first] = (hhi < hi ? hhi : hi) - (hlo > lo ? hlo : lo);
	}
	out.elements = elements;
	return out;
}

static int64_t tiles_common(const struct cells *c, int dim, int32_t target,
                            int32_t source)
{
	const struct overlap *o = &c->overlap[dim][target];

	return source < o->first || source > o->last ? 0
	                                             : o->elements[source - o->first];
}

struct cells *cells_make(const struct problem *p, struct arena *a)
{
	struct cells *c = arena_alloc(a, 1, sizeof(*c));

	c->arena = a;
	grid_make(&c->from, &p->from, &p->mesh, &p->array.shape, a);
	grid_make(&c->to, &p->to, &p->to_mesh, &p->array.shape, a);
	assert(c->from.map.ndevices == c->to.map.ndevices);
	c->free_target = c->to.map.partials > 1;
	c->have = counter_make(a, (int64_t)c->from.ncells * c->from.map.partials);
	c->parts = counter_make(a, c->from.ncells);
	c->want = counter_make(a, (int64_t)c->to.ncells * c->to.map.partials);
	c->held = set_make(a, &c->from);
	c->hidden = set_make(a, &c->from);
	c->wanted = set_make(a, &c->to);
	c->inner = set_make(a, &c->to);
	for (int i = 0; i < c->from.rank; i++) {
		const struct grid *g = &c->from, *h = &c->to;

		c->from_index[i].in = counter_make(a, g->shards[i]);
		c->from_index[i].list =
			arena_alloc(a, (size_t)g->shards[i], sizeof(int32_t));
		c->to_index[i].in = counter_make(a, h->shards[i]);
		c->to_index[i].list =
			arena_alloc(a, (size_t)h->shards[i], sizeof(int32_t));
		c->overlap[i] =
			arena_alloc(a, (size_t)h->shards[i], sizeof(*c->overlap[i]));
		for (int32_t k = 0; k < h->shards[i]; k++)
			c->overlap[i][k] = overlap_make(h, g, i, k, a);
	}
	return c;
}

/* --- what two unions have in common ----------------------------------------------- */

/*
 * Collects the indices of a set in each dimension in `out`. Returns whether the set is
 * their product.
 */
static bool is_product(struct indices *out, const struct cell_set *s)
{
	const struct grid *g = s->grid;
	int64_t n = 1;

	for (int i = 0; i < g->rank && n <= s->n; i++) {
		out[i].n = 0;
		counter_clear(&out[i].in);
		for (int32_t k = 0; k < s->n && out[i].n < g->shards[i]; k++) {
			int32_t index = g->index[(int64_t)s->list[k] * g->rank + i];

			if (counter_add(&out[i].in, index) == 1)
				out[i].list[out[i].n++] = index;
		}
		n *= out[i].n;
	}
	return n == s->n;
}

/*
 * Returns the real elements of a dimension that are in tiles of both sets of indices.
 */
static int64_t common_indices(const struct cells *c, int dim)
{
	const struct indices *want = &c->to_index[dim], *have = &c->from_index[dim];
	int64_t elements = 0;

	for (int32_t k = 0; k < want->n; k++) {
		const struct overlap *o = &c->overlap[dim][want->list[k]];

		for (int32_t j = o->first; j <= o->last; j++)
			if (counter_has(&have->in, j))
				elements += o->elements[j - o->first];
	}
	return elements;
}

/*
 * Returns the elements that two products share: the product of what their indices
 * share.
 */
static int64_t common_products(const struct cells *c)
{
	int64_t elements = 1;

	for (int i = 0; i < c->to.rank && elements > 0; i++)
		elements *= common_indices(c, i);
	return elements;
}

/* Returns the number of pairs of tiles that meet, over all dimensions together. */
static int64_t count_pairs(const struct cells *c)
{
	int64_t pairs = 1;

	for (int i = 0; i < c->to.rank && pairs <= PAIRS_MAX; i++) {
		int64_t meeting = 0;

		for (int32_t k = 0; k < c->to.shards[i]; k++)
			meeting += c->overlap[i][k].last - c->overlap[i][k].first + 1;
		pairs *= meeting;
	}
	return pairs;
}

/* Appends the pairs of a target cell from dimension `dim` on. */
static void list_cell(struct cells *c, int32_t cell, int dim, int32_t source,
                      int64_t elements, int64_t *n)
{
	const struct overlap *o;

	if (dim == c->to.rank) {
		c->pair[(*n)++] = (struct meeting){source, elements};
		return;
	}
	o = &c->overlap[dim][c->to.index[(int64_t)cell * c->to.rank + dim]];
	for (int32_t k = o->first; k <= o->last; k++)
		list_cell(c, cell, dim + 1, source * c->from.shards[dim] + k,
		          elements * o->elements[k - o->first], n);
}

static void list_pairs(struct cells *c)
{
	int64_t pairs = count_pairs(c), n = 0;

	c->too_many = pairs > PAIRS_MAX;
	if (c->too_many)
		return;
	c->pair = arena_alloc(c->arena, (size_t)pairs, sizeof(*c->pair));
	c->first = arena_alloc(c->arena, (size_t)c->to.ncells + 1, sizeof(*c->first));
	for (int32_t cell = 0; cell < c->to.ncells; cell++) {
		c->first[cell] = n;
		list_cell(c, cell, 0, 0, 1, &n);
	}
	assert(n == pairs);
	c->first[c->to.ncells] = n;
}

/*
 * Returns the real elements in both unions, or more where it takes too long to find
 * out.
 */
static int64_t common(struct cells *c, const struct cell_set *want,
                      const struct cell_set *have)
{
	int64_t least =
		want->elements < have->elements ? want->elements : have->elements;
	int64_t elements = 0;

	if (least == 0 || want->n == c->to.ncells || have->n == c->from.ncells)
		return least;
	if (is_product(c->to_index, want) && is_product(c->from_index, have))
		return common_products(c);
	if (!c->first && !c->too_many)
		list_pairs(c);
	if (c->too_many)
		return least;
	for (int32_t k = 0; k < want->n; k++)
		for (int64_t i = c->first[want->list[k]];
		     i < c->first[want->list[k] + 1]; i++)
			if (counter_has(&have->in, c->pair[i].source))
				elements += c->pair[i].elements;
	return elements;
}

/* --- sets of devices -------------------------------------------------------------- */

static void add_source(struct cells *c, int32_t d)
{
	int32_t cell = c->from.cell[d];
	int64_t at = (int64_t)cell * c->from.map.partials + c->from.map.partial[d];

	if (cell < 0)
		return;
	if (counter_add(&c->have, at) == c->from.holders[at])
		set_add(&c->hidden, cell);
	if (c->have.count[at] == 1 &&
	    counter_add(&c->parts, cell) == c->from.map.partials)
		set_add(&c->held, cell);
}

static void add_target(struct cells *c, int32_t d)
{
	int32_t cell = c->to.cell[d];

	if (cell < 0)
		return;
	if (counter_add(&c->want, cell) == c->to.holders[cell])
		set_add(&c->inner, cell);
	set_add(&c->wanted, cell);
}

/*
 * Returns the crossing of one device, which has one cell or none, so that nothing needs
 * to be counted.
 */
static struct crossing device_crossing(const struct cells *c, int32_t d)
{
	int32_t have = c->from.cell[d], want = c->to.cell[d];
	int32_t partials = c->from.map.partials;
	int64_t both = have >= 0 && want >= 0;
	struct crossing out = {0};

	for (int i = 0; i < c->from.rank && both > 0; i++)
		both *= tiles_common(c, i, c->to.index[(int64_t)want * c->to.rank + i],
		                     c->from.index[(int64_t)have * c->from.rank + i]);
	if (want >= 0)
		out.in = c->to.size[want] - (partials == 1 ? both : 0);
	if (have >= 0 &&
	    c->from.holders[(int64_t)have * partials + c->from.map.partial[d]] == 1)
		out.out = c->from.size[have] -
		          (want >= 0 && c->to.holders[want] == 1 ? both : 0);
	return out;
}

struct crossing cells_crossing(struct cells *c, const int32_t *member, int32_t n)
{
	if (c->free_target)
		return (struct crossing){0};
	if (n == 1)
		return device_crossing(c, member[0]);
	counter_clear(&c->have);
	counter_clear(&c->parts);
	counter_clear(&c->want);
	set_clear(&c->held);
	set_clear(&c->hidden);
	set_clear(&c->wanted);
	set_clear(&c->inner);
	for (int32_t i = 0; i < n; i++) {
		add_source(c, member[i]);
		add_target(c, member[i]);
	}
	return (struct crossing){
		.in = c->wanted.elements - common(c, &c->wanted, &c->held),
		.out = c->hidden.elements - common(c, &c->inner, &c->hidden),
	};
}
