#include "place/placing.h"

#include "array/seat.h"
#include "bound/bound.h"

#include <math.h>
#include <stdlib.h>

/* Returns the torus of a machine or, if it has none, the fabric inside its nodes. */
static const struct fabric *main_fabric(const struct machine *m)
{
	for (int f = 0; f < m->nfabrics; f++)
		if (m->fabric[f].geometry == GEOMETRY_TORUS)
			return &m->fabric[f];
	return &m->fabric[0];
}

/* Returns how many devices of one domain follow each other; 0 if they do not. */
static int32_t domain_size(const struct machine *m, const struct fabric *f)
{
	int32_t size = m->ndevices / (f->ndomains > 0 ? f->ndomains : 1);

	for (int32_t d = 0; d < m->ndevices; d++)
		if (f->domain[d] != f->domain[d / size * size] || f->domain[d] < 0)
			return 0;
	return size;
}

/* Takes the lengths of the slice that the devices fill; false where there is none. */
static bool hierarchy_of_slice(struct hierarchy *out, const struct machine *m,
                               int32_t ndevices)
{
	struct seat seat;

	*out = (struct hierarchy){0};
	if (!seat_find(&seat, m, ndevices))
		return false;
	if (seat.domains > 1)
		hierarchy_add(out, NULL, seat.domains);
	for (int a = 0; a < seat.fabric->naxes; a++)
		hierarchy_add(out, NULL, seat.shape[a]);
	if (seat.fabric->share > 1)
		hierarchy_add(out, NULL, seat.fabric->share);
	return out->ndevices == ndevices;
}

enum status placing_hierarchy(struct hierarchy *out, const struct machine *m,
                              int32_t ndevices, struct where at, struct error *e)
{
	const struct fabric *f = main_fabric(m);
	int32_t size = domain_size(m, f);

	if (hierarchy_of_slice(out, m, ndevices))
		return OK;
	*out = (struct hierarchy){0};
	if (size && f->geometry == GEOMETRY_TORUS && ndevices == m->ndevices) {
		if (f->ndomains > 1)
			hierarchy_add(out, NULL, f->ndomains);
		for (int a = 0; a < f->naxes; a++)
			hierarchy_add(out, NULL, f->shape[a]);
		if (size > fabric_places(f))
			hierarchy_add(out, NULL, size / fabric_places(f));
		return OK;
	}
	if (!size || f->geometry == GEOMETRY_TORUS ||
	    (ndevices > size && ndevices % size) || ndevices > m->ndevices)
		return error_set(e, E_TYPE, at,
		                 "%d devices are no whole part of %s, expected a "
		                 "hierarchy",
		                 (int)ndevices, m->name);
	if (ndevices > size)
		hierarchy_add(out, NULL, ndevices / size);
	hierarchy_add(out, NULL, ndevices > size ? size : ndevices);
	return OK;
}

const char *placing_take(struct hierarchy *h, const struct machine *m, struct arena *a)
{
	struct text name = {0};
	const int32_t *on;
	struct seat seat;

	if (!seat_find(&seat, m, h->ndevices))
		return NULL;
	on = seat_devices(&seat, h->ndevices, a);
	for (int32_t d = 0; d < h->ndevices; d++)
		if (on[d] != d)
			h->on = on;
	seat_print(&name, &seat, h->ndevices);
	return text_take(&name, a);
}

const char *placing_devices(const struct matrix *m, const struct hierarchy *h,
                            struct arena *a)
{
	const int32_t *devices = matrix_platform(m, h, a);
	struct text list = {0};

	for (int32_t d = 0; d < matrix_ndevices(m); d++)
		text_printf(&list, "%s%d", d ? "," : "", (int)devices[d]);
	return text_take(&list, a);
}

/* A placement with its bound: no plan in it is faster. */
struct option {
	const struct matrix *matrix;
	int64_t number;
	struct problem problem;
	double bound_s;
};

