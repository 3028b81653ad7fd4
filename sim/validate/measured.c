#include "validate/measured.h"

#include "base/input.h"
#include "base/scan.h"
#include "perf/perf.h"
#include "text/csv.h"
#include "validate/nccl_log.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Names of collectives here and in measurement files. */
static const struct {
	const char *name, *file;
} collectives[] = {
	{"all-reduce", "all-reduce"},
	{"all-gather", "all-gather"},
	{"reduce-scatter", "reduce-scatter"},
	{"all-to-all", "all-to-all"},
	{"permute", "collective-permute"},
	{"permute", "p2p-copy"},
	{"permute", "permute"},
	{"broadcast", "broadcast"},
	{"reduce", "reduce"},
};

enum { COLLECTIVES = (int)(sizeof(collectives) / sizeof(*collectives)) };

/* Reads whether a row is of a call in place; a blank says that it is not. */
static enum status place_read(bool *out, const char *text, struct where at,
                              struct error *e)
{
	*out = !strcmp(text, "True");
	if (*out || !*text || !strcmp(text, "False"))
		return OK;
	return error_set(e, E_SYNTAX, at, "in_place '%s', expected True or False", text);
}

/* Reads a plain number >= 0; a blank gives NaN. */
static enum status number_read(double *out, const char *text, const char *what,
                               struct where at, struct error *e)
{
	char *end;

	*out = NAN;
	if (!*text)
		return OK;
	*out = isdigit((unsigned char)*text) ? strtod(text, &end) : -1;
	if (*out >= 0 && isfinite(*out) && !*end)
		return OK;
	return error_set(e, E_SYNTAX, at, "%s '%s', expected a number of 0 or more",
	                 what, text);
}

static enum status whole_read(int64_t *out, const char *text, const char *what,
                              int64_t blank, struct where at, struct error *e)
{
	double x;

	if (number_read(&x, text, what, at, e) != OK)
		return e->code;
	*out = blank;
	if (isnan(x))
		return OK;
	if (x != floor(x) || x > 1e18)
		return error_set(e, E_RANGE, at, "%s '%s', expected a whole number",
		                 what, text);
	*out = (int64_t)x;
	return OK;
}

enum column {
	SET,
	SYSTEM,
	NODES,
	DEVICES,
	COLLECTIVE,
	BYTES,
	TIME_US,
	BUSBW_GBPS,
	NEEDED, /* the columns before must be there */
	IN_PLACE = NEEDED,
	QUALITY,
	SOURCE,
	GROUPS,
	COLUMNS
};

static const char *const columns[COLUMNS] = {
	"set",     "system",     "nodes",    "devices", "collective", "bytes",
	"time_us", "busbw_GBps", "in_place", "quality", "source",     "groups"};

static enum status kind_read(struct measured *m, const char *text, struct error *e)
{
	for (int i = 0; i < COLLECTIVES; i++)
		if (!strcmp(collectives[i].file, text)) {
			m->collective = collectives[i].name;
			m->one_pair = !strcmp(text, "p2p-copy");
			return OK;
		}
	return error_set(e, E_RANGE, m->at, "unknown collective '%s'", text);
}

