#include "plan/problem.h"

#include "array/tile.h"
#include "base/units.h"
#include "notation/notation.h"

#include <stdlib.h>

bool problem_even(const struct problem *p)
{
	for (int i = 0; i < p->array.shape.rank; i++)
		if (p->array.shape.dim[i] % layout_shards(&p->from, i) != 0 ||
		    p->array.shape.dim[i] % layout_shards(&p->to, i) != 0)
			return false;
	return true;
}

/* Padding must not take the array above the 2^62 bits that array_scan allows. */
static bool fits(const struct shape *s, int bits)
{
	int64_t n = bits;

	for (int i = 0; i < s->rank; i++)
		if (__builtin_mul_overflow(n, s->dim[i], &n))
			return false;
	return n <= (int64_t)1 << 62;
}

/* design 3, uneven dimensions: the extent on which both sides agree, if they do. */
static void find_padding(struct problem *p)
{
	p->padded = p->array.shape;
	p->padded_ok = true;
	for (int i = 0; i < p->padded.rank; i++) {
		int64_t g = p->array.shape.dim[i];
		int64_t s = layout_shards(&p->from, i), t = layout_shards(&p->to, i);
		int64_t from = (g + s - 1) / s * s, to = (g + t - 1) / t * t;

		p->padded.dim[i] = from;
		p->padded_ok = p->padded_ok && from == to;
	}
	p->padded_ok = p->padded_ok && fits(&p->padded, p->array.dtype->bits);
	if (!p->padded_ok)
		p->padded = p->array.shape;
}

/* Spec redistribution.md 10.5: what the device that lacks most lacks. */
static int64_t recv_bound_elements(const struct problem *p)
{
	struct arena *scratch = arena_new();
	const struct shape *g = &p->array.shape;
	struct tilemap from = tilemap_make(&p->from, &p->mesh, g, scratch);
	struct tilemap to = tilemap_make(&p->to, &p->to_mesh, g, scratch);
	int64_t most = 0;

	for (int32_t d = 0; d < p->mesh.ndevices; d++) {
		int64_t lacks = tilemap_elements(&to, g, d) -
		                tilemap_common(&from, &to, g, d);

		most = lacks > most ? lacks : most;
	}
	arena_free(scratch);
	return most;
}

void problem_finish(struct problem *p)
{
	struct text why = {0};
	const struct dtype *type = p->array.dtype;
	int64_t from = layout_local_elements(&p->from, &p->array.shape);
	int64_t to = layout_local_elements(&p->to, &p->array.shape);

	find_padding(p);
	p->has_atoms =
		atoms_common(&p->atoms, &p->from, &p->mesh, &p->to, &p->to_mesh, &why);
	p->no_atoms = p->has_atoms ? NULL : arena_strdup(p->arena, why.s);
	text_free(&why);
	p->recv_bound_bytes = dtype_bytes(type, recv_bound_elements(p));
	p->memory_bound_bytes = dtype_bytes(type, from > to ? from : to);
}

/* An HLO text alone says how many devices there are; other spellings need a mesh. */
static enum status make_meshes(struct problem *out, const struct problem_text *t,
                               struct error *e)
{
	struct arena *a = out->arena;
	int64_t n = 0;

	if (t->mesh) {
		if (mesh_parse(&out->mesh, a, t->mesh, t->mesh_at, e) != OK)
			return e->code;
	} else {
		struct scan s;

		if (t->num_devices) {
			s = scan_start(t->num_devices, t->num_devices_at, e);
			if (scan_int(&s, "the number of devices", 1, MESH_DEVICES_MAX, &n))
				scan_finish(&s);
			if (e->code != OK)
				return e->code;
		}
		if (hlo_mesh(&out->mesh, a, t->from, t->from_at, t->to, t->to_at, n, e) !=
		    OK)
			return e->code;
	}
	out->to_mesh = out->mesh;
	if (!t->to_mesh)
		return OK;
	if (mesh_parse(&out->to_mesh, a, t->to_mesh, t->to_mesh_at, e) != OK)
		return e->code;
	out->two_meshes = !mesh_equal(&out->mesh, &out->to_mesh);
	if (out->to_mesh.ndevices != out->mesh.ndevices)
		return error_set(e, E_TYPE, t->to_mesh_at,
		                 "the target mesh has %d devices, expected the %d of the "
		                 "source mesh",
		                 out->to_mesh.ndevices, out->mesh.ndevices);
	return OK;
}

enum status problem_make(struct problem *out, struct arena *a,
                         const struct problem_text *t, struct error *e)
{
	*out = (struct problem){.arena = a, .memory_limit_bytes = -1};
	if (array_parse(&out->array, t->array, t->array_at, e) != OK)
		return e->code;
	if (make_meshes(out, t, e) != OK)
		return e->code;
	if (layout_parse(&out->from, &out->mesh, &out->array.shape, a, t->from, t->from_at,
	                 e) != OK)
		return e->code;
	if (layout_parse(&out->to, &out->to_mesh, &out->array.shape, a, t->to, t->to_at,
	                 e) != OK)
		return e->code;
	if (t->memory_limit && units_bytes(t->memory_limit, t->memory_limit_at,
	                                   &out->memory_limit_bytes, e) != OK)
		return e->code;
	problem_finish(out);
	return OK;
}
