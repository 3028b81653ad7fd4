#include "base/assert.h"
#include "planner/dtensor/dtensor.h"

#include "planner/uneven.h"

/* --- states ------------------------------------------------------------------------ */

static bool is_whole_axis(struct part p, const struct mesh *m)
{
	return p.pre == 1 && p.size == m->axis[p.axis].size;
}

bool dtensor_state_of(struct dtensor_state *out, const struct layout *l,
                      const struct mesh *m, struct text *why)
{
	*out = (struct dtensor_state){.naxes = m->naxes};
	for (int i = 0; i < m->naxes; i++)
		out->placement[i] = DTENSOR_REPLICATE;
	if (l->kind == LAYOUT_MAXIMAL) {
		text_printf(why, "the whole array lies on one device");
		return false;
	}
	if (l->kind != LAYOUT_AXES) {
		text_printf(why, "DTensor places mesh dimensions, and no axes say the "
		                 "layout");
		return false;
	}
	for (int dim = 0; dim <= l->rank; dim++) {
		int n;
		const struct part *part = layout_parts(l, dim, &n);

		for (int k = 0; k < n; k++) {
			if (!is_whole_axis(part[k], m)) {
				text_printf(why,
				            "DTensor places whole mesh dimensions, "
				            "and ");
				part_print(why, m, part[k]);
				text_printf(why, " is a part of one");
				return false;
			}
			out->placement[part[k].axis] =
				(int16_t)(dim == l->rank ? DTENSOR_PARTIAL : dim);
			out->place[part[k].axis] = (int16_t)(dim == l->rank ? 0 : k);
		}
	}
	return true;
}

bool dtensor_default_order(const struct dtensor_state *s)
{
	for (int i = 0; i < s->naxes; i++)
		for (int j = 0; j < i; j++)
			if (s->placement[i] >= 0 && s->placement[i] == s->placement[j] &&
			    s->place[i] < s->place[j])
				return false;
	return true;
}

/* Returns how many mesh dimensions shard a tensor dimension. */
static int count_shards(const struct dtensor_state *s, int dim)
{
	int n = 0;

	for (int i = 0; i < s->naxes; i++)
		n += s->placement[i] == dim;
	return n;
}

void dtensor_apply(struct dtensor_state *s, const struct dtensor_transform *t)
{
	assert(s->placement[t->mesh_dim] == t->from && t->from != t->to);
	assert(t->from < 0 || s->place[t->mesh_dim] == count_shards(s, t->from) - 1);
	s->place[t->mesh_dim] = (int16_t)(t->to < 0 ? 0 : count_shards(s, t->to));
	s->placement[t->mesh_dim] = (int16_t)t->to;
}

/* --- greedy ------------------------------------------------------------------------ */

static void change(struct dtensor_transforms *out, struct dtensor_state *now,
                   int mesh_dim, int to)
{
	struct dtensor_transform t = {mesh_dim, now->placement[mesh_dim], to};

	if (t.from == t.to)
		return;
	dtensor_apply(now, &t);
	out->step[out->n++] = t;
}

/*
 * Returns whether the same mesh dimensions before `mesh_dim` shard a tensor dimension
 * in both.
 */
static bool same_outer(const struct dtensor_state *a, const struct dtensor_state *b,
                       int mesh_dim, int dim)
{
	for (int i = 0; i < mesh_dim; i++)
		if ((a->placement[i] == dim) != (b->placement[i] == dim))
			return false;
	return true;
}

static bool any_shard(const struct dtensor_state *s, const struct mesh *m)
{
	for (int i = 0; i < s->naxes; i++)
		if (s->placement[i] >= 0 && m->axis[i].size > 1)
			return true;
	return false;
}

struct dtensor_transforms dtensor_greedy(const struct dtensor_state *from,
                                         const struct dtensor_state *to,
                                         const struct mesh *m, struct arena *a)
{
	struct dtensor_state now = *from;
	struct dtensor_transforms out = {0};

	out.step = arena_alloc(a, 2 * (size_t)from->naxes, sizeof(*out.step));
	for (int i = from->naxes - 1; i >= 0 && any_shard(from, m); i--) {
		int want = to->placement[i];

		if (want >= 0 && !same_outer(&now, to, i, want))
			want = DTENSOR_REPLICATE;
		change(&out, &now, i, want);
	}
	for (int i = 0; i < from->naxes; i++)
		change(&out, &now, i, to->placement[i]);
	return out;
}

/* --- uneven dimensions --------------------------------------------------------------- */

/*
 * Writes the mesh dimensions that shard `dim`, outermost first, and returns their
 * number.
 */
