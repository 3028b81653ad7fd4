/*
 * The planners besides `best` and `best-portable`, in the order in which all are listed: one line for each.
 * Private to models/planner/.
 */
#ifndef SHARDSIM_PLANNER_RIVALS_H
#define SHARDSIM_PLANNER_RIVALS_H

#include "planner/planner.h"

#define RIVALS(each)                                                                   \
	each(planner_gather) each(planner_synth) each(planner_synth_rewrite)           \
		each(planner_xla_2021) each(planner_xla) each(planner_shardy)          \
			each(planner_dtensor) each(planner_dtensor_mincost)            \
				each(planner_direct) each(planner_digit)

#define RIVAL_DECLARED(name) extern const struct planner name;
#define RIVAL_ADDRESS(name) &name,

RIVALS(RIVAL_DECLARED)

/* The planners of RIVALS, ended by NULL, which are those that both ask. */
extern const struct planner *const rivals[];

#endif
