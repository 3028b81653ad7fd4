#include "digit_elements.h"

#include <string.h>

/* Count up `at` below `shape`, the last dimension fastest; false when round. */
static bool count_up(int64_t *at, const struct shape *shape)
{
	for (int dim = shape->rank - 1; dim >= 0; dim--) {
		if (++at[dim] < shape->dim[dim])
			return true;
		at[dim] = 0;
	}
	return false;
}

static int64_t number_of(const int64_t *at, const struct shape *shape)
{
	int64_t n = 0;

	for (int dim = 0; dim < shape->rank; dim++)
		n = n * shape->dim[dim] + at[dim];
	return n;
}

static struct held_elements held_new(struct arena *a, const struct shape *tile)
{
	struct held_elements h = {.tile = *tile};

	h.id = arena_alloc(a, (size_t)shape_elements(tile), sizeof(*h.id));
	return h;
}

/* Coordinate of a position in a part: (c_x / (n / (pre size))) mod size. */
static int32_t coordinate(const struct mesh *m, struct part p, int32_t position)
{
	int32_t n = m->axis[p.axis].size;

	for (int x = m->naxes - 1; x > p.axis; x--)
		position /= m->axis[x].size;
	return position % n / (n / (p.pre * p.size)) % p.size;
}

struct held_elements *elements_of_layout(const struct layout *l, const struct mesh *m,
                                         const struct shape *shape, struct arena *a)
{
	struct held_elements *all = arena_alloc(a, (size_t)m->ndevices, sizeof(*all));

	for (int32_t position = 0; position < m->ndevices; position++) {
		struct held_elements *h = &all[mesh_device(m, position)];
		int64_t at[RANK_MAX] = {0}, first[RANK_MAX], k = 0;
		struct shape tile = *shape;

		for (int dim = 0; dim < shape->rank; dim++) {
			int n;
			const struct part *part = layout_parts(l, dim, &n);

			first[dim] = 0;
			for (int i = 0; i < n; i++) {
				first[dim] = first[dim] * part[i].size +
				             coordinate(m, part[i], position);
				if (tile.dim[dim] % part[i].size != 0)
					return NULL;
				tile.dim[dim] /= part[i].size;
			}
			first[dim] *= tile.dim[dim];
		}
		*h = held_new(a, &tile);
		do {
			int64_t global[RANK_MAX];

			for (int dim = 0; dim < shape->rank; dim++)
				global[dim] = first[dim] + at[dim];
			h->id[k++] = number_of(global, shape);
		} while (count_up(at, &tile));
	}
	return all;
}

int64_t elements_real(const struct held_elements *h, const struct problem *p)
{
	int64_t real = 0;

	for (int64_t i = 0; i < shape_elements(&h->tile); i++) {
		int64_t rest = h->id[i];
		bool inside = true;

		for (int dim = p->padded.rank - 1; dim >= 0; dim--) {
			inside = inside &&
			         rest % p->padded.dim[dim] < p->array.shape.dim[dim];
			rest /= p->padded.dim[dim];
		}
		real += inside;
	}
	return real;
}

/* --- steps ------------------------------------------------------------------------ */

struct machine_state {
	const struct plan *plan;
	struct arena *arena;
	int32_t n;
	struct held_elements *held, *next;
};

static bool same_elements(const struct held_elements *a, const struct held_elements *b,
                          bool shapes)
{
	int64_t n = shape_elements(&a->tile);

	if (shapes && memcmp(a->tile.dim, b->tile.dim,
	                     (size_t)a->tile.rank * sizeof(int64_t)) != 0)
		return false;
	return a->id && n == shape_elements(&b->tile) &&
	       memcmp(a->id, b->id, (size_t)n * sizeof(*a->id)) == 0;
}

static bool all_hold(const struct machine_state *s, const struct held_elements *want,
                     bool shapes)
{
	for (int32_t d = 0; want && d < s->n; d++)
		if (!same_elements(&s->held[d], &want[d], shapes))
			return false;
	return want;
}

