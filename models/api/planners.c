#include "api/planners.h"

#include "api/handle.h"

#include <stdlib.h>
#include <string.h>

/*
 * Planners that were added, the last one first. The list only grows at its head, so
 * readers need no lock; it lives as long as the program.
 */
struct added {
	struct added *next;
	const struct planner *planner;
	int number; /* of those added, from 0 */
};

static _Atomic(struct added *) added_head;

static int library_count(void)
{
	int n = 0;

	while (planners[n])
		n++;
	return n;
}

static const struct planner *added_find(const struct added *head, const char *name)
{
	for (const struct added *one = head; one; one = one->next)
		if (!strcmp(one->planner->name, name))
			return one->planner;
	return NULL;
}

const struct planner *planners_find(const char *name)
{
	const struct planner *own = planner_find(name, strlen(name));

	return own ? own : added_find(atomic_load(&added_head), name);
}

const char *shardsim_planner_name(int number)
{
	int n = library_count();

	if (number < 0)
		return NULL;
	if (number < n)
		return planners[number]->name;
	for (const struct added *a = atomic_load(&added_head); a; a = a->next)
		if (a->number == number - n)
			return a->planner->name;
	return NULL;
}

struct adding {
	struct api api;
	const struct planner *planner;
};

static bool add_body(void *self)
{
	struct adding *a = self;
	struct added *head = atomic_load(&added_head), *one;

	if (!a->planner || !a->planner->name || !a->planner->name[0] ||
	    !a->planner->plan)
		return api_fail(&a->api, SHARDSIM_MISUSE,
		                "expected a planner with a name and a function");
	one = xmalloc(1, sizeof(*one));
	do {
		if (planner_find(a->planner->name, strlen(a->planner->name)) ||
		    added_find(head, a->planner->name))
			return api_fail(&a->api, SHARDSIM_MISUSE,
			                "there is a planner '%.40s'", a->planner->name);
		*one = (struct added){head, a->planner, head ? head->number + 1 : 0};
	} while (!atomic_compare_exchange_weak(&added_head, &head, one));
	return true;
}

enum shardsim_status shardsim_planner_add(const struct planner *planner,
                                          struct shardsim_error *error)
{
	struct adding a = {.planner = planner};

	return api_call(&a.api, add_body, &a, error);
}
