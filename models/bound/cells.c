#include "bound/cells.h"

#include "base/assert.h"

/*
 * Where more pairs of cells meet than this, they are not looked at for every set of
 * devices.
 */
enum { PAIRS_MAX = 1 << 15 };

/* How often each of some things was met since the counter was cleared. */
struct counter {
	int32_t *count, *when;
	int32_t now;
};

/* The distinct indices in one dimension of the cells of a set, in any order. */
struct indices {
	int32_t n, *list;
	int32_t *at; /* where an index is in the list */
	struct counter in;
};

/* A union of cells, of one grid. */
struct cell_set {
	const struct grid *grid;
	int32_t n;
	struct counter in;
	int64_t elements;
	struct indices index[RANK_MAX];
	/* the tiles and, where they are listed, cells of the other grid that each meets */
	struct overlap *const *overlap;
	const struct meetings *meetings;
};

/* A union of target cells and one of source cells, and what they have in common. */
struct pair {
	struct cell_set want, have;
	int64_t along[RANK_MAX]; /* elements of a dimension in tiles of both */
	int64_t elements;        /* over pairs of cells, if these are listed */
};

struct cells {
	struct arena *arena;
	struct grid from, to;
	bool free_target;     /* unreduced: nothing is known to be wanted anywhere */
	struct counter have;  /* members that hold a contribution */
	struct counter parts; /* contributions of a cell that members hold */
	struct counter want;  /* members that want a cell */
	struct pair in;  /* wanted by some member; all contributions held by members */
	struct pair out; /* wanted by members only; some contribution only with them */
	struct overlap *to_overlap[RANK_MAX]; /* source tiles that a target tile meets */
	struct overlap *from_overlap[RANK_MAX]; /* and the other way round */
	/* Listed when they are asked for first, unless there are too many. */
	bool too_many;
	struct meetings to_meetings, from_meetings;
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

/* Counts thing `i`, which has been met, once less and returns how often it has been. */
static int32_t counter_drop(struct counter *c, int64_t i)
{
	return --c->count[i];
}

static bool counter_has(const struct counter *c, int64_t i)
{
	return c->when[i] == c->now && c->count[i] > 0;
}

static struct cell_set set_make(struct arena *a, const struct grid *g,
                                struct overlap *const *overlap,
                                const struct meetings *meetings)
{
	struct cell_set s = {.grid = g,
	                     .in = counter_make(a, g->ncells),
	                     .overlap = overlap,
	                     .meetings = meetings};

	for (int i = 0; i < g->rank; i++) {
		size_t n = (size_t)g->shards[i];

		s.index[i] = (struct indices){.list = arena_alloc(a, n, sizeof(int32_t)),
		                              .at = arena_alloc(a, n, sizeof(int32_t)),
		                              .in = counter_make(a, g->shards[i])};
	}
	return s;
}

static void set_clear(struct cell_set *s)
{
	s->n = 0;
	s->elements = 0;
	counter_clear(&s->in);
	for (int i = 0; i < s->grid->rank; i++) {
		s->index[i].n = 0;
		counter_clear(&s->index[i].in);
	}
}

static void pair_clear(struct pair *p)
{
	set_clear(&p->want);
	set_clear(&p->have);
	p->elements = 0;
	for (int i = 0; i < p->want.grid->rank; i++)
		p->along[i] = 0;
}

/* Returns the elements of a dimension in a tile and in tiles of the set `other`. */
static int64_t shared_along(const struct overlap *o, const struct indices *other)
{
	int64_t elements = 0;

	if (o->last - o->first < other->n) {
		for (int32_t k = o->first; k <= o->last; k++)
			if (counter_has(&other->in, k))
				elements += o->elements[k - o->first];
		return elements;
	}
	for (int32_t k = 0; k < other->n; k++)
		if (other->list[k] >= o->first && other->list[k] <= o->last)
			elements += o->elements[other->list[k] - o->first];
	return elements;
}

/* Returns the elements in a cell of `s` and in cells of the set `other`. */
static int64_t shared_cells(const struct cell_set *s, const struct cell_set *other,
                            int32_t cell)
{
	const struct meetings *m = s->meetings;
	int64_t elements = 0;

	if (!m->first)
		return 0;
	for (int64_t i = m->first[cell]; i < m->first[cell + 1]; i++)
		if (counter_has(&other->in, m->meeting[i].cell))
			elements += m->meeting[i].elements;
	return elements;
}

/* Counts a cell once more in `s`, one of the pair's unions, of which `other` is the other. */
static void set_add(struct pair *p, struct cell_set *s, const struct cell_set *other,
                    int32_t cell)
{
	const struct grid *g = s->grid;

	if (counter_add(&s->in, cell) > 1)
		return;
	s->n++;
	s->elements += g->size[cell];
	p->elements += shared_cells(s, other, cell);
	for (int i = 0; i < g->rank; i++) {
		struct indices *x = &s->index[i];
		int32_t index = g->index[(int64_t)cell * g->rank + i];

		if (counter_add(&x->in, index) > 1)
			continue;
		x->at[index] = x->n;
		x->list[x->n++] = index;
		p->along[i] += shared_along(&s->overlap[i][index], &other->index[i]);
	}
}

/* Counts a cell of `s` once less. */
static void set_drop(struct pair *p, struct cell_set *s, const struct cell_set *other,
                     int32_t cell)
{
	const struct grid *g = s->grid;

	if (counter_drop(&s->in, cell) > 0)
		return;
	s->n--;
	s->elements -= g->size[cell];
	p->elements -= shared_cells(s, other, cell);
	for (int i = 0; i < g->rank; i++) {
		struct indices *x = &s->index[i];
		int32_t index = g->index[(int64_t)cell * g->rank + i];

		if (counter_drop(&x->in, index) > 0)
			continue;
		x->n--;
		x->list[x->at[index]] = x->list[x->n];
		x->at[x->list[x->n]] = x->at[index];
		p->along[i] -= shared_along(&s->overlap[i][index], &other->index[i]);
	}
}

/* --- the problem ------------------------------------------------------------------ */

static struct pair pair_make(struct cells *c)
{
	return (struct pair){
		.want = set_make(c->arena, &c->to, c->to_overlap, &c->to_meetings),
		.have = set_make(c->arena, &c->from, c->from_overlap, &c->from_meetings),
	};
}

struct cells *cells_make(const struct problem *p, struct arena *a)
{
	struct cells *c = arena_alloc(a, 1, sizeof(*c));
	int32_t partials;

