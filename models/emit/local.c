#include "emit/local.h"

#include "array/tile.h"
#include "base/assert.h"
#include "base/gcd.h"

#include <string.h>

enum { CHECK_ELEMENTS = 4096 }; /* of an array that is its own check */

/* --- what such a program can say ---------------------------------------------------- */

static const char *beyond(const struct plan *p, const struct step *s)
{
	const struct problem *q = p->problem;

	if (s->op == OP_EXCHANGE)
		return "exchanges boxes of different sizes";
	if (s->op == OP_PAD)
		return "changes how tiles are padded";
	if (s->op == OP_PERMUTE && s->transfers)
		return "permutes parts of tiles";
	if (s->op == OP_PERMUTE && s->npairs != q->ndevices)
		return "leaves devices without data";
	if (s->gathers)
		return "adds up tiles among zeros";
	if (s->start)
		return "has tiles that start anywhere";
	if (s->groups.size && s->groups.size * s->groups.ngroups != q->ndevices)
		return "leaves devices out";
	return NULL;
}

/* Says why, and what would do instead; returns false. */
static bool refuse(const struct plan *p, struct text *why, int step, const char *reason)
{
	if (step)
		text_printf(why, "step %d ", step);
	text_printf(
		why,
		"%s, which one program for all devices cannot say: --emit torch-p2p "
		"says every plan",
		reason);
	if (p->problem->vocabulary != VOCABULARY_PORTABLE)
		text_printf(why, ", --vocabulary portable or another --planner may do "
		                 "without");
	return false;
}

static bool whole_tiles(const struct shape *global, const struct layout *l)
{
	if (l->kind == LAYOUT_MAXIMAL)
		return false;
	for (int i = 0; i < global->rank; i++)
		if (global->dim[i] % layout_shards(l, i) != 0)
			return false;
	return true;
}

static bool check_steps(const struct plan *p, struct text *why)
{
	const struct problem *q = p->problem;

	if (!q->same_devices || q->mesh.ndevices != q->ndevices)
		return refuse(p, why, 0, "the plan is between two sets of devices");
	if (!whole_tiles(&p->shape, &p->from) || !whole_tiles(&p->shape, &p->to))
		return refuse(p, why, 0, "source or target have tiles of unequal size");
	for (int i = 0; i < p->nsteps; i++) {
		const char *reason = beyond(p, &p->step[i]);

		if (!reason && !whole_tiles(&p->shape, &p->step[i].after))
			reason = "leaves tiles of unequal size";
		if (reason)
			return refuse(p, why, i + 1, reason);
	}
	return true;
}

/* --- shapes ------------------------------------------------------------------------- */

/* Returns the least extent that all layouts of the plan cut evenly. */
static int64_t least_extent(const struct plan *p, int dim)
{
	int64_t n = 1;

	for (int i = -2; i < p->nsteps; i++) {
		const struct layout *l = i == -2   ? &p->from
		                         : i == -1 ? &p->to
		                                   : &p->step[i].after;
		int64_t shards = layout_shards(l, dim), common = gcd(n, shards);

		assert(common > 0);
		n *= shards / common;
	}
	return n;
}

static int array_dim(const struct plan *p, int dim)
{
	return p->view ? p->view->dim[dim] : dim;
}

/*
 * Chooses the digit of each dimension that grows, and the extents of the check: those of
 * the plan where they are small, else twice the least that divide, and more than the pad.
 */
