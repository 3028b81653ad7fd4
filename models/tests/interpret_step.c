#include "interpret_boxes.h"

#include <string.h>

void position_of(int64_t *index, int64_t number, const struct shape *s)
{
	for (int dim = s->rank - 1; dim >= 0; dim--) {
		index[dim] = number % s->dim[dim];
		number /= s->dim[dim];
	}
}

int64_t number_of(const int64_t *index, const struct shape *s)
{
	int64_t number = 0;

	for (int dim = 0; dim < s->rank; dim++)
		number = number * s->dim[dim] + index[dim];
	return number;
}

struct cell *new_cells(struct arena *a, int64_t n)
{
	struct cell *cell = arena_alloc(a, (size_t)n, sizeof(*cell));

	for (int64_t i = 0; i < n; i++)
		cell[i].element = CELL_NOTHING;
	return cell;
}

/* --- slices and groups ------------------------------------------------------------- */

/* Does a partial step put tiles, not replicas, among zeros? */
static bool puts_tiles(const struct step *s)
{
	return s->op == OP_PARTIAL && s->nmoves > 0 && s->move[0].from_dim >= 0;
}

static bool gathers(const struct step *s)
{
	return s->op == OP_ALL_GATHER || s->op == OP_ALL_TO_ALL || puts_tiles(s);
}

static bool cuts(enum op op)
{
	return op == OP_SLICE || op == OP_ALL_TO_ALL || op == OP_REDUCE_SCATTER;
}

/* Tile shape after a step's moves; false where they do not make sense. */
static bool new_tile(struct shape *tile, const struct step *s)
{
	int from_uses[RANK_MAX] = {0}, to_uses[RANK_MAX] = {0};

	for (int k = 0; k < s->nmoves; k++) {
		const struct move *m = &s->move[k];

		if ((m->from_dim >= 0) != gathers(s) || (m->to_dim >= 0) != cuts(s->op))
			return false;
		if (m->from_dim >= tile->rank || m->to_dim >= tile->rank ||
		    m->factor < 2)
			return false;
		if (m->from_dim >= 0) {
			if (from_uses[m->from_dim]++)
				return false;
			tile->dim[m->from_dim] *= m->factor;
		}
		if (m->to_dim >= 0) {
			if (to_uses[m->to_dim]++ || tile->dim[m->to_dim] % m->factor)
				return false;
			tile->dim[m->to_dim] /= m->factor;
		}
	}
	return s->nmoves > 0;
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

static struct cell cell_at(const struct held *h, int32_t device, const int64_t *index)
{
	/* A changed step may ask for what lies outside its tile: nothing does. */
	for (int dim = 0; dim < h->tile.rank; dim++)
		if (index[dim] < 0 || index[dim] >= h->tile.dim[dim])
			return (struct cell){.element = CELL_NOTHING};
	if (!h->cell[device])
		return (struct cell){.element = CELL_NOTHING};
	return h->cell[device][number_of(index, &h->tile)];
}

/* One element of the new tile of a group member with chunk numbers `own`. */
static struct cell fetch(const struct step *s, const int32_t *member, const int32_t *own,
                         const struct held *old, const struct shape *tile, int64_t at)
{
	int64_t index[RANK_MAX];
	int32_t chunk[RANK_MAX] = {0};

	position_of(index, at, tile);
	for (int k = 0; k < s->nmoves; k++) {
		const struct move *m = &s->move[k];

		if (m->from_dim >= 0) {
			chunk[k] = (int32_t)(index[m->from_dim] /
			                     old->tile.dim[m->from_dim]);
			index[m->from_dim] %= old->tile.dim[m->from_dim];
			if (chunk[k] >= m->factor)
				return (struct cell){.element = CELL_NOTHING};
		}
		if (m->to_dim >= 0)
			index[m->to_dim] += own[k] * tile->dim[m->to_dim];
	}
	return cell_at(old, member_of(s, member, chunk), index);
}

/* The sum over all members of what lies at one place of the new tile; false where they
 * have different elements there. */
static bool add_up(struct cell *out, const struct step *s, const int32_t *member,
                   const int32_t *own, const struct held *old, const struct shape *tile,
                   int64_t at)
{
	int64_t index[RANK_MAX];

	position_of(index, at, tile);
	for (int k = 0; k < s->nmoves; k++)
		if (s->move[k].to_dim >= 0)
			index[s->move[k].to_dim] +=
				own[k] * tile->dim[s->move[k].to_dim];
	*out = cell_at(old, member[0], index);
	for (int32_t r = 1; r < s->groups.size; r++) {
		struct cell c = cell_at(old, member[r], index);

		if (c.element != out->element)
			return false;
		out->sum += c.sum;
	}
	return true;
}

/* Every member keeps what its own tile has of the new one, all else is zero. */
static struct cell put_among_zeros(const struct step *s, const int32_t *member,
                                   const int32_t *own, const struct held *old,
                                   const struct shape *tile, int64_t at)
{
	int64_t index[RANK_MAX];
	struct cell c = fetch(s, member, own, old, tile, at);
	bool mine = true;

	position_of(index, at, tile);
	for (int k = 0; k < s->nmoves; k++)
		mine = mine && index[s->move[k].from_dim] /
		                               old->tile.dim[s->move[k].from_dim] ==
		                       own[k];
	c.sum = mine ? c.sum : 0;
	return c;
}

/* R->P: all hold the same, the first member keeps it, the others have zeros. */
static bool take_as_sum(struct cell *out, const struct step *s, const int32_t *member,
                        int32_t self, const struct held *old, int64_t at)
{
	int64_t index[RANK_MAX];
	struct cell first;

	position_of(index, at, &old->tile);
	first = cell_at(old, member[0], index);
	for (int32_t r = 1; r < s->groups.size; r++) {
		struct cell c = cell_at(old, member[r], index);

		if (c.element != first.element || c.sum != first.sum)
			return false;
	}
	*out = first;
	if (self != member[0])
		out->sum = 0;
	return true;
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
		for (int64_t i = 0; i < n && new->cell[d]; i++) {
			position_of(index, i, &new->tile);
			for (int k = 0; k < s->nmoves; k++)
				index[s->move[k].to_dim] +=
					own[k] * new->tile.dim[s->move[k].to_dim];
			new->cell[d][i] = cell_at(old, d, index);
		}
	}
	return true;
}

