/* Which plan wins for sure: its interval does not overlap the other's. */
#include "report/data.h"

#include <math.h>

void report_sure_count(struct report_sure *s, const struct row *ours,
                       const struct row *theirs)
{
	if (isnan(ours->low_s) || isnan(theirs->low_s))
		return;
	if (ours->high_s < theirs->low_s)
		s->wins++;
	else if (theirs->high_s < ours->low_s)
		s->losses++;
	else
		s->ties++;
}

const char *report_sure_text(const struct report_sure *s, struct arena *a)
{
	if (s->wins + s->ties + s->losses == 0)
		return "-";
	return arena_printf(a, "%zu/%zu/%zu", s->wins, s->ties, s->losses);
}
