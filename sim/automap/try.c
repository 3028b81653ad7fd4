#include "automap/try.h"

#include "automap/given.h"
#include "automap/tariff.h"
#include "facts/tactic.h"

#include <string.h>

const char *automap_split_axis(const struct automap_ask *ask)
{
	return ask->mesh ? NULL : ask->experts ? "expert" : "split";
}

double automap_micro_batches(const struct automap_ask *ask)
{
	return ask->micro_batches > 0 ? (double)ask->micro_batches : 1;
}

bool automap_large_axes(struct mesh *out, const struct mesh *from)
{
	*out = *from;
	out->naxes = 0;
	for (int i = 0; i < from->naxes; i++)
		if (from->axis[i].size > 1 && out->naxes < MESH_AXES_MAX)
			out->axis[out->naxes++] = from->axis[i];
	out->naxes += !out->naxes;
	return out->naxes <= CUT_AXES;
}

/* --- tactics ---------------------------------------------------------------------- */

/*
 * Reads KIND:AXIS, or a file of rules. Axis -1: that which the mesh may not have, `split`, on which
 * nothing is cut then; NULL: there is none.
 */
static enum status read_tactic(struct tactic *out, struct arena *a, const char *option,
                               const char *text, const struct mesh *mesh,
                               const char *split, struct error *e)
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
	if (out->axis < 0 && !(split && !strcmp(colon + 1, split)))
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
                                const struct mesh *mesh, const int *number,
                                const char *split, const char *option,
                                const char *const *text, int ntexts, struct error *e)
{
	*n = 0;
	*out = arena_alloc(a, (size_t)ntexts + 1, sizeof(**out));
	for (int i = 0; i < ntexts; i++) {
		struct tactic *t = &(*out)[*n];
		struct tactic_rule *rule;
		int rules = 0;

		if (read_tactic(t, a, option, text[i], mesh, split, e) != OK)
			return e->code;
		rule = arena_alloc(a, (size_t)t->nrules + 1, sizeof(*rule));
		for (int k = 0; k < t->nrules; k++)
			if (number[t->rule[k].axis] >= 0) {
				rule[rules] = t->rule[k];
				rule[rules++].axis = number[t->rule[k].axis];
			}
		t->rule = rule;
		t->nrules = rules;
		t->axis = t->axis < 0 ? -1 : number[t->axis];
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

	if (read_tactics(&t, &n, a, &f->mesh, number, automap_split_axis(ask),
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

/* Runs a search whose start and budget are set; what it remembers of states is `scratch`'s. */
static void run_search(struct automap_answer *out, struct automap_found *f,
                       struct arena *a, struct arena *scratch,
                       const struct automap_ask *ask, struct search s)
{
	struct told told = {ask, &f->mesh};

	s.cutting = f->cutting;
	s.memory_limit_bytes = ask->memory_limit_bytes;
	s.rng_seed = ask->seed;
	s.whole = ask->whole;
	s.better = ask->better ? tell : NULL;
	s.self = &told;
	s.stop = ask->stop;
	search_start(&s, scratch);
	if (ask->search == SEARCH_EXHAUSTIVE)
		search_exhaustive(&s);
	else if (ask->search == SEARCH_MCTS)
		search_mcts(&s);
	else if (ask->search == SEARCH_STRUCTURE)
		search_structure(&s);
	search_apply(&s);
	f->e = s.best;
	f->way = (struct actions){0};
	actions_copy(&f->way, &s.actions, a);
	f->found_at = out->evaluations + s.best_at;
	out->evaluations += s.evaluations;
	out->spent |= ask->budget > 0 && s.evaluations >= ask->budget;
	out->complete &= s.complete;
	out->cuts_complete &= s.cuts_complete;
}

/*
 * Devices of a mesh up to which changes of layout are planned while searching; of larger ones, for
 * which that takes long, those of the answer alone are.
 */
enum { PLANNED_MOST = 256 };

void automap_evaluator_start(struct automap_evaluator *out, struct arena *a,
                             const struct automap_ask *ask,
                             const struct automap_found *f,
                             const struct planner *planner)
{
	struct mesh large;

	automap_large_axes(&large, &f->mesh);
	out->of = NULL;
	if (ask->machine) {
		out->of = machine_tariff_new(ask->machine, ask->shared, &large,
		                             f->device, planner);
		out->prices = machine_tariff_prices(out->of);
	}
	evaluator_start(&out->evaluator, a, ask->graph, out->of ? &out->prices : NULL);
	evaluator_repeat(&out->evaluator, a, automap_micro_batches(ask), ask->recompute);
	if (ask->overlap)
		evaluator_overlap(&out->evaluator, a);
}

enum status automap_try(struct automap_answer *out, struct automap_found *f,
                        struct arena *a, const struct automap_ask *ask, int64_t budget,
                        const struct actions *seed, struct error *e)
{
	struct automap_evaluator ev;
	int32_t size[MESH_AXES_MAX];
	int number[MESH_AXES_MAX], n = large_axes(size, number, &f->mesh), nstart;
	struct tactic *start;
	struct arena *scratch;

	f->cutting = arena_alloc(a, 1, sizeof(*f->cutting));
	cutting_start(f->cutting, a, ask->graph, n, size);
	if (ask->given)
		apply_given(f, ask, number);
	if (apply_tactics(f, a, ask, number, e) != OK ||
	    read_tactics(&start, &nstart, a, &f->mesh, number, automap_split_axis(ask),
	                 "--start", ask->start, ask->nstart, e) != OK)
		return e->code;
	scratch = arena_new();
	automap_evaluator_start(&ev, scratch, ask, f,
	                        f->mesh.ndevices <= PLANNED_MOST ? ask->planner : NULL);
	run_search(out, f, a, scratch, ask,
	           (struct search){.evaluator = &ev.evaluator,
	                           .budget = budget,
	                           .nstart = nstart,
	                           .start = start,
	                           .seed = seed});
	machine_tariff_free(ev.of);
	arena_free(scratch);
	return OK;
}

void automap_plan(struct automap_found *f, struct arena *a,
                  const struct automap_ask *ask)
{
	struct automap_evaluator ev;

	if (!f->cutting || !ask->machine || !ask->planner ||
	    f->mesh.ndevices <= PLANNED_MOST)
		return;
	automap_evaluator_start(&ev, a, ask, f, ask->planner);
	f->e = evaluate(&ev.evaluator, f->cutting);
	machine_tariff_free(ev.of);
}

/* --- all of them ------------------------------------------------------------------ */

int automap_compare(const struct automap_ask *ask, const struct automap_found *x,
                    const struct automap_found *y)
{
	const struct search s = {.memory_limit_bytes = ask->memory_limit_bytes};

	return search_compare(&s, &x->e, &y->e);
}

void automap_keep(struct automap_answer *out, const struct automap_ask *ask,
                  const struct automap_found *f)
{
	if (!out->best.cutting || automap_compare(ask, f, &out->best) < 0) {
		out->second = out->best;
		out->best = *f;
		out->best_at = f->found_at;
	} else if (!out->second.cutting || automap_compare(ask, f, &out->second) < 0) {
		out->second = *f;
	}
}
