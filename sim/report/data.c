#include "report/data.h"
#include "text/order.h"

#include "base/list.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct gathering {
	struct report *report;
	struct arena *arena;
	const struct report_options *options;
	struct item *item; /* by place, planner, family, scenario */
	size_t nitems;
	struct item **baseline; /* by place and scenario */
	size_t nbaselines;
	LIST(struct bootstrap) samples; /* of the lines, in the arena */
};

static int compare_group(const struct row *a, const struct row *b)
{
	int order = report_compare_places(a, b);

	return order ? order : strcmp(a->planner, b->planner);
}

static int compare_items(const void *left, const void *right)
{
	const struct item *x = left, *y = right;
	const struct row *a = x->row, *b = y->row;
	int order = compare_group(a, b);

	if (order == 0)
		order = order_compare(x->family, y->family);
	return order ? order : report_compare_cases(a, b);
}

static int compare_baselines(const void *left, const void *right)
{
	const struct row *a = (*(const struct item *const *)left)->row;
	const struct row *b = (*(const struct item *const *)right)->row;
	int order = report_compare_places(a, b);

	return order ? order : report_compare_cases(a, b);
}

static bool is_baseline(const struct gathering *g, const struct row *r)
{
	return strcmp(r->planner, g->report->baseline) == 0;
}

static struct item *find_baseline(const struct gathering *g, const struct row *r)
{
	struct item key = {.row = r}, *key_at = &key, **found;

	found = bsearch(&key_at, g->baseline, g->nbaselines, sizeof(struct item *),
	                compare_baselines);
	return found ? *found : NULL;
}

/* Returns why a row cannot be compared with any other, or NULL if it can. */
static const char *own_reason(struct arena *a, const struct row *r)
{
	if (r->status == OUTCOME_OK)
		return report_timed(r) ? NULL : "no time";
	return *r->message ? r->message
	                   : arena_printf(a, "%s, no reason", outcome_name(r->status));
}

/* Returns why an ok row and its baseline's do not make a pair, or NULL if they do. */
static const char *pair_reason(const struct gathering *g, const struct row *r,
                               const struct row *b)
{
	const char *baseline = g->report->baseline;

	if (b->status != OUTCOME_OK)
		return arena_printf(g->arena, "%s is %s", baseline,
		                    outcome_name(b->status));
	if (!report_timed(b))
		return arena_printf(g->arena, "%s has no time", baseline);
	if (b->time_s == 0 && r->time_s == 0)
		return "no communication";
	if (r->time_s == 0)
		return arena_printf(g->arena, "takes no time, %s does: no finite ratio",
		                    baseline);
	if (b->time_s == 0)
		return arena_printf(
			g->arena, "takes time, %s does not: no finite ratio", baseline);
	return NULL;
}

/* Compares a planner's row with its baseline's, or says why that cannot be. */
static void judge_row(const struct gathering *g, struct item *i)
{
	struct item *reference;

	i->reason = own_reason(g->arena, i->row);
	if (i->reason)
		return;
	reference = find_baseline(g, i->row);
	if (!reference) {
		i->reason = arena_printf(g->arena, "no row of %s", g->report->baseline);
		return;
	}
	i->reason = pair_reason(g, i->row, reference->row);
	if (i->reason)
		return;
	i->ratio = reference->row->time_s / i->row->time_s;
	i->reference = reference->row;
	reference->used = true;
	g->report->compared++;
}

static void judge_baseline(const struct gathering *g, struct item *i)
{
	i->reason = own_reason(g->arena, i->row);
	if (i->reason)
		return;
	if (i->used)
		g->report->references++;
	else
		i->reason = i->row->time_s == 0 ? "no communication"
		                                : "no planner to compare with";
}

