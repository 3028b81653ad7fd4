/* The steps of a plan as runs of memory that GPUs copy, send, and add up. */
#include "emit/msccl.h"

#include "array/tile.h"

#include <string.h>

/* --- runs ----------------------------------------------------------------------------- */

static void add_run(struct hops *m, struct hop like, int64_t from, int64_t to, int64_t n)
{
	like.from_at = from;
	like.to_at = to;
	like.n = n;
	if (m->list.n <= HOPS_MAX)
		*list_add(&m->list, m->arena) = like;
}

/* Adds the runs of a box of `size` that is at `a` of a tile and comes to `b` of another. */
static void add_box(struct hops *m, struct hop like, const struct shape *from,
                    const int64_t *a, const struct shape *to, const int64_t *b,
                    const struct shape *size)
{
	int dim = size->rank - 1;
	int64_t run = 1, rows = 1, at[RANK_MAX] = {0};

	for (; dim >= 0 && size->dim[dim] == from->dim[dim] &&
	       size->dim[dim] == to->dim[dim];
	     dim--)
		run *= size->dim[dim];
	if (dim >= 0)
		run *= size->dim[dim];
	for (int i = 0; i < dim; i++)
		rows *= size->dim[i];
	for (; rows > 0 && m->list.n <= HOPS_MAX; rows--) {
		int64_t x = 0, y = 0;

		for (int i = 0; i < size->rank; i++) {
			x = x * from->dim[i] + a[i] + at[i];
			y = y * to->dim[i] + b[i] + at[i];
		}
		add_run(m, like, x, y, run);
		for (int i = dim - 1; i >= 0 && ++at[i] == size->dim[i]; i--)
			at[i] = 0;
	}
}

/* --- steps of the plan ---------------------------------------------------------------- */

static void find_chunks(int32_t *out, const struct step *s, int32_t place)
{
	for (int k = s->nmoves - 1; k >= 0; k--) {
		out[k] = place % s->move[k].factor;
		place /= s->move[k].factor;
	}
}

/* Stores where the block of these chunk numbers begins; `gathered`: along from_dim. */
static void find_block(int64_t *at, const struct step *s, const int32_t *chunk,
                       const struct shape *block, bool gathered)
{
	memset(at, 0, RANK_MAX * sizeof(*at));
	for (int k = 0; k < s->nmoves; k++) {
		int dim = gathered ? s->move[k].from_dim : s->move[k].to_dim;

		if (dim >= 0)
			at[dim] = chunk[k] * block->dim[dim];
	}
}

static struct shape block_shape(const struct step *s)
{
	struct shape block = s->before_local;

	for (int k = 0; k < s->nmoves; k++)
		if (s->move[k].to_dim >= 0)
			block.dim[s->move[k].to_dim] /= s->move[k].factor;
	return block;
}

/* Adds what member r of a group receives, its own part first. */
static void add_member(struct hops *m, const struct step *s, const int32_t *id,
                       int32_t r, struct hop like)
{
	struct shape block = block_shape(s);
	int32_t own[RANK_MAX], chunk[RANK_MAX];
	int64_t a[RANK_MAX], b[RANK_MAX];

	find_chunks(own, s, r);
	find_block(a, s, own, &block, false);
	for (int32_t k = 0; k < s->groups.size; k++) {
		int32_t peer = (r + k) % s->groups.size;

		find_chunks(chunk, s, peer);
		find_block(b, s, chunk, &block, true);
		like.src = id[peer];
		like.dst = id[r];
		like.adds = s->op == OP_REDUCE_SCATTER && k > 0;
		add_box(m, like, &s->before_local, a, &s->local, b, &block);
	}
}

static void add_groups(struct hops *m, const struct step *s, struct hop like)
{
	for (int32_t g = 0; g < s->groups.ngroups; g++)
		for (int32_t r = 0; r < s->groups.size; r++)
			add_member(m, s, s->groups.ids + (int64_t)g * s->groups.size, r,
			           like);
}

/* Adds a sum of the linear buffer: its parts, then these to all. */
static bool add_sum(struct hops *m, const struct step *s, struct hop like,
                    struct text *why)
{
	int64_t n = shape_elements(&s->local), q = s->groups.size, part = n / q;

