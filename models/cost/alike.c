#include "cost/alike.h"

#include "base/list.h"
#include "cost/alike_refine.h"

#include <stdlib.h>
#include <string.h>

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
	int64_t n = fold_degree(fold, node);
	struct end *end;

	list_reserve(&kinds->end, NULL, n);
	end = kinds->end.at + kinds->end.n;
	for (int64_t k = 0; k < n; k++) {
		int32_t other;
		double bytes = fold_neighbour(fold, node, k, &other);

		end[k] = (struct end){fold_figure(bytes), fold->node[other].kind, bytes};
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
		return fold_figure(f->link_Bps[a - f->ntasks]) ==
		       fold_figure(f->link_Bps[b - f->ntasks]);
	p = &f->task[a];
	q = &f->task[b];
	return fold_figure(p->after_s) == fold_figure(q->after_s) &&
	       fold_figure(p->latency_s) == fold_figure(q->latency_s);
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
		int64_t n = fold_degree(fold, i);
		const struct end *end = node_ends(kinds, fold, i);

		if (first < 0) {
			kinds->first[kind] = i;
			kinds->ends_at[kind] = kinds->end.n;
			kinds->end.n += n;
			continue;
		}
		if (!same_figures(fold->f, first, i) || fold_degree(fold, first) != n ||
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
	int64_t low = 0, high = fold_degree(fold, kinds->first[kind]), n = 0;

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
	for (int64_t k = 0; k < fold_degree(fold, node); k++) {
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
	if (!fold_refine(&fold, most_tasks)) {
		fold_close(&fold);
		return false;
	}
	fold_index(&fold);
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
