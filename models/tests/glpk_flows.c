#include "tests/glpk_flows.h"

#include "array/tile.h"
#include "base/list.h"
#include "base/memory.h"

#include <check.h>
#include <glpk.h>

/* What the same devices hold and the same devices want: bit d is device d. */
struct kind {
	uint32_t holders, wanters;
	double bytes;
};

/* A message between two devices, and the links of its route. */
struct edge {
	int32_t src, dst;
	int n, link[2];
};

struct program {
	const struct machine *machine;
	int32_t n;
	LIST(struct kind) data;
	LIST(struct edge) edges;
	glp_prob *lp;
	int *row, *column; /* of the entries, from 1 */
	double *value;
	int entries, room;
};

static void add_datum(struct program *x, uint32_t holders, uint32_t wanters,
                      double bytes)
{
	wanters &= ~holders;
	if (!wanters)
		return;
	for (int64_t i = 0; i < x->data.n; i++) {
		struct kind *d = &x->data.at[i];

		if (d->holders != holders || d->wanters != wanters)
			continue;
		d->bytes += bytes;
		return;
	}
	*list_add(&x->data, NULL) = (struct kind){holders, wanters, bytes};
}

/* Cuts a dimension at all tiles of both layouts; returns the number of pieces. */
static int cut_dimension(int64_t *at, const struct problem *p, int dim)
{
	int64_t extent = p->array.shape.dim[dim];
	int64_t from = extent / layout_shards(&p->from, dim);
	int64_t to = extent / layout_shards(&p->to, dim);
	int n = 0;

	for (int64_t i = 0; i < extent; i++)
		if (i % from == 0 || i % to == 0)
			at[n++] = i;
	at[n] = extent;
	return n;
}

/* Returns the devices whose tile of a layout holds an element. */
static uint32_t holders_of(const struct tilemap *t, const struct shape *shape,
                           const int64_t *element, int32_t n)
{
	uint32_t out = 0;

	for (int32_t d = 0; d < n; d++) {
		bool holds = tilemap_has(t, d);

		for (int i = 0; i < shape->rank; i++) {
			int64_t lo, hi;

			tilemap_interval(t, shape, d, i, &lo, &hi);
			holds = holds && element[i] >= lo && element[i] < hi;
		}
		out |= holds ? UINT32_C(1) << d : 0;
	}
	return out;
}

/*
 * Of a sum the data are those of the problem turned around: where all that contribute come
 * together on one device, the same flows backwards lead from it to all of them, and links are
 * as fast either way.
 */
static void list_data(struct program *x, const struct problem *p, struct arena *arena)
{
	const struct shape *shape = &p->array.shape;
	struct tilemap from = tilemap_make(&p->from, &p->mesh, shape, arena);
	struct tilemap to = tilemap_make(&p->to, &p->to_mesh, shape, arena);
	int64_t *at[RANK_MAX], element[RANK_MAX];
	int pieces[RANK_MAX], all = 1;

	for (int i = 0; i < shape->rank; i++) {
		at[i] = arena_alloc(arena, (size_t)shape->dim[i] + 1, sizeof(int64_t));
		pieces[i] = cut_dimension(at[i], p, i);
		all *= pieces[i];
	}
	for (int k = 0; k < all; k++) {
		double bytes = p->array.dtype->bits / 8.;

		for (int i = 0, rest = k; i < shape->rank; i++) {
			element[i] = at[i][rest % pieces[i]];
			bytes *= (double)(at[i][rest % pieces[i] + 1] - element[i]);
			rest /= pieces[i];
		}
		if (p->from.nunreduced > 0)
			add_datum(x, holders_of(&to, shape, element, x->n),
			          holders_of(&from, shape, element, x->n), bytes);
		else
			add_datum(x, holders_of(&from, shape, element, x->n),
			          holders_of(&to, shape, element, x->n), bytes);
	}
}

/* Lists the messages of one link on a torus, or between any two devices elsewhere. */
static void list_edges(struct program *x)
{
	for (int32_t s = 0; s < x->n; s++)
		for (int32_t d = 0; d < x->n; d++) {
			struct edge e = {s, d, 0, {0, 0}};
			int fabric = machine_fabric(x->machine, s, d);

			if (s == d)
				continue;
			ck_assert_int_ge(fabric, 0);
			e.n = machine_hops(x->machine, fabric, s, d);
			if (e.n > 1 &&
			    x->machine->fabric[fabric].geometry == GEOMETRY_TORUS)
				continue;
			e.n = machine_route(x->machine, fabric, s, d, e.link, 2);
			*list_add(&x->edges, NULL) = e;
		}
}

static void entry(struct program *x, int row, int column, double value)
{
	if (x->entries + 1 >= x->room) {
		x->room = 2 * x->room + 1024;
		x->row = xrealloc(x->row, (size_t)x->room, sizeof(int));
		x->column = xrealloc(x->column, (size_t)x->room, sizeof(int));
		x->value = xrealloc(x->value, (size_t)x->room, sizeof(double));
	}
	x->entries++;
	x->row[x->entries] = row;
	x->column[x->entries] = column;
	x->value[x->entries] = value;
}

