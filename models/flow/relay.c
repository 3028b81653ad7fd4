#include "flow/relay.h"

#include "array/tile.h"
#include "flow/pipeline.h"

/* A datum that a tree brings, and a symmetry that makes another one of it. */
struct origin {
	int64_t datum; /* numbered through all supplies */
	int32_t element;
};

struct making {
	const struct problem *problem;
	struct plan *plan;
	struct arena *arena;
	struct network net;
	struct demand demand;
	struct symmetry symmetry;
	struct forest forest;
	struct flows flows;
	struct pipeline pipeline;
	int64_t *first;      /* [supplies + 1] number of each one's first datum */
	int64_t *part_first; /* [data * shares + 1]: parts of each share of a datum */
	struct flow_part *part; /* in that order */
	int64_t *origin_first;  /* [data + 1] */
	struct origin *origin; /* of which each datum is an image, one after the other */
	int64_t *box;          /* [data * 2 * rank] */
};

/* --- which trees bring a datum ------------------------------------------------------ */

static int64_t part_key(const struct making *k, const struct flow_part *p)
{
	return (k->first[p->supply] + p->datum) * k->forest.shares + p->share;
}

/* Sorts the parts of trees by datum and share. */
static void sort_parts(struct making *k)
{
	int64_t n = k->forest.parts.n, keys = k->demand.ndata * k->forest.shares;
	int64_t *at = arena_alloc(k->arena, (size_t)keys + 2, sizeof(*at));

	k->part = arena_alloc(k->arena, (size_t)n, sizeof(*k->part));
	for (int64_t i = 0; i < n; i++)
		at[part_key(k, &k->forest.parts.at[i]) + 2]++;
	for (int64_t i = 1; i <= keys; i++)
		at[i + 1] += at[i];
	for (int64_t i = 0; i < n; i++)
		k->part[at[part_key(k, &k->forest.parts.at[i]) + 1]++] =
			k->forest.parts.at[i];
	k->part_first = at;
}

/* Returns the number of what an element of the group makes of a supply's datum. */
static int64_t image_of(const struct making *k, int32_t supply, int64_t datum,
                        int32_t element)
{
	const struct demand *d = &k->demand;
	const int32_t *to = k->symmetry.image + (int64_t)element * k->net.n;
	const struct supply *s = &d->supply[supply];
	int32_t from = d->supply_of[to[s->holders.device[0]]];
	int32_t party = d->party_of[to[d->party[s->datum[datum].wanters].device[0]]];
	int64_t i = 0;

	while (d->supply[from].datum[i].wanters != party)
		i++;
	return k->first[from] + i;
}

/*
 * Goes through all data that have trees and all elements of the group: counts what they make
 * of each, or lists it.
 */
static void find_origins(struct making *k, int64_t *at, struct origin *out)
{
	const struct demand *d = &k->demand;

	for (int32_t s = 0; s < d->nsupplies; s++)
		for (int64_t i = 0; i < d->supply[s].ndata; i++) {
			int64_t key = (k->first[s] + i) * k->forest.shares;

			if (k->part_first[key] == k->part_first[key + 1])
				continue;
			for (int32_t g = 0; g < k->symmetry.order; g++) {
				int64_t image = image_of(k, s, i, g);

				if (out)
					out[at[image + 1]++] =
						(struct origin){k->first[s] + i, g};
				else
					at[image + 2]++;
			}
		}
}

static void sort_origins(struct making *k)
{
	int64_t n = k->demand.ndata;
	int64_t *at = arena_alloc(k->arena, (size_t)n + 2, sizeof(*at));

	find_origins(k, at, NULL);
	for (int64_t i = 1; i <= n; i++)
		at[i + 1] += at[i];
	k->origin = arena_alloc(k->arena, (size_t)at[n + 1], sizeof(*k->origin));
	find_origins(k, at, k->origin);
	k->origin_first = at;
}

/* --- boxes ------------------------------------------------------------------------- */

/* Stores the box that a tile of the source and one of the target have in common. */
static void find_boxes(struct making *k)
{
	const struct problem *p = k->problem;
	const struct shape *shape = &p->array.shape;
	struct tilemap from = tilemap_make(&p->from, &p->mesh, shape, k->arena);
	struct tilemap to = tilemap_make(&p->to, &p->to_mesh, shape, k->arena);
	int rank = shape->rank;

	k->box = arena_alloc(k->arena, (size_t)(k->demand.ndata * 2 * rank + 1),
	                     sizeof(*k->box));
	for (int32_t s = 0; s < k->demand.nsupplies; s++) {
		const struct supply *of = &k->demand.supply[s];

		for (int64_t i = 0; i < of->ndata; i++) {
			const struct party *w = &k->demand.party[of->datum[i].wanters];
			int64_t *box = k->box + (k->first[s] + i) * 2 * rank;

			for (int dim = 0; dim < rank; dim++) {
				int64_t lo, hi, low, high;

				tilemap_interval(&from, shape, of->holders.device[0],
				                 dim, &lo, &hi);
				tilemap_interval(&to, shape, w->device[0], dim, &low,
				                 &high);
				box[2 * dim] = lo > low ? lo : low;
				box[2 * dim + 1] = hi < high ? hi : high;
			}
		}
	}
}

/*
 * Returns the largest divisor of an extent that is at most `most`: into as many equal parts
 * it is cut, of which pieces are whole numbers, so that programs can run on an array of so
 * much smaller a size.
 */
static int64_t divisor(int64_t extent, int64_t most)
{
	int64_t n = most < extent ? most : extent;

	while (extent % n)
		n--;
	return n;
}

