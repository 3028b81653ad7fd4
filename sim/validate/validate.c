#include "validate/state.h"

#include "collective/profile.h"
#include "measure/library.h"
#include "perf/groups.h"
#include "plan/devices.h"
#include "platform/platform.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

/* Makes the machine of the site, with devices and links that fits may change. */
static enum status site_open(struct site *s, struct arena *a, struct error *e)
{
	const struct mapping_entry *m = s->entry;
	const struct library_text text = {m->algorithm, m->protocol, m->launch};

	if (platform_machine(&s->machine, a, s->platform, m->setting, m->nsettings,
	                     e) != OK)
		return error_in_file(e, m->at);
	if (library_set(s->machine, &text, &m->at, e) != OK)
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
 * Finds the row's devices: the first ones of each unit, `stride` apart, group after
 * group. With an axis they are those of all groups along it.
 */
static enum status row_groups(struct perf *out, struct arena *a, const struct site *s,
                              const struct mapping_entry *m, const struct measured *row,
                              struct error *e)
{
	int32_t n = row->devices * row->groups, units = m->units     ? m->units
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
	out->groups = (struct groups){
		.ngroups = m->axis ? 1 : row->groups, .size = row->devices, .ids = ids};
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

	p->time_s = p->likely_s.low = p->likely_s.high = NAN;
	v->site_of[i] = -1;
	p->entry = mapping_find(mapping, row);
	if (!p->entry)
		p->left_out = "its set is not in the mapping";
	else if (p->entry->unmapped)
		p->left_out = p->entry->unmapped;
	else if (!*row->collective || row->bytes < 0)
		p->left_out = "its size or collective was not printed";
	else if (row->devices < 1)
		p->left_out = "its number of devices was not printed";
	else if (isnan(row->time_s))
		p->left_out = "its time was not printed";
	else if (row->time_s == 0)
		p->left_out = "its time is 0";
	else if (!perf_sends(row->collective, row->devices, row->bytes))
		p->left_out = "it has less than a byte for each peer";
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

/* Returns whether two rows are sizes of one series. */
static bool same_series(const struct measured *a, const struct measured *b)
{
	return a->devices == b->devices && a->groups == b->groups &&
	       a->nodes == b->nodes && a->in_place == b->in_place &&
	       a->one_pair == b->one_pair && !strcmp(a->set, b->set) &&
	       !strcmp(a->collective, b->collective);
}

/* Marks the rows that took much longer than a larger size of their series did. */
static void outliers_mark(struct validation *v)
{
	for (int64_t i = 0; i < v->n; i++) {
		const struct measured *row = v->row[i].row;

		for (int64_t k = 0; k < v->n && !v->row[i].outlier; k++)
			v->row[i].outlier =
				!v->row[i].left_out && !v->row[k].left_out &&
				v->row[k].row->bytes > row->bytes &&
				row->time_s >
					VALIDATION_OUTLIER * v->row[k].row->time_s &&
				same_series(row, v->row[k].row);
	}
}

enum status validation_open(struct validation **out, struct arena *a,
                            const struct measured_table *rows,
                            const struct mapping *mapping, struct error *e)
{
	struct validation *v = arena_alloc(a, 1, sizeof(*v));
	size_t n = (size_t)rows->n;

	*v = (struct validation){.arena = a, .what = "published timings", .n = rows->n};
	v->row = arena_alloc(a, n, sizeof(*v->row));
	v->site_of = arena_alloc(a, n, sizeof(*v->site_of));
	v->perf = arena_alloc(a, n, sizeof(*v->perf));
	v->site = arena_alloc(a, n, sizeof(*v->site));
	v->prepared = arena_alloc(a, n, sizeof(struct nccl_prepared *));
	*out = v;
	if (likely_read(&v->likely, a, e) != OK)
		return e->code;
	for (int64_t i = 0; i < v->n; i++) {
		v->row[i] = (struct prediction){.row = &rows->row[i]};
		if (row_open(v, i, mapping, e) != OK)
			return e->code;
	}
	outliers_mark(v);
	return OK;
}

/*
 * Reads the mappings beside the files, one after another; only the first must be there.
 */
static enum status mappings_read(struct mapping *out, struct arena *a,
                                 const char *const *file, int nfiles, struct error *e)
{
	struct mapping_entry *all;

	if (mapping_read(out, a, mapping_beside(a, file[0]), e) != OK)
		return e->code;
	for (int i = 1; i < nfiles; i++) {
		const char *path = mapping_beside(a, file[i]);
		struct mapping more;

		if (access(path, F_OK) != 0)
			continue;
		if (mapping_read(&more, a, path, e) != OK)
			return e->code;
		all = arena_alloc(a, (size_t)(out->n + more.n), sizeof(*all));
		memcpy(all, out->entry, (size_t)out->n * sizeof(*all));
		memcpy(all + out->n, more.entry, (size_t)more.n * sizeof(*all));
		*out = (struct mapping){out->n + more.n, all};
	}
	return OK;
}

enum status validation_load(struct validation **out, struct arena *a,
                            const char *const *file, int nfiles, const char *mapping,
                            struct error *e)
{
	struct measured_table *rows = arena_alloc(a, 1, sizeof(*rows));
	struct mapping *map = arena_alloc(a, 1, sizeof(*map));

