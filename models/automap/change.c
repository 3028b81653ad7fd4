#include "automap/change.h"

static struct part whole_axis(const struct mesh *m, int axis)
{
	return (struct part){axis, 1, m->axis[axis].size};
}

static struct layout layout_of(const struct cuts *c, const struct mesh *m, int rank)
{
	struct layout l = layout_replicated(rank);

	for (int i = 0; i < c->n; i++)
		layout_append(&l, c->at[i], whole_axis(m, c->axis[i]));
	return l;
}

void change_problem(struct problem *out, struct arena *a, const struct mesh *mesh,
                    const int32_t *device, const struct value_type *type,
                    const struct cuts *from, const struct cuts *to, uint8_t sums)
{
	*out = (struct problem){.arena = a,
	                        .array = {.dtype = type->dtype, .shape.rank = type->rank},
	                        .mesh = *mesh,
	                        .to_mesh = *mesh,
	                        .ndevices = mesh->ndevices,
	                        .same_devices = true,
	                        .platform = device,
	                        .memory_limit_bytes = -1,
	                        .vocabulary = VOCABULARY_ANY};
	for (int d = 0; d < type->rank; d++)
		out->array.shape.dim[d] = type->dim[d];
	out->from = layout_of(from, mesh, type->rank);
	out->to = layout_of(to, mesh, type->rank);
	for (int i = 0; i < mesh->naxes; i++)
		if (sums >> i & 1)
			layout_append(&out->from, type->rank, whole_axis(mesh, i));
	problem_finish(out);
}

/* Moves of one axis each, which the caller has room for. */
struct moves {
	const struct mesh *mesh;
	int n;
	struct move move[2 * CUT_AXES];
	struct part part[2 * CUT_AXES];
};

/* Adds an axis to the last move if that goes the same way, else as one of its own. */
static void add_axis(struct moves *m, int axis, int from_dim, int to_dim)
{
	struct move *last = m->n ? &m->move[m->n - 1] : NULL;
	struct part *next = m->part;

	for (int i = 0; i < m->n; i++)
		next += m->move[i].nparts;
	*next = whole_axis(m->mesh, axis);
	if (!last || last->from_dim != from_dim || last->to_dim != to_dim) {
		last = &m->move[m->n++];
		*last = (struct move){from_dim, to_dim, 1, 0, next};
	}
	last->factor *= next->size;
	last->nparts++;
}

/* The axes of the longer form, which the shorter one lacks, dimension by dimension. */
static void add_lost(struct moves *m, const struct cuts *more, const struct cuts *less,
                     bool gathers)
{
	for (int i = 0; i < more->n; i++)
		if (cuts_at(less, more->axis[i]) < 0)
			add_axis(m, more->axis[i], gathers ? more->at[i] : -1,
			         gathers ? -1 : more->at[i]);
}

static void add_hop(struct plan *p, enum op op, const struct cuts *from,
                    const struct cuts *to, uint8_t sums)
{
	struct moves m = {.mesh = &p->problem->mesh};

	if (op == OP_ALL_REDUCE)
		for (int i = 0; i < m.mesh->naxes; i++)
			if (sums >> i & 1)
				add_axis(&m, i, -1, -1);
	if (op == OP_ALL_TO_ALL)
		for (int i = 0; i < from->n; i++) {
			int at = cuts_at(to, from->axis[i]);

			if (at != from->at[i])
				add_axis(&m, from->axis[i], from->at[i], at);
		}
	if (op == OP_ALL_GATHER)
		add_lost(&m, from, to, true);
	if (op == OP_SLICE || op == OP_REDUCE_SCATTER)
		add_lost(&m, to, from, false);
	plan_axes_step(p, op, m.move, m.n);
}

struct plan *change_plan(struct arena *a, const struct problem *p,
                         const struct transfer_step *s)
{
	struct plan *plan = plan_new(a, p, "automap");
	struct hop hop[HOPS_MAX] = {{s->op, s->from, s->to}};
	int n = s->op == OP_EXCHANGE ? reshard_hops(hop, &s->from, &s->to) : 1;

	for (int k = 0; k < n; k++)
		add_hop(plan, hop[k].op, &hop[k].from, &hop[k].to, s->axes);
	plan_finish(plan);
	return plan;
}
