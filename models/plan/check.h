/*
 * The interpreter that proves a plan.
 *
 * Every device's data are tracked as one ordered list of index runs per dimension (tiles
 * stay products of lists through slice, all-gather, all-to-all and permute). The steps
 * are type-checked, run, and the result compared with the target layout's tile on every
 * device; each step's claimed layout is compared on the way, so the first wrong step is
 * named. Independent of the layout algebra that planners use: it reads only groups,
 * pairs, chunk numbers and radices.
 */
#ifndef SHARDSIM_PLAN_CHECK_H
#define SHARDSIM_PLAN_CHECK_H

#include "plan/plan.h"

/* Returns true if the plan is right; else false with the reason in `why`. */
bool plan_check(const struct plan *p, struct text *why);

#endif
