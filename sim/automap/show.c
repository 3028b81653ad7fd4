#include "automap/show.h"

#include "automap/remarks.h"
#include "automap/words.h"
#include "base/units.h"
#include "measure/library.h"
#include "notation/notation.h"

#include <string.h>

struct layout automap_layout(const struct automap_found *f, const struct graph *g,
                             int32_t value)
{
	const struct cuts *c = &f->cutting->value[value];
	struct layout l = layout_replicated(g->value.at[value].type->rank);
	int number[MESH_AXES_MAX], n = 0;

	for (int i = 0; i < f->mesh.naxes; i++)
		if (f->mesh.axis[i].size > 1)
			number[n++] = i;
	for (int i = 0; i < c->n; i++) {
		int axis = number[c->axis[i]];

		layout_append(&l, c->at[i],
		              (struct part){axis, 1, f->mesh.axis[axis].size});
	}
	return l;
}

struct layout automap_group_layout(const struct automap_found *f, const struct graph *g,
                                   int32_t group)
{
	return automap_layout(f, g, g->member.at[g->group.at[group].first]);
}

/* A layout in JAX's words; the arena's. */
const char *automap_layout_text(struct arena *a, const struct automap_found *f,
                                const struct graph *g, int32_t group)
{
	struct layout l = automap_group_layout(f, g, group);
	const struct value_type *t = g->group.at[group].type;
	struct shape shape = {.rank = t->rank};
	struct text out = {0};

	for (int i = 0; i < t->rank; i++)
		shape.dim[i] = t->dim[i];
	layout_print(&out, &l, &f->mesh, &shape);
	return text_take(&out, a);
}

/* --- text ------------------------------------------------------------------------- */

static void add_time(struct text *out, const char *what, double s)
{
	text_printf(out, "  %-16s ", what);
	units_print_time(out, s);
	text_printf(out, "\n");
}

void automap_show_failure(struct text *out, const struct automap_show *s)
{
	text_printf(out, "nothing that was tried fits into ");
	units_print_memory(out, s->ask->memory_limit_bytes);
	text_printf(out, ": the least memory that was found is ");
	units_print_bytes(out, s->answer->best.e.peak_bytes);
}

static void add_found(struct text *out, const struct automap_show *s)
{
	const struct automap_answer *r = s->answer;
	const struct evaluation *e = &r->best.e;

	if (automap_fails(s->ask, r)) {
		text_printf(out, "  ");
		automap_show_failure(out, s);
		text_printf(out, ", as follows\n");
	}
	if (s->platform) {
		add_time(out, "step", e->step_s);
		add_time(out, "  kernels", e->compute_s);
		add_time(out, "  collectives", e->communication_s);
		if (s->ask->overlap)
			add_time(out, "  exposed", e->step_s - e->compute_s);
		add_time(out, "no less than", r->bound_s);
	}
	text_printf(out, "  %-16s ", "memory");
	units_print_bytes(out, e->peak_bytes);
	text_printf(out, ", of it arguments ");
	units_print_bytes(out, e->params_bytes);
	if (!automap_fits(s->ask, e)) {
		text_printf(out, "; does not fit into ");
		units_print_memory(out, s->ask->memory_limit_bytes);
	}
	text_printf(out, "\n");
	for (int i = 0; i < COUNTS; i++) {
		text_printf(out, "  %-16s %6.0f", count_name(i), e->count[i]);
		if (s->platform && e->count[i] > 0) {
			text_printf(out, "  ");
			units_print_time(out, e->time_s[i]);
		}
		text_printf(out, "\n");
	}
}

static void add_second(struct text *out, const struct automap_show *s)
{
	const struct automap_answer *r = s->answer;

	if (!r->second.cutting)
		return;
	text_printf(out, "  second best: ");
	mesh_print(out, &r->second.mesh);
	if (r->second.placement)
		text_printf(out, " %s", r->second.placement);
	if (s->platform) {
		text_printf(out, ", ");
		units_print_time(out, r->second.e.step_s);
	}
	text_printf(out, ": %s\n", r->why);
}

/* Whether a group is states that are cut as their parameters are. */
static bool follows(struct arena *a, const struct automap_show *s, int32_t group)
{
	const struct graph *g = s->ask->graph;
	int32_t of = g->group.at[group].state_of;

	return of >= 0 && g->group.at[of].type->rank == g->group.at[group].type->rank &&
	       !strcmp(automap_layout_text(a, &s->answer->best, g, of),
	               automap_layout_text(a, &s->answer->best, g, group));
}