	if (n % q) {
		text_printf(
			why,
			"an all-reduce of %lld elements, no multiple of %lld devices",
			(long long)n, (long long)q);
		return false;
	}
	for (int64_t i = 0; i < s->groups.ngroups * q * q; i++) {
		const int32_t *id = s->groups.ids + i / (q * q) * q;
		int64_t r = i / q % q, k = i % q;

		like.dst = id[r];
		like.src = id[(r + k) % q];
		like.adds = k > 0;
		add_run(m, like, r * part, 0, part);
	}
	like = (struct hop){.from = like.to, .to = like.to + 1};
	*list_add(&m->size, m->arena) = part;
	for (int64_t i = 0; i < s->groups.ngroups * q * q; i++) {
		const int32_t *id = s->groups.ids + i / (q * q) * q;

		like.dst = id[i / q % q];
		like.src = id[i % q];
		add_run(m, like, 0, i % q * part, part);
	}
	return true;
}

static void add_slice(struct hops *m, const struct step *s, struct hop like)
{
	struct shape block = block_shape(s);
	const int64_t zero[RANK_MAX] = {0};
	int64_t at[RANK_MAX];

	for (int32_t d = 0; d < m->plan->problem->ndevices; d++) {
		find_block(at, s, s->chunk + (int64_t)d * s->nmoves, &block, false);
		like.src = like.dst = d;
		add_box(m, like, &s->before_local, at, &s->local, zero, &block);
	}
}

/* Adds a box of the array that lies in the tiles of both devices. */
static void add_common(struct hops *m, const struct step *s, struct hop like,
                       const int64_t *bounds, const struct tilemap *from,
                       const struct tilemap *to)
{
	int rank = m->plan->shape.rank;
	struct shape size = {.rank = rank};
	int64_t a[RANK_MAX], b[RANK_MAX];

	for (int i = 0; i < rank; i++) {
		a[i] = bounds[2 * i] - from->index[(int64_t)like.src * rank + i] *
		                               s->before_local.dim[i];
		b[i] = bounds[2 * i] -
		       to->index[(int64_t)like.dst * rank + i] * s->local.dim[i];
		size.dim[i] = bounds[2 * i + 1] - bounds[2 * i];
	}
	add_box(m, like, &s->before_local, a, &s->local, b, &size);
}

static void add_exchange(struct hops *m, int step, struct hop like)
{
	const struct plan *p = m->plan;
	const struct step *s = &p->step[step];
	struct tilemap from = tilemap_make(plan_before(p, step), &p->problem->mesh,
	                                   &p->shape, m->arena);
	struct tilemap to = tilemap_make(&s->after, s->mesh, &p->shape, m->arena);

	for (int32_t d = 0; d < p->problem->ndevices; d++) {
		int64_t bounds[2 * RANK_MAX], lo[2], hi[2];
		bool meet = true;

		for (int i = 0; i < p->shape.rank; i++) {
			tilemap_interval(&from, &p->shape, d, i, &lo[0], &hi[0]);
			tilemap_interval(&to, &p->shape, d, i, &lo[1], &hi[1]);
			bounds[2 * i] = lo[0] > lo[1] ? lo[0] : lo[1];
			bounds[2 * i + 1] = hi[0] < hi[1] ? hi[0] : hi[1];
			meet = meet && bounds[2 * i] < bounds[2 * i + 1];
		}
		like.src = like.dst = d;
		if (meet)
			add_common(m, s, like, bounds, &from, &to);
	}
	for (int64_t i = 0; i < s->ntransfers; i++) {
		like.src = s->transfers[i].src;
		like.dst = s->transfers[i].dst;
		add_common(m, s, like, s->transfers[i].bounds, &from, &to);
	}
}

bool hops_add_step(struct hops *m, int step, struct text *why)
{
	const struct step *s = &m->plan->step[step];
	struct hop like = {.from = (int)m->size.n - 1, .to = (int)m->size.n};

	if (s->op == OP_ALL_REDUCE && !s->gathers) {
		if (!add_sum(m, s, like, why))
			return false;
	} else if (s->op == OP_SLICE) {
		add_slice(m, s, like);
	} else if (s->op == OP_EXCHANGE) {
		add_exchange(m, step, like);
	} else if (s->op == OP_PERMUTE) {
		for (int32_t i = 0; i < s->npairs; i++) {
			like.src = s->pairs[i].src;
			like.dst = s->pairs[i].dst;
			add_run(m, like, 0, 0, shape_elements(&s->local));
		}
	} else {
		add_groups(m, s, like);
	}
	*list_add(&m->size, m->arena) = shape_elements(&s->local);
	return true;
}
