#include "automap/run.h"

#include "automap/shapes.h"
#include "automap/tariff.h"
#include "automap/try.h"
#include "base/units.h"

#include <math.h>
#include <string.h>

enum search_kind automap_search_of(const char *name)
{
	if (!name || !strcmp(name, "structure"))
		return SEARCH_STRUCTURE;
	return !strcmp(name, "mcts")         ? SEARCH_MCTS
	       : !strcmp(name, "exhaustive") ? SEARCH_EXHAUSTIVE
	                                     : SEARCH_NONE;
}

bool automap_fits(const struct automap_ask *ask, const struct evaluation *e)
{
	return ask->memory_limit_bytes <= 0 || e->peak_bytes <= ask->memory_limit_bytes;
}

bool automap_fails(const struct automap_ask *ask, const struct automap_answer *answer)
{
	return ask->search != SEARCH_NONE && !automap_fits(ask, &answer->best.e);
}

const char *automap_axis(const struct automap_found *f, int axis)
{
	for (int i = 0; i < f->mesh.naxes; i++)
		if (f->mesh.axis[i].size > 1 && axis-- == 0)
			return f->mesh.axis[i].name;
	return "";
}

/* What the second lacks to be the first. */
static const char *compare_found(struct arena *a, const struct automap_ask *ask,
                                 const struct automap_found *best,
                                 const struct automap_found *second)
{
	struct text why = {0};
	double compute = second->e.compute_s - best->e.compute_s;
	double moves = second->e.communication_s - best->e.communication_s;

	if (!automap_fits(ask, &second->e) && second->e.peak_bytes > best->e.peak_bytes) {
		text_printf(&why, "does not fit: it needs ");
		units_print_bytes(&why, second->e.peak_bytes);
	} else if (fabs(compute) + fabs(moves) <= 1e-9 * best->e.step_s) {
		text_printf(&why, "takes as long");
	} else {
		text_printf(&why, "its kernels take ");
		units_print_time(&why, fabs(compute));
		text_printf(&why, " %s, its collectives ",
		            compute < 0 ? "less" : "more");
		units_print_time(&why, fabs(moves));
		text_printf(&why, " %s", moves < 0 ? "less" : "more");
	}
	return text_take(&why, a);
}

/* The best and the second of one mesh, or of all shapes, priced with all that is planned. */
static enum status find(struct automap_answer *out, struct arena *a,
                        const struct automap_ask *ask, struct error *e)
{
	struct automap_found f = {0};

	if (ask->mesh) {
		f.mesh = *ask->mesh;
		f.device = ask->devices;
		if (automap_try(out, &f, a, ask, ask->budget, NULL, e) != OK)
			return e->code;
		out->tried = 1;
		automap_keep(out, ask, &f);
	} else if (automap_shapes(out, a, ask, e) != OK) {
		return e->code;
	}
	automap_plan(&out->best, a, ask);
	automap_plan(&out->second, a, ask);
	if (out->second.cutting && automap_compare(ask, &out->second, &out->best) < 0) {
		f = out->best;
		out->best = out->second;
		out->second = f;
	}
	return OK;
}

enum status automap_run(struct automap_answer *out, struct arena *a,
                        const struct automap_ask *ask, struct error *e)
{
	struct automap_ask with = *ask;

	*out = (struct automap_answer){.complete = true, .cuts_complete = true};
	with.whole = ask->mesh;
	with.experts = tactic_has_experts(ask->graph);
	with.shared = ask->machine ? group_prices_new(ask->machine) : NULL;
	find(out, a, &with, e);
	group_prices_free(with.shared);
	if (e->code != OK)
		return e->code;
	if (out->second.cutting)
		out->why = compare_found(a, ask, &out->best, &out->second);
	if (ask->machine)
		out->bound_s = machine_bound_s(ask->machine, ask->graph,
		                               out->best.mesh.ndevices,
		                               automap_micro_batches(ask));
	return OK;
}