/*
 * Stores piece `i` of `n` of a datum, cut along its longest dimension. Returns how many
 * elements it has; 0 where the box has fewer places than pieces.
 */
static int64_t cut(int64_t *out, const struct making *k, int64_t datum, int64_t i,
                   int64_t n)
{
	int rank = k->problem->array.shape.rank, longest = 0;
	const int64_t *box = k->box + datum * 2 * rank;
	int64_t elements = 1, parts, size;

	for (int b = 0; b < 2 * rank; b++)
		out[b] = box[b];
	for (int dim = 1; dim < rank; dim++)
		if (box[2 * dim + 1] - box[2 * dim] >
		    box[2 * longest + 1] - box[2 * longest])
			longest = dim;
	if (rank == 0)
		return i == 0;
	size = box[2 * longest + 1] - box[2 * longest];
	parts = divisor(size, 4 * n);
	size /= parts;
	out[2 * longest] = box[2 * longest] + parts * i / n * size;
	out[2 * longest + 1] = box[2 * longest] + parts * (i + 1) / n * size;
	for (int dim = 0; dim < rank; dim++)
		elements *= out[2 * dim + 1] - out[2 * dim];
	return elements;
}

/* --- rounds ------------------------------------------------------------------------ */

struct transfers {
	LIST(struct transfer) list;
};

/* Adds what a share of a datum sends in a round. */
static void add_share(struct making *k, struct transfers *out, int64_t datum,
                      int32_t share, int32_t round)
{
	int64_t n = k->origin_first[datum + 1] - k->origin_first[datum];
	const struct origin *o = &k->origin[k->origin_first[datum] + share % n];
	const int32_t *to = k->symmetry.image + (int64_t)o->element * k->net.n;
	int64_t key = o->datum * k->forest.shares + share;

	for (int64_t i = k->part_first[key]; i < k->part_first[key + 1]; i++) {
		const struct flow_part *p = &k->part[i];
		int32_t chunk = round - p->depth, chunks;
		int64_t *bounds, elements;

		chunks = pipeline_chunks(&k->pipeline, &k->flows, p->height);
		if (chunk < 0 || chunk >= chunks)
			continue;
		bounds = arena_alloc(k->plan->arena,
		                     2 * (size_t)k->problem->array.shape.rank + 1,
		                     sizeof(*bounds));
		elements = cut(bounds, k, datum, (int64_t)share * chunks + chunk,
		               (int64_t)k->forest.shares * chunks);
		if (elements > 0)
			*list_add(&out->list, k->arena) =
				(struct transfer){to[p->message.src],
			                          to[p->message.dst], elements, bounds};
	}
}

static void add_rounds(struct making *k)
{
	int32_t rounds = k->pipeline.chunks + k->pipeline.depths - 1;

	for (int32_t r = 0; r < rounds; r++) {
		struct transfers t = {0};

		for (int64_t d = 0; d < k->demand.ndata; d++)
			for (int32_t share = 0; share < k->forest.shares; share++)
				add_share(k, &t, d, share, r);
		if (t.list.n > 0)
			plan_permute_parts(k->plan, t.list.at, t.list.n);
	}
	plan_pad(k->plan, &k->plan->to, NULL);
	k->plan->step[k->plan->nsteps - 1].mesh = &k->problem->to_mesh;
}

/* Returns how many boxes all chunks of all parts are. */
static int64_t count_boxes(const struct making *k)
{
	int64_t boxes = 0;

	for (int64_t i = 0; i < k->forest.parts.n; i++)
		boxes += pipeline_chunks(&k->pipeline, &k->flows,
		                         k->forest.parts.at[i].height);
	return boxes * k->symmetry.order;
}

/* Chooses how many chunks: as many as the schedule has, if there are not too many boxes. */
static bool choose_chunks(struct making *k)
{
	if (!flows_of_forest(&k->flows, &k->forest, &k->net, &k->symmetry, k->arena))
		return false;
	k->pipeline = pipeline_make(&k->flows, &k->net, 1, k->arena);
	if (k->pipeline.chunks > RELAY_CHUNKS_MAX)
		k->pipeline.chunks = RELAY_CHUNKS_MAX;
	while (k->pipeline.chunks > 1 && count_boxes(k) > RELAY_BOXES_MAX)
		k->pipeline.chunks--;
	return true;
}

struct plan *relay_plan(const struct problem *p, const struct machine *m,
                        const int32_t *platform, enum flow_reach reach, struct arena *a)
{
	struct making k = {.problem = p, .arena = a};
	struct network rails;

	if (!network_make(&k.net, m, platform, p->ndevices, reach, a) ||
	    !demand_make(&k.demand, p, a))
		return NULL;
	/* the symmetries of collective/scheduled.c */
	symmetry_find(&k.symmetry,
	              network_make(&rails, m, platform, p->ndevices, FLOW_RAILS, a)
	                      ? &rails
	                      : &k.net,
	              &k.demand, &p->mesh, a);
	if (!forest_make(&k.forest, &k.net, &k.demand, &k.symmetry, true, a) ||
	    k.forest.depths == 0)
		return NULL;
	k.first = arena_alloc(a, (size_t)k.demand.nsupplies + 1, sizeof(*k.first));
	for (int32_t s = 0; s < k.demand.nsupplies; s++)
		k.first[s + 1] = k.first[s] + k.demand.supply[s].ndata;
	sort_parts(&k);
	sort_origins(&k);
	find_boxes(&k);
	if (!choose_chunks(&k))
		return NULL;
	k.plan = plan_new(a, p, "scheduled");
	k.plan->shape = p->array.shape;
	add_rounds(&k);
	plan_finish(k.plan);
	return k.plan;
}
