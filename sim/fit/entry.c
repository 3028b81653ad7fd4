#include "fit/family.h"

#include "base/input.h"
#include "facts/families.h"

#include <math.h>
#include <string.h>

/*
 * What is known of the library's constants. Factors 1 and 2 of its own latencies: they are
 * measured in its source, on other machines. Launches: an all-reduce of 8 bytes takes 13
 * us with a process per GPU, 7 of them in NCCL's LL steps, 35 to 50 us with one for eight,
 * which is 4.5 us a launch, 6 us in a captured graph. Fills inside a node: a chunk of a few us
 * in each hop. Sends: a proxy thread posts one in a few us; they reach 0.9 of what rings do,
 * and never more than all. Steps and fills of networks: the middle (geometric mean) of what
 * fits of families said, 1.6 to 1.8 by what else is fitted and 19 to 21 us, with the spread
 * between families, since clusters differ by a factor. Latencies of a network's software:
 * libfabric's plugin tells NCCL 75 us of EFA on P4d and P5, 150 us of the first EFA, and since
 * 2025 35 us of P5en and P6 (github.com/aws/aws-ofi-nccl/pull/901), to choose algorithms by.
 * These, sends, and in part the launches, were read off timings that are fitted as well: they
 * keep constants sane where timings say little, and prove nothing.
 *
 * Ranges: a step of LL inside a node takes 0.6 us times `step`, and 0.3 to 3 us are
 * possible; fills are 1 us, half a chunk of NCCL on NVLink, to 60 us, a dozen hops with
 * chunks of 4 us; launches 3 us, an empty kernel, to 20 us.
 */
static const struct figure_prior priors[TUNINGS] = {
	[TUNING_STEP] = {1, 2, 0, 0.5, 5},
	[TUNING_NET_STEP] = {1.6, 1.7, 0, 0, 0},
	[TUNING_NET_LATENCY_S] = {50e-6, 3, 0, 1e-6, 150e-6},
	[TUNING_NET_POST_S] = {2e-6, 2, 0, 0, 0},
	[TUNING_FILL_S] = {2e-6, 2, 0, 1e-6, 60e-6},
	[TUNING_NET_FILL_S] = {19e-6, 1.6, 0, 1e-6, 60e-6},
	[TUNING_SEND_S] = {0.5e-6, 2, 0, 0, 0},
	[TUNING_NET_SEND_S] = {3e-6, 3, 0, 0, 0},
	[TUNING_SEND_WAIT_S] = {0.02e-6, 3, 0, 0, 0},
	[TUNING_NET_RENDEZVOUS_S] = {50e-6, 3, 0, 0, 0},
	[TUNING_NET_SEND_SHARE] = {0.9, 1.2, 0, 0, 1},
	[TUNING_CHANNEL_BPS] = {20e9, 1.2, 0, 0, 0},
	[TUNING_LAUNCH_EACH_S] = {4.5e-6, 1.5, 0, 0, 0},
	[TUNING_LAUNCH_GRAPH_S] = {4e-6, 2, 0, 0, 0},
};

static const struct figure_prior launch_prior = {8e-6, 2, 0, 3e-6, 20e-6};

/*
 * Bandwidths: what large collectives reach of the documented peak (facts on collective
 * costs, 6). A NIC may reach much less, behind a narrow bus or in software, but hardly more.
 */
static const struct {
	const char *figure, *peak;
	struct figure_prior of_peak;
} links[] = {
	{"nvlink.bandwidth", "nvlink.peak", {0.8, 1.1, 0, 0, 0}},
	{"xgmi.bandwidth", "xgmi.peak", {0.72, 1.1, 0, 0, 0}},
	{"ici.bandwidth", "ici.peak", {0.9, 1.1, 1.05, 0, 0}},
	{"nic.bandwidth", "nic.peak", {0.93, 1.2, 1.02, 0, 0}},
};

static const struct family *family_of(struct families *all, const char *name)
{
	for (int i = 0; i < all->n; i++)
		if (!strcmp(all->family[i].name, name))
			return &all->family[i];
	return NULL;
}

/* Returns a figure of the family if that gives it and it is above 0, else 0. */
static double figure_of(const struct family *f, const char *name)
{
	for (int g = 0; g < FIGURES; g++)
		if (figure_known(f, g) && !strcmp(figure_name(f, g), name) &&
		    f->source[g])
			return f->figure[g];
	return 0;
}

/* Reads the family as its file has it. */
static enum status family_read(struct family *out, struct arena *a, const char *family,
                               struct error *e)
{
	struct families all = {0};
	const struct family *f;

	if (families_known(&all, a, e) != OK)
		return e->code;
	f = family_of(&all, family);
	if (!f)
		return error_set(e, E_RANGE, (struct where){0}, "unknown family '%s'",
		                 family);
	*out = *f;
	return OK;
}

