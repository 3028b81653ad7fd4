#include "cost/pieces.h"

#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

/* A link's last use: in which round by which task, and its number in a piece. */
struct use {
	int64_t round, task;
	int64_t piece, number;
};

/* An array that grows and is used again. */
struct pool {
	void *at;
	int64_t n, capacity;
};

struct pieces {
	const struct machine *machine;
	struct use *use;     /* [nlinks] */
	int64_t rounds, nth; /* rounds and pieces so far */
	struct pool route;  /* int32_t: number of links and the links of each message */
	struct pool first;  /* int64_t by task: its messages in `route` */
	struct pool parent; /* int64_t by task: union-find */
	struct pool task;   /* int64_t: tasks piece by piece */
	struct pool form;   /* uint64_t */
	struct pool piece;  /* struct piece */
};

struct pieces *pieces_new(const struct machine *m)
{
	struct pieces *w = xmalloc(1, sizeof(*w));
	size_t n = m->nlinks ? (size_t)m->nlinks : 1;

	*w = (struct pieces){.machine = m};
	w->use = xmalloc(n, sizeof(*w->use));
	memset(w->use, 0, n * sizeof(*w->use));
	return w;
}

void pieces_free(struct pieces *w)
{
	if (!w)
		return;
	free(w->use);
	free(w->route.at);
	free(w->first.at);
	free(w->parent.at);
	free(w->task.at);
	free(w->form.at);
	free(w->piece.at);
	free(w);
}

/* Room for `more` items after the first n. */
static void *pool_room(struct pool *p, int64_t more, size_t size)
{
	if (p->n + more > p->capacity) {
		p->capacity = 2 * (p->n + more);
		p->at = xrealloc(p->at, (size_t)p->capacity, size);
	}
	return (char *)p->at + (size_t)p->n * size;
}

static int64_t find(int64_t *parent, int64_t i)
{
	while (parent[i] != i) {
		parent[i] = parent[parent[i]];
		i = parent[i];
	}
	return i;
}

/* The earlier task stands for both. */
static void join(int64_t *parent, int64_t a, int64_t b)
{
	a = find(parent, a);
	b = find(parent, b);
	if (a < b)
		parent[b] = a;
	else
		parent[a] = b;
}

/* Adds the routes of task number `i`, and joins it with those it shares links with. */
static enum pieces_status add_routes(struct pieces *w, const struct schedule *s,
                                     const struct task *t, int64_t i)
{
	int64_t *parent = w->parent.at;

	((int64_t *)w->first.at)[i] = w->route.n;
	for (int64_t k = 0; k < t->nmessages; k++) {
		const struct message *msg = &s->message[t->first + k];
		int32_t *route =
			pool_room(&w->route, ROUTE_LINKS_MAX + 1, sizeof(*route));

		*route = machine_route(w->machine, msg->fabric, msg->src, msg->dst,
		                       route + 1, ROUTE_LINKS_MAX);
		if (*route < 0)
			return PIECES_NO_ROUTE;
		w->route.n += 1 + *route;
		if (w->route.n > PIECES_LINKS_MAX)
			return PIECES_TOO_LARGE;
		for (int32_t l = 1; l <= *route; l++) {
			struct use *use = &w->use[route[l]];

			if (use->round == w->rounds)
				join(parent, i, use->task);
			use->round = w->rounds;
			use->task = i;
		}
	}
	return PIECES_OK;
}

/* Tasks piece by piece: counted, then filled in, as roots come first. */
static void part_tasks(struct pieces *w, int64_t ntasks)
{
	int64_t *parent = w->parent.at, *task;
	struct piece *piece;
	int64_t at = 0;

	w->piece.n = w->task.n = 0;
	task = pool_room(&w->task, 2 * ntasks, sizeof(*task));
	piece = pool_room(&w->piece, ntasks, sizeof(*piece));
	for (int64_t i = 0; i < ntasks; i++) {
		int64_t root = find(parent, i);

		/* beside the tasks: the piece of each root */
		if (root == i) {
			task[ntasks + i] = w->piece.n;
			piece[w->piece.n++] = (struct piece){.ntasks = 0};
		}
		piece[task[ntasks + root]].ntasks++;
	}
	for (int64_t p = 0; p < w->piece.n; p++) {
		piece[p].task = task + at;
		at += piece[p].ntasks;
		piece[p].ntasks = 0;
	}
	for (int64_t i = 0; i < ntasks; i++) {
		struct piece *p = &piece[task[ntasks + find(parent, i)]];

		task[p->task - task + p->ntasks++] = i;
	}
}

