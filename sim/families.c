#include "families.h"

#include "base/units.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum unit { UNIT_RATE, UNIT_TIME, UNIT_BYTES };

static const struct {
	const char *name;
	enum unit unit;
	bool torus, nodes;
} figures[FIGURES] = {
	[ICI_PEAK] = {"ici.peak", UNIT_RATE, true, false},
	[ICI_BANDWIDTH] = {"ici.bandwidth", UNIT_RATE, true, false},
	[ICI_LATENCY] = {"ici.latency", UNIT_TIME, true, false},
	[NVLINK_PEAK] = {"nvlink.peak", UNIT_RATE, false, true},
	[NVLINK_BANDWIDTH] = {"nvlink.bandwidth", UNIT_RATE, false, true},
	[NVLINK_LATENCY] = {"nvlink.latency", UNIT_TIME, false, true},
	[NIC_PEAK] = {"nic.peak", UNIT_RATE, false, true},
	[NIC_BANDWIDTH] = {"nic.bandwidth", UNIT_RATE, false, true},
	[NIC_LATENCY] = {"nic.latency", UNIT_TIME, false, true},
	[MEMORY_BYTES] = {"memory_bytes", UNIT_BYTES, true, true},
	[MEMORY_BPS] = {"memory_Bps", UNIT_RATE, true, true},
	[LAUNCH_S] = {"launch_s", UNIT_TIME, true, true},
};

const char *figure_name(enum figure f)
{
	return figures[f].name;
}

bool figure_of(enum figure f, enum family_kind kind)
{
	return kind == FAMILY_TORUS ? figures[f].torus : figures[f].nodes;
}

/* Peaks are for the reader of the file: nothing is computed from them. */
static bool figure_settable(enum figure f, enum family_kind kind)
{
	return figure_of(f, kind) && f != ICI_PEAK && f != NVLINK_PEAK && f != NIC_PEAK;
}

enum status figure_parse(double *out, enum figure f, const char *text, struct where at,
                         struct error *e)
{
	int64_t bytes;
	enum status status;

	switch (figures[f].unit) {
	case UNIT_TIME:
		return units_time(text, at, out, e);
	case UNIT_BYTES:
		status = units_bytes(text, at, &bytes, e);
		*out = (double)bytes;
		if (status == OK && bytes == 0)
			status = error_set(e, E_RANGE, at, "%s must be above 0",
			                   figures[f].name);
		return status;
	case UNIT_RATE:
		break;
	}
	status = units_rate(text, at, out, e);
	if (status == OK && f != MEMORY_BPS && *out == 0)
		status = error_set(e, E_RANGE, at, "%s must be above 0",
		                   figures[f].name);
	return status;
}

void shape_sort(int32_t *x, int n)
{
	for (int i = 1; i < n; i++)
		for (int j = i; j > 0 && x[j - 1] < x[j]; j--) {
			int32_t t = x[j];

			x[j] = x[j - 1];
			x[j - 1] = t;
		}
}

enum status shape_scan(struct scan *s, int32_t *shape, int n)
{
	for (int a = 0; a < n; a++) {
		int64_t size;

		if (a && !scan_expect(s, "x"))
			return s->error->code;
		if (!scan_int(s, "the length of an axis", 1, INT32_MAX, &size))
			return s->error->code;
		shape[a] = (int32_t)size;
	}
	return scan_finish(s);
}

enum status platform_data_path(const char **out, struct arena *a, const char *file,
                               struct error *e)
{
	static const char *const beside[] = {"platforms", "../platforms",
	                                     "../share/shardsim/platforms"};
	const char *data = getenv("SHARDSIM_DATA");
	char exe[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	char *slash;

	if (data && *data) {
		*out = arena_printf(a, "%s/%s", data, file);
		if (access(*out, R_OK) == 0)
			return OK;
		return error_set(
			e, E_IO, (struct where){.file = *out},
			"cannot be read: %s (SHARDSIM_DATA says to look there)",
			strerror(errno));
	}
	exe[n > 0 ? n : 0] = '\0';
	slash = strrchr(exe, '/');
	if (slash) {
		*slash = '\0';
		for (size_t i = 0; i < sizeof(beside) / sizeof(*beside); i++) {
			*out = arena_printf(a, "%s/%s/%s", exe, beside[i], file);
			if (access(*out, R_OK) == 0)
				return OK;
		}
	}
#ifdef SHARDSIM_DATADIR
	*out = arena_printf(a, "%s/%s", SHARDSIM_DATADIR, file);
	if (access(*out, R_OK) == 0)
		return OK;
#endif
	*out = arena_printf(a, "platforms/%s", file);
	if (access(*out, R_OK) == 0)
		return OK;
	return error_set(e, E_IO, (struct where){.file = file},
	                 "found neither beside the program nor in platforms/; "
	                 "SHARDSIM_DATA can name its folder");
}

static enum status setting_apply(struct family *f, struct arena *a, const char *set,
                                 struct error *e)
{
	struct where at = where_option("--set", set);
	const char *equals = strchr(set, '=');
	struct text known = {0};

