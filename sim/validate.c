#include "validate.h"

#include "library.h"
#include "perf_groups.h"
#include "plan/devices.h"
#include "platform.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A machine with what an entry sets on it; rows of several entries may share one. */
struct site {
	const char *platform, *family;
	const struct mapping_entry *entry;
	struct machine *machine;
	struct device *device; /* the machine's, ours to change */
	struct link *link;
	struct model *model;
};

struct validation {
	struct arena *arena;
	int64_t n;
	struct prediction *row;
	int *site_of;      /* [n], -1 without one */
	struct perf *perf; /* [n] */
	int nsites;
	struct site *site;
};

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

static bool same_site(const struct site *s, const char *platform,
                      const struct mapping_entry *m)
{
	bool same = !strcmp(s->platform, platform) &&
	            same_text(s->entry->launch, m->launch) &&
	            same_text(s->entry->algorithm, m->algorithm) &&
	            same_text(s->entry->protocol, m->protocol) &&
	            s->entry->nsettings == m->nsettings;

	for (int i = 0; same && i < m->nsettings; i++)
		same = !strcmp(s->entry->setting[i], m->setting[i]);
	return same;
}

/* The machine of the site, with devices and links that fits may change. */
static enum status site_open(struct site *s, struct arena *a, struct error *e)
{
	const struct mapping_entry *m = s->entry;
	const struct library_text text = {m->algorithm, m->protocol, m->launch};

	if (platform_machine(&s->machine, a, s->platform, m->setting, m->nsettings,
	                     e) != OK ||
	    library_set(s->machine, &text, &m->at, e) != OK)
		return e->code;
	s->device = arena_dup(a, s->machine->device, (size_t)s->machine->ndevices,
	                      sizeof(*s->device));
	s->link = arena_dup(a, s->machine->link, (size_t)s->machine->nlinks,
	                    sizeof(*s->link));
	s->machine->device = s->device;
	s->machine->link = s->link;
	s->model = model_new(s->machine);
	return OK;
}

static enum status site_find(int *out, struct validation *v, const char *platform,
                             const struct mapping_entry *m, struct error *e)
{
	struct site *s = &v->site[v->nsites];
	size_t family = strcspn(platform, ":");

	for (*out = 0; *out < v->nsites; ++*out)
		if (same_site(&v->site[*out], platform, m))
			return OK;
	*s = (struct site){.platform = platform, .entry = m};
	s->family = arena_strndup(v->arena, platform, family);
	if (site_open(s, v->arena, e) != OK)
		return error_set(e, e->code, m->at, "%s", e->text);
	v->nsites++;
	return OK;
}

/*
 * The row's devices: the first ones of each unit, `stride` apart; with an axis those of
 * all groups.
 */
static enum status row_groups(struct perf *out, struct arena *a, const struct site *s,
                              const struct mapping_entry *m, const struct measured *row,
                              struct error *e)
{
	int32_t n = row->devices, units = m->units     ? m->units
	                                  : row->nodes ? row->nodes
	                                               : 1;
	int32_t all = s->machine->ndevices, each, *ids, *order = NULL, ordered = n;

	if (m->axis) {
		struct mesh mesh;

		if (mesh_parse(&mesh, a, m->mesh, m->at, e) != OK)
			return e->code;
		n = ordered = mesh.ndevices;
	}
	if (m->order && devices_parse(&order, &ordered, a, m->order, m->at, n, e) != OK)
		return e->code;
	each = n / units;
	if (ordered != n || n % units || all % units ||
	    (int64_t)(each - 1) * m->stride >= all / units)
		return error_set(
			e, E_RANGE, m->at,
			"%d devices of set %s do not spread over %d units of %s",
			(int)n, row->set, (int)units, s->platform);
	ids = arena_alloc(a, (size_t)n, sizeof(*ids));
	for (int32_t k = 0; k < n; k++) {
		int32_t i = order ? order[k] : k;

		ids[k] = i / each * (all / units) + i % each * m->stride;
	}
	out->groups = (struct groups){.ngroups = 1, .size = n, .ids = ids};
	if (!m->axis)
		return OK;
	return perf_groups_along(&out->groups, a, ids, n, m->mesh, m->at, m->axis,
	                         m->at, e);
}

static enum status row_open(struct validation *v, int64_t i,
                            const struct mapping *mapping, struct error *e)
{
	struct prediction *p = &v->row[i];
	const struct measured *row = p->row;

	p->time_s = NAN;
	v->site_of[i] = -1;
	p->entry = mapping_find(mapping, row);
	if (!p->entry)
		p->left_out = "its set is not in the mapping";
	else if (p->entry->unmapped)
		p->left_out = p->entry->unmapped;
	else if (!*row->collective || row->bytes < 0)
		p->left_out = "its size or collective was not printed";
	else if (isnan(row->time_s) || row->time_s == 0)
		p->left_out = "its time was not printed";
	else if (*row->quality && strcmp(row->quality, "ok") != 0)
		p->left_out = arena_printf(v->arena, "its quality is %s, not ok",
		                           row->quality);
	if (p->left_out)
		return OK;
	p->platform = mapping_platform(p->entry, row, v->arena);
	if (site_find(&v->site_of[i], v, p->platform, p->entry, e) != OK)
		return e->code;
	p->family = v->site[v->site_of[i]].family;
	v->perf[i] = (struct perf){.machine = v->site[v->site_of[i]].machine,
	                           .collective = row->collective};
	if (!perf_op(&v->perf[i].op, row->collective, row->at, e))
		return e->code;
	return row_groups(&v->perf[i], v->arena, &v->site[v->site_of[i]], p->entry, row,
	                  e);
}