static void choose_small(struct local *l)
{
	const struct plan *p = l->plan;
	const struct shape *real = &p->problem->array.shape;
	int64_t best[RANK_MAX] = {0};

	l->small = p->shape;
	for (int k = 0; k < p->shape.rank; k++) {
		int64_t least = least_extent(p, k), ratio;
		int dim = array_dim(p, k);

		assert(least > 0);
		ratio = p->shape.dim[k] / least;
		if (ratio > best[dim]) {
			best[dim] = ratio;
			l->free[dim] = k;
		}
	}
	for (int dim = 0; dim < real->rank; dim++) {
		int k = l->free[dim];
		int64_t least = least_extent(p, k), times = 2, whole = 1;

		if (!best[dim])
			continue; /* of one element, which no digit says */

		for (int j = 0; j < p->shape.rank; j++)
			whole *= array_dim(p, j) == dim ? p->shape.dim[j] : 1;
		l->pad[dim] = whole - real->dim[dim];
		while (whole / p->shape.dim[k] * least * times <= l->pad[dim])
			times++;
		if (times < best[dim] && shape_elements(&p->shape) > CHECK_ELEMENTS)
			l->small.dim[k] = least * times;
	}
}

void local_open(struct local *out, const struct plan *p, struct arena *a)
{
	*out = (struct local){.plan = p, .arena = a};
	choose_small(out);
}

bool local_make(struct local *out, const struct plan *p, struct arena *a,
                struct text *why)
{
	if (!check_steps(p, why))
		return false;
	local_open(out, p, a);
	return true;
}

struct shape local_array(const struct local *l, bool small)
{
	const struct plan *p = l->plan;
	const struct shape *digits = small ? &l->small : &p->shape;
	struct shape out = {.rank = p->problem->array.shape.rank};

	for (int i = 0; i < out.rank; i++)
		out.dim[i] = 1;
	for (int k = 0; k < p->shape.rank; k++)
		out.dim[array_dim(p, k)] *= digits->dim[k];
	return out;
}

struct shape local_tile(const struct local *l, int step, bool small)
{
	const struct plan *p = l->plan;
	const struct layout *at = step < p->nsteps ? plan_before(p, step) : &p->to;
	const struct shape *whole = small ? &l->small : &p->shape;
	struct shape out = *whole;

	for (int k = 0; k < out.rank; k++)
		out.dim[k] /= layout_shards(at, k);
	return out;
}

/* --- axes --------------------------------------------------------------------------- */

/* Returns whether every device is in the same group, in the same order, in both. */
static bool groups_equal(const struct groups *a, const struct groups *b, int32_t n,
                         struct arena *arena)
{
	int32_t *at = arena_alloc(arena, (size_t)n, sizeof(*at));

	if (a->size != b->size || a->ngroups != b->ngroups)
		return false;
	for (int32_t i = 0; i < a->ngroups * a->size; i++)
		at[a->ids[i]] = i;
	for (int32_t i = 0; i < b->ngroups; i++) {
		int32_t first = at[b->ids[i * b->size]];

		for (int32_t r = 0; r < b->size; r++)
			if (at[b->ids[i * b->size + r]] != first + r)
				return false;
		if (first % a->size != 0)
			return false;
	}
	return true;
}

/* Where an axis is cut: products of the sizes before, each a divisor of the next. */
struct cuts {
	int n;
	int32_t at[32];
};

static bool cut_at(struct cuts *c, int32_t value)
{
	int k = 0;

	while (k < c->n && c->at[k] < value)
		k++;
	if (k < c->n && c->at[k] == value)
		return true;
	if ((k > 0 && value % c->at[k - 1] != 0) || (k < c->n && c->at[k] % value != 0))
		return false;
	assert(c->n < 32);
	memmove(c->at + k + 1, c->at + k, (size_t)(c->n++ - k) * sizeof(*c->at));
	c->at[k] = value;
	return true;
}

static bool cut_parts(struct cuts *cuts, const struct part *part, int n)
{
	for (int i = 0; i < n; i++)
		if (!cut_at(&cuts[part[i].axis], part[i].pre) ||
		    !cut_at(&cuts[part[i].axis], part[i].pre * part[i].size))
			return false;
	return true;
}

static bool cut_layout(struct cuts *cuts, const struct layout *l)
{
	int n = 0;

	if (l->kind != LAYOUT_AXES)
		return true;
	for (int i = 0; i < l->rank; i++)
		n += l->nparts[i];
	return cut_parts(cuts, l->part, n + l->nunreduced);
}

