#include "plan/check.h"

#include "array/tile.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Consecutive indices [lo, hi) of one dimension of the padded array. */
struct run {
	int64_t lo, hi;
};

/* An ordered list of runs, neighbours that continue each other merged. */
struct list {
	int32_t n;
	const struct run *run;
};

/*
 * What all devices hold: list[d * width + dim]. One more list than there are dimensions:
 * the last is [0, 1) where the device has data, so that a scalar can be missing, too.
 * No data: every list empty.
 */
struct state {
	const struct plan *plan;
	struct arena *arena;
	int rank, width;
	int32_t ndevices;
	struct list *list;
	struct text *why;
};

static int64_t list_length(struct list l)
{
	int64_t n = 0;

	for (int32_t i = 0; i < l.n; i++)
		n += l.run[i].hi - l.run[i].lo;
	return n;
}

static bool list_equal(struct list a, struct list b)
{
	return a.n == b.n && (a.run == b.run || a.n == 0 ||
	                      memcmp(a.run, b.run, (size_t)a.n * sizeof(*a.run)) == 0);
}

/* `count` lists one after another. */
static struct list list_join(struct arena *a, const struct list *parts, int32_t count)
{
	int32_t total = 0;
	struct list out = {0};
	struct run *run;

	for (int32_t i = 0; i < count; i++)
		total += parts[i].n;
	run = arena_alloc(a, (size_t)total, sizeof(*run));
	out.run = run;
	for (int32_t i = 0; i < count; i++) {
		for (int32_t k = 0; k < parts[i].n; k++) {
			struct run r = parts[i].run[k];

			if (out.n && run[out.n - 1].hi == r.lo)
				run[out.n - 1].hi = r.hi;
			else
				run[out.n++] = r;
		}
	}
	return out;
}

/* Block number `block` of `factor` equal ones; false if the length does not divide. */
static bool list_block(struct list *out, struct arena *a, struct list l, int32_t block,
                       int32_t factor)
{
	int64_t length = list_length(l), skip, take;
	struct run *run = arena_alloc(a, (size_t)l.n, sizeof(*run));

	*out = (struct list){.run = run};
	if (length % factor != 0 || block < 0 || block >= factor)
		return false;
	take = length / factor;
	skip = take * block;
	for (int32_t i = 0; i < l.n && take > 0; i++) {
		int64_t n = l.run[i].hi - l.run[i].lo;
		struct run r = l.run[i];

		if (skip >= n) {
			skip -= n;
			continue;
		}
		r.lo += skip;
		skip = 0;
		if (r.hi - r.lo > take)
			r.hi = r.lo + take;
		take -= r.hi - r.lo;
		run[out->n++] = r;
	}
	return true;
}

static struct list *tile(const struct state *s, int32_t device)
{
	return s->list + (int64_t)device * s->width;
}

static bool wrong(struct state *s, int step, const char *reason, int32_t device)
{
	text_printf(s->why, "step %d (%s): %s", step + 1,
	            op_name(s->plan->step[step].op), reason);
	if (device >= 0)
		text_printf(s->why, " (device %d)", device);
	return false;
}

/* Chunk number of group member r in move `which`. */
static int32_t member_chunk(const struct step *step, int32_t r, int which)
{
	for (int k = step->nmoves - 1; k > which; k--)
		r /= step->move[k].factor;
	return r % step->move[which].factor;
}

/* Moves use every dimension at most once, and only those that the op has. */
static bool check_moves(struct state *s, int i)
{
	const struct step *step = &s->plan->step[i];
	bool used[RANK_MAX] = {false};
	bool from = step->op == OP_ALL_GATHER || step->op == OP_ALL_TO_ALL;
	bool to = step->op == OP_SLICE || step->op == OP_ALL_TO_ALL;

	for (int k = 0; k < step->nmoves; k++) {
		const struct move *m = &step->move[k];
		int dims[2] = {m->from_dim, m->to_dim};
		bool wanted[2] = {from, to};

		if (m->factor < 2)
			return wrong(s, i, "a move over fewer than two devices", -1);
		for (int j = 0; j < 2; j++) {
			if (!wanted[j]) {
				if (dims[j] != -1)
					return wrong(s, i, "a dimension too many", -1);
				continue;
			}
			if (dims[j] < 0 || dims[j] >= s->rank)
				return wrong(s, i, "a dimension out of range", -1);
			if (used[dims[j]])
				return wrong(s, i, "a dimension used twice", -1);
			used[dims[j]] = true;
		}
	}
	return step->nmoves > 0 || wrong(s, i, "no moves", -1);
}

