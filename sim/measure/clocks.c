#include "measure/clocks.h"

#include "clock/flow.h"
#include "clock/fluid.h"

enum status clocks_open(struct clocks *out, struct arena *a, const char *spec,
                        const char *const *set, int nset, const int *clock, int n,
                        bool begin, struct error *e)
{
	bool simgrid = false, apart = false;

	for (int i = 0; i < n; i++) {
		simgrid = simgrid || clock_kinds[clock[i]].needs_simgrid;
		apart = apart || clock_kinds[clock[i]].apart;
	}
	*out = (struct clocks){0};
	if (platform_read(&out->platform, a, spec, set, nset, e) != OK)
		return e->code;
	if (apart)
		out->flow = flow_new(out->platform);
	/* Of the machine as it then is: SimGrid may know links that no reader does. */
	if (platform_begin(out->platform, simgrid && begin, e) != OK)
		return e->code;
	out->fluid = fluid_new(out->platform);
	return OK;
}

void clocks_free(struct clocks *c)
{
	fluid_free(c->fluid);
	flow_free(c->flow);
}

void clocks_bench(const struct clocks *c, struct bench *b, int clock)
{
	const struct clock_kind *kind = &clock_kinds[clock];

	if (kind->apart)
		bench_overlapping_clock(b, kind, flow_clock, flow_schedules, c->flow);
	else
		bench_clock(b, kind, fluid_clock, c->fluid);
}
