/* The program's own text with the shardings of an answer in it. */
#include "program/annotate.h"

#include "automap/show.h"

#include <string.h>

struct noting {
	struct shardings *s;
	const struct automap_found *f;
	const struct graph *g;
	bool *noted; /* [shardings] */
};

static void set_sharding(struct sharding *s, const struct layout *l)
{
	for (int d = 0; d < l->rank; d++) {
		int n;
		const struct part *part = layout_parts(l, d, &n);

		s->dim[d].axes.n = n;
		memcpy(s->dim[d].axes.at, part, (size_t)n * sizeof(*part));
	}
}

/*
 * Notes how a value of the program is cut. Nothing is said of one that a computation has each time
 * that it is called, and each time cut in another way.
 */
static void note(const struct noting *n, int32_t flat, int32_t value)
{
	int32_t of = n->s->of[value], v = n->g->value_of[n->g->repeats->stands[flat]];
	struct sharding *s = &n->s->at[of];
	struct layout l, before;

	if (v < 0 || s->type->rank > RANK_MAX)
		return;
	l = automap_layout(n->f, n->g, v);
	before = sharding_layout(s);
	if (!n->noted[of])
		set_sharding(s, &l);
	s->anew = n->noted[of] &&
	          (s->anew || !layout_same_tiles(&l, &n->f->mesh, &before, &n->f->mesh));
	n->noted[of] = true;
}

/* A result that takes the place of an argument is cut as that is; others as their values. */
static void note_result(const struct noting *n, int32_t k)
{
	struct sharding *s = &n->s->at[n->g->program->value.n + k];
	int32_t v = n->g->value_of[n->g->repeats->stands[n->g->flat->result.at[k]]];
	struct layout l;

	if (v < 0 || s->type->rank > RANK_MAX || n->g->value.at[v].constant)
		return;
	if (n->g->value.at[v].becomes >= 0)
		v = n->g->value.at[v].becomes;
	l = automap_layout(n->f, n->g, v);
	set_sharding(s, &l);
	s->anew = false;
}

static void note_all(struct shardings *s, struct arena *a, const struct automap_found *f,
                     const struct graph *g, const struct shardings *given)
{
	const struct program *p = g->program;
	const struct numbers param = p->region.at[p->entry].param;
	struct noting n = {s, f, g, NULL};

	shardings_start(s, a, p);
	s->mesh = f->mesh;
	if (f->device)
		s->mesh.ids = f->device;
	n.noted = arena_alloc(a, (size_t)s->n + 1, sizeof(*n.noted));
	for (int32_t i = 0; i < s->n; i++) {
		s->at[i].anew = true;
		s->at[i].left = i < given->n && given->at[i].left;
	}
	for (int32_t i = 0; i < param.n; i++)
		note(&n, i, param.at[i]);
	for (int32_t i = 0; i < g->flat->result.n; i++)
		note_result(&n, i);
	for (int64_t i = 0; i < g->flat->step.n; i++) {
		const struct flat_step *step = &g->flat->step.at[i];
		const struct instruction *op = &p->op.at[step->op];

		for (int32_t k = 0; k < step->nout && k < op->nvalues; k++)
			note(&n, step->first_out + k, op->first_value + k);
	}
}

bool automap_annotate(struct text *out, struct arena *a, const struct automap_show *s,
                      struct text *why)
{
	const struct graph *g = s->ask->graph;
	struct shardings all;

	note_all(&all, a, &s->answer->best, g, &s->program->given);
	return program_annotate(out, a, g->program, &all, why);
}
