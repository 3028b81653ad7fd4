/*
 * Replica groups in the spellings of HLO:
 *   {{0,1},{2,3}}                      lists; {} is one group of all devices
 *   [2,4]<=[8], [2,4]<=[4,2]T(1,0)     0, 1, ... of the shape [4,2], transposed, cut in rows
 *   mesh['x'=2,'y'=4] {'y'}            along axes of a mesh, or of parts 'y':(1)2 of axes
 */
#include "program/read/build.h"

#include "base/hash.h"

#include <string.h>

int32_t build_add_groups(struct build *b, struct span text, int32_t ngroups,
                         const int32_t *first, const int32_t *ids)
{
	struct replica_groups *g = list_add(&b->p->groups, b->a);

	*g = (struct replica_groups){.ngroups = ngroups, .first = first, .ids = ids};
	for (int32_t i = 0; i < ngroups; i++)
		if (first[i + 1] - first[i] > g->size)
			g->size = first[i + 1] - first[i];
	*list_add(&b->group_text, b->a) = text;
	table_add(&b->group_texts, hash_bytes(HASH_START, text.at, (size_t)text.length),
	          (int32_t)b->p->groups.n - 1);
	return (int32_t)b->p->groups.n - 1;
}

static int32_t find_groups(const struct build *b, struct span text)
{
	uint64_t hash = hash_bytes(HASH_START, text.at, (size_t)text.length);
	size_t at;

	for (int32_t i = table_first(&b->group_texts, hash, &at); i >= 0;
	     i = table_next(&b->group_texts, hash, &at))
		if (b->group_text.at[i].length == text.length &&
		    !memcmp(b->group_text.at[i].at, text.at, (size_t)text.length))
			return i;
	return -1;
}

/* Lists of any lengths, each device at most once. */
static bool read_lists(struct build *b, int32_t *ngroups, int32_t **first, int32_t **ids)
{
	LIST(int32_t) at = {0}, begin = {0};
	int64_t id;

	if (!lex_expect(&b->s, "{"))
		return false;
	while (!lex_take(&b->s, "}")) {
		if (begin.n && !lex_expect(&b->s, ","))
			return false;
		*list_add(&begin, b->a) = (int32_t)at.n;
		if (!lex_expect(&b->s, "{"))
			return false;
		while (!lex_take(&b->s, "}")) {
			if (at.n > begin.at[begin.n - 1] && !lex_expect(&b->s, ","))
				return false;
			if (!lex_int(&b->s, "a device", 0, MESH_DEVICES_MAX - 1, &id))
				return false;
			if (at.n == MESH_DEVICES_MAX) {
				scan_fail(&b->s, E_RANGE, "too many devices");
				return false;
			}
			*list_add(&at, b->a) = (int32_t)id;
		}
	}
	*ngroups = (int32_t)begin.n;
	*list_add(&begin, b->a) = (int32_t)at.n;
	*first = begin.at;
	*ids = at.at;
	return true;
}

/* Numbers of a shape; their product is at most MESH_DEVICES_MAX. */
static bool read_shape(struct build *b, const char *open, const char *close,
                       struct ints *out, int64_t *product)
{
	if (!lex_ints(&b->s, b->a, open, close, out))
		return false;
	*product = 1;
	for (int32_t i = 0; i < out->n; i++) {
		if (out->at[i] < 1 || out->at[i] > MESH_DEVICES_MAX / *product) {
			scan_fail(&b->s, E_RANGE, "expected 1 to %d devices",
			          MESH_DEVICES_MAX);
			return false;
		}
		*product *= out->at[i];
	}
	return true;
}

/* Devices 0, 1, ... of the shape `dims`, dimensions taken in the order `perm`. */
static int32_t *iota(struct build *b, struct ints dims, struct ints perm, int64_t n)
{
	int32_t *ids = arena_alloc(b->a, (size_t)n, sizeof(*ids));
	int64_t stride[RANK_MAX], index[RANK_MAX] = {0}, at = 0;

	for (int32_t i = dims.n; i-- > 0;)
		stride[i] = i + 1 < dims.n ? stride[i + 1] * dims.at[i + 1] : 1;
	for (int64_t k = 0; k < n; k++) {
		ids[k] = (int32_t)at;
		for (int32_t i = perm.n; i-- > 0;) {
			int64_t d = perm.at[i];

			at += stride[d];
			if (++index[d] < dims.at[d])
				break;
			at -= stride[d] * index[d];
			index[d] = 0;
		}
	}
	return ids;
}

