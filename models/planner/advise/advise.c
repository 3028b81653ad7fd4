#include "planner/advise/advise.h"

#include "plan/memory.h"
#include "planner/advise/search.h"
#include "planner/rivals.h"

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

void advise(struct advice *out, const struct advise_ask *ask, struct arena *arena)
{
	struct search *s = xmalloc(1, sizeof(*s));
	struct hops hops;
	struct text why = {0};
	struct plan *plan = NULL;
	const struct chain *last = NULL;

	*out = (struct advice){0};
	out->alone = planner_run(ask->compiler, &plan, ask->problem, ask->prices, arena,
	                         &why);
	out->why = text_take(&why, arena);
	out->plan = plan;
	hops_start(&hops, ask);
	*s = (struct search){.hops = &hops};
	search_chains(s, ask->guide);
	for (int n = 0; n <= ADVISE_MOST; n++) {
		const struct chain *c = &s->best[n];

		if (!c->found || (last && !chain_before(s, c, last)))
			continue;
		keep_chain(&out->chain[out->nchains++], &hops, c, arena);
		last = c;
	}
	heap_free(&s->open);
	hops_end(&hops);
	xfree(s);
}
