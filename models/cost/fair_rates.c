#include "cost/fair_rates.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * The work of making a layer, for each link and task, so that work bounds memory as
 * well.
 */
enum { LAYER_WORK = 100 };

/* The number of passes of a task that is not settled yet. */
#define OPEN INT32_MAX

/* A task on a link. */
struct entry {
	int32_t task, tasks;
	double bytes;
};

/* What one pass found for the links and tasks that are open in it. */
struct layer {
	double *left_Bps; /* of each link, before the pass */
	double *offer_Bps;
	int32_t *open; /* tasks on the link, not settled before */
	double *part;  /* of each task */
};

/* Tasks or links whose figures may differ from those known. */
struct changes {
	int32_t *all, *live; /* live: those that are still open */
	int32_t nall, nlive;
	bool *is_in; /* `all` */
};

struct rates {
	const struct fair *f;
	double precision_Bps;
	struct entry *entry;
	int64_t *first;  /* [nlinks + 1]: entries of each link */
	int32_t *on;     /* [nlinks]: how many of them move */
	int32_t *passes; /* [ntasks]: how many the task was open in */
	int32_t *before; /* `passes` as it was before the changes */
	double *rate;
	struct layer *layer;
	int32_t nlayers;
	struct changes tasks, links;
	int32_t nfound; /* how many of tasks.all the rates were last found of */
	int64_t work, most_work;
};

static void changes_open(struct changes *c, size_t n)
{
	c->all = xmalloc(n, sizeof(*c->all));
	c->live = xmalloc(n, sizeof(*c->live));
	c->is_in = memset(xmalloc(n, sizeof(*c->is_in)), 0, n * sizeof(*c->is_in));
}

static void changes_close(struct changes *c)
{
	xfree(c->all);
	xfree(c->live);
	xfree(c->is_in);
}

static void changes_note(struct changes *c, int32_t i)
{
	if (c->is_in[i])
		return;
	c->is_in[i] = true;
	c->all[c->nall++] = c->live[c->nlive++] = i;
}

static void changes_clear(struct changes *c)
{
	for (int32_t i = 0; i < c->nall; i++)
		c->is_in[c->all[i]] = false;
	c->nall = c->nlive = 0;
}

static void *zeroed(size_t count, size_t size)
{
	return memset(xmalloc(count, size), 0, count * size);
}

static void need_layer(struct rates *r, int32_t p)
{
	size_t links = (size_t)r->f->nlinks, tasks = (size_t)r->f->ntasks;

	if (p < r->nlayers)
		return;
	r->layer = xrealloc(r->layer, (size_t)p + 1, sizeof(*r->layer));
	r->layer[r->nlayers++] =
		(struct layer){.left_Bps = zeroed(links, sizeof(double)),
	                       .offer_Bps = zeroed(links, sizeof(double)),
	                       .open = zeroed(links, sizeof(int32_t)),
	                       .part = zeroed(tasks, sizeof(double))};
	r->work += LAYER_WORK * (int64_t)(links + tasks);
}

struct rates *rates_new(const struct fair *f, double precision_Bps, int64_t most_work)
{
	struct rates *r = xmalloc(1, sizeof(*r));
	size_t tasks = (size_t)f->ntasks, links = (size_t)f->nlinks;

	*r = (struct rates){
		.f = f, .precision_Bps = precision_Bps, .most_work = most_work};
	r->entry = xmalloc((size_t)f->nuses, sizeof(*r->entry));
	r->first = xmalloc(links + 1, sizeof(*r->first));
	r->on = memset(xmalloc(links, sizeof(*r->on)), 0, links * sizeof(*r->on));
	r->passes = xmalloc(tasks, sizeof(*r->passes));
	r->before = xmalloc(tasks, sizeof(*r->before));
	r->rate = xmalloc(tasks, sizeof(*r->rate));
	changes_open(&r->tasks, tasks);
	changes_open(&r->links, links);
	memset(r->first, 0, (links + 1) * sizeof(*r->first));
	for (int64_t i = 0; i < f->nuses; i++)
		r->first[f->use[i].link + 1]++;
	need_layer(r, 0);
	for (size_t l = 0; l < links; l++) {
		r->first[l + 1] += r->first[l];
		r->layer->left_Bps[l] = f->link_Bps[l];
	}
	return r;
}

