/* The cases of a page, and which of them get a part of their own. */
#include "report/html.h"
#include "report/select.h"
#include "text/order.h"

#include "base/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

double html_limit_bytes(const struct row *r)
{
	struct error e = {0};
	int64_t bytes;

	if (!*r->memory_limit ||
	    units_bytes(r->memory_limit, (struct where){0}, &bytes, &e) != OK)
		return NAN;
	return (double)bytes;
}

static int compare_cases(const struct row *a, const struct row *b)
{
	int order = order_compare(a->scenario, b->scenario);

	if (order == 0)
		order = order_compare(a->platform, b->platform);
	if (order == 0)
		order = order_compare(row_machine(a), row_machine(b));
	return order ? order : strcmp(a->clock, b->clock);
}

static int compare_rows(const void *left, const void *right)
{
	const struct row *a = *(const struct row *const *)left;
	const struct row *b = *(const struct row *const *)right;
	int order = compare_cases(a, b);

	return order ? order : strcmp(a->planner, b->planner);
}

static void find_fastest(struct html_case *c)
{
	double least = INFINITY;

	for (size_t i = 0; i < c->n; i++)
		if (report_timed(c->row[i]))
			least = fmin(least, c->row[i]->time_s);
	for (size_t i = 0; i < c->n; i++) {
		const struct row *r = c->row[i];

		if (!report_timed(r) || r->time_s > least * (1 + REPORT_TIE))
			continue;
		c->ties += c->fastest != NULL;
		if (!c->fastest || strcmp(c->fastest->planner, "best") == 0)
			c->fastest = r;
	}
}

static void fill_case(struct html_case *c, const char *baseline)
{
	const struct row *best = NULL;
	bool others = false;

	for (size_t i = 0; i < c->n; i++) {
		const struct row *r = c->row[i];

		c->solved += r->status == OUTCOME_OK;
		c->faults += r->status == OUTCOME_FAILED || r->status == OUTCOME_WRONG;
		if (!report_timed(r))
			continue;
		if (strcmp(r->planner, baseline) == 0)
			c->baseline = r;
		else
			others = true;
		if (strcmp(r->planner, "best") == 0)
			best = r;
	}
	find_fastest(c);
	c->speedup = c->loss = NAN;
	if (c->fastest && c->fastest->time_s > 0) {
		if (c->baseline && others)
			c->speedup = c->baseline->time_s / c->fastest->time_s;
		if (best)
			c->loss = best->time_s / c->fastest->time_s;
	}
}

static int compare_places(const void *left, const void *right)
{
	const struct html_place *a = left, *b = right;
	int order = order_compare(a->platform, b->platform);

	return order ? order : strcmp(a->clock, b->clock);
}

static void find_places(struct page *p)
{
	size_t n = 0;

	p->place = arena_alloc(p->arena, p->nitems, sizeof(*p->place));
	for (size_t i = 0; i < p->nitems; i++)
		p->place[i] = (struct html_place){row_machine(p->item[i].row[0]),
		                                  p->item[i].row[0]->clock};
	qsort(p->place, p->nitems, sizeof(*p->place), compare_places);
	for (size_t i = 0; i < p->nitems; i++)
		if (n == 0 || compare_places(&p->place[n - 1], &p->place[i]) != 0)
			p->place[n++] = p->place[i];
	p->nplaces = n;
}

void html_find_cases(struct page *p)
{
	size_t end;

	qsort(p->row, p->nrows, sizeof(*p->row), compare_rows);
	p->item = arena_alloc(p->arena, p->nrows, sizeof(*p->item));
	for (size_t i = 0; i < p->nrows; i = end) {
		struct html_case *c = &p->item[p->nitems++];

		for (end = i + 1; end < p->nrows; end++)
			if (compare_cases(p->row[i], p->row[end]) != 0)
				break;
		*c = (struct html_case){.row = p->row + i, .n = end - i};
		fill_case(c, p->report->baseline);
	}
	find_places(p);
}

/* --- parts -------------------------------------------------------------------------- */

/* Are both cases of one scenario and platform? */
static bool same_part(const struct html_case *a, const struct html_case *b)
{
	return strcmp(a->row[0]->scenario, b->row[0]->scenario) == 0 &&
	       strcmp(a->row[0]->platform, b->row[0]->platform) == 0;
}

/* Gives all cases of one scenario and platform one part; false if they have one already. */
static bool mark_case(struct page *p, struct html_case *c)
{
	const struct html_case *first = c, *end = p->item + p->nitems;

	if (c->section)
		return false;
	while (c > p->item && same_part(c - 1, first))
		c--;
	for (; c < end && same_part(c, first); c++)
		c->section = 1;
	p->nsections++;
	return true;
}

static int compare_gains(const void *left, const void *right)
{
	const struct html_case *a = *(struct html_case *const *)left;
	const struct html_case *b = *(struct html_case *const *)right;

	if (a->speedup != b->speedup)
		return a->speedup > b->speedup ? -1 : 1;
	return a < b ? -1 : a > b;
}

static int compare_losses(const void *left, const void *right)
{
	const struct html_case *a = *(struct html_case *const *)left;
	const struct html_case *b = *(struct html_case *const *)right;

	if (a->loss != b->loss)
		return a->loss > b->loss ? -1 : 1;
	return a < b ? -1 : a > b;
}

/* Marks the first HTML_EACH scenarios in that order. */
static void mark_first(struct page *p, struct html_case **item, size_t n,
                       int (*order)(const void *, const void *))
{
	int marked = 0;

	qsort(item, n, sizeof(struct html_case *), order);
	for (size_t i = 0; i < n && marked < HTML_EACH; i++)
		marked += mark_case(p, item[i]);
}

static void mark_interesting(struct page *p)
{
	struct html_case **item = xmalloc(p->nitems + 1, sizeof(struct html_case *));
	size_t n = 0;
	int faults = 0;

	for (size_t i = 0; i < p->nitems; i++)
		if (p->item[i].speedup > 1 + REPORT_TIE)
			item[n++] = &p->item[i];
	mark_first(p, item, n, compare_gains);
	n = 0;
	for (size_t i = 0; i < p->nitems; i++)
		if (p->item[i].loss > 1 + REPORT_LOSS)
			item[n++] = &p->item[i];
	mark_first(p, item, n, compare_losses);
	for (size_t i = 0; i < p->nitems && faults < HTML_EACH; i++)
		if (p->item[i].faults)
			faults += mark_case(p, &p->item[i]);
	/* A sweep without any of these still shows plans. */
	for (size_t i = 0; i < p->nitems && p->nsections == 0; i++)
		if (p->item[i].fastest)
			mark_case(p, &p->item[i]);
	free(item);
}

/* Counts the scenarios, each platform's apart. */
static size_t count_parts(const struct page *p)
{
	size_t n = 0;

	for (size_t i = 0; i < p->nitems; i++)
		n += i == 0 || !same_part(&p->item[i - 1], &p->item[i]);
	return n;
}

void html_choose(struct page *p)
{
	const char *wanted = p->options->scenario;
	int number = 0;

	if (!wanted && count_parts(p) > 3 * HTML_EACH)
		mark_interesting(p);
	else
		for (size_t i = 0; i < p->nitems && p->nsections < HTML_NAMED; i++)
			if (report_scenario(p->options, p->item[i].row[0]))
				mark_case(p, &p->item[i]);
	for (size_t i = 0; i < p->nitems; i++) {
		const struct html_case *c = &p->item[i];
		bool first = i == 0 || !same_part(c - 1, c);

		number += c->section && first;
		if (c->section)
			p->item[i].section = number;
	}
}
