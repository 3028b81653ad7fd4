#include "plan/problem.h"

#include "array/tile.h"
#include "base/units.h"
#include "notation/notation.h"
#include "plan/devices.h"
#include "plan/groups.h"
#include "plan/plan.h"
#include "plan/vocabulary.h"

#include <stdlib.h>
#include <string.h>

bool problem_even(const struct problem *p)
{
	for (int i = 0; i < p->array.shape.rank; i++)
		if (p->array.shape.dim[i] % layout_shards(&p->from, i) != 0 ||
		    p->array.shape.dim[i] % layout_shards(&p->to, i) != 0)
			return false;
	return true;
}

/*
 * Returns whether padding keeps the array within the 2^62 bits that array_scan allows.
 */
static bool shape_fits(const struct shape *s, int bits)
{
	int64_t n = bits;

	for (int i = 0; i < s->rank; i++)
		if (__builtin_mul_overflow(n, s->dim[i], &n))
			return false;
	return n <= (int64_t)1 << 62;
}

/* Finds the padded extent on which source and target agree, if they do. */
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
	p->padded_ok = p->padded_ok && shape_fits(&p->padded, p->array.dtype->bits);
	if (!p->padded_ok)
		p->padded = p->array.shape;
}

/* Where the source tiles of the `n` members lie: one entry a member, sorted by tile. */
struct piece {
	const int32_t *index; /* [rank] */
	int32_t partial, member;
};

static int by_tile(const void *a, const void *b, void *rank)
{
	const struct piece *x = a, *y = b;

	for (int i = 0; i < *(const int *)rank; i++)
		if (x->index[i] != y->index[i])
			return x->index[i] < y->index[i] ? -1 : 1;
	return (x->partial > y->partial) - (x->partial < y->partial);
}

/*
 * Returns the elements that all `n` members lack of the tile that they want: those of
 * which they do not hold all contributions between them.
 */
static int64_t group_lacks(const struct tilemap *from, const struct tilemap *to,
                           const struct shape *g, const int32_t *member, int32_t n,
                           struct piece *piece)
{
	int64_t lacks = tilemap_elements(to, g, member[0]);
	int rank = g->rank;
	int32_t there = 0, distinct = 0;

	for (int32_t i = 0; i < n; i++)
		if (tilemap_has(from, member[i]))
			piece[there++] = (struct piece){
				from->index + (int64_t)member[i] * (rank ? rank : 1),
				from->partial[member[i]], member[i]};
	qsort_r(piece, (size_t)there, sizeof(*piece), by_tile, &rank);
	for (int32_t i = 0; i < there; i++) {
		bool same = i > 0 && memcmp(piece[i].index, piece[i - 1].index,
		                            (size_t)rank * sizeof(int32_t)) == 0;

		if (!same)
			distinct = 0;
		distinct += !same || piece[i].partial != piece[i - 1].partial;
		if (distinct == from->partials &&
		    (!same || piece[i].partial != piece[i - 1].partial))
			lacks -= tilemap_common(from, to, g, piece[i].member);
	}
	return lacks;
}

/*
 * Returns how much the device that lacks most lacks (models/README.md, "Bounds"). Of an
 * array that is unreduced at the source only, a device lacks all it wants: even where
 * it holds a contribution, at least one sum of others must arrive for every element.
 * Where the target is unreduced the devices that differ only in its unreduced parts
 * want one tile between them, in contributions of any kind: for every element whose
 * contributions they do not all hold a value must arrive at one of them, and the
 * busiest receives the mean at least.
 */
