/* The scenarios that a suite has so far. */
#include "suite/suite.h"

#include "base/list.h"

#include <stdlib.h>
#include <string.h>

/* Returns the number of devices of the scenario's mesh, 0 if it has none. */
static int32_t mesh_devices(const struct scenario *sc)
{
	struct arena *scratch = arena_new();
	struct error e = {0};
	struct mesh m;
	int32_t n = 0;

	if (sc->text.mesh &&
	    mesh_parse(&m, scratch, sc->text.mesh, sc->text.mesh_at, &e) == OK)
		n = m.ndevices;
	arena_free(scratch);
	return n;
}

void suite_add(struct suite *s, const struct scenario *sc)
{
	struct scenario *own;

	s->scenario = list_grow(s->arena, s->scenario, s->n, 1, &s->room, sizeof(*own));
	own = &s->scenario[s->n++];
	*own = *sc;
	if (!sc->base)
		own->base = sc->name;
	if (sc->needs == 0)
		own->needs = mesh_devices(sc);
	if (sc->weight == 0)
		own->weight = 1;
	if (!sc->varied)
		own->varied = "";
	own->file = s->nfiles > 0 ? s->nfiles - 1 : 0;
}

enum status suite_check_steps(const struct suite *s, bool steps, struct error *e)
{
	for (int32_t i = 0; i < s->n; i++)
		if (!s->scenario[i].step.model == steps)
			return error_set(
				e, E_TYPE, s->scenario[i].at,
				steps ? "a redistribution, expected a step, as others "
					"of the sweep are"
				      : "a step, expected a redistribution: steps are "
					"for sweep, in suites of their own");
	return OK;
}

static int scenario_by_name(const void *a, const void *b)
{
	const struct scenario *const *x = a, *const *y = b;

	return strcmp((*x)->name, (*y)->name);
}

enum status suite_check_names(const struct suite *s, struct error *e)
{
	const struct scenario **sorted;

	if (!s->n)
		return error_set(
			e, E_SYNTAX,
			(struct where){.file = s->path, .line = 1, .col = 1},
			"platforms without scenarios, expected a suite with some "
			"beside it");
	sorted = xmalloc((size_t)s->n, sizeof(*sorted));

	for (int32_t i = 0; i < s->n; i++)
		sorted[i] = &s->scenario[i];
	qsort(sorted, (size_t)s->n, sizeof(*sorted), scenario_by_name);
	for (int32_t i = 1; i < s->n; i++)
		if (strcmp(sorted[i - 1]->name, sorted[i]->name) == 0)
			error_set(e, E_TYPE, sorted[i]->at,
			          "scenario '%.80s' is there twice", sorted[i]->name);
	free(sorted);
	return e->code;
}
