#include "xla_text.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

int read_numbers(int32_t *out, const char **s)
{
	int n = 0;

	for (;;) {
		char *end;

		out[n++] = (int32_t)strtol(*s, &end, 10);
		*s = end;
		if (**s != ',')
			return n;
		++*s;
	}
}

struct mesh mesh_of(const char *s)
{
	static const char *const names[] = {"x", "y", "z", "w"};
	struct mesh m = {.ndevices = 1};
	int32_t sizes[MESH_AXES_MAX];

	m.naxes = read_numbers(sizes, &s);
	for (int k = 0; k < m.naxes; k++) {
		m.axis[k] = (struct axis){names[k], sizes[k]};
		m.ndevices *= sizes[k];
	}
	return m;
}

struct array array_of(const char *s)
{
	struct array a = {.dtype = dtypes};
	int32_t dims[RANK_MAX];

	while (strcmp(a.dtype->name, "f32") != 0)
		a.dtype++;
	a.shape.rank = read_numbers(dims, &s);
	for (int d = 0; d < a.shape.rank; d++)
		a.shape.dim[d] = dims[d];
	return a;
}

static struct part whole(const struct mesh *m, int axis)
{
	return (struct part){(int16_t)axis, 1, m->axis[axis].size};
}

struct layout axes_of(const char *s, const struct mesh *m)
{
	struct layout l = layout_replicated(1);

	for (; *s; s++) {
		if (*s == ',')
			l.rank++;
		else if (*s != '-')
			layout_append(&l, l.rank - 1,
			              whole(m, *s == 'w' ? 3 : *s - 'x'));
	}
	return l;
}

const struct tiling *tiles_of(const char *s, struct arena *a)
{
	int32_t dims[RANK_MAX + 1], shape[RANK_MAX + 1], stride[RANK_MAX + 1];
	int32_t order[RANK_MAX + 1] = {0}, replicas = 1, n = 1, *ids;
	bool partial = strchr(s, 'r');
	int ndims, nshape;

	s++;
	nshape = ndims = read_numbers(dims, &s);
	memcpy(shape, dims, sizeof(shape));
	for (int k = 0; k < nshape; k++)
		order[k] = k;
	if (strncmp(s, "]<=[", 4) == 0) {
		s += 4;
		nshape = read_numbers(shape, &s);
	}
	if (strncmp(s, "]T(", 3) == 0) {
		s += 3;
		read_numbers(order, &s);
	}
	for (int k = nshape - 1; k >= 0; k--) {
		stride[k] = n;
		n *= shape[k];
	}
	ids = arena_alloc(a, (size_t)n, sizeof(*ids));
	for (int32_t i = 0; i < n; i++) {
		int32_t rest = i;

		for (int k = nshape - 1; k >= 0; k--) {
			ids[i] += rest % shape[order[k]] * stride[order[k]];
			rest /= shape[order[k]];
		}
	}
	if (partial)
		replicas = dims[--ndims];
	return xla_tiling(a, ndims, dims, replicas, ids);
}

struct layout layout_from(const char *s, const struct mesh *m, struct arena *a)
{
	if (s[0] != '[')
		return axes_of(s, m);
	return layout_of_tiling(tiles_of(s, a), a);
}

struct problem *problem_of(const struct array *array, const struct mesh *m,
                           const struct mesh *to_mesh, const struct layout *from,
                           const struct layout *to, struct arena *a)
{
	struct problem *p = arena_alloc(a, 1, sizeof(*p));

	p->arena = a;
	p->array = *array;
	p->mesh = *m;
	p->to_mesh = to_mesh ? *to_mesh : *m;
	p->two_meshes = to_mesh;
	p->from = *from;
	p->to = *to;
	p->memory_limit_bytes = -1;
	problem_finish(p);
	return p;
}

/* `l` with an axis put in at place `at` of dimension `dim`. */
static struct layout with_axis(const struct layout *l, int dim, int at, struct part axis)
{
	struct layout out = layout_replicated(l->rank);

	for (int d = 0; d < l->rank; d++) {
		int n;
		const struct part *p = layout_parts(l, d, &n);

		for (int k = 0; k <= n; k++) {
			if (d == dim && k == at)
				layout_append(&out, d, axis);
			if (k < n)
				layout_append(&out, d, p[k]);
		}
	}
	return out;
}

int all_layouts(struct layout *out, int rank, const struct mesh *m)
{
	int n = 1;

	out[0] = layout_replicated(rank);
	for (int axis = 0; axis < m->naxes; axis++) {
		int before = n;

		for (int i = 0; i < before; i++)
			for (int d = 0; d < rank; d++)
				for (int at = 0; at <= out[i].nparts[d]; at++)
					out[n++] = with_axis(&out[i], d, at,
					                     whole(m, axis));
	}
	return n;
}