static bool moves_make_sense(const struct machine_state *s, const struct step *st)
{
	bool used[RANK_MAX] = {false};
	bool from = st->op == OP_ALL_GATHER || st->op == OP_ALL_TO_ALL;
	bool to = st->op == OP_SLICE || st->op == OP_ALL_TO_ALL;
	int64_t size = 1;

	for (int k = 0; k < st->nmoves; k++) {
		const struct move *m = &st->move[k];
		int dims[2] = {m->from_dim, m->to_dim};

		if ((m->from_dim >= 0) != from || (m->to_dim >= 0) != to ||
		    m->factor < 2)
			return false;
		for (int i = 0; i < 2; i++) {
			if (dims[i] < 0)
				continue;
			if (dims[i] >= s->plan->shape.rank || used[dims[i]])
				return false;
			used[dims[i]] = true;
		}
		size *= m->factor;
	}
	return st->nmoves > 0 && (st->op == OP_SLICE || size == st->groups.size);
}

/*
 * The tile of a member with these chunks: each of its elements is at `in` of the tile of
 * the member with chunks `c`.
 */
static bool collect(struct machine_state *s, const struct step *st,
                    const int32_t *member, int32_t self, const int32_t *chunk)
{
	struct shape tile = s->held[self].tile, was = tile;
	struct held_elements *out = &s->next[self];
	int64_t at[RANK_MAX] = {0}, k = 0;

	for (int i = 0; i < st->nmoves; i++) {
		const struct move *m = &st->move[i];

		if (m->to_dim >= 0 && tile.dim[m->to_dim] % m->factor != 0)
			return false;
		if (m->to_dim >= 0)
			tile.dim[m->to_dim] /= m->factor;
		if (m->from_dim >= 0)
			tile.dim[m->from_dim] *= m->factor;
	}
	*out = held_new(s->arena, &tile);
	do {
		int64_t in[RANK_MAX];
		int32_t who = 0;
		const struct held_elements *source = &s->held[self];

		memcpy(in, at, sizeof(in));
		for (int i = 0; i < st->nmoves; i++) {
			const struct move *m = &st->move[i];

			if (m->from_dim >= 0) {
				int64_t block = was.dim[m->from_dim];

				who = who * m->factor +
				      (int32_t)(at[m->from_dim] / block);
				in[m->from_dim] %= block;
			}
			if (m->to_dim >= 0)
				in[m->to_dim] += chunk[i] * tile.dim[m->to_dim];
		}
		if (member)
			source = &s->held[member[who]];
		if (memcmp(source->tile.dim, was.dim, sizeof(was.dim)) != 0 ||
		    !source->id)
			return false;
		out->id[k++] = source->id[number_of(in, &was)];
	} while (count_up(at, &tile));
	return true;
}

static bool run_groups(struct machine_state *s, const struct step *st)
{
	const struct groups *g = &st->groups;
	bool seen[256] = {false};

	if (!moves_make_sense(s, st) || (int64_t)g->ngroups * g->size > s->n)
		return false;
	for (int32_t i = 0; i < g->ngroups * g->size; i++) {
		const int32_t *member = g->ids + i / g->size * g->size;
		int32_t chunk[RANK_MAX], rest = i % g->size, d = g->ids[i];

		if (d < 0 || d >= s->n || seen[d])
			return false;
		seen[d] = true;
		for (int k = st->nmoves - 1; k >= 0; k--) {
			chunk[k] = rest % st->move[k].factor;
			rest /= st->move[k].factor;
		}
		if (!collect(s, st, member, d, chunk))
			return false;
	}
	return true;
}

static bool run_slice(struct machine_state *s, const struct step *st)
{
	if (!moves_make_sense(s, st))
		return false;
	for (int32_t d = 0; d < s->n; d++) {
		const int32_t *chunk = st->chunk + (int64_t)d * st->nmoves;

		for (int k = 0; k < st->nmoves; k++)
			if (chunk[k] < 0 || chunk[k] >= st->move[k].factor)
				return false;
		if (!collect(s, st, NULL, d, chunk))
			return false;
	}
	return true;
}