static bool read_iota(struct build *b, int32_t *ngroups, int32_t **first, int32_t **ids)
{
	const char *pos = b->s.pos;
	struct ints shape, dims, perm;
	int64_t devices, n;
	uint64_t seen = 0;

	if (!read_shape(b, "[", "]", &shape, &devices) || !lex_expect(&b->s, "<=") ||
	    !read_shape(b, "[", "]", &dims, &n))
		return false;
	if (dims.n > RANK_MAX || shape.n != 2 || n != devices) {
		scan_fail_at(&b->s, pos, E_TYPE,
		             "expected [groups,members]<=[...] of as many devices");
		return false;
	}
	if (lex_take(&b->s, "T")) {
		if (!lex_ints(&b->s, b->a, "(", ")", &perm))
			return false;
	} else {
		int64_t *same = arena_alloc(b->a, (size_t)dims.n, sizeof(*same));

		for (int32_t i = 0; i < dims.n; i++)
			same[i] = i;
		perm = (struct ints){dims.n, same};
	}
	for (int32_t i = 0; i < perm.n; i++)
		if (perm.at[i] >= 0 && perm.at[i] < dims.n)
			seen |= UINT64_C(1) << perm.at[i];
	if (perm.n != dims.n || seen != (UINT64_C(1) << dims.n) - 1) {
		scan_fail_at(&b->s, pos, E_TYPE, "T(...) is no permutation");
		return false;
	}
	*ngroups = (int32_t)shape.at[0];
	*first = arena_alloc(b->a, (size_t)*ngroups + 1, sizeof(**first));
	for (int32_t i = 0; i <= *ngroups; i++)
		(*first)[i] = (int32_t)(i * shape.at[1]);
	*ids = iota(b, dims, perm, n);
	return true;
}

/* --- along axes of a mesh --- */

/* A digit of a device's position: whether it runs within a group. */
struct digit {
	int64_t size;
	int32_t inside; /* place in the list of axes, -1: between groups */
};

/* Reads `mesh['x'=2,'y'=4]`, with device_ids=(...) perhaps, and the axes as text. */
static bool read_mesh(struct build *b, struct mesh *mesh)
{
	struct span name, order;
	int64_t size;

	*mesh = (struct mesh){.ndevices = 1};
	if (!lex_expect(&b->s, "["))
		return false;
	while (!lex_take(&b->s, "]")) {
		if (mesh->naxes && !lex_expect(&b->s, ","))
			return false;
		if (mesh->naxes == MESH_AXES_MAX) {
			scan_fail(&b->s, E_RANGE, "more than %d axes", MESH_AXES_MAX);
			return false;
		}
		if (!lex_quoted(&b->s, &name) || !lex_expect(&b->s, "=") ||
		    !lex_int(&b->s, "the size of an axis", 1,
		             MESH_DEVICES_MAX / mesh->ndevices, &size))
			return false;
		mesh->axis[mesh->naxes].name =
			arena_strndup(b->a, name.at, (size_t)name.length);
		mesh->axis[mesh->naxes++].size = (int32_t)size;
		mesh->ndevices *= (int32_t)size;
	}
	lex_take(&b->s, ",");
	if (!lex_word(&b->s, "device_ids"))
		return true;
	if (!lex_expect(&b->s, "=") || !lex_balanced(&b->s, &order))
		return false;
	scan_fail_at(&b->s, order.at, E_INFEASIBLE,
	             "groups of a mesh in another order, expected them as lists");
	return false;
}

