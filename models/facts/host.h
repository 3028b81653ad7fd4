/*
 * What the hosts add to a move of parameters, beside what a schedule says: figures of
 * families.yaml that no platform file and no clock has, since a compiled program has none
 * of these costs.
 *
 *   host.call_s    of each call from Python, beside the launch of its collective
 *   host.pack_Bps  at which parameters are copied into a buffer before they are sent, and
 *                  out of it afterwards
 */
#ifndef SHARDSIM_FACTS_HOST_H
#define SHARDSIM_FACTS_HOST_H

#include "base/arena.h"
#include "base/error.h"

struct host_costs {
	double call_s, pack_Bps;
	const char *call_source, *pack_source;
};

/*
 * Finds the figures of the family of `spec`, family:shape. It is an E_TYPE if that is a
 * file, or if the family has none of them.
 */
enum status host_costs_find(struct host_costs *out, struct arena *a, const char *spec,
                            struct where at, struct error *e);

#endif
