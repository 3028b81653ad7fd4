#include "bound/bound.h"
#include "collective/local.h"

double floor_s(const struct problem *p, const struct machine *m,
               const struct placement *place, double bound_s)
{
	struct local_rates rates;

	if (bound_s <= 0)
		return 0;
	rates = local_rates(m, place, p->ndevices);
	return bound_s + rates.launch_s +
	       4 * (double)p->recv_bound_bytes * rates.s_per_byte;
}
