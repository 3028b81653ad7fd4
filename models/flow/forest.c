#include "flow/trees.h"

#include <math.h>

#include <string.h>

/*
 * How many looks at a message may be spent on all shares together, for each device, and how
 * many the fewest shares may take. Trees of their own for each datum are worth more, for what
 * they share counts most. With ten times as many, means over drawn problems are no less on 64
 * devices, where symmetries leave little to do, and planning on 128 takes 20 ms more. So up to
 * DEVICES_FEW devices count as so many, for planning to be quick, and more as DEVICES_MANY at
 * least: on 256 that is four times as many looks as their number, for which wires are 4 % less
 * and planning takes 12 ms more; of ten times as many it is 4.6 % and 40 ms. More may be spent
 * on ways that are looked for anew.
 */
static const int64_t WORK_EACH = 1200;
static const int64_t TREES_WORK_EACH = 3200;
static const int64_t AGAIN_WORK_EACH = 12800;
static const int64_t LEAST_WORK_MAX = 12000000;
enum { DEVICES_FEW = 128, DEVICES_MANY = 1024 };

/*
 * How many shares there are, many of them as many as can be equal on 2, 3, 4, 6 and 8 links.
 * Where there are few trees, as in broadcasts, together they have more: of 72 shares 9 links
 * out of 8 get one too many. A fourth of them goes twice; with all of them means over drawn
 * problems differ by 1 %.
 */
enum {
	SHARES_MIN = 2,
	SHARES_MAX = 72,
	FEW_SHARES = 288,
	SHARES_EVEN = 24,
	AGAIN_OF = 4
};

/* Says how high the tree is of which all hops and parts from these numbers on are. */
static void set_height(struct growth *f, int64_t hops, int64_t parts)
{
	int32_t height = 0;

	for (int64_t i = hops; i < f->out->hops.n; i++)
		if (f->out->hops.at[i].depth >= height)
			height = f->out->hops.at[i].depth + 1;
	for (int64_t i = hops; i < f->out->hops.n; i++)
		f->out->hops.at[i].height = height;
	for (int64_t i = parts; i < f->out->parts.n; i++)
		f->out->parts.at[i].height = height;
}

/* --- a tree for each datum -------------------------------------------------------- */

/*
 * Puts the path to a device into the tree, and sends the datum along it. From then on
 * those on the path have it at no further price but that of relays. *left counts those
 * that still want it.
 */
static void join(struct growth *f, int32_t device, double bytes, int32_t *left)
{
	f->nlist = 0;
	for (int32_t d = device; !f->has[d]; d = f->before[d])
		f->list[f->nlist++] = d;
	for (int32_t i = f->nlist - 1; i >= 0; i--) {
		int32_t d = f->list[i];

		growth_join(f, d);
		*left -= f->wants[d];
		growth_send(f, d, bytes);
		growth_note(f, d);
	}
	for (int32_t i = 0; i<f->nlist && * left> 0; i++)
		growth_again(f, f->list[i], bytes);
}

/* Sends a share of a datum along a tree of its own. */
static bool send_datum(struct growth *f, const struct supply *s,
                       const struct datum *datum)
{
	const struct party *wanters = &f->demand->party[datum->wanters];
	int64_t number = f->first[s - f->demand->supply] + (datum - s->datum);
	int64_t hops = f->out->hops.n, parts = f->out->parts.n;
	double bytes = datum->bytes / f->out->shares *
	               (double)f->symmetry->datum_orbit_size[number];
	int32_t left = 0, d;

	growth_price(f, bytes);
	growth_begin(f, s);
	for (int32_t i = 0; i < wanters->n; i++) {
		d = wanters->device[i];
		f->wants[d] = !f->has[d];
		left += f->wants[d];
	}
	while (left > 0) {
		d = growth_next(f);
		if (d < 0)
			return false;
		if (d >= f->net->n || f->has[d] || !f->wants[d])
			growth_look(f, d);
		else
			join(f, d, bytes, &left);
	}
	set_height(f, hops, parts);
	return true;
}

/* --- a tree for each supply ------------------------------------------------------- */

