/* A report under way: what becomes of each row. Private to data.c and families.c. */
#ifndef SHARDSIM_SIM_REPORT_ITEM_H
#define SHARDSIM_SIM_REPORT_ITEM_H

#include "report/data.h"

/* A row and what became of it; its reason is NULL as long as it is not left out. */
struct item {
	const struct row *row;
	const char *family;  /* under which it is shown */
	const char *members; /* the families that are REPORT_OTHERS here; or NULL */
	const char *reason;
	const char *pattern; /* the reason with '#' for numbers */
	double ratio;        /* baseline_s / planner_s, if compared */
	const struct row *reference;
	bool used; /* a baseline row some planner's row was compared with */
};

/*
 * Names the families of n items, whose order changes: small ones are one, REPORT_OTHERS,
 * where a place has several of them, unless `each` is to be shown. Families have lines of
 * their own if they are few then, or asked for.
 */
void report_name_families(struct report *r, struct arena *a, struct item *item,
                          size_t n, bool each);

#endif
