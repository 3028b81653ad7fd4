#include "program/annotated.h"

#include "price/price.h"

#include <string.h>

enum status annotated_propagate(struct annotated *out, bool *sharded, struct arena *a,
                                struct program *p, enum propagation by, struct error *e)
{
	*out = (struct annotated){0};
	*sharded = false;
	if (propagate(&out->shardings, a, p, by, e) != OK)
		return e->code;
	*sharded = out->shardings.mesh.naxes && out->shardings.mesh.ndevices > 1;
	return OK;
}

static const struct planner *planner_of(const struct annotated_ask *ask)
{
	if (ask->planner)
		return ask->planner;
	return ask->partitioner == PARTITIONER_XLA ? planner_find("xla", 3)
	                                           : planner_find("shardy", 6);
}

double annotated_ring_mib(const struct machine *m)
{
	bool tpu = m && m->nfabrics && m->fabric[0].profile &&
	           !strcmp(m->fabric[0].profile, "tpu");

	return tpu ? 256 : 0;
}

enum status annotated_partition(struct annotated *out, struct arena *a,
                                const struct program *p,
                                const struct annotated_ask *ask, struct error *e)
{
	const struct mesh *mesh = &out->shardings.mesh;
	const struct placement place = {mesh->ndevices, ask->devices};
	struct prices prices = prices_bytes;
	struct pricer *pricer = NULL;
	struct partition_ask how = {.partitioner = ask->partitioner,
	                            .planner = planner_of(ask),
	                            .prices = &prices,
	                            .devices = ask->devices,
	                            .ring_bytes = 1024 * 1024 * ask->ring_mib,
	                            .machine = ask->machine};
	struct reshard_ask costs = {.annotated = p,
	                            .mesh = mesh,
	                            .machine = ask->machine,
	                            .devices = ask->devices,
	                            .planner = how.planner,
	                            .best = ask->best,
	                            .advise = ask->advise};
	enum status status;

	if (ask->ring_mib < 0)
		how.ring_bytes = 1024 * 1024 * annotated_ring_mib(ask->machine);
	if (ask->machine) {
		pricer = pricer_new(ask->machine, &place);
		prices = pricer_prices(pricer);
	}
	status = partition(&out->partitioned, a, p, &out->shardings, &how, e);
	if (pricer)
		pricer_free(pricer);
	if (status != OK)
		return status;
	costs.n = out->partitioned.reshard.n;
	costs.reshard = out->partitioned.reshard.at;
	reshards_price(&out->costs, a, &costs);
	return OK;
}