static bool groups_make_sense(const struct step *s, int32_t ndevices)
{
	bool seen[INTERPRET_DEVICES_MAX] = {false};
	int32_t size = 1;

	for (int k = 0; k < s->nmoves; k++)
		size *= s->move[k].factor;
	if (s->nmoves == 0)
		size = s->groups.size;
	if (s->groups.size != size || s->groups.ngroups * size > ndevices)
		return false;
	for (int32_t i = 0; i < s->groups.ngroups * size; i++) {
		int32_t d = s->groups.ids[i];

		if (d < 0 || d >= ndevices || seen[d])
			return false;
		seen[d] = true;
	}
	return true;
}

static bool run_group(const struct step *s, const int32_t *member, int32_t rank,
                      const struct held *old, struct held *new, int64_t n)
{
	int32_t own[RANK_MAX], rest = rank, self = member[rank];
	bool ok = true;

	for (int k = s->nmoves - 1; k >= 0; k--) {
		own[k] = rest % s->move[k].factor;
		rest /= s->move[k].factor;
	}
	for (int64_t i = 0; i < n && ok; i++) {
		struct cell *out = &new->cell[self][i];

		if (puts_tiles(s))
			*out = put_among_zeros(s, member, own, old, &new->tile, i);
		else if (s->op == OP_PARTIAL)
			ok = take_as_sum(out, s, member, self, old, i);
		else if (s->op == OP_ALL_REDUCE || s->op == OP_REDUCE_SCATTER)
			ok = add_up(out, s, member, own, old, &new->tile, i);
		else
			*out = fetch(s, member, own, old, &new->tile, i);
	}
	return ok;
}

static bool collective(struct run_state *r, const struct step *s, struct held *new)
{
	int64_t n = shape_elements(&new->tile);

	if (!groups_make_sense(s, r->ndevices))
		return false;
	for (int32_t at = 0; at < s->groups.ngroups * s->groups.size; at++) {
		int32_t d = s->groups.ids[at];

		if (!new->cell[d])
			new->cell[d] = new_cells(r->arena, n);
		if (!run_group(s, s->groups.ids + at / s->groups.size * s->groups.size,
		               at % s->groups.size, &r->h, new, n))
			return false;
	}
	return true;
}

