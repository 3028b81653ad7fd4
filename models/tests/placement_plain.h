/*
 * Programs counted by plain enumeration: sets as arrays of bool, groups from the
 * definitions of levels and instances, nothing remembered. Shares nothing with
 * placement/ but the names of the collectives.
 */
#ifndef SHARDSIM_TESTS_PLACEMENT_PLAIN_H
#define SHARDSIM_TESTS_PLACEMENT_PLAIN_H

#include "placement/hierarchy.h"
#include "placement/sums.h"

enum { PLAIN_DEVICES_MAX = 12 };

/*
 * Programs of up to `limit` steps that sum over a tree of up to PLAIN_DEVICES_MAX
 * devices; `all_masters`: Master with every collective, as the printed grammar has it.
 */
int64_t plain_programs(const struct hierarchy *tree, int limit, bool all_masters);

#endif
