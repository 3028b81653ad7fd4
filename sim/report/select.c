#include "report/select.h"
#include "text/order.h"

#include <fnmatch.h>
#include <math.h>
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

enum report_kind report_kind(const struct row *r)
{
	static const char generated[] = "generated", layouts[] = "generated: layouts";

	if (strncmp(r->source, layouts, sizeof(layouts) - 1) == 0)
		return KIND_LAYOUTS;
	return strncmp(r->source, generated, sizeof(generated) - 1) == 0 ? KIND_RANDOM
	                                                                 : KIND_REAL;
}

const char *report_kind_name(enum report_kind kind)
{
	static const char *const names[REPORT_KINDS] = {
		[KIND_REAL] = "real", [KIND_RANDOM] = "random", [KIND_LAYOUTS] = "layouts"};

	return names[kind];
}

const char *report_kind_noun(enum report_kind kind, bool several)
{
	static const char *const nouns[REPORT_KINDS][2] = {
		[KIND_REAL] = {"real scenario", "real scenarios"},
		[KIND_RANDOM] = {"random problem", "random problems"},
		[KIND_LAYOUTS] = {"pair of layouts", "pairs of layouts"}};

	return nouns[kind][several];
}

const char *row_machine(const struct row *r)
{
	return *r->machine ? r->machine : r->platform;
}

int report_compare_places(const struct row *a, const struct row *b)
{
	int order = (int)report_kind(a) - (int)report_kind(b);

	if (order == 0)
		order = order_compare(row_machine(a), row_machine(b));
	return order ? order : strcmp(a->clock, b->clock);
}

int report_compare_cases(const struct row *a, const struct row *b)
{
	int order = strcmp(a->scenario, b->scenario);

	return order ? order : strcmp(a->platform, b->platform);
}

bool report_family(const struct report_options *o, const struct row *r)
{
	return !o->family || fnmatch(o->family, r->family, FNM_EXTMATCH) == 0;
}

bool report_scenario(const struct report_options *o, const struct row *r)
{
	return !o->scenario || strcmp(o->scenario, r->scenario) == 0 ||
	       fnmatch(o->scenario, r->scenario, FNM_EXTMATCH) == 0;
}

bool report_wanted(const struct report_options *o, const struct row *r)
{
	bool clock = !o->clocks || !o->clocks[0];

	for (size_t i = 0; o->clocks && o->clocks[i]; i++)
		clock |= strcmp(o->clocks[i], r->clock) == 0;
	return clock && report_family(o, r);
}

bool report_timed(const struct row *r)
{
	return r->status == OUTCOME_OK && r->time_s >= 0 && !isinf(r->time_s);
}

bool report_moves(const struct row *r)
{
	return report_timed(r) && r->time_s > 0;
}

void report_sure_count(struct report_sure *s, const struct row *ours,
                       const struct row *theirs)
{
	if (isnan(ours->low_s) || isnan(theirs->low_s))
		return;
	if (ours->high_s < theirs->low_s)
		s->wins++;
	else if (theirs->high_s < ours->low_s)
		s->losses++;
	else
		s->ties++;
}

const char *report_sure_text(const struct report_sure *s, struct arena *a)
{
	if (s->wins + s->ties + s->losses == 0)
		return "-";
	return arena_printf(a, "%zu/%zu/%zu", s->wins, s->ties, s->losses);
}
