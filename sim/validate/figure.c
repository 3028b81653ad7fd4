/* Figures of families that fits change in the machines of a validation. */
#include "validate/state.h"

#include "collective/profile.h"
#include "platform/platform.h"

#include <stdlib.h>
#include <string.h>

/* What the figure changes on one site, in proportion to its value: base / `value`. */
struct site_use {
	int site;
	struct tuning tuning; /* 0 where the figure does not change it */
	double launch_s;      /* 0 where the figure does not change it */
	int32_t nlinks;
	int32_t *link;
	double (*slope)[2]; /* bandwidth and latency of each link; 0 if not changed */
};

struct figure_use {
	int n;
	struct site_use *use;
};

static bool ends_with(const char *name, const char *end)
{
	size_t n = strlen(name), k = strlen(end);

	return n > k && !strcmp(name + n - k, end);
}

/* Returns the unit of a figure that is given with one. */
static const char *unit_of(const char *figure)
{
	return strstr(figure, ".bandwidth")                            ? "B/s"
	       : strstr(figure, ".latency") || ends_with(figure, "_s") ? "s"
	                                                               : "";
}

/* Returns whether the mapping says what the figure is on the site. */
static bool is_set(const struct site *s, const char *figure)
{
	size_t n = strlen(figure);

	for (int i = 0; i < s->entry->nsettings; i++)
		if (!strncmp(s->entry->setting[i], figure, n) &&
		    s->entry->setting[i][n] == '=')
			return true;
	return false;
}

/* Makes the machine of a site with the figure at `value`. */
static enum status figure_machine(struct machine **out, struct validation *v,
                                  const struct site *s, const char *figure,
                                  double value, struct error *e)
{
	const char *set[MAPPING_SETTINGS_MAX + 1];
	int n = s->entry->nsettings;

	memcpy(set, s->entry->setting, (size_t)n * sizeof(*set));
	set[n] = arena_printf(v->arena, "%s=%.17g%s", figure, value, unit_of(figure));
	return platform_machine(out, v->arena, s->platform, set, n + 1, e);
}

static void links_compare(struct site_use *use, struct arena *a, const struct machine *m,
                          const struct machine *changed, double value)
{
	use->link = arena_alloc(a, (size_t)m->nlinks, sizeof(*use->link));
	use->slope = arena_alloc(a, (size_t)m->nlinks, sizeof(*use->slope));
	for (int32_t l = 0; l < m->nlinks; l++) {
		const struct link *one = &m->link[l], *two = &changed->link[l];
		bool wider = one->bandwidth_Bps != two->bandwidth_Bps;
		bool later = one->latency_s != two->latency_s;

		if (!wider && !later)
			continue;
		use->link[use->nlinks] = l;
		use->slope[use->nlinks][0] = wider ? one->bandwidth_Bps / value : 0;
		use->slope[use->nlinks++][1] = later ? one->latency_s / value : 0;
	}
}

static enum status site_compare(struct site_use *use, struct validation *v,
                                const char *figure, double value, struct error *e)
{
	const struct site *s = &v->site[use->site];
	/* Any other value tells what depends on it; a share is no more than 1. */
	double other = ends_with(figure, "_share") ? value / 2 : 2 * value;
	struct machine *m, *changed;

	if (figure_machine(&m, v, s, figure, value, e) != OK ||
	    figure_machine(&changed, v, s, figure, other, e) != OK)
		return e->code;
	for (int k = 0; k < TUNINGS; k++)
		if (m->tuning.value[k] != changed->tuning.value[k])
			use->tuning.value[k] = m->tuning.value[k] / value;
	if (m->device[0].launch_s != changed->device[0].launch_s)
		use->launch_s = m->device[0].launch_s / value;
	links_compare(use, v->arena, m, changed, value);
	return OK;
}

/* Notes which links the figure changes. */
static void figure_touch(struct validation *v, const struct figure_use *f)
{
	for (int i = 0; i < f->n; i++) {
		const struct site_use *use = &f->use[i];
		struct site *s = &v->site[use->site];

		if (!s->touched)
			s->touched = arena_alloc(v->arena, (size_t)s->machine->nlinks,
			                         sizeof(*s->touched));
		for (int32_t l = 0; l < use->nlinks; l++)
			s->touched[use->link[l]] |= UINT32_C(1) << s->nfigures % 32;
		s->nfigures++;
	}
}

