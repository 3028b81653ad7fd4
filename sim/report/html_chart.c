/* Distributions by planner, drawn as rows of small histograms over a common axis. */
#include "report/html.h"
#include "report/select.h"
#include "text/words.h"

#include "base/list.h"

#include <math.h>
#include <string.h>

enum {
	BINS = 44,
	LEFT = 120,
	RIGHT = 640,
	WIDTH = 800,
	TOP = 18,
	BAND = 34, /* of one planner */
	BAR = 26   /* its highest bar */
};

/* The figures of a planner. */
struct sample {
	const char *planner;
	LIST(double) x;
};

struct chart {
	const struct page *page;
	const char *platform, *clock;
	enum report_kind kind;
	LIST(struct sample) sample; /* by planner */
};

static double figure_of(enum html_figure f, const struct html_case *c,
                        const struct row *r)
{
	if (!report_timed(r))
		return NAN;
	switch (f) {
	case HTML_SPEEDUP:
		return c->baseline && c->baseline != r ? c->baseline->time_s / r->time_s
		                                       : NAN;
	case HTML_BOUND:
		return r->time_s / r->bound_s;
	case HTML_LIMIT:
		return r->peak_array_bytes > 0
		               ? (double)r->peak_array_bytes / html_limit_bytes(r)
		               : NAN;
	}
	return NAN;
}

/* Returns the planner's sample, which may be a new one. */
static struct sample *sample_of(struct chart *c, const char *planner)
{
	struct arena *a = c->page->arena;
	int64_t i = 0;

	while (i < c->sample.n && strcmp(c->sample.at[i].planner, planner) < 0)
		i++;
	if (i < c->sample.n && strcmp(c->sample.at[i].planner, planner) == 0)
		return &c->sample.at[i];
	list_add(&c->sample, a);
	memmove(&c->sample.at[i + 1], &c->sample.at[i],
	        (size_t)(c->sample.n - 1 - i) * sizeof(*c->sample.at));
	c->sample.at[i] = (struct sample){.planner = planner};
	return &c->sample.at[i];
}

/* Collects the figures of all rows of the chart's platform and clock. */
static void gather_samples(struct chart *c, enum html_figure f)
{
	const struct page *p = c->page;

	for (size_t i = 0; i < p->nitems; i++) {
		const struct html_case *item = &p->item[i];

		if (strcmp(row_machine(item->row[0]), c->platform) != 0 ||
		    strcmp(item->row[0]->clock, c->clock) != 0 ||
		    report_kind(item->row[0]) != c->kind)
			continue;
		for (size_t k = 0; k < item->n; k++) {
			double x = figure_of(f, item, item->row[k]);
			struct sample *s;

			if (!(x > 0) || isinf(x))
				continue;
			s = sample_of(c, item->row[k]->planner);
			*list_add(&s->x, p->arena) = x;
		}
	}
}

/* Makes the ends of an axis hold all figures of a chart. */
static void hold_chart(struct html_axis *x, const struct chart *c)
{
	for (int64_t i = 0; i < c->sample.n; i++) {
		const struct sample *s = &c->sample.at[i];

		for (int64_t k = 0; k < s->x.n; k++) {
			x->lo = fmin(x->lo, s->x.at[k]);
			x->hi = fmax(x->hi, s->x.at[k]);
		}
	}
}

/* Widens an axis so that 1 is in the middle of a bin: ties have one bin. */
static void set_bins(struct html_axis *x)
{
	double width = log(fmax(x->hi / x->lo, 1.5)) / (BINS - 4);
	double below = ceil(-log(x->lo) / width) + 0.5, above = BINS - below;

	x->lo = exp(-below * width);
	x->hi = exp(above * width);
}

static void draw_sample(const struct chart *c, const struct sample *s,
                        const struct html_axis *axis, double top)
{
	struct arena *a = c->page->arena;
	FILE *out = c->page->out;
	size_t bin[BINS] = {0}, most = 0;
	double step = (double)(RIGHT - LEFT) / BINS, base = top + BAR;
	double median = stat_quantile(s->x.at, (size_t)s->x.n, 0.5);

	for (int64_t i = 0; i < s->x.n; i++) {
		int b = (int)((html_at(axis, s->x.at[i]) - LEFT) / step);

		b = b < 0 ? 0 : b >= BINS ? BINS - 1 : b;
		most = ++bin[b] > most ? bin[b] : most;
	}
	fprintf(out, "<text x=\"%d\" y=\"%.1f\" class=\"name\">%s</text>\n", LEFT - 8,
	        base - 4, html_escape(a, s->planner));
	fprintf(out, "<path class=\"bars\" d=\"");
	for (int b = 0; b < BINS; b++) {
		double height = BAR * sqrt((double)bin[b] / (double)most);

		if (bin[b])
			fprintf(out, "M%.1f %.1fh%.1fv%.1fh%.1fz", LEFT + b * step,
			        base, step - 1, -height, 1 - step);
	}
	fprintf(out, "\"/>\n<path class=\"median\" d=\"M%.1f %.1fv-%d\"/>\n",
	        html_at(axis, median), base + 3, BAR + 3);
	fprintf(out, "<text x=\"%d\" y=\"%.1f\">%s · n %lld</text>\n", RIGHT + 10,
	        base - 4, words_ratio(a, median), (long long)s->x.n);
}

