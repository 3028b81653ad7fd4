#include "tests/automap_help.h"

#include "automap/train.h"
#include "facts/model.h"
#include "tests/program_help.h"

#include <check.h>
#include <string.h>

struct architecture automap_model(struct arena *a, const char *name)
{
	const char *path = arena_printf(a, "scenarios/models/%s.yaml", name);
	struct architecture m;
	struct error e = {0};

	architecture_read(&m, a, path, &e);
	ck_assert_msg(e.code == OK, "%s:%u:%u: %s", path, e.at.line, e.at.col, e.text);
	return m;
}

const struct graph *automap_graph(struct arena *a, const char *text, bool fold)
{
	struct program *p = arena_alloc(a, 1, sizeof(*p));
	struct graph *g = arena_alloc(a, 1, sizeof(*g));
	struct error e = {0};

	*p = program_sample_text(a, text);
	ck_assert_msg(graph_make(g, a, p, fold, NULL, 0, &e) == OK, "%s", e.text);
	return g;
}

const struct graph *automap_train(struct arena *a, const struct architecture *m,
                                  bool fold)
{
	struct text text = {0}, why = {0};

	ck_assert_msg(train_text(&text, m, &why), "%s", why.s);
	return automap_graph(a, text_take(&text, a), fold);
}

struct cutting *automap_cutting(struct arena *a, const struct graph *g, int naxes,
                                const int32_t *size)
{
	struct cutting *c = arena_alloc(a, 1, sizeof(*c));

	cutting_start(c, a, g, naxes, size);
	return c;
}

int automap_tactic(struct cutting *c, const char *name, int axis)
{
	const struct tactic t = {tactic_find(name, strlen(name)), axis, name, 0, NULL};

	ck_assert_int_ne(t.kind, TACTICS);
	return tactic_apply(c, &t);
}

void automap_cut(struct cutting *c, const char *name, int32_t dim, int axis)
{
	const struct graph *g = c->graph;

	for (int64_t v = 0; v < g->value.n; v++)
		if (g->value.at[v].argument >= 0 &&
		    span_is(argument_name(g->program, g->value.at[v].argument), name)) {
			ck_assert(cutting_cut(c, (int32_t)v, dim, axis));
			cutting_propagate(c);
			return;
		}
	ck_abort_msg("no argument '%s'", name);
}

const char *automap_counts(struct arena *a, const struct cutting *c)
{
	struct evaluator e;
	struct evaluation r;

	evaluator_start(&e, a, c->graph, NULL);
	r = evaluate(&e, c);
	return arena_printf(a, "%g %g %g %g", r.count[COUNT_GATHER],
	                    r.count[COUNT_REDUCE], r.count[COUNT_SCATTER],
	                    r.count[COUNT_ALL_TO_ALL]);
}

/* A ring over the axes of a collective, at the speed of the slowest. */
static double plain_collective(void *self, const struct collective_ask *ask)
{
	const struct plain_machine *m = self;
	double n = 1, Bps = 0;

	for (int axis = 0; axis < CUT_AXES; axis++) {
		bool moves = ask->op == OP_ALL_REDUCE ? ask->axes >> axis & 1
		                                      : cuts_at(&ask->from, axis) !=
		                                                cuts_at(&ask->to, axis);

		if (!moves)
			continue;
		n *= m->size[axis];
		Bps = Bps > 0 && Bps < m->link_Bps[axis] ? Bps : m->link_Bps[axis];
	}
	if (n <= 1 || ask->op == OP_SLICE)
		return 0;
	switch (ask->op) {
	case OP_ALL_GATHER:
		return m->latency_s + (n - 1) * ask->bytes / Bps;
	case OP_ALL_REDUCE:
		return m->latency_s + 2 * (n - 1) / n * ask->bytes / Bps;
	default:
		return m->latency_s + (n - 1) / n * ask->bytes / Bps;
	}
}

static double plain_kernel(void *self, const struct compute_ask *ask)
{
	const struct plain_machine *m = self;
	double flops_s = ask->flops / m->flops, bytes_s = ask->bytes / m->memory_Bps;

	return flops_s > bytes_s ? flops_s : bytes_s;
}

static int plain_stream(void *self, unsigned axes)
{
	(void)self;
	(void)axes;
	return 0;
}

struct cut_prices automap_tariff(struct plain_machine *m)
{
	return (struct cut_prices){plain_collective, plain_kernel, plain_stream, NULL,
	                           m};
}

struct search automap_search(struct arena *arena, enum how how, const struct graph *g,
                             struct plain_machine *m, struct search s)
{
	struct cut_prices *prices = arena_alloc(arena, 1, sizeof(*prices));
	struct evaluator *e = arena_alloc(arena, 1, sizeof(*e));

	s.evaluator = e;
	*prices = automap_tariff(m);
	evaluator_start(e, arena, g, prices);
	search_start(&s, arena);
	if (how == EXHAUSTIVE)
		search_exhaustive(&s);
	else if (how == MCTS)
		search_mcts(&s);
	else
		search_structure(&s);
	return s;
}

bool automap_act(struct search *s, struct rng *rng)
{
	uint32_t values = (uint32_t)s->cutting->graph->value.n;
	struct actions all = {0};
	struct action a;

	search_actions(&all, s, ~0u);
	*list_add(&all.at, NULL) =
		(struct action){ACTION_WHOLE, (int32_t)rng_below(rng, values),
	                        (int)rng_below(rng, (uint32_t)s->cutting->naxes)};
	a = all.at.at[rng_below(rng, 8) ? rng_below(rng, (uint32_t)all.at.n)
	                                : all.at.n - 1];
	xfree(all.at.at);
	return action_apply(s, a);
}
