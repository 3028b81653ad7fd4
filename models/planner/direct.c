/*
 * One exchange in which every device pulls exactly what it lacks. The volume is the least possible on any
 * mesh, any devices, even or uneven tiles; the number of messages is not.
 *
 * A source tile is one box and the tile of a target device is cut along the source
 * tiles, so what it lacks is one box of every source tile that meets its own, except
 * the one it holds: from one device never more than one box, and nothing is left to
 * merge. Boxes of tiles with one holder leave no choice. The others are spread by
 * planner/send/sources.h, or as planner/send/relative.h has it where that costs no more. Sums
 * are exchanged where they are added up on the way (direct_sums.h).
 */
#include "base/assert.h"
#include "planner/direct_sums.h"
#include "planner/planner.h"
#include "planner/send/relative.h"
#include "planner/send/sources.h"

#include "array/tile.h"

#include <math.h>
#include <string.h>

/* More boxes, as of an all-to-all of 4096 devices, are not planned, to bound memory. */
static const int64_t BOXES_MAX = 1 << 22;

/*
 * So many choices by coordinates are priced. On tpu-v5e:8x16, tpu-v4:4x4x4, dgx-h100:16 and
 * dgx-a100:8 71 of the 25,560 rows of scenarios/layouts.yaml are dearer with 8 than with all,
 * 121 with 4, and 1,092 with 1. Of very many boxes 2 are priced: of 163 pairs of layouts on 2,048
 * to 16,384 devices 2 are dearer for that, and `best` takes 8 ms less on 4,096.
 */
enum { PRICED_MAX = 8, PRICED_MANY = 2, MANY_BOXES = 1 << 14 };

#define EXCHANGES "an exchange of boxes"

struct direct {
	const struct problem *problem;
	struct arena *arena; /* for what does not outlive the planner */
	int rank;
	int64_t tiles[RANK_MAX], to_tiles[RANK_MAX]; /* per dimension */
	struct tilemap from, to;
	int64_t nboxes;
	struct transfer *box; /* by rising dst; src is the number of the source tile */
};

/* --- what is missing -------------------------------------------------------------- */

/* Returns the number of the tile that a device holds, or -1. */
static int64_t tile_of_device(const struct direct *d, const struct tilemap *map,
                              const int64_t *tiles, int32_t device)
{
	int64_t tile = 0;

	for (int i = 0; i < d->rank; i++) {
		int32_t index = map->index[(int64_t)device * d->rank + i];

		if (index < 0)
			return -1;
		tile = tile * tiles[i] + index;
	}
	return tile;
}

static int64_t held_tile(const struct direct *d, int32_t device)
{
	return tile_of_device(d, &d->from, d->tiles, device);
}

/*
 * Finds the first and last source tile in each dimension that meet the target tile of a
 * device. Returns false if that is empty.
 */
static bool meeting(const struct direct *d, int32_t device, int64_t *want,
                    int64_t *first, int64_t *last)
{
	const struct shape *g = &d->problem->array.shape;

	for (int i = 0; i < d->rank; i++) {
		int64_t size = d->from.tile.dim[i];

		tilemap_interval(&d->to, g, device, i, &want[2 * i], &want[2 * i + 1]);
		if (want[2 * i] >= want[2 * i + 1])
			return false;
		first[i] = want[2 * i] / size;
		last[i] = (want[2 * i + 1] - 1) / size;
	}
	return true;
}

/* Returns how many boxes a device lacks. */
static int64_t count_missing(const struct direct *d, int32_t device)
{
	int64_t want[2 * RANK_MAX], first[RANK_MAX], last[RANK_MAX], n = 1;
	bool own = true;

	if (!meeting(d, device, want, first, last))
		return 0;
	for (int i = 0; i < d->rank; i++) {
		int32_t index = d->from.index[(int64_t)device * d->rank + i];

		n *= last[i] - first[i] + 1;
		own = own && index >= first[i] && index <= last[i];
	}
	return n - own;
}

/*
 * The source tile that is looked at, and its box, as far as the dimensions up to now
 * say.
 */
struct cut {
	int64_t at[RANK_MAX], tile[RANK_MAX + 1], elements[RANK_MAX + 1];
	int64_t bounds[2 * RANK_MAX];
};

/* Cuts a target tile by the source tile at `at`, from dimension `dim` on. */
static void cut_from(struct cut *c, const struct direct *d, const int64_t *want, int dim)
{
	for (int i = dim; i < d->rank; i++) {
		int64_t lo = c->at[i] * d->from.tile.dim[i];
		int64_t hi = lo + d->from.tile.dim[i];

		lo = lo > want[2 * i] ? lo : want[2 * i];
		hi = hi < want[2 * i + 1] ? hi : want[2 * i + 1];
		c->bounds[2 * i] = lo;
		c->bounds[2 * i + 1] = hi;
		c->tile[i + 1] = c->tile[i] * d->tiles[i] + c->at[i];
		c->elements[i + 1] = c->elements[i] * (hi - lo);
	}
}

