/* Which rows are of training steps, and in which order they stand. */
#include "report/data.h"
#include "report/select.h"
#include "report/steps.h"
#include "text/order.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool report_of_steps(const struct row *rows, size_t n)
{
	return n > 0 && rows[0].model && rows[0].model[0];
}

static int compare_groups(const struct row *a, const struct row *b)
{
	int order = order_compare(a->family, b->family);

	return order ? order : order_compare(a->platform, b->platform);
}

static int by_group_and_time(const void *a, const void *b)
{
	const struct row *x = *(const struct row *const *)a;
	const struct row *y = *(const struct row *const *)b;
	int order = compare_groups(x, y);

	if (!order)
		order = isnan(x->time_s) - isnan(y->time_s);
	if (!order && x->time_s != y->time_s && !isnan(x->time_s))
		return x->time_s < y->time_s ? -1 : 1;
	return order ? order : order_compare(x->scenario, y->scenario);
}

static bool is_baseline(const struct row *r, const char *name)
{
	return !strcmp(r->scenario, name) || !strcmp(r->parallel, name);
}

size_t step_group_take(struct step_group *out, const struct row **row, size_t i,
                       size_t n, const char *baseline)
{
	size_t first = i;

	for (; i < n && compare_groups(row[first], row[i]) == 0; i++)
		;
	*out = (struct step_group){row + first, i - first, NULL};
	for (size_t k = 0; k < out->n && !out->baseline; k++)
		if (!isnan(out->row[k]->time_s) &&
		    (!baseline || is_baseline(out->row[k], baseline)))
			out->baseline = out->row[k];
	return i;
}

const struct row **step_rows(size_t *n, struct arena *a, const struct row *rows,
                             size_t nrows, const struct report_options *o,
                             struct error *e)
{
	const struct row **all = arena_alloc(a, nrows + 1, sizeof(const struct row *));
	bool found = !o->baseline;

	*n = 0;
	for (size_t i = 0; i < nrows; i++) {
		if (!report_family(o, &rows[i]))
			continue;
		all[(*n)++] = &rows[i];
		found |= o->baseline && is_baseline(&rows[i], o->baseline);
	}
	if (!*n)
		error_set(e, E_RANGE, where_option("--family", o->family),
		          "no rows of such a family");
	else if (!found)
		error_set(e, E_RANGE, where_option("--baseline", o->baseline),
		          "no step of that name or with these degrees, expected one "
		          "such as '%s' or '%s'",
		          all[0]->scenario, all[0]->parallel);
	if (e->code != OK)
		return NULL;
	qsort(all, *n, sizeof(*all), by_group_and_time);
	return all;
}