enum status validation_figure(struct figure_use **out, struct validation *v,
                              const char *family, const char *figure, double value,
                              struct error *e)
{
	struct figure_use *f = arena_alloc(v->arena, 1, sizeof(*f));
	struct error last = {0};
	bool set = false;

	f->use = arena_alloc(v->arena, (size_t)v->nsites, sizeof(*f->use));
	for (int i = 0; i < v->nsites; i++) {
		struct error why = {0};

		if (strcmp(v->site[i].family, family) != 0)
			continue;
		if (is_set(&v->site[i], figure)) {
			set = true;
			continue;
		}
		f->use[f->n] = (struct site_use){.site = i};
		/* A site of one node has no figures of the network, but others do. */
		if (site_compare(&f->use[f->n], v, figure, value, &why) == OK)
			f->n++;
		else
			last = why;
	}
	if (!f->n && (last.code || !set))
		return error_set(e, last.code ? last.code : E_INFEASIBLE, last.at, "%s",
		                 last.code ? last.text : "no timings of the family");
	*out = f;
	figure_touch(v, f);
	validation_set(v, f, value);
	return OK;
}

void validation_set(struct validation *v, const struct figure_use *f, double value)
{
	for (int i = 0; i < f->n; i++) {
		const struct site_use *use = &f->use[i];
		struct site *s = &v->site[use->site];

		for (int k = 0; k < TUNINGS; k++)
			if (use->tuning.value[k] != 0)
				s->machine->tuning.value[k] =
					use->tuning.value[k] * value;
		for (int32_t d = 0; d < s->machine->ndevices && use->launch_s != 0; d++)
			s->device[d].launch_s = use->launch_s * value;
		for (int32_t l = 0; l < use->nlinks; l++) {
			struct link *link = &s->link[use->link[l]];

			if (use->slope[l][0] != 0)
				link->bandwidth_Bps = use->slope[l][0] * value;
			if (use->slope[l][1] != 0)
				link->latency_s = use->slope[l][1] * value;
		}
	}
}

/* --- rows laid once --------------------------------------------------------------- */

/* Numbers the kinds of the site's links; those of one kind are alike and remain so. */
static int32_t link_kinds(int32_t *kind, const struct site *s)
{
	int32_t n = 0, *first;

	first = xmalloc((size_t)s->machine->nlinks + 1, sizeof(*first));
	for (int32_t l = 0; l < s->machine->nlinks; l++) {
		const struct link *link = s->machine->link;
		int32_t k = 0;

		while (k < n && (link[first[k]].bandwidth_Bps != link[l].bandwidth_Bps ||
		                 (s->touched && s->touched[first[k]] != s->touched[l])))
			k++;
		if (k == n)
			first[n++] = l;
		kind[l] = k;
	}
	free(first);
	return n;
}

/* Returns whether two rows run the same collective on the same group. */
static bool same_shape(const struct validation *v, int64_t a, int64_t b)
{
	return v->site_of[a] == v->site_of[b] && v->row[a].entry == v->row[b].entry &&
	       v->perf[a].op == v->perf[b].op &&
	       v->perf[a].groups.size == v->perf[b].groups.size &&
	       v->perf[a].groups.ngroups == v->perf[b].groups.ngroups;
}

static void row_prepare(struct validation *v, int64_t i)
{
	const struct site *s = &v->site[v->site_of[i]];
	const struct perf *p = &v->perf[i];
	const struct profile *profile = profile_of(s->machine, &p->groups);
	int32_t *kind, nkinds;

	for (int64_t k = 0; k < i; k++)
		if (v->prepared[k] && same_shape(v, i, k)) {
			v->prepared[i] = v->prepared[k];
			return;
		}
	if (!profile->library || p->op == OP_PERMUTE || p->groups.ngroups != 1 ||
	    p->groups.size < 2)
		return;
	kind = arena_alloc(v->arena, (size_t)s->machine->nlinks, sizeof(*kind));
	nkinds = link_kinds(kind, s);
	v->prepared[i] = nccl_prepare(v->arena, profile->library, s->machine, p->op,
	                              p->groups.ids, p->groups.size, kind, nkinds);
}

void validation_prepare(struct validation *v, const char *family)
{
	for (int64_t i = 0; i < v->n; i++)
		if (v->row[i].family && !strcmp(v->row[i].family, family) &&
		    v->row[i].row->bytes > 0)
			row_prepare(v, i);
}
