#include "placement_plain.h"

#include <string.h>

enum { K = PLAIN_DEVICES_MAX, SLICES = 64 };
struct plain {
	int k, nslices, size[SLICES], count[SLICES];
	bool master[SLICES];
	int ids[SLICES][K];
	bool all_masters;
	int64_t found;
};

/* Device d's copy of chunk r has the contribution of device c (figure 8). */
struct holding {
	bool has[K][K][K];
};

static void plain_add(struct plain *p, int size, int count, const int *ids, bool master)
{
	int n = p->nslices;

	if (size < 2)
		return;
	for (int i = 0; i < n; i++)
		if (p->size[i] == size && p->count[i] == count &&
		    !memcmp(p->ids[i], ids, sizeof(int) * (size_t)(size * count)))
			return;
	p->size[n] = size;
	p->count[n] = count;
	p->master[n] = master;
	memcpy(p->ids[n], ids, sizeof(int) * (size_t)(size * count));
	p->nslices++;
}

/*
 * Devices with equal instance of level `top`, and equal place below an instance of e.
 */
static void plain_slices(struct plain *p, const struct hierarchy *h)
{
	for (int master = 0; master < 2; master++)
		for (int e = 0; e < h->nlevels; e++)
			for (int top = 0; top <= e; top++) {
				int below = hierarchy_stride(h, e), ids[K], n = 0,
				    size = 0;
				int under = hierarchy_stride(h, top);
				bool inside = top == e;

				for (int first = 0; first < p->k; first++) {
					if (inside ? first % below
					           : first % under >= below ||
					                     (master && first % below))
						continue;
					size = 0;
					for (int d = first;
					     d < first / under * under + under; d++)
						if (inside ||
						    d % below == first % below) {
							ids[n++] = d;
							size++;
						}
				}
				if (n && (!inside || !master))
					plain_add(p, size, n / size, ids, master);
			}
}

static int rows_held(const struct holding *h, int k, int d, bool *rows)
{
	int n = 0;

	for (int r = 0; r < k; r++) {
		rows[r] = false;
		for (int c = 0; c < k; c++)
			rows[r] |= h->has[d][r][c];
		n += rows[r];
	}
	return n;
}

/* What the members hold, put together in `sum`; false where two have the same. */
static bool unite(bool sum[K][K], const struct holding *h, int k, const int *ids, int n)
{
	bool apart = true;

	memset(sum, 0, sizeof(bool[K][K]));
	for (int i = 0; i < n; i++)
		for (int r = 0; r < k; r++)
			for (int c = 0; c < k; c++) {
				apart &= !(sum[r][c] && h->has[ids[i]][r][c]);
				sum[r][c] |= h->has[ids[i]][r][c];
			}
	return apart;
}

/* The same rows everywhere, or else as many and none twice; at least one. */
static bool rows_fit(const struct holding *h, int k, const int *ids, int n, bool same)
{
	bool rows[K], other[K];
	int held = rows_held(h, k, ids[0], rows);

	for (int i = 0; i < n; i++)
		for (int j = 0; j < i; j++) {
			rows_held(h, k, ids[i], rows);
			if (rows_held(h, k, ids[j], other) != held)
				return false;
			for (int r = 0; r < k; r++)
				if (same ? rows[r] != other[r] : rows[r] && other[r])
					return false;
		}
	return held > 0 && rows_held(h, k, ids[n - 1], rows) == held;
}

static bool broadcast_fits(const struct holding *h, int k, const int *ids, int n)
{
	bool less = false;

	for (int i = 1; i < n; i++)
		for (int r = 0; r < k; r++)
			for (int c = 0; c < k; c++) {
				if (h->has[ids[i]][r][c] && !h->has[ids[0]][r][c])
					return false;
				less |= h->has[ids[i]][r][c] != h->has[ids[0]][r][c];
			}
	return less;
}

static bool plain_group(struct holding *h, int k, enum op op, const int *ids, int n)
{
	bool sum[K][K], first[K], apart = unite(sum, h, k, ids, n);
	int held = rows_held(h, k, ids[0], first), block = 0;

	if (op == OP_BROADCAST ? !broadcast_fits(h, k, ids, n)
	                       : !apart || !rows_fit(h, k, ids, n, op != OP_ALL_GATHER))
		return false;
	if (op == OP_REDUCE_SCATTER && held % n)
		return false;
	for (int i = 0; i < n; i++)
		memset(h->has[ids[i]], 0, sizeof(h->has[0]));
	for (int r = 0; r < k; r++) {
		int owner =
			op == OP_REDUCE_SCATTER && first[r] ? block++ / (held / n) : -1;

		for (int i = 0; i < n; i++) {
			if (op == OP_REDUCE ? i > 0 : owner >= 0 && owner != i)
				continue;
			memcpy(h->has[ids[i]][r], sum[r], sizeof(sum[r]));
		}
	}
	return true;
}

static void plain_walk(struct plain *p, const struct holding *before, int left)
{
	bool goal = true;

	for (int d = 0; d < p->k; d++)
		for (int r = 0; r < p->k; r++)
			for (int c = 0; c < p->k; c++)
				goal &= before->has[d][r][c];
	p->found += goal;
	if (left == 0)
		return;
	for (int i = 0; i < p->nslices; i++)
		for (int o = 0; o < SUMS_OPS; o++) {
			enum op op = sums_ops[o];
			struct holding h = *before;
			bool legal =
				!p->master[i] || p->all_masters || op == OP_ALL_REDUCE;

			for (int g = 0; g < p->count[i] && legal; g++)
				legal = plain_group(&h, p->k, op,
				                    p->ids[i] + g * p->size[i],
				                    p->size[i]);
			if (legal)
				plain_walk(p, &h, left - 1);
		}
}

int64_t plain_programs(const struct hierarchy *tree, int limit, bool all_masters)
{
	struct plain p = {.k = tree->ndevices, .all_masters = all_masters};
	struct holding h = {0};

	plain_slices(&p, tree);
	for (int d = 0; d < p.k; d++)
		for (int r = 0; r < p.k; r++)
			h.has[d][r][d] = true;
	plain_walk(&p, &h, limit);
	return p.found;
}
