/*
 * Why `best` loses under a clock. It takes what is cheapest under `model`, so under
 * another clock it loses where the two clocks differ on the plans. They do on steps in
 * which devices send unequal shares or by unequal routes (sim/README.md, One way through):
 * `model` charges the busiest link, the others let tasks share links and each wait for its
 * slowest flow.
 */
#include "report/data.h"
#include "report/select.h"

#include <math.h>
#include <string.h>

/* Two clocks agree where the ratio of their times is nearer to 1 than this. */
#define AGREE 1e-6

/* Returns how many times as long a clock takes as `model`; NaN where it is not known. */
static double over_model(const struct row *r, const struct row *model)
{
	if (!model || !report_timed(model) || !(model->time_s > 0))
		return NAN;
	return r->time_s / model->time_s;
}

/* Names the steps of a plan on whose times the clocks differ. */
static const char *uneven_steps(const char *steps)
{
	bool exchange = strstr(steps, "exchange") != NULL;
	bool permute = strstr(steps, "permute") != NULL;

	if (exchange && permute)
		return "exchange and permute";
	return exchange ? "exchange" : permute ? "permute" : "collectives";
}

const char *report_cause(struct arena *a, const struct row *best,
                         const struct row *best_model, const struct row *rival,
                         const struct row *rival_model)
{
	double mine = over_model(best, best_model);
	double theirs = over_model(rival, rival_model);

	if (strcmp(best->clock, "model") == 0)
		return "dearer by the prices it chose by";
	if (isnan(mine) || isnan(theirs))
		return "no times of model";
	if (best_model->time_s > rival_model->time_s * (1 + AGREE))
		return "loses under model too";
	if (mine > 1 + AGREE)
		return arena_printf(a, "%s: %.3f x model, the other's plan %.3f x",
		                    uneven_steps(best->steps), mine, theirs);
	return arena_printf(a, "the other's plan: %.3f x model", theirs);
}