static bool run_permute(struct machine_state *s, const struct step *st)
{
	bool sent[256] = {false};

	for (int32_t d = 0; d < s->n; d++)
		s->next[d].id = NULL;
	for (int32_t i = 0; i < st->npairs; i++) {
		struct pair p = st->pairs[i];

		if (p.src < 0 || p.src >= s->n || p.dst < 0 || p.dst >= s->n ||
		    sent[p.src] || s->next[p.dst].id)
			return false;
		sent[p.src] = true;
		s->next[p.dst] = s->held[p.src];
	}
	return true;
}

static bool holds(const struct held_elements *h, int64_t id)
{
	for (int64_t i = 0; h->id && i < shape_elements(&h->tile); i++)
		if (h->id[i] == id)
			return true;
	return false;
}

static bool run_exchange(struct machine_state *s, const struct step *st)
{
	const struct shape *g = &s->plan->shape;
	struct held_elements *want =
		elements_of_layout(&st->after, st->mesh, g, s->arena);
	size_t n = (size_t)shape_elements(g);
	char *got = arena_alloc(s->arena, (size_t)s->n * n, 1);

	if (!want)
		return false;
	for (int64_t i = 0; i < st->ntransfers; i++) {
		const struct transfer *t = &st->transfers[i];
		int64_t at[RANK_MAX] = {0}, global[RANK_MAX], count = 0;
		struct shape box = *g;

		for (int dim = 0; dim < g->rank; dim++) {
			box.dim[dim] = t->bounds[2 * dim + 1] - t->bounds[2 * dim];
			if (box.dim[dim] < 1 || t->bounds[2 * dim] < 0 ||
			    t->bounds[2 * dim + 1] > g->dim[dim])
				return false;
		}
		do {
			int64_t id;

			for (int dim = 0; dim < g->rank; dim++)
				global[dim] = at[dim] + t->bounds[2 * dim];
			id = number_of(global, g);
			if (!holds(&s->held[t->src], id) ||
			    holds(&s->held[t->dst], id) || !holds(&want[t->dst], id) ||
			    got[t->dst * (int64_t)n + id]++)
				return false;
			count++;
		} while (count_up(at, &box));
		if (count != t->elements)
			return false;
	}
	for (int32_t d = 0; d < s->n; d++)
		for (int64_t i = 0; i < shape_elements(&want[d].tile); i++)
			if (!got[d * (int64_t)n + want[d].id[i]] &&
			    !holds(&s->held[d], want[d].id[i]))
				return false;
	s->next = want;
	return true;
}

bool elements_prove(const struct plan *p, struct arena *a)
{
	const struct problem *q = p->problem;
	struct machine_state s = {.plan = p, .arena = a, .n = q->mesh.ndevices};

	s.held = elements_of_layout(&p->from, &q->mesh, &p->shape, a);
	if (!s.held ||
	    !all_hold(&s, elements_of_layout(&q->from, &q->mesh, &q->padded, a), false))
		return false;
	for (int i = 0; i < p->nsteps; i++) {
		const struct step *st = &p->step[i];
		bool ran;

		s.next = arena_dup(a, s.held, (size_t)s.n, sizeof(*s.next));
		ran = st->op == OP_SLICE      ? run_slice(&s, st)
		      : st->op == OP_PERMUTE  ? run_permute(&s, st)
		      : st->op == OP_EXCHANGE ? run_exchange(&s, st)
		                              : run_groups(&s, st);
		s.held = s.next;
		if (!ran ||
		    !all_hold(&s, elements_of_layout(&st->after, st->mesh, &p->shape, a),
		              true))
			return false;
	}
	return all_hold(&s, elements_of_layout(&q->to, &q->to_mesh, &q->padded, a),
	                false);
}
