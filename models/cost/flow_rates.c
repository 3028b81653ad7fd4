#include "cost/flow_rates.h"

#include "base/assert.h"
#include "base/heap.h"

#include <math.h>
#include <string.h>

/* A flow on one of its links. */
struct wire {
	int32_t link, flow;
	int32_t weight; /* flows of its kind on the link */
	int32_t slot;   /* of the link, where it is; undefined unless it moves */
};

/* Where a link has a flow that moves; of `Bps` a flow that has no rate yet has INFINITY. */
struct slot {
	double Bps;
	int32_t wire;
};

struct shared {
	double Bps;
	/* Those that move, in flow_rates.slot: none comes before a faster one (a heap). */
	int64_t first;
	int32_t n, fresh; /* fresh: of these, those without a rate */
	int64_t weight;   /* of all of them */
	double used_Bps;  /* by those with a rate */
	int64_t counted;  /* changes of `used_Bps` since it was summed up */
	bool changed, found;
	/* While rates are found: the slots in flow_rates.open, what those at rest leave, */
	int64_t from, to;
	/* what is left, for how many, and for each at least. */
	double kept_Bps, left_Bps, share_Bps;
	int64_t open;
};

struct moving {
	int64_t first, n; /* wires */
	double rate_Bps;
	bool found, open;
};

struct flow_rates {
	struct wire *wire;
	struct slot *slot; /* [wires]: of each link as many as it has wires */
	struct shared *link;
	struct moving *flow;
	int32_t *changed, nchanged; /* links whose flows came or went */
	double least_Bps;           /* of the rates of those that went */
	int32_t *links, nlinks;     /* those that they are joined with */
	int32_t *flows, nflows;     /* and their flows that may have another rate */
	int32_t *open;              /* [wires]: the slots of these, link by link */
	int64_t nopen;
	struct heap heap; /* links with flows that are open, by their share */
	int64_t work;
};

/* Stores the wires of all flows, and gives every link room for as many as it has. */
static void add_wires(struct flow_rates *r, const struct flow_net *net)
{
	const struct fair *f = &net->fair;
	int64_t n = 0, first = 0;

	for (int32_t i = 0; i < net->nmessages; i++) {
		r->flow[i].first = n;
		for (int64_t k = 0; k < f->task[i].nuses; k++) {
			const struct fair_use *u = &f->use[f->task[i].first + k];

			if (u->link >= net->nlinks)
				continue;
			r->wire[n++] = (struct wire){u->link, i, u->tasks, 0};
			r->link[u->link].n++;
		}
		r->flow[i].n = n - r->flow[i].first;
	}
	for (int32_t l = 0; l < net->nlinks; l++) {
		r->link[l].Bps = f->link_Bps[l];
		r->link[l].first = first;
		first += r->link[l].n;
		r->link[l].n = 0;
	}
}

struct flow_rates *flow_rates_new(const struct flow_net *net)
{
	struct flow_rates *r = xmalloc(1, sizeof(*r));
	size_t links = (size_t)net->nlinks + 1, flows = (size_t)net->nmessages + 1;
	size_t wires = (size_t)net->fair.nuses + 1;

	assert(wires < INT32_MAX);
	*r = (struct flow_rates){.least_Bps = INFINITY};
	r->wire = xmalloc(wires, sizeof(*r->wire));
	r->slot = xmalloc(wires, sizeof(*r->slot));
	r->open = xmalloc(wires, sizeof(*r->open));
	r->link = memset(xmalloc(links, sizeof(*r->link)), 0, links * sizeof(*r->link));
	r->flow = memset(xmalloc(flows, sizeof(*r->flow)), 0, flows * sizeof(*r->flow));
	r->changed = xmalloc(links, sizeof(*r->changed));
	r->links = xmalloc(links, sizeof(*r->links));
	r->flows = xmalloc(flows, sizeof(*r->flows));
	add_wires(r, net);
	return r;
}

void flow_rates_free(struct flow_rates *r)
{
	heap_free(&r->heap);
	xfree(r->wire);
	xfree(r->slot);
	xfree(r->open);
	xfree(r->link);
	xfree(r->flow);
	xfree(r->changed);
	xfree(r->links);
	xfree(r->flows);
	xfree(r);
}

/* --- the flows of a link, the fastest first ------------------------------------------ */

static void put_slot(struct flow_rates *r, const struct shared *link, int32_t at,
                     struct slot s)
{
	r->slot[link->first + at] = s;
	r->wire[s.wire].slot = at;
}

static void move_up(struct flow_rates *r, const struct shared *link, int32_t at)
{
	struct slot *slot = r->slot + link->first, s = slot[at];

	for (; at > 0 && slot[(at - 1) / 2].Bps < s.Bps; at = (at - 1) / 2)
		put_slot(r, link, at, slot[(at - 1) / 2]);
	put_slot(r, link, at, s);
}

