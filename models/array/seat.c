#include "array/seat.h"

#include <string.h>

/* A box with what it is judged by (seat.h). */
struct box {
	int64_t chips, cut, links;
	int32_t sum; /* of lengths above one */
	int long_axes;
	int32_t shape[TORUS_AXES_MAX];
};

/* Returns how many links of one line along an axis join neighbours of the box. */
static int64_t line_links(const struct fabric *f, const struct box *b, int axis)
{
	bool ring = f->wrap[axis] && b->shape[axis] == f->shape[axis];

	return b->shape[axis] - 1 + ring;
}

static void box_judge(struct box *b, const struct fabric *f)
{
	b->cut = INT64_MAX;
	b->links = 0;
	b->sum = b->long_axes = 0;
	for (int a = 0; a < f->naxes; a++) {
		int64_t lines = b->chips / b->shape[a], along = line_links(f, b, a);
		int64_t cut = along < b->shape[a] ? lines : 2 * lines;

		if (b->shape[a] == 1)
			continue;
		b->sum += b->shape[a];
		b->cut = cut < b->cut ? cut : b->cut;
		b->links += lines * along;
		b->long_axes++;
	}
}

/* Returns whether x comes before y in the order of seat.h. */
static bool box_better(const struct box *x, const struct box *y, int naxes)
{
	if (x->chips != y->chips)
		return x->chips < y->chips;
	if (x->cut != y->cut)
		return x->cut > y->cut;
	if (x->sum != y->sum)
		return x->sum < y->sum;
	if (x->links != y->links)
		return x->links > y->links;
	if (x->long_axes != y->long_axes)
		return x->long_axes < y->long_axes;
	for (int a = 0; a < naxes; a++)
		if (x->shape[a] != y->shape[a])
			return y->shape[a] == 1 ||
			       (x->shape[a] > 1 && x->shape[a] < y->shape[a]);
	return false;
}

/*
 * Looks at all boxes that go on from the lengths of the first axes, whose product is
 * `chips`. The last axis is as long as it must be.
 */
static void boxes_try(struct box *best, struct box *b, const struct fabric *f, int axis,
                      int64_t chips, int64_t wanted)
{
	if (axis == f->naxes - 1) {
		int64_t last = (wanted + chips - 1) / chips;

		if (last > f->shape[axis])
			return;
		b->shape[axis] = (int32_t)last;
		b->chips = chips * last;
		if (best->chips && b->chips > best->chips)
			return;
		box_judge(b, f);
		if (!best->chips || box_better(b, best, f->naxes))
			*best = *b;
		return;
	}
	for (int32_t n = 1; n <= f->shape[axis]; n++) {
		b->shape[axis] = n;
		boxes_try(best, b, f, axis + 1, chips * n, wanted);
		if (chips * n >= wanted)
			return;
	}
}

/* Returns the first torus of a machine whose domains hold all its devices, or NULL. */
static const struct fabric *torus_of(const struct machine *m)
{
	for (int i = 0; i < m->nfabrics; i++) {
		const struct fabric *f = &m->fabric[i];

		if (f->naxes > 0 && f->at &&
		    (int64_t)f->ndomains * fabric_places(f) * f->share == m->ndevices)
			return f;
	}
	return NULL;
}

bool seat_find(struct seat *out, const struct machine *m, int32_t n)
{
	const struct fabric *f = torus_of(m);
	struct box best = {0}, box = {0};
	int32_t chips, places;

	if (!f || n < 1 || n >= m->ndevices)
		return false;
	chips = (n + f->share - 1) / f->share;
	places = fabric_places(f);
	*out = (struct seat){.fabric = f, .domains = (chips + places - 1) / places};
	if (chips % out->domains)
		return false;
	boxes_try(&best, &box, f, 0, 1, chips / out->domains);
	memcpy(out->shape, best.shape, sizeof(out->shape));
	return true;
}

/* Returns the number of chips of one box. */
static int32_t box_chips(const struct seat *s)
{
	int32_t n = 1;

	for (int a = 0; a < s->fabric->naxes; a++)
		n *= s->shape[a];
	return n;
}

/* Returns the place in its domain of chip number `chip` of the box. */
static int32_t place_of(const struct seat *s, int32_t chip)
{
	const struct fabric *f = s->fabric;
	int32_t place = 0, stride = 1;

	for (int a = f->naxes - 1; a >= 0; a--) {
		place += chip % s->shape[a] * stride;
		chip /= s->shape[a];
		stride *= f->shape[a];
	}
	return place;
}

const int32_t *seat_devices(const struct seat *s, int32_t n, struct arena *a)
{
	const struct fabric *f = s->fabric;
	/* A box that is not full has its gap behind the last device of each domain. */
	int32_t each = (n + s->domains - 1) / s->domains, places = fabric_places(f);
	int32_t *device = arena_alloc(a, (size_t)n, sizeof(*device));

	for (int32_t i = 0; i < n; i++) {
		int32_t domain = i / each, d = i % each;

		device[i] = f->at[domain * places + place_of(s, d / f->share)] +
		            d % f->share;
	}
	return device;
}

/* Returns "an" in front of 8, 11, 18 and what begins like those, else "a". */
static const char *article(int32_t n)
{
	while (n >= 1000)
		n /= 1000;
	return n == 11 || n == 18 || n == 8 || n / 10 == 8 || n / 100 == 8 ? "an" : "a";
}

void seat_print(struct text *out, const struct seat *s, int32_t n)
{
	bool whole = n == s->domains * box_chips(s) * s->fabric->share;

	text_printf(out, "%s", whole ? "" : "part of ");
	if (s->domains > 1)
		text_printf(out, "%d slices of ", (int)s->domains);
	else
		text_printf(out, "%s ", article(s->shape[0]));
	for (int a = 0; a < s->fabric->naxes; a++)
		text_printf(out, "%s%d", a ? "x" : "", (int)s->shape[a]);
	text_printf(out, "%s", s->domains > 1 ? "" : " slice");
}
