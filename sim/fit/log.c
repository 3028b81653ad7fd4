#include "fit/log.h"

#include "platform/platform.h"

#include <math.h>
#include <string.h>

/* A constant that is known to half of itself only is better left as it is. */
static const double SE_MOST = 0.5;

struct choosing {
	struct log_fit *out;
	struct arena *a;
	const char *family;
	int n;
	const char *figure[FIT_FIGURES_MAX + 1]; /* ended by NULL */
};

static void skip(struct log_fit *out, const char *figure, const char *why)
{
	if (out->nskipped < FIT_CHOICES_MAX)
		out->skipped[out->nskipped++] = (struct fit_choice){figure, why};
}

/* Takes a constant from those that will be fitted. */
static void drop(struct choosing *c, const char *figure, const char *why)
{
	int kept = 0;

	skip(c->out, figure, why);
	for (int i = 0; i < c->n; i++)
		if (strcmp(c->figure[i], figure) != 0)
			c->figure[kept++] = c->figure[i];
	c->figure[c->n = kept] = NULL;
}

/* --- which to try ----------------------------------------------------------------- */

/* Counts the sizes of each collective, and stores the least bytes of all. */
static int sizes_count(int64_t *least, const struct validation *v)
{
	int64_t n;
	const struct prediction *row = validation_rows(v, &n);
	int sizes = 0;

	*least = INT64_MAX;
	for (int64_t i = 0; i < n; i++) {
		int64_t k = 0;

		if (row[i].left_out)
			continue;
		while (k < i &&
		       (row[k].left_out || row[k].row->bytes != row[i].row->bytes ||
		        strcmp(row[k].row->collective, row[i].row->collective) != 0))
			k++;
		sizes += k == i && sizes < FIT_FIGURES_MAX;
		if (row[i].row->bytes < *least)
			*least = row[i].row->bytes;
	}
	return sizes;
}

/* Returns how soon a constant is taken where few sizes tell few: 0 first. */
static int order_of(const char *figure, bool large)
{
	if (strstr(figure, ".bandwidth"))
		return large ? 0 : 1;
	if (!strncmp(figure, "launch", strlen("launch")))
		return large ? 1 : 0;
	return !strcmp(figure, "step") || !strcmp(figure, "net_step") ? 2 : 3;
}

/* Says why the family or the platform's name does not leave a constant to be fitted. */
static const char *fixed(const struct choosing *c, const struct platform_name *name,
                         const char *figure)
{
	struct figure_prior prior;
	struct error e = {0};
	size_t n = strlen(figure);

	for (int i = 0; i < name->nset; i++)
		if (!strncmp(name->set[i], figure, n) && name->set[i][n] == '=')
			return "the platform's name sets it";
	if (family_prior(&prior, c->a, c->family, figure, &e) != OK)
		return "the family has no such figure";
	return NULL;
}

static void choose(struct choosing *c, const struct validation *v,
                   const struct platform_name *name)
{
	struct fit_choice choice[FIT_CHOICES_MAX];
	int n = fit_choices(choice, v, c->family, true, c->a);
	int64_t least;
	int sizes = sizes_count(&least, v);
	const char *few = arena_printf(
		c->a, "timings of %d size%s tell no more than %d constant%s", sizes,
		sizes == 1 ? "" : "s", sizes, sizes == 1 ? "" : "s");

	for (int order = 0; order < 4; order++)
		for (int i = 0; i < n; i++) {
			const char *why = choice[i].why;

			if (order_of(choice[i].figure, least >= 1 << 20) != order)
				continue;
			if (!why)
				why = fixed(c, name, choice[i].figure);
			if (!why && c->n >= sizes)
				why = few;
			if (why)
				skip(c->out, choice[i].figure, why);
			else
				c->figure[c->n++] = choice[i].figure;
		}
}

/* --- what to drop ----------------------------------------------------------------- */

/*
 * Drops the constants that no timing depends on, which the fit left out, and bandwidths
 * that turned out not to matter beside those that do. Returns whether there were such.
 */
static bool drop_idle(struct choosing *c)
{
	const struct family_fit *f = &c->out->fit;
	bool slack = false;

	for (int i = c->n - 1; i >= 0; i--) {
		bool fitted = false, idle = false;

		for (int k = 0; k < f->nfigures; k++)
			if (!strcmp(f->figure[k].figure, c->figure[i])) {
				fitted = true;
				idle = f->figure[k].idle;
			}
		slack |= idle;
		if (idle)
			drop(c, c->figure[i],
			     "no timing depends on it: with the others as fitted, a "
			     "tenth more or less changes none by 1 %");
		else if (!fitted)
			drop(c, c->figure[i],
			     strstr(c->figure[i], ".bandwidth")
			             ? "no timing depends on it: a tenth more changes "
			               "none by 1 %, and half of it none by 10 %"
			             : "no timing depends on it: a tenth more changes "
			               "none by 1 %");
	}
	return slack;
}

/* Drops a bandwidth above its peak. */
static enum status drop_above(bool *dropped, struct choosing *c, struct error *e)
{
	struct family_fit *f = &c->out->fit;