static int shard_axes(int *axis, const struct dtensor_state *s, int dim)
{
	int n = 0;

	for (int i = 0; i < s->naxes; i++) {
		if (s->placement[i] == dim) {
			axis[s->place[i]] = i;
			n++;
		}
	}
	return n;
}

/* A run of elements that DTensor chunks further, and which tile of the layout it is. */
struct run {
	int64_t start, length, tile;
};

/*
 * Returns whether chunking by the `n` axes gives the tiles of `extent` elements on a
 * real extent.
 */
static bool chunks_are_tiles(struct run r, const int *axis, int n, const struct mesh *m,
                             int64_t extent, int64_t real)
{
	int64_t size = n ? m->axis[axis[0]].size : 1;
	int64_t chunk = (r.length + size - 1) / size;
	int64_t left = real - r.tile * extent;

	if (n == 0) {
		left = left < 0 ? 0 : left < extent ? left : extent;
		return r.length == left && (left == 0 || r.start == r.tile * extent);
	}
	for (int64_t k = 0; k < size; k++) {
		int64_t start = k * chunk < r.length ? k * chunk : r.length;
		int64_t rest = r.length - start;
		struct run part = {r.start + start, rest < chunk ? rest : chunk,
		                   r.tile * size + k};

		if (!chunks_are_tiles(part, axis + 1, n - 1, m, extent, real))
			return false;
	}
	return true;
}

/*
 * Returns whether a state says the same tiles to DTensor and to a layout. DTensor
 * chunks a dimension mesh dimension by mesh dimension, each time ceil(length / size);
 * layouts here chunk once, ceil(extent / shards), of the padded extent or, with pads
 * between the steps, of the real one.
 */
static bool state_fits(const struct dtensor_state *s, const struct problem *p,
                       bool padded, struct text *why)
{
	for (int dim = 0; dim < p->array.shape.rank; dim++) {
		int64_t real = p->array.shape.dim[dim];
		int64_t extent = padded ? p->padded.dim[dim] : real;
		int axis[MESH_AXES_MAX], n = shard_axes(axis, s, dim);
		int64_t shards = 1, tile;
		struct run all = {0, real, 0};

		for (int k = 0; k < n; k++)
			shards *= p->mesh.axis[axis[k]].size;
		tile = (extent + shards - 1) / shards;
		if ((!padded || extent % shards == 0) &&
		    (tile * shards == real ||
		     chunks_are_tiles(all, axis, n, &p->mesh, tile, real)))
			continue;
		text_printf(
			why,
			"DTensor would chunk dimension %d of %lld elements unevenly "
			"into %lld, mesh dimension by mesh dimension, which are not "
			"the tiles of a layout here",
			dim, (long long)real, (long long)shards);
		return false;
	}
	return true;
}

/* --- plans ------------------------------------------------------------------------- */

static enum op op_of_transform(const struct dtensor_transform *t)
{
	if (t->to == DTENSOR_PARTIAL)
		return OP_PARTIAL;
	if (t->from == DTENSOR_PARTIAL)
		return t->to < 0 ? OP_ALL_REDUCE : OP_REDUCE_SCATTER;
	return t->from < 0 ? OP_SLICE : t->to < 0 ? OP_ALL_GATHER : OP_ALL_TO_ALL;
}

/*
 * Returns whether no transform is S->P, which DTensor plans but raises an error when it
 * runs.
 */
static bool no_shard_to_partial(const struct dtensor_transforms *t,
                                const struct mesh *m, struct text *why)
{
	for (int i = 0; i < t->n; i++) {
		const struct dtensor_transform *x = &t->step[i];

		if (x->from < 0 || x->to != DTENSOR_PARTIAL)
			continue;
		text_printf(why,
		            "DTensor's greedy planner goes from Shard(%d) to Partial "
		            "on mesh dimension '%s', which it does not support",
		            x->from, m->axis[x->mesh_dim].name);
		return false;
	}
	return true;
}

static bool all_fit(const struct dtensor_transforms *t, struct dtensor_state s,
                    const struct problem *p, bool padded, struct text *why)
{
	bool fits = state_fits(&s, p, padded, why);

	for (int i = 0; i < t->n && fits; i++) {
		dtensor_apply(&s, &t->step[i]);
		fits = state_fits(&s, p, padded, why);
	}
	return fits;
}

/*
 * Returns whether the states are those of the padded extent, without pads between the
 * steps.
 */
static bool on_padded(const struct dtensor_transforms *t,
                      const struct dtensor_state *from, const struct problem *p)
{
	struct text why = {0};
	bool fits = p->padded_ok && all_fit(t, *from, p, true, &why);

	text_free(&why);
	return fits;
}

