#include "automap/run.h"

#include "automap/given.h"
#include "automap/tariff.h"
#include "base/suggest.h"
#include "base/units.h"
#include "facts/tactic.h"
#include "place/placing.h"
#include "placement/matrix.h"

#include <math.h>
#include <string.h>

bool automap_fits(const struct automap_ask *ask, const struct evaluation *e)
{
	return ask->memory_limit_bytes <= 0 || e->peak_bytes <= ask->memory_limit_bytes;
}

static double micro_batches(const struct automap_ask *ask)
{
	return ask->micro_batches > 0 ? (double)ask->micro_batches : 1;
}

/* --- tactics ---------------------------------------------------------------------- */

/* Reads KIND:AXIS, or a file of rules; axis -1: one of size 1, on which nothing is cut. */
static enum status read_tactic(struct tactic *out, struct arena *a, const char *option,
                               const char *text, const struct mesh *mesh,
                               struct error *e)
{
	struct where at = where_option(option, text);
	const char *colon = strchr(text, ':');
	size_t length = colon ? (size_t)(colon - text) : strlen(text);
	struct scan s = scan_start(text, at, e);

	*out = (struct tactic){.kind = tactic_find(text, length), .name = text};
	if (out->kind == TACTICS && (strchr(text, '/') || strstr(text, ".yaml")))
		return tactic_read(out, a, text, mesh, e);
	if (out->kind == TACTICS)
		return scan_fail_at(
			&s, text, E_SYNTAX,
			"unknown tactic '%.*s', expected data, context, "
			"megatron, sequence, expert, zero2, zero3 or a file",
			(int)length, text);
	if (!colon || !colon[1])
		return scan_fail_at(&s, text, E_SYNTAX, "expected %.*s:AXIS",
		                    (int)length, text);
	out->axis = mesh_axis(mesh, colon + 1, strlen(colon + 1));
	if (out->axis < 0)
		return scan_fail_at(&s, colon + 1, E_TYPE,
		                    "unknown axis '%s' of the mesh", colon + 1);
	return OK;
}

/* --- one mesh in one placement ---------------------------------------------------- */

/* Axes of size 1 are none to a search. */
static int large_axes(int32_t *size, int *number, const struct mesh *mesh)
{
	int n = 0;

	for (int i = 0; i < mesh->naxes; i++) {
		number[i] = mesh->axis[i].size > 1 ? n : -1;
		if (mesh->axis[i].size > 1)
			size[n++] = mesh->axis[i].size;
	}
	return n;
}

/* Reads tactics with the search's numbers of axes, without those on axes of size 1. */
static enum status read_tactics(struct tactic **out, int *n, struct arena *a,
                                const struct mesh *mesh,
                                const int *number, const char *option,
                                const char *const *text, int ntexts, struct error *e)
{
	*n = 0;
	*out = arena_alloc(a, (size_t)ntexts + 1, sizeof(**out));
	for (int i = 0; i < ntexts; i++) {
		struct tactic *t = &(*out)[*n];
		struct tactic_rule *rule;
		int rules = 0;

		if (read_tactic(t, a, option, text[i], mesh, e) != OK)
			return e->code;
		rule = arena_alloc(a, (size_t)t->nrules + 1, sizeof(*rule));
		for (int k = 0; k < t->nrules; k++)
			if (number[t->rule[k].axis] >= 0) {
				rule[rules] = t->rule[k];
				rule[rules++].axis = number[t->rule[k].axis];
			}
		t->rule = rule;
		t->nrules = rules;
		t->axis = number[t->axis];
		if (t->kind == TACTIC_USER ? t->nrules > 0 : t->axis >= 0)
			++*n;
	}
	return OK;
}

