#include "plan/exchange.h"

#include "array/type.h"

#include <assert.h>
#include <stdlib.h>

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
	struct transfer *transfer;
	int64_t n, capacity;
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

static int32_t coordinate(const struct exchange *x, int atom, int32_t position)
{
	return position / x->atoms.atom[atom].stride % x->atoms.atom[atom].size;
}

static int64_t tile_number(const struct exchange *x, const struct side *s, int dim,
                           int32_t position)
{
	int64_t number = 0;

	for (int k = 0; k < s->count[dim]; k++) {
		int atom = s->atom[dim][k];

		number = number * x->atoms.atom[atom].size +
		         coordinate(x, atom, position);
	}
	return number;
}

/* The position that sends the box of tile number[] to a receiver. */
static int32_t sender(const struct exchange *x, const int64_t *number, int32_t receiver)
{
	int32_t position = 0;

	for (int a = 0; a < x->atoms.n; a++)
		if (!x->before.used[a])
			position += coordinate(x, x->partner[a], receiver) *
			            x->atoms.atom[a].stride;
	for (int dim = 0; dim < x->before.tile.rank; dim++) {
		int64_t rest = number[dim];

		for (int k = x->before.count[dim] - 1; k >= 0; k--) {
			struct atom a = x->atoms.atom[x->before.atom[dim][k]];

			position += (int32_t)(rest % a.size) * a.stride;
			rest /= a.size;
		}
	}
	return position;
}

/* What a device wants and has, in tiles of the layout before: per dimension. */
struct wish {
	int64_t lo, hi;      /* the new tile */
	int64_t first, last; /* old tiles that it meets */
	int64_t own;
};

static void find_wish(struct wish *out, const struct exchange *x, int32_t position)
{
	for (int dim = 0; dim < x->before.tile.rank; dim++) {
		int64_t old = x->before.tile.dim[dim], new = x->after.tile.dim[dim];
		int64_t lo = tile_number(x, &x->after, dim, position) * new;

		out[dim] = (struct wish){
			.lo = lo,
			.hi = lo + new,
			.first = lo / old,
			.last = (lo + new - 1) / old,
			.own = tile_number(x, &x->before, dim, position),
		};
	}
}

static bool add_box(struct exchange *x, const struct wish *w, const int64_t *number,
                    int32_t position)
{
	int rank = x->before.tile.rank;
	int64_t *bounds, elements = 1;
	bool own = true;

	for (int dim = 0; dim < rank; dim++)
		own = own && number[dim] == w[dim].own;
	if (own)
		return true;
	if (x->n == EXCHANGE_BOXES_MAX)
		return false;
	if (x->n == x->capacity) {
		x->capacity = x->capacity ? 2 * x->capacity : 64;
		x->transfer = xrealloc(x->transfer, (size_t)x->capacity,
		                       sizeof(*x->transfer));
	}
	bounds = arena_alloc(x->plan->arena, 2 * (size_t)rank, sizeof(*bounds));
	for (int dim = 0; dim < rank; dim++) {
		int64_t lo = number[dim] * x->before.tile.dim[dim];
		int64_t hi = lo + x->before.tile.dim[dim];

		bounds[2 * dim] = lo > w[dim].lo ? lo : w[dim].lo;
		bounds[2 * dim + 1] = hi < w[dim].hi ? hi : w[dim].hi;
		elements *= bounds[2 * dim + 1] - bounds[2 * dim];
	}
	x->transfer[x->n++] = (struct transfer){
		.src = mesh_device(x->mesh, sender(x, number, position)),
		.dst = mesh_device(x->mesh, position),
		.elements = elements,
		.bounds = bounds,
	};
	return true;
}

static bool add_boxes(struct exchange *x, int32_t position)
{
	struct wish w[RANK_MAX];
	int64_t number[RANK_MAX];
	int rank = x->before.tile.rank, dim;

	find_wish(w, x, position);
	for (dim = 0; dim < rank; dim++)
		number[dim] = w[dim].first;
	do {
		if (!add_box(x, w, number, position))
			return false;
		for (dim = rank - 1; dim >= 0 && number[dim] == w[dim].last; dim--)
			number[dim] = w[dim].first;
		if (dim >= 0)
			number[dim]++;
	} while (dim >= 0);
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
	fits = true;
	for (int32_t i = 0; i < x.mesh->ndevices && fits; i++)
		fits = add_boxes(&x, i);
	if (fits)
		plan_exchange(p, after, x.mesh, x.transfer, x.n);
	else
		text_printf(why, "an exchange of more than %d boxes",
		            EXCHANGE_BOXES_MAX);
	free(x.transfer);
	return fits;
}
