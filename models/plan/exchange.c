#include "plan/exchange.h"

#include "array/type.h"
#include "base/assert.h"

#include <string.h>

/* One layout in atoms of the device position. */
struct side {
	int count[RANK_MAX];
	uint8_t atom[RANK_MAX][ATOMS_MAX]; /* of each dimension, major to minor */
	bool used[ATOMS_MAX];
	struct shape tile;
};

/* What a new tile has of an old one in a dimension, and what that adds to its holders. */
struct meet {
	int64_t lo, hi;
	int32_t holder;
};

/* The old tiles that a new one meets in a dimension: `n` from number `first` on. */
struct wish {
	int32_t first, n;
	const struct meet *meet;
};

struct exchange {
	struct plan *plan;
	const struct mesh *mesh;
	struct atoms atoms;
	struct side before, after;
	/* The atom of the receiver that tells the sender's coordinate in a free atom. */
	uint8_t partner[ATOMS_MAX];
	int ncut, cut[RANK_MAX]; /* the dimensions that are cut, before or after */
	/* By position: tiles before and after in each of these, and of the sender: */
	const int32_t *have, *want, *copy;
	const struct wish *wish[RANK_MAX]; /* by tile after */
	struct arena *arena;               /* of all this */
	int64_t n, *bounds;                /* bounds NULL: not asked for */
	struct transfer *transfer;
};

/*
 * Returns all sharding parts in one dimension: atoms do not depend on the dimensions.
 */
static struct layout flat_layout(const struct layout *l)
{
	struct layout out = layout_replicated(1);

	for (int dim = 0; dim < l->rank; dim++)
		out.nparts[0] = (uint8_t)(out.nparts[0] + l->nparts[dim]);
	memcpy(out.part, l->part, out.nparts[0] * sizeof(*out.part));
	return out;
}

static void find_side(struct side *out, const struct exchange *exchange,
                      const struct layout *l)
{
	const struct part *part = l->part;

	memset(out->used, 0, sizeof(out->used));
	out->tile = layout_local(l, &exchange->plan->shape);
	for (int dim = 0; dim < l->rank; dim++) {
		out->count[dim] = 0;
		for (int k = 0; k < l->nparts[dim]; k++, part++) {
			uint8_t *atom = out->atom[dim] + out->count[dim];
			int n = atoms_of_part(atom, &exchange->atoms, exchange->mesh,
			                      *part);

			out->count[dim] += n;
			for (int i = 0; i < n; i++)
				out->used[atom[i]] = true;
		}
	}
}

static void find_partners(struct exchange *exchange)
{
	bool taken[ATOMS_MAX] = {false};

	for (int a = 0; a < exchange->atoms.n; a++) {
		exchange->partner[a] = (uint8_t)a;
		if (exchange->before.used[a] || !exchange->after.used[a])
			continue;
		for (int b = 0; b < exchange->atoms.n; b++) {
			if (!exchange->before.used[b] || exchange->after.used[b] ||
			    taken[b] ||
			    exchange->atoms.atom[b].size != exchange->atoms.atom[a].size)
				continue;
			exchange->partner[a] = (uint8_t)b;
			taken[b] = true;
			break;
		}
	}
}

/* Adds an atom's coordinate, times `weight`, for every position. */
static void add_atom(int32_t *value, int every, const struct exchange *exchange,
                     int atom, int32_t weight)
{
	mesh_add_digit(value, every, exchange->mesh->ndevices,
	               exchange->atoms.atom[atom].stride,
	               exchange->atoms.atom[atom].size, weight);
}

/*
 * Returns the tile of every position in every dimension that is cut: [ndevices * ncut].
 */
static const int32_t *find_tiles(const struct exchange *exchange, const struct side *s)
{
	int32_t *tile =
		arena_alloc(exchange->arena,
	                    (size_t)exchange->mesh->ndevices * (size_t)exchange->ncut,
	                    sizeof(*tile));

	for (int i = 0; i < exchange->ncut; i++) {
		int dim = exchange->cut[i];
		int32_t weight = 1;

		for (int k = s->count[dim] - 1; k >= 0; k--) {
			add_atom(tile + i, exchange->ncut, exchange, s->atom[dim][k],
			         weight);
			weight *= exchange->atoms.atom[s->atom[dim][k]].size;
		}
	}
	return tile;
}