static uint64_t bits_of(double x)
{
	uint64_t bits;

	memcpy(&bits, &x, sizeof(bits));
	return bits;
}

/* The form of one task, whose piece is number w->nth; `links` have been used so far. */
static void form_task(struct pieces *w, const struct schedule *s, const struct task *t,
                      const int32_t *route, int64_t *links)
{
	uint64_t *form = pool_room(&w->form, 4, sizeof(*form));

	form[0] = (uint64_t)t->nmessages;
	form[1] = (uint64_t)t->repeats;
	form[2] = bits_of(t->delay_s);
	form[3] = bits_of(t->least_s);
	w->form.n += 4;
	for (int64_t k = 0; k < t->nmessages; k++, route += 1 + *route) {
		form = pool_room(&w->form, 2 + 3 * (int64_t)*route, sizeof(*form));
		*form++ = bits_of(s->message[t->first + k].bytes);
		*form++ = (uint64_t)*route;
		for (int32_t l = 1; l <= *route; l++) {
			const struct link *link = &w->machine->link[route[l]];
			struct use *use = &w->use[route[l]];
			bool known = use->piece == w->nth;

			if (!known) {
				use->piece = w->nth;
				use->number = (*links)++;
			}
			*form++ = (uint64_t)use->number;
			if (known)
				continue;
			*form++ = bits_of(link->bandwidth_Bps);
			*form++ = bits_of(link->latency_s);
		}
		w->form.n = form - (uint64_t *)w->form.at;
	}
}

static void form_pieces(struct pieces *w, const struct schedule *s,
                        const struct round *r)
{
	const int64_t *first = w->first.at;
	struct piece *piece = w->piece.at;
	int64_t from = 0;

	w->form.n = 0;
	for (int64_t p = 0; p < w->piece.n; p++) {
		int64_t links = 0;

		w->nth++;
		for (int64_t i = 0;
		     i < piece[p].ntasks && w->form.n - from <= PIECES_FORM_MAX; i++)
			form_task(w, s, &s->task[r->first + piece[p].task[i]],
			          (int32_t *)w->route.at + first[piece[p].task[i]],
			          &links);
		if (w->form.n - from > PIECES_FORM_MAX)
			w->form.n = from;
		piece[p].nform = w->form.n - from;
		from = w->form.n;
	}
	from = 0;
	for (int64_t p = 0; p < w->piece.n; p++) {
		piece[p].form = (uint64_t *)w->form.at + from;
		piece[p].hash = hash_bytes(HASH_START, piece[p].form,
		                           (size_t)piece[p].nform * sizeof(uint64_t));
		from += piece[p].nform;
	}
}

enum pieces_status pieces_find(const struct piece **out, int64_t *n, struct pieces *w,
                               const struct schedule *s, const struct round *r)
{
	int64_t *parent;

	w->rounds++;
	w->route.n = w->first.n = w->parent.n = 0;
	pool_room(&w->first, r->ntasks, sizeof(int64_t));
	parent = pool_room(&w->parent, r->ntasks, sizeof(*parent));
	for (int64_t i = 0; i < r->ntasks; i++) {
		enum pieces_status status;

		parent[i] = i;
		status = add_routes(w, s, &s->task[r->first + i], i);
		if (status != PIECES_OK)
			return status;
	}
	part_tasks(w, r->ntasks);
	form_pieces(w, s, r);
	*out = w->piece.at;
	*n = w->piece.n;
	return PIECES_OK;
}

const int32_t *pieces_routes(const struct pieces *w, int64_t task)
{
	return (const int32_t *)w->route.at + ((const int64_t *)w->first.at)[task];
}
