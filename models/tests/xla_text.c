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
	bool partial = strchr(s, 'r'), listed;
	int ndims, nshape;

	s++;
	nshape = ndims = read_numbers(dims, &s);
	listed = s[0] == ']' && s[1] >= '0' && s[1] <= '9';
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
	if (listed) {
		s++;
		read_numbers(ids, &s);
	}
	for (int32_t i = 0; !listed && i < n; i++) {
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

struct xla program_of(const struct xla_mode *mode, const struct array *array,
                      const struct layout *from, const struct layout *to,
                      const struct mesh *m, struct arena *a)
{
	struct xla x = xla_start(mode, &array->shape, m->ndevices, a);
	bool done;

	for (int d = 0; d < array->shape.rank; d++)
		x.uneven |= array->shape.dim[d] % layout_shards(from, d) != 0 ||
		            array->shape.dim[d] % layout_shards(to, d) != 0;
	done = xla_reshard(&x, layout_tiling(from, m, a), layout_tiling(to, m, a));
	assert(done);
	(void)done;
	return x;
}

static void print_groups(struct text *out, const struct groups *g)
{
	for (int32_t i = 0; i < g->ngroups * g->size; i++)
		text_printf(out, "%s%d%s", i % g->size ? "," : "{", g->ids[i],
		            (i + 1) % g->size ? "" : "}");
}

static void print_moves(struct text *out, const struct xla_op *op)
{
	for (int k = 0; k < op->nmoves; k++) {
		const struct move *m = &op->move[k];

		if (op->op == OP_ALL_TO_ALL)
			text_printf(out, "%d>%d:%d ", m->from_dim, m->to_dim, m->factor);
		else
			text_printf(out, "%d:%d ",
			            op->op == OP_SLICE ? m->to_dim : m->from_dim,
			            m->factor);
	}
}

const char *xla_op_text(const struct xla_op *op)
{
	static const char *const names[] = {[OP_SLICE] = "slice",
	                                    [OP_ALL_GATHER] = "gather",
	                                    [OP_ALL_TO_ALL] = "swap",
	                                    [OP_PERMUTE] = "permute",
	                                    [OP_ALL_REDUCE] = "sum"};

	if (op->part)
		return "send";
	return op->window ? "window" : names[op->op];
}

static void print_op(struct text *out, const struct xla_op *op)
{
	text_printf(out, "%s ", xla_op_text(op));
	if (op->part)
		text_printf(out, "%d:[%lld,%lld) ", op->dim, (long long)op->lo,
		            (long long)op->hi);
	for (int d = 0; op->window && d < op->extent.rank; d++)
		text_printf(out, "%s%lld", d ? "," : "", (long long)op->extent.dim[d]);
	if (op->window)
		return;
	print_moves(out, op);
	if (op->op == OP_PERMUTE)
		for (int32_t i = 0; i < op->npairs; i++)
			text_printf(out, "(%d,%d)", op->pairs[i].src, op->pairs[i].dst);
	else if (op->op == OP_SLICE)
		for (int32_t i = 0; i < op->after->ndevices * op->nmoves; i++)
			text_printf(out, "%d", op->chunk[i]);
	else
		print_groups(out, &op->groups);
}

const char *program_text(const struct xla *x)
{
	struct text t = {0};

	for (int k = 0; k < x->nops; k++) {
		text_printf(&t, "%s", k ? "; " : "");
		print_op(&t, &x->op[k]);
	}
	return text_take(&t, x->arena);
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

const struct tiling *random_tiling(struct rng *rng, int rank, int32_t n, bool shuffled,
                                   struct arena *a)
{
	int32_t tiles[RANK_MAX], rest = n;
	int32_t *ids = arena_alloc(a, (size_t)n, sizeof(*ids));

	for (int d = 0; d < rank; d++)
		tiles[d] = 1;
	for (int32_t f = 2; rest > 1; f++)
		for (; rest % f == 0; rest /= f) {
			int d = (int)rng_below(rng, (uint32_t)rank + 1);

			if (d < rank)
				tiles[d] *= f;
		}
	rest = n;
	for (int d = 0; d < rank; d++)
		rest /= tiles[d];
	for (int32_t i = 0; i < n; i++)
		ids[i] = i;
	for (int32_t i = n - 1; i > 0 && shuffled; i--) {
		int32_t k = (int32_t)rng_below(rng, (uint32_t)i + 1), id = ids[i];

		ids[i] = ids[k];
		ids[k] = id;
	}
	return xla_tiling(a, rank, tiles, rest, ids);
}

const struct tiling *rotated_tiling(struct rng *rng, const struct tiling *s,
                                    struct arena *a)
{
	const struct tiling *other = random_tiling(rng, s->rank, s->ndevices, true, a);
	int32_t *ids = arena_dup(a, other->ids, (size_t)s->ndevices, sizeof(*ids));
	int32_t tiles[RANK_MAX];

	for (int d = 0; d < s->rank; d++)
		tiles[d] = s->tiles[(d + 1) % s->rank];
	return xla_tiling(a, s->rank, tiles, s->replicas, ids);
}