/* Returns the source of a figure, NULL where there is none. */
static const char *source_of(const char *family, const char *figure, struct arena *a)
{
	int key = tuning_find(figure, strlen(figure));
	struct error e = {0};
	struct family f;

	if (family_read(&f, a, family, &e) != OK)
		return NULL;
	for (int g = 0; g < FIGURES; g++)
		if (figure_known(&f, g) && !strcmp(figure_name(&f, g), figure))
			return f.source[g];
	return key >= 0 ? f.tuning_source[key] : NULL;
}

bool family_open(const char *family, const char *figure, struct arena *a)
{
	const char *source = source_of(family, figure, a);

	return !source || !strncmp(source, "fitted", 6);
}

bool family_borrows(const char *family, const char *figure, struct arena *a)
{
	const char *source = source_of(family, figure, a);

	return source && !strncmp(source, "as ", 3);
}

enum status family_figure(double *out, struct arena *a, const char *family,
                          const char *figure, struct error *e)
{
	int key = tuning_find(figure, strlen(figure));
	struct family f;

	if (family_read(&f, a, family, e) != OK)
		return e->code;
	*out = key >= 0 ? f.tuning.value[key] : figure_of(&f, figure);
	return OK;
}

enum status family_prior(struct figure_prior *out, struct arena *a, const char *family,
                         const char *figure, struct error *e)
{
	int key = tuning_find(figure, strlen(figure));
	struct family f;

	if (family_read(&f, a, family, e) != OK)
		return e->code;
	if (key >= 0)
		*out = priors[key];
	else if (!strcmp(figure, "launch_s"))
		*out = launch_prior;
	else
		*out = (struct figure_prior){figure_of(&f, figure), 1.2, 0, 0, 0};
	for (size_t i = 0; i < sizeof(links) / sizeof(*links); i++)
		if (!strcmp(figure, links[i].figure) &&
		    figure_of(&f, links[i].peak) > 0) {
			*out = links[i].of_peak;
			out->value *= figure_of(&f, links[i].peak);
		}
	if (out->value > 0)
		return OK;
	return error_set(e, E_RANGE, (struct where){0},
	                 "family %s has no figure '%s' above 0 to fit", family, figure);
}

enum status family_peak(double *out, struct arena *a, const char *family,
                        const char *figure, struct error *e)
{
	*out = 0;
	for (size_t i = 0; i < sizeof(links) / sizeof(*links); i++)
		if (!strcmp(figure, links[i].figure))
			return family_figure(out, a, family, links[i].peak, e);
	return OK;
}

/* Prints a value with its unit and four digits, which are more than the fit knows. */
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

void family_fit_settings(struct text *out, const struct family_fit *f)
{
	for (int i = 0; i < f->nfigures; i++) {
		text_printf(out, "%s%s=", i ? "," : "", f->figure[i].figure);
		value_print(out, f->figure[i].figure, f->figure[i].value);
	}
}

static void figure_line(struct text *out, const struct family_fit *f, int i,
                        const char *sets, const char *timings)
{
	const struct fitted *g = &f->figure[i];

	text_printf(out, "    %s: {value: ", g->figure);
	value_print(out, g->figure, g->value);
	text_printf(out, ", source: \"fitted to %zu timings of %s (%s)", f->n, timings,
	            sets);
	if (g->held)
		text_printf(out, ", held at the end of its range");
	else if (isfinite(g->se))
		text_printf(out, ", standard error %.2g %%", 100 * g->se);
	text_printf(out, "\"}\n");
}

/* Returns the index of the fitted figure that a line of the entry gives, else -1. */
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

/*
 * Returns the start of the family's entry in the file's text; NULL if it is not there.
 */
static const char *entry_find(const char *text, const char *family)
{
	size_t n = strlen(family);

	while (text && (strncmp(text, family, n) != 0 || text[n] != ':')) {
		text = strchr(text, '\n');
		text = text ? text + 1 : NULL;
	}
	return text;
}

/* Copies the entry's lines; fitted figures are replaced, or added at the end. */
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
	struct family family;
	const char *entry;

	if (family_read(&family, a, f->family, e) != OK ||
	    input_read(&file, family.path, e) != OK)
		return e->code;
	for (int i = 0; i < f->nsets; i++)
		text_printf(&sets, "%s%s", i ? ", " : "", f->set[i].set);
	entry = entry_find(file.s, f->family);
	if (entry)
		entry_copy(out, entry, f, sets.s ? sets.s : "", timings);
	else
		error_set(e, E_RANGE, (struct where){.file = family.path},
		          "has no entry of %s", f->family);
	text_free(&sets);
	text_free(&file);
	return e->code;
}
