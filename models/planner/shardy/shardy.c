#include "planner/shardy/shardy.h"

#include "base/gcd.h"
#include "plan/check.h"
#include "plan/groups.h"
#include "planner/shardy/greedy.h"
#include "planner/uneven.h"

static bool replicated(const struct layout *l)
{
	for (int dim = 0; dim < l->rank; dim++)
		if (l->nparts[dim] > 0)
			return false;
	return true;
}

/* Returns what keeps Shardy's pass from this problem, or NULL. */
static const char *shardy_refusal(const struct problem *p, struct arena *a)
{
	bool sums = p->from.nunreduced > 0 || p->to.nunreduced > 0;

	if (!p->same_devices)
		return "source and target are on different devices";
	if (p->from.kind == LAYOUT_MAXIMAL || p->to.kind == LAYOUT_MAXIMAL)
		return "the whole array lies on one device";
	if (p->from.kind != LAYOUT_AXES || p->to.kind != LAYOUT_AXES)
		return "a layout is a device list that no mesh axes can say";
	if (sums && !mesh_equal(&p->mesh, &p->to_mesh))
		return "unreduced axes between two meshes, on which Shardy stops";
	if (replicated(&p->to) && !sums)
		return NULL;
	if (!mesh_same_axes(&p->mesh, &p->to_mesh))
		return "the two meshes have different axes, which Shardy only leaves "
		       "for a "
		       "replicated target";
	if (!shardy_coexist(&p->mesh, &p->from, &p->to))
		return "the layouts use sub-axes that cannot co-exist, which Shardy "
		       "does "
		       "not support";
	if (shardy_unreduces(&p->from, &p->to) &&
	    !shardy_only_unreduces(&p->from, &p->to, a))
		return "Shardy would turn sharded axes into unreduced ones and reshard "
		       "besides, which it does not support in one reshard";
	return NULL;
}

/* Returns whether the greedy came to an end; if not, appends the reason to `why`. */
static bool ends(const struct shardy_program *program, struct text *why)
{
	if (program->end == SHARDY_MISFIT)
		text_printf(why,
		            "Shardy's greedy proposes a permute that would change the "
		            "shape of the tiles (axis sizes that do not divide)");
	if (program->end == SHARDY_UNFINISHED)
		text_printf(why,
		            "Shardy's greedy stops unfinished after two rounds (axis "
		            "sizes that do not divide)");
	return program->end == SHARDY_DONE;
}

/* Returns whether the tiles of a shape divide before and after every step. */
static bool divides(const struct shardy_program *program, const struct problem *p,
                    const struct shape *shape)
{
	for (int dim = 0; dim < shape->rank; dim++) {
		if (shape->dim[dim] % layout_shards(&p->from, dim) != 0)
			return false;
		for (int k = 0; k < program->nops; k++)
			if (shape->dim[dim] % layout_shards(&program->op[k].after, dim))
				return false;
	}
	return true;
}

/* Returns whether no dimension is in two of the moves of both. */
static bool distinct_axes(const struct shardy_op *a, const struct shardy_op *b)
{
	for (int i = 0; i < a->nmoves; i++)
		for (int k = 0; k < b->nmoves; k++) {
			const struct move *x = &a->move[i], *y = &b->move[k];

			if (x->from_dim == y->from_dim || x->from_dim == y->to_dim ||
			    x->to_dim == y->from_dim || x->to_dim == y->to_dim)
				return false;
		}
	return true;
}

/* Returns the moves of both, by rising target dimension. */
static const struct move *merge_moves(const struct shardy_op *a,
                                      const struct shardy_op *b, struct arena *arena)
{
	struct move *out =
		arena_alloc(arena, (size_t)(a->nmoves + b->nmoves), sizeof(*out));
	int i = 0, k = 0, n = 0;

	while (i < a->nmoves || k < b->nmoves)
		out[n++] = k == b->nmoves || (i < a->nmoves &&
		                              a->move[i].to_dim < b->move[k].to_dim)
		                   ? a->move[i++]
		                   : b->move[k++];
	return out;
}

/* Joins all-to-alls as point 4 of shardy.h says, from the first op on. */
static void fuse_all_to_alls(struct shardy_program *program)
{
	int n = 0;

	for (int k = 0; k < program->nops; k++) {
		const struct shardy_op *op = &program->op[k];
		struct shardy_op *last = n > 0 ? &program->op[n - 1] : NULL;

		if (!last || last->op != OP_ALL_TO_ALL || op->op != OP_ALL_TO_ALL ||
		    last->reordered != op->reordered || !distinct_axes(last, op)) {
			program->op[n++] = *op;
			continue;
		}
		last->move = merge_moves(last, op, program->arena);
		last->nmoves += op->nmoves;
		last->after = op->after;
	}
	program->nops = n;
}

