/*
 * DTensor: one placement per mesh dimension, which here is a mesh axis.
 *
 *   [Shard(0), Replicate(), Partial()]   also (Shard(dim=0), ...) and Partial(sum)
 *   S(0)RP                               the short forms, with or without commas
 *   S(0)[1]S(0)[0]   shard order: of the mesh dimensions that cut tensor dimension 0,
 *                    the number is this one's place, 0 most major; without numbers
 *                    they cut in ascending order
 *   S(0)[1,0]        the same by tensor dimension: the mesh dimensions that cut it,
 *                    major to minor; mesh dimensions that no list has are replicated
 *   _S(0, 2)S(0)     strided, also _StridedShard(dim=0, sf=2) and split_factor=2: cut
 *                    after mesh dimensions to its right of that product of sizes, which
 *                    is a shard order, here [1,0] on sizes (4, 2)
 *
 * Tensor dimensions may count from the end: Shard(-1) is the last.
 *
 * A text is of the last form if a bracket holds several numbers, or if it has fewer
 * placements than the mesh has dimensions and all of them have brackets.
 */
#include "notation/read.h"

#include <ctype.h>
#include <string.h>

struct placement {
	char kind;            /* 'S', 'R' or 'P' */
	int dim;              /* of the tensor, 'S' only */
	int64_t split_factor; /* 1: not strided */
	int norder;
	int order[MESH_AXES_MAX];
	const char *pos;
};

struct reading {
	struct layout *out;
	const struct mesh *mesh;
	struct scan *s;
	struct used used;
	int n;
	struct placement p[MESH_AXES_MAX];
};

/* Reads the tensor dimension of a Shard, -1 for the last. */
static bool read_shard_dim(struct reading *r, struct placement *p)
{
	struct scan *s = r->s;
	int rank = r->out->rank;
	int64_t dim;

	if (scan_word(s, "dim") && !scan_expect(s, "="))
		return false;
	if (rank == 0) {
		scan_fail(s, E_TYPE, "a scalar has no dimension to shard");
		return false;
	}
	if (scan_take(s, "-")) {
		if (!scan_int(s, "the tensor dimension from the end", 1, rank, &dim))
			return false;
		p->dim = (int)(rank - dim);
		return true;
	}
	if (!scan_int(s, "the tensor dimension", 0, rank - 1, &dim))
		return false;
	p->dim = (int)dim;
	return true;
}

/*
 * Reads what is behind Shard or S: (0), (dim=0); behind the strided ones (0, 2),
 * (dim=0, sf=2).
 */
static bool read_shard(struct reading *r, struct placement *p, bool strided)
{
	struct scan *s = r->s;

	p->kind = 'S';
	if (!scan_expect(s, "(") || !read_shard_dim(r, p))
		return false;
	if (strided) {
		if (!scan_expect(s, ","))
			return false;
		if ((scan_word(s, "sf") || scan_word(s, "split_factor")) &&
		    !scan_expect(s, "="))
			return false;
		if (!scan_int(s, "the split factor", 1, r->mesh->ndevices,
		              &p->split_factor))
			return false;
	}
	return scan_expect(s, ")");
}

/* Reads what is behind Partial or P: nothing, (), (sum), ('sum'), (reduce_op='sum'). */
static bool read_partial(struct reading *r, struct placement *p)
{
	struct scan *s = r->s;
	const char *name;
	size_t length;

	p->kind = 'P';
	if (!scan_take(s, "(") || scan_take(s, ")"))
		return true;
	if (scan_word(s, "reduce_op") && !scan_expect(s, "="))
		return false;
	scan_peek(s);
	if (!scan_quoted(s, '\'', &name, &length) && s->error->code == OK &&
	    !scan_quoted(s, '"', &name, &length) && s->error->code == OK &&
	    !scan_name(s, &name, &length))
		scan_fail(s, E_SYNTAX, "expected the reduction 'sum'");
	if (s->error->code != OK)
		return false;
	if (length != 3 || memcmp(name, "sum", 3) != 0) {
		scan_fail_at(s, name, E_TYPE,
		             "reduction '%.*s', expected 'sum', the only one a layout "
		             "keeps",
		             name_shown(length), name);
		return false;
	}
	return scan_expect(s, ")");
}

static bool read_order(struct reading *r, struct placement *p)
{
	struct scan *s = r->s;
	int64_t number;

	if (!scan_take(s, "["))
		return true;
	do {
		if (p->norder == r->mesh->naxes) {
			scan_fail(s, E_TYPE,
			          "expected at most %d numbers, one per mesh axis",
			          r->mesh->naxes);
			return false;
		}
		if (!scan_int(s, "a number of the shard order", 0, r->mesh->naxes - 1,
		              &number))
			return false;
		p->order[p->norder++] = (int)number;
	} while (scan_take(s, ","));
	return scan_expect(s, "]");
}

