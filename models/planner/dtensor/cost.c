/* The costs of transforms that the min-cost search assumes. */
#include "base/assert.h"
#include "planner/dtensor/dtensor.h"

static const double base_us = 6.6; /* of every collective */
static const double alltoall_penalty_us = 1.0;

struct dtensor_links dtensor_links_of(const struct mesh *m, int host_devices)
{
	struct dtensor_links out;
	int64_t devices = 1;

	for (int i = m->naxes - 1; i >= 0; i--) {
		devices *= m->axis[i].size;
		out.latency_us[i] = devices > host_devices ? 2.7 : 0.6;
		out.bandwidth_GiBps[i] = devices > host_devices ? 87.7 * 0.22 : 87.7;
	}
	return out;
}

static double ring_us(const struct dtensor_links *links, int mesh_dim, int32_t n,
                      int64_t hops, double GiB)
{
	double seconds = GiB * (double)hops / n / links->bandwidth_GiBps[mesh_dim];

	return base_us + (double)hops * links->latency_us[mesh_dim] + seconds * 1e6;
}

double dtensor_transform_us(const struct dtensor_links *links, const struct mesh *m,
                            const struct dtensor_transform *t, double local_GiB)
{
	int32_t n = m->axis[t->mesh_dim].size;
	int64_t hops = n - 1;

	if (t->from == DTENSOR_REPLICATE)
		return 0;
	if (t->from == DTENSOR_PARTIAL && t->to == DTENSOR_REPLICATE)
		return ring_us(links, t->mesh_dim, n, 2 * hops, local_GiB);
	if (t->from == DTENSOR_PARTIAL)
		return ring_us(links, t->mesh_dim, n, hops, local_GiB);
	assert(t->to != DTENSOR_PARTIAL);
	if (t->to == DTENSOR_REPLICATE)
		return ring_us(links, t->mesh_dim, n, hops, local_GiB * n);
	return ring_us(links, t->mesh_dim, n, hops, local_GiB) + alltoall_penalty_us;
}
