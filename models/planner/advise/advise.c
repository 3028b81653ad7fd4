#include "planner/advise/advise.h"

#include "plan/memory.h"
#include "planner/advise/search.h"
#include "planner/rivals.h"

#include <math.h>

const struct planner *const advise_compilers[] = {
	&planner_xla, &planner_xla_2021, &planner_shardy, &planner_dtensor, NULL};

/* Plans the hops of a chain once more, into the arena. */
static void keep_chain(struct advised_chain *out, const struct hops *h,
                       const struct chain *chain, struct arena *arena)
{
	*out = (struct advised_chain){.nhops = chain->n + 1, .price = chain->price};
	for (int i = 0; i < out->nhops; i++) {
		struct advised_hop *hop = &out->hop[i];
		int from = i > 0 ? chain->stop[i - 1] : STOP_FROM;
		int to = i < chain->n ? chain->stop[i] : STOP_TO;
		struct text why = {0};
		int64_t live;

		hop->problem = hops_problem(h, from, to, arena);
		planner_run(h->compiler, &hop->plan, hop->problem, h->prices, arena,
		            &why);
		text_free(&why);
		hop->price = h->prices->plan(h->prices->self, hop->plan);
		live = i > 0 ? plan_live_beside(hop->plan, h->source_bytes)
		             : hop->plan->peak_live_bytes;
		if (live > out->peak_live_bytes)
			out->peak_live_bytes = live;
		if (hop->plan->peak_array_bytes > out->peak_array_bytes)
			out->peak_array_bytes = hop->plan->peak_array_bytes;
	}
}

/* Finds the chains of a problem, at most ADVISE_HOPS_MAX, and returns how many they are. */
static int find_chains(struct advised_chain *out, const struct advise_ask *ask,
                       struct arena *arena)
{
	struct search *s = xmalloc(1, sizeof(*s));
	struct hops hops;
	const struct chain *last = NULL;
	int found = 0;

	hops_start(&hops, ask);
	*s = (struct search){.hops = &hops};
	search_chains(s, ask->guide);
	for (int n = 0; n <= ADVISE_MOST; n++) {
		const struct chain *c = &s->best[n];

		if (!c->found || (last && !chain_before(s, c, last)))
			continue;
		keep_chain(&out[found++], &hops, c, arena);
		last = c;
	}
	heap_free(&s->open);
	hops_end(&hops);
	xfree(s);
	return found;
}

/* --- padded arrays ----------------------------------------------------------------- */

static bool keeps_tile(const struct problem *p, const struct layout *l)
{
	struct shape real = layout_local(l, &p->array.shape);
	struct shape padded = layout_local(l, &p->padded);

	for (int dim = 0; dim < real.rank; dim++)
		if (real.dim[dim] != padded.dim[dim])
			return false;
	return true;
}

static bool pads(const struct advise_ask *ask)
{
	const struct problem *p = ask->problem;

	return (ask->compiler == &planner_xla || ask->compiler == &planner_xla_2021) &&
	       p->padded_ok && !problem_even(p) && !p->two_meshes && ask->held == 0 &&
	       keeps_tile(p, &p->from) && keeps_tile(p, &p->to);
}

/* Offers the chains of the array that has the padding of both layouts for elements. */
static void try_padded(struct advice *out, const struct advise_ask *ask,
                       struct arena *arena)
{
	const struct problem *p = ask->problem;
	struct advised_chain chain[ADVISE_HOPS_MAX];
	struct advised_padding *padding = &out->padding;
	struct problem *q = arena_dup(arena, p, 1, sizeof(*q));
	struct advise_ask padded = *ask;
	struct plan *pad = plan_new(arena, p, "pad");
	double most = out->nchains ? out->chain[out->nchains - 1].price.cost : INFINITY;
	int n;

	plan_pad(pad, &p->from, NULL);
	q->arena = arena;
	q->array.shape = p->padded;
	problem_finish(q);
	padded.problem = q;
	padding->pad = ask->prices->plan(ask->prices->self, pad);
	n = find_chains(chain, &padded, arena);
	for (int i = 0; i < n; i++) {
		struct advised_chain *c = &chain[i];

		c->price = price_add(c->price, padding->pad);
		if (c->peak_live_bytes < pad->peak_live_bytes)
			c->peak_live_bytes = pad->peak_live_bytes;
		if (c->nhops > ADVISE_MOST || c->price.cost >= most)
			continue;
		padding->problem = q;
		padding->chain = *c;
		most = c->price.cost;
	}
}

void advise(struct advice *out, const struct advise_ask *ask, struct arena *arena)
{
	struct text why = {0};
	struct plan *plan = NULL;

	*out = (struct advice){0};
	out->alone = planner_run(ask->compiler, &plan, ask->problem, ask->prices, arena,
	                         &why);
	out->why = text_take(&why, arena);
	out->plan = plan;
	out->nchains = find_chains(out->chain, ask, arena);
	if (pads(ask))
		try_padded(out, ask, arena);
}
