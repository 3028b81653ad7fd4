#include "placement/space.h"

#include "base/assert.h"
#include "base/list.h"

#include <stdlib.h>
#include <string.h>

const char *order_name(enum order o)
{
	return o == ORDER_ROW ? "row" : "level";
}

static const char *level_name(const struct hierarchy *h, int level, struct arena *a)
{
	if (h->level[level].name)
		return h->level[level].name;
	return arena_printf(a, "level%d", level);
}

/*
 * Returns the number of every device's reduction group: its coordinates on the other
 * axes.
 */
static int32_t *reduction_groups(const struct matrix *m, uint32_t reduce,
                                 const int32_t *devices, struct arena *a)
{
	int32_t n = matrix_ndevices(m);
	int32_t *group = arena_alloc(a, (size_t)n, sizeof(*group));

	for (int32_t p = 0; p < n; p++) {
		int32_t left = p, radix = 1;

		for (int i = m->naxes - 1; i >= 0; i--) {
			int32_t size = matrix_axis_size(m, i);

			if (!(reduce & 1u << i)) {
				group[devices[p]] += left % size * radix;
				radix *= size;
			}
			left /= size;
		}
	}
	return group;
}

/*
 * Returns the row-major positions of all coordinates on the axes of `axes`, the others
 * being 0.
 */
static int32_t *positions_over(const struct matrix *m, uint32_t axes, int32_t *n,
                               struct arena *a)
{
	int32_t *position, stride = 1, filled = 1;

	*n = 1;
	for (int i = 0; i < m->naxes; i++)
		if (axes & 1u << i)
			*n *= matrix_axis_size(m, i);
	position = arena_alloc(a, (size_t)*n, sizeof(*position));
	for (int i = m->naxes - 1; i >= 0; i--) {
		int32_t size = matrix_axis_size(m, i);

		if (axes & 1u << i) {
			for (int32_t p = filled; p < filled * size; p++)
				position[p] = position[p % filled] + p / filled * stride;
			filled *= size;
		}
		stride *= size;
	}
	return position;
}

/* Makes one copy per coordinate on the other axes, with positions in mesh order. */
static void copies(struct space *out, struct arena *a, const struct matrix *m,
                   uint32_t reduce, const int32_t *devices)
{
	int32_t n, *first = positions_over(m, ~reduce, &out->ncopies, a);
	int32_t *member = positions_over(m, reduce, &n, a);
	int32_t *device =
		arena_alloc(a, (size_t)n * (size_t)out->ncopies, sizeof(*device));

	assert(n == out->tree.ndevices);
	for (int32_t c = 0; c < out->ncopies; c++)
		for (int32_t i = 0; i < n; i++)
			device[c * n + i] = devices[first[c] + member[i]];
	out->device = device;
	out->goal = arena_alloc(a, (size_t)n, sizeof(*out->goal));
}

/* Puts the platform's devices in the place of those of the hierarchy. */
static void seat(struct space *s, const struct hierarchy *h)
{
	int64_t n = (int64_t)s->ncopies * s->tree.ndevices;
	int32_t *device = (int32_t *)s->device;

	for (int64_t i = 0; h->on && i < n; i++)
		device[i] = h->on[device[i]];
}

static void add_factor(struct space *out, const struct matrix *m, int i, int j,
                       const char *name, struct arena *a)
{
	if (m->x[i][j] == 1)
		return;
	hierarchy_add(&out->tree, arena_printf(a, "%s-%d", name, i), m->x[i][j]);
}

static void add_row(struct space *out, const struct hierarchy *h,
                    const struct matrix *m, int i, struct arena *a)
{
	for (int j = 0; j < m->nlevels; j++)
		add_factor(out, m, i, j, level_name(h, j, a), a);
}

/* Puts all devices in one copy, in the order of devices or, for rows, of the mesh. */
static void whole(struct space *out, struct arena *a, const struct matrix *m,
                  uint32_t reduce, const int32_t *devices, bool mesh_order)
{
	int32_t n = out->tree.ndevices, *device, *goal;
	const int32_t *group = reduction_groups(m, reduce, devices, a);

	assert(n == matrix_ndevices(m));
	device = arena_alloc(a, (size_t)n, sizeof(*device));
	goal = arena_alloc(a, (size_t)n, sizeof(*goal));
	for (int32_t p = 0; p < n; p++) {
		device[p] = mesh_order ? devices[p] : p;
		goal[p] = group[device[p]];
	}
	out->ncopies = 1;
	out->device = device;
	out->goal = goal;
}

