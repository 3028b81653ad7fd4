#include "report/data.h"
#include "report/select.h"
#include "text/words_list.h"

#include <string.h>

/* Names asked for that no row has are mistakes of the user; say what there is. */
static enum status check_name(const struct row *rows, size_t n, bool clock,
                              const char *name, struct where where, struct error *e)
{
	const char *last = NULL;
	struct text known = {0};
	enum status status;

	for (;;) { /* the distinct names in byte order */
		const char *next = NULL;

		for (size_t i = 0; i < n; i++) {
			const char *at = clock ? rows[i].clock : rows[i].planner;

			if (strcmp(at, name) == 0) {
				text_free(&known);
				return OK;
			}
			if ((!last || strcmp(at, last) > 0) &&
			    (!next || strcmp(at, next) < 0))
				next = at;
		}
		if (!next)
			break;
		text_printf(&known, "%s%s", last ? ", " : "", next);
		last = next;
	}
	status = error_set(e, E_RANGE, where, "no rows of this %s, expected one of: %s",
	                   clock ? "clock" : "planner", known.s ? known.s : "");
	text_free(&known);
	return status;
}

static struct where clock_at(const struct report_options *o, int i)
{
	return o->clock_list ? words_list_at("--clock", o->clock_list, i)
	                     : where_option("--clock", o->clocks[i]);
}

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
	                    where_option("--baseline", baseline), e);
	for (int i = 0; status == OK && o->clocks && o->clocks[i]; i++)
		status = check_name(rows, n, true, o->clocks[i], clock_at(o, i), e);
	for (size_t i = 0; status == OK && i < n; i++)
		if (report_wanted(o, &rows[i]))
			return check_scenario(rows, n, o, e);
	if (status != OK)
		return status;
	return error_set(e, E_RANGE, where_option("--family", o->family),
	                 "no rows of these families, expected a pattern such as '%s'",
	                 rows[0].family);
}
