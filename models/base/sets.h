/*
 * The one union-find: which of the numbers 0 to n - 1 belong together. `parent` has a
 * number for each; a set is told by its smallest one.
 */
#ifndef SHARDSIM_BASE_SETS_H
#define SHARDSIM_BASE_SETS_H

#include <stdint.h>

/* Makes every number a set of its own. */
static inline void sets_apart(int32_t *parent, int32_t n)
{
	for (int32_t i = 0; i < n; i++)
		parent[i] = i;
}

/* Returns the smallest number of the set of i. */
static inline int32_t sets_of(int32_t *parent, int32_t i)
{
	while (parent[i] != i)
		i = parent[i] = parent[parent[i]];
	return i;
}

/* Makes one set of those of a and b. */
static inline void sets_join(int32_t *parent, int32_t a, int32_t b)
{
	a = sets_of(parent, a);
	b = sets_of(parent, b);
	if (a < b)
		parent[b] = a;
	else
		parent[a] = b;
}

#endif