static void move_down(struct flow_rates *r, const struct shared *link, int32_t at)
{
	struct slot *slot = r->slot + link->first, s = slot[at];

	for (int32_t child; (child = 2 * at + 1) < link->n; at = child) {
		if (child + 1 < link->n && slot[child + 1].Bps > slot[child].Bps)
			child++;
		if (slot[child].Bps <= s.Bps)
			break;
		put_slot(r, link, at, slot[child]);
	}
	put_slot(r, link, at, s);
}

/* --- what is told --------------------------------------------------------------------- */

static struct shared *link_change(struct flow_rates *r, int32_t l)
{
	struct shared *link = &r->link[l];

	if (!link->changed)
		r->changed[r->nchanged++] = l;
	link->changed = true;
	return link;
}

void flow_rates_begin(struct flow_rates *r, int32_t flow)
{
	struct moving *m = &r->flow[flow];

	for (int64_t k = m->first; k < m->first + m->n; k++) {
		struct shared *link = link_change(r, r->wire[k].link);

		put_slot(r, link, link->n, (struct slot){INFINITY, (int32_t)k});
		move_up(r, link, link->n++);
		link->fresh++;
		link->weight += r->wire[k].weight;
	}
	m->rate_Bps = m->n ? 0 : INFINITY;
}

void flow_rates_end(struct flow_rates *r, int32_t flow)
{
	struct moving *m = &r->flow[flow];

	r->least_Bps = fmin(r->least_Bps, m->rate_Bps);
	for (int64_t k = m->first; k < m->first + m->n; k++) {
		struct shared *link = link_change(r, r->wire[k].link);
		int32_t at = r->wire[k].slot;

		link->weight -= r->wire[k].weight;
		link->used_Bps -= r->wire[k].weight * m->rate_Bps;
		link->counted++;
		if (at == --link->n)
			continue;
		put_slot(r, link, at, r->slot[link->first + link->n]);
		move_up(r, link, at);
		move_down(r, link, r->wire[r->slot[link->first + at].wire].slot);
	}
}

/* --- whose rates may change ----------------------------------------------------------- */

/* Rates that are so close may be one: those of one link are rounded in several ways. */
#define TIE 1e-9

/* Looks at a link so often at most, for what a lower answer only makes slower. */
enum { LEVEL_LOOKS = 4 };

/*
 * Returns a share that a link which flows have begun on can give to each of them, whatever
 * slower flows on it take: flows that are slower keep their rates.
 */
static double level_Bps(struct flow_rates *r, const struct shared *link)
{
	double level_Bps = link->Bps / (double)link->weight;

	for (int look = 0; look < LEVEL_LOOKS; look++) {
		double left_Bps = link->Bps, share_Bps;
		int64_t open = 0;

		r->work += link->n;
		for (int32_t i = 0; i < link->n; i++) {
			const struct slot *s = &r->slot[link->first + i];
			int32_t weight = r->wire[s->wire].weight;

			if (s->Bps < level_Bps)
				left_Bps -= weight * s->Bps;
			else
				open += weight;
		}
		share_Bps = left_Bps / (double)open;
		if (share_Bps <= level_Bps)
			break;
		level_Bps = share_Bps;
	}
	return level_Bps;
}

/*
 * Returns the rate below which all stays as it is. Up to the least rate of those that went,
 * and the least share of those that came, links fill up as before.
 */
static double least_rate_Bps(struct flow_rates *r)
{
	double least_Bps = r->least_Bps;

	for (int32_t i = 0; i < r->nchanged; i++) {
		struct shared *link = &r->link[r->changed[i]];

		if (link->fresh)
			least_Bps = fmin(least_Bps, level_Bps(r, link));
	}
	return least_Bps * (1 - TIE);
}

/* Sums up what those with a rate use, which is rounded with every change. */
static void sum_used(struct flow_rates *r, struct shared *link)
{
	link->used_Bps = 0;
	link->counted = 0;
	r->work += link->n;
	for (int32_t i = 0; i < link->n; i++) {
		const struct slot *s = &r->slot[link->first + i];

		if (s->Bps < INFINITY)
			link->used_Bps += r->wire[s->wire].weight * s->Bps;
	}
}

static void find_link(struct flow_rates *r, int32_t l)
{
	struct shared *link = &r->link[l];

	if (link->found)
		return;
	link->found = true;
	r->links[r->nlinks++] = l;
}

/* Finds the slots of a link with flows of that rate or a higher one, those above first. */
static void find_slots(struct flow_rates *r, struct shared *link, double least_Bps)
{
	const struct slot *slot = r->slot + link->first;

	link->from = r->nopen;
	if (link->n > 0 && slot[0].Bps >= least_Bps)
		r->open[r->nopen++] = 0;
	for (int64_t i = link->from; i < r->nopen; i++)
		for (int32_t child = 2 * r->open[i] + 1, n = 2; n--; child++)
			if (child < link->n && slot[child].Bps >= least_Bps)
				r->open[r->nopen++] = child;
	link->to = r->nopen;
	r->work += link->to - link->from;
}

