#include "measure/clocks.h"

#include "clock/simgrid.h"
#include "cost/flow.h"
#include "cost/fluid.h"

static bool is_asked(const int *clock, int n, clock_fn *fn)
{
	for (int i = 0; i < n; i++)
		if (clock_kinds[clock[i]].clock == fn)
			return true;
	return false;
}

enum status clocks_open(struct clocks *out, struct arena *a, const char *spec,
                        const char *const *set, int nset, const int *clock, int n,
                        struct error *e)
{
	bool simgrid = is_asked(clock, n, simgrid_clock);

	*out = (struct clocks){0};
	if (platform_read(&out->platform, a, spec, set, nset, e) != OK)
		return e->code;
	/* The clocks below read the machine, to which SimGrid may add links here. */
	if (platform_begin(out->platform, simgrid, e) != OK)
		return e->code;
	if (is_asked(clock, n, fluid_clock))
		out->fluid = fluid_new(out->platform->machine);
	if (is_asked(clock, n, flow_clock))
		out->flow = flow_new(out->platform->machine);
	if (simgrid)
		out->simgrid = simgrid_new(out->platform);
	return OK;
}

void clocks_free(struct clocks *c)
{
	fluid_free(c->fluid);
	simgrid_free(c->simgrid);
	flow_free(c->flow);
}

void clocks_bench(const struct clocks *c, struct bench *b, int clock)
{
	const struct clock_kind *kind = &clock_kinds[clock];

	if (kind->clock == fluid_clock)
		bench_clock(b, kind, c->fluid);
	else if (kind->clock == simgrid_clock)
		bench_clock(b, kind, c->simgrid);
	else if (kind->clock == flow_clock)
		bench_clock(b, kind, c->flow);
	else
		bench_clock(b, kind, NULL);
}
