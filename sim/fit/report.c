#include "fit/report.h"

#include "stat/summary.h"
#include "text/words.h"

#include <math.h>
#include <string.h>

static const char *value_text(struct arena *a, const char *figure, double x)
{
	size_t n = strlen(figure);

	if (n > 2 && !strcmp(figure + n - 2, "_s"))
		return words_time(a, x);
	if (strchr(figure, '.') || (n > 4 && !strcmp(figure + n - 4, "_Bps")))
		return arena_printf(a, "%.4g GB/s", x * 1e-9);
	return arena_printf(a, "%.4g", x);
}

/* A constant with a larger relative standard error than this is said to be uncertain. */
static const double SE_UNSURE = 0.25;

static void unsure_words(const struct pen *pen, const struct family_fit *fit, int n)
{
	struct text list = {0};

	for (int i = 0; i < n; i++)
		for (int k = 0; k < fit[i].nfigures; k++) {
			const struct fitted *g = &fit[i].figure[k];

			if (g->se <= SE_UNSURE)
				continue;
			text_printf(&list, "%s%s%s%s (", list.length ? ", " : "",
			            n > 1 ? fit[i].family : "", n > 1 ? " " : "",
			            g->figure);
			if (isnan(g->se))
				text_printf(&list, "not known)");
			else
				text_printf(&list, "%.2g %%)", 100 * g->se);
		}
	if (list.length)
		pen->paragraph(pen,
		               arena_printf(pen->arena,
		                            "Uncertain, with a standard error above "
		                            "%.0f %%: %s. The timings tell them "
		                            "little, and what is far from those "
		                            "timings should not rest on them.",
		                            100 * SE_UNSURE, list.s));
	text_free(&list);
}

static void constants_table(const struct pen *pen, const struct family_fit *fit, int n)
{
	static const char *const head[] = {"family", "constant", "start", "fitted",
	                                   "standard error"};
	struct arena *a = pen->arena;
	struct pen_table t = words_table(a, "Fitted constants of families", "llrrr",
	                                 head, (size_t)n * FIT_FIGURES_MAX);

	for (int i = 0; i < n; i++)
		for (int k = 0; k < fit[i].nfigures; k++) {
			const struct fitted *g = &fit[i].figure[k];
			const char **cell = words_row(&t);

			cell[0] = fit[i].family;
			cell[1] = g->figure;
			cell[2] = value_text(a, g->figure, g->start);
			cell[3] = value_text(a, g->figure, g->value);
			if (g->peak > 0)
				cell[3] = arena_printf(a, "%s, %.3g of the peak",
				                       cell[3], g->value / g->peak);
			cell[4] = isnan(g->se) ? "-"
			                       : arena_printf(a, "%.2g %%", 100 * g->se);
		}
	pen->heading(pen, 2, "Constants");
	unsure_words(pen, fit, n);
	pen->table(pen, &t);
}

static void errors_table(const struct pen *pen, const struct family_fit *fit, int n)
{
	static const char *const head[] = {"family", "timings", "constants", "before",
	                                   "after"};
	struct arena *a = pen->arena;
	struct pen_table t =
		words_table(a, "Geometric-mean error factors before and after", "lrrrr",
	                    head, (size_t)n);

	for (int i = 0; i < n; i++) {
		const char **cell = words_row(&t);

		cell[0] = fit[i].family;
		cell[1] = words_count(a, fit[i].n);
		cell[2] = words_count(a, (size_t)fit[i].nfigures);
		cell[3] = arena_printf(a, "%.3f", fit[i].before);
		cell[4] = arena_printf(a, "%.3f%s", fit[i].after,
		                       fit[i].converged ? "" : " (did not converge)");
	}
	pen->heading(pen, 2, "Errors");
	pen->table(pen, &t);
}

static void all_row(struct pen_table *t, struct arena *a, const char *name, size_t rows,
                    double sum)
{
	const char **cell = words_row(t);

	cell[0] = name;
	cell[1] = "";
	cell[2] = words_count(a, rows);
	cell[3] = arena_printf(a, "%.3f", exp(sum / (double)rows));
}

/*
 * Prints every set as predicted from the others of its family, the only one of a family from
 * priors; the mean counts rows, and not those.
 */
static void left_out_table(const struct pen *pen, const struct family_fit *fit, int n)
{
	static const char *const head[] = {"family", "set left out", "timings", "error"};
	struct arena *a = pen->arena;
	size_t sets = 0, rows = 0, all_rows = 0;
	double sum = 0, all_sum = 0;
	struct pen_table t;

	for (int i = 0; i < n; i++)
		sets += (size_t)fit[i].nsets;
	t = words_table(a, "Each set predicted from the other sets of its family",
	                "llrr", head, sets + 2);
	for (int i = 0; i < n; i++)
		for (int k = 0; k < fit[i].nsets; k++) {
			const struct left_out_set *s = &fit[i].set[k];
			bool only = fit[i].nsets == 1;
			const char **cell = words_row(&t);

			cell[0] = fit[i].family;
			cell[1] = s->set;
			cell[2] = words_count(a, only ? fit[i].n : s->n);
			cell[3] = arena_printf(a, "%.3f%s", s->error,
			                       only ? " by priors" : "");
			if (only)
				continue;
			rows += s->n;
			sum += (double)s->n * log(s->error);
			all_rows += s->nall;
			all_sum += (double)s->nall * log(s->all_error);
		}
	if (rows)
		all_row(&t, a, "all", rows, sum);
	if (all_rows > rows)
		all_row(&t, a, "all, outliers too", all_rows, all_sum);
	pen->heading(pen, 2, "Leave one set out");
	pen->table(pen, &t);
}

