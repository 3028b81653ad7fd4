#include "plan/exchange.h"

#include "array/type.h"

#include <assert.h>
#include <string.h>

/* One layout in atoms of the device position. */
struct side {
	int count[RANK_MAX];
	uint8_t atom[RANK_MAX][ATOMS_MAX]; /* of each dimension, major to minor */
	bool used[ATOMS_MAX];
	struct shape tile;
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
	const int32_t *holder[RANK_MAX]; /* by tile before */
	struct arena *arena;             /* of all this and of the transfers */
	int64_t n, *bounds;
	struct transfer *transfer;
};

/* All sharding parts in one dimension: atoms do not depend on the dimensions. */
static struct layout flat_layout(const struct layout *l)
{
	struct layout out = layout_replicated(1);

	for (int dim = 0; dim < l->rank; dim++) {
		int n;
		const struct part *part = layout_parts(l, dim, &n);

		for (int k = 0; k < n; k++)
			layout_append(&out, 0, part[k]);
	}
	return out;
}

static void find_side(struct side *out, const struct exchange *x, const struct layout *l)
{
	*out = (struct side){.tile = layout_local(l, &x->plan->shape)};
	for (int dim = 0; dim < l->rank; dim++) {
		struct layout one = layout_replicated(1);
		const struct part *part;
		struct type t;
		int n;

		part = layout_parts(l, dim, &n);
		for (int k = 0; k < n; k++)
			layout_append(&one, 0, part[k]);
		t = type_of_layout(&one, x->mesh, &x->atoms);
		out->count[dim] = t.count[0];
		for (int k = 0; k < t.count[0]; k++) {
			out->atom[dim][k] = t.atom[k];
			out->used[t.atom[k]] = true;
		}
	}
}

static void find_partners(struct exchange *x)
{
	bool taken[ATOMS_MAX] = {false};

	for (int a = 0; a < x->atoms.n; a++) {
		x->partner[a] = (uint8_t)a;
		if (x->before.used[a] || !x->after.used[a])
			continue;
		for (int b = 0; b < x->atoms.n; b++) {
			if (!x->before.used[b] || x->after.used[b] || taken[b] ||
			    x->atoms.atom[b].size != x->atoms.atom[a].size)
				continue;
			x->partner[a] = (uint8_t)b;
			taken[b] = true;
			break;
		}
	}
}

/* Adds an atom's coordinate, times `weight`, for every position. */
static void add_atom(int32_t *value, int every, const struct exchange *x, int atom,
                     int32_t weight)
{
	mesh_add_digit(value, every, x->mesh->ndevices, x->atoms.atom[atom].stride,
	               x->atoms.atom[atom].size, weight);
}

/* The tile of every position in every dimension that is cut: [ndevices * ncut]. */
static const int32_t *find_tiles(const struct exchange *x, const struct side *s)
{
	int32_t *tile = arena_alloc(
		x->arena, (size_t)x->mesh->ndevices * (size_t)x->ncut, sizeof(*tile));

	for (int i = 0; i < x->ncut; i++) {
		int dim = x->cut[i];
		int32_t weight = 1;

		for (int k = s->count[dim] - 1; k >= 0; k--) {
			add_atom(tile + i, x->ncut, x, s->atom[dim][k], weight);
			weight *= x->atoms.atom[s->atom[dim][k]].size;
		}
	}
	return tile;
}

/* What is in the sender's position by its receiver's, in atoms that do not shard. */
static const int32_t *find_copies(const struct exchange *x)
{
	int32_t *copy = arena_alloc(x->arena, (size_t)x->mesh->ndevices, sizeof(*copy));

	for (int a = 0; a < x->atoms.n; a++)
		if (!x->before.used[a])
			add_atom(copy, 1, x, x->partner[a], x->atoms.atom[a].stride);
	return copy;
}

/* The same by the number of its tile in a dimension. */
static const int32_t *find_holders(const struct exchange *x, int dim)
{
	const struct side *s = &x->before;
	int32_t shards = 1, weight = 1, *holder;

	for (int k = 0; k < s->count[dim]; k++)
		shards *= x->atoms.atom[s->atom[dim][k]].size;
	holder = arena_alloc(x->arena, (size_t)shards, sizeof(*holder));
	for (int k = s->count[dim] - 1; k >= 0; k--) {
		struct atom a = x->atoms.atom[s->atom[dim][k]];

		mesh_add_digit(holder, 1, shards, weight, a.size, a.stride);
		weight *= a.size;
	}
	return holder;
}

/* What a device wants and has, in tiles of the layout before: per dimension cut. */
struct wish {
	int64_t lo, hi;      /* the new tile */
	int64_t first, last; /* old tiles that it meets */
	int64_t own;
};

/* How many boxes it lacks. */
static int64_t find_wish(struct wish *out, const struct exchange *x, int32_t position)
{
	const int32_t *want = x->want + (int64_t)position * x->ncut;
	const int32_t *have = x->have + (int64_t)position * x->ncut;
	int64_t boxes = 1;
	bool own = true;

	for (int i = 0; i < x->ncut; i++) {
		int64_t old = x->before.tile.dim[x->cut[i]];
		int64_t new = x->after.tile.dim[x->cut[i]];
		struct wish *w = &out[i];

		w->lo = want[i] * new;
		w->hi = w->lo + new;
		w->first = w->lo / old;
		w->last = (w->hi - 1) / old;
		w->own = have[i];
		own = own && w->own >= w->first && w->own <= w->last;
		boxes *= w->last - w->first + 1;
	}
	return boxes - own;
}