static bool add_transforms(struct plan *plan, const struct dtensor_transforms *t,
                           struct text *why)
{
	const struct mesh *m = &plan->problem->mesh;

	for (int i = 0; i < t->n; i++) {
		int axis = t->step[i].mesh_dim;
		struct part part = {axis, 1, m->axis[axis].size};
		int from = t->step[i].from, to = t->step[i].to;
		struct move move = {.from_dim = from < 0 ? -1 : from,
		                    .to_dim = to < 0 ? -1 : to,
		                    .factor = part.size,
		                    .nparts = 1,
		                    .parts = &part};

		if (!uneven_step(plan, op_of_transform(&t->step[i]), &move, 1,
		                 &plan->shape, &plan->shape, why))
			return false;
	}
	return uneven_trim(plan, &plan->shape, why);
}

/* Prints what DTensor would run: "all-gather {b} 0->, slice {a} ->1" and so on. */
static void print_steps(struct text *out, const struct dtensor_transforms *t,
                        const struct mesh *m)
{
	text_printf(out, "%s", t->n > 0 ? "; its steps are " : "");
	for (int i = 0; i < t->n; i++) {
		const struct dtensor_transform *x = &t->step[i];

		text_printf(out, "%s%s {%s} ", i ? ", " : "",
		            op_name(op_of_transform(x)), m->axis[x->mesh_dim].name);
		if (x->from >= 0)
			text_printf(out, "%d", x->from);
		text_printf(out, "->");
		if (x->to >= 0)
			text_printf(out, "%d", x->to);
	}
}

/*
 * Makes a plan by the search of at most so many states or, if that is 0, greedily where
 * the shard orders allow it.
 */
static enum answer dtensor_make_plan(struct plan **out, const struct problem *p,
                                     int32_t states, const char *name,
                                     struct arena *arena, struct text *why)
{
	struct dtensor_state from, to;
	struct dtensor_transforms t;
	struct plan *plan;

	if (p->two_meshes) {
		text_printf(why, "DTensor redistributes within one mesh only");
		return ANSWER_NOT_APPLICABLE;
	}
	if (!dtensor_state_of(&from, &p->from, &p->mesh, why) ||
	    !dtensor_state_of(&to, &p->to, &p->mesh, why))
		return ANSWER_NOT_APPLICABLE;
	if (states || !dtensor_default_order(&from) || !dtensor_default_order(&to)) {
		if (!dtensor_search(&t, &from, &to, &p->array, &p->mesh,
		                    states ? states : DTENSOR_STATES_MAX, arena, why))
			return ANSWER_NOT_APPLICABLE;
	} else {
		t = dtensor_greedy(&from, &to, &p->mesh, arena);
	}
	if (!no_shard_to_partial(&t, &p->mesh, why))
		return ANSWER_NOT_APPLICABLE;
	plan = plan_new(arena, p, name);
	if (!on_padded(&t, &from, p)) {
		if (!all_fit(&t, from, p, false, why)) {
			print_steps(why, &t, &p->mesh);
			return ANSWER_NOT_APPLICABLE;
		}
		plan->shape = p->array.shape;
	}
	if (!add_transforms(plan, &t, why)) {
		print_steps(why, &t, &p->mesh);
		return ANSWER_NOT_APPLICABLE;
	}
	plan_finish(plan);
	*out = plan;
	return ANSWER_PLAN;
}

static enum answer dtensor_plan(struct plan **out, const struct problem *p,
                                const struct prices *prices, struct arena *arena,
                                struct text *why)
{
	(void)prices;
	return dtensor_make_plan(out, p, 0, "dtensor", arena, why);
}

static enum answer dtensor_mincost_plan(struct plan **out, const struct problem *p,
                                        const struct prices *prices,
                                        struct arena *arena, struct text *why)
{
	(void)prices;
	return dtensor_make_plan(out, p, DTENSOR_STATES_MAX, "dtensor-mincost", arena,
	                         why);
}

static enum answer dtensor_mincost_quick(struct plan **out, const struct problem *p,
                                         const struct prices *prices,
                                         struct arena *arena, struct text *why)
{
	(void)prices;
	return dtensor_make_plan(out, p, DTENSOR_STATES_QUICK, "dtensor-mincost", arena,
	                         why);
}

const struct planner planner_dtensor = {
	.name = "dtensor",
	.help = "PyTorch DTensor: greedy, or its search for non-default shard orders",
	.plan = dtensor_plan,
};

const struct planner planner_dtensor_mincost = {
	.name = "dtensor-mincost",
	.help = "PyTorch DTensor's min-cost search, with its own cost model",
	.plan = dtensor_mincost_plan,
	.quick = dtensor_mincost_quick,
};