/* Groups cut the devices into sets of the moves' product of factors. */
static bool check_groups(struct state *s, int i)
{
	const struct groups *g = &s->plan->step[i].groups;
	bool *seen = arena_alloc(s->arena, (size_t)s->ndevices, sizeof(*seen));
	int64_t size = 1;

	for (int k = 0; k < s->plan->step[i].nmoves; k++)
		size *= s->plan->step[i].move[k].factor;
	if (g->size != size || (int64_t)g->ngroups * g->size != s->ndevices)
		return wrong(s, i, "groups do not fit the moves", -1);
	for (int32_t k = 0; k < s->ndevices; k++) {
		int32_t d = g->ids[k];

		if (d < 0 || d >= s->ndevices || seen[d])
			return wrong(s, i, "a device in no group or in two", d);
		seen[d] = true;
	}
	return true;
}

/*
 * The lists of a group must be a product: in dimension `dim` of move `which` they depend
 * on the member's chunk in that move only, in all other dimensions on nothing.
 */
static bool check_product(struct state *s, int i, const int32_t *member, int dim,
                          int which)
{
	const struct step *step = &s->plan->step[i];

	for (int32_t r = 0; r < step->groups.size; r++) {
		int32_t peer = 0;

		if (which >= 0) {
			peer = member_chunk(step, r, which);
			for (int k = which + 1; k < step->nmoves; k++)
				peer *= step->move[k].factor;
		}
		if (!list_equal(tile(s, member[r])[dim], tile(s, member[peer])[dim]))
			return wrong(s, i, "members hold tiles that do not fit together",
			             member[r]);
	}
	return true;
}

static bool run_slice(struct state *s, int i, struct list *next)
{
	const struct step *step = &s->plan->step[i];

	for (int32_t d = 0; d < s->ndevices; d++) {
		struct list *out = next + (int64_t)d * s->width;

		for (int k = 0; k < step->nmoves; k++) {
			int dim = step->move[k].to_dim;
			int32_t chunk = step->chunk[(int64_t)d * step->nmoves + k];

			if (!list_block(&out[dim], s->arena, tile(s, d)[dim], chunk,
			                step->move[k].factor))
				return wrong(s, i, "the tile does not divide", d);
		}
	}
	return true;
}

/* All members' blocks of dimension from_dim of move k, in chunk order. */
static struct list gathered(struct state *s, const struct step *step,
                            const int32_t *member, int k)
{
	int32_t factor = step->move[k].factor, stride = 1;
	struct list *parts = arena_alloc(s->arena, (size_t)factor, sizeof(*parts));

	for (int j = k + 1; j < step->nmoves; j++)
		stride *= step->move[j].factor;
	for (int32_t c = 0; c < factor; c++)
		parts[c] = tile(s, member[c * stride])[step->move[k].from_dim];
	return list_join(s->arena, parts, factor);
}

static bool run_group(struct state *s, int i, const int32_t *member, struct list *next)
{
	const struct step *step = &s->plan->step[i];
	int mover[RANK_MAX + 1];

	for (int dim = 0; dim < s->width; dim++)
		mover[dim] = -1;
	for (int k = 0; k < step->nmoves; k++)
		mover[step->move[k].from_dim] = k;
	for (int dim = 0; dim < s->width; dim++)
		if (!check_product(s, i, member, dim, mover[dim]))
			return false;
	for (int k = 0; k < step->nmoves; k++) {
		const struct move *m = &step->move[k];
		struct list whole = gathered(s, step, member, k);

		for (int32_t r = 0; r < step->groups.size; r++) {
			struct list *out = next + (int64_t)member[r] * s->width;

			out[m->from_dim] = whole;
			if (m->to_dim >= 0 &&
			    !list_block(&out[m->to_dim], s->arena,
			                tile(s, member[r])[m->to_dim],
			                member_chunk(step, r, k), m->factor))
				return wrong(s, i, "the tile does not divide", member[r]);
		}
	}
	return true;
}

