/*
 * HLO: {devices=[2,1,4]<=[4,2]T(1,0)}, {devices=[2,2]0,2,1,3},
 * ... last_tile_dim_replicate, {replicated}, {maximal device=0} (models/README.md,
 * "XLA"). Device ids are logical device numbers: the mesh's device order applies. Printed
 * as XLA prints: the iota form without dims of size 1 and with neighbours merged, a
 * device list where there is none. The named form of newer XLA,
 * {mesh['x'=4,'y'=2], [{'x'}, {}]}, is read only; with device_ids=(...) behind its mesh
 * it is what the list of these devices is.
 */
#include "notation/hlo.h"
#include "notation/read.h"

#include <string.h>

/*
 * Reads `['x'=4,'y'=2]`, which must be the mesh of the problem, whose device order
 * holds.
 */
static bool read_mesh(const struct mesh *mesh, struct scan *s)
{
	if (!scan_expect(s, "["))
		return false;
	for (int i = 0; i < mesh->naxes; i++) {
		const char *known = mesh->axis[i].name, *name, *start;
		size_t length;
		int64_t size;

		if (i > 0 && !scan_expect(s, ","))
			return false;
		scan_peek(s);
		start = s->pos;
		if (!scan_quoted(s, '\'', &name, &length)) {
			scan_fail(s, E_SYNTAX, "expected an axis such as 'x'=4");
			return false;
		}
		if (!scan_expect(s, "=") ||
		    !scan_int(s, "the axis size", 1, MESH_DEVICES_MAX, &size))
			return false;
		if (mesh_axis(mesh, name, length) != i || size != mesh->axis[i].size) {
			scan_fail_at(s, start, E_TYPE,
			             "another mesh than the problem's, expected axis "
			             "'%.*s' of size %d",
			             name_shown(strlen(known)), known,
			             mesh->axis[i].size);
			return false;
		}
	}
	return scan_expect(s, "]");
}

static void all_unreduced(struct layout *out, const struct mesh *mesh)
{
	for (int i = 0; i < mesh->naxes; i++)
		layout_append(out, out->rank, part_whole(mesh, i));
	layout_tidy(out);
}

/* Reorders a layout over the mesh's axes and another order of its devices. */
static void reorder(struct layout *out, const struct mesh *mesh, const int32_t *ids,
                    struct arena *a)
{
	struct mesh other = *mesh;
	struct layout tiles;

	other.ids = ids;
	tiles = layout_of_tiling(layout_tiling(out, &other, a), a);
	if (!layout_to_axes(out, &tiles, mesh, a))
		*out = tiles;
}

/*
 * Parses {mesh['x'=4,'y'=2], device_ids=([4,2]T(1,0)), [{'x'}, {}], unreduced={'y'}}.
 */
static enum status parse_named(struct layout *out, const struct mesh *mesh,
                               struct arena *a, struct scan *s)
{
	const char *start, *order;
	const int32_t *ids = NULL;

	if (!read_mesh(mesh, s))
		return s->error->code;
	scan_take(s, ",");
	scan_peek(s);
	order = s->pos;
	if (scan_word(s, "device_ids")) {
		ids = hlo_scan_order(mesh->ndevices, a, s);
		if (!ids)
			return s->error->code;
		scan_take(s, ",");
	}
	scan_peek(s);
	start = s->pos;
	if (scan_word(s, "manual"))
		return scan_fail_at(s, start, E_TYPE,
		                    "planners cannot use a manual sharding, "
		                    "expected one with dimensions");
	if (scan_word(s, "unreduced"))
		all_unreduced(out, mesh);
	else if (!scan_word(s, "replicated") && !shardy_read_dims(out, mesh, s))
		return s->error->code;
	if (!scan_expect(s, "}"))
		return s->error->code;
	if (ids && out->nunreduced > 0)
		return scan_fail_at(s, order, E_TYPE,
		                    "expected the device order of an unreduced array "
		                    "with the mesh, not here");
	if (ids)
		reorder(out, mesh, ids, a);
	return OK;
}

enum status hlo_parse(struct layout *out, const struct mesh *mesh,
                      const struct shape *shape, struct arena *a, struct scan *s)
{
	struct layout tiles;
	struct hlo h;
	const char *start;

	*out = layout_replicated(shape->rank);
	scan_peek(s);
	start = s->pos;
	scan_take(s, "sharding=");
	if (scan_take(s, "{") && scan_word(s, "mesh"))
		return parse_named(out, mesh, a, s);
	s->pos = start;
	if (hlo_scan(&h, mesh->ndevices, shape->rank, a, s) != OK)
		return s->error->code;
	/* XLA prints maximal for a lone device, where it means what replicated does. */
	if (h.kind == HLO_MAXIMAL && mesh->ndevices > 1) {
		out->kind = LAYOUT_MAXIMAL;
		out->maximal_device = h.maximal_device;
	}
	if (h.kind == HLO_UNREDUCED)
		all_unreduced(out, mesh);
	if (h.kind != HLO_TILED)
		return OK;
	if (h.tiling.replicas == h.tiling.ndevices)
		return OK;
	tiles = layout_of_tiling(&h.tiling, a);
	if (!layout_to_axes(out, &tiles, mesh, a)) {
		if (h.unreduced)
			return scan_fail_at(
				s, start, E_TYPE,
				"expected unreduced subgroups that axes of the "
				"mesh can say");
		*out = tiles;
		return OK;
	}
	if (h.unreduced) {
		out->nunreduced = out->nparts[--out->rank];
		out->nparts[out->rank] = 0;
	}
	layout_tidy(out);
	return OK;
}