/* Cuts as the program's text says, if all axes of its mesh are those of ours. */
static void apply_given(struct automap_found *f, const struct automap_ask *ask,
                        const int *number)
{
	const struct mesh *mesh = &ask->given->mesh;
	int axis[MESH_AXES_MAX];

	for (int i = 0; i < mesh->naxes; i++) {
		const struct axis *of = &mesh->axis[i];
		int ours = mesh_axis(&f->mesh, of->name, strlen(of->name));

		axis[i] = of->size > 1 && ours >= 0 ? number[ours] : -1;
		if (of->size > 1 && (ours < 0 || f->mesh.axis[ours].size != of->size)) {
			f->foreign = of;
			return;
		}
	}
	f->given = given_cut(f->cutting, ask->given, axis, &f->lost);
}

static enum status apply_tactics(struct automap_found *f, struct arena *a,
                                 const struct automap_ask *ask, const int *number,
                                 struct error *e)
{
	struct tactic *t;
	int n;

	if (read_tactics(&t, &n, a, &f->mesh, number,
	                 "--tactic", ask->tactic, ask->ntactics, e) != OK)
		return e->code;
	for (int i = 0; i < n; i++)
		if (!tactic_apply(f->cutting, &t[i]))
			f->idle = f->idle ? arena_printf(a, "%s, %s", f->idle, t[i].name)
			                  : t[i].name;
	return OK;
}

struct told {
	const struct automap_ask *ask;
	const struct mesh *mesh;
};

static void tell(void *self, const struct search *s)
{
	const struct told *t = self;

	t->ask->better(t->ask->self, t->mesh, s);
}

static void run_search(struct automap_answer *out, struct automap_found *f,
                       struct arena *a, const struct automap_ask *ask,
                       struct evaluator *ev, const struct tactic *start, int nstart)
{
	struct told told = {ask, &f->mesh};
	struct search s = {.evaluator = ev,
	                   .cutting = f->cutting,
	                   .memory_limit_bytes = ask->memory_limit_bytes,
	                   .budget = ask->budget,
	                   .seed = ask->seed,
	                   .nstart = nstart,
	                   .start = start,
	                   .better = ask->better ? tell : NULL,
	                   .self = &told};

	search_start(&s, a);
	if (ask->search == SEARCH_EXHAUSTIVE)
		search_exhaustive(&s);
	else if (ask->search == SEARCH_MCTS)
		search_mcts(&s);
	else if (ask->search == SEARCH_STRUCTURE)
		search_structure(&s);
	search_apply(&s);
	f->e = s.best;
	f->found_at = out->evaluations + s.best_at;
	out->evaluations += s.evaluations;
	out->complete &= s.complete;
}

/* Fills the cutting and the evaluation of a mesh on its devices. */
static enum status try_mesh(struct automap_answer *out, struct automap_found *f,
                            struct arena *a, const struct automap_ask *ask,
                            struct error *e)
{
	struct machine_tariff *t = NULL;
	struct cut_prices prices;
	struct evaluator ev;
	struct mesh large = f->mesh;
	int32_t size[MESH_AXES_MAX];
	int number[MESH_AXES_MAX], n = large_axes(size, number, &f->mesh), nstart;
	struct tactic *start;

	large.naxes = 0;
	for (int i = 0; i < f->mesh.naxes; i++)
		if (number[i] >= 0)
			large.axis[large.naxes++] = f->mesh.axis[i];
	f->cutting = arena_alloc(a, 1, sizeof(*f->cutting));
	cutting_start(f->cutting, a, ask->graph, n, size);
	if (ask->given)
		apply_given(f, ask, number);
	if (apply_tactics(f, a, ask, number, e) != OK ||
	    read_tactics(&start, &nstart, a, &f->mesh, number,
	                 "--start", ask->start, ask->nstart, e) != OK)
		return e->code;
	if (ask->machine) {
		t = machine_tariff_new(ask->machine, &large, f->device);
		prices = machine_tariff_prices(t);
	}
	evaluator_start(&ev, a, ask->graph, t ? &prices : NULL);
	evaluator_repeat(&ev, a, micro_batches(ask), ask->recompute);
	run_search(out, f, a, ask, &ev, start, nstart);
	if (t)
		machine_tariff_free(t);
	out->tried++;
	return OK;
}

