#include "planner/synth.h"

#include "planner/synth_exact.h"
#include "planner/synth_weak.h"

/* Number of types (spec redistribution.md 4): sum_m C(k,m) m! C(m+r-1,r-1). */
static double count_types(const struct problem *p)
{
	int rank = 0;
	double types = 0, term = 1;

	for (int dim = 0; dim < p->padded.rank; dim++)
		rank += p->padded.dim[dim] > 1;
	for (int m = 0; m <= p->atoms.n; m++) {
		types += term;
		/* C(k,m) m! = k (k-1) ...; C(m+r-1,r-1) grows by (m+r) / (m+1). */
		term *= (double)(p->atoms.n - m) * (m + rank) / (m + 1);
	}
	return types;
}

enum answer synth_search(struct plan **out, const struct problem *p,
                         const struct prices *prices, struct arena *arena,
                         int exact_atoms, struct text *why)
{
	struct synth s;
	struct path path = {0};

	if (!synth_begin(&s, p, prices, arena, why))
		return ANSWER_NOT_APPLICABLE;
	if (type_equal(&s.from, &s.to)) {
		*out = path_plan(&s, &path, "synth");
	} else if (p->atoms.n <= exact_atoms && count_types(p) <= SYNTH_TYPES_MAX) {
		synth_exact(&path, &s);
		*out = path_plan(&s, &path, "synth");
	} else {
		*out = weak_plan(&s, "synth");
	}
	return ANSWER_PLAN;
}

static enum answer synth_plan(struct plan **out, const struct problem *p,
                              const struct prices *prices, struct arena *arena,
                              struct text *why)
{
	return synth_search(out, p, prices, arena, SYNTH_EXACT_ATOMS, why);
}

const struct planner planner_synth = {
	.name = "synth",
	.help = "normal-form synthesizer: the cheapest slice, all-to-all and permute, "
		"all-gather",
	.plan = synth_plan,
};
