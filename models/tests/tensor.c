#include "tests/tensor.h"

#include "array/tile.h"
#include "base/assert.h"

#include <check.h>
#include <math.h>
#include <string.h>

int64_t tensor_count(const struct tensor *c)
{
	int64_t n = 1;

	for (int32_t d = 0; d < c->rank; d++)
		n *= c->dim[d];
	return n;
}

struct tensor tensor_make(struct arena *a, int32_t rank, const int64_t *dim)
{
	struct tensor c = {.rank = rank};

	for (int32_t d = 0; d < rank; d++)
		c.dim[d] = dim[d];
	c.at = arena_alloc(a, (size_t)tensor_count(&c) + 1, sizeof(*c.at));
	return c;
}

void tensor_index(int64_t *out, const struct tensor *c, int64_t i)
{
	for (int32_t d = c->rank; d-- > 0;) {
		out[d] = i % c->dim[d];
		i /= c->dim[d];
	}
}

double *tensor_at(const struct tensor *c, const int64_t *index)
{
	int64_t at = 0;

	for (int32_t d = 0; d < c->rank; d++) {
		assert(index[d] >= 0 && index[d] < c->dim[d]);
		at = at * c->dim[d] + index[d];
	}
	return &c->at[at];
}

struct tensor tensor_new(struct arena *a, const struct value_type *t, uint64_t seed)
{
	struct tensor c = tensor_make(a, t->rank, t->dim);

	for (int64_t i = 0; i < tensor_count(&c); i++) {
		seed = seed * UINT64_C(6364136223846793005) +
		       UINT64_C(1442695040888963407);
		c.at[i] = t->dtype->name[0] != 's' && t->dtype->name[0] != 'u'
		                  ? (double)(int)(seed >> 33) / (double)(1u << 30) - 0.9
		                  : (double)(seed >> 33 & 7);
	}
	return c;
}

bool tensor_equal(const struct tensor *a, const struct tensor *b)
{
	if (a->rank != b->rank ||
	    memcmp(a->dim, b->dim, (size_t)a->rank * sizeof(*a->dim)) != 0)
		return false;
	for (int64_t i = 0; i < tensor_count(a); i++)
		if (!(fabs(a->at[i] - b->at[i]) <= 1e-7 * (1 + fabs(a->at[i]))))
			return false;
	return true;
}

static struct shape shape_of(int32_t rank, const int64_t *dim)
{
	struct shape s = {.rank = rank};

	for (int32_t d = 0; d < rank; d++)
		s.dim[d] = dim[d];
	return s;
}

/* Tiles of a dimension that does not divide end behind the array. */
static bool is_inside(const struct tensor *c, const int64_t *at)
{
	for (int32_t d = 0; d < c->rank; d++)
		if (at[d] >= c->dim[d])
			return false;
	return true;
}

void tensor_cut(struct tensor *out, struct arena *a, const struct tensor *whole,
                const struct layout *l, const struct mesh *m)
{
	struct shape shape = shape_of(whole->rank, whole->dim);
	struct tilemap t = tilemap_make(l, m, &shape, a);
	int64_t at[RANK_MAX], lo, hi;

	for (int32_t dev = 0; dev < t.ndevices; dev++) {
		out[dev] = tensor_make(a, whole->rank, t.tile.dim);
		for (int64_t i = 0; i < tensor_count(&out[dev]); i++) {
			tensor_index(at, &out[dev], i);
			for (int32_t d = 0; d < whole->rank; d++) {
				tilemap_interval(&t, &shape, dev, d, &lo, &hi);
				at[d] += lo;
			}
			out[dev].at[i] =
				is_inside(whole, at) ? *tensor_at(whole, at) : NAN;
		}
	}
}

struct tensor tensor_join(struct arena *a, const struct tensor *tile,
                          const struct value_type *type, const struct layout *l,
                          const struct mesh *m, bool max)
{
	struct shape shape = shape_of(type->rank, type->dim);
	struct tilemap t = tilemap_make(l, m, &shape, a);
	struct tensor whole = tensor_make(a, type->rank, type->dim);
	int64_t n = tensor_count(&whole), at[RANK_MAX], lo, hi;
	double *part = arena_alloc(a, (size_t)(n * t.partials) + 1, sizeof(*part));

	for (int64_t i = 0; i < n * t.partials; i++)
		part[i] = NAN;
	for (int32_t dev = 0; dev < t.ndevices; dev++)
		for (int64_t i = 0; i < tensor_count(&tile[dev]); i++) {
			double *to, is = tile[dev].at[i];

			tensor_index(at, &tile[dev], i);
			for (int32_t d = 0; d < type->rank; d++) {
				tilemap_interval(&t, &shape, dev, d, &lo, &hi);
				at[d] += lo;
			}
			if (!is_inside(&whole, at))
				continue;
			to = part + n * (t.partials > 1 ? t.partial[dev] : 0) +
			     (tensor_at(&whole, at) - whole.at);
			if (!isnan(*to) && fabs(*to - is) > 1e-9 * (1 + fabs(is)))
				ck_abort_msg("device %d has %g where another has %g",
				             (int)dev, is, *to);
			*to = is;
		}
	for (int64_t i = 0; i < n; i++) {
		whole.at[i] = part[i];
		for (int32_t k = 1; k < t.partials; k++)
			whole.at[i] = max ? fmax(whole.at[i], part[k * n + i])
			                  : whole.at[i] + part[k * n + i];
	}
	return whole;
}
