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
	LIST(int32_t) piece_of; /* by task that is the first of a piece: which */
	LIST(struct piece) piece;
};

struct pieces *pieces_new(const struct machine *m)
{
	struct pieces *w = xmalloc(1, sizeof(*w));
	size_t n = m->nlinks ? (size_t)m->nlinks : 1;

	*w = (struct pieces){.routes = routes_new(m)};
	w->use = xmalloc(n, sizeof(*w->use));
	memset(w->use, 0, n * sizeof(*w->use));
	return w;
}

void pieces_free(struct pieces *w)
{
	if (!w)
		return;
	routes_free(w->routes);
	xfree(w->use);
	xfree(w->route.at);
	xfree(w->first.at);
	xfree(w->parent.at);
	xfree(w->task.at);
	xfree(w->piece_of.at);
	xfree(w->piece.at);
	xfree(w);
}

/* Adds the routes of task number `i`, and joins it with those it shares links with. */
static enum pieces_status add_routes(struct pieces *w, const struct schedule *s,
                                     const struct task *t, int32_t i)
{
	w->first.at[i] = w->route.n;
	for (int64_t k = 0; k < t->nmessages; k++) {
		const struct message *msg = &s->message[t->first + k];
		int n;
		const int32_t *links =
			routes_find(&n, w->routes, msg->fabric, msg->src, msg->dst);

		if (n < 0)
			return PIECES_NO_ROUTE;
		if (w->route.n + 1 + n > PIECES_LINKS_MAX)
			return PIECES_TOO_LARGE;
		list_reserve(&w->route, NULL, 1 + n);
		w->route.at[w->route.n++] = n;
		for (int l = 0; l < n; l++) {
			struct use *use = &w->use[links[l]];

			w->route.at[w->route.n++] = links[l];
			if (use->round == w->rounds && use->task != i)
				sets_join(w->parent.at, i, use->task);
			*use = (struct use){w->rounds, i};
		}
	}
	return PIECES_OK;
}

/* Lists the tasks piece by piece: counted, then filled in. */
static void part_tasks(struct pieces *w, int32_t ntasks)
{
	int32_t at = 0;

	w->piece.n = 0;
	list_reserve(&w->task, NULL, ntasks);
	list_reserve(&w->piece_of, NULL, ntasks);
	for (int32_t i = 0; i < ntasks; i++) {
		int32_t first = sets_of(w->parent.at, i);

		if (first == i) {
			w->piece_of.at[i] = (int32_t)w->piece.n;
			*list_add(&w->piece, NULL) = (struct piece){.ntasks = 0};
		}
		w->piece.at[w->piece_of.at[first]].ntasks++;
	}
	for (int64_t p = 0; p < w->piece.n; p++) {
		w->piece.at[p].task = w->task.at + at;
		at += w->piece.at[p].ntasks;
		w->piece.at[p].ntasks = 0;
	}
	for (int32_t i = 0; i < ntasks; i++) {
		int32_t first = sets_of(w->parent.at, i);
		struct piece *p = &w->piece.at[w->piece_of.at[first]];

		w->task.at[p->task - w->task.at + p->ntasks++] = i;
	}
}

enum pieces_status pieces_find(const struct piece **out, int32_t *n, struct pieces *w,
                               const struct schedule *s, const struct round *r)
{
	int32_t ntasks = (int32_t)r->ntasks;

	assert(r->ntasks < INT32_MAX);
	w->rounds++;
	w->route.n = 0;
	list_reserve(&w->first, NULL, ntasks);
	list_reserve(&w->parent, NULL, ntasks);
	sets_apart(w->parent.at, ntasks);
	for (int32_t i = 0; i < ntasks; i++) {
		enum pieces_status status = add_routes(w, s, &s->task[r->first + i], i);

		if (status != PIECES_OK)
			return status;
	}
	part_tasks(w, ntasks);
	*out = w->piece.at;
	*n = (int32_t)w->piece.n;
	return PIECES_OK;
}

const int32_t *pieces_routes(const struct pieces *w, int32_t task)
{
	return w->route.at + w->first.at[task];
}