/* Reads `{'x', 'y':(1)2}`: the digits, of which each axis has three at most. */
static int read_axes(struct build *b, const struct mesh *mesh, struct digit *digit)
{
	int64_t pre[MESH_AXES_MAX], size[MESH_AXES_MAX];
	int32_t place[MESH_AXES_MAX], n = 0;
	int ndigits = 0;

	for (int i = 0; i < mesh->naxes; i++)
		place[i] = -1;
	if (!lex_expect(&b->s, "{"))
		return -1;
	while (!lex_take(&b->s, "}")) {
		struct span name;
		int axis;

		if ((n && !lex_expect(&b->s, ",")) || !lex_quoted(&b->s, &name))
			return -1;
		axis = mesh_axis(mesh, name.at, (size_t)name.length);
		if (axis < 0 || place[axis] >= 0) {
			scan_fail_at(&b->s, name.at, E_TYPE,
			             "an axis that the mesh does not have, or twice");
			return -1;
		}
		place[axis] = n++;
		pre[axis] = 1;
		size[axis] = mesh->axis[axis].size;
		if (lex_take(&b->s, ":") &&
		    (!lex_expect(&b->s, "(") ||
		     !lex_int(&b->s, "a number", 1, mesh->axis[axis].size, &pre[axis]) ||
		     !lex_expect(&b->s, ")") ||
		     !lex_int(&b->s, "a number", 1, mesh->axis[axis].size, &size[axis])))
			return -1;
		if (mesh->axis[axis].size % (pre[axis] * size[axis])) {
			scan_fail_at(&b->s, name.at, E_TYPE, "no such part of the axis");
			return -1;
		}
	}
	for (int i = 0; i < mesh->naxes; i++) {
		if (place[i] < 0) {
			digit[ndigits++] = (struct digit){mesh->axis[i].size, -1};
			continue;
		}
		digit[ndigits++] = (struct digit){pre[i], -1};
		digit[ndigits++] = (struct digit){size[i], place[i]};
		digit[ndigits++] =
			(struct digit){mesh->axis[i].size / (pre[i] * size[i]), -1};
	}
	return ndigits;
}

/*
 * Groups are ordered by the digits that are not listed, members by the listed ones in their
 * order: an iota over the digits in that order.
 */
static bool read_along(struct build *b, int32_t *ngroups, int32_t **first, int32_t **ids)
{
	struct digit digit[3 * MESH_AXES_MAX];
	int64_t sizes[3 * MESH_AXES_MAX], members = 1;
	struct mesh mesh;
	int32_t n = 0;
	int ndigits;

	if (!read_mesh(b, &mesh) || (ndigits = read_axes(b, &mesh, digit)) < 0)
		return false;
	/* Digits of one place say nothing, and an iota has few dimensions. */
	int64_t perm[RANK_MAX];
	struct digit kept[RANK_MAX];

	for (int i = 0; i < ndigits; i++)
		if (digit[i].size > 1 && n < RANK_MAX) {
			sizes[n] = digit[i].size;
			kept[n++] = digit[i];
		}
	int32_t at = 0;

	for (int32_t i = 0; i < n; i++)
		if (kept[i].inside < 0)
			perm[at++] = i;
	for (int32_t place = 0; place < MESH_AXES_MAX; place++)
		for (int32_t i = 0; i < n; i++)
			if (kept[i].inside == place) {
				perm[at++] = i;
				members *= kept[i].size;
			}
	*ngroups = (int32_t)(mesh.ndevices / members);
	*first = arena_alloc(b->a, (size_t)*ngroups + 1, sizeof(**first));
	for (int32_t i = 0; i <= *ngroups; i++)
		(*first)[i] = (int32_t)(i * members);
	*ids = iota(b, (struct ints){n, sizes}, (struct ints){n, perm}, mesh.ndevices);
	return true;
}

int32_t build_groups(struct build *b)
{
	int32_t ngroups = 0, *first = NULL, *ids = NULL, known;
	struct span text;
	bool good;

	lex_peek(&b->s);
	if (!lex_value(&b->s, &text))
		return -1;
	known = find_groups(b, text);
	if (known >= 0)
		return known;
	b->s.pos = text.at;
	if (*text.at == '{')
		good = read_lists(b, &ngroups, &first, &ids);
	else if (*text.at == '[')
		good = read_iota(b, &ngroups, &first, &ids);
	else if (lex_word(&b->s, "mesh"))
		good = read_along(b, &ngroups, &first, &ids);
	else
		good = scan_fail(&b->s, E_SYNTAX,
		                 "expected groups such as {{0,1},{2,3}}") == OK;
	return good ? build_add_groups(b, text, ngroups, first, ids) : -1;
}