/* Finds the cheapest paths to all devices, which `list` then has by rising price. */
static void find_paths(struct growth *f, const struct supply *s, double images)
{
	double bytes = 0;
	int32_t d;

	for (int64_t i = 0; i < s->ndata; i++)
		bytes += s->datum[i].bytes;
	/* a link may get all that a holder sends, for all take the cheapest */
	growth_price(f, bytes * images / s->holders.n / f->out->shares);
	growth_begin(f, s);
	f->nlist = 0;
	while ((d = growth_next(f)) >= 0) {
		if (d < f->net->n) {
			f->list[f->nlist++] = d;
			f->has[d] = true;
		}
		growth_look(f, d);
	}
}

/* Sends a share of a datum along the paths to all that want it, on each message once. */
static bool send_shared(struct growth *f, const struct party *wanters, double bytes)
{
	int64_t hops = f->out->hops.n, parts = f->out->parts.n;
	bool done = true;

	for (int32_t i = 0; i < wanters->n && done; i++) {
		int32_t d = wanters->device[i];

		done = f->via[d] != GROWTH_UNREACHED;
		for (; done && f->via[d] >= 0 && !f->wants[d]; d = f->before[d]) {
			f->wants[d] = true;
			growth_send(f, d, bytes);
			growth_note(f, d);
		}
	}
	set_height(f, hops, parts);
	for (int32_t i = 0; i < wanters->n; i++)
		for (int32_t d = wanters->device[i]; f->via[d] >= 0 && f->wants[d];
		     d = f->before[d])
			f->wants[d] = false;
	return done;
}

/* Returns what passes a device on its way to those of a depth; 0: to all. */
static double *passing(struct growth *f, int32_t device, int32_t depth)
{
	return &f->bytes[(int64_t)device * (FLOW_DEPTH_MAX + 1) + depth];
}

/*
 * Puts a hop for each height of what passes a device, up to `highest`, in place of the last
 * one, and leaves nothing to pass.
 */
static void split_hop(struct growth *f, int32_t device, int32_t highest)
{
	struct flow_hop hop = f->out->hops.at[--f->out->hops.n];
	int32_t before = f->via[f->before[device]] >= 0 ? f->before[device] : -1;

	for (int32_t h = f->depth[device]; h <= highest; h++) {
		double *bytes = passing(f, device, h);

		if (*bytes == 0)
			continue;
		*list_add(&f->out->hops, f->arena) =
			(struct flow_hop){hop.message, hop.depth, h, *bytes};
		if (before >= 0)
			*passing(f, before, h) += *bytes;
		*bytes = 0;
	}
	if (before >= 0)
		*passing(f, before, 0) += *passing(f, device, 0);
	*passing(f, device, 0) = 0;
}

/* Sends all that ends at single devices: of each the bytes that pass it, far ones first. */
static void send_passing(struct growth *f, int32_t highest)
{
	for (int32_t i = f->nlist - 1; i >= 0; i--) {
		int32_t d = f->list[i];

		if (f->via[d] < 0 || *passing(f, d, 0) == 0)
			continue;
		growth_send(f, d, *passing(f, d, 0));
		split_hop(f, d, highest);
	}
}

/* Sends shares of all data of a supply along one tree of cheapest paths. */
static bool send_supply(struct growth *f, const struct supply *s)
{
	double images = f->symmetry->supply_orbit_size[s - f->demand->supply];
	int32_t highest = 0;

	find_paths(f, s, images);
	for (int64_t k = 0; k < s->ndata; k++) {
		const struct party *w = &f->demand->party[s->datum[k].wanters];
		double bytes = s->datum[k].bytes * images / f->out->shares;
		int32_t d = w->device[0];

		f->part.datum = k;
		if (w->n > 1) {
			if (!send_shared(f, w, bytes))
				return false;
			continue;
		}
		if (f->via[d] == GROWTH_UNREACHED)
			return false;
		if (f->via[d] == GROWTH_HOLDER)
			continue;
		*passing(f, d, 0) += bytes;
		*passing(f, d, f->depth[d]) += bytes;
		f->part.height = f->depth[d];
		highest = f->depth[d] > highest ? f->depth[d] : highest;
		for (; f->via[d] >= 0; d = f->before[d])
			growth_note(f, d);
	}
	send_passing(f, highest);
	return true;
}