	if (!equals)
		return error_set(e, E_SYNTAX, at, "expected key=value");
	for (int i = 0; i < FIGURES; i++) {
		size_t n = strlen(figures[i].name);

		if (!figure_settable(i, f->kind))
			continue;
		if (n == (size_t)(equals - set) && !memcmp(set, figures[i].name, n)) {
			text_free(&known);
			at.col = (unsigned)n + 2;
			f->source[i] = "set by hand";
			return figure_parse(&f->figure[i], i, equals + 1, at, e);
		}
		text_printf(&known, "%s%s", known.length ? ", " : "", figures[i].name);
	}
	return error_set(e, E_RANGE, at, "%s has no figure '%.*s'; it has %s", f->name,
	                 (int)(equals - set), set, text_take(&known, a));
}

/* A figure of the network changes nothing where a single node has none. */
static enum status setting_counts(const struct family_machine *m, const char *spec,
                                  const char *set, struct error *e)
{
	if (m->family.kind != FAMILY_NODES || m->shape[0] > 1 ||
	    strncmp(set, "nic.", 4) != 0)
		return OK;
	return error_set(e, E_TYPE, where_option("--set", set),
	                 "%s has no net, %.*s changes nothing", spec,
	                 (int)strcspn(set, "="), set);
}

static enum status family_find(struct family *out, struct arena *a, const char *name,
                               size_t length, struct where at, struct error *e)
{
	struct families all = {0};
	struct text known = {0};
	const char *path;

	if (platform_data_path(&path, a, "families.yaml", e) != OK ||
	    families_read(&all, a, path, e) != OK)
		return e->code;
	for (int i = 0; i < all.n; i++) {
		const char *other = all.family[i].name;

		if (strlen(other) == length && !memcmp(other, name, length)) {
			text_free(&known);
			*out = all.family[i];
			return OK;
		}
		text_printf(&known, "%s%s", i ? ", " : "", other);
	}
	return error_set(e, E_RANGE, at, "unknown family '%.*s'; known are %s",
	                 (int)length, name, text_take(&known, a));
}

/*
 * The axes of `family:shape`, from `text` on. That a shape has too few or too many of
 * them is said of the family.
 */
static enum status shape_read(struct family_machine *out, struct scan *s,
                              const char *text)
{
	static const char *const examples[] = {"8", "4x8", "4x4x8"};
	const struct family *f = &out->family;
	const char *twisted = strstr(text, "_twisted");
	int axes = 1;

	s->pos = text;
	if (twisted && f->kind == FAMILY_TORUS)
		return scan_fail_at(s, twisted, E_RANGE,
		                    "twisted tori are not among the shapes of this "
		                    "version, expected plain ones");
	for (const char *p = text; *p; p++)
		axes += *p == 'x';
	if (!*text || axes == f->naxes || text[strspn(text, "0123456789x")])
		return shape_scan(s, out->shape, f->naxes);
	if (f->kind == FAMILY_NODES)
		return scan_fail_at(s, text, E_RANGE,
		                    "a shape of %s is a number of nodes, such as %s:4",
		                    f->name, f->name);
	return scan_fail_at(s, text, E_RANGE,
	                    "a shape of %s has %d %s%s%s, but this has %d", f->name,
	                    f->naxes, f->naxes > 1 ? "axes" : "axis",
	                    f->naxes > 3 ? "" : ", such as ",
	                    f->naxes > 3 ? "" : examples[f->naxes - 1], axes);
}

/* Which axes wrap, and whether the shape exists. */
static enum status shape_apply(struct family_machine *out, struct where at,
                               struct error *e)
{
	const struct family *f = &out->family;
	int32_t sorted[TORUS_AXES_MAX];
	bool multiples = true;
	int64_t n = f->kind == FAMILY_NODES ? f->gpus : 1;

	memcpy(sorted, out->shape, sizeof(sorted));
	shape_sort(sorted, f->naxes);
	for (int a = 0; a < f->naxes; a++) {
		if (sorted[a] > f->largest[a])
			return error_set(
				e, E_RANGE, at,
				"%s has no such shape: a length of %d is above %d",
				f->name, (int)sorted[a], (int)f->largest[a]);
		n *= out->shape[a];
		if (n > INT32_MAX / (2 * TORUS_AXES_MAX))
			return error_set(e, E_RANGE, at, "too many devices");
		if (f->wrap == WRAP_MULTIPLES && out->shape[a] % f->wrap_length)
			multiples = false;
	}
	for (int a = 0; a < f->naxes; a++)
		out->wrap[a] =
			out->shape[a] > 2 &&
			((f->wrap == WRAP_MULTIPLES && multiples) ||
		         (f->wrap == WRAP_FULL && out->shape[a] == f->wrap_length));
	out->ndevices = (int32_t)n;
	return OK;
}

enum status family_parse(struct family_machine *out, struct arena *a, const char *spec,
                         const char *const *set, int nset, struct error *e)
{
	struct where at = where_option("--platform", spec);
	const char *colon = strchr(spec, ':');
	struct error local = {0};
	struct scan s;

	if (!e)
		e = &local;
	*out = (struct family_machine){0};
	if (!colon)
		return error_set(
			e, E_SYNTAX, at,
			"expected family:shape such as tpu-v4:4x4x8, or a file "
			"that ends in .xml");
	if (family_find(&out->family, a, spec, (size_t)(colon - spec), at, e) != OK)
		return e->code;
	s = scan_start(spec, at, e);
	if (shape_read(out, &s, colon + 1) != OK)
		return e->code;
	at = scan_where(&s, colon + 1);
	if (shape_apply(out, at, e) != OK)
		return e->code;
	for (int i = 0; i < nset; i++)
		if (setting_apply(&out->family, a, set[i], e) != OK ||
		    setting_counts(out, spec, set[i], e) != OK)
			return e->code;
	return OK;
}