static bool read_placement(struct reading *r, struct placement *p)
{
	struct scan *s = r->s;
	bool ok = false;

	scan_peek(s);
	*p = (struct placement){.pos = s->pos, .split_factor = 1};
	if (scan_take(s, "_StridedShard") || scan_take(s, "_S")) {
		return read_shard(r, p, true);
	} else if (scan_take(s, "Replicate") || scan_take(s, "R")) {
		p->kind = 'R';
		ok = !scan_take(s, "(") || scan_expect(s, ")");
	} else if (scan_take(s, "Shard") || scan_take(s, "S")) {
		ok = read_shard(r, p, false);
	} else if (scan_take(s, "Partial") || scan_take(s, "P")) {
		ok = read_partial(r, p);
	} else {
		scan_fail(
			s, E_SYNTAX,
			"expected Shard(dim), Replicate() or Partial(), short S(dim), "
			"R, P");
	}
	return ok && read_order(r, p);
}

/* Fails with "3 mesh axes (x, y, z)", clipped. */
static void fail_count(struct reading *r, const char *pos)
{
	struct text axes = {0};

	for (int i = 0; i < r->mesh->naxes && axes.length < 200; i++) {
		const char *name = r->mesh->axis[i].name;

		text_printf(&axes, "%s%.*s", i ? ", " : "", name_shown(strlen(name)),
		            name);
	}
	scan_fail_at(r->s, pos, E_TYPE,
	             "another number of placements than mesh axes, expected %d (%s)",
	             r->mesh->naxes, axes.s ? axes.s : "none");
	text_free(&axes);
}

static bool read_placements(struct reading *r)
{
	struct scan *s = r->s;
	const char *close = scan_take(s, "[") ? "]" : scan_take(s, "(") ? ")" : "";

	while (*close ? !scan_take(s, close) : !scan_done(s)) {
		if (r->n == r->mesh->naxes) {
			fail_count(r, s->pos);
			return false;
		}
		if (!read_placement(r, &r->p[r->n++]))
			return false;
		if (!scan_take(s, ",") && *close && scan_peek(s) != *close) {
			scan_fail(s, E_SYNTAX, "expected ',' or '%s'", close);
			return false;
		}
	}
	return true;
}

static bool use_axis(struct reading *r, int dim, int axis, const char *pos)
{
	return part_use(r->out, &r->used, dim, part_whole(r->mesh, axis), r->mesh, r->s,
	                pos);
}

static bool any_strided(const struct reading *r)
{
	for (int i = 0; i < r->n; i++)
		if (r->p[i].split_factor > 1)
			return true;
	return false;
}

/*
 * Orders the mesh dimensions of tensor dimension `dim` where some are strided: from the
 * last to the first, each goes behind those to its right that its split factor is the
 * product of.
 */
static bool order_by_stride(struct reading *r, int dim)
{
	int order[MESH_AXES_MAX], n = 0;

	for (int i = r->n - 1; i >= 0; i--) {
		const struct placement *p = &r->p[i];
		int64_t product = 1;
		int at = 0;

		if (p->kind != 'S' || p->dim != dim)
			continue;
		if (p->norder) {
			scan_fail_at(
				r->s, p->pos, E_TYPE,
				"a shard order beside a strided shard, expected one "
				"of the two");
			return false;
		}
		while (at < n && product != p->split_factor)
			product *= r->mesh->axis[order[at++]].size;
		if (product != p->split_factor) {
			scan_fail_at(
				r->s, p->pos, E_TYPE,
				"split factor %lld, expected the product of the sizes "
				"of "
				"mesh dimensions to its right that cut dimension %d",
				(long long)p->split_factor, dim);
			return false;
		}
		memmove(order + at + 1, order + at, (size_t)(n - at) * sizeof(*order));
		order[at] = i;
		n++;
	}
	for (int k = 0; k < n; k++)
		if (!use_axis(r, dim, order[k], r->p[order[k]].pos))
			return false;
	return true;
}

/*
 * Orders the mesh dimensions of tensor dimension `dim` by their place in its shard
 * order.
 */
static bool order_by_mesh(struct reading *r, int dim)
{
	int at[MESH_AXES_MAX], place[MESH_AXES_MAX], n = 0;

	for (int i = 0; i < r->n; i++)
		if (r->p[i].kind == 'S' && r->p[i].dim == dim) {
			place[n] = -1;
			at[n++] = i;
		}
	for (int k = 0; k < n; k++) {
		const struct placement *p = &r->p[at[k]];
		int number = p->norder ? p->order[0] : k;

		if (p->norder != r->p[at[0]].norder) {
			scan_fail_at(
				r->s, p->pos, E_TYPE,
				"expected a shard order for all or for none of the "
				"mesh dimensions that cut dimension %d",
				dim);
			return false;
		}
		if (number >= n || place[number] >= 0) {
			scan_fail_at(
				r->s, p->pos, E_TYPE,
				"shard order [%d], expected each of 0 to %d once for "
				"dimension %d",
				number, n - 1, dim);
			return false;
		}
		place[number] = at[k];
	}
	for (int k = 0; k < n; k++)
		if (!use_axis(r, dim, place[k], r->p[place[k]].pos))
			return false;
	return true;
}

