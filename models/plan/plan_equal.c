#include "plan/plan.h"

#include <string.h>

/* Returns whether n items of `size` bytes without padding are equal, or both not there. */
static bool items_equal(const void *a, const void *b, int64_t n, size_t size)
{
	if (!a || !b || n == 0)
		return n == 0 || a == b;
	return a == b || memcmp(a, b, (size_t)n * size) == 0;
}

static bool shapes_equal(const struct shape *a, const struct shape *b)
{
	return a->rank == b->rank &&
	       items_equal(a->dim, b->dim, a->rank, sizeof(*a->dim));
}

static bool tilings_equal(const struct tiling *a, const struct tiling *b)
{
	if (!a || !b || a == b)
		return a == b;
	return a->rank == b->rank && a->replicas == b->replicas &&
	       a->ndevices == b->ndevices &&
	       items_equal(a->tiles, b->tiles, a->rank, sizeof(*a->tiles)) &&
	       items_equal(a->ids, b->ids, a->ndevices, sizeof(*a->ids));
}

static bool layouts_equal(const struct layout *a, const struct layout *b)
{
	int64_t n = a->nunreduced;

	if (a->kind != b->kind || a->rank != b->rank ||
	    a->nunreduced != b->nunreduced || a->maximal_device != b->maximal_device ||
	    !items_equal(a->nparts, b->nparts, a->rank, sizeof(*a->nparts)))
		return false;
	for (int i = 0; i < a->rank; i++)
		n += a->nparts[i];
	return items_equal(a->part, b->part, n, sizeof(*a->part)) &&
	       tilings_equal(a->tiling, b->tiling);
}

static bool moves_equal(const struct step *a, const struct step *b)
{
	if (a->nmoves != b->nmoves)
		return false;
	for (int i = 0; i < a->nmoves; i++) {
		const struct move *p = &a->move[i], *q = &b->move[i];

		if (p->from_dim != q->from_dim || p->to_dim != q->to_dim ||
		    p->factor != q->factor || p->nparts != q->nparts ||
		    !items_equal(p->parts, q->parts, p->nparts, sizeof(*p->parts)))
			return false;
	}
	return true;
}

static bool transfers_equal(const struct step *a, const struct step *b, int rank)
{
	if (a->ntransfers != b->ntransfers)
		return false;
	for (int64_t i = 0; i < a->ntransfers; i++) {
		const struct transfer *p = &a->transfers[i], *q = &b->transfers[i];

		if (p->src != q->src || p->dst != q->dst || p->elements != q->elements ||
		    !items_equal(p->bounds, q->bounds, 2 * rank, sizeof(*p->bounds)))
			return false;
	}
	return true;
}

static bool steps_equal(const struct step *a, const struct step *b, int32_t ndevices)
{
	const struct groups *g = &a->groups, *h = &b->groups;
	int rank = a->local.rank;

	return a->op == b->op && a->part == b->part && a->gathers == b->gathers &&
	       (a->mesh == b->mesh || mesh_equal(a->mesh, b->mesh)) &&
	       a->recv_bytes == b->recv_bytes && a->send_bytes == b->send_bytes &&
	       a->padding_bytes == b->padding_bytes && a->npairs == b->npairs &&
	       g->ngroups == h->ngroups && g->size == h->size &&
	       shapes_equal(&a->before_local, &b->before_local) &&
	       shapes_equal(&a->local, &b->local) &&
	       shapes_equal(&a->summed, &b->summed) &&
	       layouts_equal(&a->after, &b->after) && moves_equal(a, b) &&
	       items_equal(g->ids, h->ids, (int64_t)g->ngroups * g->size,
	                   sizeof(*g->ids)) &&
	       items_equal(a->pairs, b->pairs, a->npairs, sizeof(*a->pairs)) &&
	       items_equal(a->chunk, b->chunk, (int64_t)ndevices * a->nmoves,
	                   sizeof(*a->chunk)) &&
	       items_equal(a->start, b->start, (int64_t)ndevices * rank,
	                   sizeof(*a->start)) &&
	       transfers_equal(a, b, rank);
}

bool plan_equal(const struct plan *a, const struct plan *b)
{
	if (a->problem != b->problem || a->nsteps != b->nsteps ||
	    a->recv_bytes != b->recv_bytes || a->send_bytes != b->send_bytes ||
	    !shapes_equal(&a->shape, &b->shape) || !layouts_equal(&a->from, &b->from) ||
	    !layouts_equal(&a->to, &b->to) || !a->view != !b->view ||
	    (a->view && (!shapes_equal(&a->view->shape, &b->view->shape) ||
	                 !items_equal(a->view->dim, b->view->dim, a->view->shape.rank,
	                              sizeof(*a->view->dim)))))
		return false;
	for (int i = 0; i < a->nsteps; i++)
		if (!steps_equal(&a->step[i], &b->step[i], a->problem->ndevices))
			return false;
	return true;
}
