/*
 * The planners that answer as XLA does: `xla-2021`, the baseline of arXiv 2112.01075,
 * and `xla`, the partitioner of today.
 */
#include "planner/xla/xla.h"

#include "notation/notation.h"

/* Returns what keeps XLA's rules from this problem, or NULL. */
static const char *xla_refusal(const struct problem *p)
{
	if (!p->same_devices)
		return "source and target are on different devices";
	if ((p->from.nunreduced > 0 || p->to.nunreduced > 0) &&
	    !layout_same_tiles(&p->from, &p->mesh, &p->to, &p->to_mesh))
		return "XLA's partitioner does not reshard unreduced axes";
	return NULL;
}

/*
 * Returns the tiling of a layout. XLA goes from and to a single device through
 * replication.
 */
static const struct tiling *spread(const struct problem *p, const struct layout *l,
                                   const struct mesh *m, struct arena *arena)
{
	if (l->kind == LAYOUT_MAXIMAL)
		return xla_tiling_replicated(arena, p->array.shape.rank, m->ndevices);
	return layout_tiling(l, m, arena);
}

static struct xla xla_run(const struct problem *p, const struct xla_mode *mode,
                          struct text *words, struct arena *arena)
{
	struct xla xla = xla_start(mode, &p->array.shape, p->mesh.ndevices, arena);

	xla.words = words;
	xla.uneven = !problem_even(p);
	xla_reshard(&xla, spread(p, &p->from, &p->mesh, arena),
	            spread(p, &p->to, &p->to_mesh, arena));
	return xla;
}

/* Returns the first step in which data are lost, or NULL. */
static const struct xla_op *lossy_op(const struct xla *xla)
{
	for (int k = 0; k < xla->nops; k++)
		if (xla->op[k].lossy)
			return &xla->op[k];
	return NULL;
}

/*
 * Returns whether the tiles after a step are those that its tiling has on the padded
 * extent.
 */
static bool on_padded(const struct xla_op *op, const struct shape *padded)
{
	const struct tiling *t = op->after;
	int32_t index[RANK_MAX + 1];

	for (int d = 0; d < t->rank; d++)
		if (op->extent.dim[d] * t->tiles[d] != padded->dim[d])
			return false;
	for (int32_t i = 0; i < t->ndevices; i++) {
		const int64_t *start = op->start + (int64_t)t->ids[i] * t->rank;

		xla_index(t, i, index);
		for (int d = 0; d < t->rank; d++)
			if (start[d] != index[d] * op->extent.dim[d])
				return false;
	}
	return true;
}

/*
 * Returns whether a program runs on the padded extent. There the windows, which cut
 * padding off and put it back, are no steps.
 */
static bool paddable(const struct xla *xla, const struct problem *p)
{
	if (!p->padded_ok)
		return false;
	for (int k = 0; k < xla->nops; k++)
		if (xla->op[k].part || xla->op[k].op == OP_ALL_REDUCE ||
		    (!xla->op[k].window && !on_padded(&xla->op[k], &p->padded)))
			return false;
	return true;
}

/*
 * Finds what the source of a pair has of the rows it sends. Returns false if all is
 * padding.
 */
static bool sent_box(struct transfer *out, const struct plan *plan,
                     const struct xla_op *op, struct pair pair)
{
	int rank = plan->shape.rank;
	const int64_t *start = op->start + (int64_t)pair.src * rank;
	int64_t *bounds = arena_alloc(plan->arena, 2 * (size_t)rank, sizeof(*bounds));

	*out = (struct transfer){pair.src, pair.dst, 1, bounds};
	for (int d = 0; d < rank; d++) {
		int64_t lo = start[d] + (d == op->dim ? op->lo : 0);
		int64_t hi = start[d] + (d == op->dim ? op->hi : op->extent.dim[d]);

		hi = hi < plan->shape.dim[d] ? hi : plan->shape.dim[d];
		bounds[2 * d] = lo;
		bounds[2 * d + 1] = hi;
		out->elements *= hi > lo ? hi - lo : 0;
	}
	return out->elements > 0;
}

static void emit_part(struct plan *plan, const struct xla_op *op)
{
	int64_t rows = op->extent.dim[op->dim];
	int64_t part = shape_elements(&op->extent) / rows * (op->hi - op->lo), n = 0;
	struct transfer *sent =
		arena_alloc(plan->arena, (size_t)op->npairs, sizeof(*sent));

	for (int32_t i = 0; i < op->npairs; i++)
		n += sent_box(&sent[n], plan, op, op->pairs[i]);
	plan_permute_rows(plan, op->pairs, op->npairs, part, sent, n);
}

static void emit(struct plan *plan, const struct xla_op *op)
{
	struct layout after = layout_of_tiling(op->after, plan->arena);

	if (op->part)
		emit_part(plan, op);
	else if (op->window)
		plan_pad(plan, &after, NULL);
	else if (op->op == OP_PERMUTE)
		plan_permute_pairs(plan, &after, op->pairs, op->npairs);
	else if (op->op == OP_ALL_REDUCE)
		plan_sum_tiles(plan, op->move, op->nmoves, op->groups, &op->operand,
		               &after);
	else
		plan_groups_step(plan, op->op, op->move, op->nmoves, op->groups,
		                 op->chunk, &after);
}

/*
 * Adds the step that sums masked full arrays, which are zeros but on one device, over
 * all devices.
 */
static void emit_spread(struct plan *plan)
{
	const struct problem *p = plan->problem;
	int32_t n = p->mesh.ndevices;
	const struct tiling *all =
		xla_tiling_replicated(plan->arena, p->array.shape.rank, n);
	struct layout after = layout_of_tiling(all, plan->arena);
	struct groups g = {.ngroups = 1, .size = n, .ids = all->ids};

	plan_sum_tiles(plan, NULL, 0, g, &plan->shape, &after);
}