/* Adds a permute between two orders of the devices, by Shardy's rule in both. */
static void add_reorder(struct plan *plan, const struct mesh *before_mesh,
                        const struct layout *before, const struct layout *after,
                        const struct layout *claim)
{
	const struct mesh *m = &plan->problem->to_mesh;
	const int32_t *src = devices_in_order(before, before_mesh, plan->arena);
	const int32_t *dst = devices_in_order(after, m, plan->arena);
	struct pair *pairs =
		arena_alloc(plan->arena, (size_t)m->ndevices, sizeof(*pairs));

	for (int32_t i = 0; i < m->ndevices; i++)
		pairs[src[i]] = (struct pair){.src = src[i], .dst = dst[i]};
	plan_permute_pairs(plan, claim, pairs, m->ndevices);
}

/*
 * Adds a step in the target mesh's order of devices. Its layout is a device list, which
 * plan_finish turns into axes of the source mesh where these can say it; else the step
 * keeps the names of the target mesh's axes, which are the same.
 */
static void add_reordered(struct plan *plan, const struct shardy_op *o,
                          const struct mesh *before_mesh, const struct layout *before)
{
	const struct mesh *m = &plan->problem->to_mesh;
	struct arena *a = plan->arena;
	struct layout claim = layout_of_tiling(layout_tiling(&o->after, m, a), a);
	struct groups groups = {0};
	const int32_t *chunk = NULL;

	if (o->op == OP_PERMUTE) {
		add_reorder(plan, before_mesh, before, &o->after, &claim);
		return;
	}
	if (o->op == OP_SLICE)
		chunk = chunks_of_moves(m, o->move, o->nmoves, a);
	else
		groups = groups_of_moves(m, o->move, o->nmoves, a);
	plan_groups_step(plan, o->op, o->move, o->nmoves, groups, chunk, &claim);
}

/* Adds a permute of the tiles as they are, whatever their padding. */
static void add_tile_permute(struct plan *plan, const struct layout *after)
{
	struct shape tile = plan_local(plan);
	int nsteps = plan->nsteps;

	plan_permute(plan, after);
	if (plan->nsteps > nsteps)
		plan_place(plan, &tile, NULL);
}

/*
 * Adds the steps of a program that begin at `first`; extent[k] is cut before op k.
 * Returns false if tiles would not be local.
 */
static bool add_shardy_steps(struct plan *plan, const struct shardy_program *program,
                             int first, const struct shape *extent, struct text *why)
{
	const struct problem *p = plan->problem;
	const struct mesh *mesh = &p->mesh;
	const struct layout *before = &p->from;

	for (int k = first; k < program->nops; k++) {
		const struct shardy_op *o = &program->op[k];
		struct layout after;

		if (o->reordered) {
			add_reordered(plan, o, mesh, before);
		} else if (o->op == OP_PERMUTE) {
			if (!uneven_trim(plan, &extent[k], why))
				return false;
			after = shardy_keep_unreduced(&o->after, plan_layout(plan));
			add_tile_permute(plan, &after);
		} else if (!uneven_step(plan, o->op, o->move, o->nmoves, &extent[k],
		                        &extent[k + 1], why)) {
			return false;
		}
		mesh = o->reordered ? &p->to_mesh : mesh;
		before = &o->after;
	}
	return uneven_trim(plan, &plan->shape, why);
}

/*
 * Prints what the pass emits before tiles are padded: ", all-to-all {x,y} 0->1" and so
 * on.
 */
static void print_program(struct text *out, const struct shardy_program *program,
                          const struct mesh *m)
{
	for (int k = 0; k < program->nops; k++) {
		const struct shardy_op *o = &program->op[k];

		text_printf(out, "%s%s", k ? ", " : "", op_name(o->op));
		for (int i = 0; i < o->nmoves; i++) {
			const struct move *move = &o->move[i];

			for (int n = 0; n < move->nparts; n++) {
				text_printf(out, n ? "," : " {");
				part_print(out, m, move->parts[n]);
			}
			text_printf(out, "} ");
			if (move->from_dim >= 0)
				text_printf(out, "%d", move->from_dim);
			text_printf(out, "->");
			if (move->to_dim >= 0)
				text_printf(out, "%d", move->to_dim);
		}
	}
}

/*
 * Returns whether sums come out right. Shardy numbers devices for a permute as if
 * unreduced axes were replicated. Where this does not leave every contribution to a sum
 * in its place the result is wrong.
 */
static bool sums_right(const struct plan *plan, struct text *why)
{
	struct text reason = {0};
	bool right = true;

	for (int k = 0; k < plan->nsteps; k++)
		if (plan->step[k].op == OP_PERMUTE && plan_before(plan, k)->nunreduced)
			right = false;
	right = right || plan_check(plan, &reason);
	text_free(&reason);
	if (!right)
		text_printf(why, "Shardy's permute would mix the contributions to the "
		                 "sums over unreduced axes");
	return right;
}