static int64_t recv_bound_elements(const struct problem *p)
{
	struct arena *scratch = arena_new();
	const struct shape *g = &p->array.shape;
	struct tilemap from = tilemap_make(&p->from, &p->mesh, g, scratch);
	struct tilemap to = tilemap_make(&p->to, &p->to_mesh, g, scratch);
	struct move sums = {.from_dim = -1, .to_dim = -1};
	struct groups all;
	struct piece *piece;
	int64_t most = 0;

	sums.parts = layout_parts(&p->to, p->to.rank, &sums.nparts);
	all = groups_of_moves(&p->to_mesh, &sums, 1, scratch);
	piece = arena_alloc(scratch, (size_t)all.size, sizeof(*piece));
	for (int32_t i = 0; i < all.ngroups; i++) {
		const int32_t *member = all.ids + (int64_t)i * all.size;
		int64_t lacks =
			tilemap_has(&to, member[0])
				? group_lacks(&from, &to, g, member, all.size, piece)
				: 0;

		lacks = (lacks + all.size - 1) / all.size;
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
	/* Problems made by hand, with one device numbering, need not say it. */
	if (p->ndevices == 0) {
		p->ndevices = p->mesh.ndevices;
		p->same_devices = p->mesh.ndevices == p->to_mesh.ndevices;
	}
	p->has_atoms =
		atoms_common(&p->atoms, &p->from, &p->mesh, &p->to, &p->to_mesh, &why);
	p->no_atoms = p->has_atoms ? NULL : arena_strdup(p->arena, why.s);
	text_free(&why);
	p->recv_bound_bytes = dtype_bytes(type, recv_bound_elements(p));
	p->memory_bound_bytes = dtype_bytes(type, from > to ? from : to);
}

/*
 * Makes the mesh. An HLO text alone says how many devices there are; other spellings
 * need a mesh.
 */
static enum status make_mesh(struct problem *out, const struct problem_text *t,
                             struct error *e)
{
	int64_t n = 0;

	if (t->num_devices) {
		struct scan s = scan_start(t->num_devices, t->num_devices_at, e);

		if (scan_int(&s, "the number of devices", 1, MESH_DEVICES_MAX, &n))
			scan_finish(&s);
		if (e->code != OK)
			return e->code;
	}
	if (t->mesh) {
		if (mesh_parse(&out->mesh, out->arena, t->mesh, t->mesh_at, e) == OK &&
		    n && n != out->mesh.ndevices)
			error_set(e, E_TYPE, t->num_devices_at,
			          "%d devices, but the mesh has %d", (int)n,
			          (int)out->mesh.ndevices);
		return e->code;
	}
	return hlo_mesh(&out->mesh, out->arena, t->from, t->from_at, t->to, t->to_at, n,
	                e);
}

static enum status make_meshes(struct problem *out, const struct problem_text *t,
                               struct error *e)
{
	if (make_mesh(out, t, e) != OK)
		return e->code;
	out->to_mesh = out->mesh;
	if (!t->to_mesh)
		return OK;
	if (mesh_parse(&out->to_mesh, out->arena, t->to_mesh, t->to_mesh_at, e) != OK)
		return e->code;
	out->two_meshes = !mesh_equal(&out->mesh, &out->to_mesh);
	return OK;
}

/* Reads a device list, as long as its mesh; *list stays NULL where none was given. */
static enum status read_device_list(const int32_t **list, struct arena *a,
                                    const char *text, struct where at,
                                    const struct mesh *m, struct error *e)
{
	int32_t *devices, n;

	if (!text)
		return OK;
	if (devices_parse(&devices, &n, a, text, at, MESH_DEVICES_MAX, e) != OK)
		return e->code;
	if (n != m->ndevices)
		return error_set(e, E_TYPE, at,
		                 "%d devices, expected %d as the mesh has", n,
		                 m->ndevices);
	*list = devices;
	return OK;
}

/*
 * Reads both lists. A larger target mesh goes on behind those of the source's list with
 * the devices of its own numbers, which must not be in that list.
 */
static enum status read_device_lists(struct problem *out, const struct problem_text *t,
                                     struct error *e)
{
	int32_t n = out->mesh.ndevices, m = out->to_mesh.ndevices;

	if (read_device_list(&out->from_devices, out->arena, t->devices, t->devices_at,
	                     &out->mesh, e) != OK ||
	    read_device_list(&out->to_devices, out->arena, t->to_devices,
	                     t->to_devices_at, &out->to_mesh, e) != OK)
		return e->code;
	for (int32_t i = 0; out->from_devices && !out->to_devices && i < n; i++)
		if (out->from_devices[i] >= n && out->from_devices[i] < m)
			return error_set(e, E_TYPE, t->to_mesh_at,
			                 "device %d would be in the target mesh twice, "
			                 "expected --to-devices",
			                 out->from_devices[i]);
	return OK;
}

static int32_t largest_device(const int32_t *list, int32_t n)
{
	int32_t most = n - 1;

	for (int32_t i = 0; list && i < n; i++)
		most = list[i] > most ? list[i] : most;
	return most;
}

/* Returns the platform device of logical number `i` of the target mesh (problem.h). */
static int32_t target_device(const struct problem *p, int32_t i)
{
	if (p->to_devices)
		return p->to_devices[i];
	return p->from_devices && i < p->mesh.ndevices ? p->from_devices[i] : i;
}

/*
 * Turns a device list, or the one device, of the target from logical numbers of its own
 * mesh into the problem's. `number` is that of each platform device, plus 1.
 */
static void number_layout(struct problem *p, const int32_t *number)
{
	struct layout *l = &p->to;

	if (l->kind == LAYOUT_MAXIMAL)
		l->maximal_device = number[target_device(p, l->maximal_device)] - 1;
	if (l->kind == LAYOUT_TILES) {
		struct tiling t = *l->tiling;
		int32_t *ids =
			arena_dup(p->arena, t.ids, (size_t)t.ndevices, sizeof(*ids));

		for (int32_t i = 0; i < t.ndevices; i++)
			ids[i] = number[target_device(p, ids[i])] - 1;
		t.ids = ids;
		*l = layout_of_tiling(&t, p->arena);
	}
}

/* Numbers the devices of both meshes together: the source's first, new ones behind. */
static void number_devices(struct problem *p)
{
	int32_t n = p->mesh.ndevices, m = p->to_mesh.ndevices;
	int32_t top = largest_device(p->from_devices, n),
		to_top = largest_device(p->to_devices, m);
	int32_t *platform = arena_alloc(p->arena, (size_t)(n + m), sizeof(*platform));
	int32_t *ids = arena_alloc(p->arena, (size_t)m, sizeof(*ids)), *number;

	p->ndevices = n;
	p->same_devices = true;
	for (int32_t i = 0; i < n; i++)
		platform[i] = p->from_devices ? p->from_devices[i] : i;
	if (p->from_devices)
		p->platform = platform;
	if (n == m && !p->to_devices)
		return;
	top = top > to_top ? top : to_top;
	number = arena_alloc(p->arena, (size_t)top + 1, sizeof(*number));
	for (int32_t i = 0; i < n; i++)
		number[platform[i]] = i + 1;
	for (int32_t i = 0; i < m; i++) {
		int32_t device = target_device(p, mesh_device(&p->to_mesh, i));

		if (number[device] == 0) {
			platform[p->ndevices++] = device;
			number[device] = p->ndevices;
		}
		ids[i] = number[device] - 1;
	}
	number_layout(p, number);
	p->same_devices = n == m && p->ndevices == n;
	p->to_mesh.ids = NULL;
	for (int32_t i = 0; i < m; i++)
		if (ids[i] != i)
			p->to_mesh.ids = ids;
	p->mesh.nids = p->to_mesh.nids = p->ndevices;
	p->platform = platform;
	p->two_meshes = true;
}

/* Reads a size, or "none": no limit, whatever memory devices have. */
static enum status read_memory_limit(struct problem *out, const struct problem_text *t,
                                     struct error *e)
{
	out->any_memory = t->memory_limit && strcmp(t->memory_limit, "none") == 0;
	if (!t->memory_limit || out->any_memory)
		return OK;
	return units_bytes(t->memory_limit, t->memory_limit_at,
	                   &out->memory_limit_bytes, e);
}

enum status problem_make(struct problem *out, struct arena *a,
                         const struct problem_text *t, struct error *e)
{
	*out = (struct problem){.arena = a, .memory_limit_bytes = -1};
	if (array_parse(&out->array, t->array, t->array_at, e) != OK)
		return e->code;
	if (make_meshes(out, t, e) != OK)
		return e->code;
	if (layout_parse(&out->from, &out->mesh, &out->array.shape, a, t->from,
	                 t->from_at, e) != OK)
		return e->code;
	if (layout_parse(&out->to, &out->to_mesh, &out->array.shape, a, t->to, t->to_at,
	                 e) != OK)
		return e->code;
	if (read_memory_limit(out, t, e) != OK)
		return e->code;
	if (vocabulary_parse(&out->vocabulary, t->vocabulary, t->vocabulary_at, e) != OK)
		return e->code;
	if (read_device_lists(out, t, e) != OK)
		return e->code;
	number_devices(out);
	problem_finish(out);
	return OK;
}
