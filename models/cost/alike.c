#include "cost/alike.h"

#include "base/assert.h"
#include "base/hash.h"
#include "base/list.h"

#include <stdlib.h>
#include <string.h>

/* A task or a link. Nodes are numbered with all tasks first, then all links. */
struct node {
	uint64_t sign;  /* hash of its figures, its edges and the kinds at their ends */
	int32_t kind;   /* or -1 */
	int32_t before; /* the kind that is in the signs of its neighbours */
	bool touched;   /* its sign has changed */
};

/* A node whose sign has changed. */
struct touch {
	uint64_t sign;
	int32_t kind, node;
};

/* Where nodes have moved with one edge of so many or more, all edges are gone through. */
enum { MOST_EDGES = 4 };

struct fold {
	const struct fair *f;
	int32_t nnodes;
	struct node *node;
	int64_t *link_first; /* [nlinks + 1]: in by_link */
	/* Listed when links are first asked for their neighbours, until then NULL: */
	int32_t *by_link; /* [nuses]: tasks by link */
	int32_t *nth;     /* [nuses]: which of its task's uses that is; NULL without f->use */
	int32_t *size;    /* of each kind */
	int32_t nkinds;
	int32_t *moved; /* nodes whose neighbours' signs lack their new kind */
	int32_t nmoved;
	struct touch *touch;
	int32_t ntouches;
};

/* Returns the bits of a figure rounded to 40 binary digits, that is 12 decimal ones. */
static uint64_t figure_bits(double x)
{
	uint64_t bits;

	memcpy(&bits, &x, sizeof(bits));
	return (bits + (1 << 11)) & ~(uint64_t)((1 << 12) - 1);
}

/* Returns what the bytes of an edge are for edge_sign(). */
static uint64_t bytes_sign(double bytes)
{
	return hash_word(figure_bits(bytes));
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

/* Lists the uses by link, those of each link one after another, if that is not done. */
static void index_links(struct fold *fold)
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
		return hash_word(figure_bits(f->link_Bps[node - f->ntasks])) + 1;
	return hash_word(hash_word(figure_bits(f->task[node].after_s)) +
	                 figure_bits(f->task[node].latency_s));
}

static void fold_open(struct fold *fold, const struct fair *f)
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

static void fold_close(struct fold *fold)
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

/* Returns the number of edges of a node. */
static int64_t degree(const struct fold *fold, int32_t node)
{
	int64_t tasks = fold->f->ntasks;

	return node < tasks ? fold->f->task[node].nuses
	                    : fold->link_first[node - tasks + 1] -
	                              fold->link_first[node - tasks];
}

/* Returns the bytes of use number `k` of a node, and stores the node at its other end. */
static double neighbour(const struct fold *fold, int32_t node, int64_t k, int32_t *other)
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
	for (int64_t k = degree(fold, node); k--;) {
		int32_t other;
		double bytes = neighbour(fold, node, k, &other);

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
		edges += degree(fold, fold->moved[i]);
	if (edges > fold->f->nuses / MOST_EDGES) {
		tell_all(fold);
		return;
	}
	index_links(fold);
	for (int32_t i = 0; i < fold->nmoved; i++)
		tell_neighbours(fold, fold->moved[i]);
}