static bool run_permute(struct state *s, int i, struct list *next)
{
	const struct step *step = &s->plan->step[i];
	bool *sent = arena_alloc(s->arena, (size_t)s->ndevices, sizeof(*sent));
	bool *got = arena_alloc(s->arena, (size_t)s->ndevices, sizeof(*got));
	size_t row = (size_t)s->width * sizeof(*next);

	memset(next, 0, (size_t)s->ndevices * row);
	for (int32_t k = 0; k < step->npairs; k++) {
		struct pair p = step->pairs[k];

		if (p.src < 0 || p.src >= s->ndevices || p.dst < 0 || p.dst >= s->ndevices)
			return wrong(s, i, "a pair names a device that is not there", -1);
		if (sent[p.src] || got[p.dst])
			return wrong(s, i, "two pairs with one source or destination",
			             sent[p.src] ? p.src : p.dst);
		sent[p.src] = got[p.dst] = true;
		memcpy(next + (int64_t)p.dst * s->width, tile(s, p.src), row);
	}
	return true;
}

static bool run_step(struct state *s, int i)
{
	const struct step *step = &s->plan->step[i];
	size_t cells = (size_t)s->ndevices * (size_t)s->width;
	struct list *next = arena_dup(s->arena, s->list, cells, sizeof(*next));

	switch (step->op) {
	case OP_SLICE:
		if (!check_moves(s, i) || !run_slice(s, i, next))
			return false;
		break;
	case OP_ALL_GATHER:
	case OP_ALL_TO_ALL:
		if (!check_moves(s, i) || !check_groups(s, i))
			return false;
		for (int32_t g = 0; g < step->groups.ngroups; g++)
			if (!run_group(s, i, step->groups.ids + (int64_t)g * step->groups.size,
			               next))
				return false;
		break;
	case OP_PERMUTE:
		if (!run_permute(s, i, next))
			return false;
		break;
	default:
		return wrong(s, i, "this op needs an unreduced array", -1);
	}
	s->list = next;
	return true;
}

static bool has_tile(const struct layout *l, int32_t device)
{
	return l->kind != LAYOUT_MAXIMAL || l->maximal_device == device;
}

/* Every device must hold exactly the tile that a layout gives it, padding included. */
static bool compare(struct state *s, const struct layout *l, const struct mesh *m,
                    const char *what)
{
	const struct shape *g = &s->plan->problem->padded;
	struct tilemap map = tilemap_make(l, m, g, s->arena);

	for (int32_t d = 0; d < s->ndevices; d++) {
		if (has_tile(l, d) && tile(s, d)[s->rank].n == 0) {
			text_printf(s->why, "%s: device %d holds nothing", what, d);
			return false;
		}
		for (int dim = 0; dim < s->rank; dim++) {
			int32_t index = map.index[(int64_t)d * s->rank + dim];
			int64_t size = map.tile.dim[dim];
			struct run want = {index * size, (index + 1) * size};
			struct list have = tile(s, d)[dim];

			if (index < 0 || (have.n == 1 && have.run[0].lo == want.lo &&
			                  have.run[0].hi == want.hi))
				continue;
			text_printf(s->why,
			            "%s: device %d holds %lld elements of dimension %d in "
			            "%d runs from %lld, wanted [%lld, %lld)",
			            what, d, (long long)list_length(have), dim, have.n,
			            have.n ? (long long)have.run[0].lo : -1LL,
			            (long long)want.lo, (long long)want.hi);
			return false;
		}
	}
	return true;
}

static struct state start(const struct plan *p, struct arena *a, struct text *why)
{
	const struct problem *q = p->problem;
	int rank = q->array.shape.rank, width = rank + 1;
	struct state s = {.plan = p, .arena = a, .rank = rank, .width = width,
	                  .ndevices = q->mesh.ndevices, .why = why};
	struct tilemap map = tilemap_make(&q->from, &q->mesh, &q->padded, a);
	size_t cells = (size_t)s.ndevices * (size_t)width;
	struct run *run = arena_alloc(a, cells, sizeof(*run));