enum status validation_open(struct validation **out, struct arena *a,
                            const struct measured_table *rows,
                            const struct mapping *mapping, struct error *e)
{
	struct validation *v = arena_alloc(a, 1, sizeof(*v));
	size_t n = (size_t)rows->n;

	*v = (struct validation){.arena = a, .n = rows->n};
	v->row = arena_alloc(a, n, sizeof(*v->row));
	v->site_of = arena_alloc(a, n, sizeof(*v->site_of));
	v->perf = arena_alloc(a, n, sizeof(*v->perf));
	v->site = arena_alloc(a, n, sizeof(*v->site));
	*out = v;
	for (int64_t i = 0; i < v->n; i++) {
		v->row[i] = (struct prediction){.row = &rows->row[i]};
		if (row_open(v, i, mapping, e) != OK)
			return e->code;
	}
	return OK;
}

void validation_close(struct validation *v)
{
	for (int i = 0; v && i < v->nsites; i++)
		model_free(v->site[i].model);
}

const struct prediction *validation_rows(const struct validation *v, int64_t *n)
{
	*n = v->n;
	return v->row;
}

const struct machine *validation_machine(const struct validation *v, int64_t row,
                                         const struct groups **groups)
{
	assert(v->site_of[row] >= 0);
	*groups = &v->perf[row].groups;
	return v->perf[row].machine;
}

void validation_row(struct validation *v, int64_t i)
{
	struct prediction *p = &v->row[i];
	struct arena *scratch;
	struct perf_run run;
	struct text why = {0};

	if (v->site_of[i] < 0)
		return;
	scratch = arena_new();
	p->time_s = NAN;
	if (perf_time(&run, &v->perf[i], p->row->bytes, model_clock,
	              v->site[v->site_of[i]].model, scratch, &why)) {
		p->time_s = run.time_s;
		p->algorithm = run.algorithm;
		p->protocol = run.protocol;
	} else {
		p->left_out = arena_strdup(v->arena, why.s ? why.s : "no reason given");
	}
	text_free(&why);
	arena_free(scratch);
}

void validation_run(struct validation *v)
{
	for (int64_t i = 0; i < v->n; i++)
		validation_row(v, i);
}

/* --- figures of families, for fits --------------------------------------------------- */

/* What the figure changes on one site, in proportion to its value: base / `value`. */
struct site_use {
	int site;
	struct tuning tuning; /* 0 where it does not change */
	double launch_s;      /* the same */
	int32_t nlinks;
	int32_t *link;
	double (*slope)[2]; /* bandwidth and latency of those links; 0: not changed */
};

struct figure_use {
	int n;
	struct site_use *use;
};

/* The machine of a site as it is with the figure at `value`. */
static enum status figure_machine(struct machine **out, struct validation *v,
                                  const struct site *s, const char *figure,
                                  double value, struct error *e)
{
	const char *set[MAPPING_SETTINGS_MAX + 1];
	int n = s->entry->nsettings;

	memcpy(set, s->entry->setting, (size_t)n * sizeof(*set));
	set[n] = arena_printf(v->arena, "%s=%.17g", figure, value);
	return platform_machine(out, v->arena, s->platform, set, n + 1, e);
}

static void links_compare(struct site_use *use, struct arena *a, const struct machine *m,
                          const struct machine *twice, double value)
{
	use->link = arena_alloc(a, (size_t)m->nlinks, sizeof(*use->link));
	use->slope = arena_alloc(a, (size_t)m->nlinks, sizeof(*use->slope));
	for (int32_t l = 0; l < m->nlinks; l++) {
		const struct link *one = &m->link[l], *two = &twice->link[l];
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
	struct machine *m, *twice;

	if (figure_machine(&m, v, s, figure, value, e) != OK ||
	    figure_machine(&twice, v, s, figure, 2 * value, e) != OK)
		return e->code;
	for (int k = 0; k < TUNINGS; k++)
		if (m->tuning.value[k] != twice->tuning.value[k])
			use->tuning.value[k] = m->tuning.value[k] / value;
	if (m->device[0].launch_s != twice->device[0].launch_s)
		use->launch_s = m->device[0].launch_s / value;
	links_compare(use, v->arena, m, twice, value);
	return OK;
}

enum status validation_figure(struct figure_use **out, struct validation *v,
                              const char *family, const char *figure, double value,
                              struct error *e)
{
	struct figure_use *f = arena_alloc(v->arena, 1, sizeof(*f));
	struct error last = {0};

	f->use = arena_alloc(v->arena, (size_t)v->nsites, sizeof(*f->use));
	for (int i = 0; i < v->nsites; i++) {
		struct error why = {0};

		if (strcmp(v->site[i].family, family) != 0)
			continue;
		f->use[f->n] = (struct site_use){.site = i};
		/* A figure of the network is none of a single node, but of the others. */
		if (site_compare(&f->use[f->n], v, figure, value, &why) == OK)
			f->n++;
		else
			last = why;
	}
	if (!f->n)
		return error_set(e, last.code ? last.code : E_INFEASIBLE, last.at, "%s",
		                 last.code ? last.text : "no timings of the family");
	*out = f;
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

/* --- classes ------------------------------------------------------------------------- */

static const struct {
	const char *name;
	int64_t below;
} classes[VALIDATION_CLASSES] = {
	{"<64 KiB", INT64_C(64) << 10},
	{"64 KiB-1 MiB", INT64_C(1) << 20},
	{"1-64 MiB", INT64_C(64) << 20},
	{">=64 MiB", INT64_MAX},
};

int validation_class(int64_t bytes)
{
	int k = 0;

	while (bytes >= classes[k].below)
		k++;
	return k;
}

const char *validation_class_name(int size_class)
{
	return classes[size_class].name;
}

double prediction_error(const struct prediction *p)
{
	return exp(fabs(log(p->time_s / p->row->time_s)));
}