static bool cut_plan(struct cuts *cuts, const struct local *l)
{
	const struct plan *p = l->plan;
	struct layout end;

	for (int i = 0; i < 2; i++)
		if (local_end(&end, l, i == 1) && !cut_layout(cuts, &end))
			return false;
	if (!cut_layout(cuts, &p->from))
		return false;
	for (int i = 0; i < p->nsteps; i++) {
		const struct step *s = &p->step[i];

		if (mesh_equal(s->mesh, &p->problem->mesh) &&
		    !cut_layout(cuts, &s->after))
			return false;
		for (int k = 0; k < s->nmoves; k++)
			if (!cut_parts(cuts, s->move[k].parts, s->move[k].nparts))
				return false;
	}
	return true;
}

static bool has_axis(const struct mesh *m, const char *name)
{
	return mesh_axis(m, name, strlen(name)) >= 0;
}

/* Returns a name for a piece of an axis that no axis has. */
static const char *piece_name(struct local *l, const struct axis *axis, int k, int n)
{
	const char *join = "_", *name;

	if (n == 1)
		return axis->name;
	for (;;) {
		name = arena_printf(l->arena, "%s%s%d", axis->name, join, k);
		if (!has_axis(&l->plan->problem->mesh, name) &&
		    !has_axis(&l->pieces, name))
			return name;
		join = arena_printf(l->arena, "%s_", join);
	}
}

bool local_cut(struct local *l, struct text *why)
{
	const struct mesh *m = &l->plan->problem->mesh;
	struct cuts *cuts = arena_alloc(l->arena, (size_t)m->naxes + 1, sizeof(*cuts));

	for (int a = 0; a < m->naxes; a++) {
		cut_at(&cuts[a], 1);
		cut_at(&cuts[a], m->axis[a].size);
	}
	if (!cut_plan(cuts, l)) {
		text_printf(why,
		            "the plan cuts one axis of the mesh in two ways that no "
		            "mesh of its pieces has: --emit stablehlo or torch-p2p "
		            "names devices instead");
		return false;
	}
	l->pieces = *m;
	l->pieces.naxes = 0;
	for (int a = 0; a < m->naxes; a++) {
		int n = cuts[a].n > 1 ? cuts[a].n - 1 : 1;

		l->first[a] = l->pieces.naxes;
		for (int k = 0; k < n; k++) {
			int32_t size =
				cuts[a].n > 1 ? cuts[a].at[k + 1] / cuts[a].at[k] : 1;
			struct axis piece = {piece_name(l, &m->axis[a], k, n), size};

			assert(l->pieces.naxes < MESH_AXES_MAX);
			l->pieces.axis[l->pieces.naxes++] = piece;
		}
	}
	l->first[m->naxes] = l->pieces.naxes;
	return true;
}

int local_pieces(int *out, const struct local *l, const struct part *part, int n)
{
	int count = 0;

	for (int i = 0; i < n; i++) {
		int32_t at = 1;

		for (int k = l->first[part[i].axis]; k < l->first[part[i].axis + 1];
		     k++) {
			bool inside =
				at >= part[i].pre && at < part[i].pre * part[i].size;

			if (inside)
				out[count++] = k;
			at *= l->pieces.axis[k].size;
		}
	}
	return count;
}

bool local_step_axes(const struct local *l, const struct step *s)
{
	const struct mesh *m = &l->plan->problem->mesh;
	struct groups g;

	for (int k = 0; k < s->nmoves; k++) {
		int64_t product = 1;

		for (int i = 0; i < s->move[k].nparts; i++)
			product *= s->move[k].parts[i].size;
		if (product != s->move[k].factor)
			return false;
	}
	g = groups_of_moves(m, s->move, s->nmoves, l->arena);
	if (s->op == OP_SLICE) {
		for (int32_t i = 0; i < g.ngroups * g.size; i++) {
			int32_t rest = i % g.size;

			for (int k = s->nmoves - 1; k >= 0; k--) {
				if (s->chunk[g.ids[i] * s->nmoves + k] !=
				    rest % s->move[k].factor)
					return false;
				rest /= s->move[k].factor;
			}
		}
		return true;
	}
	return groups_equal(&g, &s->groups, l->plan->problem->ndevices, l->arena);
}

