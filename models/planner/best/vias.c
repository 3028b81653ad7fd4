#include "planner/best/vias.h"

#include "planner/best/ways.h"

#include <stddef.h>
#include <string.h>

/*
 * The parts of the work after which no layout and no two layouts are tried any more. 0.6 and
 * 0.8 would be more work for nothing: no fewer pairs stay open.
 */
static const double ONE_SHARE = 0.4, TWO_SHARE = 0.6;

/* The same on few devices (script.h). */
static const double ONE_FEW = 0.33, TWO_FEW = 0.43;

/*
 * The same of layouts over digits, beyond the work done when all are looked at; they are
 * tried on small meshes alone. On 8 devices up to 12 of 2,352 pairs stay open without them,
 * one of them by 21 %, and as many with more work.
 */
static const double ONE_DIGITS = 0.05, TWO_DIGITS = 0.02;

/*
 * The same of layouts over prime digits of axes that both ends leave whole, where there are
 * few enough of them. Without them 26 of 7,386 pairs on 16 and 24 devices stay open, the
 * worst by 26 %, and with them 16, by 10 %.
 */
static const double ONE_PRIMES = 0.1, TWO_PRIMES = 0.05;

/* The layouts of a view that are looked at, and the work for that. */
struct looking {
	const struct script *ends; /* an exchange from source to target */
	uint32_t number;           /* of the view */
	bool primes;               /* every prime digit of an axis is a piece */
	bool more;                 /* the shares are beyond the work done before */
	double one_share, two_share;
};

static void add_vias(struct best_pool *pool, const struct looking *looking)
{
	struct vias *vias = xmalloc(1, sizeof(*vias));

	const struct script *s = looking->ends;
	const struct types_ends ends = {&s->problem->mesh,
	                                &s->problem->to_mesh,
	                                &s->view.shape,
	                                &s->from,
	                                &s->to,
	                                looking->primes};

	memset(vias, 0, offsetof(struct vias, via));
	vias->pool = pool;
	if (s->from.nunreduced > 0 || s->to.nunreduced > 0 ||
	    !types_between(&vias->types, &ends) || !vias->types.even) {
		xfree(vias);
		return;
	}
	vias->ends = *looking->ends;
	vias->portable = s->problem->vocabulary == VOCABULARY_PORTABLE;
	vias->more = looking->more;
	vias->only_all = looking->primes;
	vias->one_share = looking->one_share;
	vias->two_share = looking->two_share;
	vias->arena = arena_new();
	vias->known.arena = vias->arena;
	hops_begin(&vias->hops, pool, &vias->types, &vias->ends.view, looking->number,
	           vias->arena);
	vias_add_script(vias,
	                (const struct type *[]){&vias->types.from, &vias->types.to},
	                &(const struct hop){.senders = vias->hops.senders}, 1);
	vias_find_slack(vias);
	vias_look_first(vias);
	vias_price_all(vias);
	heap_free(&vias->open);
	arena_free(vias->arena);
	xfree(vias);
}

void best_add_vias(struct best_pool *pool)
{
	const struct problem *p = pool->best->problem;
	bool small = best_pool_is_small(pool);
	struct looking looking = {.one_share = small ? ONE_FEW : ONE_SHARE,
	                          .two_share = small ? TWO_FEW : TWO_SHARE};
	struct script ends, fine;

	if (!pool->steps || p->from.kind != LAYOUT_AXES || p->to.kind != LAYOUT_AXES ||
	    !mesh_equal(&p->mesh, &p->to_mesh) || p->from.nunreduced > 0 ||
	    !layout_divides(&p->from, &p->array.shape) ||
	    !layout_divides(&p->to, &p->array.shape))
		return;
	script_begin(&ends, p);
	ends.view.shape = p->array.shape;
	for (int i = 0; i < ends.view.shape.rank; i++)
		ends.view.dim[i] = (uint8_t)i;
	ends.from = p->from;
	ends.to = p->to;
	ends.n = 1;
	ends.step[0] = (struct script_step){.op = OP_EXCHANGE, .after = p->to};
	looking.ends = &ends;
	add_vias(pool, &looking);
	if (p->vocabulary == VOCABULARY_PORTABLE || !small)
		return;
	if (!best_pool_has_few_digits(pool))
		looking = (struct looking){&ends, 1,          true,
		                           true,  ONE_PRIMES, ONE_PRIMES + TWO_PRIMES};
	else if (script_refine(&fine, &ends, pool->arena))
		looking = (struct looking){&fine, 1,          false,
		                           true,  ONE_DIGITS, ONE_DIGITS + TWO_DIGITS};
	else
		return;
	add_vias(pool, &looking);
}
