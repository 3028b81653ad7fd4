#include "automap/remarks.h"

#include <string.h>

/* Whether a value or an op has the axis. */
static bool cuts_anything(const struct cutting *c, int axis)
{
	for (int64_t v = 0; v < c->graph->value.n; v++)
		if (c->value[v].mask >> axis & 1)
			return true;
	for (int64_t i = 0; i < c->graph->op.n; i++)
		if (c->op[i].mask >> axis & 1)
			return true;
	return false;
}

static bool divides_a_dimension(const struct graph *g, int32_t size)
{
	for (int64_t i = 0; i < g->group.n; i++)
		for (int32_t d = 0; d < g->group.at[i].type->rank; d++)
			if (g->group.at[i].type->dim[d] % size == 0)
				return true;
	return false;
}

/* Axes along which all devices do the same, which no search was kept from cutting. */
static void add_idle_axes(struct text *out, const struct automap_show *s)
{
	const struct cutting *c = s->answer->best.cutting;

	for (int axis = 0; axis < c->naxes && s->ask->search != SEARCH_NONE; axis++) {
		const char *why =
			"no cut that was tried makes a step faster, or small enough";

		if (cuts_anything(c, axis))
			continue;
		if (!divides_a_dimension(c->graph, c->size[axis]))
			why = "it divides no dimension of an argument";
		text_printf(out,
		            "%s: nothing is cut along %s=%d, whose devices all do the "
		            "same: %s\n",
		            s->name, automap_axis(&s->answer->best, axis),
		            (int)c->size[axis], why);
	}
}

static bool is_one_of(const char *name, const char *const *of)
{
	for (; *of; of++)
		if (!strcmp(name, *of))
			return true;
	return false;
}

/* Axes whose name says what the program has nothing of, and that cut something else. */
static void add_strange_axes(struct text *out, const struct automap_show *s)
{
	static const char *const experts[] = {"expert", "experts", "ep", NULL};
	static const char *const stages[] = {"pipe",  "pipeline", "pp",
	                                     "stage", "stages",   NULL};
	const struct cutting *c = s->answer->best.cutting;

	for (int axis = 0; axis < c->naxes; axis++) {
		const char *name = automap_axis(&s->answer->best, axis);

		if (!cuts_anything(c, axis))
			continue;
		if (is_one_of(name, experts) && !tactic_has_experts(c->graph))
			text_printf(out,
			            "%s: there are no experts in it, so that the axis "
			            "%s cuts what any other may cut\n",
			            s->name, name);
		if (is_one_of(name, stages))
			text_printf(out,
			            "%s: the axis %s cuts what any other may cut: "
			            "pipelines are the business of `step`\n",
			            s->name, name);
	}
}

/* What needs less memory, where nothing fits. */
static void add_ways_to_fit(struct text *out, const struct automap_show *s)
{
	if (!automap_fails(s->ask, s->answer))
		return;
	text_printf(out, "%s: a step needs less memory with %smore --micro-batches%s\n",
	            s->name, s->ask->recompute ? "" : "--recompute full, or with ",
	            s->ask->recompute ? "" : " of a model");
}

void automap_remarks(struct text *out, const struct automap_show *s)
{
	const struct automap_found *f = &s->answer->best;

	if (f->foreign)
		text_printf(out,
		            "%s: the shardings of its text are left out, as this mesh "
		            "has no axis %s=%d\n",
		            s->name, f->foreign->name, (int)f->foreign->size);
	if (f->lost)
		text_printf(out,
		            "%s: %d cuts of its text are left out: of a part of an "
		            "axis, or of a dimension that does not divide\n",
		            s->name, f->lost);
	if (f->idle)
		text_printf(out, "%s: nothing is cut by --tactic %s\n", s->name,
		            f->idle);
	if (f->e.unknown)
		text_printf(out,
		            "%s: of some kernels the platform does not tell how long "
		            "they take: they are left out\n",
		            s->name);
	add_idle_axes(out, s);
	add_strange_axes(out, s);
	add_ways_to_fit(out, s);
}
