/* The queues of work that is left, and which platform gets the next worker. */
#include "sweep/run.h"

void queue_fill(struct run *r, const struct sweep_work *work, int64_t n)
{
	int nplatforms = r->sweep->nplatforms;

	r->queue = arena_alloc(r->arena, (size_t)nplatforms, sizeof(*r->queue));
	for (int64_t i = 0; i < n; i++)
		r->queue[work[i].platform].n++;
	for (int p = 0; p < nplatforms; p++) {
		struct queue *q = &r->queue[p];

		q->work = arena_alloc(r->arena, (size_t)q->n, sizeof(*q->work));
		q->n = 0;
	}
	for (int64_t i = 0; i < n; i++) {
		struct queue *q = &r->queue[work[i].platform];

		q->work[q->n++] = work[i];
		q->cost_left += work[i].cost;
		r->cost_left += work[i].cost;
	}
}

bool queue_has(const struct run *r, int platform)
{
	const struct queue *q = &r->queue[platform];

	return q->leftover || q->next < q->n;
}

static int count_units(uint64_t units)
{
	int n = 0;

	for (; units; units &= units - 1)
		n++;
	return n;
}

/* Returns the units of the planner that the lowest unit is of. */
static uint64_t first_planner(const struct sweep *s, uint64_t units)
{
	int planner = __builtin_ctzll(units) / s->nclocks;
	uint64_t taken = 0;

	for (int c = 0; c < s->nclocks; c++)
		taken |= UINT64_C(1) << (planner * s->nclocks + c);
	return units & taken;
}

/*
 * Hands out the work at the queue's head. Where that would keep one worker busy long
 * after the others are done, it hands out the units of one planner, and the rest stays
 * there.
 */
bool queue_take(struct run *r, int platform, struct sweep_work *out)
{
	struct queue *q = &r->queue[platform];
	struct sweep_work *work;

	if (!queue_has(r, platform))
		return false;
	work = q->leftover ? &q->leftover->work : &q->work[q->next];
	*out = *work;
	if (work->cost > r->cost_left / (4.0 * r->sweep->jobs)) {
		out->units = first_planner(r->sweep, work->units);
		out->cost =
			work->cost * count_units(out->units) / count_units(work->units);
	}
	work->units &= ~out->units;
	work->cost -= out->cost;
	q->cost_left -= out->cost;
	r->cost_left -= out->cost;
	if (work->units)
		return true;
	if (q->leftover)
		q->leftover = q->leftover->next;
	else
		q->next++;
	return true;
}

void queue_give_back(struct run *r, const struct sweep_work *work)
{
	struct queue *q = &r->queue[work->platform];
	struct leftover *l = arena_alloc(r->arena, 1, sizeof(*l));

	*l = (struct leftover){*work, q->leftover};
	q->leftover = l;
	q->cost_left += work->cost;
	r->cost_left += work->cost;
}

int queue_neediest(const struct run *r)
{
	double most = -1;
	int best = -1;

	for (int p = 0; p < r->sweep->nplatforms; p++) {
		int workers = 0;
		double share;

		if (!queue_has(r, p))
			continue;
		for (int i = 0; i < r->sweep->jobs; i++)
			workers += r->slot[i].pid && r->slot[i].platform == p;
		share = r->queue[p].cost_left / (workers + 1);
		if (share > most) {
			most = share;
			best = p;
		}
	}
	return best;
}