int hlo_digits(struct hlo_digit *digit, const int32_t *ids, int32_t n)
{
	int32_t place = 1;
	int count = 0;

	if (ids[0] != 0)
		return -1;
	while (place < n) {
		int32_t stride = ids[place], size = 1;

		while ((int64_t)size * place < n &&
		       ids[size * place] == (int64_t)size * stride)
			size++;
		if (size == 1 || n % ((int64_t)size * place) != 0 ||
		    count == HLO_DIGITS_MAX)
			return -1;
		digit[count++] = (struct hlo_digit){place, stride, size};
		place *= size;
	}
	for (int32_t k = 0; k < n; k++) {
		int64_t id = 0;

		for (int j = 0; j < count; j++)
			id += (int64_t)(k / digit[j].place % digit[j].size) *
			      digit[j].stride;
		if (id != ids[k])
			return -1;
	}
	return count;
}

/*
 * Prints <=[4,2]T(1,0): the digits by falling stride, then where each one is in the
 * list.
 */
static void print_iota(struct text *out, const struct hlo_digit *digit, int n)
{
	int perm[HLO_DIGITS_MAX] = {0};

	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++)
			perm[i] += digit[j].stride > digit[i].stride;
	text_printf(out, "<=[");
	for (int at = 0; at < n; at++)
		for (int i = 0; i < n; i++)
			if (perm[i] == at)
				text_printf(out, "%s%d", at ? "," : "", digit[i].size);
	text_printf(out, "]%s", n > 1 ? "T(" : "");
	for (int i = n; n > 1 && i-- > 0;)
		text_printf(out, "%d%s", perm[i], i ? "," : ")");
}

static void print_ids(struct text *out, const int32_t *ids, int32_t n)
{
	struct hlo_digit digit[HLO_DIGITS_MAX];
	int count = hlo_digits(digit, ids, n);

	if (count >= 0) {
		print_iota(out, digit, count);
		return;
	}
	for (int32_t i = 0; i < n; i++)
		text_printf(out, "%s%d", i ? "," : "", ids[i]);
}

/* Prints a tiling; if `unreduced`, its last dimension is the unreduced devices. */
static void print_tiled(struct text *out, const struct tiling *t, bool unreduced)
{
	int rank = unreduced ? t->rank - 1 : t->rank;

	text_printf(out, "{devices=[");
	for (int i = 0; i < t->rank; i++)
		text_printf(out, "%s%d", i ? "," : "", t->tiles[i]);
	if (t->replicas > 1)
		text_printf(out, "%s%d", t->rank ? "," : "", t->replicas);
	text_printf(out, "]");
	print_ids(out, t->ids, t->ndevices);
	if (rank < t->rank)
		text_printf(out, " last_tile_dims={unreduced%s}",
		            t->replicas > 1 ? ", replicated" : "");
	else if (t->replicas > 1)
		text_printf(out, " last_tile_dim_replicate");
	text_printf(out, "}");
}

bool hlo_print(struct text *out, const struct layout *l, const struct mesh *mesh,
               const struct shape *shape, struct text *why)
{
	struct arena *scratch;
	const struct tiling *t;
	struct layout flat = *l;
	bool unreduced = l->kind == LAYOUT_AXES && l->nunreduced > 0;
	int n;

	(void)shape;
	if (l->kind == LAYOUT_MAXIMAL) {
		text_printf(out, "{maximal device=%d}", l->maximal_device);
		return true;
	}
	if (unreduced && l->rank == RANK_MAX) {
		const struct part *part = layout_parts(l, l->rank, &n);

		text_printf(why,
		            "HLO has no dimension left to say that axis '%s' is "
		            "unreduced",
		            mesh->axis[part->axis].name);
		return false;
	}
	if (unreduced) {
		flat.nparts[flat.rank++] = l->nunreduced;
		flat.nunreduced = 0;
	}
	scratch = arena_new();
	t = layout_tiling(&flat, mesh, scratch);
	if (t->replicas == t->ndevices)
		text_printf(out, "{replicated}");
	else if (unreduced && t->tiles[t->rank - 1] == t->ndevices)
		text_printf(out, "{unreduced}");
	else
		print_tiled(out, t, unreduced);
	arena_free(scratch);
	return true;
}
