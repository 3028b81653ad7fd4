#include "planner/best/send.h"

#include "array/tile.h"
#include "planner/send/assign.h"
#include "planner/send/send.h"

#include <assert.h>
#include <string.h>

/* Devices by the tile they hold. */
struct holders {
	int64_t ntiles;
	int32_t *tile;  /* [ndevices]; -1: none */
	int32_t *first; /* [ntiles + 1]: those of tile t from first[t] to first[t + 1] */
	int32_t *device; /* by rising tile, then number */
};

static int64_t tile_count(const struct layout *l)
{
	int64_t n = 1;

	for (int dim = 0; dim < l->rank; dim++)
		n *= layout_shards(l, dim);
	return n;
}

static struct holders find_holders(const struct plan *p, const struct layout *l,
                                   struct arena *a)
{
	const struct mesh *m = &p->problem->mesh;
	struct tilemap map = tilemap_make(l, m, &p->shape, a);
	int32_t n = map.ndevices;
	struct holders h = {.ntiles = tile_count(l)};
	int32_t *next;

	h.tile = arena_alloc(a, (size_t)n, sizeof(*h.tile));
	h.device = arena_alloc(a, (size_t)n, sizeof(*h.device));
	h.first = arena_alloc(a, (size_t)h.ntiles + 1, sizeof(*h.first));
	next = arena_alloc(a, (size_t)h.ntiles + 1, sizeof(*next));
	for (int32_t d = 0; d < n; d++) {
		int64_t tile = 0;

		for (int i = 0; i < l->rank; i++)
			tile = tile * layout_shards(l, i) + map.index[d * l->rank + i];
		h.tile[d] = tilemap_has(&map, d) ? (int32_t)tile : -1;
		if (h.tile[d] >= 0)
			h.first[tile + 1]++;
	}
	for (int64_t t = 0; t < h.ntiles; t++)
		next[t + 1] = h.first[t + 1] += h.first[t];
	for (int32_t d = 0; d < n; d++)
		if (h.tile[d] >= 0)
			h.device[next[h.tile[d]]++] = d;
	return h;
}

/* --- permutes -------------------------------------------------------------------- */

/* One tile goes from `n` devices to as many others. */
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

/* The devices of a list that have another tile than `tile` in `h`. */
static int32_t others(int32_t *out, const int32_t *device, int32_t n,
                      const struct holders *h, int32_t tile)
{
	int32_t count = 0;

	for (int32_t i = 0; i < n; i++)
		if (h->tile[device[i]] != tile)
			out[count++] = device[i];
	return count;
}

/* The pairs of all tiles, or 0 with too many paths. */
static int32_t find_pairs(struct pair *out, const struct plan *p,
                          const struct layout *after, const struct prices *prices,
                          struct arena *a)
{
	struct holders have = find_holders(p, plan_layout(p), a);
	struct holders want = find_holders(p, after, a);
	int64_t n = p->problem->ndevices, replicas = n / have.ntiles;
	int32_t *src = arena_alloc(a, (size_t)n, sizeof(*src)), npairs = 0;
	int32_t *dst = arena_alloc(a, (size_t)n, sizeof(*dst));