	s.list = arena_alloc(a, cells, sizeof(*s.list));
	for (size_t i = 0; i < cells; i++) {
		int32_t d = (int32_t)(i / (size_t)width), dim = (int32_t)(i % (size_t)width);
		int64_t size = dim < rank ? map.tile.dim[dim] : 1;
		int64_t index = dim < rank ? map.index[(int64_t)d * rank + dim] : 0;

		if (!has_tile(&q->from, d))
			continue;
		run[i] = (struct run){index * size, (index + 1) * size};
		s.list[i] = (struct list){.n = 1, .run = &run[i]};
	}
	return s;
}

bool plan_check(const struct plan *p, struct text *why)
{
	struct arena *a = arena_new();
	struct state s = start(p, a, why);
	bool ok = true;

	for (int i = 0; i < p->nsteps && ok; i++) {
		char what[64];

		snprintf(what, sizeof(what), "after step %d (%s)", i + 1,
		         op_name(p->step[i].op));
		ok = run_step(&s, i) &&
		     compare(&s, &p->step[i].after, &p->problem->mesh, what);
	}
	ok = ok && compare(&s, &p->problem->to, &p->problem->to_mesh, "at the end");
	arena_free(a);
	return ok;
}

/* Elements of a product of lists, cut off at `limit` per dimension. */
static int64_t volume(const struct list *l, const struct shape *limit)
{
	int64_t product = 1;

	for (int dim = 0; dim < limit->rank; dim++) {
		int64_t n = 0;

		for (int32_t i = 0; i < l[dim].n; i++) {
			struct run r = l[dim].run[i];

			r.hi = r.hi < limit->dim[dim] ? r.hi : limit->dim[dim];
			n += r.hi > r.lo ? r.hi - r.lo : 0;
		}
		product *= n;
	}
	return product;
}

/* What device d had of its new tile before the step: list by list intersections. */
static int64_t kept(struct state *s, const struct list *before, const struct list *after,
                    const struct shape *limit)
{
	struct list *both = arena_alloc(s->arena, (size_t)s->rank, sizeof(*both));

	for (int dim = 0; dim < s->rank; dim++) {
		struct list a = before[dim], b = after[dim];
		struct run *run = arena_alloc(s->arena, (size_t)(a.n * b.n), sizeof(*run));

		both[dim].run = run;
		for (int32_t i = 0; i < a.n; i++)
			for (int32_t k = 0; k < b.n; k++) {
				int64_t lo = a.run[i].lo, hi = a.run[i].hi;

				lo = lo > b.run[k].lo ? lo : b.run[k].lo;
				hi = hi < b.run[k].hi ? hi : b.run[k].hi;
				if (lo < hi)
					run[both[dim].n++] = (struct run){lo, hi};
			}
	}
	return volume(both, limit);
}

static bool stays(const struct step *step, int32_t d)
{
	for (int32_t i = 0; i < step->npairs; i++)
		if (step->pairs[i].dst == d)
			return step->pairs[i].src == d;
	return true;
}

void plan_count(const struct plan *p, struct arena *a, int64_t **received,
                int64_t **received_real)
{
	struct text why = {0};
	struct state s = start(p, a, &why);
	size_t cells = (size_t)s.ndevices * (size_t)p->nsteps;
	const struct shape *limit[2] = {&p->problem->padded, &p->problem->array.shape};
	int64_t *out[2];

	out[0] = *received = arena_alloc(a, cells, sizeof(int64_t));
	out[1] = *received_real = arena_alloc(a, cells, sizeof(int64_t));
	for (int i = 0; i < p->nsteps; i++) {
		struct list *before = s.list;
		const struct step *step = &p->step[i];

		if (!run_step(&s, i))
			break;
		for (int32_t d = 0; d < s.ndevices; d++) {
			const struct list *was = before + (int64_t)d * s.width;
			int64_t at = (int64_t)i * s.ndevices + d;

			for (int k = 0; k < 2; k++) {
				out[k][at] = volume(tile(&s, d), limit[k]);
				if (step->op != OP_PERMUTE)
					out[k][at] -= kept(&s, was, tile(&s, d), limit[k]);
				else if (stays(step, d))
					out[k][at] = 0;
			}
		}
	}
	text_free(&why);
}