/*
 * Returns what is in the sender's position by its receiver's, in atoms that do not
 * shard.
 */
static const int32_t *find_copies(const struct exchange *exchange)
{
	int32_t *copy = arena_alloc(exchange->arena, (size_t)exchange->mesh->ndevices,
	                            sizeof(*copy));

	for (int a = 0; a < exchange->atoms.n; a++)
		if (!exchange->before.used[a])
			add_atom(copy, 1, exchange, exchange->partner[a],
			         exchange->atoms.atom[a].stride);
	return copy;
}

static int32_t count_tiles(const struct exchange *exchange, const struct side *s,
                           int dim)
{
	int32_t n = 1;

	for (int k = 0; k < s->count[dim]; k++)
		n *= exchange->atoms.atom[s->atom[dim][k]].size;
	return n;
}

/* Returns what is in it by the number of its tile in a dimension. */
static const int32_t *find_holders(const struct exchange *exchange, int dim)
{
	const struct side *s = &exchange->before;
	int32_t shards = count_tiles(exchange, s, dim), weight = 1;
	int32_t *holder = arena_alloc(exchange->arena, (size_t)shards, sizeof(*holder));

	for (int k = s->count[dim] - 1; k >= 0; k--) {
		struct atom a = exchange->atoms.atom[s->atom[dim][k]];

		mesh_add_digit(holder, 1, shards, weight, a.size, a.stride);
		weight *= a.size;
	}
	return holder;
}

/* Returns the wishes in a dimension by the number of the new tile. */
static const struct wish *find_wishes(const struct exchange *exchange, int dim)
{
	int64_t old = exchange->before.tile.dim[dim],
		new = exchange->after.tile.dim[dim];
	int32_t n = count_tiles(exchange, &exchange->after, dim);
	int32_t most = n + count_tiles(exchange, &exchange->before, dim);
	const int32_t *holder = find_holders(exchange, dim);
	struct wish *wish = arena_alloc(exchange->arena, (size_t)n, sizeof(*wish));
	struct meet *meet = arena_alloc(exchange->arena, (size_t)most, sizeof(*meet));

	for (int32_t i = 0; i < n; i++) {
		int64_t lo = i * new, hi = lo + new;

		wish[i] = (struct wish){.first = (int32_t)(lo / old), .meet = meet};
		for (int64_t at = wish[i].first; at * old < hi; at++, wish[i].n++)
			*meet++ = (struct meet){
				at * old > lo ? at * old : lo,
				(at + 1) * old < hi ? (at + 1) * old : hi, holder[at]};
	}
	return wish;
}

static const struct wish *wish_of(const struct exchange *exchange, int32_t position,
                                  int i)
{
	return &exchange->wish[i][exchange->want[(int64_t)position * exchange->ncut + i]];
}

/*
 * Returns which of the old tiles that a wish meets in a dimension the device at a position
 * has; none where the number is not below their number.
 */
static uint32_t own_of(const struct exchange *exchange, int32_t position, int i)
{
	return (uint32_t)(exchange->have[(int64_t)position * exchange->ncut + i] -
	                  wish_of(exchange, position, i)->first);
}

/* Returns how many boxes the device lacks at a position. */
static int64_t count_boxes(const struct exchange *exchange, int32_t position)
{
	int64_t boxes = 1;
	bool own = true;

	for (int i = 0; i < exchange->ncut; i++) {
		int32_t n = wish_of(exchange, position, i)->n;

		own = own && own_of(exchange, position, i) < (uint32_t)n;
		boxes *= n;
	}
	return boxes - own;
}

/*
 * The boxes of the device at a position. It meets old tile number[i] of those of `wish[i]`
 * in cut dimension i, and is to go through those of the `nmany` dimensions in which it
 * meets several; what the first k of these and all others say is at k.
 */
struct boxes {
	int32_t dst, number[RANK_MAX];
	const struct wish *wish[RANK_MAX];
	uint32_t own[RANK_MAX]; /* which of them the device has */
	int nmany, many[RANK_MAX];
	int64_t elements[RANK_MAX + 1];
	int32_t src[RANK_MAX + 1];
	bool owns[RANK_MAX + 1];
};