void space_of(struct space *out, struct arena *a, const struct hierarchy *h,
              const struct matrix *m, uint32_t reduce, enum space_kind kind)
{
	const int32_t *devices = matrix_devices(m, a);

	*out = (struct space){0};
	hierarchy_add(&out->tree, "root", 1);
	if (kind == SPACE_HARDWARE) {
		for (int j = 0; j < h->nlevels; j++)
			if (h->level[j].size > 1)
				hierarchy_add(&out->tree, level_name(h, j, a),
				              h->level[j].size);
	} else if (kind == SPACE_COLUMNS) {
		for (int j = 0; j < h->nlevels; j++)
			for (int i = 0; i < m->naxes; i++)
				add_factor(out, m, i, j, level_name(h, j, a), a);
	} else {
		for (int i = 0; i < m->naxes; i++)
			if (kind == SPACE_ROWS || reduce & 1u << i)
				add_row(out, h, m, i, a);
	}
	if (kind == SPACE_AXES)
		copies(out, a, m, reduce, devices);
	else
		whole(out, a, m, reduce, devices, kind == SPACE_ROWS);
	seat(out, h);
}

/* Returns how many ways the reduction axes are split at a level together. */
static int32_t column_size(const struct matrix *m, uint32_t reduce, int level)
{
	int32_t size = 1;

	for (int i = 0; i < m->naxes; i++)
		if (reduce & 1u << i)
			size *= m->x[i][level];
	return size;
}

static void by_level(struct space *s)
{
	int32_t n = s->tree.ndevices;

	for (int32_t c = 0; c < s->ncopies; c++)
		qsort((int32_t *)s->device + (int64_t)c * n, (size_t)n,
		      sizeof(*s->device), compare_int32);
}

void space_collapsed(struct space *out, struct arena *a, const struct hierarchy *h,
                     const struct matrix *m, uint32_t reduce, enum order order)
{
	*out = (struct space){0};
	hierarchy_add(&out->tree, "root", 1);
	for (int j = 0; j < m->nlevels; j++) {
		int32_t size = column_size(m, reduce, j);

		if (size > 1)
			hierarchy_add(&out->tree, level_name(h, j, a), size);
	}
	copies(out, a, m, reduce, matrix_devices(m, a));
	if (order == ORDER_LEVEL)
		by_level(out);
	seat(out, h);
}

/* Returns the number of prime factors of n > 0. */
static int nprimes(int32_t n)
{
	int primes = 0;

	for (int32_t p = 2; n > 1; p++)
		for (; n % p == 0; n /= p)
			primes++;
	return primes;
}

/* Adds a level as levels of its prime factors. */
static void add_primes(struct space *out, const char *name, int32_t n, struct arena *a)
{
	int number = 0;

	for (int32_t p = 2; n > 1; p++)
		for (; n % p == 0; n /= p)
			hierarchy_add(&out->tree,
			              arena_printf(a, "%s_%d", name, number++), p);
}

bool space_split(struct space *out, struct arena *a, const struct hierarchy *h,
                 const struct matrix *m, uint32_t reduce)
{
	int levels = 0, first = m->nlevels, left;
	bool split = false;

	for (int j = 0; j < m->nlevels; j++)
		levels += column_size(m, reduce, j) > 1;
	left = SPLIT_LEVELS_MAX - levels; /* that splitting may add */
	for (; first > 0; first--) {
		int more = nprimes(column_size(m, reduce, first - 1)) - 1;

		if (more > left)
			break;
		split |= more > 0;
		left -= more > 0 ? more : 0;
	}
	*out = (struct space){0};
	hierarchy_add(&out->tree, "root", 1);
	for (int j = 0; j < m->nlevels; j++) {
		int32_t size = column_size(m, reduce, j);

		if (j >= first && nprimes(size) > 1)
			add_primes(out, level_name(h, j, a), size, a);
		else if (size > 1)
			hierarchy_add(&out->tree, level_name(h, j, a), size);
	}
	copies(out, a, m, reduce, matrix_devices(m, a));
	by_level(out);
	seat(out, h);
	return split;
}

struct groups space_groups(const struct space *s, struct groups positions,
                           struct arena *a)
{
	int64_t n = (int64_t)positions.ngroups * positions.size;
	int32_t *ids = arena_alloc(a, (size_t)n * (size_t)s->ncopies, sizeof(*ids));

	for (int32_t c = 0; c < s->ncopies; c++)
		for (int64_t i = 0; i < n; i++)
			ids[c * n + i] =
				s->device[(int64_t)c * s->tree.ndevices + positions.ids[i]];
	return (struct groups){
		.ngroups = positions.ngroups * s->ncopies,
		.size = positions.size,
		.ids = ids,
	};
}
