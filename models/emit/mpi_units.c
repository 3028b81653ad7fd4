/* Units of an MPI program: how small an array all steps of a plan can run on. */
#include "emit/mpi.h"

#include "array/tile.h"
#include "plan/view.h"

static int64_t divisor(int64_t a, int64_t b)
{
	return b ? divisor(b, a % b) : a;
}

static void take(struct mpi *m, int dim, int64_t extent)
{
	m->unit[dim] = divisor(m->unit[dim], extent);
}

static void take_shape(struct mpi *m, const struct shape *s)
{
	for (int i = 0; i < s->rank; i++)
		take(m, i, s->dim[i]);
}

/*
 * Takes the extents of the array itself. One that is padded and in several digits is no
 * product of smaller ones, so that its digits stay whole.
 */
static void take_array(struct mpi *m)
{
	const struct problem *p = m->plan->problem;
	int digits[RANK_MAX] = {0};

	for (int i = 0; i < m->rank; i++)
		digits[view_dim(m->plan, i)]++;
	for (int i = 0; i < m->rank; i++) {
		int dim = view_dim(m->plan, i);

		if (digits[dim] == 1)
			take(m, i, p->array.shape.dim[dim]);
		else if (p->array.shape.dim[dim] != p->padded.dim[dim])
			m->unit[i] = 1;
	}
}

void mpi_find_units(struct mpi *m)
{
	const struct plan *p = m->plan;
	struct shape tile = layout_local(&p->to, &p->shape);

	for (int i = 0; i < m->rank; i++)
		m->unit[i] = p->shape.dim[i];
	take_shape(m, &tile);
	tile = layout_local(&p->from, &p->shape);
	take_shape(m, &tile);
	for (int k = 0; k < p->nsteps; k++) {
		const struct step *s = &p->step[k];

		take_shape(m, &s->before_local);
		take_shape(m, &s->local);
		if (s->gathers)
			take_shape(m, &s->summed);
		for (int64_t i = 0; i < s->ntransfers; i++)
			for (int b = 0; b < 2 * m->rank; b++)
				take(m, b / 2, s->transfers[i].bounds[b]);
		for (int64_t i = 0;
		     s->start && m->rank && i < p->problem->ndevices * m->rank; i++)
			take(m, (int)(i % m->rank), s->start[i]);
	}
	take_array(m);
}

const struct mpi_place *mpi_places(const struct mpi *m, const struct layout *l,
                                   const struct mesh *mesh, const struct shape *tile,
                                   const int64_t *start)
{
	struct tilemap map = tilemap_make(l, mesh, &m->plan->shape, m->arena);
	int32_t n = m->plan->problem->ndevices;
	struct mpi_place *out = arena_alloc(m->arena, (size_t)n, sizeof(*out));
	int64_t *at =
		arena_alloc(m->arena, (size_t)n * (size_t)(m->rank + 1), sizeof(*at));

	if (!tile)
		tile = &map.tile;
	for (int32_t d = 0; d < n; d++, at += m->rank) {
		out[d] = (struct mpi_place){d < map.ndevices && tilemap_has(&map, d),
		                            at};
		for (int i = 0; i < m->rank && out[d].has; i++) {
			int64_t cell = (int64_t)d * m->rank + i;

			at[i] = start ? start[cell] : map.index[cell] * tile->dim[i];
		}
	}
	return out;
}