bool local_end(struct layout *out, const struct local *l, bool target)
{
	const struct problem *q = l->plan->problem;
	const struct layout *end = target ? &q->to : &q->from;
	struct layout tiles;

	if (!target || !q->two_meshes)
		return layout_to_axes(out, end, &q->mesh, l->arena);
	tiles = layout_of_tiling(layout_tiling(end, &q->to_mesh, l->arena), l->arena);
	return !end->nunreduced && layout_to_axes(out, &tiles, &q->mesh, l->arena);
}

/* --- transposes --------------------------------------------------------------------- */

struct rearrange local_pack(const struct step *s, int rank)
{
	struct rearrange r = {0};
	int whole[RANK_MAX];

	for (int dim = 0; dim < rank; dim++) {
		bool cut = false;

		for (int k = 0; k < s->nmoves; k++)
			if (s->move[k].to_dim == dim) {
				r.order[k] = r.nsplit;
				r.split[r.nsplit].dim = dim;
				r.split[r.nsplit++].blocks = s->move[k].factor;
				cut = true;
			}
		whole[dim] = r.nsplit;
		r.split[r.nsplit].dim = dim;
		r.split[r.nsplit++].cut = cut;
	}
	for (int dim = 0; dim < rank; dim++)
		r.order[s->nmoves + dim] = whole[dim];
	return r;
}

struct rearrange local_unpack(const struct step *s, int rank)
{
	struct rearrange r = {0};
	int n = 0;

	for (int dim = 0; dim < rank; dim++) {
		r.block[dim] = -1;
		for (int k = 0; k < s->nmoves; k++)
			if (s->move[k].from_dim == dim) {
				r.block[dim] = k;
				r.order[n++] = k;
			}
		r.order[n++] = s->nmoves + dim;
	}
	return r;
}

/* --- checks ------------------------------------------------------------------------- */

int32_t sums_of(const struct layout *l)
{
	return l->kind == LAYOUT_AXES ? (int32_t)layout_shards(l, l->rank) : 1;
}

int32_t local_partials(const struct local *l, bool target)
{
	return sums_of(target ? &l->plan->to : &l->plan->from);
}

int64_t local_weight(int32_t i, int32_t n)
{
	return n <= 12 ? INT64_C(1) << i : (int64_t)i * i + 1;
}

int64_t local_weights(int32_t n)
{
	int64_t all = 0;

	for (int32_t i = 0; i < n; i++)
		all += local_weight(i, n);
	return all;
}

/* --- tables ------------------------------------------------------------------------- */

const int64_t *local_starts(const struct local *l, bool target)
{
	const struct problem *q = l->plan->problem;
	struct shape s = local_array(l, true);
	struct tilemap map = tilemap_make(target ? &q->to : &q->from,
	                                  target ? &q->to_mesh : &q->mesh, &s, l->arena);
	size_t cells = (size_t)q->ndevices * (size_t)s.rank;
	int64_t *start = arena_alloc(l->arena, cells, sizeof(*start));

	for (size_t i = 0; i < cells; i++)
		start[i] = map.index[i] * map.tile.dim[i % (size_t)s.rank];
	return start;
}

const int32_t *local_contribution(const struct local *l)
{
	const struct problem *q = l->plan->problem;
	struct shape s = local_array(l, true);

	return tilemap_make(&q->from, &q->mesh, &s, l->arena).partial;
}

const int32_t *local_places(const struct local *l, const struct step *s)
{
	int32_t *at =
		arena_alloc(l->arena, (size_t)l->plan->problem->ndevices, sizeof(*at));

	for (int32_t i = 0; i < s->groups.ngroups * s->groups.size; i++)
		at[s->groups.ids[i]] = i % s->groups.size;
	return at;
}