	for (int i = 0; i < f->nfigures; i++) {
		struct fitted *g = &f->figure[i];

		if (family_peak(&g->peak, c->a, c->family, g->figure, e) != OK)
			return e->code;
		*dropped = g->peak > 0 && g->value > g->peak;
		if (!*dropped)
			continue;
		drop(c, g->figure,
		     arena_printf(c->a,
		                  "the timings ask for %.4g GB/s, more than the "
		                  "documented peak of %.4g GB/s",
		                  g->value * 1e-9, g->peak * 1e-9));
		return OK;
	}
	return OK;
}

/* Drops the constant that is known least, if that is too little. */
static bool drop_unsure(struct choosing *c)
{
	const struct family_fit *f = &c->out->fit;
	const struct fitted *worst = NULL;

	for (int i = 0; i < f->nfigures; i++)
		if (!worst || !(f->figure[i].se <= worst->se))
			worst = &f->figure[i];
	if (!worst || worst->se <= SE_MOST)
		return false;
	drop(c, worst->figure,
	     isnan(worst->se)
	             ? "the timings do not tell it"
	             : arena_printf(c->a,
	                            "the timings do not tell it from the others: its "
	                            "standard error is %.0f %%",
	                            100 * worst->se));
	return true;
}

/* --- fits ------------------------------------------------------------------------- */

/* Fits once, with machines as the family has them. */
static enum status fit_once(struct choosing *c, const struct machine_log *l,
                            const struct platform_name *name, bool first,
                            struct error *e)
{
	struct validation *v;

	if (machine_log_open(&v, c->a, l, e) == OK) {
		if (first && !c->n)
			choose(c, v, name);
		c->out->what = validation_what(v);
		c->out->note = validation_note(v);
		if (first) {
			validation_run(v);
			c->out->unit_note = validation_unit_note(v, c->a);
		}
		family_fit(&c->out->fit, v, c->a, c->family, c->figure, true, e);
	}
	validation_close(v);
	return e->code;
}

/* Returns the platform with the fitted constants behind its own settings. */
static const char *fitted_name(const struct platform_name *name,
                               const struct family_fit *f, struct arena *a)
{
	struct text out = {0};

	text_printf(&out, "%s{", name->base);
	for (int i = 0; i < name->nset; i++)
		text_printf(&out, "%s,", name->set[i]);
	family_fit_settings(&out, f);
	text_printf(&out, "}");
	return text_take(&out, a);
}

/* Returns whether each bandwidth of `f` has about the same value in `g`. */
static bool has_bandwidths(const struct family_fit *g, const struct family_fit *f)
{
	for (int i = 0; i < f->nfigures; i++) {
		bool same = !strstr(f->figure[i].figure, ".bandwidth");

		for (int k = 0; k < g->nfigures; k++)
			same |= !strcmp(f->figure[i].figure, g->figure[k].figure) &&
			        !bandwidths_apart(f->figure[i].value,
			                          g->figure[k].value);
		if (!same)
			return false;
	}
	return true;
}

static enum status constants_take(struct choosing *c, const char *const *constants,
                                  struct error *e)
{
	for (; constants && constants[c->n]; c->n++) {
		if (c->n == FIT_FIGURES_MAX)
			return error_set(e, E_RANGE,
			                 where_option("--constants", constants[c->n]),
			                 "more than %d constants to fit",
			                 (int)FIT_FIGURES_MAX);
		c->figure[c->n] = constants[c->n];
	}
	return OK;
}

enum status log_fit(struct log_fit *out, struct arena *a, const struct machine_log *l,
                    const char *const *constants, struct error *e)
{
	struct where at = where_option("--platform", l->platform);
	struct choosing c = {.out = out, .a = a};
	struct platform_name name;
	bool dropped = true;

	*out = (struct log_fit){.platform = l->platform};
	if (platform_split(&name, a, l->platform, at, e) != OK ||
	    constants_take(&c, constants, e) != OK)
		return e->code;
	if (!strchr(name.base, ':') || strchr(name.base, '/'))
		return error_set(e, E_TYPE, at,
		                 "a file has no constants to fit, expected "
		                 "family:shape");
	c.family = arena_strndup(a, name.base, strcspn(name.base, ":"));
	for (bool first = true; dropped; first = false) {
		dropped = false;
		if (fit_once(&c, l, &name, first, e) != OK)
			return e->code;
		if (out->fit.rival)
			out->rival = out->fit.rival;
		if (drop_idle(&c)) {
			dropped = true;
			continue;
		}
		if (drop_above(&dropped, &c, e) != OK)
			return e->code;
		if (!dropped && !constants)
			dropped = drop_unsure(&c);
	}
	/* What was dropped since may have made them the same. */
	if (out->rival && has_bandwidths(out->rival, &out->fit) &&
	    has_bandwidths(&out->fit, out->rival))
		out->rival = NULL;
	out->fitted = fitted_name(&name, &out->fit, a);
	return OK;
}
