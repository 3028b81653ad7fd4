#include "cost/pieces.h"

#include "array/routes.h"
#include "base/assert.h"
#include "base/list.h"
#include "base/sets.h"

#include <stdlib.h>
#include <string.h>

/* The round that used a link last, and its last task that did. */
struct use {
	int64_t round;
	int32_t task;
};

struct pieces {
	struct routes *routes;
	struct use *use;        /* [nlinks] */
	int64_t rounds;         /* so far */
	LIST(int32_t) route;    /* of each message: number of links, and the links */
	LIST(int64_t) first;    /* by task: its messages in `route` */
	LIST(int32_t) parent;   /* by task: a union-find */
	LIST(int32_t) task;     /* tasks piece by piece */
	LIST(int32_t) piece_of; /* by the first task of a piece: the piece's number */
	LIST(struct piece) piece;
};

struct pieces *pieces_new(const struct machine *m)
{
	struct pieces *pieces = xmalloc(1, sizeof(*pieces));
	size_t n = m->nlinks ? (size_t)m->nlinks : 1;

	*pieces = (struct pieces){.routes = routes_new(m)};
	pieces->use = xmalloc(n, sizeof(*pieces->use));
	memset(pieces->use, 0, n * sizeof(*pieces->use));
	return pieces;
}

void pieces_free(struct pieces *pieces)
{
	if (!pieces)
		return;
	routes_free(pieces->routes);
	xfree(pieces->use);
	xfree(pieces->route.at);
	xfree(pieces->first.at);
	xfree(pieces->parent.at);
	xfree(pieces->task.at);
	xfree(pieces->piece_of.at);
	xfree(pieces->piece.at);
	xfree(pieces);
}

/*
 * Adds the routes of task number `i`, and joins it with the tasks it shares links with.
 */
static enum pieces_status add_routes(struct pieces *pieces, const struct schedule *s,
                                     const struct task *t, int32_t i)
{
	pieces->first.at[i] = pieces->route.n;
	for (int64_t k = 0; k < t->nmessages; k++) {
		const struct message *msg = &s->message[t->first + k];
		int n;
		const int32_t *links = routes_find(&n, pieces->routes, msg->fabric,
		                                   msg->src, msg->dst);

		if (n < 0)
			return PIECES_NO_ROUTE;
		if (pieces->route.n + 1 + n > PIECES_LINKS_MAX)
			return PIECES_TOO_LARGE;
		list_reserve(&pieces->route, NULL, 1 + n);
		pieces->route.at[pieces->route.n++] = n;
		for (int l = 0; l < n; l++) {
			struct use *use = &pieces->use[links[l]];

			pieces->route.at[pieces->route.n++] = links[l];
			if (use->round == pieces->rounds && use->task != i)
				sets_join(pieces->parent.at, i, use->task);
			*use = (struct use){pieces->rounds, i};
		}
	}
	return PIECES_OK;
}

/*
 * Lists the tasks piece by piece: first counts those of each piece, then fills them in.
 */
static void part_tasks(struct pieces *pieces, int32_t ntasks)
{
	int32_t at = 0;

	pieces->piece.n = 0;
	list_reserve(&pieces->task, NULL, ntasks);
	list_reserve(&pieces->piece_of, NULL, ntasks);
	for (int32_t i = 0; i < ntasks; i++) {
		int32_t first = sets_of(pieces->parent.at, i);

		if (first == i) {
			pieces->piece_of.at[i] = (int32_t)pieces->piece.n;
			*list_add(&pieces->piece, NULL) = (struct piece){.ntasks = 0};
		}
		pieces->piece.at[pieces->piece_of.at[first]].ntasks++;
	}
	for (int64_t p = 0; p < pieces->piece.n; p++) {
		pieces->piece.at[p].task = pieces->task.at + at;
		at += pieces->piece.at[p].ntasks;
		pieces->piece.at[p].ntasks = 0;
	}
	for (int32_t i = 0; i < ntasks; i++) {
		int32_t first = sets_of(pieces->parent.at, i);
		struct piece *p = &pieces->piece.at[pieces->piece_of.at[first]];

		pieces->task.at[p->task - pieces->task.at + p->ntasks++] = i;
	}
}

enum pieces_status pieces_find(const struct piece **out, int32_t *n,
                               struct pieces *pieces, const struct schedule *s,
                               const struct round *r)
{
	int32_t ntasks = (int32_t)r->ntasks;

	assert(r->ntasks < INT32_MAX);
	pieces->rounds++;
	pieces->route.n = 0;
	list_reserve(&pieces->first, NULL, ntasks);
	list_reserve(&pieces->parent, NULL, ntasks);
	sets_apart(pieces->parent.at, ntasks);
	for (int32_t i = 0; i < ntasks; i++) {
		enum pieces_status status =
			add_routes(pieces, s, &s->task[r->first + i], i);

		if (status != PIECES_OK)
			return status;
	}
	part_tasks(pieces, ntasks);
	*out = pieces->piece.at;
	*n = (int32_t)pieces->piece.n;
	return PIECES_OK;
}

const int32_t *pieces_routes(const struct pieces *pieces, int32_t task)
{
	return pieces->route.at + pieces->first.at[task];
}
