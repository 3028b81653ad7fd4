#include "report/select.h"

#include <fnmatch.h>
#include <math.h>
#include <string.h>

bool report_family(const struct report_options *o, const struct row *r)
{
	return !o->family || fnmatch(o->family, r->family, FNM_EXTMATCH) == 0;
}

bool report_scenario(const struct report_options *o, const struct row *r)
{
	return !o->scenario || strcmp(o->scenario, r->scenario) == 0 ||
	       fnmatch(o->scenario, r->scenario, FNM_EXTMATCH) == 0;
}

bool report_wanted(const struct report_options *o, const struct row *r)
{
	bool clock = !o->clocks || !o->clocks[0];

	for (size_t i = 0; o->clocks && o->clocks[i]; i++)
		clock |= strcmp(o->clocks[i], r->clock) == 0;
	return clock && report_family(o, r);
}

bool report_timed(const struct row *r)
{
	return r->status == OUTCOME_OK && r->time_s >= 0 && !isinf(r->time_s);
}

bool report_moves(const struct row *r)
{
	return report_timed(r) && r->time_s > 0;
}
