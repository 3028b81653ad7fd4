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

/* All sharding parts in one dimension: atoms do not depend on the dimensions. */
static struct layout flat_layout(const struct layout *l)
{
	struct layout out = layout_replicated(1);

	for (int dim = 0; dim < l->rank; dim++)
		out.nparts[0] = (uint8_t)(out.nparts[0] + l->nparts[dim]);
	memcpy(out.part, l->part, out.nparts[0] * sizeof(*out.part));
	return out;
}

static void find_side(struct side *out, const struct exchange *x, const struct layout *l)
{
	const struct part *part = l->part;

	memset(out->used, 0, sizeof(out->used));
	out->tile = layout_local(l, &x->plan->shape);
	for (int dim = 0; dim < l->rank; dim++) {
		out->count[dim] = 0;
		for (int k = 0; k < l->nparts[dim]; k++, part++) {
			uint8_t *atom = out->atom[dim] + out->count[dim];
			int n = atoms_of_part(atom, &x->atoms, x->mesh, *part);

			out->count[dim] += n;
			for (int i = 0; i < n; i++)
				out->used[atom[i]] = true;
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

static int32_t count_tiles(const struct exchange *x, const struct side *s, int dim)
{
	int32_t n = 1;

	for (int k = 0; k < s->count[dim]; k++)
		n *= x->atoms.atom[s->atom[dim][k]].size;
	return n;
}

/* The same by the number of its tile in a dimension. */
static const int32_t *find_holders(const struct exchange *x, int dim)
{
	const struct side *s = &x->before;
	int32_t shards = count_tiles(x, s, dim), weight = 1;
	int32_t *holder = arena_alloc(x->arena, (size_t)shards, sizeof(*holder));

	for (int k = s->count[dim] - 1; k >= 0; k--) {
		struct atom a = x->atoms.atom[s->atom[dim][k]];

		mesh_add_digit(holder, 1, shards, weight, a.size, a.stride);
		weight *= a.size;
	}
	return holder;
}

/* By the number of a new tile in a dimension. */
static const struct wish *find_wishes(const struct exchange *x, int dim)
{
	int64_t old = x->before.tile.dim[dim], new = x->after.tile.dim[dim];
	int32_t n = count_tiles(x, &x->after, dim);
	struct wish *wish = arena_alloc(x->arena, (size_t)n, sizeof(*wish));

	for (int32_t i = 0; i < n; i++) {
		int64_t lo = i * new, hi = lo + new;

		wish[i] = (struct wish){lo, hi, lo / old, (hi - 1) / old};
	}
	return wish;
}

/* How many boxes the device lacks at a position. */
static int64_t count_boxes(const struct exchange *x, int32_t position)
{
	const int32_t *want = x->want + (int64_t)position * x->ncut;
	const int32_t *have = x->have + (int64_t)position * x->ncut;
	int64_t boxes = 1;
	bool own = true;

	for (int i = 0; i < x->ncut; i++) {
		const struct wish *w = &x->wish[i][want[i]];

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

static void cut_box(struct box *b, const struct exchange *x, const int32_t *have, int i)
{
	for (; i < x->ncut; i++) {
		int dim = x->cut[i];
		int64_t number = b->number[i], lo = number * x->before.tile.dim[dim];
		int64_t hi = lo + x->before.tile.dim[dim];

		lo = lo > b->wish[i]->lo ? lo : b->wish[i]->lo;
		hi = hi < b->wish[i]->hi ? hi : b->wish[i]->hi;
		b->bounds[2 * dim] = lo;
		b->bounds[2 * dim + 1] = hi;
		b->elements[i + 1] = b->elements[i] * (hi - lo);
		b->src[i + 1] = b->src[i] + x->holder[i][number];
		b->own[i + 1] = b->own[i] && number == have[i];
	}
}

static void add_box(struct exchange *x, const struct box *b, int32_t position)
{
	size_t size = 2 * (size_t)x->before.tile.rank;
	struct transfer *t = &x->transfer[x->n++];

	t->src = mesh_device(x->mesh, b->src[x->ncut]);
	t->dst = mesh_device(x->mesh, position);
	t->elements = b->elements[x->ncut];
	t->bounds = x->bounds;
	if (!x->bounds)
		return;
	memcpy(x->bounds, b->bounds, size * sizeof(*x->bounds));
	x->bounds += size;
}

static void add_boxes(struct exchange *x, struct box *b, int32_t position)
{
	const int32_t *want = x->want + (int64_t)position * x->ncut;
	const int32_t *have = x->have + (int64_t)position * x->ncut;
	int i = 0;

	b->src[0] = x->copy[position];
	for (int k = 0; k < x->ncut; k++) {
		b->wish[k] = &x->wish[k][want[k]];
		b->number[k] = b->wish[k]->first;
	}
	do {
		cut_box(b, x, have, i);
		if (!b->own[x->ncut])
			add_box(x, b, position);
		for (i = x->ncut - 1; i >= 0 && b->number[i] == b->wish[i]->last; i--)
			b->number[i] = b->wish[i]->first;
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
static bool find_boxes(struct exchange *x, bool bounds)
{
	int32_t ndevices = x->mesh->ndevices;
	struct arena *a = x->plan->arena;
	struct box b;
	int64_t n = 0;

	for (int32_t i = 0; i < ndevices && n <= EXCHANGE_BOXES_MAX; i++)
		n += count_boxes(x, i);
	if (n > EXCHANGE_BOXES_MAX)
		return false;
	x->transfer = arena_grow(a, NULL, 0, (size_t)n, sizeof(*x->transfer));
	if (bounds)
		x->bounds =
			arena_grow(a, NULL, 0, (size_t)n,
		                   2 * (size_t)x->before.tile.rank * sizeof(*x->bounds));
	whole_box(&b, x);
	for (int32_t i = 0; i < ndevices; i++)
		if (count_boxes(x, i) > 0)
			add_boxes(x, &b, i);
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

	x->plan = p;
	x->mesh = &p->problem->mesh;
	x->ncut = 0;
	x->n = 0;
	x->bounds = NULL;
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

static bool add_exchange(struct plan *p, const struct layout *after, bool bounds,
                         struct text *why)
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
	for (int i = 0; i < x.ncut; i++) {
		x.holder[i] = find_holders(&x, x.cut[i]);
		x.wish[i] = find_wishes(&x, x.cut[i]);
	}
	fits = find_boxes(&x, bounds);
	if (fits) {
		struct step *s;

		plan_exchange(p, after, x.mesh, NULL, 0);
		s = &p->step[p->nsteps - 1];
		s->transfers = x.transfer;
		s->ntransfers = x.n;
	} else {
		text_printf(why, "an exchange of more than %d boxes",
		            EXCHANGE_BOXES_MAX);
	}
	arena_free(x.arena);
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
