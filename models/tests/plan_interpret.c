#include "interpret_step.h"

#include <assert.h>
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

uint64_t element_value(int32_t element, int32_t first, int32_t n)
{
	uint64_t sum = 0;

	for (int32_t c = first; c < first + n; c++) {
		/* Steele, Lea and Flood's splitmix64. */
		uint64_t z = (((uint64_t)element << 20) + (uint64_t)c + 1) *
		             0x9e3779b97f4a7c15u;

		z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
		z = (z ^ z >> 27) * 0x94d049bb133111ebu;
		sum += z ^ z >> 31;
	}
	return sum;
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

/* The parts whose devices hold contributions, behind those that shard; of axes only. */
static const struct part *unreduced_parts(const struct layout *l, int *n)
{
	const struct part *part = l->part;

	*n = l->kind == LAYOUT_AXES ? l->nunreduced : 0;
	for (int dim = 0; dim < l->rank && *n; dim++)
		part += l->nparts[dim];
	return part;
}

/* Of how many contributions a layout is the sum, and which a position holds. */
static int32_t contribution(const struct layout *l, const struct mesh *m,
                            int32_t position, int32_t *count)
{
	int n;
	const struct part *part = unreduced_parts(l, &n);
	int32_t number = 0;

	*count = 1;
	for (int k = 0; k < n; k++) {
		number = number * part[k].size + part_coordinate(m, part[k], position);
		*count *= part[k].size;
	}
	return number;
}

static int32_t device_at(const struct mesh *m, int32_t position)
{
	return m->ids ? m->ids[position] : position;
}

static struct shape one_more(const struct shape *s)
{
	struct shape out = *s;

	for (int dim = 0; dim < s->rank; dim++)
		out.dim[dim]++;
	return out;
}

static struct cell *tile_cells(const int64_t *start, const struct shape *tile,
                               const struct shape *whole, int32_t first, struct arena *a)
{
	int64_t n = shape_elements(tile), index[RANK_MAX];
	struct cell *cell = arena_alloc(a, (size_t)n, sizeof(*cell));

	for (int64_t i = 0; i < n; i++) {
		bool inside = true;

		position_of(index, i, tile);
		for (int dim = 0; dim < tile->rank; dim++) {
			index[dim] += start[dim];
			if (index[dim] < whole->dim[dim])
				continue;
			index[dim] = whole->dim[dim];
			inside = false;
		}
		if (!inside) {
			struct shape more = one_more(whole);

			cell[i].element =
				CELL_PADDING - (int32_t)number_of(index, &more);
			continue;
		}
		cell[i].element = (int32_t)number_of(index, whole);
		cell[i].sum = element_value(cell[i].element, first, 1);
	}
	return cell;
}

struct held held_from(const struct layout *l, const struct mesh *m,
                      const struct shape *whole, const struct shape *tile,
                      const int64_t *start, struct arena *a)
{
	struct held h = {.tile = tile ? *tile : layout_local(l, whole)};
	int32_t number[RANK_MAX] = {0}, count;
	int32_t ndevices = m->nids ? m->nids : m->ndevices;
	int64_t first[RANK_MAX];

	h.cell = arena_alloc(a, (size_t)ndevices, sizeof(*h.cell));
	for (int32_t position = 0; position < m->ndevices; position++) {
		int32_t device = device_at(m, position);

		if (l->kind == LAYOUT_MAXIMAL && device != l->maximal_device)
			continue;
		if (l->kind == LAYOUT_TILES)
			tile_numbers_listed(number, l->tiling, device);
		else if (l->kind == LAYOUT_AXES)
			tile_numbers(number, l, m, position);
		for (int dim = 0; dim < l->rank; dim++)
			first[dim] = start ? start[(int64_t)device * l->rank + dim]
			                   : number[dim] * h.tile.dim[dim];
		h.cell[device] = tile_cells(first, &h.tile, whole,
		                            contribution(l, m, position, &count), a);
	}
	return h;
}

struct held held_by_layout(const struct layout *l, const struct mesh *m,
                           const struct shape *whole, const struct shape *tile,
                           struct arena *a)
{
	return held_from(l, m, whole, tile, NULL, a);
}

/* --- claims ------------------------------------------------------------------------- */

/* Beyond the array anything will do, in the dimensions in which it is beyond. */
static bool same_element(int32_t have, int32_t want, const struct shape *whole)
{
	struct shape more = one_more(whole);
	int64_t a[RANK_MAX], b[RANK_MAX];
	bool same = have != CELL_NOTHING;

	if (want >= 0 || !same)
		return have == want;
	position_of(b, CELL_PADDING - want, &more);
	if (have >= 0)
		position_of(a, have, whole);
	else
		position_of(a, CELL_PADDING - have, &more);
	for (int dim = 0; dim < whole->rank; dim++)
		same = same && (b[dim] == whole->dim[dim] || a[dim] == b[dim]);
	return same;
}

/* Do the devices that a layout gives a tile hold its elements? */
static bool same_elements(const struct held *have, const struct held *want,
                          const struct shape *whole, int32_t ndevices)
{
	int64_t n = shape_elements(&want->tile);

	if (shape_elements(&have->tile) != n)
		return false;
	for (int32_t d = 0; d < ndevices; d++) {
		if (want->cell[d] && !have->cell[d])
			return false;
		for (int64_t i = 0; i < n && want->cell[d]; i++)
			if (!same_element(have->cell[d][i].element,
			                  want->cell[d][i].element, whole))
				return false;
	}
	return true;
}

/* The position with the same coordinates but 0 in all unreduced parts. */
static int32_t leader(const struct layout *l, const struct mesh *m, int32_t position)
{
	int n;
	const struct part *part = unreduced_parts(l, &n);
	int32_t lead = position;

	for (int k = 0; k < n; k++) {
		int32_t stride = m->axis[part[k].axis].size / part[k].pre / part[k].size;

		for (int x = part[k].axis + 1; x < m->naxes; x++)
			stride *= m->axis[x].size;
		lead -= part_coordinate(m, part[k], position) * stride;
	}
	return lead;
}

/* Do the devices that differ only in unreduced parts hold each element's whole sum? */
static bool whole_sums(const struct held *have, const struct held *want,
                       const struct layout *l, const struct mesh *m, int32_t partials)
{
	int64_t n = shape_elements(&want->tile);

	for (int32_t lead = 0; lead < m->ndevices; lead++) {
		const struct cell *mine = want->cell[device_at(m, lead)];

		if (!mine || leader(l, m, lead) != lead)
			continue;
		for (int64_t i = 0; i < n; i++) {
			uint64_t sum = 0;

			if (mine[i].element < 0)
				continue;
			for (int32_t k = 0; k < m->ndevices; k++)
				if (leader(l, m, k) == lead)
					sum += have->cell[device_at(m, k)][i].sum;
			if (sum != element_value(mine[i].element, 0, partials))
				return false;
		}
	}
	return true;
}

static bool claim_holds(const struct run_state *r, const struct layout *l,
                        const struct mesh *m, const struct shape *whole,
                        const struct shape *tile, const int64_t *start)
{
	struct held want = held_from(l, m, whole, tile, start, r->arena);

	return same_elements(&r->h, &want, whole, r->ndevices) &&
	       whole_sums(&r->h, &want, l, m, r->partials);
}

static struct run_state start(const struct plan *p, struct arena *a)
{
	const struct problem *q = p->problem;
	struct run_state r = {.plan = p, .arena = a, .ndevices = q->ndevices};

	assert(r.ndevices <= INTERPRET_DEVICES_MAX);
	contribution(&p->from, &q->mesh, 0, &r.partials);
	r.h = held_by_layout(&p->from, &q->mesh, &p->shape, NULL, a);
	return r;
}

bool plan_interpret(const struct plan *p, struct arena *a, int *wrong_step)
{
	const struct problem *q = p->problem;
	/* The digits of a view count elements in the order of the padded array. */
	const struct shape *whole = p->view ? &q->padded : &p->shape;
	struct run_state r = start(p, a);

	*wrong_step = 0;
	if (!claim_holds(&r, &q->from, &q->mesh, whole, NULL, NULL))
		return false;
	for (; *wrong_step < p->nsteps; (*wrong_step)++) {
		const struct step *s = &p->step[*wrong_step];

		if (!run_step(&r, s) ||
		    memcmp(r.h.tile.dim, s->local.dim,
		           (size_t)s->local.rank * sizeof(*s->local.dim)) != 0 ||
		    !claim_holds(&r, &s->after, s->mesh, &p->shape, &s->local, s->start))
			return false;
	}
	return claim_holds(&r, &q->to, &q->to_mesh, whole, NULL, NULL);
}

/* --- bytes -------------------------------------------------------------------------- */

static bool is_real(int32_t element, const struct plan *p)
{
	const struct problem *q = p->problem;
	int64_t index[RANK_MAX];

	position_of(index, element, p->view ? &q->padded : &p->shape);
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
	int32_t ndevices = p->problem->ndevices;
	struct run_state r = start(p, a);
	size_t all = (size_t)shape_elements(&p->shape);
	bool *had = arena_alloc(a, all, sizeof(*had));
	size_t cells = (size_t)(p->nsteps * ndevices);

	*padded = arena_alloc(a, cells, sizeof(**padded));
	*real = arena_alloc(a, cells, sizeof(**real));
	for (int i = 0; i < p->nsteps; i++) {
		const struct step *s = &p->step[i];
		struct held old = r.h;

		run_step(&r, s);
		for (int32_t d = 0; d < ndevices; d++) {
			memset(had, 0, all * sizeof(*had));
			for (int64_t k = 0;
			     old.cell[d] && k < shape_elements(&old.tile); k++)
				if (old.cell[d][k].element >= 0)
					had[old.cell[d][k].element] =
						s->op != OP_PERMUTE;
			for (int64_t k = 0;
			     r.h.cell[d] && k < shape_elements(&r.h.tile); k++) {
				int32_t e = r.h.cell[d][k].element;

				if (e < 0 || had[e] ||
				    (s->op == OP_PERMUTE && kept_in_place(s, d)))
					continue;
				(*padded)[i * ndevices + d]++;
				(*real)[i * ndevices + d] += is_real(e, p);
			}
		}
	}
}
