/*
 * Parts the tasks and links of a system into kinds by refining colours, for cost/alike.h,
 * which says what for. Private to cost/alike*.c.
 */
#ifndef SHARDSIM_COST_ALIKE_REFINE_H
#define SHARDSIM_COST_ALIKE_REFINE_H

#include "cost/fair.h"

/* A task or a link. Nodes are numbered with all tasks first, then all links. */
struct node {
	uint64_t sign;  /* hash of its figures, its edges and the kinds at their ends */
	int32_t kind;   /* or -1 */
	int32_t before; /* the kind that is in the signs of its neighbours */
	bool touched;   /* its sign has changed */
};

struct fold {
	const struct fair *f;
	int32_t nnodes;
	struct node *node;
	int64_t *link_first; /* [nlinks + 1]: in by_link */
	/* Listed when links are first asked for their neighbours, until then NULL: */
	int32_t *by_link; /* [nuses]: tasks by link */
	int32_t *nth;  /* [nuses]: which of a task's uses it is; NULL without f->use */
	int32_t *size; /* of each kind */
	int32_t nkinds;
	int32_t *moved; /* nodes whose neighbours' signs lack their new kind */
	int32_t nmoved;
	struct touch *touch; /* those that have changed */
	int32_t ntouches;
};

/* Makes all nodes of the system, which is borrowed, one kind. fold_close() frees it. */
void fold_open(struct fold *fold, const struct fair *f);
void fold_close(struct fold *fold);

/*
 * Parts kinds until all nodes of each have equal figures and equal edges to equal kinds.
 * Returns false if there are more than so many kinds of tasks. What it finds rests on
 * hashes.
 */
bool fold_refine(struct fold *fold, int64_t most_tasks);

/* Lists the uses by link, those of each link one after another, if that is not done. */
void fold_index(struct fold *fold);

/* Returns the number of edges of a node. */
int64_t fold_degree(const struct fold *fold, int32_t node);

/*
 * Returns the bytes of use number `k` of a node, and stores the node at its other end. Of
 * links only after fold_index().
 */
double fold_neighbour(const struct fold *fold, int32_t node, int64_t k, int32_t *other);

/* Returns the bits of a figure rounded to 40 binary digits, that is 12 decimal ones. */
uint64_t fold_figure(double x);

#endif
