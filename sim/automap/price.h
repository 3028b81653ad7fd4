/*
 * The answer of a search as a priced program (program/price.h): each kernel as one device runs it,
 * each collective, and the changes of layout that these are for.
 */
#ifndef SHARDSIM_SIM_AUTOMAP_PRICE_H
#define SHARDSIM_SIM_AUTOMAP_PRICE_H

#include "automap/run.h"
#include "program/price.h"
#include "program/reshards.h"
#include "program/show.h"

struct automap_price {
	struct program program; /* that was searched, on the devices of the answer */
	struct mesh mesh;       /* of the axes that may be cut along */
	/*
	 * Seconds of collectives have the local passes beside them in, what `best` takes and the
	 * bound have not. The bound of the step is that of the answer.
	 */
	struct program_price price;
	struct reshard_costs reshards;
	int naxes;
	struct program_axis *axis; /* by all axes that some collective goes along, "x,y" */
};

/* Prices what was found; all is the arena's. Without a machine no seconds are known. */
void automap_price(struct automap_price *out, struct arena *a,
                   const struct automap_ask *ask, const struct automap_answer *answer);

#endif
