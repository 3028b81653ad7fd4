#include "planner/send/places.h"

/*
 * Returns whether a digit of an axis tells tiles of a layout apart. A digit of the layout that
 * is none of the axis's own (6 = 3 x 2 beside 2 x 3) changes with all of these.
 */
static bool cuts_part(const struct layout *l, const struct part *own, int nown,
                      int digit)
{
	for (int dim = 0; dim < l->rank; dim++) {
		struct part prime[LAYOUT_PARTS_MAX];

		for (int k = layout_digits(prime, l, dim) - 1; k >= 0; k--) {
			int same = 0;

			if (prime[k].axis != own[digit].axis)
				continue;
			while (same < nown && (own[same].pre != prime[k].pre ||
			                       own[same].size != prime[k].size))
				same++;
			if (same == digit || same == nown)
				return true;
		}
	}
	return false;
}

/*
 * Adds a place, or makes it the end of the one before, of the same axis, where `join` is
 * set and both tell copies apart or none does.
 */
static void add_place(struct places *out, struct place p, bool copies, bool join)
{
	if (join &&
	    copies == (out->ncopies > 0 && out->copy[out->ncopies - 1] == out->n - 1)) {
		struct place *last = &out->place[out->n - 1];

		*last = (struct place){p.stride, last->size * p.size};
		return;
	}
	if (copies)
		out->copy[out->ncopies++] = out->n;
	out->place[out->n++] = p;
}

static struct places find_places(const struct mesh *m, const struct layout *l, bool join)
{
	struct places out = {0};

	for (int axis = 0; axis < m->naxes; axis++) {
		const struct part whole = {axis, 1, m->axis[axis].size};
		struct part prime[LAYOUT_PARTS_MAX];
		int n = parts_digits(prime, &whole, 1);

		for (int k = 0; k < n && out.n < LAYOUT_PARTS_MAX; k++) {
			int32_t rest = whole.size / (prime[k].pre * prime[k].size);

			add_place(&out,
			          (struct place){(int32_t)mesh_stride(m, axis) * rest,
			                         prime[k].size},
			          !cuts_part(l, prime, n, k), join && k > 0);
		}
	}
	return out;
}

struct places places_of(const struct mesh *m, const struct layout *l)
{
	return find_places(m, l, false);
}

struct places places_joined(const struct mesh *m, const struct layout *l)
{
	return find_places(m, l, true);
}

int32_t place_coordinate(struct place p, int32_t position)
{
	return position / p.stride % p.size;
}