static int by_bound(const void *a, const void *b)
{
	const struct option *x = a, *y = b;

	if (x->bound_s != y->bound_s)
		return x->bound_s < y->bound_s ? -1 : 1;
	return (x->number > y->number) - (x->number < y->number);
}

static enum status options_of(struct option **out, int64_t *n, const struct bench *b,
                              const struct problem *first, const struct scenario *sc,
                              struct arena *a, struct error *e)
{
	const struct mesh *mesh = &first->mesh;
	struct problem_text text = sc->text;
	struct hierarchy h;
	struct matrix *matrix;

	if (mesh->naxes > MATRIX_AXES_MAX)
		return error_set(e, E_RANGE, sc->at, "a mesh of more than %d axes",
		                 MATRIX_AXES_MAX);
	if (sc->hierarchy)
		hierarchy_parse(&h, a, sc->hierarchy, sc->hierarchy_at, e);
	else
		placing_hierarchy(&h, b->machine, mesh->ndevices, sc->at, e);
	if (e->code != OK)
		return e->code;
	if (matrices_of(&matrix, n, a, &h, mesh, sc->at, e) != OK)
		return e->code;
	placing_take(&h, b->machine, a);
	*out = arena_alloc(a, (size_t)*n, sizeof(**out));
	for (int64_t i = 0; i < *n; i++) {
		struct option *o = &(*out)[i];

		text.devices = placing_devices(&matrix[i], &h, a);
		o->matrix = &matrix[i];
		o->number = i;
		if (problem_make(&o->problem, a, &text, e) != OK)
			return e->code;
		o->bound_s = bound_s(
			&o->problem, b->machine,
			&(struct placement){o->problem.ndevices, o->problem.platform});
	}
	qsort(*out, (size_t)*n, sizeof(**out), by_bound);
	return OK;
}

/*
 * Returns the seconds of a plan by the prices it was found with, INFINITY without a
 * plan.
 */
static double price_s(const struct measurement *m, const struct bench *b)
{
	if (m->status != OUTCOME_OK || !m->plan)
		return INFINITY;
	return b->prices.plan(b->prices.self, m->plan).cost;
}

static void keep(struct measurement *out, struct problem *problem, struct bench *b,
                 const struct option *o, const struct planner *planner, struct arena *a)
{
	struct text matrix = {0};

	*problem = o->problem;
	bench_place(b, problem);
	measure_plan(out, b, problem, planner, a);
	if (out->status != OUTCOME_OK)
		return;
	matrix_print(&matrix, o->matrix);
	out->message = arena_printf(a, "placement %s", matrix.s);
	text_free(&matrix);
}

void placing_measure(struct measurement *out, struct problem *problem, struct bench *b,
                     const struct scenario *sc, const struct planner *planner,
                     struct arena *a)
{
	struct error e = {0};
	struct option *option = NULL;
	double best_s = INFINITY, planning_s = 0;
	int64_t n = 0, best = 0;

	if (b->machine->ndevices < problem->mesh.ndevices) {
		measure_plan(out, b, problem, planner, a);
		return;
	}
	if (options_of(&option, &n, b, problem, sc, a, &e) != OK) {
		*out = (struct measurement){.planner = planner->name,
		                            .status = OUTCOME_NOT_APPLICABLE,
		                            .message = arena_strdup(a, e.text),
		                            .peak_array_bytes = -1,
		                            .peak_live_bytes = -1,
		                            .planning_s = NAN,
		                            .bound_s = NAN};
		return;
	}
	for (int64_t i = 0; i < n; i++) {
		struct measurement m;
		double s;

		if (option[i].bound_s >= best_s)
			break;
		bench_place(b, &option[i].problem);
		measure_plan(&m, b, &option[i].problem, planner, a);
		s = price_s(&m, b);
		planning_s += m.planning_s;
		if (s < best_s * (1 - 1e-12) ||
		    (s <= best_s && option[i].number < option[best].number)) {
			best_s = s;
			best = i;
		}
	}
	keep(out, problem, b, &option[best], planner, a);
	out->planning_s += planning_s;
	out->bound_s = option[0].bound_s;
}
