/* On which platforms the scenarios of machines that come in several sizes ran; who called. */
#include "report/data.h"
#include "report/text.h"
#include "text/order.h"
#include "text/words.h"

#include "base/list.h"

#include <stdlib.h>
#include <string.h>

static int compare_rows(const void *left, const void *right)
{
	const struct row *a = *(const struct row *const *)left;
	const struct row *b = *(const struct row *const *)right;
	int order = order_compare(row_machine(a), row_machine(b));

	if (order == 0)
		order = order_compare(a->platform, b->platform);
	return order ? order : strcmp(a->scenario, b->scenario);
}

void report_machines(struct report *r, struct arena *a, const struct row *const *rows,
                     size_t n)
{
	const struct row **row = arena_alloc(a, n ? n : 1, sizeof(*row));
	LIST(struct report_ran) list = {0};
	const struct row *last = NULL;
	size_t kept = 0;

	for (size_t i = 0; i < n; i++)
		if (report_timed(rows[i]) &&
		    strcmp(row_machine(rows[i]), rows[i]->platform) != 0)
			row[kept++] = rows[i];
	if (kept)
		qsort(row, kept, sizeof(*row), compare_rows);
	for (size_t i = 0; i < kept; last = row[i++]) {
		if (last && compare_rows(&last, &row[i]) == 0)
			continue;
		if (!last || strcmp(row_machine(last), row_machine(row[i])) != 0 ||
		    strcmp(last->platform, row[i]->platform) != 0)
			*list_add(&list, a) = (struct report_ran){row_machine(row[i]),
			                                          row[i]->platform, 0};
		list.at[list.n - 1].scenarios++;
	}
	r->ran = list.at;
	r->nran = (size_t)list.n;
}

void report_machines_text(const struct pen *pen, const struct report *r)
{
	static const char *const head[] = {"machine", "ran on (scenarios)"};
	struct arena *a = pen->arena;
	struct pen_table t =
		words_table(a, "Machines of several sizes", "lp", head, r->nran);
	const char **cell = NULL;

	if (r->nran == 0)
		return;
	for (size_t i = 0; i < r->nran; i++) {
		const struct report_ran *p = &r->ran[i];
		bool more = i && strcmp(p->machine, r->ran[i - 1].machine) == 0;

		if (!more)
			cell = words_row(&t);
		cell[0] = p->machine;
		cell[1] = arena_printf(a, "%s%s%s (%zu)", more ? cell[1] : "",
		                       more ? ", " : "", p->platform, p->scenarios);
	}
	pen->heading(pen, 2, t.caption);
	pen->paragraph(pen,
	               "Every scenario runs on a machine of its size; in brackets is "
	               "how many scenarios ran on which.");
	t.name = "machines";
	pen->table(pen, &t);
}

/* --- who called --------------------------------------------------------------------- */

/* A caller with so many machines; of more than these the first are named. */
enum { CALLED_MAX = 4 };

static int compare_called(const void *left, const void *right)
{
	const struct row *a = *(const struct row *const *)left;
	const struct row *b = *(const struct row *const *)right;
	int order = strcmp(b->launch, a->launch);

	return order ? order : order_compare(row_machine(a), row_machine(b));
}

const char *report_callers(struct arena *a, const struct row *const *rows, size_t n)
{
	const struct row **row = arena_alloc(a, n ? n : 1, sizeof(*row));
	struct text t = {0};
	size_t kept = 0, named = 0;

	for (size_t i = 0; i < n; i++)
		if (*rows[i]->launch)
			row[kept++] = rows[i];
	if (!kept)
		return NULL;
	qsort(row, kept, sizeof(*row), compare_called);
	for (size_t i = 0; i < kept; i++) {
		bool first = !i || strcmp(row[i - 1]->launch, row[i]->launch) != 0;

		if (i && compare_called(&row[i - 1], &row[i]) == 0)
			continue;
		named = first ? 0 : named + 1;
		if (first)
			text_printf(&t, "%s%s on ",
			            i ? "; " : "Collectives are called by ",
			            row[i]->launch);
		if (named < CALLED_MAX)
			text_printf(&t, "%s%s", first ? "" : ", ", row_machine(row[i]));
		else if (named == CALLED_MAX)
			text_printf(&t, " and others");
	}
	text_printf(&t, " (--launch).");
	return text_take(&t, a);
}
