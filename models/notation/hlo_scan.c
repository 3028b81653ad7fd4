/* The text of an HLO sharding, with both forms of the device list. */
#include "base/assert.h"
#include "base/list.h"
#include "notation/hlo.h"
#include "notation/read.h"

#include <stdlib.h>
#include <string.h>

enum {
	DIMS_MAX = RANK_MAX + 4, /* subgroups may be as many as there are kinds */
	RESHAPE_MAX = 64
};

enum subgroup { SUB_UNREDUCED, SUB_REPLICATED, SUB_MANUAL };

struct tiles {
	int n;
	int32_t dim[DIMS_MAX], ndevices;
	int nsub; /* how many of the last dims are subgroups */
	enum subgroup sub[DIMS_MAX];
	int32_t *ids;
	const char *pos;
	bool takes_manual; /* subgroups may be manual */
};

/* Reads `[2,1,4]`, sizes above 0 whose product a mesh may have. */
static bool read_sizes(struct scan *s, const char *what, int max, int *n, int32_t *size,
                       int32_t *product)
{
	int64_t value, total = 1;
	const char *start;

	if (!scan_expect(s, "["))
		return false;
	*n = 0;
	do {
		if (*n == max) {
			scan_fail(s, E_RANGE, "expected at most %d sizes", max);
			return false;
		}
		scan_peek(s);
		start = s->pos;
		if (!scan_int(s, what, 1, MESH_DEVICES_MAX, &value))
			return false;
		total *= value;
		if (total > MESH_DEVICES_MAX) {
			scan_fail_at(s, start, E_RANGE,
			             "too many devices, expected at most %d",
			             MESH_DEVICES_MAX);
			return false;
		}
		size[(*n)++] = (int32_t)value;
	} while (scan_take(s, ","));
	*product = (int32_t)total;
	return scan_expect(s, "]");
}

/* Reads `T(1,0)`, or the identity if it is not there. */
static bool read_transpose(struct scan *s, int n, int *perm)
{
	bool seen[RESHAPE_MAX] = {false};
	int64_t value;

	for (int i = 0; i < n; i++)
		perm[i] = i;
	if (!scan_take(s, "T"))
		return true;
	if (!scan_expect(s, "("))
		return false;
	for (int i = 0; i < n; i++) {
		const char *start;

		if (i > 0 && !scan_expect(s, ","))
			return false;
		scan_peek(s);
		start = s->pos;
		if (!scan_int(s, "a dimension of the reshape", 0, n - 1, &value))
			return false;
		if (seen[value]) {
			scan_fail_at(s, start, E_TYPE,
			             "dimension %d is transposed twice", (int)value);
			return false;
		}
		seen[value] = true;
		perm[i] = (int)value;
	}
	return scan_expect(s, ")");
}

/*
 * Reads `[4,2]T(1,0)`: element k in mixed radix over size[perm[0]], size[perm[1]], ...
 */
static bool read_iota(struct tiles *t, struct arena *a, struct scan *s)
{
	int32_t size[RESHAPE_MAX], total, stride[RESHAPE_MAX];
	int perm[RESHAPE_MAX], n;
	const char *start;

	scan_peek(s);
	start = s->pos;
	if (!read_sizes(s, "a size of the reshape", RESHAPE_MAX, &n, size, &total))
		return false;
	if (total != t->ndevices) {
		scan_fail_at(s, start, E_TYPE,
		             "%d devices, expected %d as the tiles need", total,
		             t->ndevices);
		return false;
	}
	if (!read_transpose(s, n, perm))
		return false;
	stride[n - 1] = 1;
	for (int i = n - 1; i > 0; i--)
		stride[i - 1] = stride[i] * size[i];
	t->ids = arena_alloc(a, (size_t)total, sizeof(*t->ids));
	for (int32_t k = 0; k < total; k++) {
		int32_t rest = k;

		for (int j = n - 1; j >= 0; j--) {
			t->ids[k] += rest % size[perm[j]] * stride[perm[j]];
			rest /= size[perm[j]];
		}
	}
	return true;
}

