#include "plan_interpret.h"

#include <string.h>

int32_t part_coordinate(const struct mesh *m, struct part p, int32_t position)
{
	int32_t coordinate[MESH_AXES_MAX];

	for (int x = m->naxes - 1; x >= 0; x--) {
		coordinate[x] = position % m->axis[x].size;
		position /= m->axis[x].size;
	}
	return coordinate[p.axis] / (m->axis[p.axis].size / p.pre / p.size) % p.size;
}

/* Tile number of the device at a position of the mesh in every dimension. */
static void tile_numbers(int32_t *number, const struct layout *l, const struct mesh *m,
                         int32_t position)
{
	const struct part *part = l->part;

	for (int dim = 0; dim < l->rank; dim++) {
		number[dim] = 0;
		for (int k = 0; k < l->nparts[dim]; k++, part++)
			number[dim] = number[dim] * part->size +
			              part_coordinate(m, *part, position);
	}
}

static void tile_numbers_listed(int32_t *number, const struct tiling *t, int32_t device)
{
	int32_t at = 0;

	while (t->ids[at] != device)
		at++;
	at /= t->replicas;
	for (int dim = t->rank - 1; dim >= 0; dim--) {
		number[dim] = at % t->tiles[dim];
		at /= t->tiles[dim];
	}
}

static void position_of(int64_t *index, int64_t number, const struct shape *s)
{
	for (int dim = s->rank - 1; dim >= 0; dim--) {
		index[dim] = number % s->dim[dim];
		number /= s->dim[dim];
	}
}

static int64_t number_of(const int64_t *index, const struct shape *s)
{
	int64_t number = 0;

	for (int dim = 0; dim < s->rank; dim++)
		number = number * s->dim[dim] + index[dim];
	return number;
}

struct held held_by_layout(const struct layout *l, const struct mesh *m,
                           const struct shape *padded, struct arena *a)
{
	struct held h = {.tile = layout_local(l, padded)};
	int64_t n = shape_elements(&h.tile), index[RANK_MAX];
	int32_t number[RANK_MAX];

	h.element = arena_alloc(a, (size_t)m->ndevices, sizeof(*h.element));
	for (int32_t position = 0; position < m->ndevices; position++) {
		int32_t device = m->ids ? m->ids[position] : position, *element;

		if (l->kind == LAYOUT_TILES)
			tile_numbers_listed(number, l->tiling, device);
		else
			tile_numbers(number, l, m, position);
		element = arena_alloc(a, (size_t)n, sizeof(*element));
		for (int64_t i = 0; i < n; i++) {
			position_of(index, i, &h.tile);
			for (int dim = 0; dim < l->rank; dim++)
				index[dim] += number[dim] * h.tile.dim[dim];
			element[i] = (int32_t)number_of(index, padded);
		}
		h.element[device] = element;
	}
	return h;
}

/* The member of a group with these chunk numbers. */
static int32_t member_of(const struct step *s, const int32_t *member,
                         const int32_t *chunk)
{
	int32_t rank = 0;

	for (int k = 0; k < s->nmoves; k++)
		rank = rank * s->move[k].factor + chunk[k];
	return member[rank];
}

/* One element of the new tile of a group member with chunk numbers `own`. */
static int32_t fetch(const struct step *s, const int32_t *member, const int32_t *own,
                     const struct held *old, const struct held *new, int64_t at)
{
	int64_t index[RANK_MAX];
	int32_t chunk[RANK_MAX], *from;

	position_of(index, at, &new->tile);
	for (int k = 0; k < s->nmoves; k++) {
		const struct move *m = &s->move[k];

		if (m->from_dim >= 0) {
			chunk[k] = (int32_t)(index[m->from_dim] /
			                     old->tile.dim[m->from_dim]);
			index[m->from_dim] %= old->tile.dim[m->from_dim];
		}
		if (m->to_dim >= 0)
			index[m->to_dim] += own[k] * new->tile.dim[m->to_dim];
	}
	from = old->element[member_of(s, member, chunk)];
	return from ? from[number_of(index, &old->tile)] : -1;
}

/* Tile shape after a step's moves; false where they do not make sense. */
static bool new_tile(struct shape *tile, const struct step *s)
{
	bool gathers = s->op != OP_SLICE, cuts = s->op != OP_ALL_GATHER;
	int uses[RANK_MAX] = {0};

	for (int k = 0; k < s->nmoves; k++) {
		const struct move *m = &s->move[k];

		if ((m->from_dim >= 0) != gathers || (m->to_dim >= 0) != cuts)
			return false;
		if (m->from_dim >= tile->rank || m->to_dim >= tile->rank ||
		    m->factor < 2)
			return false;
		if (gathers && uses[m->from_dim]++)
			return false;
		if (cuts && (uses[m->to_dim]++ || tile->dim[m->to_dim] % m->factor))
			return false;
		if (gathers)
			tile->dim[m->from_dim] *= m->factor;
		if (cuts)
			tile->dim[m->to_dim] /= m->factor;
	}
	return s->nmoves > 0;
}

static bool slice(const struct step *s, const struct held *old, struct held *new,
                  int32_t ndevices, int64_t n)
{
	for (int32_t d = 0; d < ndevices; d++) {
		const int32_t *own = s->chunk + (int64_t)d * s->nmoves;
		int64_t index[RANK_MAX];

		for (int k = 0; k < s->nmoves; k++)
			if (own[k] < 0 || own[k] >= s->move[k].factor)
				return false;
		for (int64_t i = 0; i < n; i++) {
			position_of(index, i, &new->tile);
			for (int k = 0; k < s->nmoves; k++)
				index[s->move[k].to_dim] +=
					own[k] * new->tile.dim[s->move[k].to_dim];
			new->element[d][i] =
				old->element[d][number_of(index, &old->tile)];
		}
	}
	return true;
}