/* The boxes of a target tile, which all devices that want it share. */
struct cuts {
	int64_t n;
	struct transfer *box; /* NULL: not cut yet */
};

static void cut_tile(struct cuts *out, const struct direct *d, int32_t device,
                     struct arena *a)
{
	int64_t want[2 * RANK_MAX], first[RANK_MAX], last[RANK_MAX], n = 1, *bounds;
	size_t size = 2 * (size_t)d->rank;
	struct cut c = {.elements = {1}};
	int dim = 0;

	if (!meeting(d, device, want, first, last))
		return;
	for (int i = 0; i < d->rank; i++)
		n *= last[i] - first[i] + 1;
	bounds = arena_alloc(a, (size_t)n, size * sizeof(*bounds));
	out->box = arena_alloc(d->arena, (size_t)n, sizeof(*out->box));
	memcpy(c.at, first, sizeof(c.at));
	do {
		cut_from(&c, d, want, dim);
		memcpy(bounds, c.bounds, size * sizeof(*bounds));
		out->box[out->n++] = (struct transfer){.src = (int32_t)c.tile[d->rank],
		                                       .elements = c.elements[d->rank],
		                                       .bounds = bounds};
		bounds += size;
		for (dim = d->rank - 1; dim >= 0 && ++c.at[dim] > last[dim]; dim--)
			c.at[dim] = first[dim];
	} while (dim >= 0);
}

/* Adds the boxes that a device lacks, from number nboxes on. */
static void add_missing(struct direct *d, int32_t device, struct cuts *cuts,
                        struct arena *a)
{
	int64_t own = held_tile(d, device);
	int64_t tile = tile_of_device(d, &d->to, d->to_tiles, device);

	if (tile < 0)
		return;
	if (!cuts[tile].box)
		cut_tile(&cuts[tile], d, device, a);
	for (int64_t i = 0; i < cuts[tile].n; i++) {
		if (cuts[tile].box[i].src == own)
			continue;
		d->box[d->nboxes] = cuts[tile].box[i];
		d->box[d->nboxes++].dst = device;
	}
}

/* Finds all boxes that are missing. Returns false if there are too many. */
static bool find_missing(struct direct *d, struct arena *a)
{
	int64_t n = 0, ntiles = 1;
	struct cuts *cuts;

	for (int32_t device = 0; device < d->problem->ndevices; device++) {
		n += count_missing(d, device);
		if (n > BOXES_MAX)
			return false;
	}
	for (int i = 0; i < d->rank; i++)
		ntiles *= d->to_tiles[i];
	cuts = arena_alloc(d->arena, (size_t)ntiles, sizeof(*cuts));
	d->box = arena_alloc(d->arena, (size_t)n, sizeof(*d->box));
	for (int32_t device = 0; device < d->problem->ndevices; device++)
		add_missing(d, device, cuts, a);
	assert(d->nboxes == n);
	return true;
}

/* --- who sends -------------------------------------------------------------------- */

/* Makes the plan that is the exchange of these boxes. */
static struct plan *exchange_of(const struct direct *d, const struct transfer *box,
                                struct arena *a)
{
	const struct problem *p = d->problem;
	struct plan *plan = plan_new(a, p, "direct");

	/* Only real elements travel, whatever extent other planners pad to. */
	plan->shape = p->array.shape;
	plan_exchange(plan, &p->to, &p->to_mesh, box, d->nboxes);
	return plan;
}

/* Prices the plan; where it is clearly dearer than `most` any price above that will do. */
static struct price exchange_price(const struct plan *plan, const struct prices *prices,
                                   double most)
{
	static const double CLEARLY = 1.001;

	return prices->within ? prices->within(prices->self, plan, most * CLEARLY)
	                      : prices->plan(prices->self, plan);
}

/* Makes `sender` the senders of the boxes, and stores those before in it. */
static void change_senders(struct direct *d, int32_t *sender)
{
	for (int64_t i = 0; i < d->nboxes; i++) {
		int32_t before = d->box[i].src;

		d->box[i].src = sender[i];
		sender[i] = before;
	}
}

static bool same_senders(const struct direct *d, const int32_t *sender)
{
	for (int64_t i = 0; i < d->nboxes; i++)
		if (d->box[i].src != sender[i])
			return false;
	return true;
}

/*
 * Puts senders by coordinates in the place of those that the boxes have, where the plan is
 * no dearer then, and the cheapest of these.
 */
