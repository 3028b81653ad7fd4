#include "planner/shardy/greedy.h"
#include "planner/uneven.h"

/* Returns the axes of a dimension, or the unreduced ones (dimension `rank`). */
static struct shardy_axes axes_of(const struct layout *l, int dim)
{
	struct shardy_axes out = {0};
	int n;
	const struct part *part = layout_parts(l, dim, &n);

	for (int k = 0; k < n; k++)
		if (part[k].size > 1)
			shardy_push(&out, part[k]);
	return out;
}

static void push_sorted(struct shardy_axes *axes, struct part part)
{
	int at = axes->n;

	while (at > 0 && (axes->part[at - 1].axis > part.axis ||
	                  (axes->part[at - 1].axis == part.axis &&
	                   axes->part[at - 1].pre > part.pre)))
		at--;
	shardy_insert(axes, at, part);
}

/* Returns a move of axes in this order, merged. */
static struct move move_of(const struct shardy_axes *axes, int from_dim, struct arena *a)
{
	struct layout l = layout_replicated(1);
	struct move m = {.from_dim = from_dim, .to_dim = -1};
	const struct part *part;

	for (int k = 0; k < axes->n; k++)
		layout_append(&l, 0, axes->part[k]);
	layout_normalise(&l);
	part = layout_parts(&l, 0, &m.nparts);
	m.parts = arena_dup(a, part, (size_t)m.nparts, sizeof(*part));
	return m;
}

/*
 * Returns the axes that are unreduced in one layout and not in the other, in mesh
 * order.
 */
static struct shardy_axes difference(const struct layout *of, const struct layout *less)
{
	struct shardy_axes have = axes_of(of, of->rank), uncut = have;
	struct shardy_axes gone = axes_of(less, less->rank);
	struct shardy_axes sorted = {0};

	shardy_cut(&have, &gone);
	shardy_cut(&gone, &uncut);
	for (int k = 0; k < have.n; k++)
		if (shardy_find(&gone, have.part[k]) < 0)
			push_sorted(&sorted, have.part[k]);
	return sorted;
}

static bool overlap(struct part a, struct part b)
{
	return a.axis == b.axis && a.size > 1 && b.size > 1 &&
	       a.pre < (int64_t)b.pre * b.size && b.pre < (int64_t)a.pre * a.size;
}

bool shardy_unreduces(const struct layout *from, const struct layout *to)
{
	int n, nsharded = 0;
	const struct part *sum = layout_parts(to, to->rank, &n);

	for (int dim = 0; dim < from->rank; dim++)
		nsharded += from->nparts[dim];
	for (int i = 0; i < nsharded; i++)
		for (int k = 0; k < n; k++)
			if (overlap(from->part[i], sum[k]))
				return true;
	return false;
}

/*
 * Finds the axes that the dimensions of `from` lose to the unreduced ones of `to`. The
 * moves are by rising dimension; *raised is at first what becomes unreduced, and then
 * what is left of it. Returns -1 if dimensions change otherwise too: not the minor-most
 * axes, or others.
 */
static int put_moves(struct move moves[RANK_MAX], struct shardy_axes *raised,
                     const struct layout *from, const struct layout *to, struct arena *a)
{
	int n = 0;

	for (int dim = 0; dim < from->rank; dim++) {
		struct shardy_axes have = axes_of(from, dim), want = axes_of(to, dim);
		struct shardy_axes uncut = have, lost = {0};

		shardy_cut(&have, &want);
		shardy_cut(&want, &uncut);
		shardy_cut(&have, raised);
		shardy_cut(raised, &have);
		for (int k = 0; k < have.n; k++) {
			int at = shardy_find(raised, have.part[k]);

			if (k < want.n && shardy_find(&want, have.part[k]) == k)
				continue;
			if (k < want.n || at < 0)
				return -1;
			shardy_remove(raised, at, 1);
			shardy_push(&lost, have.part[k]);
		}
		if (want.n > have.n)
			return -1;
		if (lost.n > 0)
			moves[n++] = move_of(&lost, dim, a);
	}
	return n;
}

bool shardy_only_unreduces(const struct layout *from, const struct layout *to,
                           struct arena *a)
{
	struct shardy_axes raised = difference(to, from);
	struct move moves[RANK_MAX];

	return difference(from, to).n == 0 && put_moves(moves, &raised, from, to, a) > 0;
}

struct layout shardy_keep_unreduced(const struct layout *l, const struct layout *sums)
{
	struct layout out = *l;
	int n;
	const struct part *part = layout_parts(sums, sums->rank, &n);

	for (int k = 0; k < n; k++)
		layout_append(&out, out.rank, part[k]);
	return out;
}

/*
 * Splits a slice into a reduce-scatter over the axes of `sum` and a slice of what is
 * left of each dimension. Returns false unless every axis of `sum` is taken.
 */
static bool fuse(struct move *scatter, int *nscatter, struct move *rest, int *nrest,
                 const struct move *sum, const struct shardy_op *slice)
{
	struct shardy_axes left = {0};

	for (int k = 0; k < sum->nparts; k++)
		shardy_push(&left, sum->parts[k]);
	*nscatter = *nrest = 0;
	for (int i = 0; i < slice->nmoves; i++) {
		struct move m = slice->move[i];
		int n = 0, at;

		while (n < m.nparts && (at = shardy_find(&left, m.parts[n])) >= 0) {
			shardy_remove(&left, at, 1);
			n++;
		}
		if (n > 0) {
			scatter[*nscatter] = m;
			scatter[(*nscatter)++].nparts = n;
		}
		if (n < m.nparts) {
			rest[*nrest] = m;
			rest[*nrest].parts += n;
			rest[(*nrest)++].nparts -= n;
		}
	}
	return left.n == 0;
}

int shardy_add_sums(struct plan *plan, const struct shardy_program *program,
                    const struct shape *extent, struct text *why)
{
	const struct layout *from = &plan->problem->from, *to = &plan->problem->to;
	struct shardy_axes less = difference(from, to), more = difference(to, from);
	struct move put[RANK_MAX], scatter[RANK_MAX], rest[RANK_MAX], reduced, raised;
	int nput = 0, nscatter, nrest;
	bool slices = program->nops > 0 && program->op[0].op == OP_SLICE;

	if (shardy_unreduces(from, to))
		nput = put_moves(put, &more, from, to, plan->arena);
	reduced = move_of(&less, -1, plan->arena);
	raised = move_of(&more, -1, plan->arena);
	if (reduced.nparts > 0 && raised.nparts == 0 && slices &&
	    fuse(scatter, &nscatter, rest, &nrest, &reduced, &program->op[0])) {
		if (!uneven_step(plan, OP_REDUCE_SCATTER, scatter, nscatter, &extent[0],
		                 &extent[1], why) ||
		    (nrest > 0 && !uneven_step(plan, OP_SLICE, rest, nrest, &extent[1],
		                               &extent[1], why)))
			return -1;
		return 1;
	}
	if (reduced.nparts > 0)
		plan_axes_step(plan, OP_ALL_REDUCE, &reduced, 1);
	if (raised.nparts > 0)
		plan_axes_step(plan, OP_PARTIAL, &raised, 1);
	if (nput > 0 &&
	    !uneven_step(plan, OP_PARTIAL, put, nput, &extent[0], &extent[0], why))
		return -1;
	return 0;
}
