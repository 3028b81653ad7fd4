#include "fit_family.h"

#include "base/input.h"
#include "families.h"

#include <math.h>
#include <string.h>

/* Where fits start for constants that the family does not give. */
static const double starts[TUNINGS] = {
	[TUNING_STEP] = 1,
	[TUNING_NET_STEP] = 1,
	[TUNING_FILL_S] = 1e-6,
	[TUNING_NET_FILL_S] = 5e-6,
	[TUNING_SEND_S] = 1e-6,
	[TUNING_NET_SEND_S] = 5e-6,
	[TUNING_NET_SEND_SHARE] = 0.9,
	[TUNING_CHANNEL_BPS] = 20e9,
	[TUNING_LAUNCH_EACH_S] = 3e-6,
	[TUNING_LAUNCH_GRAPH_S] = 3e-6,
};

static const struct family *family_of(struct families *all, const char *name)
{
	for (int i = 0; i < all->n; i++)
		if (!strcmp(all->family[i].name, name))
			return &all->family[i];
	return NULL;
}

enum status family_figure(double *out, struct arena *a, const char *family,
                          const char *figure, struct error *e)
{
	struct families all = {0};
	const struct family *f;
	const char *path;
	int key = tuning_find(figure, strlen(figure));

	if (platform_data_path(&path, a, "families.yaml", e) != OK ||
	    families_read(&all, a, path, e) != OK)
		return e->code;
	f = family_of(&all, family);
	if (!f)
		return error_set(e, E_RANGE, (struct where){0}, "unknown family '%s'",
		                 family);
	if (key >= 0) {
		*out = f->tuning_source[key] && f->tuning.value[key] > 0
		               ? f->tuning.value[key]
		               : starts[key];
		return *out > 0 ? OK
		                : error_set(e, E_RANGE, (struct where){0},
		                            "'%s' is no constant to fit", figure);
	}
	for (int g = 0; g < FIGURES; g++)
		if (figure_known(f, g) && !strcmp(figure_name(f, g), figure) &&
		    f->source[g] && f->figure[g] > 0) {
			*out = f->figure[g];
			return OK;
		}
	return error_set(e, E_RANGE, (struct where){0},
	                 "family %s has no figure '%s' above 0 to fit", family, figure);
}

/* A value with its unit, four digits: more than the fit knows. */
static void value_print(struct text *out, const char *figure, double x)
{
	size_t n = strlen(figure);

	if (n > 2 && !strcmp(figure + n - 2, "_s"))
		text_printf(out, "%.4gus", x * 1e6);
	else if (n > 8 && !strcmp(figure + n - 8, ".latency"))
		text_printf(out, "%.4gus", x * 1e6);
	else if ((n > 4 && !strcmp(figure + n - 4, "_Bps")) || strchr(figure, '.'))
		text_printf(out, "%.4gGB/s", x * 1e-9);
	else
		text_printf(out, "%.4g", x);
}

static void figure_line(struct text *out, const struct family_fit *f, int i,
                        const char *sets, const char *timings)
{
	const struct fitted *g = &f->figure[i];

	text_printf(out, "    %s: {value: ", g->figure);
	value_print(out, g->figure, g->value);
	text_printf(out, ", source: \"fitted to %zu timings of %s (%s)", f->n, timings,
	            sets);
	if (isfinite(g->se))
		text_printf(out, ", standard error %.2g %%", 100 * g->se);
	text_printf(out, "\"}\n");
}

/* The figure that a line of the entry gives; -1 if none that was fitted. */
static int line_figure(const struct family_fit *f, const char *line)
{
	line += strspn(line, " ");
	for (int i = 0; i < f->nfigures; i++) {
		size_t n = strlen(f->figure[i].figure);

		if (!strncmp(line, f->figure[i].figure, n) && line[n] == ':')
			return i;
	}
	return -1;
}

/* The start of the family's entry in the file's text; NULL if it is not there. */
static const char *entry_find(const char *text, const char *family)
{
	size_t n = strlen(family);

	while (text && (strncmp(text, family, n) != 0 || text[n] != ':')) {
		text = strchr(text, '\n');
		text = text ? text + 1 : NULL;
	}
	return text;
}

/* The entry's lines up to the next one, fitted figures replaced or added at the end. */
static void entry_copy(struct text *out, const char *entry, const struct family_fit *f,
                       const char *sets, const char *timings)
{
	bool done[FIT_FIGURES_MAX] = {false};
	bool first = true;

	while (*entry && (first || *entry == ' ')) {
		size_t n = strcspn(entry, "\n");
		int figure = line_figure(f, entry);

		if (figure >= 0)
			figure_line(out, f, figure, sets, timings);
		else
			text_printf(out, "%.*s\n", (int)n, entry);
		if (figure >= 0)
			done[figure] = true;
		first = false;
		entry += n + (entry[n] == '\n');
	}
	for (int i = 0; i < f->nfigures; i++)
		if (!done[i])
			figure_line(out, f, i, sets, timings);
}

enum status family_fit_entry(struct text *out, const struct family_fit *f,
                             const char *timings, struct arena *a, struct error *e)
{
	struct text file = {0}, sets = {0};
	const char *path, *entry, *slash = strrchr(timings, '/');

	if (platform_data_path(&path, a, "families.yaml", e) != OK ||
	    input_read(&file, path, e) != OK)
		return e->code;
	for (int i = 0; i < f->nsets; i++)
		text_printf(&sets, "%s%s", i ? ", " : "", f->set[i].set);
	entry = entry_find(file.s, f->family);
	if (entry)
		entry_copy(out, entry, f, sets.s ? sets.s : "",
		           slash ? slash + 1 : timings);
	else
		error_set(e, E_RANGE, (struct where){.file = path},
		          "has no entry of %s", f->family);
	text_free(&sets);
	text_free(&file);
	return e->code;
}