	c->arena = a;
	grid_make(&c->from, &p->from, &p->mesh, &p->array.shape, a);
	grid_make(&c->to, &p->to, &p->to_mesh, &p->array.shape, a);
	assert(c->from.map.ndevices == c->to.map.ndevices);
	partials = c->from.map.partials;
	c->free_target = c->to.map.partials > 1;
	c->have = counter_make(a, (int64_t)c->from.ncells * partials);
	c->parts = counter_make(a, c->from.ncells);
	c->want = counter_make(a, c->to.ncells);
	for (int i = 0; i < c->from.rank; i++) {
		c->to_overlap[i] = grid_overlaps(&c->to, &c->from, i, a);
		c->from_overlap[i] = grid_overlaps(&c->from, &c->to, i, a);
	}
	c->in = pair_make(c);
	c->out = pair_make(c);
	return c;
}

bool cells_free(const struct cells *c)
{
	return c->free_target;
}

const struct grid *cells_from(const struct cells *c)
{
	return &c->from;
}

const struct grid *cells_to(const struct cells *c)
{
	return &c->to;
}

/* --- what two unions have in common ----------------------------------------------- */

/* Returns whether a union is the product of its indices in each dimension. */
static bool is_product(const struct cell_set *s)
{
	int64_t n = 1;

	for (int i = 0; i < s->grid->rank && n <= s->n; i++)
		n *= s->index[i].n;
	return n == s->n;
}

/*
 * Returns the elements that two products share: the product of what their indices
 * share.
 */
static int64_t common_products(const struct pair *p)
{
	int64_t elements = 1;

	for (int i = 0; i < p->want.grid->rank; i++)
		elements *= p->along[i];
	return elements;
}

/* Sums up what the unions have in common over pairs of cells, now that these are listed. */
static void count_pairs(struct pair *p)
{
	p->elements = 0;
	for (int32_t cell = 0; cell < p->want.grid->ncells; cell++)
		if (counter_has(&p->want.in, cell))
			p->elements += shared_cells(&p->want, &p->have, cell);
}

static void list_pairs(struct cells *c)
{
	int64_t pairs = grid_pairs(&c->to, c->to_overlap, PAIRS_MAX);

	c->too_many = pairs > PAIRS_MAX;
	if (c->too_many)
		return;
	c->to_meetings = grid_meetings(&c->to, &c->from, c->to_overlap, pairs, c->arena);
	c->from_meetings =
		grid_meetings(&c->from, &c->to, c->from_overlap, pairs, c->arena);
	count_pairs(&c->in);
	count_pairs(&c->out);
}

/*
 * Returns the real elements in both unions, or more where it takes too long to find
 * out.
 */
static int64_t common(struct cells *c, const struct pair *p)
{
	const struct cell_set *want = &p->want, *have = &p->have;
	int64_t least =
		want->elements < have->elements ? want->elements : have->elements;

	if (least == 0 || want->n == c->to.ncells || have->n == c->from.ncells)
		return least;
	if (is_product(want) && is_product(have))
		return common_products(p);
	if (!c->to_meetings.first && !c->too_many)
		list_pairs(c);
	return c->too_many ? least : p->elements;
}

/* --- sets of devices -------------------------------------------------------------- */

void cells_clear(struct cells *c)
{
	counter_clear(&c->have);
	counter_clear(&c->parts);
	counter_clear(&c->want);
	pair_clear(&c->in);
	pair_clear(&c->out);
}

static void put_source(struct cells *c, int32_t d)
{
	int32_t cell = c->from.cell[d], now;
	int64_t at = (int64_t)cell * c->from.map.partials + c->from.map.partial[d];

	if (cell < 0)
		return;
	now = counter_add(&c->have, at);
	if (now == c->from.holders[at])
		set_add(&c->out, &c->out.have, &c->out.want, cell);
	if (now == 1 && counter_add(&c->parts, cell) == c->from.map.partials)
		set_add(&c->in, &c->in.have, &c->in.want, cell);
}

static void take_source(struct cells *c, int32_t d)
{
	int32_t cell = c->from.cell[d], now;
	int64_t at = (int64_t)cell * c->from.map.partials + c->from.map.partial[d];

	if (cell < 0)
		return;
	now = counter_drop(&c->have, at);
	if (now + 1 == c->from.holders[at])
		set_drop(&c->out, &c->out.have, &c->out.want, cell);
	if (now == 0 && counter_drop(&c->parts, cell) + 1 == c->from.map.partials)
		set_drop(&c->in, &c->in.have, &c->in.want, cell);
}

void cells_put(struct cells *c, int32_t d)
{
	int32_t cell = c->to.cell[d];

	if (c->free_target)
		return;
	if (cell >= 0) {
		if (counter_add(&c->want, cell) == c->to.holders[cell])
			set_add(&c->out, &c->out.want, &c->out.have, cell);
		set_add(&c->in, &c->in.want, &c->in.have, cell);
	}
	put_source(c, d);
}

void cells_take(struct cells *c, int32_t d)
{
	int32_t cell = c->to.cell[d];

	if (c->free_target)
		return;
	if (cell >= 0) {
		if (counter_drop(&c->want, cell) + 1 == c->to.holders[cell])
			set_drop(&c->out, &c->out.want, &c->out.have, cell);
		set_drop(&c->in, &c->in.want, &c->in.have, cell);
	}
	take_source(c, d);
}

struct crossing cells_cross(struct cells *c)
{
	if (c->free_target)
		return (struct crossing){0};
	return (struct crossing){
		.in = c->in.want.elements - common(c, &c->in),
		.out = c->out.have.elements - common(c, &c->out),
	};
}

struct crossing cells_kept(const struct cells *c)
{
	return (struct crossing){c->in.have.elements, c->out.want.elements};
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

