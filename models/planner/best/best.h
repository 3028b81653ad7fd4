/*
 * The planner `best`: the cheapest plan, by the prices it is given and within the
 * memory limit, over those of every other planner and candidates of its own
 * (models/README.md, Best).
 *
 * Every candidate is a finished plan with an exact price. Prices within 1e-9 are equal;
 * then less memory wins, then the printed plan that comes first. As the plans of the
 * other planners are candidates as they are, none of these planners is cheaper; but for
 * one that would take too long to ask (planner.h, quick), which is asked only where there
 * is no other plan: dtensor-mincost may be cheaper where its search sees more than
 * DTENSOR_STATES_QUICK states.
 */
#ifndef SHARDSIM_PLANNER_BEST_BEST_H
#define SHARDSIM_PLANNER_BEST_BEST_H

#include "planner/planner.h"

extern const struct planner planner_best;

/*
 * The same search within the portable vocabulary (plan/vocabulary.h), whatever that of the
 * problem is. Its plan is a candidate of `best`.
 */
extern const struct planner planner_best_portable;

#endif
