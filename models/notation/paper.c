/*
 * The paper's types (arXiv 2112.01075): [32{x}128, 8{}8] is local{axes}global per
 * dimension, axes MINOR to major. Names may be quoted. The local size must be that of a
 * tile, ceil(global / shards).
 */
#include "notation/read.h"

struct reading {
	struct layout *out;
	const struct mesh *mesh;
	struct scan *s;
	struct used used;
};

static bool scan_axis_name(struct scan *s, const char **name, size_t *length)
{
	if (scan_quoted(s, '"', name, length))
		return true;
	if (s->error->code == OK && scan_quoted(s, '\'', name, length))
		return true;
	if (s->error->code == OK && scan_name(s, name, length))
		return true;
	scan_fail(s, E_SYNTAX, "expected the name of an axis");
	return false;
}

/* Reads {y,x}, which is written minor to major and kept major to minor. */
static bool read_paper_axes(struct reading *r, int dim)
{
	struct scan *s = r->s;
	struct part list[MESH_AXES_MAX];
	struct used none = {0};
	int n = 0;

	if (!scan_expect(s, "{"))
		return false;
	if (scan_take(s, "}"))
		return true;
	do {
		const char *name;
		size_t length;
		int axis;

		if (!scan_axis_name(s, &name, &length) ||
		    !axis_find(&axis, r->mesh, s, name, length))
			return false;
		if (!part_use(r->out, &r->used, -1, part_whole(r->mesh, axis), r->mesh,
		              s, name))
			return false;
		list[n++] = part_whole(r->mesh, axis);
	} while (scan_take(s, ","));
	while (n-- > 0)
		part_use(r->out, &none, dim, list[n], r->mesh, s, s->pos);
	return scan_expect(s, "}");
}

static bool read_paper_dim(struct reading *r, int dim, int64_t global)
{
	struct scan *s = r->s;
	const char *local_at, *global_at;
	int64_t local, written, tile;

	scan_peek(s);
	local_at = s->pos;
	if (!scan_int(s, "the local size", 1, INT64_MAX, &local) ||
	    !read_paper_axes(r, dim))
		return false;
	scan_peek(s);
	global_at = s->pos;
	if (!scan_int(s, "the global size", 1, INT64_MAX, &written))
		return false;
	if (written != global) {
		scan_fail_at(s, global_at, E_TYPE,
		             "global size %lld, expected %lld as dimension %d of the "
		             "array has",
		             (long long)written, (long long)global, dim);
		return false;
	}
	tile = layout_shards(r->out, dim);
	tile = (global - 1) / tile + 1;
	if (local == tile)
		return true;
	scan_fail_at(s, local_at, E_TYPE,
	             "local size %lld, expected %lld (%lld over %lld shards)",
	             (long long)local, (long long)tile, (long long)global,
	             (long long)layout_shards(r->out, dim));
	return false;
}

enum status paper_parse(struct layout *out, const struct mesh *mesh,
                        const struct shape *shape, struct arena *a, struct scan *s)
{
	struct reading r = {.out = out, .mesh = mesh, .s = s};
	const char *start;
	int dim = 0;

	(void)a;
	*out = layout_replicated(shape->rank);
	scan_peek(s);
	start = s->pos;
	if (!scan_expect(s, "["))
		return s->error->code;
	if (!scan_take(s, "]")) {
		do {
			if (dim == shape->rank)
				return scan_fail(
					s, E_TYPE,
					"too many dimensions, expected %d as the "
					"array has",
					shape->rank);
			if (!read_paper_dim(&r, dim, shape->dim[dim]))
				return s->error->code;
			dim++;
		} while (scan_take(s, ","));
		if (!scan_expect(s, "]"))
			return s->error->code;
	}
	if (dim != shape->rank)
		return scan_fail_at(s, start, E_TYPE,
		                    "%d dimension%s, expected %d as the array has", dim,
		                    dim == 1 ? "" : "s", shape->rank);
	layout_tidy(out);
	return OK;
}

bool paper_print(struct text *out, const struct layout *l, const struct mesh *mesh,
                 const struct shape *shape, struct text *why)
{
	const struct part *part, *sub = sub_axis_find(l, mesh);
	struct shape local;
	int n;

	if (sub) {
		text_printf(why, "the paper's types have no sub-axes, as ");
		part_print(why, mesh, *sub);
		text_printf(why, " is");
		return false;
	}
	part = layout_parts(l, l->rank, &n);
	if (n) {
		text_printf(why,
		            "the paper's types cannot say that axis '%s' is unreduced",
		            mesh->axis[part->axis].name);
		return false;
	}
	local = layout_local(l, shape);
	text_printf(out, "[");
	for (int dim = 0; dim < l->rank; dim++) {
		text_printf(out, "%s%lld{", dim ? ", " : "", (long long)local.dim[dim]);
		part = layout_parts(l, dim, &n);
		for (int k = n; k-- > 0;) {
			const char *name = mesh->axis[part[k].axis].name;

			if (scan_plain_name(name))
				text_printf(out, "%s", name);
			else
				name_print(out, name, '"');
			text_printf(out, "%s", k ? "," : "");
		}
		text_printf(out, "}%lld", (long long)shape->dim[dim]);
	}
	text_printf(out, "]");
	return true;
}
