#include "measure/held.h"

#include "stat/summary.h"

#include <math.h>
#include <string.h>

static bool lies_in(const struct held_time *t)
{
	return t->measured_s >= t->likely_s.low && t->measured_s <= t->likely_s.high;
}

/* Returns the share of a set's times that lie in their intervals; NULL: of all. */
static double share_of(const struct held_time *time, size_t n, const char *set)
{
	double in = 0, all = 0;

	for (size_t i = 0; i < n; i++)
		if (!isnan(time[i].likely_s.low) && (!set || !strcmp(time[i].set, set))) {
			in += lies_in(&time[i]);
			all++;
		}
	return in / all;
}

struct pen_table held_table(struct arena *a, const char *caption, const char *head,
                            size_t rows)
{
	static const char *const rest[] = {"n", "in its interval", "sets",
	                                   "mean of sets", "half-width"};
	const char **all = arena_alloc(a, 6, sizeof(*all));

	all[0] = head;
	memcpy(all + 1, rest, sizeof(rest));
	return words_table(a, caption, "lrrrrr", all, rows);
}

void held_row(struct pen_table *t, struct arena *a, const char *name,
              const struct held_time *time, size_t n)
{
	double *width = arena_alloc(a, n + 1, sizeof(*width)), by_set = 0;
	const char **set = arena_alloc(a, n + 1, sizeof(*set)), **cell;
	size_t known = 0, sets = 0;

	for (size_t i = 0; i < n; i++) {
		const struct likely *l = &time[i].likely_s;
		size_t k = 0;

		if (isnan(l->low))
			continue;
		width[known++] = sqrt(l->high / l->low);
		while (k < sets && strcmp(set[k], time[i].set) != 0)
			k++;
		if (k == sets)
			set[sets++] = time[i].set;
	}
	if (!known)
		return;
	for (size_t k = 0; k < sets; k++)
		by_set += share_of(time, n, set[k]) / (double)sets;
	cell = words_row(t);
	cell[0] = name;
	cell[1] = words_count(a, known);
	cell[2] = arena_printf(a, "%.0f %%", 100 * share_of(time, n, NULL));
	cell[3] = words_count(a, sets);
	cell[4] = arena_printf(a, "%.0f %%", 100 * by_set);
	cell[5] = arena_printf(a, "%.3f", stat_quantile(width, known, 0.5));
}

void held_words(const struct pen *pen, const struct pen_table *t)
{
	if (!t->rows)
		return;
	pen->heading(pen, 2, "How sure");
	pen->paragraph(pen,
	               "Each time has an interval that should hold four timings of "
	               "five (platforms/intervals.csv). Its half-width is a factor, "
	               "here the median.");
	pen->table(pen, t);
}