static void family_row(struct pen_table *t, struct arena *a,
                       const struct left_out_family *f)
{
	const char **cell = words_row(t);

	cell[0] = f->family;
	for (int k = 0; k < LEFT_OUT_SIZES; k++) {
		cell[1 + 2 * k] = words_count(a, f->n[k]);
		cell[2 + 2 * k] = f->n[k] ? arena_printf(a, "%.3f", f->error[k]) : "";
	}
}

/* Prints families that have fitted constants; others would be foretold by their own figures. */
static void families_table(const struct pen *pen, const struct family_fit *fit,
                           const struct left_out_family *family, int n)
{
	static const char *const head[] = {
		"family left out", "timings", "from 1 MiB", "timings",
		"from 64 KiB",     "timings", "below"};
	struct arena *a = pen->arena;
	struct left_out_family all = {.family = "all"};
	double sum[LEFT_OUT_SIZES] = {0}; /* of logarithms of error factors */
	struct pen_table t =
		words_table(a, "Each family by the middle of the others' constants",
	                    "lrrrrrr", head, (size_t)n + 1);

	for (int i = 0; i < n; i++) {
		if (!fit[i].nfigures)
			continue;
		family_row(&t, a, &family[i]);
		for (int k = 0; k < LEFT_OUT_SIZES; k++) {
			all.n[k] += family[i].n[k];
			if (family[i].n[k])
				sum[k] += (double)family[i].n[k] *
				          log(family[i].error[k]);
		}
	}
	for (int k = 0; k < LEFT_OUT_SIZES; k++)
		all.error[k] = exp(sum[k] / (double)all.n[k]);
	family_row(&t, a, &all);
	pen->heading(pen, 2, "Leave one family out");
	pen->paragraph(
		pen,
		"Each constant that was fitted for the family has the geometric mean "
		"of those that were fitted for other families. A bandwidth has the "
		"usual share of its peak. Families without a fitted constant are not "
		"listed, and what is documented of a family stays.");
	pen->table(pen, &t);
}

void fit_words(const struct pen *pen, const struct family_fit *fit,
               const struct left_out_family *family, int n)
{
	pen->heading(pen, 1, "Constants fitted to published timings");
	errors_table(pen, fit, n);
	constants_table(pen, fit, n);
	left_out_table(pen, fit, n);
	if (n > 1)
		families_table(pen, fit, family, n);
}

/* --- of a log --------------------------------------------------------------------- */

static void skipped_table(const struct pen *pen, const struct log_fit *fit)
{
	static const char *const head[] = {"constant", "why not"};
	struct pen_table t = words_table(pen->arena, "Constants that were not fitted",
	                                 "lp", head, FIT_CHOICES_MAX);

	for (int i = 0; i < fit->nskipped; i++) {
		const char **cell = words_row(&t);

		cell[0] = fit->skipped[i].figure;
		cell[1] = fit->skipped[i].why;
	}
	pen->heading(pen, 2, "Not fitted");
	pen->paragraph(pen, "These keep the values of their family.");
	pen->table(pen, &t);
}

/* Says what the fit did to large sizes, whose times a planner weighs most. */
static void large_words(const struct pen *pen, const struct family_fit *f)
{
	/* What the priors pull is no harm. */
	bool worse = f->large_after > 1.01 * f->large_before;

	if (!f->nlarge)
		return;
	pen->paragraph(pen,
	               arena_printf(pen->arena,
	                            "Of the %zu timings from 1 MiB on, the error is "
	                            "%.3f before and %.3f after%s",
	                            f->nlarge, f->large_before, f->large_after,
	                            worse ? ": the fit made these worse." : "."));
}

/* Names the other constants, which the reader may know to be wrong or right. */
static void rival_words(const struct pen *pen, const struct log_fit *fit)
{
	const struct family_fit *r = fit->rival;
	struct text settings = {0};

	family_fit_settings(&settings, r);
	pen->heading(pen, 2, "Another explanation");
	pen->paragraph(
		pen,
		arena_printf(
			pen->arena,
			"The log is explained about as well, with an error of %.3f "
			"against %.3f, by %s. It does not tell which link is slow; "
			"a log of another collective may.",
			r->after, fit->fit.after, settings.s));
	text_free(&settings);
}

void fit_log_words(const struct pen *pen, const struct log_fit *fit)
{
	const struct family_fit *f = &fit->fit;

	pen->heading(pen, 1,
	             arena_printf(pen->arena, "Constants of %s fitted to %zu %s",
	                          fit->platform, f->n, fit->what));
	errors_table(pen, f, 1);
	large_words(pen, f);
	if (f->nfigures)
		constants_table(pen, f, 1);
	if (fit->rival)
		rival_words(pen, fit);
	if (fit->nskipped)
		skipped_table(pen, fit);
	if (f->nsets > 1)
		left_out_table(pen, f, 1);
	if (!f->nfigures)
		return;
	pen->heading(pen, 2, "To use them");
	/* One word, which no line break can part. */
	pen->paragraph(pen, arena_printf(pen->arena, "--platform='%s'", fit->fitted));
}
