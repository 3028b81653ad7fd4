/* Planners over the same cases: only there a line of one can be held against another's. */
#include "report/data.h"
#include "report/select.h"

#include "base/list.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Returns how many of n rows have one scenario with the first. */
static size_t count_scenario(const struct row *const *row, size_t n)
{
	size_t end = 1;

	while (end < n && report_compare_cases(row[0], row[end]) == 0)
		end++;
	return end;
}

/*
 * Counts a scenario, of which there are n rows, and adds the logarithms of its speedups if
 * all planners have times above zero.
 */
static void add_scenario(struct report_same *s, const char *baseline,
                         const struct row *const *row, size_t n)
{
	bool *solves = xmalloc(s->nplanners, sizeof(*solves));
	size_t timed = 0, moving = 0;
	double baseline_s = NAN;

	memset(solves, 0, s->nplanners * sizeof(*solves));
	for (size_t i = 0; i < n; i++) {
		if (!report_timed(row[i]))
			continue;
		solves[names_find(s->planner, s->nplanners, row[i]->planner)] = true;
		timed++;
		moving += report_moves(row[i]);
		if (strcmp(row[i]->planner, baseline) == 0)
			baseline_s = row[i]->time_s;
	}
	s->all += timed > 0;
	for (size_t p = 0; p < s->nplanners; p++)
		s->cannot[p] += timed > 0 && !solves[p];
	free(solves);
	if (moving < s->nplanners)
		return;
	s->n++;
	for (size_t i = 0; i < n; i++)
		s->speedup[names_find(s->planner, s->nplanners, row[i]->planner)] +=
			log(baseline_s / row[i]->time_s);
}

/* Returns the figures of n rows of one place, sorted by scenario. */
static struct report_same compare_same(struct arena *a, const char *baseline,
                                       const struct row *const *row, size_t n)
{
	struct report_same s = {.kind = report_kind(row[0]),
	                        .platform = row_machine(row[0]),
	                        .clock = row[0]->clock};
	size_t end;

	s.planner = arena_alloc(a, n, sizeof(*s.planner));
	for (size_t i = 0; i < n; i++)
		s.planner[i] = row[i]->planner;
	s.nplanners = names_distinct(s.planner, n);
	s.speedup = arena_alloc(a, s.nplanners, sizeof(*s.speedup));
	s.cannot = arena_alloc(a, s.nplanners, sizeof(*s.cannot));
	for (size_t i = 0; i < n; i += end) {
		end = count_scenario(row + i, n - i);
		add_scenario(&s, baseline, row + i, end);
	}
	for (size_t p = 0; p < s.nplanners; p++)
		s.speedup[p] = s.n ? exp(s.speedup[p] / (double)s.n) : NAN;
	return s;
}

void report_same(struct report *r, struct arena *a, const struct row *const *rows,
                 size_t n)
{
	LIST(struct report_same) list = {0};
	size_t end;

	for (size_t i = 0; i < n; i = end) {
		struct report_same s;

		for (end = i + 1; end < n; end++)
			if (report_compare_places(rows[i], rows[end]) != 0)
				break;
		s = compare_same(a, r->baseline, rows + i, end - i);
		if (names_find(s.planner, s.nplanners, r->baseline) < s.nplanners &&
		    s.nplanners > 1)
			*list_add(&list, a) = s;
	}
	r->same = list.at;
	r->nsame = (size_t)list.n;
}

/* Has one of n rows the baseline and the clock? */
static bool has_clock(const struct row *const *rows, size_t n, const char *baseline,
                      const char *clock)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(rows[i]->planner, baseline) == 0 &&
		    strcmp(rows[i]->clock, clock) == 0)
			return true;
	return false;
}

const char *report_clock(const struct row *const *rows, size_t n, const char *baseline,
                         const struct report_options *o)
{
	static const char *const clocks[] = {"simgrid", "fluid", "model", "flow"};

	if (o->clocks && o->clocks[0])
		return o->clocks[0];
	for (size_t c = 0; c < sizeof(clocks) / sizeof(clocks[0]); c++)
		if (has_clock(rows, n, baseline, clocks[c]))
			return clocks[c];
	return n ? rows[0]->clock : "";
}

/* The planners that are shown unless others are asked for. */
static const char *const usual[] = {"best", "best-portable", "synth", "xla", "xla-2021"};

bool report_asked(const struct report_options *o, const char *planner)
{
	const char *const *p = o->planners;

	if (!p || !p[0] || strcmp(p[0], "all") == 0)
		return true;
	for (; *p; p++)
		if (strcmp(*p, planner) == 0)
			return true;
	return false;
}

/* Shows a planner, unless it was not swept or is the baseline. */
static void show(struct report *r, const char *const *there, size_t n,
                 const char *planner)
{
	if (strcmp(planner, r->baseline) != 0 && names_find(there, n, planner) < n)
		r->shown[r->nshown++] = planner;
}

void report_choose(struct report *r, struct arena *a, const struct row *const *rows,
                   size_t n, const struct report_options *o)
{
	const char **there = arena_alloc(a, n ? n : 1, sizeof(*there));
	size_t nthere;

	r->clock = report_clock(rows, n, r->baseline, o);
	for (size_t i = 0; i < n; i++)
		there[i] = rows[i]->planner;
	nthere = names_distinct(there, n);
	r->shown = arena_alloc(a, nthere + 1, sizeof(*r->shown));
	r->hidden = arena_alloc(a, nthere + 1, sizeof(*r->hidden));
	if (o->planners && o->planners[0])
		for (size_t p = 0; o->planners[p]; p++)
			show(r, there, nthere, o->planners[p]);
	else
		for (size_t p = 0; p < sizeof(usual) / sizeof(usual[0]); p++)
			show(r, there, nthere, usual[p]);
	for (size_t p = 0, none = r->nshown == 0; none && p < nthere; p++)
		show(r, there, nthere, there[p]);
	r->nshown = names_distinct(r->shown, r->nshown);
	for (size_t p = 0; p < nthere; p++)
		if (strcmp(there[p], r->baseline) != 0 &&
		    names_find(r->shown, r->nshown, there[p]) == r->nshown)
			r->hidden[r->nhidden++] = there[p];
}

const char *report_hidden(const struct report *r, struct arena *a)
{
	struct text t = {0};

	for (size_t p = 0; p < r->nhidden; p++)
		text_printf(&t, "%s%s", p ? ", " : "", r->hidden[p]);
	if (!t.length)
		return NULL;
	text_printf(&t, " (--planner all shows them)");
	return text_take(&t, a);
}

bool report_shown(const struct report *r, const struct report_line *l)
{
	return strcmp(l->clock, r->clock) == 0 &&
	       names_find(r->shown, r->nshown, l->planner) < r->nshown;
}
