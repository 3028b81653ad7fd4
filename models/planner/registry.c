/* All planners by name. */
#include "planner/rivals.h"

#include "planner/best/best.h"

#include <string.h>

const struct planner *const planners[] = {RIVALS(RIVAL_ADDRESS) & planner_best_portable,
                                          &planner_best, NULL};

const struct planner *planner_find(const char *name, size_t length)
{
	for (int i = 0; planners[i]; i++)
		if (strlen(planners[i]->name) == length &&
		    memcmp(planners[i]->name, name, length) == 0)
			return planners[i];
	return NULL;
}
