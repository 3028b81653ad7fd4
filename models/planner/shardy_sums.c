#include "planner/shardy_greedy.h"
#include "planner/uneven.h"

static struct shardy_axes unreduced(const struct layout *l)
{
	struct shardy_axes out = {0};
	int n;
	const struct part *part = layout_parts(l, l->rank, &n);

	for (int k = 0; k < n; k++)
		if (part[k].size > 1)
			shardy_push(&out, part[k]);
	return out;
}

static void push_sorted(struct shardy_axes *x, struct part part)
{
	int at = x->n;

	while (at > 0 &&
	       (x->part[at - 1].axis > part.axis ||
	        (x->part[at - 1].axis == part.axis && x->part[at - 1].pre > part.pre)))
		at--;
	shardy_insert(x, at, part);
}

/* The axes unreduced in one layout and not in the other, in mesh order and merged. */
static struct move difference(const struct layout *of, const struct layout *less,
                              struct arena *a)
{
	struct shardy_axes have = unreduced(of), uncut = have, gone = unreduced(less);
	struct shardy_axes sorted = {0};
	struct layout l = layout_replicated(1);
	struct move m = {.from_dim = -1, .to_dim = -1};
	const struct part *part;

	shardy_cut(&have, &gone);
	shardy_cut(&gone, &uncut);
	for (int k = 0; k < have.n; k++)
		if (shardy_find(&gone, have.part[k]) < 0)
			push_sorted(&sorted, have.part[k]);
	for (int k = 0; k < sorted.n; k++)
		layout_append(&l, 0, sorted.part[k]);
	layout_normalise(&l);
	part = layout_parts(&l, 0, &m.nparts);
	m.parts = arena_dup(a, part, (size_t)m.nparts, sizeof(*part));
	return m;
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
 * Split a slice into a reduce-scatter over the axes of `sum` and a slice of what is left
 * of each dimension. False unless every axis of `sum` is taken.
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
	struct move reduced = difference(from, to, plan->arena);
	struct move raised = difference(to, from, plan->arena);
	struct move scatter[RANK_MAX], rest[RANK_MAX];
	int nscatter, nrest;
	bool slices = program->nops > 0 && program->op[0].op == OP_SLICE;

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
	return 0;
}
