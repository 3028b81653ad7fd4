#include "automap/given.h"

struct giver {
	struct cutting *c;
	const struct shardings *s;
	const int *axis;
	int n, lost;
};

static void cut_value(struct giver *k, int32_t value, int32_t sharding)
{
	const struct sharding *s = &k->s->at[sharding];
	const struct graph_value *v = &k->c->graph->value.at[value];

	if (!s->given || v->constant || s->type->rank != v->type->rank)
		return;
	for (int32_t d = 0; d < s->type->rank; d++)
		for (int32_t i = 0; i < s->dim[d].axes.n; i++) {
			const struct part *p = &s->dim[d].axes.at[i];
			int axis = k->axis[p->axis];
			bool whole = p->size == k->s->mesh.axis[p->axis].size;

			if (axis < 0 || cuts_at(&k->c->value[value], axis) == d)
				continue;
			if (whole && cutting_cut(k->c, value, d, axis))
				k->n++;
			else
				k->lost++;
		}
}

int given_cut(struct cutting *c, const struct shardings *s, const int *axis, int *lost)
{
	struct giver k = {c, s, axis, 0, 0};
	const struct graph *g = c->graph;
	const struct program *p = g->program;

	for (int32_t v = 0; v < g->value.n; v++)
		if (g->value.at[v].argument >= 0)
			cut_value(&k, v,
			          s->of[p->region.at[p->entry]
			                        .param.at[g->value.at[v].argument]]);
	for (int64_t i = 0; i < g->op.n; i++) {
		const struct graph_op *o = &g->op.at[i];
		int32_t first = graph_instruction(g, o)->first_value;

		for (int32_t t = 0; t < o->nout; t++)
			cut_value(&k, g->tensor.at[o->first_tensor + o->nin + t].value,
			          s->of[first + t]);
	}
	for (int32_t i = 0; i < g->flat->result.n; i++)
		cut_value(&k, g->value_of[g->repeats->stands[g->flat->result.at[i]]],
		          s->of[p->value.n + i]);
	cutting_propagate(c);
	for (int axis = 0; axis < c->naxes && k.n; axis++)
		cutting_settle(c, axis);
	*lost = k.lost;
	return k.n;
}