/*
 * Finds one extent of dimension `dim` for every run of ops between which it is sharded:
 * the source's or the target's where the run begins or ends with them, else the
 * smallest that all shards divide. Returns false if there is none.
 */
static bool extents_of_runs(struct shape *extent, const struct shardy_program *program,
                            const struct problem *p, int dim)
{
	int64_t real = p->array.shape.dim[dim];
	int n = program->nops, first;

	for (int k = 0; k <= n; k++) {
		int64_t all = 1, chosen, last = 1, shards;

		first = k;
		for (; k <= n; k++) {
			shards = layout_shards(k ? &program->op[k - 1].after : &p->from,
			                       dim);
			if (shards == 1)
				break;
			all = shards / gcd(shards, all) * all;
			last = shards;
		}
		shards = first == 0 ? layout_shards(&p->from, dim) : k > n ? last : all;
		chosen = (real + shards - 1) / shards * shards;
		if (chosen % all != 0 ||
		    (k > n && (real + last - 1) / last * last != chosen))
			return false;
		for (int i = first; i < k; i++)
			extent[i].dim[dim] = chosen;
		if (k <= n)
			extent[k].dim[dim] = real;
	}
	return true;
}

/* Returns what shards cut before each op and at the end, [nops + 1]. */
static struct shape *extents_of(const struct shardy_program *program,
                                const struct shape *shape)
{
	int n = program->nops + 1;
	struct shape *extent = arena_alloc(program->arena, (size_t)n, sizeof(*extent));

	for (int k = 0; k < n; k++)
		extent[k] = *shape;
	return extent;
}

static struct plan *plan_on(const struct shardy_program *program,
                            const struct problem *p, const struct shape *shape,
                            const struct shape *extent, struct text *why)
{
	struct plan *plan = plan_new(program->arena, p, planner_shardy.name);
	int first;

	plan->shape = *shape;
	first = shardy_add_sums(plan, program, extent, why);
	if (first < 0 || !add_shardy_steps(plan, program, first, extent, why))
		return NULL;
	plan_finish(plan);
	return plan;
}

/*
 * Returns the plan of a program, or NULL with the reason in `why`. The plan is on the
 * padded extent where every step divides it, else on the real one with pads between the
 * steps.
 */
static struct plan *plan_of_program(const struct shardy_program *program,
                                    const struct problem *p, struct text *why)
{
	const struct shape *real = &p->array.shape;
	bool reordered = program->nops > 0 && program->op[program->nops - 1].reordered;
	struct text reason = {0}, again = {0};
	struct shape *extent;
	struct plan *plan;
	bool agree = true;

	if (p->padded_ok && divides(program, p, &p->padded))
		return plan_on(program, p, &p->padded, extents_of(program, &p->padded),
		               why);
	if (reordered) {
		text_printf(why, "a dimension does not divide into tiles, between two "
		                 "orders of the devices");
		return NULL;
	}
	extent = extents_of(program, real);
	plan = plan_on(program, p, real, extent, &reason);
	for (int dim = 0; !plan && dim < real->rank; dim++)
		agree = extents_of_runs(extent, program, p, dim) && agree;
	if (!plan && agree)
		plan = plan_on(program, p, real, extent, &again);
	if (!plan)
		text_printf(why, "%s", reason.s);
	if (!plan && program->nops > 0) {
		text_printf(why, "; Shardy's resharder emits ");
		print_program(why, program, &p->mesh);
		text_printf(why, ", and its pads come later");
	}
	text_free(&reason);
	text_free(&again);
	return plan;
}

static enum answer shardy_plan(struct plan **out, const struct problem *p,
                               const struct prices *prices, struct arena *arena,
                               struct text *why)
{
	const char *reason = shardy_refusal(p, arena);
	const struct layout *from = &p->from;
	struct shardy_program program;
	struct plan *plan;

	(void)prices;
	if (reason) {
		text_printf(why, "%s", reason);
		return ANSWER_NOT_APPLICABLE;
	}
	/* what is no longer sharded has become unreduced, before the pass */
	if (shardy_unreduces(from, &p->to))
		from = &p->to;
	program = shardy_reshard(&p->array.shape, from, &p->to,
	                         p->two_meshes && !replicated(&p->to), arena);
	if (!ends(&program, why))
		return ANSWER_NOT_APPLICABLE;
	fuse_all_to_alls(&program);
	plan = plan_of_program(&program, p, why);
	if (!plan || !sums_right(plan, why))
		return ANSWER_NOT_APPLICABLE;
	*out = plan;
	return ANSWER_PLAN;
}

const struct planner planner_shardy = {
	.name = "shardy",
	.help = "Shardy's greedy resharder, as of 2026-08",
	.plan = shardy_plan,
};