/* What no argument says. */
static void add_inner(struct text *out, struct arena *a, const struct automap_show *s)
{
	const struct automap_found *f = &s->answer->best;
	int64_t n;
	const struct whole_values *whole =
		automap_whole_values(&n, a, f, s->ask->graph, true);

	for (int i = 0; i < f->cutting->naxes; i++)
		if (f->cutting->sums[i] >= 0)
			text_printf(out,
			            "  sums over %s are scattered along dimension %d\n",
			            automap_axis(f, i), f->cutting->sums[i]);
	for (int i = 0; i < f->cutting->naxes; i++)
		if (f->cutting->experts >> i & 1)
			text_printf(out, "  rows go to experts and back over %s\n",
			            automap_axis(f, i));
	for (int64_t i = 0; i < n; i++)
		text_printf(out, "  whole along %s: %s (%s)\n", whole[i].axis,
		            whole[i].what, whole[i].names);
}

/* Which arguments are taken for weights, where nothing in the program says it. */
static void add_weights(struct text *out, enum weights_rule rule)
{
	static const char *const how[] = {
		[WEIGHTS_NONE] =
			"all arguments are taken for data: nothing tells weights",
		[WEIGHTS_NAMES] = "weights are told by their names",
		[WEIGHTS_RESULTS] = "weights are told by results of their dimensions",
		[WEIGHTS_BATCHES] =
			"weights are told by having no batch of the results"};

	if (rule != WEIGHTS_BUFFERS && rule != WEIGHTS_GIVEN)
		text_printf(out, "  %s; --weights REGEX says otherwise\n", how[rule]);
}

static void add_shardings(struct text *out, struct arena *a,
                          const struct automap_show *s)
{
	const struct graph *g = s->ask->graph;
	int following = 0, states = 0;
	size_t wide = 0;

	for (int32_t i = 0; i < g->group.n; i++) {
		size_t n = follows(a, s, i) ? 0 : strlen(g->group.at[i].name);

		wide = n > wide ? n : wide;
	}
	wide = wide > 40 ? 40 : wide;
	for (int32_t i = 0; i < g->group.n; i++) {
		const struct graph_group *group = &g->group.at[i];

		states += group->state_of >= 0 ? group->narguments : 0;
		if (follows(a, s, i)) {
			following += group->narguments;
			continue;
		}
		text_printf(out, "  %-*s", (int)wide, group->name);
		if (group->narguments > 1)
			text_printf(out, " x%-5d", (int)group->narguments);
		else
			text_printf(out, "       ");
		text_printf(out, " %s\n",
		            automap_layout_text(a, &s->answer->best, g, i));
	}
	add_weights(out, g->weights);
	if (following)
		text_printf(out,
		            "  %s%d states of the optimizer are cut as their "
		            "parameters are\n",
		            states > following ? "the other " : "", following);
	add_inner(out, a, s);
}

/* How much there is that was not looked at, of searches that would come to an end. */
static const char *seen_words(const struct automap_ask *ask,
                              const struct automap_answer *r)
{
	if (automap_stopped(ask))
		return ", incomplete: a signal ended the search";
	if (ask->search == SEARCH_MCTS)
		return "";
	if (ask->search == SEARCH_EXHAUSTIVE && r->cuts_complete)
		return r->complete ? ", all there are"
		                   : ", all that cut arguments alone";
	if (r->spent)
		return ", incomplete: the budget ended the search";
	return ask->search == SEARCH_EXHAUSTIVE
	               ? ", incomplete: there are too many states"
	               : "";
}

void automap_show_text(struct text *out, struct arena *a, const struct automap_show *s)
{
	const struct automap_answer *r = s->answer;
	struct mesh named = r->best.mesh;

	named.ids = NULL;
	text_printf(out, "%s: ", s->name);
	mesh_print(out, &named);
	if (r->best.placement)
		text_printf(out, " %s", r->best.placement);
	if (s->platform)
		text_printf(out, " on %s%s", s->platform,
		            library_words(s->ask->machine, a));
	text_printf(out, "\n");
	add_found(out, s);
	if (s->ask->search != SEARCH_NONE)
		text_printf(out,
		            "  found after %lld of %lld evaluations of %lld mesh%s%s\n",
		            (long long)r->best_at, (long long)r->evaluations,
		            (long long)r->tried,
		            s->ask->mesh      ? ""
		            : s->ask->machine ? "es and placements"
		                              : "es",
		            seen_words(s->ask, r));
	add_second(out, s);
	add_shardings(out, a, s);
}
