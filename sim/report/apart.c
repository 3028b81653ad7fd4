/* How far the clock flow is from the clock of rounds, on plans with an exchange and others. */
#include "report/data.h"
#include "report/text.h"
#include "text/order.h"
#include "text/words.h"

#include "base/list.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FLOW "flow"

/* Does the plan hold a step in which devices exchange boxes? */
static bool exchanges(const struct row *r)
{
	return strstr(r->steps, "exchange") != NULL;
}

/* Orders by machine and by whether plans exchange boxes: rows of one line are equal. */
static int compare_lines(const struct row *a, const struct row *b)
{
	int order = (int)report_kind(a) - (int)report_kind(b);

	if (order == 0)
		order = order_compare(row_machine(a), row_machine(b));
	return order ? order : (int)exchanges(b) - (int)exchanges(a);
}

/* Orders by line and then by the plan: rows of one plan under two clocks are equal. */
static int compare_plans(const struct row *a, const struct row *b)
{
	int order = compare_lines(a, b);

	if (order == 0)
		order = report_compare_cases(a, b);
	return order ? order : strcmp(a->planner, b->planner);
}

/* The other clock's row comes before flow's. */
static int compare_rows(const void *left, const void *right)
{
	const struct row *a = *(const struct row *const *)left;
	const struct row *b = *(const struct row *const *)right;
	int order = compare_plans(a, b);

	return order ? order
	             : (strcmp(a->clock, FLOW) == 0) - (strcmp(b->clock, FLOW) == 0);
}

/* Returns the clock that flow is compared with: simgrid, or where it is not there fluid. */
static const char *other_clock(const struct row *const *rows, size_t n)
{
	const char *clock = "fluid";

	for (size_t i = 0; i < n; i++)
		if (strcmp(rows[i]->clock, "simgrid") == 0)
			clock = "simgrid";
	return clock;
}

/* Adds a plan to its line, whose mean is a sum of logarithms at first. */
static void add_plan(struct report_apart *line, const struct row *other,
                     const struct row *flow)
{
	double ratio = flow->time_s / other->time_s;

	line->n++;
	line->mean += log(ratio);
	line->apart += fabs(log(ratio)) > log(REPORT_APART);
	line->least = fmin(line->least, ratio);
	line->largest = fmax(line->largest, ratio);
	if (line->worst && fabs(log(ratio)) <= fabs(log(line->worst->time_s /
	                                                line->worst_other->time_s)))
		return;
	line->worst = flow;
	line->worst_other = other;
}

void report_apart(struct report *r, struct arena *a, const struct row *const *rows,
                  size_t n)
{
	const struct row **row = arena_alloc(a, n ? n : 1, sizeof(*row));
	const char *other = other_clock(rows, n);
	LIST(struct report_apart) list = {0};
	struct report_apart *line = NULL;
	size_t kept = 0;

	for (size_t i = 0; i < n; i++)
		if (report_moves(rows[i]) && (strcmp(rows[i]->clock, FLOW) == 0 ||
		                              strcmp(rows[i]->clock, other) == 0))
			row[kept++] = rows[i];
	if (kept)
		qsort(row, kept, sizeof(*row), compare_rows);
	for (size_t i = 0; i + 1 < kept; i++) {
		if (compare_plans(row[i], row[i + 1]) != 0)
			continue;
		if (!line || compare_lines(line->worst, row[i]) != 0) {
			line = list_add(&list, a);
			*line = (struct report_apart){.least = INFINITY};
		}
		add_plan(line, row[i], row[i + 1]);
	}
	for (int32_t i = 0; i < list.n; i++)
		list.at[i].mean = exp(list.at[i].mean / (double)list.at[i].n);
	r->apart = list.at;
	r->naparts = (size_t)list.n;
}

bool report_apart_exchanges(const struct report_apart *line)
{
	return exchanges(line->worst);
}

static double worst_ratio(const struct report_apart *line)
{
	return line->worst->time_s / line->worst_other->time_s;
}

void report_apart_sentence(const struct pen *pen, const struct report *r)
{
	struct arena *a = pen->arena;
	const struct report_apart *worst = NULL;
	size_t n[2] = {0}, apart[2] = {0};

	for (size_t i = 0; i < r->naparts; i++) {
		const struct report_apart *line = &r->apart[i];

		n[report_apart_exchanges(line)] += line->n;
		apart[report_apart_exchanges(line)] += line->apart;
		if (!worst ||
		    fabs(log(worst_ratio(line))) > fabs(log(worst_ratio(worst))))
			worst = line;
	}
	if (!apart[true] && !apart[false])
		return;
	pen->paragraph(
		pen,
		arena_printf(
			a,
			"Clocks: flow differs from %s by more than 10 %% on %zu of "
			"%zu plans with an exchange and %zu of %zu without; worst, "
			"%s times as long: %s by %s on %s.",
			worst->worst_other->clock, apart[true], n[true], apart[false],
			n[false], words_ratio(a, worst_ratio(worst)),
			worst->worst->scenario, worst->worst->planner,
			row_machine(worst->worst)));
}

void report_apart_text(const struct pen *pen, const struct report *r)
{
	static const char *const head[] = {"kind", "machine", "exchange",
	                                   "n",    "mean",    "min",
	                                   "max",  "> 10 %",  "worst"};
	struct arena *a = pen->arena;
	struct pen_table t;

	if (r->naparts == 0)
		return;
	t = words_table(
		a, arena_printf(a, "Clock flow over %s", r->apart->worst_other->clock),
		"lllrrrrrl", head, r->naparts);
	t.name = "clocks";
	for (size_t i = 0; i < r->naparts; i++) {
		const struct report_apart *line = &r->apart[i];
		const char **cell = words_row(&t);

		*cell++ = report_kind_name(report_kind(line->worst));
		*cell++ = row_machine(line->worst);
		*cell++ = report_apart_exchanges(line) ? "with" : "without";
		*cell++ = words_count(a, line->n);
		*cell++ = words_ratio(a, line->mean);
		*cell++ = words_ratio(a, line->least);
		*cell++ = words_ratio(a, line->largest);
		*cell++ = words_count(a, line->apart);
		*cell++ = fabs(worst_ratio(line) - 1) <= REPORT_TIE
		                  ? "-"
		                  : arena_printf(a, "%s, %s", line->worst->scenario,
		                                 line->worst->planner);
	}
	pen->heading(pen, 2, t.caption);
	pen->paragraph(
		pen,
		arena_printf(
			a,
			"The time of a plan under flow divided by that under %s, for "
			"plans "
			"with a step in which devices exchange boxes and for those "
			"without: n plans that take time under both, the geometric "
			"mean, "
			"the extremes, how many are more than a factor of 1.1 apart "
			"either "
			"way, and the plan that is furthest. %s lets all messages of a "
			"task "
			"move at one rate after the longest route's latency, and the "
			"next "
			"step waits for all devices; flow lets each message go by "
			"itself "
			"and each device go on when its data is there. Below 1, short "
			"routes did not wait for long ones, or steps overlapped; above "
			"1, "
			"a device that was early took bandwidth from one that others "
			"wait "
			"for.",
			r->apart->worst_other->clock, r->apart->worst_other->clock));
	pen->table(pen, &t);
}