	*out = NULL;
	if (measured_read_all(rows, a, file, nfiles, e) != OK)
		return e->code;
	if (!mapping && rows->log && access(mapping_beside(a, file[0]), F_OK) != 0)
		return error_set(e, E_TYPE, (struct where){.file = file[0]},
		                 "is a log of nccl-tests, expected --platform, the "
		                 "machine it was taken on, such as dgx-h100:2");
	if ((mapping ? mapping_read(map, a, mapping, e)
	             : mappings_read(map, a, file, nfiles, e)) != OK)
		return e->code;
	return validation_open(out, a, rows, map, e);
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

const char *validation_what(const struct validation *v)
{
	return v->what;
}

const char *validation_note(const struct validation *v)
{
	return v->note;
}

bool validation_of_one(const struct validation *v)
{
	return v->of_one;
}

const struct machine *validation_machine(const struct validation *v, int64_t row,
                                         const struct groups **groups)
{
	assert(v->site_of[row] >= 0);
	*groups = &v->perf[row].groups;
	return v->perf[row].machine;
}

static void row_prepared(struct validation *v, int64_t i)
{
	struct prediction *p = &v->row[i];
	const struct groups *g = &v->perf[i].groups;
	double s = nccl_prepared_s(v->prepared[i], (double)p->row->bytes, &p->algorithm,
	                           &p->protocol);

	if (s >= 0)
		p->time_s =
			s +
			profile_call_s(v->perf[i].machine, g->ids, g->ngroups * g->size,
		                       nccl_enqueue_s(v->perf[i].machine, v->perf[i].op,
		                                      g->size, (double)p->row->bytes),
		                       s);
}

void validation_row(struct validation *v, int64_t i)
{
	struct prediction *p = &v->row[i];
	struct arena *scratch;
	struct perf_run run;
	struct text why = {0};

	if (v->site_of[i] < 0)
		return;
	p->time_s = NAN;
	if (v->prepared[i]) {
		row_prepared(v, i);
		return;
	}
	scratch = arena_new();
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

enum status validation_force(struct validation *v, const struct library_text *text,
                             struct error *e)
{
	for (int i = 0; i < v->nsites; i++) {
		const struct site *s = &v->site[i];
		struct library_text mine = *text;

		if (!s->machine->nfabrics || !profile_of_fabric(s->machine, 0)->library)
			continue;
		mine.algorithm =
			s->entry->algorithm ? s->entry->algorithm : mine.algorithm;
		mine.protocol = s->entry->protocol ? s->entry->protocol : mine.protocol;
		if (library_set(s->machine, &mine, NULL, e) != OK)
			return e->code;
	}
	return OK;
}

void validation_run(struct validation *v)
{
	for (int64_t i = 0; i < v->n; i++) {
		struct prediction *p = &v->row[i];

		validation_row(v, i);
		if (isnan(p->time_s))
			continue;
		p->likely_s =
			likely_find(&v->likely, v->perf[i].machine, p->row->collective,
		                    p->row->bytes, validation_several(v, p));
		p->likely_s.low *= p->time_s;
		p->likely_s.high *= p->time_s;
	}
}

/* --- classes ---------------------------------------------------------------------- */

static const struct {
	const char *name;
	int64_t below;
} classes[VALIDATION_CLASSES] = {
	{"<64 KiB", INT64_C(64) << 10},  {"64 KiB-1 MiB", INT64_C(1) << 20},
	{"1-64 MiB", INT64_C(64) << 20}, {"64-512 MiB", INT64_C(512) << 20},
	{">=512 MiB", INT64_MAX},
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

int64_t validation_class_from(int size_class)
{
	return size_class ? classes[size_class - 1].below : 0;
}

bool validation_several(const struct validation *v, const struct prediction *p)
{
	const struct perf *perf = &v->perf[p - v->row];

	return likely_several(perf->machine, perf->groups.ids, perf->groups.size);
}

double prediction_error(const struct prediction *p)
{
	return exp(fabs(log(p->time_s / p->row->time_s)));
}

const char *validation_unit_note(const struct validation *v, struct arena *a)
{
	int64_t n, known = 0, longer = 0, shorter = 0;
	const struct prediction *p = validation_rows(v, &n);

	for (int64_t i = 0; i < n; i++) {
		double ratio = p[i].row->time_s / p[i].time_s;

		if (p[i].left_out || isnan(ratio))
			continue;
		known++;
		longer += ratio > 1e3;
		shorter += ratio < 1e-3;
	}
	if (!known || 2 * (longer > shorter ? longer : shorter) < known)
		return NULL;
	return arena_printf(
		a,
		"most times are more than 1,000 times %s than expected; are "
		"these microseconds?",
		longer > shorter ? "longer" : "shorter");
}
