#include "cost/alike.h"

#include "base/assert.h"
#include "base/list.h"

#include <stdlib.h>
#include <string.h>

/* Tasks first, then links: node numbers. */
struct node {
	uint64_t sign; /* hash of its own figures and of all its edges with their far kinds */
	int32_t kind;   /* or -1 */
	int32_t before; /* the kind that the signs of its neighbours know */
	bool touched;   /* its sign has changed */
};

/* A node whose sign has changed. */
struct touch {
	uint64_t sign;
	int32_t kind, node;
};

struct fold {
	const struct fair *f;
	int32_t nnodes;
	struct node *node;
	int32_t *owner;      /* [nuses]: task of each use */
	int64_t *by_link;    /* [nuses]: uses by link */
	int64_t *link_first; /* [nlinks + 1]: in by_link */
	int32_t *size;       /* of each kind */
	int32_t nkinds;
	int32_t *moved; /* nodes of a kind that their neighbours do not know */
	int32_t nmoved;
	struct touch *touch;
	int32_t ntouches;
};

/* The bits of a figure to 40 binary digits, that is 12 decimal ones. */
static uint64_t figure(double x)
{
	uint64_t bits;

	memcpy(&bits, &x, sizeof(bits));
	return (bits + (1 << 11)) & ~(uint64_t)((1 << 12) - 1);
}

/* The finaliser of splitmix64. */
static uint64_t mix(uint64_t x)
{
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
	x = (x ^ x >> 27) * 0x94d049bb133111eb;
	return x ^ x >> 31;
}

/* What an edge adds to the sign of a node at its end; nothing to a kind not yet known. */
static uint64_t edge(const struct fair_use *u, int32_t kind)
{
	if (kind < 0)
		return 0;
	return mix(mix(figure(u->bytes)) + 0x9e3779b97f4a7c15 * (uint64_t)(kind + 1));
}

/* The uses of each link one after another. */
static void index_links(struct fold *w)
{
	const struct fair *f = w->f;
	int64_t *at = w->link_first;

	memset(at, 0, ((size_t)f->nlinks + 1) * sizeof(*at));
	for (int64_t i = 0; i < f->nuses; i++)
		at[f->use[i].link + 1]++;
	for (int32_t l = 0; l < f->nlinks; l++)
		at[l + 1] += at[l];
	for (int32_t t = 0; t < f->ntasks; t++)
		for (int64_t k = 0; k < f->task[t].nuses; k++) {
			int64_t i = f->task[t].first + k;

			w->owner[i] = t;
			w->by_link[at[f->use[i].link]++] = i;
		}
	memmove(at + 1, at, (size_t)f->nlinks * sizeof(*at));
	at[0] = 0;
}

static void touch(struct fold *w, int32_t node)
{
	if (!w->node[node].touched)
		w->touch[w->ntouches++].node = node;
	w->node[node].touched = true;
}

static uint64_t own_sign(const struct fair *f, int32_t node)
{
	if (node >= f->ntasks)
		return mix(figure(f->link_Bps[node - f->ntasks])) + 1;
	return mix(mix(figure(f->task[node].after_s)) + figure(f->task[node].latency_s));
}

static void fold_open(struct fold *w, const struct fair *f)
{
	size_t nodes = (size_t)f->ntasks + (size_t)f->nlinks, uses = (size_t)f->nuses;

	assert(nodes < INT32_MAX);
	*w = (struct fold){.f = f, .nnodes = (int32_t)nodes, .nkinds = 1};
	w->node = memset(xmalloc(nodes, sizeof(*w->node)), 0, nodes * sizeof(*w->node));
	w->owner = xmalloc(uses, sizeof(*w->owner));
	w->by_link = xmalloc(uses, sizeof(*w->by_link));
	w->link_first = xmalloc((size_t)f->nlinks + 1, sizeof(*w->link_first));
	w->size = xmalloc(nodes + 1, sizeof(*w->size));
	w->moved = xmalloc(nodes, sizeof(*w->moved));
	w->touch = xmalloc(nodes, sizeof(*w->touch));
	index_links(w);
	w->size[0] = w->nnodes;
	for (int32_t i = 0; i < w->nnodes; i++) {
		w->node[i].before = -1;
		w->node[i].sign = own_sign(f, i);
		touch(w, i);
	}
}

static void fold_close(struct fold *w)
{
	xfree(w->node);
	xfree(w->owner);
	xfree(w->by_link);
	xfree(w->link_first);
	xfree(w->size);
	xfree(w->moved);
	xfree(w->touch);
}

static int compare_touches(const void *a, const void *b)
{
	const struct touch *p = a, *q = b;

	if (p->kind != q->kind)
		return p->kind < q->kind ? -1 : 1;
	if (p->sign != q->sign)
		return p->sign < q->sign ? -1 : 1;
	return p->node < q->node ? -1 : p->node > q->node;
}