static int compare_ratios(const void *left, const void *right)
{
	const double *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

/* Fills in the figures over those of n items that are compared, or of them l->without. */
static void fill_line(struct gathering *g, struct report_line *l,
                      const struct item *item, size_t n)
{
	double *ratio = xmalloc(n ? n : 1, sizeof(*ratio));
	double *memory = xmalloc(n ? n : 1, sizeof(*memory));
	double *difference = xmalloc(n ? n : 1, sizeof(*difference));
	double *bound = xmalloc(n ? n : 1, sizeof(*bound));
	size_t m = 0;

	for (size_t i = 0; i < n; i++) {
		int64_t theirs, ours;

		if (!item[i].reference || (l->without && item[i].reference->full_remat))
			continue;
		theirs = item[i].reference->peak_live_bytes;
		ours = item[i].row->peak_live_bytes;
		if (theirs > 0 && ours > 0)
			memory[l->memory_n++] = (double)theirs / (double)ours;
		if (item[i].row->bound_s > 0)
			bound[l->bound_n++] = item[i].row->time_s / item[i].row->bound_s;
		ratio[m] = item[i].ratio;
		difference[m] = round(log(ratio[m]) / REPORT_TIE) * REPORT_TIE;
		if (fabs(ratio[m] - 1) <= REPORT_TIE) {
			difference[m] = 0;
			l->ties++;
		} else if (ratio[m] > 1) {
			l->wins++;
		} else {
			l->losses++;
		}
		report_sure_count(&l->sure, item[i].row, item[i].reference);
		m++;
	}
	l->speedup = summary_of(ratio, m);
	/* The order of the sample decides what is drawn; it must not be that of names. */
	qsort(ratio, m, sizeof(*ratio), compare_ratios);
	*list_add(&g->samples, g->arena) = (struct bootstrap){
		.x = arena_dup(g->arena, ratio, m, sizeof(*ratio)), .n = m};
	l->sample = g->samples.n;
	l->test = g->options->test == REPORT_SIGN ? paired_sign(difference, m)
	                                          : paired_wilcoxon(difference, m);
	l->memory = stat_geomean(memory, l->memory_n);
	l->bound = stat_geomean(bound, l->bound_n);
	free(ratio);
	free(bound);
	free(memory);
	free(difference);
}

/* Parts the speedups by whether the baseline has a full rematerialization. */
static void fill_origin(struct report_origin *o, const struct item *item, size_t n)
{
	double *remat = xmalloc(n, sizeof(*remat)), *rest = xmalloc(n, sizeof(*rest));
	double remat_log = 0, rest_log = 0;
	size_t rest_n = 0;

	for (size_t i = 0; i < n; i++) {
		if (!item[i].reference)
			continue;
		if (item[i].reference->full_remat) {
			remat[o->remat_n++] = item[i].ratio;
			remat_log += log(item[i].ratio);
		} else {
			rest[rest_n++] = item[i].ratio;
			rest_log += log(item[i].ratio);
		}
	}
	o->n = o->remat_n + rest_n;
	o->share = o->n ? (double)o->remat_n / (double)o->n : NAN;
	o->remat = stat_geomean(remat, o->remat_n);
	o->rest = stat_geomean(rest, rest_n);
	/* A sum below one tie per case is rounding, not gain. */
	o->gain = remat_log + rest_log > REPORT_TIE * (double)o->n
	                  ? remat_log / (remat_log + rest_log)
	                  : NAN;
	free(remat);
	free(rest);
}

static void add_planning(struct report *r, const struct item *item, size_t n)
{
	double *planning_s = xmalloc(n, sizeof(*planning_s));
	size_t m = 0;

	for (size_t i = 0; i < n; i++)
		if (!isnan(item[i].row->planning_s))
			planning_s[m++] = item[i].row->planning_s;
	r->planning[r->nplannings++] = (struct report_planning){
		report_kind(item->row), row_machine(item->row), item->row->clock,
		item->row->planner, summary_of(planning_s, m)};
	free(planning_s);
}

/*
 * Adds a group's lines of the first tables: that of all cases, which is known, and that of
 * those in which the baseline does not rematerialize fully.
 */
static void add_first(struct gathering *g, const struct report_line *all,
                      const struct item *item, size_t n)
{
	struct report *r = g->report;
	struct report_line *line = &r->first[r->nfirst++], *without = line + 1;

	*line = *all;
	for (size_t i = 0; i < n; i++) {
		const struct item *reference = find_baseline(g, item[i].row);

		if (!reference)
			continue;
		if (reference->row->status == OUTCOME_OVER_MEMORY)
			line->baseline_over++;
		else if (item[i].row->status == OUTCOME_OVER_MEMORY)
			line->over++;
		if (item[i].reference && item[i].ratio > REPORT_PAPER_MAX) {
			line->above++;
			line->above_remat += item[i].reference->full_remat;
		}
	}
	*without = (struct report_line){.kind = all->kind,
	                                .platform = all->platform,
	                                .clock = all->clock,
	                                .planner = all->planner,
	                                .without = true};
	fill_line(g, without, item, n);
	r->nfirst++;
}

/* Adds the lines of one place and planner, whose n items are sorted by family. */
static void add_group(struct gathering *g, const struct item *item, size_t n)
{
	const struct row *first = item->row;
	struct report *r = g->report;
	struct report_line line = {.kind = report_kind(first),
	                           .platform = row_machine(first),
	                           .clock = first->clock,
	                           .planner = first->planner};
	struct report_origin origin = {.kind = report_kind(first),
	                               .platform = row_machine(first),
	                               .clock = first->clock,
	                               .planner = first->planner};
	size_t families = 0, end;

	for (size_t i = 0; i < n && r->families; i = end, families++) {
		struct report_line *l = &r->line[r->nlines++];

		for (end = i + 1; end < n; end++)
			if (strcmp(item[i].family, item[end].family) != 0)
				break;
		*l = line;
		l->family = item[i].family;
		l->members = item[i].members;
		fill_line(g, l, item + i, end - i);
	}
	if (families == 1)
		line = r->line[r->nlines - 1];
	else
		fill_line(g, &line, item, n);
	line.family = line.members = NULL;
	r->line[r->nlines++] = line;
	if (report_shown(r, &line))
		add_first(g, &line, item, n);
	fill_origin(&origin, item, n);
	r->origin[r->norigins++] = origin;
}

/* Finds the intervals of all lines at once. */
static void fill_intervals(struct gathering *g)
{
	struct report *r = g->report;

	stat_bootstraps(g->samples.at, (size_t)g->samples.n, REPORT_RESAMPLES,
	                REPORT_LEVEL, REPORT_SEED);
	for (size_t i = 0; i < r->nlines; i++)
		r->line[i].interval = g->samples.at[r->line[i].sample - 1].interval;
	for (size_t i = 0; i < r->nfirst; i++)
		r->first[i].interval = g->samples.at[r->first[i].sample - 1].interval;
}

static void add_groups(struct gathering *g)
{
	struct report *r = g->report;
	size_t end;

	r->line = arena_alloc(g->arena, 2 * g->nitems, sizeof(*r->line));
	r->first = arena_alloc(g->arena, 2 * g->nitems, sizeof(*r->first));
	r->origin = arena_alloc(g->arena, g->nitems, sizeof(*r->origin));
	r->planning = arena_alloc(g->arena, g->nitems, sizeof(*r->planning));
	for (size_t i = 0; i < g->nitems; i = end) {
		for (end = i + 1; end < g->nitems; end++)
			if (compare_group(g->item[i].row, g->item[end].row) != 0)
				break;
		if (!is_baseline(g, g->item[i].row))
			add_group(g, g->item + i, end - i);
		if (g->options->timing)
			add_planning(r, g->item + i, end - i);
	}
	fill_intervals(g);
}

/* Returns the reason with '#' for numbers: reasons that differ only in these are one. */
static const char *pattern_of(struct arena *a, const char *reason)
{
	char *pattern = arena_strdup(a, reason), *out = pattern;

	for (const char *in = reason; *in; in++) {
		if (!isdigit((unsigned char)*in))
			*out++ = *in;
		else if (out == pattern || out[-1] != '#')
			*out++ = '#';
	}
	*out = '\0';
	return pattern;
}

static int compare_kinds(const struct item *a, const struct item *b)
{
	int order = strcmp(a->row->planner, b->row->planner);

	if (order == 0)
		order = order_compare(row_machine(a->row), row_machine(b->row));
	if (order == 0)
		order = (int)a->row->status - (int)b->row->status;
	return order ? order : strcmp(a->pattern, b->pattern);
}

/* By kind, then by scenario. */
static int compare_left(const void *left, const void *right)
{
	const struct item *a = *(const struct item *const *)left;
	const struct item *b = *(const struct item *const *)right;
	int order = compare_kinds(a, b);

	return order ? order : strcmp(a->row->scenario, b->row->scenario);
}

static void add_left(const struct gathering *g)
{
	struct item **left = xmalloc(g->nitems, sizeof(struct item *));
	struct report *r = g->report;

	for (size_t i = 0; i < g->nitems; i++) {
		if (!g->item[i].reason)
			continue;
		g->item[i].pattern = pattern_of(g->arena, g->item[i].reason);
		left[r->left_out++] = &g->item[i];
	}
	qsort(left, r->left_out, sizeof(struct item *), compare_left);
	r->left = arena_alloc(g->arena, r->left_out, sizeof(*r->left));
	for (size_t i = 0; i < r->left_out; i++) {
		const struct row *row = left[i]->row;
		struct report_left *l;

		if (i == 0 || compare_kinds(left[i - 1], left[i]) != 0)
			r->left[r->nlefts++] = (struct report_left){
				row->planner,    row_machine(row), row->status,
				left[i]->reason, row->scenario,    0};
		l = &r->left[r->nlefts - 1];
		l->rows++;
		if (strcmp(l->reason, left[i]->reason) != 0)
			l->reason = left[i]->pattern;
	}
	free(left);
}

static void sort_items(struct gathering *g, const struct row *rows, size_t n)
{
	g->item = xmalloc(n, sizeof(*g->item));
	g->baseline = xmalloc(n, sizeof(struct item *));
	for (size_t i = 0; i < n; i++)
		if (report_wanted(g->options, &rows[i]))
			g->item[g->nitems++] = (struct item){.row = &rows[i]};
	report_name_families(g->report, g->arena, g->item, g->nitems,
	                     g->options->families);
	qsort(g->item, g->nitems, sizeof(*g->item), compare_items);
	for (size_t i = 0; i < g->nitems; i++)
		if (is_baseline(g, g->item[i].row))
			g->baseline[g->nbaselines++] = &g->item[i];
	qsort(g->baseline, g->nbaselines, sizeof(struct item *), compare_baselines);
}

enum status report_gather(struct report *out, struct arena *a, const struct row *rows,
                          size_t n, const struct report_options *o, struct error *e)
{
	const char *baseline = o->baseline ? o->baseline : "xla-2021";
	struct gathering g = {.report = out, .arena = a, .options = o};
	enum status status = report_check(rows, n, baseline, o, e);
	const struct row **sorted;

	if (status != OK)
		return status;
	*out = (struct report){.baseline = baseline,
	                       .pattern = o->family,
	                       .unfinished = o->unfinished,
	                       .details = o->details};
	for (size_t i = 0; i < n; i++)
		out->all += report_family(o, &rows[i]);
	out->test = o->test == REPORT_SIGN ? "the sign test"
	                                   : "Wilcoxon's signed-rank test";
	sort_items(&g, rows, n);
	out->other_clocks = out->all - g.nitems;
	sorted = xmalloc(g.nitems ? g.nitems : 1, sizeof(*sorted));
	for (size_t i = 0; i < g.nitems; i++)
		sorted[i] = g.item[i].row;
	report_rivals(out, a, sorted, g.nitems);
	report_same(out, a, sorted, g.nitems);
	report_machines(out, a, sorted, g.nitems);
	out->callers = report_callers(a, sorted, g.nitems);
	report_apart(out, a, sorted, g.nitems);
	report_choose(out, a, sorted, g.nitems, o);
	out->curves = report_curves(a, baseline, sorted, g.nitems);
	free(sorted);
	for (size_t i = 0; i < g.nitems; i++)
		if (!is_baseline(&g, g.item[i].row))
			judge_row(&g, &g.item[i]);
	for (size_t i = 0; i < g.nbaselines; i++)
		judge_baseline(&g, g.baseline[i]);
	add_groups(&g);
	add_left(&g);
	free(g.item);
	free(g.baseline);
	return OK;
}