/* Returns whether the array is on one device and wanted there. */
static bool stays_there(const struct problem *p)
{
	return p->from.kind == LAYOUT_MAXIMAL && p->to.kind == LAYOUT_MAXIMAL &&
	       layout_same_tiles(&p->from, &p->mesh, &p->to, &p->to_mesh);
}

/*
 * Returns the plan of a program; that of an uneven one has its windows, on the real
 * extent.
 */
static struct plan *plan_of_xla(const struct xla *xla, const struct problem *p,
                                const char *name)
{
	struct plan *plan = plan_new(xla->arena, p, name);
	bool placed = xla->uneven && !paddable(xla, p);

	if (placed)
		plan->shape = p->array.shape;
	if (p->from.kind == LAYOUT_MAXIMAL && !stays_there(p))
		emit_spread(plan);
	for (int k = 0; k < xla->nops; k++) {
		if (!placed && xla->op[k].window)
			continue;
		emit(plan, &xla->op[k]);
		if (placed)
			plan_place(plan, &xla->op[k].extent, xla->op[k].start);
	}
	if (p->to.kind == LAYOUT_MAXIMAL && !stays_there(p))
		plan_pad(plan, &p->to, NULL);
	plan_finish(plan);
	return plan;
}

static enum answer plan_as(struct plan **out, const struct problem *p,
                           const struct xla_mode *mode, const char *name,
                           struct arena *arena, struct text *why)
{
	const char *reason = xla_refusal(p);
	const struct xla_op *lossy;
	struct xla xla;

	if (reason) {
		text_printf(why, "%s", reason);
		return ANSWER_NOT_APPLICABLE;
	}
	xla = xla_run(p, mode, NULL, arena);
	if (xla.fails) {
		text_printf(why, "%s", xla.fails);
		return ANSWER_NOT_APPLICABLE;
	}
	lossy = lossy_op(&xla);
	if (lossy) {
		text_printf(
			why,
			"XLA of 2021 loses data here: its %s cuts tiles of dimension "
			"%d where shards of the array end within",
			lossy->part ? "halo exchange" : "all-to-all",
			lossy->part ? lossy->dim : lossy->move[0].to_dim);
		return ANSWER_NOT_APPLICABLE;
	}
	*out = plan_of_xla(&xla, p, name);
	return ANSWER_PLAN;
}

static enum answer plan_2021(struct plan **out, const struct problem *p,
                             const struct prices *prices, struct arena *arena,
                             struct text *why)
{
	(void)prices;
	return plan_as(out, p, &xla_mode_2021, planner_xla_2021.name, arena, why);
}

static enum answer plan_today(struct plan **out, const struct problem *p,
                              const struct prices *prices, struct arena *arena,
                              struct text *why)
{
	(void)prices;
	return plan_as(out, p, &xla_mode_today, planner_xla.name, arena, why);
}

static void print_tiling(struct text *out, const struct problem *p,
                         const struct tiling *t, struct arena *arena)
{
	struct layout l = layout_of_tiling(t, arena);
	struct text why = {0};

	if (!layout_print_as(out, NOTATION_HLO, &l, &p->mesh, &p->array.shape, &why))
		text_printf(out, "?");
	text_free(&why);
}

static void explain_op(struct text *out, const struct problem *p,
                       const struct xla_op *op, struct arena *arena)
{
	if (op->window) {
		text_printf(out, "tiles of");
		for (int d = 0; d < op->extent.rank; d++)
			text_printf(out, "%s%lld", d ? " x " : " ",
			            (long long)op->extent.dim[d]);
		text_printf(out, " cut out or padded locally");
	} else if (op->part) {
		text_printf(out, "permute of rows %lld to %lld of dimension %d",
		            (long long)op->lo, (long long)op->hi - 1, op->dim);
	} else {
		text_printf(out, "%s to ", op_name(op->op));
		print_tiling(out, p, op->after, arena);
	}
	text_printf(out, " by rule %s, %s%s\n", op->rule->number, op->rule->name,
	            op->lossy ? "; it loses data" : "");
}

void xla_explain(struct text *out, const struct problem *p, bool today)
{
	const char *reason = xla_refusal(p);
	struct arena *arena = arena_new();
	struct xla xla;

	if (reason) {
		text_printf(out, "not applicable: %s\n", reason);
	} else {
		xla = xla_run(p, today ? &xla_mode_today : &xla_mode_2021, out, arena);
		if (xla.fails)
			text_printf(out, "not applicable: %s\n", xla.fails);
		if (p->from.kind == LAYOUT_MAXIMAL && !stays_there(p))
			text_printf(out, "the array is on one device: all add up "
			                 "arrays that are zero elsewhere first\n");
		if (p->to.kind == LAYOUT_MAXIMAL && !stays_there(p))
			text_printf(out, "the array is wanted on one device, which "
			                 "takes it once all hold it\n");
		for (int k = 0; k < xla.nops; k++) {
			text_printf(out, "step %d: ", k + 1);
			explain_op(out, p, &xla.op[k], arena);
		}
	}
	arena_free(arena);
}

const struct planner planner_xla_2021 = {
	.name = "xla-2021",
	.help = "XLA's partitioner as of 2021-11, the baseline of arXiv 2112.01075",
	.plan = plan_2021,
};

const struct planner planner_xla = {
	.name = "xla",
	.help = "XLA's partitioner as of today, complex reshards and fused all-to-alls",
	.plan = plan_today,
};