/*
 * Reads `0,2,1,3`, with memory for as many ids as the text has bytes left, not as it
 * claims.
 */
static bool read_ids(struct tiles *t, struct arena *a, struct scan *s)
{
	size_t most = strlen(s->pos) + 1;
	size_t n = (size_t)t->ndevices < most ? (size_t)t->ndevices : most;
	bool *seen = arena_alloc(a, (size_t)t->ndevices, sizeof(*seen));
	int64_t id;

	t->ids = arena_alloc(a, n, sizeof(*t->ids));
	for (int32_t i = 0; i < t->ndevices; i++) {
		const char *start;

		if (i > 0 && !scan_take(s, ",")) {
			scan_fail(s, E_TYPE,
			          "%d device ids, expected %d as the tiles need", i,
			          t->ndevices);
			return false;
		}
		scan_peek(s);
		start = s->pos;
		if (!scan_int(s, "a device id", 0, t->ndevices - 1, &id))
			return false;
		if (seen[id]) {
			scan_fail_at(
				s, start, E_TYPE,
				"device %d is listed twice, expected every one once",
				(int)id);
			return false;
		}
		seen[id] = true;
		t->ids[i] = (int32_t)id;
	}
	return true;
}

const int32_t *hlo_scan_order(int32_t n, struct arena *a, struct scan *s)
{
	struct tiles t = {.ndevices = n};

	if (!scan_expect(s, "=") || !scan_expect(s, "("))
		return NULL;
	scan_peek(s);
	if (*s->pos == '[' ? !read_iota(&t, a, s) : !read_ids(&t, a, s))
		return NULL;
	return scan_expect(s, ")") ? t.ids : NULL;
}

static bool read_subgroup(struct tiles *t, struct scan *s)
{
	const char *start;

	scan_peek(s);
	start = s->pos;
	if (t->nsub == t->n) {
		scan_fail(s, E_TYPE,
		          "more subgroups than tile dimensions, expected at most %d",
		          t->n);
		return false;
	}
	if (scan_word(s, "replicated")) {
		t->sub[t->nsub++] = SUB_REPLICATED;
	} else if (scan_word(s, "unreduced")) {
		t->sub[t->nsub++] = SUB_UNREDUCED;
	} else if (t->takes_manual && scan_word(s, "manual")) {
		t->sub[t->nsub++] = SUB_MANUAL;
	} else if (scan_word(s, "manual") || scan_word(s, "maximal")) {
		scan_fail_at(
			s, start, E_TYPE,
			"planners cannot use manual or maximal subgroups, expected "
			"'replicated' or 'unreduced'");
		return false;
	} else {
		scan_fail(s, E_SYNTAX, "expected 'replicated' or 'unreduced'");
		return false;
	}
	return true;
}

static bool read_suffix(struct tiles *t, struct scan *s)
{
	if (scan_word(s, "last_tile_dim_replicate")) {
		t->sub[t->nsub++] = SUB_REPLICATED;
	} else if (scan_word(s, "last_tile_dims")) {
		if (!scan_expect(s, "=") || !scan_expect(s, "{"))
			return false;
		do {
			if (!read_subgroup(t, s))
				return false;
		} while (scan_take(s, ","));
		if (!scan_expect(s, "}"))
			return false;
	}
	return true;
}

static bool check_rank(const struct tiles *t, int rank, struct scan *s)
{
	int have = t->n - t->nsub, most = rank < 0 ? RANK_MAX - 1 : rank;

	for (int i = 0; i < t->nsub; i++)
		if (t->sub[i] == SUB_UNREDUCED && have == RANK_MAX) {
			scan_fail_at(s, t->pos, E_RANGE,
			             "expected at most %d dimensions beside an "
			             "unreduced one",
			             RANK_MAX - 1);
			return false;
		}
	if (have == rank || (rank < 0 && have <= most))
		return true;
	scan_fail_at(s, t->pos, E_TYPE,
	             "tiles of %d dimension%s, expected %s%d as the array has%s", have,
	             have == 1 ? "" : "s", rank < 0 ? "at most " : "", most,
	             t->nsub ? " (besides the subgroups behind them)" : "");
	return false;
}

