#include "report/data.h"
#include "report/select.h"
#include "text/words_list.h"

#include <stdlib.h>
#include <string.h>

/* The row's clock, or its planner. */
static const char *name_of(const struct row *r, bool clock)
{
	return clock ? r->clock : r->planner;
}

/*
 * E_RANGE, with the names there are, if no row has the planner or clock asked for, or the
 * `standard` one where none was.
 */
static enum status check_name(const struct row *rows, size_t n, bool clock,
                              const char *name, struct where where,
                              const char *standard, struct error *e)
{
	struct text known = {0};
	const char **names;

	for (size_t i = 0; i < n; i++)
		if (strcmp(name_of(&rows[i], clock), name) == 0)
			return OK;
	names = xmalloc(n, sizeof(*names));
	for (size_t i = 0; i < n; i++)
		names[i] = name_of(&rows[i], clock);
	n = names_distinct(names, n);
	for (size_t i = 0; i < n; i++)
		text_printf(&known, "%s%s", i ? ", " : "", names[i]);
	if (standard)
		error_set(e, E_RANGE, where,
		          "the usual baseline, %s, was not swept; expected "
		          "--baseline with one of: %s",
		          standard, known.s);
	else
		error_set(e, E_RANGE, where, "no rows of this %s, expected one of: %s",
		          clock ? "clock" : "planner", known.s);
	text_free(&known);
	free(names);
	return e->code;
}

/* E_RANGE if no row is of a planner asked for, or only the baseline is. */
static enum status check_planners(const struct row *rows, size_t n, const char *baseline,
                                  const struct report_options *o, struct error *e)
{
	const char *const *p = o->planners;
	bool other = false;

	if (!p || !p[0] || strcmp(p[0], "all") == 0)
		return OK;
	for (int i = 0; p[i]; i++) {
		struct where at = words_list_at("--planner", o->planner_list, i);

		if (check_name(rows, n, false, p[i], at, NULL, e) != OK)
			return e->code;
		other |= strcmp(p[i], baseline) != 0;
	}
	if (!other)
		error_set(e, E_RANGE, where_option("--planner", o->planner_list),
		          "expected planners other than the baseline, %s", baseline);
	return e->code;
}

static struct where clock_at(const struct report_options *o, int i)
{
	return o->clock_list ? words_list_at("--clock", o->clock_list, i)
	                     : where_option("--clock", o->clocks[i]);
}

/* E_RANGE if no row that is wanted is of a scenario asked for. */
static enum status check_scenario(const struct row *rows, size_t n,
                                  const struct report_options *o, struct error *e)
{
	const char *example = NULL;

	for (size_t i = 0; i < n; i++) {
		if (!report_wanted(o, &rows[i]))
			continue;
		if (report_scenario(o, &rows[i]))
			return OK;
		if (!example || strcmp(rows[i].scenario, example) < 0)
			example = rows[i].scenario;
	}
	return error_set(e, E_RANGE, where_option("--scenario", o->scenario),
	                 "no rows of such scenarios, expected a name such as '%s'",
	                 example);
}

enum status report_check(const struct row *rows, size_t n, const char *baseline,
                         const struct report_options *o, struct error *e)
{
	enum status status;

	if (n == 0)
		return error_set(e, E_RANGE, (struct where){0},
		                 "the sweep has no rows to report");
	status = check_name(rows, n, false, baseline,
	                    o->baseline ? where_option("--baseline", baseline)
	                                : (struct where){.file = "--baseline"},
	                    o->baseline ? NULL : baseline, e);
	if (status == OK)
		status = check_planners(rows, n, baseline, o, e);
	for (int i = 0; status == OK && o->clocks && o->clocks[i]; i++)
		status = check_name(rows, n, true, o->clocks[i], clock_at(o, i), NULL,
		                    e);
	for (size_t i = 0; status == OK && i < n; i++)
		if (report_wanted(o, &rows[i]))
			return check_scenario(rows, n, o, e);
	if (status != OK)
		return status;
	return error_set(e, E_RANGE, where_option("--family", o->family),
	                 "no rows of these families, expected a pattern such as '%s'",
	                 rows[0].family);
}