/* --- all of it -------------------------------------------------------------------- */

/* Sends a share of a datum over trees of nodes. */
static bool send_over_nodes(struct growth *f, const struct supply *s,
                            const struct datum *datum, int64_t number)
{
	int64_t hops = f->out->hops.n, parts = f->out->parts.n;
	bool done = trees_send(f, f->over_nodes, s, &f->demand->party[datum->wanters],
	                       datum->bytes / f->out->shares *
	                               (double)f->symmetry->datum_orbit_size[number]);

	set_height(f, hops, parts);
	return done;
}

/* Sends a share of a supply, and of all that symmetries turn it into. */
static bool send_some(struct growth *f, int32_t supply)
{
	const struct symmetry *sym = f->symmetry;
	const struct supply *s = &f->demand->supply[supply];
	bool done = true;

	f->part.supply = supply;
	if (!f->trees)
		return sym->supply_orbit[supply] != supply || send_supply(f, s);
	for (int64_t i = 0; i < s->ndata && done; i++) {
		int64_t number = f->first[supply] + i;

		f->part.datum = i;
		if (sym->datum_orbit[number] == number)
			done = f->over_nodes
			               ? send_over_nodes(f, s, &s->datum[i], number)
			               : send_datum(f, s, &s->datum[i]);
	}
	return done;
}

/* Sends a share of everything, every second one in the reverse order. */
static bool send_share(struct growth *f, int32_t share)
{
	int32_t n = f->demand->nsupplies;
	bool done = true;

	f->part.share = share;
	for (int32_t k = 0; k < n && done; k++)
		done = send_some(f, share % 2 ? n - 1 - k : k);
	return done;
}

/* Returns how many data, or supplies, have trees of their own. */
static int64_t count_trees(const struct growth *f, bool of_data)
{
	const struct symmetry *s = f->symmetry;
	int64_t n = 0;

	for (int64_t i = 0; of_data && i < f->demand->ndata; i++)
		n += s->datum_orbit[i] == i;
	for (int32_t i = 0; !of_data && i < f->demand->nsupplies; i++)
		n += s->supply_orbit[i] == i;
	return n;
}

/* Returns for how many devices work may be spent on a problem of so many. */
static int64_t working_devices(int32_t n)
{
	if (n <= DEVICES_FEW)
		return DEVICES_FEW;
	return n > DEVICES_MANY ? n : DEVICES_MANY;
}

/* Chooses between the two kinds of trees, and the number of shares. */
static bool plan_work(struct growth *f)
{
	int64_t looks = f->net->looks + f->net->nlinks;
	int64_t devices = working_devices(f->net->n);
	int64_t data = count_trees(f, true) * looks, most = devices * WORK_EACH, shares;
	int64_t limit = SHARES_MAX;

	f->trees = !f->demand->single && data * SHARES_MIN <= devices * TREES_WORK_EACH;
	if (f->trees) {
		looks = data;
		most = devices * TREES_WORK_EACH;
	} else {
		looks *= count_trees(f, false);
	}
	most = most < LEAST_WORK_MAX ? most : LEAST_WORK_MAX;
	shares = most / (looks + 1);
	if (f->trees && count_trees(f, true) * SHARES_MAX < FEW_SHARES)
		limit = FEW_SHARES / count_trees(f, true);
	shares = shares < limit ? shares : limit;
	shares -= shares > SHARES_EVEN ? shares % SHARES_EVEN : 0;
	*f->out = (struct forest){0};
	f->out->shares = (int32_t)(shares > SHARES_MIN ? shares : SHARES_MIN);
	f->again_left =
		AGAIN_WORK_EACH * (f->net->n > DEVICES_FEW ? f->net->n : DEVICES_FEW);
	return looks * f->out->shares <= LEAST_WORK_MAX;
}