	for (int i = 0; i < c->from.rank && both > 0; i++) {
		const struct overlap *o =
			&c->to_overlap[i][c->to.index[(int64_t)want * c->to.rank + i]];
		int32_t k = c->from.index[(int64_t)have * c->from.rank + i];

		both *= k < o->first || k > o->last ? 0 : o->elements[k - o->first];
	}
	if (want >= 0)
		out.in = c->to.size[want] - (partials == 1 ? both : 0);
	if (have >= 0 &&
	    c->from.holders[(int64_t)have * partials + c->from.map.partial[d]] == 1)
		out.out = c->from.size[have] -
		          (want >= 0 && c->to.holders[want] == 1 ? both : 0);
	return out;
}

struct singles cells_singles(const struct cells *c, int32_t n)
{
	struct singles out = {0, INT64_MAX};

	for (int32_t d = 0; d < n; d++) {
		int32_t have = c->from.map.partials == 1 ? c->from.cell[d] : -1;
		int64_t in = device_crossing(c, d).in;
		int64_t kept = have >= 0 ? c->from.size[have] : 0;

		out.most_in = in > out.most_in ? in : out.most_in;
		out.least_kept = kept < out.least_kept ? kept : out.least_kept;
	}
	return out;
}

struct crossing cells_crossing(struct cells *c, const int32_t *member, int32_t n)
{
	if (c->free_target)
		return (struct crossing){0};
	if (n == 1)
		return device_crossing(c, member[0]);
	cells_clear(c);
	for (int32_t i = 0; i < n; i++)
		cells_put(c, member[i]);
	return cells_cross(c);
}
