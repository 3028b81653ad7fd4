#include "emit/copies.h"

#include "array/tile.h"
#include "base/assert.h"
#include "base/gcd.h"

#include <string.h>

/* Where tiles of devices lie before and after a step. */
struct lay {
	struct tilemap map;
	struct shape tile;
	const int64_t *start; /* [ndevices * rank] */
};

/* A box beside a tile, between a permute of parts and the step that takes it in. */
struct held {
	int32_t number;
	const int64_t *bounds;
	const struct held *next;
};

struct making {
	struct copies *c;
	const struct plan *plan;
	struct arena *arena;
	int rank, step;
	int32_t ndevices;
	struct lay before, after;
	const struct held **held; /* [ndevices] */
	struct stage *stage;      /* the last one */
};

static bool has_tile(const struct lay *l, int32_t d)
{
	return d < l->map.ndevices && tilemap_has(&l->map, d);
}

static struct lay find_lay(const struct making *m, const struct layout *l,
                           const struct mesh *mesh, const struct shape *tile,
                           const int64_t *start)
{
	struct lay out = {.tile = *tile};
	size_t cells = (size_t)m->ndevices * (size_t)m->rank;
	int64_t *usual = arena_alloc(m->arena, cells, sizeof(*usual));

	out.map = tilemap_make(l, mesh, &m->plan->shape, m->arena);
	for (size_t i = 0; i < cells; i++)
		if ((int64_t)i < (int64_t)out.map.ndevices * m->rank)
			usual[i] = start ? start[i]
			                 : out.map.index[i] *
			                           tile->dim[i % (size_t)m->rank];
	out.start = usual;
	return out;
}

static void add_stage(struct making *m, const struct shape *before,
                      const struct shape *after)
{
	m->stage = list_add(&m->c->stages, m->arena);
	*m->stage = (struct stage){.step = m->step, .before = *before, .after = *after};
}

static struct copy *add_copy(struct making *m, int32_t src, int32_t dst,
                             const int64_t *from, const int64_t *to, const int64_t *size)
{
	struct copy *c = list_add(&m->stage->copies, m->arena);
	size_t rank = (size_t)m->rank;

	*c = (struct copy){.src = src, .dst = dst};
	c->from = arena_dup(m->arena, from, rank, sizeof(*from));
	c->to = arena_dup(m->arena, to, rank, sizeof(*to));
	c->size = arena_dup(m->arena, size, rank, sizeof(*size));
	m->c->ncopies++;
	return c;
}

static const int64_t origin[RANK_MAX];

/* --- collectives -------------------------------------------------------------------- */

/* Returns the chunk number of the member at place r in move k. */
static int32_t chunk_of(const struct step *s, int32_t r, int k)
{
	for (int i = s->nmoves - 1; i > k; i--)
		r /= s->move[i].factor;
	return r % s->move[k].factor;
}

/* Adds the block that the member at place r of a group has for the one at place q. */
static void add_block(struct making *m, const struct step *s, const int32_t *member,
                      int32_t r, int32_t q)
{
	int64_t from[RANK_MAX] = {0}, to[RANK_MAX] = {0}, size[RANK_MAX];

	memcpy(size, s->before_local.dim, sizeof(size));
	for (int k = 0; k < s->nmoves; k++) {
		int dim = s->move[k].to_dim;

		if (dim < 0)
			continue;
		size[dim] /= s->move[k].factor;
		from[dim] = size[dim] * chunk_of(s, q, k);
	}
	for (int k = 0; k < s->nmoves; k++) {
		int dim = s->move[k].from_dim;

		if (dim >= 0)
			to[dim] = size[dim] * chunk_of(s, r, k);
	}
	add_copy(m, member[r], member[q], from, to, size);
}

static bool is_in_group(const struct step *s, int32_t d)
{
	for (int32_t i = 0; i < s->groups.ngroups * s->groups.size; i++)
		if (s->groups.ids[i] == d)
			return true;
	return false;
}

/* Those in no group keep what they have. */
static void keep_others(struct making *m, const struct step *s, const struct shape *tile)
{
	if (s->groups.ngroups * s->groups.size == m->ndevices)
		return;
	for (int32_t d = 0; d < m->ndevices; d++)
		if (has_tile(&m->before, d) && !is_in_group(s, d))
			add_copy(m, d, d, origin, origin, tile->dim);
}

