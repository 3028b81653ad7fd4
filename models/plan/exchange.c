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

/* A new tile in a dimension, and the old ones that it meets. */
struct wish {
	int64_t lo, hi, first, last;
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
	const int32_t *holder[RANK_MAX];   /* by tile before */
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

/* Returns the same by the number of its tile in a dimension. */
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
	struct wish *wish = arena_alloc(exchange->arena, (size_t)n, sizeof(*wish));

	for (int32_t i = 0; i < n; i++) {
		int64_t lo = i * new, hi = lo + new;

		wish[i] = (struct wish){lo, hi, lo / old, (hi - 1) / old};
	}
	return wish;
}

/* Returns how many boxes the device lacks at a position. */
static int64_t count_boxes(const struct exchange *exchange, int32_t position)
{
	const int32_t *want = exchange->want + (int64_t)position * exchange->ncut;
	const int32_t *have = exchange->have + (int64_t)position * exchange->ncut;
	int64_t boxes = 1;
	bool own = true;

	for (int i = 0; i < exchange->ncut; i++) {
		const struct wish *w = &exchange->wish[i][want[i]];

		own = own && have[i] >= w->first && have[i] <= w->last;
		boxes *= w->last - w->first + 1;
	}
	return boxes - own;
}

/* The box of the old tile number[], as far as dimensions cut up to each say. */
struct box {
	const struct wish *wish[RANK_MAX];
	int64_t number[RANK_MAX], elements[RANK_MAX + 1], bounds[2 * RANK_MAX];
	int32_t src[RANK_MAX + 1];
	bool own[RANK_MAX + 1];
};

static void cut_box(struct box *b, const struct exchange *exchange, const int32_t *have,
                    int i)
{
	for (; i < exchange->ncut; i++) {
		int dim = exchange->cut[i];
		int64_t number = b->number[i],
			lo = number * exchange->before.tile.dim[dim];
		int64_t hi = lo + exchange->before.tile.dim[dim];

		lo = lo > b->wish[i]->lo ? lo : b->wish[i]->lo;
		hi = hi < b->wish[i]->hi ? hi : b->wish[i]->hi;
		b->bounds[2 * dim] = lo;
		b->bounds[2 * dim + 1] = hi;
		b->elements[i + 1] = b->elements[i] * (hi - lo);
		b->src[i + 1] = b->src[i] + exchange->holder[i][number];
		b->own[i + 1] = b->own[i] && number == have[i];
	}
}

static void add_box(struct exchange *exchange, const struct box *b, int32_t position)
{
	size_t size = 2 * (size_t)exchange->before.tile.rank;
	struct transfer *t = &exchange->transfer[exchange->n++];

	t->src = mesh_device(exchange->mesh, b->src[exchange->ncut]);
	t->dst = mesh_device(exchange->mesh, position);
	t->elements = b->elements[exchange->ncut];
	t->bounds = exchange->bounds;
	if (!exchange->bounds)
		return;
	memcpy(exchange->bounds, b->bounds, size * sizeof(*exchange->bounds));
	exchange->bounds += size;
}

static void add_boxes(struct exchange *exchange, struct box *b, int32_t position)
{
	const int32_t *want = exchange->want + (int64_t)position * exchange->ncut;
	const int32_t *have = exchange->have + (int64_t)position * exchange->ncut;
	int i = 0;

	b->src[0] = exchange->copy[position];
	for (int k = 0; k < exchange->ncut; k++) {
		b->wish[k] = &exchange->wish[k][want[k]];
		b->number[k] = b->wish[k]->first;
	}
	do {
		cut_box(b, exchange, have, i);
		if (!b->own[exchange->ncut])
			add_box(exchange, b, position);
		for (i = exchange->ncut - 1; i >= 0 && b->number[i] == b->wish[i]->last;
		     i--)
			b->number[i] = b->wish[i]->first;
		if (i >= 0)
			b->number[i]++;
	} while (i >= 0);
}

/* Makes a box of the whole array. */
static void whole_box(struct box *b, const struct exchange *exchange)
{
	b->elements[0] = 1;
	b->own[0] = true;
	for (int dim = 0; dim < exchange->before.tile.rank; dim++) {
		b->bounds[2 * dim] = 0;
		b->bounds[2 * dim + 1] = exchange->plan->shape.dim[dim];
		if (exchange->before.count[dim] + exchange->after.count[dim] == 0)
			b->elements[0] *= exchange->plan->shape.dim[dim];
	}
}

/* Finds all boxes; returns false if there are too many. */
static bool find_boxes(struct exchange *exchange, bool bounds)
{
	int32_t ndevices = exchange->mesh->ndevices;
	struct arena *a = exchange->plan->arena;
	struct box b;
	int64_t n = 0;

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
	whole_box(&b, exchange);
	for (int32_t i = 0; i < ndevices; i++)
		if (count_boxes(exchange, i) > 0)
			add_boxes(exchange, &b, i);
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
	for (int i = 0; i < exchange.ncut; i++) {
		exchange.holder[i] = find_holders(&exchange, exchange.cut[i]);
		exchange.wish[i] = find_wishes(&exchange, exchange.cut[i]);
	}
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
