/*
 * Shardy: the plan as collectives of the sdy dialect on the global array
 * (openxla/shardy, docs/sdy_dialect.md). An operation says its axes and the layout after it;
 * who sends what follows from the layouts by Shardy's rule, and tiles that do not divide are
 * padded without a word, so a `pad` between two layouts that are equal is none here.
 */
#include "emit/kinds.h"

#include "emit/local.h"
#include "emit/mlir.h"
#include "emit/put.h"

#include <stdlib.h>

struct sdy {
	struct text *out, *why;
	const struct plan *plan;
	struct local l; /* for its questions about steps */
};

/* --- what it can say ---------------------------------------------------------------- */

static bool silent(const struct sdy *y, int i)
{
	const struct step *s = &y->plan->step[i];
	const struct mesh *m = &y->plan->problem->mesh;

	return s->op == OP_PAD && mesh_equal(s->mesh, m) &&
	       layout_same_tiles(plan_before(y->plan, i), m, &s->after, m);
}

/* Returns whether the pairs are those that Shardy takes between the two layouts. */
static bool usual_pairs(const struct sdy *y, int i)
{
	const struct step *s = &y->plan->step[i];
	const struct mesh *m = &y->plan->problem->mesh;
	const struct pair *usual =
		pairs_of_layouts(plan_before(y->plan, i), &s->after, m, y->l.arena);
	int32_t *to = arena_alloc(y->l.arena, (size_t)m->ndevices, sizeof(*to));

	if (s->npairs != m->ndevices)
		return false;
	for (int32_t k = 0; k < s->npairs; k++)
		to[s->pairs[k].src] = s->pairs[k].dst;
	for (int32_t k = 0; k < m->ndevices; k++)
		if (to[usual[k].src] != usual[k].dst)
			return false;
	return true;
}

static const char *beyond(const struct sdy *y, int i)
{
	const struct step *s = &y->plan->step[i];

	if (!mesh_equal(s->mesh, &y->plan->problem->mesh) ||
	    s->after.kind != LAYOUT_AXES)
		return "leaves a layout that no axes of the mesh say";
	if (s->op == OP_EXCHANGE || s->op == OP_PAD || s->transfers || s->start)
		return "moves boxes";
	if (s->gathers)
		return "adds up tiles among zeros";
	if (s->op == OP_PERMUTE)
		return usual_pairs(y, i) ? NULL : "permutes by pairs of its own choice";
	return local_step_axes(&y->l, s) ? NULL : "is over groups that are no axes";
}

static bool check(struct sdy *y)
{
	const struct problem *q = y->plan->problem;
	const char *instead =
		", which Shardy's collectives cannot say: --emit torch-p2p "
		"says every plan, --planner shardy keeps to them";

	if (y->plan->view || q->two_meshes || q->from.kind != LAYOUT_AXES) {
		text_printf(y->why, "%s%s",
		            y->plan->view   ? "tiles are strided"
		            : q->two_meshes ? "the plan is between two meshes"
		                            : "no axes of the mesh say the source",
		            instead);
		return false;
	}
	for (int i = 0; i < y->plan->nsteps; i++) {
		const char *reason = silent(y, i) ? NULL : beyond(y, i);

		if (reason) {
			text_printf(y->why, "step %d %s%s", i + 1, reason, instead);
			return false;
		}
	}
	return true;
}

/* --- operations --------------------------------------------------------------------- */

static int by_mesh_order(const void *a, const void *b)
{
	const struct part *x = a, *y = b;

	return x->axis != y->axis ? x->axis - y->axis : x->pre - y->pre;
}

/* Appends `"x", "y":(1)2`, each sub-axis as long as it can be; those of a set in mesh order. */
static void put_parts(struct sdy *y, const struct part *given, int n, bool set)
{
	const struct mesh *m = &y->plan->problem->mesh;
	struct layout l = layout_replicated(1);
	const struct part *part;

	for (int i = 0; i < n; i++)
		layout_append(&l, 0, given[i]);
	if (set)
		qsort(l.part, (size_t)n, sizeof(*l.part), by_mesh_order);
	layout_normalise(&l);
	part = layout_parts(&l, 0, &n);
	for (int i = 0; i < n; i++) {
		const struct axis *axis = &m->axis[part[i].axis];

		text_printf(y->out, i ? ", " : "");
		put_quoted(y->out, axis->name, '"');
		if (part[i].size != axis->size)
			text_printf(y->out, ":(%d)%d", part[i].pre, part[i].size);
	}
}

static void put_sharding(struct sdy *y, const struct layout *l)
{
	const struct part *part;
	int n;

	text_printf(y->out, "<@mesh, [");
	for (int dim = 0; dim < l->rank; dim++) {
		part = layout_parts(l, dim, &n);
		text_printf(y->out, dim ? ", {" : "{");
		put_parts(y, part, n, false);
		text_printf(y->out, "}");
	}
	text_printf(y->out, "]");
	part = layout_parts(l, l->rank, &n);
	if (n) {
		text_printf(y->out, ", unreduced={");
		put_parts(y, part, n, true);
		text_printf(y->out, "}");
	}
	text_printf(y->out, ">");
}

