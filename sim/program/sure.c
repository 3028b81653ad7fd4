#include "program/sure.h"

#include <math.h>

struct likely program_likely(const struct likely_table *t, const struct program_price *p)
{
	struct likely sum = {0, 0};

	for (int64_t i = 0; i < p->collective.n && p->machine; i++) {
		const struct priced *one = &p->collective.at[i];
		const struct collected *c = &one->collective;
		struct likely factor;

		if (!c->collective)
			continue;
		factor = likely_find(t, p->machine, c->collective, c->bytes, c->several);
		sum.low += factor.low * one->count * one->time_s;
		sum.high += factor.high * one->count * one->time_s;
	}
	return sum.high > 0 ? sum : (struct likely){NAN, NAN};
}

struct likely step_likely(const struct likely_table *t, const struct machine *machine,
                          const struct architecture *model, double step_s)
{
	struct likely l = likely_step(t, machine, model->moe.experts > 0);

	return (struct likely){l.low * step_s, l.high * step_s};
}
