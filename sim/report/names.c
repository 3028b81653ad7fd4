#include "report/names.h"

#include "text/order.h"

#include <stdlib.h>
#include <string.h>

size_t names_distinct(const char **name, size_t n)
{
	size_t kept = 0;

	if (n == 0)
		return 0;
	qsort(name, n, sizeof(*name), order_names);
	for (size_t i = 0; i < n; i++)
		if (kept == 0 || strcmp(name[kept - 1], name[i]) != 0)
			name[kept++] = name[i];
	return kept;
}

size_t names_find(const char *const *name, size_t n, const char *wanted)
{
	const char *const *found =
		n ? bsearch(&wanted, name, n, sizeof(*name), order_names) : NULL;

	return found ? (size_t)(found - name) : n;
}