/* Moves unreduced subgroups before replicated ones. */
static void sort_subgroups(struct tiles *t, struct arena *a)
{
	int32_t size = 1, unreduced = 1, replicated = 1, *ids, *to;
	int first = t->n - t->nsub;

	for (int i = first; i < t->n; i++) {
		size *= t->dim[i];
		if (t->sub[i - first] == SUB_REPLICATED)
			replicated *= t->dim[i];
	}
	ids = arena_dup(a, t->ids, (size_t)t->ndevices, sizeof(*ids));
	to = arena_alloc(a, (size_t)size, sizeof(*to));
	for (int32_t k = 0; k < size; k++) {
		int32_t rest = k, r = 1, u = replicated;

		for (int i = t->n - 1; i >= first; i--) {
			int32_t *place = t->sub[i - first] == SUB_REPLICATED ? &r : &u;

			to[k] += rest % t->dim[i] * *place;
			*place *= t->dim[i];
			rest /= t->dim[i];
		}
		unreduced = u / replicated;
	}
	for (int32_t k = 0; k < t->ndevices; k++)
		t->ids[k / size * size + to[k % size]] = ids[k];
	t->n = first;
	t->nsub = 2;
	t->dim[first] = unreduced;
	t->dim[first + 1] = replicated;
}

/* Moves manual subgroups before the dimensions of the array, as one dimension. */
static void lead_by_manual(struct hlo *out, struct tiles *t, struct arena *a)
{
	int first = t->n - t->nsub;
	int32_t *ids = arena_dup(a, t->ids, (size_t)t->ndevices, sizeof(*ids));
	struct tiles rest = *t;

	out->manual = 1;
	rest.n = 1;
	rest.nsub = 0;
	for (int i = 0; i < t->n; i++) {
		bool manual = i >= first && t->sub[i - first] == SUB_MANUAL;

		if (manual)
			out->manual *= t->dim[i];
		else
			rest.dim[rest.n++] = t->dim[i];
		if (i >= first && !manual)
			rest.sub[rest.nsub++] = t->sub[i - first];
	}
	rest.dim[0] = out->manual;
	for (int32_t k = 0; k < t->ndevices; k++) {
		int32_t left = k, place = 1, at = 0;
		int32_t group = 1;

		/* Minor to major: the group's number, and the place among the others. */
		for (int i = t->n - 1; i >= 0; i--) {
			bool manual = i >= first && t->sub[i - first] == SUB_MANUAL;
			int32_t digit = left % t->dim[i];

			left /= t->dim[i];
			at += digit *
			      (manual ? t->ndevices / out->manual * group : place);
			if (manual)
				group *= t->dim[i];
			else
				place *= t->dim[i];
		}
		rest.ids[at] = ids[k];
	}
	*t = rest;
}

static void fill_tiling(struct hlo *out, struct tiles *t, struct arena *a)
{
	struct tiling *tiling = &out->tiling;

	for (int i = 0; i < t->nsub && !out->manual; i++)
		if (t->sub[i] == SUB_MANUAL)
			lead_by_manual(out, t, a);
	sort_subgroups(t, a);
	tiling->rank = t->n;
	memcpy(tiling->tiles, t->dim, (size_t)t->n * sizeof(*t->dim));
	out->unreduced = t->dim[t->n] > 1;
	if (out->unreduced)
		tiling->tiles[tiling->rank++] = t->dim[t->n];
	tiling->replicas = t->dim[t->n + 1];
	tiling->ndevices = t->ndevices;
	for (int32_t i = 0; i < t->ndevices; i += tiling->replicas)
		qsort(t->ids + i, (size_t)tiling->replicas, sizeof(*t->ids),
		      compare_int32);
	tiling->ids = t->ids;
}

