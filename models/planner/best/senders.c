#include "planner/best/senders.h"

#include "base/assert.h"
#include "planner/send/assign.h"
#include "planner/send/places.h"
#include "planner/send/sources.h"

#include <string.h>

static struct holders holders_in(const struct plan *p, const struct layout *l,
                                 struct arena *a)
{
	struct tilemap map = tilemap_make(l, &p->problem->mesh, &p->shape, a);

	return holders_of(&map, l, a);
}

/* --- permutes -------------------------------------------------------------------- */

/*
 * Pairs the `n` devices that send a tile with as many that receive it, at the least
 * cost.
 */
static int32_t pair_up(struct pair *out, const int32_t *src, const int32_t *dst,
                       int32_t n, const struct plan *p, const struct prices *prices)
{
	struct arena *a = arena_new();
	double *cost = arena_alloc(a, (size_t)n * (size_t)n, sizeof(*cost));
	int32_t *column = arena_alloc(a, (size_t)n, sizeof(*column));

	for (int32_t i = 0; i < n; i++)
		for (int32_t j = 0; j < n; j++)
			cost[i * n + j] =
				prices->path(prices->self, p->problem, src[i], dst[j]);
	assign_min_cost(column, cost, n, n);
	for (int32_t i = 0; i < n; i++)
		out[i] = (struct pair){src[i], dst[column[i]]};
	arena_free(a);
	return n;
}

/*
 * Lists the devices of a list that have another tile than `tile` in `h`, and returns
 * how many there are.
 */
static int32_t devices_with_others(int32_t *out, const int32_t *device, int32_t n,
                                   const struct holders *h, int32_t tile)
{
	int32_t count = 0;

	for (int32_t i = 0; i < n; i++)
		if (h->tile[device[i]] != tile)
			out[count++] = device[i];
	return count;
}

/*
 * Finds the pairs of all tiles and returns their number, or 0 if there are too many
 * paths.
 */
static int32_t find_pairs(struct pair *out, const struct plan *p,
                          const struct layout *after, const struct prices *prices,
                          struct arena *a)
{
	struct holders have = holders_in(p, plan_layout(p), a);
	struct holders want = holders_in(p, after, a);
	int64_t n = p->problem->ndevices, replicas = n / have.ntiles;
	int32_t *src = arena_alloc(a, (size_t)n, sizeof(*src)), npairs = 0;
	int32_t *dst = arena_alloc(a, (size_t)n, sizeof(*dst));

	if (have.ntiles != want.ntiles || replicas * n > BEST_PATHS_MAX)
		return 0;
	for (int32_t t = 0; t < have.ntiles; t++) {
		int32_t r = (int32_t)(have.first[t + 1] - have.first[t]), moved;
		const int32_t *from = have.device + have.first[t];
		const int32_t *to = want.device + want.first[t];

		moved = devices_with_others(src, from, r, &want, t);
		if (devices_with_others(dst, to,
		                        (int32_t)(want.first[t + 1] - want.first[t]),
		                        &have, t) != moved)
			return 0;
		for (int32_t i = 0; i < r; i++)
			if (want.tile[from[i]] == t)
				out[npairs++] = (struct pair){from[i], from[i]};
		npairs += pair_up(out + npairs, src, dst, moved, p, prices);
	}
	return npairs;
}

bool best_permute(struct plan *p, const struct layout *after,
                  const struct prices *prices)
{
	struct arena *a = arena_new();
	struct pair *pairs =
		arena_alloc(a, (size_t)p->problem->ndevices, sizeof(*pairs));
	int32_t n = find_pairs(pairs, p, after, prices, a);

	if (n == p->problem->ndevices)
		plan_permute_pairs(p, after, pairs, n);
	arena_free(a);
	return n == p->problem->ndevices;
}

/* --- exchanges ------------------------------------------------------------------- */

/*
 * Returns the holders of even tiles. These have the numbers of the first devices that hold
 * each, in their order, so that it does not count which dimensions are cut.
 */
static struct holders holders_by_device(const struct plan *p, const struct layout *l,
                                        struct arena *a)
{
	const struct mesh *m = &p->problem->mesh;
	int32_t ndevices = mesh_nids(m), weight = 1;
	int32_t *value = arena_alloc(a, (size_t)m->ndevices, sizeof(*value)), *number;
	struct holders out = {.ntiles = 0};
	int nparts = 0;