/* Does the same for trees over nodes, whose shares are as many as rails ask for. */
static bool plan_over_nodes(struct growth *f)
{
	int64_t devices = f->net->n > DEVICES_FEW ? f->net->n : DEVICES_FEW;

	f->over_nodes = f->demand->single ? NULL : trees_new(f->net, f->arena);
	if (!f->over_nodes)
		return false;
	f->trees = true;
	*f->out = (struct forest){.shares = trees_shares(f->over_nodes)};
	return f->out->shares * count_trees(f, true) * f->net->n <=
	       devices * TREES_WORK_EACH;
}

/* Where the hops and parts of a share are. */
struct span {
	int64_t hops, hops_end, parts, parts_end;
};

/* Sends a share and stores where it is. */
static bool place_share(struct growth *f, struct span *span, int32_t share)
{
	bool done;

	span->hops = f->out->hops.n;
	span->parts = f->out->parts.n;
	done = send_share(f, share);
	span->hops_end = f->out->hops.n;
	span->parts_end = f->out->parts.n;
	return done;
}

/* Takes a share off the links; its hops have no bytes, and its parts are of no share, then. */
static void take_back(struct growth *f, const struct span *span)
{
	for (int64_t i = span->hops; i < span->hops_end; i++) {
		growth_load(f, &f->out->hops.at[i].message, -f->out->hops.at[i].bytes);
		f->out->hops.at[i].bytes = 0;
	}
	for (int64_t i = span->parts; i < span->parts_end; i++)
		f->out->parts.at[i].share = -1;
	f->out->busiest_s = 0;
	for (int32_t l = 0; l < f->net->nlinks; l++)
		f->out->busiest_s = fmax(f->out->busiest_s, f->load[l]);
}

/*
 * Sends all shares, and the first ones again: when they went, nothing said which links
 * would be busy.
 */
static bool send_all(struct growth *f)
{
	int32_t shares = f->out->shares;
	struct span *span = arena_alloc(f->arena, (size_t)shares, sizeof(*span));
	bool done = true;

	for (int32_t k = 0; k < shares && done; k++)
		done = place_share(f, &span[k], k);
	for (int32_t k = 0; k < shares / AGAIN_OF && done && !f->over_nodes; k++) {
		take_back(f, &span[k]);
		done = place_share(f, &span[k], k);
	}
	return done;
}

/* Leaves out what was taken back, and depths at which nothing is sent. */
static void close_gaps(struct forest *out)
{
	int32_t to[FLOW_DEPTH_MAX] = {0};
	int64_t n = 0;

	for (int64_t i = 0; i < out->hops.n; i++)
		if (out->hops.at[i].bytes > 0)
			out->hops.at[n++] = out->hops.at[i];
	out->hops.n = n;
	n = 0;
	for (int64_t i = 0; i < out->parts.n; i++)
		if (out->parts.at[i].share >= 0)
			out->parts.at[n++] = out->parts.at[i];
	out->parts.n = n;
	for (int64_t i = 0; i < out->hops.n; i++)
		to[out->hops.at[i].depth] = 1;
	out->depths = 0;
	for (int32_t d = 0; d < FLOW_DEPTH_MAX; d++) {
		bool used = to[d] != 0;

		to[d] = out->depths;
		out->depths += used;
	}
	for (int64_t i = 0; i < out->hops.n; i++) {
		struct flow_hop *h = &out->hops.at[i];

		h->depth = to[h->depth];
		h->height = to[h->height - 1] + 1;
	}
	for (int64_t i = 0; i < out->parts.n; i++) {
		struct flow_part *p = &out->parts.at[i];

		p->depth = to[p->depth];
		p->height = to[p->height - 1] + 1;
	}
}

bool forest_make(struct forest *out, const struct network *network,
                 const struct demand *demand, const struct symmetry *symmetry,
                 bool parts, struct arena *a)
{
	struct growth f = {.net = network,
	                   .demand = demand,
	                   .symmetry = symmetry,
	                   .arena = a,
	                   .parts = parts,
	                   .out = out};
	bool done = network->reach == FLOW_TREES ? plan_over_nodes(&f) : plan_work(&f);

	if (!done)
		return false;
	growth_room(&f);
	done = send_all(&f);
	heap_free(&f.heap);
	if (done)
		close_gaps(out);
	return done;
}