/* The end of the run of touches from `i` that have its kind and, if asked, its sign. */
static int32_t run_end(const struct fold *w, int32_t i, bool sign)
{
	const struct touch *t = &w->touch[i];
	int32_t j = i + 1;

	while (j < w->ntouches && w->touch[j].kind == t->kind &&
	       (!sign || w->touch[j].sign == t->sign))
		j++;
	return j;
}

/*
 * Parts a kind whose touched nodes are those from i to end: each sign gets a new kind, but
 * for those that were not touched or, if all were, the most of one sign.
 */
static void part_kind(struct fold *w, int32_t i, int32_t end)
{
	int32_t kind = w->touch[i].kind, kept = -1, most = 0;

	if (end - i == w->size[kind])
		for (int32_t j = i, next; j < end; j = next) {
			next = run_end(w, j, true);
			if (next - j <= most)
				continue;
			most = next - j;
			kept = j;
		}
	for (int32_t next; i < end; i = next) {
		next = run_end(w, i, true);
		if (i == kept)
			continue;
		w->size[kind] -= next - i;
		w->size[w->nkinds] = next - i;
		for (int32_t j = i; j < next; j++) {
			w->node[w->touch[j].node].kind = w->nkinds;
			w->moved[w->nmoved++] = w->touch[j].node;
		}
		w->nkinds++;
	}
}

static void part_kinds(struct fold *w)
{
	w->nmoved = 0;
	for (int32_t i = 0; i < w->ntouches; i++) {
		struct node *node = &w->node[w->touch[i].node];

		node->touched = false;
		w->touch[i].sign = node->sign;
		w->touch[i].kind = node->kind;
	}
	qsort(w->touch, (size_t)w->ntouches, sizeof(*w->touch), compare_touches);
	for (int32_t i = 0, next; i < w->ntouches; i = next) {
		next = run_end(w, i, false);
		part_kind(w, i, next);
	}
	w->ntouches = 0;
}

/* Number of the edges of a node. */
static int64_t degree(const struct fold *w, int32_t node)
{
	int64_t tasks = w->f->ntasks;

	return node < tasks
	               ? w->f->task[node].nuses
	               : w->link_first[node - tasks + 1] - w->link_first[node - tasks];
}

/* Use number `k` of a node's, and the node at its other end. */
static const struct fair_use *neighbour(const struct fold *w, int32_t node, int64_t k,
                                        int32_t *other)
{
	int64_t tasks = w->f->ntasks;
	int64_t i = node < tasks ? w->f->task[node].first + k
	                         : w->by_link[w->link_first[node - tasks] + k];
	const struct fair_use *u = &w->f->use[i];

	*other = node < tasks ? (int32_t)tasks + u->link : w->owner[i];
	return u;
}

/* Tells the neighbours of a node its kind. */
static void tell(struct fold *w, int32_t node)
{
	struct node *n = &w->node[node];

	for (int64_t k = degree(w, node); k--;) {
		int32_t other;
		const struct fair_use *u = neighbour(w, node, k, &other);

		w->node[other].sign += edge(u, n->kind) - edge(u, n->before);
		touch(w, other);
	}
	n->before = n->kind;
}

static void refine(struct fold *w)
{
	part_kinds(w);
	for (int32_t i = 0; i < w->nnodes; i++)
		tell(w, i);
	while (w->ntouches) {
		part_kinds(w);
		for (int32_t i = 0; i < w->nmoved; i++)
			tell(w, w->moved[i]);
	}
}

/* ---- one of each kind ---- */

/* An edge as all nodes of a kind have it. */
struct end {
	uint64_t figure; /* of the bytes */
	int64_t kind;    /* of the other end */
	double bytes;
};

/* The kinds by the first node of each, with its edges in order. */
struct kinds {
	int32_t *first;   /* [nkinds]: node, or -1 */
	int64_t *ends_at; /* [nkinds]: its edges in `end` */
	int32_t *number; /* [nkinds]: among the tasks or the links of one of each kind */
	LIST(struct end) end;
};

static int compare_ends(const void *a, const void *b)
{
	const struct end *p = a, *q = b;

	if (p->kind != q->kind)
		return p->kind < q->kind ? -1 : 1;
	return p->figure < q->figure ? -1 : p->figure > q->figure;
}

/* Are n edges alike, in order? */
static bool same_ends(const struct end *a, const struct end *b, int64_t n)
{
	for (int64_t k = 0; k < n; k++)
		if (compare_ends(&a[k], &b[k]) != 0)
			return false;
	return true;
}

/* The edges of the node, in order, behind those in `end`. */
static struct end *node_ends(struct kinds *q, const struct fold *w, int32_t node)
{
	int64_t n = degree(w, node);
	struct end *end;