/* Returns false if there are more than so many kinds of tasks. */
static bool refine(struct fold *fold, int64_t most_tasks)
{
	part_kinds(fold);
	for (tell_all(fold); fold->ntouches; tell_moved(fold)) {
		part_kinds(fold);
		if (fold->nkinds - fold->f->nlinks > most_tasks)
			return false;
	}
	return true;
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

/* Returns whether n edges are alike, in order. */
static bool same_ends(const struct end *a, const struct end *b, int64_t n)
{
	for (int64_t k = 0; k < n; k++)
		if (compare_ends(&a[k], &b[k]) != 0)
			return false;
	return true;
}

/*
 * Writes the edges of the node, in order, behind those in `end`, and returns the first.
 */
static struct end *node_ends(struct kinds *kinds, const struct fold *fold, int32_t node)
{
	int64_t n = degree(fold, node);
	struct end *end;

	list_reserve(&kinds->end, NULL, n);
	end = kinds->end.at + kinds->end.n;
	for (int64_t k = 0; k < n; k++) {
		int32_t other;
		double bytes = neighbour(fold, node, k, &other);

		end[k] = (struct end){figure_bits(bytes), fold->node[other].kind, bytes};
	}
	qsort(end, (size_t)n, sizeof(*end), compare_ends);
	return end;
}

/*
 * Returns whether the two nodes, both tasks or both links, have equal figures of their
 * own.
 */
static bool same_figures(const struct fair *f, int32_t a, int32_t b)
{
	const struct fair_task *p, *q;

	if ((a < f->ntasks) != (b < f->ntasks))
		return false;
	if (a >= f->ntasks)
		return figure_bits(f->link_Bps[a - f->ntasks]) ==
		       figure_bits(f->link_Bps[b - f->ntasks]);
	p = &f->task[a];
	q = &f->task[b];
	return figure_bits(p->after_s) == figure_bits(q->after_s) &&
	       figure_bits(p->latency_s) == figure_bits(q->latency_s);
}

/*
 * Finds the first node of each kind. Returns false if another node of a kind differs
 * from it.
 */
static bool kinds_check(struct kinds *kinds, const struct fold *fold)
{
	memset(kinds->first, -1, (size_t)fold->nkinds * sizeof(*kinds->first));
	for (int32_t i = 0; i < fold->nnodes; i++) {
		int32_t kind = fold->node[i].kind, first = kinds->first[kind];
		int64_t n = degree(fold, i);
		const struct end *end = node_ends(kinds, fold, i);

		if (first < 0) {
			kinds->first[kind] = i;
			kinds->ends_at[kind] = kinds->end.n;
			kinds->end.n += n;
			continue;
		}
		if (!same_figures(fold->f, first, i) || degree(fold, first) != n ||
		    !same_ends(end, kinds->end.at + kinds->ends_at[kind], n))
			return false;
	}
	return true;
}

/* Returns how many edges like that one the first node of a kind has. */
static int32_t count_ends(const struct kinds *kinds, const struct fold *fold,
                          int64_t kind, const struct end *like)
{
	const struct end *end = kinds->end.at + kinds->ends_at[kind];
	int64_t low = 0, high = degree(fold, kinds->first[kind]), n = 0;

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
 * Adds the task of a kind, with one use for every kind of its links and bytes on them.
 * The bytes are those of one edge, not rounded, for the rule asks to 13 digits whether
 * a link is full.
 */
static void add_task(struct fair *out, const struct kinds *kinds,
                     const struct fold *fold, int32_t node)
{
	int32_t kind = fold->node[node].kind;
	const struct end *end = kinds->end.at + kinds->ends_at[kind];
	struct fair_task *t = &out->task[out->ntasks++];

	*t = fold->f->task[node];
	t->first = out->nuses;
	for (int64_t k = 0; k < degree(fold, node); k++) {
		struct end back = {end[k].figure, kind, 0};

		if (k && compare_ends(&end[k], &end[k - 1]) == 0)
			continue;
		out->use[out->nuses++] = (struct fair_use){
			kinds->number[end[k].kind],
			count_ends(kinds, fold, end[k].kind, &back), end[k].bytes};
	}
	t->nuses = out->nuses - t->first;
}

static void add_kinds(struct fair *out, struct kinds *kinds, const struct fold *fold)
{
	int64_t tasks = fold->f->ntasks;

	*out = (struct fair){0};
	out->task = xmalloc((size_t)fold->nkinds, sizeof(*out->task));
	out->link_Bps = xmalloc((size_t)fold->nkinds, sizeof(*out->link_Bps));
	out->use = xmalloc((size_t)kinds->end.n, sizeof(*out->use));
	for (int32_t i = (int32_t)tasks; i < fold->nnodes; i++) {
		if (kinds->first[fold->node[i].kind] != i)
			continue;
		kinds->number[fold->node[i].kind] = out->nlinks;
		out->link_Bps[out->nlinks++] = fold->f->link_Bps[i - tasks];
	}
	for (int32_t i = 0; i < tasks; i++)
		if (kinds->first[fold->node[i].kind] == i)
			add_task(out, kinds, fold, i);
}

bool alike_fold(struct fair *out, const struct fair *f, int64_t most_tasks)
{
	struct fold fold;
	struct kinds kinds = {0};
	bool fine;
	size_t n;

	fold_open(&fold, f);
	if (!refine(&fold, most_tasks)) {
		fold_close(&fold);
		return false;
	}
	index_links(&fold);
	n = (size_t)fold.nkinds;
	kinds.first = xmalloc(n, sizeof(*kinds.first));
	kinds.ends_at = xmalloc(n, sizeof(*kinds.ends_at));
	kinds.number = xmalloc(n, sizeof(*kinds.number));
	fine = kinds_check(&kinds, &fold);
	if (fine)
		add_kinds(out, &kinds, &fold);
	xfree(kinds.first);
	xfree(kinds.ends_at);
	xfree(kinds.number);
	xfree(kinds.end.at);
	fold_close(&fold);
	return fine;
}