static void boxes_begin(struct boxes *b, const struct exchange *exchange,
                        int32_t position, int64_t elements)
{
	b->dst = mesh_device(exchange->mesh, position);
	b->nmany = 0;
	b->elements[0] = elements;
	b->src[0] = exchange->copy[position];
	b->owns[0] = true;
	for (int i = 0; i < exchange->ncut; i++) {
		const struct wish *wish = wish_of(exchange, position, i);

		b->wish[i] = wish;
		b->own[i] = own_of(exchange, position, i);
		b->number[i] = 0;
		if (wish->n > 1) {
			b->many[b->nmany++] = i;
			continue;
		}
		b->elements[0] *= wish->meet->hi - wish->meet->lo;
		b->src[0] += wish->meet->holder;
		b->owns[0] = b->owns[0] && b->own[i] == 0;
	}
}

/* Says what the dimensions from the k-th of several on add, but for the last one. */
static void boxes_cut(struct boxes *b, int k)
{
	for (; k < b->nmany - 1; k++) {
		int i = b->many[k];
		const struct meet *meet = &b->wish[i]->meet[b->number[i]];

		b->elements[k + 1] = b->elements[k] * (meet->hi - meet->lo);
		b->src[k + 1] = b->src[k] + meet->holder;
		b->owns[k + 1] = b->owns[k] && b->own[i] == (uint32_t)b->number[i];
	}
}

static void add_bounds(struct exchange *exchange, const struct boxes *b)
{
	int rank = exchange->before.tile.rank;

	for (int dim = 0; dim < rank; dim++) {
		exchange->bounds[2 * dim] = 0;
		exchange->bounds[2 * dim + 1] = exchange->plan->shape.dim[dim];
	}
	for (int i = 0; i < exchange->ncut; i++) {
		const struct meet *meet = &b->wish[i]->meet[b->number[i]];

		exchange->bounds[2 * exchange->cut[i]] = meet->lo;
		exchange->bounds[2 * exchange->cut[i] + 1] = meet->hi;
	}
	exchange->bounds += (size_t)(2 * rank);
}

static void add_box(struct exchange *exchange, const struct boxes *b, int32_t src,
                    int64_t elements)
{
	struct transfer *t = &exchange->transfer[exchange->n++];

	t->src = mesh_device(exchange->mesh, src);
	t->dst = b->dst;
	t->elements = elements;
	t->bounds = exchange->bounds;
	if (exchange->bounds)
		add_bounds(exchange, b);
}

/* Adds the boxes that differ in the last of several dimensions only. */
static void add_row(struct exchange *exchange, struct boxes *b)
{
	int k = b->nmany - 1, i = b->many[k];
	const struct wish *wish = b->wish[i];
	uint32_t own = b->owns[k] ? b->own[i] : UINT32_MAX;

	for (b->number[i] = 0; b->number[i] < wish->n; b->number[i]++) {
		const struct meet *meet = &wish->meet[b->number[i]];

		if ((uint32_t)b->number[i] != own)
			add_box(exchange, b, b->src[k] + meet->holder,
			        b->elements[k] * (meet->hi - meet->lo));
	}
}

/* Adds all boxes that the device at a position lacks; `elements` are those of no cut. */
static void add_boxes(struct exchange *exchange, int32_t position, int64_t elements)
{
	struct boxes b;
	int k = 0;

	boxes_begin(&b, exchange, position, elements);
	if (b.nmany == 0) {
		if (!b.owns[0])
			add_box(exchange, &b, b.src[0], b.elements[0]);
		return;
	}
	do {
		boxes_cut(&b, k);
		add_row(exchange, &b);
		for (k = b.nmany - 2; k >= 0; k--) {
			int i = b.many[k];

			if (++b.number[i] < b.wish[i]->n)
				break;
			b.number[i] = 0;
		}
	} while (k >= 0);
}