/* Finds what a link has for its open flows, whose slots are found. */
static void find_left(struct flow_rates *r, struct shared *link)
{
	double used_Bps = 0;

	link->open = 0;
	for (int64_t i = link->from; i < link->to; i++) {
		const struct slot *s = &r->slot[link->first + r->open[i]];
		int32_t weight = r->wire[s->wire].weight;

		link->open += weight;
		if (s->Bps < INFINITY)
			used_Bps += weight * s->Bps;
	}
	if (link->to - link->from == link->n)
		link->kept_Bps = 0;
	else
		link->kept_Bps = fmax(0, link->used_Bps - used_Bps);
	link->left_Bps = fmax(0, link->Bps - link->kept_Bps);
	link->share_Bps = link->left_Bps / (double)link->open;
}

/* Finds the flows of that rate or a higher one that are joined with links that changed. */
static void find_joined(struct flow_rates *r, double least_Bps)
{
	r->nlinks = r->nflows = 0;
	r->nopen = 0;
	for (int32_t i = 0; i < r->nchanged; i++) {
		r->link[r->changed[i]].changed = false;
		r->link[r->changed[i]].fresh = 0;
		find_link(r, r->changed[i]);
	}
	r->nchanged = 0;
	for (int32_t i = 0; i < r->nlinks; i++) {
		struct shared *link = &r->link[r->links[i]];

		if (link->counted > 8 * (int64_t)link->n)
			sum_used(r, link);
		find_slots(r, link, least_Bps);
		find_left(r, link);
		for (int64_t k = link->from; k < link->to; k++) {
			int32_t flow =
				r->wire[r->slot[link->first + r->open[k]].wire].flow;
			struct moving *m = &r->flow[flow];

			if (m->found)
				continue;
			m->found = m->open = true;
			r->flows[r->nflows++] = flow;
			for (int64_t j = m->first; j < m->first + m->n; j++)
				find_link(r, r->wire[j].link);
		}
	}
}

/* --- their rates ---------------------------------------------------------------------- */

static bool link_before(const void *context, int32_t a, int32_t b)
{
	const struct flow_rates *r = context;
	double x = r->link[a].share_Bps, y = r->link[b].share_Bps;

	return x != y ? x < y : a < b;
}

/* Gives a flow its rate, and takes it off its links. */
static void settle(struct flow_rates *r, struct moving *m, double rate_Bps)
{
	m->open = false;
	m->rate_Bps = rate_Bps;
	for (int64_t k = m->first; k < m->first + m->n; k++) {
		struct shared *link = &r->link[r->wire[k].link];

		link->left_Bps = fmax(0, link->left_Bps - r->wire[k].weight * rate_Bps);
		link->open -= r->wire[k].weight;
	}
	r->work += m->n;
}

/*
 * Settles the flows of the link with the least share, which it may not be any more: what
 * others take, at lesser rates, leaves more to the rest.
 */
static void settle_link(struct flow_rates *r, int32_t l)
{
	struct shared *link = &r->link[l];
	double share_Bps;

	if (link->open <= 0)
		return;
	share_Bps = link->left_Bps / (double)link->open;
	if (share_Bps > link->share_Bps) {
		link->share_Bps = share_Bps;
		heap_queue(&r->heap, link_before, r, l, share_Bps);
		return;
	}
	for (int64_t k = link->from; k < link->to; k++) {
		const struct slot *s = &r->slot[link->first + r->open[k]];
		struct moving *m = &r->flow[r->wire[s->wire].flow];

		if (m->open)
			settle(r, m, share_Bps);
	}
}

/* Puts the slots of a link in order by the new rates, from below. */
static void sort_slots(struct flow_rates *r, struct shared *link)
{
	link->used_Bps = link->kept_Bps;
	link->counted += link->to - link->from;
	if (link->to - link->from == link->n)
		link->counted = 0;
	for (int64_t k = link->from; k < link->to; k++) {
		struct slot *s = &r->slot[link->first + r->open[k]];
		const struct wire *w = &r->wire[s->wire];

		s->Bps = r->flow[w->flow].rate_Bps;
		link->used_Bps += w->weight * s->Bps;
	}
	for (int64_t k = link->to; k-- > link->from;)
		move_down(r, link, r->open[k]);
	r->work += link->to - link->from;
}

const int32_t *flow_rates_find(int32_t *n, struct flow_rates *r)
{
	find_joined(r, least_rate_Bps(r));
	r->least_Bps = INFINITY;
	for (int32_t i = 0; i < r->nlinks; i++) {
		struct shared *link = &r->link[r->links[i]];

		link->found = false;
		if (link->open > 0)
			heap_queue(&r->heap, link_before, r, r->links[i],
			           link->share_Bps);
	}
	while (r->heap.n > 0)
		settle_link(r, heap_take(&r->heap, link_before, r));
	for (int32_t i = 0; i < r->nflows; i++)
		r->flow[r->flows[i]].found = false;
	for (int32_t i = 0; i < r->nlinks; i++)
		sort_slots(r, &r->link[r->links[i]]);
	*n = r->nflows;
	return r->flows;
}

double flow_rate_Bps(const struct flow_rates *r, int32_t flow)
{
	return r->flow[flow].rate_Bps;
}

int64_t flow_rates_work(const struct flow_rates *r)
{
	return r->work;
}