	list_reserve(&q->end, NULL, n);
	end = q->end.at + q->end.n;
	for (int64_t k = 0; k < n; k++) {
		int32_t other;
		const struct fair_use *u = neighbour(w, node, k, &other);

		end[k] = (struct end){figure(u->bytes), w->node[other].kind, u->bytes};
	}
	qsort(end, (size_t)n, sizeof(*end), compare_ends);
	return end;
}

/* Have the two nodes, both tasks or both links, equal figures of their own? */
static bool same_figures(const struct fair *f, int32_t a, int32_t b)
{
	const struct fair_task *p, *q;

	if ((a < f->ntasks) != (b < f->ntasks))
		return false;
	if (a >= f->ntasks)
		return figure(f->link_Bps[a - f->ntasks]) ==
		       figure(f->link_Bps[b - f->ntasks]);
	p = &f->task[a];
	q = &f->task[b];
	return figure(p->after_s) == figure(q->after_s) &&
	       figure(p->latency_s) == figure(q->latency_s);
}

/* The first node of each kind; false if another one differs from it. */
static bool kinds_check(struct kinds *q, const struct fold *w)
{
	memset(q->first, -1, (size_t)w->nkinds * sizeof(*q->first));
	for (int32_t i = 0; i < w->nnodes; i++) {
		int32_t kind = w->node[i].kind, first = q->first[kind];
		int64_t n = degree(w, i);
		const struct end *end = node_ends(q, w, i);

		if (first < 0) {
			q->first[kind] = i;
			q->ends_at[kind] = q->end.n;
			q->end.n += n;
			continue;
		}
		if (!same_figures(w->f, first, i) || degree(w, first) != n ||
		    !same_ends(end, q->end.at + q->ends_at[kind], n))
			return false;
	}
	return true;
}

/* How many edges like that one the first node of a kind has. */
static int32_t count_ends(const struct kinds *q, const struct fold *w, int64_t kind,
                          const struct end *like)
{
	const struct end *end = q->end.at + q->ends_at[kind];
	int64_t low = 0, high = degree(w, q->first[kind]), n = 0;

	for (int64_t top = high; low < top;) {
		int64_t middle = low + (top - low) / 2;

		if (compare_ends(&end[middle], like) < 0)
			low = middle + 1;
		else
			top = middle;
	}
	while (low + n < high && compare_ends(&end[low + n], like) == 0)
		n++;
	return (int32_t)n;
}

/*
 * The task of a kind, with a use for every kind of its links and bytes on them: those of
 * an edge, not rounded, for the rule asks to 13 digits whether a link is full.
 */
static void add_task(struct fair *out, const struct kinds *q, const struct fold *w,
                     int32_t node)
{
	int32_t kind = w->node[node].kind;
	const struct end *end = q->end.at + q->ends_at[kind];
	struct fair_task *t = &out->task[out->ntasks++];

	*t = w->f->task[node];
	t->first = out->nuses;
	for (int64_t k = 0; k < degree(w, node); k++) {
		struct end back = {end[k].figure, kind, 0};

		if (k && compare_ends(&end[k], &end[k - 1]) == 0)
			continue;
		out->use[out->nuses++] = (struct fair_use){
			q->number[end[k].kind], count_ends(q, w, end[k].kind, &back),
			end[k].bytes};
	}
	t->nuses = out->nuses - t->first;
}

static void add_kinds(struct fair *out, struct kinds *q, const struct fold *w)
{
	int64_t tasks = w->f->ntasks;

	*out = (struct fair){0};
	out->task = xmalloc((size_t)w->nkinds, sizeof(*out->task));
	out->link_Bps = xmalloc((size_t)w->nkinds, sizeof(*out->link_Bps));
	out->use = xmalloc((size_t)q->end.n, sizeof(*out->use));
	for (int32_t i = (int32_t)tasks; i < w->nnodes; i++) {
		if (q->first[w->node[i].kind] != i)
			continue;
		q->number[w->node[i].kind] = out->nlinks;
		out->link_Bps[out->nlinks++] = w->f->link_Bps[i - tasks];
	}
	for (int32_t i = 0; i < tasks; i++)
		if (q->first[w->node[i].kind] == i)
			add_task(out, q, w, i);
}

bool alike_fold(struct fair *out, const struct fair *f)
{
	struct fold w;
	struct kinds q = {0};
	bool fine;

	fold_open(&w, f);
	refine(&w);
	q.first = xmalloc((size_t)w.nkinds, sizeof(*q.first));
	q.ends_at = xmalloc((size_t)w.nkinds, sizeof(*q.ends_at));
	q.number = xmalloc((size_t)w.nkinds, sizeof(*q.number));
	fine = kinds_check(&q, &w);
	if (fine)
		add_kinds(out, &q, &w);
	xfree(q.first);
	xfree(q.ends_at);
	xfree(q.number);
	xfree(q.end.at);
	fold_close(&w);
	return fine;
}