static bool read_tiled(struct hlo *out, int32_t ndevices, int rank, bool takes_manual,
                       struct arena *a, struct scan *s)
{
	struct tiles t = {.takes_manual = takes_manual};

	if (!scan_expect(s, "="))
		return false;
	scan_peek(s);
	t.pos = s->pos;
	if (!read_sizes(s, "a number of tiles", DIMS_MAX, &t.n, t.dim, &t.ndevices))
		return false;
	if (ndevices && t.ndevices != ndevices) {
		scan_fail_at(s, t.pos, E_TYPE, "%d devices, expected %d by the mesh",
		             t.ndevices, ndevices);
		return false;
	}
	if (scan_take(s, "<=") ? !read_iota(&t, a, s) : !read_ids(&t, a, s))
		return false;
	if (!read_suffix(&t, s) || !check_rank(&t, rank, s))
		return false;
	out->kind = HLO_TILED;
	fill_tiling(out, &t, a);
	return true;
}

static bool read_kind(struct hlo *out, int32_t ndevices, int rank, bool takes_manual,
                      struct arena *a, struct scan *s)
{
	const char *start;
	int64_t device;

	scan_peek(s);
	start = s->pos;
	if (scan_word(s, "devices"))
		return read_tiled(out, ndevices, rank, takes_manual, a, s);
	if (scan_word(s, "replicated")) {
		out->kind = HLO_REPLICATED;
	} else if (scan_word(s, "unreduced")) {
		out->kind = HLO_UNREDUCED;
	} else if (scan_word(s, "maximal")) {
		out->kind = HLO_MAXIMAL;
		if (!scan_expect(s, "device") || !scan_expect(s, "=") ||
		    !scan_int(s, "the device", 0,
		              (ndevices ? ndevices : MESH_DEVICES_MAX) - 1, &device))
			return false;
		out->maximal_device = (int32_t)device;
	} else if (scan_word(s, "manual") || scan_word(s, "unknown")) {
		scan_fail_at(
			s, start, E_TYPE,
			"planners cannot use a manual or unknown sharding, expected "
			"'replicated', 'maximal' or 'devices='");
	} else if (scan_take(s, "{")) {
		scan_fail_at(s, start, E_TYPE,
		             "the sharding of a tuple, expected that of one array");
	} else {
		scan_fail(s, E_SYNTAX,
		          "expected 'replicated', 'maximal device=' or 'devices=['");
	}
	return s->error->code == OK;
}

static enum status scan_one(struct hlo *out, int32_t ndevices, int rank,
                            bool takes_manual, struct arena *a, struct scan *s)
{
	int64_t group;

	*out = (struct hlo){.kind = HLO_REPLICATED};
	scan_take(s, "sharding=");
	if (!scan_expect(s, "{") || !read_kind(out, ndevices, rank, takes_manual, a, s))
		return s->error->code;
	/* What the partitioner tells itself about propagation bears on no plan. */
	if ((scan_word(s, "shard_as") || scan_word(s, "shard_like")) &&
	    !scan_int(s, "the number of the group", 0, INT64_MAX, &group))
		return s->error->code;
	if (scan_word(s, "metadata") && (!scan_expect(s, "=") || !skip_argument(s)))
		return s->error->code;
	scan_expect(s, "}");
	return s->error->code;
}

enum status hlo_scan(struct hlo *out, int32_t ndevices, int rank, struct arena *a,
                     struct scan *s)
{
	return scan_one(out, ndevices, rank, false, a, s);
}

enum status hlo_scan_led(struct hlo *out, struct arena *a, struct scan *s)
{
	return scan_one(out, 0, -1, true, a, s);
}