static void draw_axis(FILE *out, const struct html_axis *x, double bottom,
                      const char *label)
{
	double tick[40];
	int n = html_ticks(tick, 40, x);

	for (int i = 0; i < n; i++) {
		double at = html_at(x, tick[i]);

		fprintf(out,
		        "<path class=\"%s\" d=\"M%.1f %dV%.1f\"/>"
		        "<text x=\"%.1f\" y=\"%.1f\" class=\"tick\">%.6g</text>\n",
		        tick[i] == 1 ? "one" : "grid", at, TOP - 8, bottom, at,
		        bottom + 14, tick[i]);
	}
	fprintf(out, "<text x=\"%d\" y=\"%.1f\" class=\"tick\">%s</text>\n",
	        (LEFT + RIGHT) / 2, bottom + 31, label);
	fprintf(out, "<text x=\"%d\" y=\"%d\">median</text>\n", RIGHT + 10, TOP - 6);
}

static void draw_chart(const struct chart *c, const struct html_axis *axis,
                       const char *label)
{
	struct arena *a = c->page->arena;
	FILE *out = c->page->out;
	double bottom = TOP + BAND * (double)c->sample.n;
	bool real = c->kind == KIND_REAL;
	const char *title =
		arena_printf(a, "%s, clock %s%s%s", c->platform, c->clock,
	                     real ? "" : ", ", real ? "" : report_kind_name(c->kind));

	fprintf(out,
	        "<figure><figcaption>%s</figcaption>\n<div class=\"scroll\" "
	        "tabindex=\"0\"><svg viewBox=\"0 0 %d %.0f\" role=\"img\" "
	        "aria-label=\"%s: %s\"><title>%s: %s by planner</title>\n",
	        html_escape(a, title), WIDTH, bottom + 38, html_escape(a, title), label,
	        html_escape(a, title), label);
	draw_axis(out, axis, bottom, label);
	for (int64_t i = 0; i < c->sample.n; i++)
		draw_sample(c, &c->sample.at[i], axis, TOP + BAND * (double)i);
	fputs("</svg></div></figure>\n", out);
}

/* Gathers the charts that have something to show, at most HTML_PLACES; `more` are left. */
static size_t gather_charts(struct chart *chart, bool *more, const struct page *p,
                            enum html_figure f)
{
	size_t n = 0;

	*more = false;
	for (size_t i = 0; i < p->nplaces * REPORT_KINDS; i++) {
		const struct html_place *place = &p->place[i % p->nplaces];
		struct chart next = {.page = p,
		                     .platform = place->platform,
		                     .clock = place->clock,
		                     .kind = (enum report_kind)(i / p->nplaces)};

		gather_samples(&next, f);
		if (!next.sample.n)
			continue;
		*more = n == HTML_PLACES;
		if (*more)
			break;
		chart[n++] = next;
	}
	return n;
}

void html_distributions(const struct page *p, enum html_figure f)
{
	static const char *const labels[] = {
		[HTML_SPEEDUP] = "times as fast as the baseline",
		[HTML_BOUND] = "times the lower bound",
		[HTML_LIMIT] = "part of the memory limit",
	};
	struct chart chart[HTML_PLACES];
	struct html_axis axis = {1, 1, LEFT, RIGHT};
	bool more;
	size_t n = gather_charts(chart, &more, p, f);

	for (size_t i = 0; i < n; i++)
		hold_chart(&axis, &chart[i]);
	set_bins(&axis);
	for (size_t i = 0; i < n; i++)
		draw_chart(&chart[i], &axis, labels[f]);
	if (more)
		fprintf(p->out,
		        "<p class=\"note\">Charts of the first %d platforms and "
		        "clocks; the tables have all.</p>\n",
		        HTML_PLACES);
	if (n == 0)
		fputs("<p class=\"note\">No rows have this figure.</p>\n", p->out);
}
