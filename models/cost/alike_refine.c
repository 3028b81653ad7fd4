#include "cost/alike_refine.h"

#include "base/assert.h"
#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

/* Where nodes have moved with one edge of so many or more, all edges are gone through. */
enum { MOST_EDGES = 4 };

/* A node whose sign has changed. */
struct touch {
	uint64_t sign;
	int32_t kind, node;
};

uint64_t fold_figure(double x)
{
	uint64_t bits;

	memcpy(&bits, &x, sizeof(bits));
	return (bits + (1 << 11)) & ~(uint64_t)((1 << 12) - 1);
}

/* Returns what the bytes of an edge are for edge_sign(). */
static uint64_t bytes_sign(double bytes)
{
	return hash_word(fold_figure(bytes));
}

/*
 * Returns what an edge adds to the sign of a node at its end: 0 while the kind of the
 * other end is not known.
 */
static uint64_t edge_sign(uint64_t bytes, int32_t kind)
{
	if (kind < 0)
		return 0;
	return hash_word(bytes + 0x9e3779b97f4a7c15 * (uint64_t)(kind + 1));
}

/* Counts the uses of each link. */
static void count_links(struct fold *fold)
{
	const struct fair *f = fold->f;
	int64_t *at = fold->link_first;

	memset(at, 0, ((size_t)f->nlinks + 1) * sizeof(*at));
	for (int64_t t = 0; t < f->ntasks; t++)
		for (int64_t k = 0; k < f->task[t].nuses; k++)
			at[fair_use_of(f, &f->task[t], k).link + 1]++;
	for (int32_t l = 0; l < f->nlinks; l++)
		at[l + 1] += at[l];
}

void fold_index(struct fold *fold)
{
	const struct fair *f = fold->f;
	int64_t *at = fold->link_first;

	if (fold->by_link)
		return;
	assert(f->nuses < INT32_MAX);
	fold->by_link = xmalloc((size_t)f->nuses, sizeof(*fold->by_link));
	if (f->use)
		fold->nth = xmalloc((size_t)f->nuses, sizeof(*fold->nth));
	for (int32_t t = 0; t < f->ntasks; t++)
		for (int64_t k = 0; k < f->task[t].nuses; k++) {
			int64_t i = at[fair_use_of(f, &f->task[t], k).link]++;

			fold->by_link[i] = t;
			if (fold->nth)
				fold->nth[i] = (int32_t)k;
		}
	memmove(at + 1, at, (size_t)f->nlinks * sizeof(*at));
	at[0] = 0;
}

static void touch_node(struct fold *fold, int32_t node)
{
	if (!fold->node[node].touched)
		fold->touch[fold->ntouches++].node = node;
	fold->node[node].touched = true;
}

static uint64_t own_sign(const struct fair *f, int32_t node)
{
	if (node >= f->ntasks)
		return hash_word(fold_figure(f->link_Bps[node - f->ntasks])) + 1;
	return hash_word(hash_word(fold_figure(f->task[node].after_s)) +
	                 fold_figure(f->task[node].latency_s));
}

void fold_open(struct fold *fold, const struct fair *f)
{
	size_t nodes = (size_t)f->ntasks + (size_t)f->nlinks;

	assert(nodes < INT32_MAX);
	*fold = (struct fold){.f = f, .nnodes = (int32_t)nodes, .nkinds = 1};
	fold->node = memset(xmalloc(nodes, sizeof(*fold->node)), 0,
	                    nodes * sizeof(*fold->node));
	fold->link_first = xmalloc((size_t)f->nlinks + 1, sizeof(*fold->link_first));
	count_links(fold);
	fold->size = xmalloc(nodes + 1, sizeof(*fold->size));
	fold->moved = xmalloc(nodes, sizeof(*fold->moved));
	fold->touch = xmalloc(nodes, sizeof(*fold->touch));
	fold->size[0] = fold->nnodes;
	for (int32_t i = 0; i < fold->nnodes; i++) {
		fold->node[i].before = -1;
		fold->node[i].sign = own_sign(f, i);
		touch_node(fold, i);
	}
}

