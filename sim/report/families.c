/* Under which families a report shows its scenarios. */
#include "report/data.h"
#include "text/order.h"

#include <stdlib.h>
#include <string.h>

/* By place, family and scenario. */
static int compare_families(const void *left, const void *right)
{
	const struct row *a = ((const struct item *)left)->row;
	const struct row *b = ((const struct item *)right)->row;
	int order = report_compare_places(a, b);

	if (order == 0)
		order = order_compare(a->family, b->family);
	return order ? order : strcmp(a->scenario, b->scenario);
}

/*
 * Returns the end of the family that begins with item `first` of items [0, end) in that
 * order, and stores whether planners take time for a few of its scenarios, but no more.
 */
static size_t family_end(bool *small, const struct item *item, size_t first, size_t end)
{
	const char *family = item[first].row->family, *solved = "";
	size_t i = first, scenarios = 0;

	for (; i < end && strcmp(item[i].row->family, family) == 0; i++)
		if (report_moves(item[i].row) &&
		    strcmp(item[i].row->scenario, solved) != 0) {
			solved = item[i].row->scenario;
			scenarios++;
		}
	*small = scenarios >= 1 && scenarios <= REPORT_SMALL_FAMILY;
	return i;
}

/*
 * Names the families of one place's items, of which the small ones are one unless there is
 * but one such or each is asked for. Returns how many names there are.
 */
static size_t name_place(struct arena *a, struct item *item, size_t n, bool each)
{
	struct text others = {0};
	size_t nsmall = 0, shown = 0, end;
	bool small;

	for (size_t i = 0; i < n; i = end) {
		end = family_end(&small, item, i, n);
		nsmall += small;
	}
	for (size_t i = 0; i < n; i = end) {
		const char *name = item[i].row->family;

		end = family_end(&small, item, i, n);
		if (small && nsmall > 1 && !each) {
			text_printf(&others, "%s%s", others.length ? ", " : "", name);
			name = REPORT_OTHERS;
		} else {
			shown++;
		}
		for (size_t k = i; k < end; k++)
			item[k].family = name;
	}
	if (others.length) {
		const char *members = arena_strdup(a, others.s);

		shown++;
		for (size_t i = 0; i < n; i++)
			item[i].members = members;
	}
	text_free(&others);
	return shown;
}

void report_name_families(struct report *r, struct arena *a, struct item *item,
                          size_t n, bool each)
{
	size_t end;

	qsort(item, n, sizeof(*item), compare_families);
	for (size_t i = 0; i < n; i = end) {
		size_t shown;

		for (end = i + 1; end < n; end++)
			if (report_compare_places(item[i].row, item[end].row) != 0)
				break;
		shown = name_place(a, item + i, end - i, each);
		r->nfamilies = shown > r->nfamilies ? shown : r->nfamilies;
	}
	r->families = each || r->nfamilies <= REPORT_FAMILIES;
}