static int add_column(struct program *x)
{
	int column = glp_add_cols(x->lp, 1);

	glp_set_col_bnds(x->lp, column, GLP_LO, 0, 0);
	return column;
}

/*
 * Adds a flow of `demand[d]` bytes to each device d out of the holders: what comes into
 * a device less what leaves it is at least what it wants. Returns its first column, one
 * for each edge.
 */
static int add_flow(struct program *x, uint32_t holders, const double *demand)
{
	int first = glp_get_num_cols(x->lp) + 1;

	for (int64_t e = 0; e < x->edges.n; e++)
		add_column(x);
	for (int32_t d = 0; d < x->n; d++) {
		int row;

		if (holders >> d & 1)
			continue;
		row = glp_add_rows(x->lp, 1);
		glp_set_row_bnds(x->lp, row, GLP_LO, demand[d], 0);
		for (int64_t e = 0; e < x->edges.n; e++) {
			if (x->edges.at[e].dst == d)
				entry(x, row, first + (int)e, 1);
			if (x->edges.at[e].src == d)
				entry(x, row, first + (int)e, -1);
		}
	}
	return first;
}

/* Puts what the columns from `first` on say of each edge on the edge's links. */
static void load_links(struct program *x, int first)
{
	for (int64_t e = 0; e < x->edges.n; e++)
		for (int i = 0; i < x->edges.at[e].n; i++)
			entry(x, 1 + x->edges.at[e].link[i], first + (int)e, 1);
}

/* Adds flows of one datum to several devices, which share what an edge carries. */
static void add_shared(struct program *x, const struct kind *d)
{
	int shared = glp_get_num_cols(x->lp) + 1;

	for (int64_t e = 0; e < x->edges.n; e++)
		add_column(x);
	load_links(x, shared);
	for (int32_t w = 0; w < x->n; w++) {
		double demand[32] = {0};
		int first;

		if (!(d->wanters >> w & 1))
			continue;
		demand[w] = d->bytes;
		first = add_flow(x, d->holders, demand);
		for (int64_t e = 0; e < x->edges.n; e++) {
			int row = glp_add_rows(x->lp, 1);

			glp_set_row_bnds(x->lp, row, GLP_LO, 0, 0);
			entry(x, row, shared + (int)e, 1);
			entry(x, row, first + (int)e, -1);
		}
	}
}

/* Adds the flows of all data that one device each wants from the same holders. */
static void add_single(struct program *x, uint32_t holders)
{
	double demand[32] = {0};
	bool any = false;

	for (int64_t i = 0; i < x->data.n; i++) {
		const struct kind *d = &x->data.at[i];
		bool single = !(d->wanters & (d->wanters - 1));

		if (d->holders != holders || !single)
			continue;
		any = true;
		for (int32_t w = 0; w < x->n; w++)
			demand[w] += d->wanters >> w & 1 ? d->bytes : 0;
	}
	if (any)
		load_links(x, add_flow(x, holders, demand));
}

static bool first_of_holders(const struct program *x, int64_t i)
{
	for (int64_t k = 0; k < i; k++)
		if (x->data.at[k].holders == x->data.at[i].holders)
			return false;
	return true;
}

double glpk_flows_s(const struct problem *p, const struct machine *m,
                    struct arena *arena)
{
	struct program x = {.machine = m, .n = p->ndevices, .lp = glp_create_prob()};
	glp_smcp how;
	double out;

	glp_term_out(GLP_OFF);
	glp_init_smcp(&how);
	how.presolve = GLP_ON;
	list_data(&x, p, arena);
	list_edges(&x);
	glp_set_obj_dir(x.lp, GLP_MIN);
	glp_add_rows(x.lp, m->nlinks);
	glp_set_obj_coef(x.lp, add_column(&x), 1);
	for (int32_t l = 0; l < m->nlinks; l++) {
		glp_set_row_bnds(x.lp, 1 + l, GLP_UP, 0, 0);
		entry(&x, 1 + l, 1, -m->link[l].bandwidth_Bps / 1e9);
	}
	for (int64_t i = 0; i < x.data.n; i++) {
		if (first_of_holders(&x, i))
			add_single(&x, x.data.at[i].holders);
		if (x.data.at[i].wanters & (x.data.at[i].wanters - 1))
			add_shared(&x, &x.data.at[i]);
	}
	glp_load_matrix(x.lp, x.entries, x.row, x.column, x.value);
	ck_assert_int_eq(glp_simplex(x.lp, &how), 0);
	ck_assert_int_eq(glp_get_status(x.lp), GLP_OPT);
	out = glp_get_obj_val(x.lp) / 1e9;
	glp_delete_prob(x.lp);
	xfree(x.data.at);
	xfree(x.edges.at);
	xfree(x.row);
	xfree(x.column);
	xfree(x.value);
	return out;
}