/* Returns the elements of a box that is cut in no dimension. */
static int64_t uncut_elements(const struct exchange *exchange)
{
	int64_t elements = 1;

	for (int dim = 0; dim < exchange->before.tile.rank; dim++)
		if (exchange->before.count[dim] + exchange->after.count[dim] == 0)
			elements *= exchange->plan->shape.dim[dim];
	return elements;
}

/* Finds all boxes; returns false if there are too many. */
static bool find_boxes(struct exchange *exchange, bool bounds)
{
	int32_t ndevices = exchange->mesh->ndevices;
	struct arena *a = exchange->plan->arena;
	int64_t n = 0, elements = uncut_elements(exchange);

	for (int32_t i = 0; i < ndevices && n <= EXCHANGE_BOXES_MAX; i++)
		n += count_boxes(exchange, i);
	if (n > EXCHANGE_BOXES_MAX)
		return false;
	exchange->transfer =
		arena_grow(a, NULL, 0, (size_t)n, sizeof(*exchange->transfer));
	if (bounds)
		exchange->bounds = arena_grow(a, NULL, 0, (size_t)n,
		                              2 * (size_t)exchange->before.tile.rank *
		                                      sizeof(*exchange->bounds));
	for (int32_t i = 0; i < ndevices && n > 0; i++)
		add_boxes(exchange, i, elements);
	return true;
}

static bool tiles_are_even(const struct plan *p, const struct layout *l)
{
	for (int dim = 0; dim < l->rank; dim++)
		if (p->shape.dim[dim] % layout_shards(l, dim) != 0)
			return false;
	return shape_elements(&p->shape) == shape_elements(&p->problem->array.shape);
}

/* Finds everything but the transfers. */
static bool exchange_begin(struct exchange *exchange, struct plan *p,
                           const struct layout *after, struct text *why)
{
	const struct layout *before = plan_layout(p);
	struct layout b, c;

	exchange->plan = p;
	exchange->mesh = &p->problem->mesh;
	exchange->ncut = 0;
	exchange->n = 0;
	exchange->bounds = NULL;
	if (before->kind != LAYOUT_AXES || after->kind != LAYOUT_AXES ||
	    before->nunreduced || after->nunreduced) {
		text_printf(why, "an exchange needs layouts of axes, none unreduced");
		return false;
	}
	if (!tiles_are_even(p, before) || !tiles_are_even(p, after)) {
		text_printf(why,
		            "the boxes of an exchange of uneven tiles are not told");
		return false;
	}
	b = flat_layout(before);
	c = flat_layout(after);
	if (!atoms_common(&exchange->atoms, &b, exchange->mesh, &c, exchange->mesh, why))
		return false;
	find_side(&exchange->before, exchange, before);
	find_side(&exchange->after, exchange, after);
	find_partners(exchange);
	return true;
}

static bool add_exchange(struct plan *p, const struct layout *after, bool bounds,
                         struct text *why)
{
	struct exchange exchange;
	bool fits;

	if (!exchange_begin(&exchange, p, after, why))
		return false;
	exchange.arena = arena_new();
	for (int dim = 0; dim < after->rank; dim++)
		if (exchange.before.count[dim] + exchange.after.count[dim] > 0)
			exchange.cut[exchange.ncut++] = dim;
	exchange.have = find_tiles(&exchange, &exchange.before);
	exchange.want = find_tiles(&exchange, &exchange.after);
	exchange.copy = find_copies(&exchange);
	for (int i = 0; i < exchange.ncut; i++)
		exchange.wish[i] = find_wishes(&exchange, exchange.cut[i]);
	fits = find_boxes(&exchange, bounds);
	if (fits) {
		struct step *s;

		plan_exchange(p, after, exchange.mesh, NULL, 0);
		s = &p->step[p->nsteps - 1];
		s->transfers = exchange.transfer;
		s->ntransfers = exchange.n;
	} else {
		text_printf(why, "an exchange of more than %d boxes",
		            EXCHANGE_BOXES_MAX);
	}
	arena_free(exchange.arena);
	return fits;
}

bool plan_exchange_axes(struct plan *p, const struct layout *after, struct text *why)
{
	return add_exchange(p, after, true, why);
}

bool plan_exchange_sizes(struct plan *p, const struct layout *after, struct text *why)
{
	return add_exchange(p, after, false, why);
}