static bool exchange(const struct step *s, const struct held *old, struct held *new,
                     int32_t ndevices, int64_t n)
{
	int32_t times[64] = {0}, size = 1;

	for (int k = 0; k < s->nmoves; k++)
		size *= s->move[k].factor;
	if (s->groups.size != size || s->groups.ngroups * size != ndevices)
		return false;
	for (int32_t i = 0; i < ndevices; i++)
		if (s->groups.ids[i] < 0 || s->groups.ids[i] >= ndevices ||
		    times[s->groups.ids[i]]++)
			return false;
	for (int32_t at = 0; at < ndevices; at++) {
		const int32_t *member = s->groups.ids + at / size * size;
		int32_t own[RANK_MAX], rest = at % size;

		for (int k = s->nmoves - 1; k >= 0; k--) {
			own[k] = rest % s->move[k].factor;
			rest /= s->move[k].factor;
		}
		for (int64_t i = 0; i < n; i++)
			new->element[s->groups.ids[at]][i] =
				fetch(s, member, own, old, new, i);
	}
	return true;
}

static bool permute(const struct step *s, const struct held *old, struct held *new,
                    int32_t ndevices)
{
	int32_t sent[64] = {0}, got[64] = {0};

	for (int32_t d = 0; d < ndevices; d++)
		new->element[d] = NULL;
	for (int32_t i = 0; i < s->npairs; i++) {
		struct pair p = s->pairs[i];

		if (p.src < 0 || p.src >= ndevices || p.dst < 0 || p.dst >= ndevices)
			return false;
		if (sent[p.src]++ || got[p.dst]++)
			return false;
		new->element[p.dst] = old->element[p.src];
	}
	return true;
}

static bool run(const struct step *s, struct held *h, int32_t ndevices, struct arena *a)
{
	struct held new = {.tile = h->tile};
	bool ok;
	int64_t n;

	if (s->op != OP_PERMUTE && !new_tile(&new.tile, s))
		return false;
	n = shape_elements(&new.tile);
	new.element = arena_alloc(a, (size_t)ndevices, sizeof(*new.element));
	for (int32_t d = 0; d < ndevices; d++)
		new.element[d] = arena_alloc(a, (size_t)n, sizeof(int32_t));
	if (s->op == OP_SLICE)
		ok = slice(s, h, &new, ndevices, n);
	else if (s->op == OP_PERMUTE)
		ok = permute(s, h, &new, ndevices);
	else
		ok = exchange(s, h, &new, ndevices, n);
	*h = new;
	return ok;
}

static bool same(const struct held *a, const struct held *b, int32_t ndevices)
{
	int64_t n = shape_elements(&a->tile);

	for (int dim = 0; dim < a->tile.rank; dim++)
		if (a->tile.dim[dim] != b->tile.dim[dim])
			return false;
	for (int32_t d = 0; d < ndevices; d++) {
		if (!a->element[d] || !b->element[d])
			return false;
		if (memcmp(a->element[d], b->element[d], (size_t)n * sizeof(int32_t)) !=
		    0)
			return false;
	}
	return true;
}

bool plan_interpret(const struct plan *p, struct arena *a, int *wrong_step)
{
	const struct problem *q = p->problem;
	struct held h = held_by_layout(&q->from, &q->mesh, &q->padded, a), want;

	for (*wrong_step = 0; *wrong_step < p->nsteps; (*wrong_step)++) {
		const struct step *s = &p->step[*wrong_step];

		want = held_by_layout(&s->after, &q->mesh, &q->padded, a);
		if (!run(s, &h, q->mesh.ndevices, a) ||
		    !same(&h, &want, q->mesh.ndevices))
			return false;
	}
	want = held_by_layout(&q->to, &q->to_mesh, &q->padded, a);
	return same(&h, &want, q->mesh.ndevices);
}

static bool is_real(int32_t element, const struct problem *q)
{
	int64_t index[RANK_MAX];

	position_of(index, element, &q->padded);
	for (int dim = 0; dim < q->padded.rank; dim++)
		if (index[dim] >= q->array.shape.dim[dim])
			return false;
	return true;
}

static bool kept_in_place(const struct step *s, int32_t device)
{
	for (int32_t i = 0; i < s->npairs; i++)
		if (s->pairs[i].src == device && s->pairs[i].dst == device)
			return true;
	return false;
}

void interpret_received(const struct plan *p, struct arena *a, int64_t **padded,
                        int64_t **real)
{
	const struct problem *q = p->problem;
	int32_t ndevices = q->mesh.ndevices;
	struct held h = held_by_layout(&q->from, &q->mesh, &q->padded, a);
	size_t all = (size_t)shape_elements(&q->padded);
	bool *had = arena_alloc(a, all, sizeof(*had));
	size_t cells = (size_t)(p->nsteps * ndevices);

	*padded = arena_alloc(a, cells, sizeof(**padded));
	*real = arena_alloc(a, cells, sizeof(**real));
	for (int i = 0; i < p->nsteps; i++) {
		const struct step *s = &p->step[i];
		struct held old = h;

		run(s, &h, ndevices, a);
		for (int32_t d = 0; d < ndevices; d++) {
			memset(had, 0, all * sizeof(*had));
			for (int64_t k = 0; k < shape_elements(&old.tile); k++)
				had[old.element[d][k]] = s->op != OP_PERMUTE;
			for (int64_t k = 0; k < shape_elements(&h.tile); k++) {
				int32_t e = h.element[d][k];

				if (had[e] ||
				    (s->op == OP_PERMUTE && kept_in_place(s, d)))
					continue;
				(*padded)[i * ndevices + d]++;
				(*real)[i * ndevices + d] += is_real(e, q);
			}
		}
	}
}