void fold_close(struct fold *fold)
{
	xfree(fold->node);
	xfree(fold->nth);
	xfree(fold->by_link);
	xfree(fold->link_first);
	xfree(fold->size);
	xfree(fold->moved);
	xfree(fold->touch);
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

/*
 * Returns the end of the run of touches that begins at `i` and has one kind and, if
 * `sign` is set, one sign.
 */
static int32_t run_end(const struct fold *fold, int32_t i, bool sign)
{
	const struct touch *t = &fold->touch[i];
	int32_t j = i + 1;

	while (j < fold->ntouches && fold->touch[j].kind == t->kind &&
	       (!sign || fold->touch[j].sign == t->sign))
		j++;
	return j;
}

/*
 * Parts a kind whose touched nodes are the touches [i, end). Each sign becomes a new
 * kind; the old kind stays with the nodes that were not touched or, if all were, with
 * the sign that most nodes have.
 */
static void part_kind(struct fold *fold, int32_t i, int32_t end)
{
	int32_t kind = fold->touch[i].kind, kept = -1, most = 0;

	if (end - i == fold->size[kind])
		for (int32_t j = i, next; j < end; j = next) {
			next = run_end(fold, j, true);
			if (next - j <= most)
				continue;
			most = next - j;
			kept = j;
		}
	for (int32_t next; i < end; i = next) {
		next = run_end(fold, i, true);
		if (i == kept)
			continue;
		fold->size[kind] -= next - i;
		fold->size[fold->nkinds] = next - i;
		for (int32_t j = i; j < next; j++) {
			fold->node[fold->touch[j].node].kind = fold->nkinds;
			fold->moved[fold->nmoved++] = fold->touch[j].node;
		}
		fold->nkinds++;
	}
}

static void part_kinds(struct fold *fold)
{
	fold->nmoved = 0;
	for (int32_t i = 0; i < fold->ntouches; i++) {
		struct node *node = &fold->node[fold->touch[i].node];

		node->touched = false;
		fold->touch[i].sign = node->sign;
		fold->touch[i].kind = node->kind;
	}
	qsort(fold->touch, (size_t)fold->ntouches, sizeof(*fold->touch),
	      compare_touches);
	for (int32_t i = 0, next; i < fold->ntouches; i = next) {
		next = run_end(fold, i, false);
		part_kind(fold, i, next);
	}
	fold->ntouches = 0;
}

int64_t fold_degree(const struct fold *fold, int32_t node)
{
	int64_t tasks = fold->f->ntasks;

	return node < tasks ? fold->f->task[node].nuses
	                    : fold->link_first[node - tasks + 1] -
	                              fold->link_first[node - tasks];
}

double fold_neighbour(const struct fold *fold, int32_t node, int64_t k, int32_t *other)
{
	const struct fair *f = fold->f;
	struct fair_use u;
	int64_t i;

	if (node < f->ntasks) {
		u = fair_use_of(f, &f->task[node], k);
		*other = (int32_t)f->ntasks + u.link;
		return u.bytes;
	}
	i = fold->link_first[node - f->ntasks] + k;
	*other = fold->by_link[i];
	return fold->nth ? f->use[f->task[*other].first + fold->nth[i]].bytes
	                 : f->bytes[*other];
}

/* Tells a node at one end of an edge the kind of the other one, if that is new. */
static void tell(struct fold *fold, int32_t to, const struct node *of, uint64_t bytes)
{
	if (of->kind == of->before)
		return;
	fold->node[to].sign += edge_sign(bytes, of->kind) - edge_sign(bytes, of->before);
	touch_node(fold, to);
}

/* Tells the neighbours of a node that has moved its kind. */
static void tell_neighbours(struct fold *fold, int32_t node)
{
	for (int64_t k = fold_degree(fold, node); k--;) {
		int32_t other;
		double bytes = fold_neighbour(fold, node, k, &other);

		tell(fold, other, &fold->node[node], bytes_sign(bytes));
	}
	fold->node[node].before = fold->node[node].kind;
}

/*
 * Does it for all that have moved, in one way through the edges as they lie: where these
 * have most of the edges that takes less time, and no lists.
 */
static void tell_all(struct fold *fold)
{
	const struct fair *f = fold->f;
	int32_t tasks = (int32_t)f->ntasks;
	uint64_t sign = 0;

	for (int32_t t = 0; t < tasks; t++) {
		double bytes = -1;

		for (int64_t k = 0; k < f->task[t].nuses; k++) {
			struct fair_use u = fair_use_of(f, &f->task[t], k);

			if (u.bytes != bytes)
				sign = bytes_sign(u.bytes);
			bytes = u.bytes;
			tell(fold, tasks + u.link, &fold->node[t], sign);
			tell(fold, t, &fold->node[tasks + u.link], sign);
		}
	}
	for (int32_t i = 0; i < fold->nnodes; i++)
		fold->node[i].before = fold->node[i].kind;
}

/* Tells the neighbours of the nodes that part_kinds() has moved. */
static void tell_moved(struct fold *fold)
{
	int64_t edges = 0;

	for (int32_t i = 0; i < fold->nmoved; i++)
		edges += fold_degree(fold, fold->moved[i]);
	if (edges > fold->f->nuses / MOST_EDGES) {
		tell_all(fold);
		return;
	}
	fold_index(fold);
	for (int32_t i = 0; i < fold->nmoved; i++)
		tell_neighbours(fold, fold->moved[i]);
}

bool fold_refine(struct fold *fold, int64_t most_tasks)
{
	part_kinds(fold);
	for (tell_all(fold); fold->ntouches; tell_moved(fold)) {
		part_kinds(fold);
		if (fold->nkinds - fold->f->nlinks > most_tasks)
			return false;
	}
	return true;
}