	for (int dim = 0; dim < l->rank; dim++)
		nparts += l->nparts[dim];
	for (int k = 0; k < nparts; k++) {
		struct part part = l->part[k];
		int32_t rest = m->axis[part.axis].size / (part.pre * part.size);

		mesh_add_digit(value, 1, m->ndevices,
		               (int32_t)mesh_stride(m, part.axis) * rest, part.size,
		               weight);
		weight *= part.size;
	}
	number = arena_alloc(a, (size_t)weight, sizeof(*number));
	out.tile = arena_alloc(a, (size_t)ndevices, sizeof(*out.tile));
	for (int32_t d = 0; d < ndevices; d++)
		out.tile[d] = -1;
	for (int32_t i = 0; i < m->ndevices; i++)
		out.tile[mesh_device(m, i)] = value[i];
	for (int32_t d = 0; d < ndevices; d++) {
		if (out.tile[d] < 0)
			continue;
		if (!number[out.tile[d]])
			number[out.tile[d]] = (int32_t)++out.ntiles;
		out.tile[d] = number[out.tile[d]] - 1;
	}
	sort_bins(&out.first, &out.device, out.tile, ndevices, out.ntiles, a);
	return out;
}

static void senders_by_paths(struct plan *p, int step, struct transfer *transfer,
                             const struct prices *prices)
{
	struct arena *a = arena_new();
	const struct step *s = &p->step[step];
	struct holders have = holders_by_device(p, plan_before(p, step), a);

	for (int64_t i = 0; i < s->ntransfers; i++)
		transfer[i].src = have.tile[transfer[i].src];
	sources_choose(transfer, s->ntransfers, &have, p->problem, prices);
	arena_free(a);
}

/* --- senders by coordinates ------------------------------------------------------ */

int best_copies(const struct problem *p, const struct layout *l)
{
	return places_of(&p->mesh, l).ncopies;
}

/* Returns the place, not a copy, of which a choice takes something, or -1. */
static int mixed_place(const struct places *places, int copy, uint32_t choice)
{
	int next = 0;
	uint32_t left = (choice + 1) / 2;

	for (int i = 0; i < places->n && left > 0; i++) {
		if (next < places->ncopies && places->copy[next] == i)
			next++;
		else if (places->place[i].size == places->place[copy].size && --left == 0)
			return i;
	}
	return -1;
}

static void senders_mixed(struct plan *p, int step, struct transfer *transfer,
                          uint32_t number)
{
	const struct mesh *m = &p->problem->mesh;
	struct places places = places_of(m, plan_before(p, step));
	struct arena *a = arena_new();
	const int32_t *position = mesh_positions(m, a);

	for (int64_t i = 0; i < p->step[step].ntransfers; i++) {
		int32_t src = position[transfer[i].src], dst = position[transfer[i].dst];
		uint32_t rest = number;

		for (int k = 0; k < places.ncopies; k++, rest /= SENDERS_BASE) {
			struct place c = places.place[places.copy[k]];
			uint32_t choice = rest % SENDERS_BASE;
			int other = mixed_place(&places, places.copy[k], choice);
			int32_t to = place_coordinate(c, dst);

			if (other >= 0)
				to += place_coordinate(places.place[other], dst);
			if (other >= 0 && choice % 2 == 0) /* how far they are apart */
				to += c.size -
				      place_coordinate(places.place[other], src);
			to %= c.size;
			src += (to - place_coordinate(c, src)) * c.stride;
		}
		transfer[i].src = mesh_device(m, src);
	}
	arena_free(a);
}

void best_senders(struct plan *p, int step, uint32_t senders,
                  const struct prices *prices)
{
	struct step *s = &p->step[step];
	struct transfer *transfer;

	if (senders == SENDERS_RULE)
		return;
	transfer = arena_dup(p->arena, s->transfers, (size_t)s->ntransfers,
	                     sizeof(*transfer));
	if (senders == SENDERS_PATHS)
		senders_by_paths(p, step, transfer, prices);
	else
		senders_mixed(p, step, transfer, senders - SENDERS_MIXED);
	s->transfers = transfer;
}