static void take_relative(struct direct *d, const struct relative *relative,
                          const struct prices *prices)
{
	int32_t *sender = arena_alloc(d->arena, (size_t)d->nboxes, sizeof(*sender));
	struct plan *plan = exchange_of(d, d->box, d->arena);
	int most = d->nboxes > MANY_BOXES ? PRICED_MANY : PRICED_MAX, priced = 0;
	struct price best = {0};
	bool taken = false;

	/* One plan stands for all: of its figures who sends only changes `send_bytes`, no price. */
	plan_finish(plan);
	plan->step[0].transfers = d->box;
	for (int i = 0; i < relative_count(relative) && priced < most; i++) {
		struct price price;
		int order;

		if (!relative_senders(sender, relative, i) || same_senders(d, sender))
			continue;
		if (!priced)
			best = exchange_price(plan, prices, INFINITY);
		change_senders(d, sender);
		price = exchange_price(plan, prices, best.cost);
		order = price_compare(price, best);
		priced++;
		if (order < 0 || (order == 0 && !taken)) {
			best = price;
			taken = true;
		} else {
			change_senders(d, sender);
		}
	}
}

static void choose_senders(struct direct *d, const struct prices *prices)
{
	const struct problem *p = d->problem;
	struct holders holders = holders_of(&d->from, &p->from, d->arena);
	const struct relative *relative;

	sources_choose(d->box, d->nboxes, &holders, p, prices);
	relative = relative_new(d->box, d->nboxes, &holders, p, d->arena);
	if (relative)
		take_relative(d, relative, prices);
}

/* --- where nothing is missing ----------------------------------------------------- */

/*
 * Writes the layout over the axes of the source mesh. Returns false if these cannot say
 * it.
 */
static bool source_axes(struct layout *out, const struct problem *p,
                        const struct layout *l, const struct mesh *m, struct arena *a)
{
	struct layout tiles;

	if (!p->same_devices || l->kind == LAYOUT_MAXIMAL)
		return false;
	if (l->kind == LAYOUT_AXES && mesh_equal(m, &p->mesh)) {
		*out = *l;
		return true;
	}
	tiles = layout_of_tiling(layout_tiling(l, m, a), a);
	return layout_to_axes(out, &tiles, &p->mesh, a);
}

/*
 * Adds the step where every device has what it wants: a slice where axes say it, else a
 * pad.
 */
static void add_local_step(struct plan *plan, const struct problem *p)
{
	struct arena *a = plan->arena;
	struct move moves[RANK_MAX];
	struct layout from, to;
	int n;

	if (p->padded_ok && source_axes(&from, p, &p->from, &p->mesh, a) &&
	    source_axes(&to, p, &p->to, &p->to_mesh, a) &&
	    slice_moves(moves, &n, &from, &to, a)) {
		plan->shape = p->padded;
		if (n > 0)
			plan_axes_step(plan, OP_SLICE, moves, n);
		return;
	}
	plan_pad(plan, &p->to, NULL);
	plan->step[plan->nsteps - 1].mesh = &p->to_mesh;
}

static const char *direct_refusal(const struct problem *p)
{
	if (p->from.nunreduced > 0 || p->to.nunreduced > 0)
		return "unreduced axes";
	if (p->array.shape.rank == 0)
		return "a scalar has no tiles to exchange";
	/* `best` asks nevertheless: where nothing moves the plan is a slice. */
	if (p->vocabulary == VOCABULARY_PORTABLE && p->recv_bound_bytes > 0)
		return EXCHANGES;
	return NULL;
}

static enum answer direct_plan(struct plan **out, const struct problem *p,
                               const struct prices *prices, struct arena *arena,
                               struct text *why)
{
	const char *reason = direct_refusal(p);
	struct direct d = {.problem = p, .rank = p->array.shape.rank};
	struct plan *plan;

	/* elsewhere each contribution would travel by itself */
	if (p->from.nunreduced > 0 && prices->scheduled &&
	    p->vocabulary == VOCABULARY_ANY)
		return direct_sums(out, p, prices, arena, why);
	if (reason) {
		text_printf(why, "%s", reason);
		return ANSWER_NOT_APPLICABLE;
	}
	d.arena = arena_new();
	d.from = tilemap_make(&p->from, &p->mesh, &p->array.shape, d.arena);
	d.to = tilemap_make(&p->to, &p->to_mesh, &p->array.shape, d.arena);
	for (int i = 0; i < d.rank; i++) {
		d.tiles[i] = layout_shards(&p->from, i);
		d.to_tiles[i] = layout_shards(&p->to, i);
	}
	if (!find_missing(&d, arena)) {
		arena_free(d.arena);
		text_printf(why, "more than %lld boxes are missing",
		            (long long)BOXES_MAX);
		return ANSWER_NOT_APPLICABLE;
	}
	if (d.nboxes > 0) {
		choose_senders(&d, prices);
		plan = exchange_of(&d, d.box, arena);
	} else {
		plan = plan_new(arena, p, "direct");
		plan->shape = p->array.shape;
		add_local_step(plan, p);
	}
	arena_free(d.arena);
	plan_finish(plan);
	*out = plan;
	return ANSWER_PLAN;
}

const struct planner planner_direct = {
	.name = "direct",
	.help = "one exchange of exactly the missing boxes, between any meshes",
	.not_portable = EXCHANGES,
	.plan = direct_plan,
};