	if (have.ntiles != want.ntiles || replicas * n > BEST_PATHS_MAX)
		return 0;
	for (int32_t t = 0; t < have.ntiles; t++) {
		int32_t r = have.first[t + 1] - have.first[t], moved;
		const int32_t *from = have.device + have.first[t];
		const int32_t *to = want.device + want.first[t];

		moved = others(src, from, r, &want, t);
		if (others(dst, to, want.first[t + 1] - want.first[t], &have, t) != moved)
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

/* For each device, how much may be spent on choosing senders for a step (planner/send/send.h). */
enum { WORK_EACH = 1500 };

/* Boxes of one tile by their numbers in a step, and the devices that hold it. */
struct sent {
	const int32_t *box, *holder;
	int32_t nboxes, nholders;
};

static struct sent sent_of(int64_t tile, const int32_t *box, const int32_t *first,
                           const struct holders *have)
{
	return (struct sent){box + first[tile], have->device + have->first[tile],
	                     first[tile + 1] - first[tile],
	                     have->first[tile + 1] - have->first[tile]};
}

/* How many paths there are to choose among, 0 if there is no choice. */
static int64_t paths_of(const struct sent *s)
{
	return s->nholders > 1 ? (int64_t)s->nboxes * s->nholders : 0;
}

static void choose(struct transfer *transfer, const struct sent *s,
                   const struct problem *p, const struct prices *prices, int64_t *work,
                   struct arena *a)
{
	size_t n = (size_t)s->nboxes;
	double *elements = arena_alloc(a, n, sizeof(*elements));
	double *price = arena_alloc(a, n, (size_t)s->nholders * sizeof(*price));
	int32_t *sender = arena_alloc(a, n, sizeof(*sender));
	const struct sending sending = {s->nboxes, s->nholders, elements, price};

	for (int32_t i = 0; i < s->nboxes; i++) {
		const struct transfer *t = &transfer[s->box[i]];

		elements[i] = (double)t->elements;
		for (int32_t k = 0; k < s->nholders; k++)
			*price++ = prices->path(prices->self, p, s->holder[k], t->dst);
	}
	direct_send(sender, &sending, work);
	for (int32_t i = 0; i < s->nboxes; i++)
		transfer[s->box[i]].src = s->holder[sender[i]];
}

/* Work is divided over the paths: what one tile does not need, others may. */
static void senders_by_paths(struct plan *p, int step, struct transfer *transfer,
                             const struct prices *prices)
{
	struct arena *a = arena_new(), *scratch = arena_new();
	const struct step *s = &p->step[step];
	struct holders have = find_holders(p, plan_before(p, step), a);
	int32_t *first = arena_alloc(a, (size_t)have.ntiles + 1, sizeof(*first));
	int32_t *next = arena_alloc(a, (size_t)have.ntiles + 1, sizeof(*next));
	int32_t *box = arena_alloc(a, (size_t)s->ntransfers, sizeof(*box));
	int64_t work = WORK_EACH * (int64_t)p->problem->ndevices, paths = 0;
	bool too_many;

	for (int64_t i = 0; i < s->ntransfers; i++)
		first[have.tile[transfer[i].src] + 1]++;
	for (int64_t t = 0; t < have.ntiles; t++)
		next[t + 1] = first[t + 1] += first[t];
	for (int64_t i = 0; i < s->ntransfers; i++)
		box[next[have.tile[transfer[i].src]]++] = (int32_t)i;
	for (int64_t t = 0; t < have.ntiles; t++) {
		struct sent sent = sent_of(t, box, first, &have);

		paths += paths_of(&sent);
	}
	too_many = paths > BEST_PATHS_MAX;
	for (int64_t t = 0; t < have.ntiles && !too_many; t++) {
		struct sent sent = sent_of(t, box, first, &have);
		int64_t n = paths_of(&sent), share;

		if (n == 0)
			continue;
		share = (int64_t)((double)work * (double)n / (double)paths);
		paths -= n;
		work -= share;
		choose(transfer, &sent, p->problem, prices, &share, scratch);
		work += share;
		arena_reset(scratch);
	}
	arena_free(scratch);
	arena_free(a);
}

/* --- senders by coordinates ------------------------------------------------------ */

/* A prime digit of positions in the mesh. */
struct place {
	int32_t stride, size;
};

struct places {
	int n, ncopies;
	struct place place[LAYOUT_PARTS_MAX];
	int copy[LAYOUT_PARTS_MAX]; /* those that no dimension of a layout is cut by */
};

static bool cuts(const struct layout *l, struct part part)
{
	for (int dim = 0; dim < l->rank; dim++) {
		struct part prime[LAYOUT_PARTS_MAX];

		for (int k = layout_digits(prime, l, dim) - 1; k >= 0; k--)
			if (prime[k].axis == part.axis &&
			    prime[k].pre < part.pre * part.size &&
			    part.pre < prime[k].pre * prime[k].size)
				return true;
	}
	return false;
}

static struct places find_places(const struct mesh *m, const struct layout *l)
{
	struct places out = {0};

	for (int axis = 0; axis < m->naxes; axis++) {
		const struct part whole = {axis, 1, m->axis[axis].size};
		struct part prime[LAYOUT_PARTS_MAX];
		int n = parts_digits(prime, &whole, 1);

		for (int k = 0; k < n && out.n < LAYOUT_PARTS_MAX; k++) {
			int32_t rest = whole.size / (prime[k].pre * prime[k].size);

			if (!cuts(l, prime[k]))
				out.copy[out.ncopies++] = out.n;
			out.place[out.n++] = (struct place){
				(int32_t)mesh_stride(m, axis) * rest, prime[k].size};
		}
	}
	return out;
}

int best_copies(const struct problem *p, const struct layout *l)
{
	return find_places(&p->mesh, l).ncopies;
}

/* The place, not a copy, whose coordinate is added in a copy place; -1: none. */
static int mixed_place(const struct places *x, int copy, uint32_t choice)
{
	int next = 0;

	for (int i = 0; i < x->n && choice > 0; i++) {
		if (next < x->ncopies && x->copy[next] == i)
			next++;
		else if (x->place[i].size == x->place[copy].size && --choice == 0)
			return i;
	}
	return -1;
}

static int32_t coordinate(struct place p, int32_t position)
{
	return position / p.stride % p.size;
}

static void senders_mixed(struct plan *p, int step, struct transfer *transfer,
                          uint32_t number)
{
	const struct mesh *m = &p->problem->mesh;
	struct places x = find_places(m, plan_before(p, step));
	struct arena *a = arena_new();
	const int32_t *position = mesh_positions(m, a);

	for (int64_t i = 0; i < p->step[step].ntransfers; i++) {
		int32_t src = position[transfer[i].src], dst = position[transfer[i].dst];
		uint32_t rest = number;

		for (int k = 0; k < x.ncopies; k++, rest /= SENDERS_BASE) {
			struct place c = x.place[x.copy[k]];
			int other = mixed_place(&x, x.copy[k], rest % SENDERS_BASE);
			int32_t to = coordinate(c, dst);

			if (other >= 0)
				to = (to + coordinate(x.place[other], dst)) % c.size;
			src += (to - coordinate(c, src)) * c.stride;
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
