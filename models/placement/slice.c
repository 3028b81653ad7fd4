#include "placement/slice.h"

#include "base/assert.h"

#include <string.h>

void slice_levels(int *first, int *last, const struct hierarchy *h, struct slice s)
{
	*first = s.ancestor + 1;
	*last = s.form == FORM_INSIDE ? h->nlevels - 1 : s.level;
}

int32_t slice_size(const struct hierarchy *h, struct slice s)
{
	int first, last;
	int32_t size = 1;

	slice_levels(&first, &last, h, s);
	for (int j = first; j <= last; j++)
		size *= h->level[j].size;
	return size;
}

/*
 * Returns the groups of a slice: with `inner` devices below the varying levels, member
 * i is i inner on.
 */
struct groups slice_groups(const struct hierarchy *h, struct slice s, struct arena *a)
{
	int32_t size = slice_size(h, s), inner, places, *ids, *next;
	int first, last;
	struct groups g = {.size = size};

	slice_levels(&first, &last, h, s);
	inner = hierarchy_stride(h, last);
	places = s.form == FORM_MASTER ? 1 : inner;
	g.ngroups = h->ndevices / (size * inner) * places;
	next = ids = arena_alloc(a, (size_t)g.ngroups * (size_t)size, sizeof(*ids));
	for (int32_t top = 0; top < h->ndevices; top += size * inner)
		for (int32_t j = 0; j < places; j++)
			for (int32_t i = 0; i < size; i++)
				*next++ = top + i * inner + j;
	g.ids = ids;
	return g;
}

static bool same_groups(const struct groups *x, const struct groups *y)
{
	return x->ngroups == y->ngroups && x->size == y->size &&
	       !memcmp(x->ids, y->ids,
	               (size_t)x->ngroups * (size_t)x->size * sizeof(*x->ids));
}

int slices_of(struct slice **out, struct arena *a, const struct hierarchy *h)
{
	int n = h->nlevels, found = 0, most = n + n * (n - 1);
	struct slice *slice = arena_alloc(a, (size_t)most, sizeof(*slice));
	struct groups *groups = arena_alloc(a, (size_t)most, sizeof(*groups));

	assert(h->level[0].size == 1);
	for (int form = FORM_INSIDE; form <= FORM_MASTER; form++)
		for (int e = 0; e < n; e++) {
			int top = form == FORM_INSIDE ? e : 0;

			for (int up = top; up < e + (form == FORM_INSIDE); up++) {
				struct slice s = {(int8_t)e, (int8_t)up, (uint8_t)form};
				bool known = slice_size(h, s) < 2;

				groups[found] = slice_groups(h, s, a);
				for (int i = 0; i < found && !known; i++)
					known = same_groups(&groups[i], &groups[found]);
				if (!known)
					slice[found++] = s;
			}
		}
	*out = slice;
	return found;
}