static void add_groups(struct making *m, const struct step *s)
{
	bool own = s->op == OP_PARTIAL, tiles = own && s->move[0].from_dim >= 0;

	add_stage(m, &s->before_local, &s->local);
	m->stage->adds = s->op == OP_REDUCE_SCATTER;
	for (int32_t g = 0; g < s->groups.ngroups; g++) {
		const int32_t *member = s->groups.ids + (int64_t)g * s->groups.size;

		for (int32_t r = 0; r < s->groups.size; r++) {
			if (own && (r == 0 || tiles))
				add_block(m, s, member, r, r);
			for (int32_t q = 0; q < s->groups.size && !own; q++)
				add_block(m, s, member, r, q);
		}
	}
	keep_others(m, s, &s->before_local);
}

static void add_slice(struct making *m, const struct step *s)
{
	add_stage(m, &s->before_local, &s->local);
	for (int32_t d = 0; d < m->ndevices; d++) {
		int64_t from[RANK_MAX] = {0};

		if (!has_tile(&m->before, d))
			continue;
		for (int k = 0; k < s->nmoves; k++)
			from[s->move[k].to_dim] = s->chunk[(int64_t)d * s->nmoves + k] *
			                          s->local.dim[s->move[k].to_dim];
		add_copy(m, d, d, from, origin, s->local.dim);
	}
}

static void add_permute(struct making *m, const struct step *s)
{
	add_stage(m, &s->before_local, &s->local);
	for (int32_t i = 0; i < s->npairs; i++)
		if (has_tile(&m->before, s->pairs[i].src))
			add_copy(m, s->pairs[i].src, s->pairs[i].dst, origin, origin,
			         s->local.dim);
}

/* --- sums --------------------------------------------------------------------------- */

/*
 * Adds the two stages of an all-reduce of arrays of extent `whole`: member r sums part
 * number r of all, along the longest dimension, and sends it to all.
 */
static void add_sums(struct making *m, const struct step *s, const struct shape *whole)
{
	int dim = 0;
	int32_t n = s->groups.size;

	for (int i = 1; i < m->rank; i++)
		dim = whole->dim[i] > whole->dim[dim] ? i : dim;
	for (int gathers = 0; gathers < 2; gathers++) {
		add_stage(m, whole, whole);
		m->stage->adds = !gathers;
		for (int64_t i = 0; i < (int64_t)s->groups.ngroups * n * n; i++) {
			const int32_t *member = s->groups.ids + i / n / n * n;
			int32_t r = (int32_t)(i / n % n), q = (int32_t)(i % n);
			int32_t part = gathers ? r : q;
			int64_t at[RANK_MAX] = {0}, size[RANK_MAX];

			memcpy(size, whole->dim, sizeof(size));
			if (m->rank > 0) {
				at[dim] = size[dim] * part / n;
				size[dim] = size[dim] * (part + 1) / n - at[dim];
			}
			if (m->rank > 0 ? size[dim] > 0 : part == 0)
				add_copy(m, member[r], member[q], at, at, size);
		}
		keep_others(m, s, whole);
	}
}

/* Finds where the array that a group sums begins: the lowest of its tiles after the step. */
static void group_origin(const struct making *m, const struct step *s,
                         const int32_t *member, int64_t *out)
{
	for (int i = 0; i < m->rank; i++) {
		out[i] = INT64_MAX;
		for (int32_t r = 0; r < s->groups.size; r++) {
			int64_t at = m->after.start[(int64_t)member[r] * m->rank + i];

			out[i] = at < out[i] ? at : out[i];
		}
	}
}