static bool permute(struct run_state *r, const struct step *s, struct held *new)
{
	bool sent[INTERPRET_DEVICES_MAX] = {false}, got[INTERPRET_DEVICES_MAX] = {false};

	for (int32_t d = 0; d < r->ndevices; d++)
		new->cell[d] = NULL;
	for (int32_t i = 0; i < s->npairs; i++) {
		struct pair p = s->pairs[i];

		if (p.src < 0 || p.src >= r->ndevices || p.dst < 0 ||
		    p.dst >= r->ndevices)
			return false;
		if (sent[p.src] || got[p.dst])
			return false;
		sent[p.src] = got[p.dst] = true;
		new->cell[p.dst] = r->h.cell[p.src];
	}
	return true;
}

static bool gathering_moves_make_sense(const struct step *s, int rank)
{
	bool used[RANK_MAX] = {false};

	for (int k = 0; k < s->nmoves; k++) {
		const struct move *m = &s->move[k];

		if (m->to_dim != -1 || m->from_dim < 0 || m->from_dim >= rank ||
		    used[m->from_dim] || m->factor < 2)
			return false;
		used[m->from_dim] = true;
	}
	return true;
}

/*
 * An all-reduce of tiles with zeros around them: what all members have, no element of it
 * twice, makes the tiles of all.
 */
static bool sum_tiles(struct run_state *r, const struct step *s)
{
	struct held want = held_from(&s->after, s->mesh, &r->plan->shape, &s->local,
	                             s->start, r->arena);
	int64_t n = shape_elements(&want.tile), all = shape_elements(&r->plan->shape);
	bool summed[INTERPRET_DEVICES_MAX] = {false};

	if (r->partials > 1 || !gathering_moves_make_sense(s, r->plan->shape.rank) ||
	    !groups_make_sense(s, r->ndevices))
		return false;
	for (int32_t i = 0; i < s->groups.ngroups; i++) {
		const int32_t *member = s->groups.ids + (int64_t)i * s->groups.size;
		struct cell *sum = new_cells(r->arena, all);

		for (int32_t k = 0; k < s->groups.size; k++) {
			const struct cell *own = r->h.cell[member[k]];

			for (int64_t e = 0; own && e < shape_elements(&r->h.tile); e++) {
				if (own[e].element < 0)
					continue;
				if (sum[own[e].element].element >= 0)
					return false;
				sum[own[e].element] = own[e];
			}
		}
		for (int32_t k = 0; k < s->groups.size; k++) {
			struct cell *c = want.cell[member[k]];

			summed[member[k]] = true;
			for (int64_t e = 0; c && e < n; e++)
				if (c[e].element >= 0)
					c[e] = sum[c[e].element];
			if (!c)
				return false;
		}
	}
	for (int32_t d = 0; d < r->ndevices; d++)
		if (!summed[d])
			want.cell[d] =
				shape_elements(&r->h.tile) == n ? r->h.cell[d] : NULL;
	r->h = want;
	return true;
}

bool run_step(struct run_state *r, const struct step *s)
{
	struct held new = {.tile = r->h.tile};
	int64_t n;
	bool ok;

	if (step_adds(r->plan, (int)(s - r->plan->step)))
		return s->op == OP_PERMUTE ? add_boxes(r, s) : add_tiles(r, s);
	if (s->op == OP_EXCHANGE || s->op == OP_PAD)
		return retile(r, s);
	if (s->op == OP_ALL_REDUCE && s->gathers)
		return sum_tiles(r, s);
	if (s->op == OP_PERMUTE && s->transfers)
		return permute_parts(r, s);
	if (s->op != OP_PERMUTE && !new_tile(&new.tile, s))
		return false;
	n = shape_elements(&new.tile);
	new.cell = arena_alloc(r->arena, (size_t)r->ndevices, sizeof(*new.cell));
	for (int32_t d = 0; d < r->ndevices; d++)
		if (r->h.cell[d])
			new.cell[d] = new_cells(r->arena, n);
	if (s->op == OP_SLICE)
		ok = slice(s, &r->h, &new, r->ndevices, n);
	else if (s->op == OP_PERMUTE)
		ok = permute(r, s, &new);
	else
		ok = collective(r, s, &new);
	r->h = new;
	return ok;
}