/* --- all of them ------------------------------------------------------------------ */

static int better(const struct automap_ask *ask, const struct automap_found *x,
                  const struct automap_found *y)
{
	const struct search s = {.memory_limit_bytes = ask->memory_limit_bytes};

	return search_compare_answers(&s, &x->e, &y->e);
}

static void keep(struct automap_answer *out, const struct automap_ask *ask,
                 const struct automap_found *f)
{
	if (!out->best.cutting || better(ask, f, &out->best) < 0) {
		out->second = out->best;
		out->best = *f;
		out->best_at = f->found_at;
	} else if (!out->second.cutting || better(ask, f, &out->second) < 0) {
		out->second = *f;
	}
}

/* All placements of a mesh whose sizes are set. */
static enum status try_placements(struct automap_answer *out, struct arena *a,
                                  const struct automap_ask *ask, struct automap_found f,
                                  struct error *e)
{
	struct where at = where_option("--device-count", "");
	struct hierarchy h;
	struct matrix *m;
	struct mesh large = f.mesh;
	int64_t n;

	if (!ask->machine) {
		if (try_mesh(out, &f, a, ask, e) == OK)
			keep(out, ask, &f);
		return e->code;
	}
	if (placing_hierarchy(&h, ask->machine, f.mesh.ndevices, at, e) != OK)
		return e->code;
	placing_take(&h, ask->machine, a);
	if (matrices_of(&m, &n, a, &h, &large, at, e) != OK)
		return e->code;
	for (int64_t i = 0; i < n; i++) {
		struct text name = {0};

		f.device = matrix_platform(&m[i], &h, a);
		matrix_print(&name, &m[i]);
		f.placement = text_take(&name, a);
		if (try_mesh(out, &f, a, ask, e) != OK)
			return e->code;
		keep(out, ask, &f);
	}
	return OK;
}

static enum status try_shapes(struct automap_answer *out, struct arena *a,
                              const struct automap_ask *ask, struct error *e)
{
	for (int32_t model = 1; model <= ask->ndevices; model++) {
		struct automap_found f = {0};

		if (ask->ndevices % model)
			continue;
		f.mesh.naxes = 2;
		f.mesh.ndevices = ask->ndevices;
		f.mesh.axis[0] = (struct axis){"batch", ask->ndevices / model};
		f.mesh.axis[1] = (struct axis){"model", model};
		if (try_placements(out, a, ask, f, e) != OK)
			return e->code;
	}
	return OK;
}

/* What the second lacks to be the first. */
static const char *compare_found(struct arena *a, const struct automap_ask *ask,
                                 const struct automap_found *best,
                                 const struct automap_found *second)
{
	struct text why = {0};
	double compute = second->e.compute_s - best->e.compute_s;
	double moves = second->e.communication_s - best->e.communication_s;

	if (!automap_fits(ask, &second->e) && automap_fits(ask, &best->e)) {
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

enum status automap_run(struct automap_answer *out, struct arena *a,
                        const struct automap_ask *ask, struct error *e)
{
	struct automap_found f = {0};

	*out = (struct automap_answer){.complete = true};
	if (ask->mesh) {
		f.mesh = *ask->mesh;
		f.device = ask->devices;
		if (try_mesh(out, &f, a, ask, e) != OK)
			return e->code;
		keep(out, ask, &f);
	} else if (try_shapes(out, a, ask, e) != OK) {
		return e->code;
	}
	if (out->second.cutting)
		out->why = compare_found(a, ask, &out->best, &out->second);
	if (ask->machine)
		out->bound_s = machine_bound_s(ask->machine, ask->graph,
		                               out->best.mesh.ndevices,
		                               micro_batches(ask));
	return OK;
}