static bool resolve_by_mesh(struct reading *r)
{
	if (r->n != r->mesh->naxes) {
		fail_count(r, r->s->pos);
		return false;
	}
	for (int i = 0; i < r->n; i++) {
		if (r->p[i].kind != 'S' && r->p[i].norder) {
			scan_fail_at(r->s, r->p[i].pos, E_TYPE,
			             "a shard order, expected only behind a Shard");
			return false;
		}
		if (r->p[i].kind == 'P' && !use_axis(r, r->out->rank, i, r->p[i].pos))
			return false;
	}
	for (int dim = 0; dim < r->out->rank; dim++)
		if (any_strided(r) ? !order_by_stride(r, dim) : !order_by_mesh(r, dim))
			return false;
	return true;
}

/* Returns the next mesh dimension that no bracket lists; naxes if there is none. */
static int next_unlisted(const struct reading *r, int axis)
{
	for (; axis < r->mesh->naxes; axis++) {
		bool listed = false;

		for (int i = 0; i < r->n; i++)
			for (int k = 0; k < r->p[i].norder; k++)
				listed = listed || r->p[i].order[k] == axis;
		if (!listed)
			break;
	}
	return axis;
}

/* Placements without brackets (R, P) are those of the unlisted mesh dimensions. */
static bool resolve_by_tensor(struct reading *r)
{
	int unlisted = next_unlisted(r, 0);

	for (int i = 0; i < r->n; i++) {
		const struct placement *p = &r->p[i];
		int dim = p->kind == 'S' ? p->dim : p->kind == 'P' ? r->out->rank : -1;
		int have = 0;

		if (p->kind == 'S')
			layout_parts(r->out, dim, &have);
		if (have || (p->kind == 'S' && !p->norder)) {
			scan_fail_at(
				r->s, p->pos, E_TYPE,
				"expected one list of mesh dimensions for dimension %d",
				dim);
			return false;
		}
		for (int k = 0; k < p->norder; k++)
			if (!use_axis(r, dim, p->order[k], p->pos))
				return false;
		if (p->norder)
			continue;
		if (unlisted == r->mesh->naxes) {
			fail_count(r, p->pos);
			return false;
		}
		if (!use_axis(r, dim, unlisted, p->pos))
			return false;
		unlisted = next_unlisted(r, unlisted + 1);
	}
	return true;
}

enum status dtensor_parse(struct layout *out, const struct mesh *mesh,
                          const struct shape *shape, struct arena *a, struct scan *s)
{
	struct reading *r = arena_alloc(a, 1, sizeof(*r));
	bool by_tensor = false, all = true;

	*r = (struct reading){.out = out, .mesh = mesh, .s = s};
	*out = layout_replicated(shape->rank);
	if (!read_placements(r))
		return s->error->code;
	for (int i = 0; i < r->n; i++) {
		by_tensor = by_tensor || r->p[i].norder > 1;
		all = all && r->p[i].norder > 0;
	}
	by_tensor = by_tensor || (all && r->n > 0 && r->n < mesh->naxes);
	if (by_tensor ? !resolve_by_tensor(r) : !resolve_by_mesh(r))
		return s->error->code;
	layout_tidy(out);
	return s->error->code;
}

/*
 * Returns the dimension that a mesh axis cuts (-1: none), its place there, how many cut
 * it.
 */
static int dim_of_axis(const struct layout *l, int axis, int *place, int *count)
{
	for (int dim = 0; dim <= l->rank; dim++) {
		const struct part *part = layout_parts(l, dim, count);

		for (int k = 0; k < *count; k++) {
			*place = k;
			if (part[k].axis == axis)
				return dim;
		}
	}
	return -1;
}

/* Returns whether the axes of every dimension cut it in ascending order. */
static bool default_order(const struct layout *l)
{
	for (int dim = 0; dim < l->rank; dim++) {
		int n;
		const struct part *part = layout_parts(l, dim, &n);

		for (int k = 1; k < n; k++)
			if (part[k].axis < part[k - 1].axis)
				return false;
	}
	return true;
}

bool dtensor_print(struct text *out, const struct layout *l, const struct mesh *mesh,
                   const struct shape *shape, struct text *why)
{
	const struct part *sub = sub_axis_find(l, mesh);
	bool list = default_order(l);
	int place, count;

	(void)shape;
	if (sub) {
		text_printf(why, "DTensor places whole mesh dimensions, and ");
		part_print(why, mesh, *sub);
		text_printf(why, " is a part of one");
		return false;
	}
	text_printf(out, "%s", list ? "[" : "");
	for (int i = 0; i < mesh->naxes; i++) {
		int dim = dim_of_axis(l, i, &place, &count);

		text_printf(out, "%s", list && i ? ", " : "");
		if (dim < 0)
			text_printf(out, "%s", list ? "Replicate()" : "R");
		else if (dim == l->rank)
			text_printf(out, "%s", list ? "Partial()" : "P");
		else
			text_printf(out, list ? "Shard(%d)" : "S(%d)", dim);
		if (!list && dim >= 0 && dim < l->rank && count > 1)
			text_printf(out, "[%d]", place);
	}
	text_printf(out, "%s", list ? "]" : "");
	return true;
}
