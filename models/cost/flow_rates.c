#include "cost/flow_rates.h"

#include "base/heap.h"

#include <math.h>
#include <string.h>

/* A flow on one of its links. */
struct wire {
	int32_t link, flow;
	int32_t weight;     /* flows of its kind on the link */
	int64_t prev, next; /* of those that move on the link; -1: none */
};

struct shared {
	double Bps;
	int64_t first;  /* of its wires that move, -1: none */
	int64_t weight; /* of these */
	bool changed, found;
	/* While rates are found: what is left, for how many, and for each at least. */
	double left_Bps, share_Bps;
	int64_t open;
};

struct moving {
	int64_t first, n; /* wires */
	double rate_Bps;
	bool found, open;
};

struct flow_rates {
	struct wire *wire;
	struct shared *link;
	struct moving *flow;
	int32_t *changed, nchanged; /* links whose flows came or went */
	int32_t *links, nlinks;     /* those that they are joined with, and their flows */
	int32_t *flows, nflows;
	struct heap heap; /* links with flows that are open, by their share */
	int64_t work;
};

struct flow_rates *flow_rates_new(const struct flow_net *net)
{
	const struct fair *f = &net->fair;
	struct flow_rates *r = xmalloc(1, sizeof(*r));
	size_t links = (size_t)net->nlinks + 1, flows = (size_t)net->nmessages + 1;
	int64_t n = 0;

	*r = (struct flow_rates){.work = 0};
	r->wire = xmalloc((size_t)f->nuses + 1, sizeof(*r->wire));
	r->link = memset(xmalloc(links, sizeof(*r->link)), 0, links * sizeof(*r->link));
	r->flow = memset(xmalloc(flows, sizeof(*r->flow)), 0, flows * sizeof(*r->flow));
	r->changed = xmalloc(links, sizeof(*r->changed));
	r->links = xmalloc(links, sizeof(*r->links));
	r->flows = xmalloc(flows, sizeof(*r->flows));
	for (int32_t l = 0; l < net->nlinks; l++) {
		r->link[l].Bps = f->link_Bps[l];
		r->link[l].first = -1;
	}
	for (int32_t i = 0; i < net->nmessages; i++) {
		r->flow[i].first = n;
		for (int64_t k = 0; k < f->task[i].nuses; k++) {
			const struct fair_use *u = &f->use[f->task[i].first + k];

			if (u->link < net->nlinks)
				r->wire[n++] = (struct wire){u->link, i, u->tasks, -1, -1};
		}
		r->flow[i].n = n - r->flow[i].first;
	}
	return r;
}

void flow_rates_free(struct flow_rates *r)
{
	heap_free(&r->heap);
	xfree(r->wire);
	xfree(r->link);
	xfree(r->flow);
	xfree(r->changed);
	xfree(r->links);
	xfree(r->flows);
	xfree(r);
}

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
		struct wire *w = &r->wire[k];
		struct shared *link = link_change(r, w->link);

		w->prev = -1;
		w->next = link->first;
		if (link->first >= 0)
			r->wire[link->first].prev = k;
		link->first = k;
		link->weight += w->weight;
	}
	m->rate_Bps = m->n ? 0 : INFINITY;
}

void flow_rates_end(struct flow_rates *r, int32_t flow)
{
	struct moving *m = &r->flow[flow];

	for (int64_t k = m->first; k < m->first + m->n; k++) {
		struct wire *w = &r->wire[k];
		struct shared *link = link_change(r, w->link);

		if (w->prev >= 0)
			r->wire[w->prev].next = w->next;
		else
			link->first = w->next;
		if (w->next >= 0)
			r->wire[w->next].prev = w->prev;
		link->weight -= w->weight;
	}
}

/* Adds a link to those whose rates are found anew, if it has flows. */
static void find_link(struct flow_rates *r, int32_t l)
{
	struct shared *link = &r->link[l];

	if (link->found || link->first < 0)
		return;
	link->found = true;
	link->left_Bps = link->Bps;
	link->open = link->weight;
	link->share_Bps = link->Bps / (double)link->weight;
	r->links[r->nlinks++] = l;
}

/* Finds the flows and links that are joined with the links that have changed. */
static void find_joined(struct flow_rates *r)
{
	r->nlinks = r->nflows = 0;
	for (int32_t i = 0; i < r->nchanged; i++) {
		r->link[r->changed[i]].changed = false;
		find_link(r, r->changed[i]);
	}
	r->nchanged = 0;
	for (int32_t i = 0; i < r->nlinks; i++)
		for (int64_t k = r->link[r->links[i]].first; k >= 0; k = r->wire[k].next) {
			struct moving *m = &r->flow[r->wire[k].flow];

			r->work++;
			if (m->found)
				continue;
			m->found = m->open = true;
			r->flows[r->nflows++] = r->wire[k].flow;
			for (int64_t j = m->first; j < m->first + m->n; j++)
				find_link(r, r->wire[j].link);
		}
}

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
	for (int64_t k = link->first; k >= 0; k = r->wire[k].next)
		if (r->flow[r->wire[k].flow].open)
			settle(r, &r->flow[r->wire[k].flow], share_Bps);
}

const int32_t *flow_rates_find(int32_t *n, struct flow_rates *r)
{
	find_joined(r);
	for (int32_t i = 0; i < r->nlinks; i++) {
		r->link[r->links[i]].found = false;
		heap_queue(&r->heap, link_before, r, r->links[i],
		           r->link[r->links[i]].share_Bps);
	}
	while (r->heap.n > 0)
		settle_link(r, heap_take(&r->heap, link_before, r));
	for (int32_t i = 0; i < r->nflows; i++)
		r->flow[r->flows[i]].found = false;
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