/* Tiles are put among zeros, summed, and cut out again. */
static void add_sum_tiles(struct making *m, const struct step *s)
{
	struct shape tile = s->before_local;

	add_stage(m, &tile, &s->summed);
	for (int after = 0; after < 2; after++) {
		const struct lay *lay = after ? &m->after : &m->before;

		if (after) {
			add_sums(m, s, &s->summed);
			add_stage(m, &s->summed, &s->local);
		}
		for (int32_t k = 0; k < s->groups.ngroups * s->groups.size; k++) {
			int32_t d = s->groups.ids[k];
			int64_t at[RANK_MAX], size[RANK_MAX];

			if (!has_tile(lay, d))
				continue;
			group_origin(m, s,
			             s->groups.ids + k / s->groups.size * s->groups.size,
			             at);
			for (int i = 0; i < m->rank; i++) {
				int64_t rest;

				at[i] = lay->start[(int64_t)d * m->rank + i] - at[i];
				rest = s->summed.dim[i] - at[i];
				size[i] = lay->tile.dim[i] < rest ? lay->tile.dim[i]
				                                  : rest;
				assert(at[i] >= 0);
				size[i] = size[i] > 0 ? size[i] : 0;
			}
			add_copy(m, d, d, after ? at : origin, after ? origin : at,
			         size);
		}
	}
}

/* --- boxes -------------------------------------------------------------------------- */

/* Finds the tile of a device as a box of elements; false if that is empty. */
static bool tile_bounds(int64_t *out, const struct making *m, const struct lay *l,
                        int32_t d)
{
	bool any = has_tile(l, d);

	for (int i = 0; i < m->rank && any; i++) {
		int64_t lo = l->start[(int64_t)d * m->rank + i],
			hi = lo + l->tile.dim[i];
		int64_t end = m->plan->shape.dim[i];

		out[2 * i] = lo;
		out[2 * i + 1] = hi < end ? hi : end;
		any = out[2 * i + 1] > lo;
	}
	return any;
}

static bool common(int64_t *out, const int64_t *a, const int64_t *b, int rank)
{
	bool any = true;

	for (int i = 0; i < rank; i++) {
		out[2 * i] = a[2 * i] > b[2 * i] ? a[2 * i] : b[2 * i];
		out[2 * i + 1] =
			a[2 * i + 1] < b[2 * i + 1] ? a[2 * i + 1] : b[2 * i + 1];
		any = any && out[2 * i] < out[2 * i + 1];
	}
	return any;
}

static bool inside(const int64_t *a, const int64_t *b, int rank)
{
	for (int i = 0; i < rank; i++)
		if (a[2 * i] < b[2 * i] || a[2 * i + 1] > b[2 * i + 1])
			return false;
	return true;
}

/* Adds a box, by its bounds in the array, from a buffer of src to the new tile of dst. */
static struct copy *add_box(struct making *m, int32_t src, int32_t dst,
                            const int64_t *bounds, const struct held *from)
{
	int64_t out[RANK_MAX], in[RANK_MAX], size[RANK_MAX];
	struct copy *c;

	for (int i = 0; i < m->rank; i++) {
		out[i] = bounds[2 * i] -
		         (from ? from->bounds[2 * i]
		               : m->before.start[(int64_t)src * m->rank + i]);
		in[i] = m->stage->holds
		                ? 0
		                : bounds[2 * i] -
		                          m->after.start[(int64_t)dst * m->rank + i];
		size[i] = bounds[2 * i + 1] - bounds[2 * i];
	}
	c = add_copy(m, src, dst, out, in, size);
	c->from_buffer = from ? from->number : 0;
	return c;
}

static struct copy *add_transfer(struct making *m, const struct transfer *t)
{
	const struct held *from = NULL;
	int64_t tile[2 * RANK_MAX];

	if (!tile_bounds(tile, m, &m->before, t->src) ||
	    !inside(t->bounds, tile, m->rank)) {
		from = m->held[t->src];
		while (from && !inside(t->bounds, from->bounds, m->rank))
			from = from->next;
		assert(from);
	}
	return add_box(m, t->src, t->dst, t->bounds, from);
}

static void add_parts(struct making *m, const struct step *s)
{
	const struct held **now = arena_dup(m->arena, m->held, (size_t)m->ndevices,
	                                    sizeof(struct held *));

	add_stage(m, &s->before_local, &s->before_local);
	m->stage->holds = true;
	for (int64_t i = 0; i < s->ntransfers; i++) {
		const struct transfer *t = &s->transfers[i];
		struct held *h = arena_alloc(m->arena, 1, sizeof(*h));

		*h = (struct held){.bounds = t->bounds, .next = now[t->dst]};
		h->number = h->next ? h->next->number + 1 : 1;
		now[t->dst] = h;
		add_transfer(m, t)->to_buffer = h->number;
	}
	m->held = now;
}