/* Appends the axes of each dimension, `[{"x"}, {}]`. */
static void put_by_dim(struct sdy *y, const struct step *s, bool to)
{
	text_printf(y->out, "[");
	for (int dim = 0; dim < s->after.rank; dim++) {
		text_printf(y->out, dim ? ", {" : "{");
		for (int k = 0; k < s->nmoves; k++)
			if ((to ? s->move[k].to_dim : s->move[k].from_dim) == dim)
				put_parts(y, s->move[k].parts, s->move[k].nparts, false);
		text_printf(y->out, "}");
	}
	text_printf(y->out, "]");
}

/* Appends the axes of all moves as a set. */
static void put_set(struct sdy *y, const struct step *s)
{
	struct layout set = layout_replicated(1);

	for (int k = 0; k < s->nmoves; k++)
		for (int i = 0; i < s->move[k].nparts; i++)
			layout_append(&set, 0, s->move[k].parts[i]);
	text_printf(y->out, "{");
	put_parts(y, set.part, set.nparts[0], true);
	text_printf(y->out, "}");
}

/* Shardy lists the moves of an all-to-all by rising source dimension. */
static void put_moves(struct sdy *y, const struct step *s)
{
	bool any = false;

	text_printf(y->out, "[");
	for (int dim = 0; dim < s->after.rank; dim++)
		for (int k = 0; k < s->nmoves; k++) {
			if (s->move[k].from_dim != dim)
				continue;
			text_printf(y->out, any ? ", {" : "{");
			any = true;
			put_parts(y, s->move[k].parts, s->move[k].nparts, false);
			text_printf(y->out, "}: %d->%d", dim, s->move[k].to_dim);
		}
	text_printf(y->out, "]");
}

static void put_operation(struct sdy *y, const struct step *s)
{
	static const char *const names[OPS] = {
		[OP_SLICE] = "all_slice",
		[OP_ALL_GATHER] = "all_gather",
		[OP_ALL_TO_ALL] = "all_to_all",
		[OP_PERMUTE] = "collective_permute",
		[OP_REDUCE_SCATTER] = "reduce_scatter",
		[OP_ALL_REDUCE] = "all_reduce",
		[OP_PARTIAL] = "replicated_to_unreduced",
	};
	bool tiles = s->op == OP_PARTIAL && s->move[0].from_dim >= 0;

	text_printf(y->out, "sdy.%s ", tiles ? "sharded_to_unreduced" : names[s->op]);
	if (s->op == OP_SLICE || s->op == OP_REDUCE_SCATTER)
		put_by_dim(y, s, true);
	else if (s->op == OP_ALL_GATHER || tiles)
		put_by_dim(y, s, false);
	else if (s->op == OP_ALL_TO_ALL)
		put_moves(y, s);
	else if (s->op != OP_PERMUTE)
		put_set(y, s);
	text_printf(y->out, s->op == OP_PERMUTE ? "" : " ");
}

static void put_function(struct sdy *y)
{
	const struct array *a = &y->plan->problem->array;
	const char *type, *zero;
	int value = -1;

	mlir_type(&type, &zero, a->dtype);
	text_printf(y->out, "func.func @main(%%a: ");
	put_tensor(y->out, type, &a->shape);
	text_printf(y->out, " {sdy.sharding = #sdy.sharding");
	put_sharding(y, &y->plan->problem->from);
	text_printf(y->out, "}) -> ");
	put_tensor(y->out, type, &a->shape);
	text_printf(y->out, " {\n");
	for (int i = 0; i < y->plan->nsteps; i++) {
		if (silent(y, i))
			continue;
		text_printf(y->out, "  %%%d = ", value + 1);
		put_operation(y, &y->plan->step[i]);
		text_printf(y->out, value < 0 ? "%%a" : "%%%d", value);
		text_printf(y->out, " out_sharding=");
		put_sharding(y, &y->plan->step[i].after);
		text_printf(y->out, " : ");
		put_tensor(y->out, type, &a->shape);
		text_printf(y->out, "\n");
		value++;
	}
	text_printf(y->out, "  return ");
	text_printf(y->out, value < 0 ? "%%a" : "%%%d", value);
	text_printf(y->out, " : ");
	put_tensor(y->out, type, &a->shape);
	text_printf(y->out, "\n}\n");
}

static enum emitted emit_sdy(struct text *out, const struct emission *what,
                             struct arena *scratch, struct text *why)
{
	struct sdy y = {.out = out, .why = why, .plan = what->plan};

	y.l.plan = what->plan;
	y.l.arena = scratch;
	if (!check(&y))
		return EMIT_CANNOT;
	emit_heading(out, &emitter_sdy, what);
	put_sdy_mesh(out, &what->plan->problem->mesh, "mesh");
	put_function(&y);
	return EMITTED;
}

const struct emitter emitter_sdy = {
	.name = "sdy",
	.help = "collectives of Shardy's dialect on the global array",
	.comment = "// ",
	.comment_end = "",
	.emit = emit_sdy,
};
