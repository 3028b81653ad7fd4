/*
 * Shardy: [{"x"}, {"y":(1)2, ?}p1], alone or in #sdy.sharding<@mesh, [...],
 * replicated={...}, unreduced={...}>. An open dimension's `?` and a priority `pN` bear
 * on propagation alone: they are read and dropped. The mesh's name is read and not
 * compared, as one problem has one mesh.
 */
#include "notation/read.h"

#include <ctype.h>
#include <string.h>

struct reading {
	struct layout *out;
	const struct mesh *mesh;
	struct scan *s;
	struct used used;
};

/* Reads `:(pre)size` behind an axis name, if it is there. */
static bool read_sub_axis(struct reading *r, struct part *p)
{
	struct scan *s = r->s;
	int32_t n = p->size;
	const char *name = r->mesh->axis[p->axis].name;
	int64_t pre, size;
	const char *start;

	if (!scan_take(s, ":"))
		return true;
	scan_peek(s);
	start = s->pos;
	if (!scan_expect(s, "(") ||
	    !scan_int(s, "the product of what is left of the sub-axis", 1,
	              MESH_DEVICES_MAX, &pre) ||
	    !scan_expect(s, ")") ||
	    !scan_int(s, "the size of the sub-axis", 2, MESH_DEVICES_MAX, &size))
		return false;
	if (n % (pre * size) != 0) {
		scan_fail_at(
			s, start, E_TYPE,
			"sub-axis (%lld)%lld does not divide axis '%.*s' of size %d",
			(long long)pre, (long long)size, name_shown(strlen(name)), name,
			n);
		return false;
	}
	p->pre = (int32_t)pre;
	p->size = (int32_t)size;
	return true;
}

static bool read_axis(struct reading *r, int dim)
{
	struct scan *s = r->s;
	const char *name;
	size_t length;
	struct part p;
	int axis;

	if (!scan_quoted(s, '"', &name, &length) && s->error->code == OK &&
	    !scan_quoted(s, '\'', &name, &length) && s->error->code == OK)
		scan_fail(s, E_SYNTAX, "expected an axis name in quotes%s",
		          dim >= 0 && dim < r->out->rank ? ", '?' or '}'" : "");
	if (s->error->code != OK || !axis_find(&axis, r->mesh, s, name, length))
		return false;
	p = part_whole(r->mesh, axis);
	if (!read_sub_axis(r, &p))
		return false;
	return part_use(r->out, &r->used, dim, p, r->mesh, s, name);
}

/* Reads {"x", "y":(1)2}, and in a dimension (open) also {"x", ?} and {?}. */
static bool read_shardy_axes(struct reading *r, int dim, bool open)
{
	struct scan *s = r->s;

	if (!scan_expect(s, "{"))
		return false;
	if (scan_take(s, "}"))
		return true;
	do {
		if (open && scan_take(s, "?"))
			return scan_expect(s, "}");
		if (!read_axis(r, dim))
			return false;
	} while (scan_take(s, ","));
	return scan_expect(s, "}");
}

static bool read_priority(struct scan *s)
{
	int64_t priority;

	if (*s->pos != 'p' || !isdigit((unsigned char)s->pos[1]))
		return true;
	s->pos++;
	return scan_int(s, "a priority", 0, INT32_MAX, &priority);
}

static bool read_dims(struct reading *r)
{
	struct scan *s = r->s;
	int rank = r->out->rank, dim = 0;
	const char *start;

	scan_peek(s);
	start = s->pos;
	if (!scan_expect(s, "["))
		return false;
	if (!scan_take(s, "]")) {
		do {
			if (dim == rank) {
				scan_fail(s, E_TYPE, "too many dimensions, expected %d",
				          rank);
				return false;
			}
			if (!read_shardy_axes(r, dim++, true) || !read_priority(s))
				return false;
		} while (scan_take(s, ","));
		if (!scan_expect(s, "]"))
			return false;
	}
	if (dim == rank)
		return true;
	scan_fail_at(s, start, E_TYPE, "%d dimension%s, expected %d as the array has",
	             dim, dim == 1 ? "" : "s", rank);
	return false;
}

/*
 * Reads `, replicated={...}` and `, unreduced={...}`, in any order, each at most once.
 */
static bool read_sets(struct reading *r)
{
	struct scan *s = r->s;
	bool replicated = false, unreduced = false;

	while (scan_take(s, ",")) {
		bool which;
		const char *start;

		scan_peek(s);
		start = s->pos;
		which = scan_word(s, "unreduced");
		if (!which && !scan_word(s, "replicated")) {
			scan_fail(s, E_SYNTAX,
			          "expected replicated={...} or "
			          "unreduced={...}");
			return false;
		}
		if (which ? unreduced : replicated) {
			scan_fail_at(s, start, E_SYNTAX, "%s= is given twice",
			             which ? "unreduced" : "replicated");
			return false;
		}
		*(which ? &unreduced : &replicated) = true;
		if (!scan_expect(s, "=") ||
		    !read_shardy_axes(r, which ? r->out->rank : -1, false))
			return false;
	}
	return true;
}

bool shardy_read_dims(struct layout *out, const struct mesh *mesh, struct scan *s)
{
	struct reading r = {.out = out, .mesh = mesh, .s = s};

	if (!read_dims(&r) || !read_sets(&r))
		return false;
	layout_tidy(out);
	return true;
}

enum status shardy_parse(struct layout *out, const struct mesh *mesh,
                         const struct shape *shape, struct arena *a, struct scan *s)
{
	const char *name;
	size_t length;
	bool angle;

	(void)a;
	*out = layout_replicated(shape->rank);
	if (scan_take(s, "#") && !scan_expect(s, "sdy.sharding"))
		return s->error->code;
	angle = scan_take(s, "<");
	if (angle) {
		if (!scan_expect(s, "@"))
			return s->error->code;
		if (!scan_name(s, &name, &length))
			return scan_fail(s, E_SYNTAX, "expected the name of the mesh");
		if (!scan_expect(s, ","))
			return s->error->code;
	}
	if (shardy_read_dims(out, mesh, s) && angle)
		scan_expect(s, ">");
	return s->error->code;
}

static void print_axes(struct text *out, const struct layout *l,
                       const struct mesh *mesh, int dim)
{
	int n;
	const struct part *part = layout_parts(l, dim, &n);

	text_printf(out, "{");
	for (int k = 0; k < n; k++) {
		const struct axis *axis = &mesh->axis[part[k].axis];

		text_printf(out, "%s", k ? ", " : "");
		name_print(out, axis->name, '"');
		if (part[k].size != axis->size)
			text_printf(out, ":(%d)%d", part[k].pre, part[k].size);
	}
	text_printf(out, "}");
}

/* The bare list cannot say unreduced axes; the whole attribute can. */
bool shardy_print(struct text *out, const struct layout *l, const struct mesh *mesh,
                  const struct shape *shape, struct text *why)
{
	(void)shape;
	(void)why;
	text_printf(out, "%s[", l->nunreduced ? "#sdy.sharding<@mesh, " : "");
	for (int dim = 0; dim < l->rank; dim++) {
		text_printf(out, "%s", dim ? ", " : "");
		print_axes(out, l, mesh, dim);
	}
	text_printf(out, "]");
	if (l->nunreduced) {
		text_printf(out, ", unreduced=");
		print_axes(out, l, mesh, l->rank);
		text_printf(out, ">");
	}
	return true;
}