static enum status row_read(struct measured *m, const struct csv *t, int64_t row,
                            const int *column, struct error *e)
{
	const char *field[COLUMNS];
	int64_t nodes, devices, groups;
	double us, GBps;

	for (int i = 0; i < COLUMNS; i++)
		field[i] = csv_field(t, row, column[i]);
	*m = (struct measured){.set = field[SET],
	                       .system = field[SYSTEM],
	                       .quality = field[QUALITY],
	                       .source = field[SOURCE],
	                       .launch = "",
	                       .gpu = "",
	                       .at = csv_where(t, row)};
	if (kind_read(m, field[COLLECTIVE], e) != OK ||
	    place_read(&m->in_place, field[IN_PLACE], m->at, e) != OK ||
	    whole_read(&nodes, field[NODES], "nodes", 0, m->at, e) != OK ||
	    whole_read(&devices, field[DEVICES], "devices", 0, m->at, e) != OK ||
	    whole_read(&groups, field[GROUPS], "groups", 1, m->at, e) != OK ||
	    whole_read(&m->bytes, field[BYTES], "bytes", -1, m->at, e) != OK ||
	    number_read(&us, field[TIME_US], "time_us", m->at, e) != OK ||
	    number_read(&GBps, field[BUSBW_GBPS], "busbw_GBps", m->at, e) != OK)
		return e->code;
	if (devices < 1 || devices > INT32_MAX || nodes > INT32_MAX)
		return error_set(e, E_RANGE, m->at,
		                 "%lld devices on %lld nodes, expected 1 device to %d",
		                 (long long)devices, (long long)nodes, INT32_MAX);
	if (groups < 1 || groups > INT32_MAX / devices)
		return error_set(
			e, E_RANGE, m->at,
			"%lld groups of %lld devices, expected 1 group to %lld",
			(long long)groups, (long long)devices,
			(long long)(INT32_MAX / devices));
	m->nodes = (int32_t)nodes;
	m->devices = (int32_t)devices;
	m->groups = (int32_t)groups;
	m->time_s = us * 1e-6;
	m->busbw_Bps = GBps * 1e9;
	if (isnan(us) && m->bytes > 0 && GBps > 0)
		m->time_s = (double)m->bytes *
		            perf_bus_factor(m->collective, m->devices) / m->busbw_Bps;
	return OK;
}

static enum status csv_rows(struct measured_table *out, struct arena *a,
                            const struct csv *t, struct error *e)
{
	int column[COLUMNS];

	if (csv_columns(column, t, columns, COLUMNS, NEEDED, e) != OK)
		return e->code;
	out->row = arena_alloc(a, (size_t)t->nrows, sizeof(*out->row));
	for (; out->n < t->nrows; out->n++)
		if (row_read(&out->row[out->n], t, out->n, column, e) != OK)
			return e->code;
	return OK;
}

enum status measured_read(struct measured_table *out, struct arena *a, const char *path,
                          struct error *e)
{
	struct error local = {0};
	struct csv table;
	const char *text, *name = arena_strdup(a, path);

	if (!e)
		e = &local;
	*out = (struct measured_table){0};
	text = input_text(a, name, e);
	if (!text)
		return e->code;
	if (!strncmp(text + strspn(text, "# \r\n"), "set,", 4) ||
	    memmem(text, strcspn(text, "\n"), "collective,", 11)) {
		if (csv_read(&table, a, name, text, e) != OK ||
		    csv_rows(out, a, &table, e) != OK)
			return e->code;
	} else {
		out->log = true;
		if (nccl_log_read(out, a, name, text, e) != OK)
			return e->code;
	}
	if (!out->n)
		error_set(e, E_SYNTAX, (struct where){.file = name},
		          "has no timings, expected a table with a column 'collective' "
		          "or the output of nccl-tests");
	return e->code;
}

enum status measured_once(const char *const *path, int i, struct error *e)
{
	for (int k = 0; k < i; k++)
		if (!strcmp(path[i], path[k]))
			return error_set(e, E_TYPE, (struct where){.file = path[i]},
			                 "is given twice");
	return OK;
}

enum status measured_read_all(struct measured_table *out, struct arena *a,
                              const char *const *path, int n, struct error *e)
{
	struct measured_table *file = arena_alloc(a, (size_t)n, sizeof(*file));
	int64_t total = 0;

	*out = (struct measured_table){0};
	for (int i = 0; i < n; i++) {
		if (measured_once(path, i, e) != OK ||
		    measured_read(&file[i], a, path[i], e) != OK)
			return e->code;
		total += file[i].n;
	}
	out->row = arena_alloc(a, (size_t)total, sizeof(*out->row));
	for (int i = 0; i < n; i++) {
		memcpy(out->row + out->n, file[i].row,
		       (size_t)file[i].n * sizeof(*out->row));
		out->n += file[i].n;
		out->log = out->log || file[i].log;
	}
	return OK;
}