void rates_free(struct rates *r)
{
	for (int32_t p = 0; p < r->nlayers; p++) {
		xfree(r->layer[p].left_Bps);
		xfree(r->layer[p].offer_Bps);
		xfree(r->layer[p].open);
		xfree(r->layer[p].part);
	}
	xfree(r->layer);
	xfree(r->entry);
	xfree(r->first);
	xfree(r->on);
	xfree(r->passes);
	xfree(r->before);
	xfree(r->rate);
	changes_close(&r->tasks);
	changes_close(&r->links);
	xfree(r);
}

static const struct fair_use *uses(const struct rates *r, int32_t task)
{
	return r->f->use + r->f->task[task].first;
}

void rates_begin(struct rates *r, int32_t task)
{
	const struct fair_use *u = uses(r, task);

	for (int64_t k = r->f->task[task].nuses; k--; u++) {
		r->entry[r->first[u->link] + r->on[u->link]++] =
			(struct entry){task, u->tasks, u->bytes};
		changes_note(&r->links, u->link);
	}
	r->passes[task] = OPEN;
	r->before[task] = 0;
	changes_note(&r->tasks, task);
}

void rates_end(struct rates *r, int32_t task)
{
	const struct fair_use *u = uses(r, task);

	for (int64_t k = r->f->task[task].nuses; k--; u++) {
		struct entry *e = r->entry + r->first[u->link];
		int32_t n = r->on[u->link]--;

		while (e->task != task) {
			e++;
			n--;
		}
		/* the others keep their order, so that their sums stay as they are */
		memmove(e, e + 1, (size_t)(n - 1) * sizeof(*e));
		changes_note(&r->links, u->link);
	}
}

/* Notes that a task may take another part in a pass in which it is open. */
static void touch_task(struct rates *r, int32_t task)
{
	if (r->tasks.is_in[task])
		return;
	changes_note(&r->tasks, task);
	r->before[task] = r->passes[task];
	r->passes[task] = OPEN;
}

/*
 * Notes the tasks that are open on a link in pass p and may take another part, since the
 * link's offer was `before_Bps` and is another one now. A task that is offered less elsewhere,
 * before and now, takes what it took. (A factor stands for the rounding of the division that
 * finds parts.)
 */
static void touch_tasks(struct rates *r, int32_t link, int32_t p, double before_Bps)
{
	const struct entry *e = r->entry + r->first[link];
	const struct layer *layer = &r->layer[p];
	double least_Bps = fmin(before_Bps, layer->offer_Bps[link]) * (1 - 1e-14);

	r->work += r->on[link];
	for (int32_t k = 0; k < r->on[link]; k++) {
		int32_t t = e[k].task;

		if (r->passes[t] > p && !r->tasks.is_in[t] &&
		    layer->part[t] * e[k].bytes >= least_Bps)
			touch_task(r, t);
	}
}

/*
 * Notes the tasks of a link that is full after pass p and was not, or the other way round:
 * those that the pass leaves open, or settles by it.
 */
static void touch_settled(struct rates *r, int32_t link, int32_t p, bool was_full)
{
	const struct entry *e = r->entry + r->first[link];

	r->work += r->on[link];
	for (int32_t k = 0; k < r->on[link]; k++)
		if (r->passes[e[k].task] > (was_full ? p : p + 1))
			touch_task(r, e[k].task);
}

static void touch_links(struct rates *r, int32_t task)
{
	const struct fair_use *u = uses(r, task);

	for (int64_t k = r->f->task[task].nuses; k--; u++)
		changes_note(&r->links, u->link);
}

static void find_offers(struct rates *r, int32_t p)
{
	struct layer *layer = &r->layer[p];

	for (int32_t i = 0; i < r->links.nlive; i++) {
		int32_t l = r->links.live[i];
		double offer_Bps = layer->left_Bps[l] / layer->open[l];
		double before_Bps = layer->offer_Bps[l];

		if (offer_Bps == before_Bps)
			continue;
		layer->offer_Bps[l] = offer_Bps;
		touch_tasks(r, l, p, before_Bps);
	}
}