static void add_retile(struct making *m, const struct step *s)
{
	add_stage(m, &s->before_local, &s->local);
	for (int32_t d = 0; d < m->ndevices; d++) {
		int64_t want[2 * RANK_MAX] = {0}, old[2 * RANK_MAX] = {0};
		int64_t both[2 * RANK_MAX];

		if (!tile_bounds(want, m, &m->after, d))
			continue;
		for (const struct held *h = m->held[d]; h && s->op == OP_PAD;
		     h = h->next)
			if (common(both, want, h->bounds, m->rank))
				add_box(m, d, d, both, h);
		if (tile_bounds(old, m, &m->before, d) &&
		    common(both, want, old, m->rank))
			add_box(m, d, d, both, NULL);
	}
	for (int64_t i = 0; i < s->ntransfers; i++)
		add_transfer(m, &s->transfers[i]);
	m->held = arena_alloc(m->arena, (size_t)m->ndevices, sizeof(struct held *));
}

/* --- plans -------------------------------------------------------------------------- */

static void add_step(struct making *m, const struct step *s)
{
	const struct step *last = m->step > 0 ? s - 1 : NULL;

	m->before = find_lay(m, plan_before(m->plan, m->step),
	                     last ? last->mesh : &m->plan->problem->mesh,
	                     &s->before_local, last ? last->start : NULL);
	m->after = find_lay(m, &s->after, s->mesh, &s->local, s->start);
	if (s->op == OP_EXCHANGE || s->op == OP_PAD)
		add_retile(m, s);
	else if (s->op == OP_PERMUTE && s->transfers)
		add_parts(m, s);
	else if (s->op == OP_PERMUTE)
		add_permute(m, s);
	else if (s->op == OP_SLICE)
		add_slice(m, s);
	else if (s->op == OP_ALL_REDUCE && s->gathers)
		add_sum_tiles(m, s);
	else if (s->op == OP_ALL_REDUCE)
		add_sums(m, s, &s->local);
	else
		add_groups(m, s);
}

static void find_units(struct copies *c)
{
	const struct plan *p = c->plan;
	const struct problem *q = p->problem;

	for (int k = 0; k < p->shape.rank; k++) {
		int64_t u =
			gcd(p->shape.dim[k], layout_local(&p->from, &p->shape).dim[k]);
		int dim = p->view ? p->view->dim[k] : k;

		u = gcd(u, layout_local(&p->to, &p->shape).dim[k]);
		if (!p->view)
			u = gcd(u, q->array.shape.dim[k]);
		else if (q->array.shape.dim[dim] != q->padded.dim[dim])
			u = 1;
		for (int64_t i = 0; i < c->stages.n; i++) {
			const struct stage *s = &c->stages.at[i];

			u = gcd(gcd(u, s->before.dim[k]), s->after.dim[k]);
			for (int64_t j = 0; j < s->copies.n; j++) {
				u = gcd(u, s->copies.at[j].from[k]);
				u = gcd(u, s->copies.at[j].to[k]);
				u = gcd(u, s->copies.at[j].size[k]);
			}
		}
		c->unit[k] = u;
	}
}

bool copies_make(struct copies *out, const struct plan *p, struct arena *a,
                 struct text *why)
{
	struct making m = {.c = out, .plan = p, .arena = a, .rank = p->shape.rank};

	*out = (struct copies){.plan = p, .arena = a};
	m.ndevices = p->problem->ndevices;
	m.held = arena_alloc(a, (size_t)m.ndevices, sizeof(struct held *));
	for (m.step = 0; m.step < p->nsteps; m.step++) {
		const struct step *s = &p->step[m.step];
		int64_t q = s->groups.size;

		if (out->ncopies + q * q * s->groups.ngroups + s->ntransfers >
		    COPIES_MAX) {
			text_printf(
				why,
				"the plan moves more than %d boxes, too many to list: "
				"--emit jax, torch or stablehlo says collectives",
				COPIES_MAX);
			return false;
		}
		add_step(&m, s);
	}
	find_units(out);
	return true;
}