/* The box of the old tile number[], as far as dimensions cut up to each say. */
struct box {
	int64_t number[RANK_MAX], elements[RANK_MAX + 1], bounds[2 * RANK_MAX];
	int32_t src[RANK_MAX + 1];
	bool own[RANK_MAX + 1];
};

static void cut_box(struct box *b, const struct exchange *x, const struct wish *w, int i)
{
	for (; i < x->ncut; i++) {
		int dim = x->cut[i];
		int64_t number = b->number[i], lo = number * x->before.tile.dim[dim];
		int64_t hi = lo + x->before.tile.dim[dim];

		lo = lo > w[i].lo ? lo : w[i].lo;
		hi = hi < w[i].hi ? hi : w[i].hi;
		b->bounds[2 * dim] = lo;
		b->bounds[2 * dim + 1] = hi;
		b->elements[i + 1] = b->elements[i] * (hi - lo);
		b->src[i + 1] = b->src[i] + x->holder[dim][number];
		b->own[i + 1] = b->own[i] && number == w[i].own;
	}
}

static void add_boxes(struct exchange *x, struct box *b, const struct wish *w,
                      int32_t position)
{
	int rank = x->before.tile.rank, i = 0;
	size_t size = 2 * (size_t)rank * sizeof(*x->bounds);

	b->src[0] = x->copy[position];
	for (int k = 0; k < x->ncut; k++)
		b->number[k] = w[k].first;
	do {
		cut_box(b, x, w, i);
		if (!b->own[x->ncut]) {
			x->transfer[x->n++] = (struct transfer){
				.src = mesh_device(x->mesh, b->src[x->ncut]),
				.dst = mesh_device(x->mesh, position),
				.elements = b->elements[x->ncut],
				.bounds = memcpy(x->bounds, b->bounds, size),
			};
			x->bounds += 2 * rank;
		}
		for (i = x->ncut - 1; i >= 0 && b->number[i] == w[i].last; i--)
			b->number[i] = w[i].first;
		if (i >= 0)
			b->number[i]++;
	} while (i >= 0);
}

/* A box of the whole array. */
static void whole_box(struct box *b, const struct exchange *x)
{
	b->elements[0] = 1;
	b->own[0] = true;
	for (int dim = 0; dim < x->before.tile.rank; dim++) {
		b->bounds[2 * dim] = 0;
		b->bounds[2 * dim + 1] = x->plan->shape.dim[dim];
		if (x->before.count[dim] + x->after.count[dim] == 0)
			b->elements[0] *= x->plan->shape.dim[dim];
	}
}

/* False if there are too many. */
static bool find_boxes(struct exchange *x)
{
	int32_t ndevices = x->mesh->ndevices;
	size_t rank = (size_t)x->before.tile.rank;
	struct wish w[RANK_MAX];
	struct box b;
	int64_t n = 0;

	for (int32_t i = 0; i < ndevices && n <= EXCHANGE_BOXES_MAX; i++)
		n += find_wish(w, x, i);
	if (n > EXCHANGE_BOXES_MAX)
		return false;
	x->transfer = arena_alloc(x->arena, (size_t)n, sizeof(*x->transfer));
	x->bounds =
		arena_alloc(x->plan->arena, (size_t)n * 2 * rank, sizeof(*x->bounds));
	whole_box(&b, x);
	for (int32_t i = 0; i < ndevices; i++)
		if (find_wish(w, x, i) > 0)
			add_boxes(x, &b, w, i);
	return true;
}

static bool even(const struct plan *p, const struct layout *l)
{
	for (int dim = 0; dim < l->rank; dim++)
		if (p->shape.dim[dim] % layout_shards(l, dim) != 0)
			return false;
	return shape_elements(&p->shape) == shape_elements(&p->problem->array.shape);
}

/* Everything but the transfers. */
static bool begin(struct exchange *x, struct plan *p, const struct layout *after,
                  struct text *why)
{
	const struct layout *before = plan_layout(p);
	struct layout b, c;

	*x = (struct exchange){.plan = p, .mesh = &p->problem->mesh};
	if (before->kind != LAYOUT_AXES || after->kind != LAYOUT_AXES ||
	    before->nunreduced || after->nunreduced) {
		text_printf(why, "an exchange needs layouts of axes, none unreduced");
		return false;
	}
	if (!even(p, before) || !even(p, after)) {
		text_printf(why,
		            "the boxes of an exchange of uneven tiles are not told");
		return false;
	}
	b = flat_layout(before);
	c = flat_layout(after);
	if (!atoms_common(&x->atoms, &b, x->mesh, &c, x->mesh, why))
		return false;
	find_side(&x->before, x, before);
	find_side(&x->after, x, after);
	find_partners(x);
	return true;
}

bool plan_exchange_axes(struct plan *p, const struct layout *after, struct text *why)
{
	struct exchange x;
	bool fits;

	if (!begin(&x, p, after, why))
		return false;
	x.arena = arena_new();
	for (int dim = 0; dim < after->rank; dim++)
		if (x.before.count[dim] + x.after.count[dim] > 0)
			x.cut[x.ncut++] = dim;
	x.have = find_tiles(&x, &x.before);
	x.want = find_tiles(&x, &x.after);
	x.copy = find_copies(&x);
	for (int dim = 0; dim < after->rank; dim++)
		x.holder[dim] = find_holders(&x, dim);
	fits = find_boxes(&x);
	if (fits)
		plan_exchange(p, after, x.mesh, x.transfer, x.n);
	else
		text_printf(why, "an exchange of more than %d boxes",
		            EXCHANGE_BOXES_MAX);
	arena_free(x.arena);
	return fits;
}