static void find_parts(struct rates *r, int32_t p)
{
	struct layer *layer = &r->layer[p];

	for (int32_t i = 0; i < r->tasks.nlive; i++) {
		int32_t t = r->tasks.live[i];
		const struct fair_use *u = uses(r, t);
		int64_t n = r->f->task[t].nuses;
		double part = INFINITY;

		r->work += n;
		for (int64_t k = 0; k < n; k++) {
			double allowed = layer->offer_Bps[u[k].link] / u[k].bytes;

			part = allowed < part ? allowed : part;
		}
		if (r->before[t] > p && part == layer->part[t])
			continue;
		layer->part[t] = part;
		touch_links(r, t);
	}
}

/*
 * Returns what all tasks on a link take in pass p, including those that were settled
 * before.
 */
static double taken_Bps(const struct rates *r, int32_t link, int32_t p)
{
	const struct entry *e = r->entry + r->first[link];
	double sum_Bps = 0;

	for (int32_t k = 0; k < r->on[link]; k++) {
		int32_t t = e[k].task, passes = r->passes[t];
		double part = r->layer[passes > p ? p : passes - 1].part[t];

		sum_Bps += e[k].tasks * (e[k].bytes * part);
	}
	return sum_Bps;
}

static void find_left(struct rates *r, int32_t p)
{
	struct layer *layer = &r->layer[p];

	for (int32_t i = 0; i < r->links.nlive; i++) {
		int32_t l = r->links.live[i];
		double left_Bps = layer->left_Bps[l] - taken_Bps(r, l, p);
		bool was_full = layer[1].left_Bps[l] <= 0;

		r->work += r->on[l];
		layer[1].left_Bps[l] = left_Bps < r->precision_Bps ? 0 : left_Bps;
		if ((layer[1].left_Bps[l] <= 0) != was_full)
			touch_settled(r, l, p, was_full);
	}
}

static bool is_settled(const struct rates *r, int32_t t, int32_t p)
{
	const struct fair_use *u = uses(r, t);

	for (int64_t k = 0; k < r->f->task[t].nuses; k++)
		if (r->layer[p + 1].left_Bps[u[k].link] <= 0)
			return true;
	return false;
}

/* Drops the tasks that pass p settles from those that are live. */
static void settle_tasks(struct rates *r, int32_t p)
{
	int32_t n = 0;

	for (int32_t i = 0; i < r->tasks.nlive; i++) {
		int32_t t = r->tasks.live[i];
		bool open = !is_settled(r, t, p);

		if (open != (r->before[t] > p + 1))
			touch_links(r, t);
		if (open)
			r->tasks.live[n++] = t;
		else
			r->passes[t] = p + 1;
	}
	r->tasks.nlive = n;
}

/* Drops the links without open tasks from those that are live. */
static void settle_links(struct rates *r, int32_t p)
{
	int32_t n = 0;

	for (int32_t i = 0; i < r->links.nlive; i++) {
		int32_t l = r->links.live[i], open = 0;
		const struct entry *e = r->entry + r->first[l];

		r->work += r->on[l];
		for (int32_t k = 0; k < r->on[l]; k++)
			if (r->passes[e[k].task] > p)
				open += e[k].tasks;
		r->layer[p].open[l] = open;
		if (open)
			r->links.live[n++] = l;
	}
	r->links.nlive = n;
}

const double *rates_find(struct rates *r)
{
	settle_links(r, 0);
	for (int32_t p = 0; r->links.nlive; p++) {
		need_layer(r, p + 1);
		find_offers(r, p);
		find_parts(r, p);
		find_left(r, p);
		settle_tasks(r, p);
		settle_links(r, p + 1);
		if (r->work > r->most_work)
			return NULL;
	}
	for (int32_t i = 0; i < r->tasks.nall; i++) {
		int32_t t = r->tasks.all[i];

		r->work += r->passes[t];
		r->rate[t] = 0;
		for (int32_t p = 0; p < r->passes[t]; p++)
			r->rate[t] += r->layer[p].part[t];
	}
	r->nfound = r->tasks.nall;
	changes_clear(&r->tasks);
	changes_clear(&r->links);
	return r->rate;
}

int32_t rates_found(const int32_t **tasks, const struct rates *r)
{
	*tasks = r->tasks.all;
	return r->nfound;
}
