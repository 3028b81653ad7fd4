/*
 * A platform on its way into SimGrid. Private to sim/platform/.
 */
#ifndef SHARDSIM_SIM_PLATFORM_LOADER_H
#define SHARDSIM_SIM_PLATFORM_LOADER_H

#include "platform/platform.h"
#include "platform/xml.h"

/*
 * What a trial leaves behind even if SimGrid ends it: the hosts of the route that was
 * asked for last (`src` is -1 before the first), and the place of the error that it
 * found.
 */
struct asked {
	int32_t src, dst;
	unsigned line, col;
};

struct loader {
	struct platform *platform;
	struct platform_xml xml;
	struct platform_graph *graph;
	const char *spec; /* the platform's, with its settings */
	const char *const *set;
	int nset;
	bool generated;
	bool flows; /* SimGrid's settings are for single flows, not for parallel tasks */
	machine_route_fn *route; /* SimGrid's, once it is started; asks graph->simgrid_state */
	struct asked *asked; /* shared with the trial while there is one, else NULL */
	struct error *error; /* of the call at hand; never NULL during one */
};

/* Opens SimGrid's library; it is an E_IO if that is not there. */
enum status platform_simgrid_load(struct error *e);

/*
 * Starts SimGrid on the file's text in this process and compares what it made of it. An
 * abort() of SimGrid, as for lack of memory, is an E_IO, but ends a trial.
 */
enum status platform_engine_start(struct loader *l);

/* Starts SimGrid in a child first, and records what that found, or of what it died. */
enum status platform_trial(struct loader *l);

/*
 * Compares SimGrid's routes with those of our reader, for all neighbours of a torus,
 * seeded other pairs, and all pairs of graphs with small domains. Where only SimGrid
 * knows the routes of a graph, there must be some.
 */
void platform_compare(struct loader *l);

#endif
