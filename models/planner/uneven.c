#include "planner/uneven.h"

/*
 * Returns whether devices have what tiles of `tile` elements hold, from tiles of `old`.
 * The first tile starts where it did. Any other starts elsewhere, so it must be padding
 * in both: the first one has the whole extent, before and after.
 */
static bool is_local(int64_t extent, int64_t shards, int64_t old, int64_t tile)
{
	return old == tile || shards == 1 || (extent <= old && extent <= tile);
}

/*
 * Pads to `tile`, unless tiles are so already. Returns false if that would not be
 * local.
 */
static bool pad_to(struct plan *plan, const struct shape *tile, struct text *why)
{
	const struct layout *now = plan_layout(plan);
	struct shape old = plan_local(plan);
	bool same = true;

	for (int dim = 0; dim < tile->rank; dim++) {
		int64_t extent = plan->shape.dim[dim], shards = layout_shards(now, dim);

		same = same && old.dim[dim] == tile->dim[dim];
		if (is_local(extent, shards, old.dim[dim], tile->dim[dim]))
			continue;
		text_printf(why,
		            "dimension %d of %lld elements in %lld tiles of %lld would "
		            "have to be cut anew into tiles of %lld, across devices",
		            dim, (long long)extent, (long long)shards,
		            (long long)old.dim[dim], (long long)tile->dim[dim]);
		return false;
	}
	if (!same)
		plan_pad(plan, now, tile);
	return true;
}

/*
 * Returns the factor of a move that may not be in a plan yet, when plan_axes_step() has
 * not set `factor`.
 */
static int64_t factor_of(const struct move *m)
{
	int64_t factor = 1;

	for (int k = 0; k < m->nparts; k++)
		factor *= m->parts[k].size;
	return factor;
}

/*
 * Returns whether padding would take a tile above the 2^62 bits that an array may have.
 */
static bool shape_too_large(const struct plan *plan, const struct shape *tile)
{
	int64_t bits = plan->problem->array.dtype->bits;

	for (int dim = 0; dim < tile->rank; dim++)
		if (__builtin_mul_overflow(bits, tile->dim[dim], &bits))
			return true;
	return bits > (int64_t)1 << 62;
}

bool uneven_step(struct plan *plan, enum op op, const struct move *moves, int nmoves,
                 const struct shape *before, const struct shape *after, struct text *why)
{
	const struct layout *now = plan_layout(plan);
	struct shape tile = layout_local(now, before), left;

	/*
	 * what is cut must divide into as many parts as are cut off, of the tiles after
	 */
	for (int i = 0; i < nmoves; i++) {
		int64_t factor = factor_of(&moves[i]), shards;
		int dim = moves[i].to_dim;

		if (dim < 0)
			continue;
		shards = factor * layout_shards(now, dim);
		tile.dim[dim] = (after->dim[dim] + shards - 1) / shards * factor;
	}
	/* The step itself: it puts parts together and cuts, so that nothing is left over. */
	left = tile;
	for (int i = 0; i < nmoves; i++) {
		if (moves[i].from_dim >= 0)
			left.dim[moves[i].from_dim] *= factor_of(&moves[i]);
		if (moves[i].to_dim >= 0)
			left.dim[moves[i].to_dim] /= factor_of(&moves[i]);
	}
	if (shape_too_large(plan, &tile) || shape_too_large(plan, &left)) {
		text_printf(why, "a padded tile would pass 2^62 bits");
		return false;
	}
	if (!pad_to(plan, &tile, why))
		return false;
	plan_axes_step(plan, op, moves, nmoves);
	plan_place(plan, &left, NULL);
	return true;
}

bool uneven_trim(struct plan *plan, const struct shape *extent, struct text *why)
{
	struct shape tile = layout_local(plan_layout(plan), extent);

	return pad_to(plan, &tile, why);
}
