#include "measure/likely.h"

#include "measure/measure.h"

#include "base/input.h"
#include "collective/local.h"
#include "collective/nccl.h"
#include "collective/nccl_data.h"
#include "collective/profile.h"
#include "facts/families.h"
#include "text/csv.h"
#include "text/words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum column { FAMILY, COLLECTIVE, FROM_BYTES, NODES, LOW, HIGH, COLUMNS };

static const char *const columns[COLUMNS] = {"family", "collective", "from_bytes",
                                             "nodes",  "low",        "high"};

/* Reads a number above 0 and stores it. */
static enum status number_read(double *out, const struct csv *t, int64_t row,
                               const int *column, enum column which, struct error *e)
{
	const char *text = csv_field(t, row, column[which]);
	char *end;

	*out = strtod(text, &end);
	if (*text && !*end && *out >= 0 && isfinite(*out))
		return OK;
	return error_set(e, E_SYNTAX, csv_where_field(t, row, column[which]),
	                 "%s '%s', expected a number of 0 or more", columns[which],
	                 text);
}

static enum status row_read(struct likely_row *out, const struct csv *t, int64_t row,
                            const int *column, struct error *e)
{
	const char *family = csv_field(t, row, column[FAMILY]);
	const char *collective = csv_field(t, row, column[COLLECTIVE]);
	const char *nodes = csv_field(t, row, column[NODES]);
	double bytes;

	if (number_read(&bytes, t, row, column, FROM_BYTES, e) != OK ||
	    number_read(&out->factor.low, t, row, column, LOW, e) != OK ||
	    number_read(&out->factor.high, t, row, column, HIGH, e) != OK)
		return e->code;
	out->family = strcmp(family, "*") != 0 ? family : NULL;
	out->collective = strcmp(collective, "*") != 0 ? collective : NULL;
	out->from_bytes = (int64_t)bytes;
	out->several = !strcmp(nodes, "several");
	out->any = !strcmp(nodes, "any");
	if (!out->several && !out->any && strcmp(nodes, "one") != 0)
		return error_set(e, E_RANGE, csv_where_field(t, row, column[NODES]),
		                 "nodes '%s', expected one, several or any", nodes);
	return OK;
}

enum status likely_read(struct likely_table *out, struct arena *a, struct error *e)
{
	int column[COLUMNS];
	struct error none = {0};
	struct csv t;
	const char *path, *text;

	*out = (struct likely_table){0};
	if (platform_data_path(&path, a, "intervals.csv", &none) != OK)
		return OK;
	text = input_text(a, path, e);
	if (!text || csv_read(&t, a, path, text, e) != OK ||
	    csv_columns(column, &t, columns, COLUMNS, COLUMNS, e) != OK)
		return e->code;
	out->row = arena_alloc(a, (size_t)t.nrows + 1, sizeof(*out->row));
	for (; out->n < t.nrows; out->n++)
		if (row_read(&out->row[out->n], &t, out->n, column, e) != OK)
			return e->code;
	return OK;
}

/* Returns whether the machine is of that family. */
static bool of_family(const struct machine *m, const char *family)
{
	size_t n = strlen(family);

	return !strncmp(m->name, family, n) && m->name[n] == ':';
}

/* Returns whether the machine's caller was timed on machines of its family. */
static bool caller_timed(const struct machine *m)
{
	const char *const *family = nccl_callers[m->launch].timed;

	if (!family || !profile_of_fabric(m, 0)->library)
		return true;
	while (*family && !of_family(m, *family))
		family++;
	return *family != NULL;
}

/* Returns how well a row describes the collective, 0 if it is of something else. */
static int fits(const struct likely_row *r, const struct machine *m,
                const char *collective, int64_t bytes, bool several)
{
	if ((!r->any && r->several != several) || r->from_bytes > bytes ||
	    (r->family && !of_family(m, r->family)) ||
	    (r->collective && strcmp(r->collective, collective) != 0))
		return 0;
	return 1 + (r->family ? 2 : 0) + (r->collective ? 1 : 0);
}

/* Finds the row that fits best, of families or, with `borrowed`, of none alone. */
static struct likely find(const struct likely_table *t, const struct machine *m,
                          bool borrowed, const char *collective, int64_t bytes,
                          bool several)
{
	struct likely found = {NAN, NAN};
	int64_t from = -1;
	int best = 0;

	for (int64_t i = 0; i < t->n; i++) {
		const struct likely_row *r = &t->row[i];
		int well = fits(r, m, collective, bytes, several);

		if (!well || (borrowed && r->family) || r->from_bytes < from ||
		    (r->from_bytes == from && well < best))
			continue;
		from = r->from_bytes;
		best = well;
		found = r->factor;
	}
	return found;
}

/* Returns whether the machine is links alone, of which nothing was ever measured. */
static bool links_alone(const struct machine *m)
{
	const struct profile *profile = m->nfabrics ? profile_of_fabric(m, 0) : NULL;

	return !profile || (!profile->library && !profile->fill);
}

struct likely likely_find(const struct likely_table *t, const struct machine *m,
                          const char *collective, int64_t bytes, bool several)
{
	struct likely found, others;

	if (links_alone(m))
		return (struct likely){NAN, NAN};
	found = find(t, m, false, collective, bytes, several);
	if (caller_timed(m))
		return found;
	others = find(t, m, true, collective, bytes, several);
	found.low = fmin(found.low, others.low);
	found.high = fmax(found.high, others.high);
	return found;
}

const char *likely_step_name(bool experts)
{
	return experts ? "step-experts" : "step";
}

struct likely likely_step(const struct likely_table *t, const struct machine *m,
                          bool experts)
{
	const char *name = likely_step_name(experts);
	struct likely found = {NAN, NAN};
	bool own = false;

	for (int64_t i = 0; i < t->n && !own && !links_alone(m); i++) {
		const struct likely_row *r = &t->row[i];

		if (!r->collective || strcmp(r->collective, name) != 0 ||
		    (r->family && !of_family(m, r->family)))
			continue;
		found = r->factor;
		own = r->family;
	}
	return found;
}

bool likely_several(const struct machine *m, const int32_t *devices, int32_t n)
{
	for (int32_t i = 1; i < n; i++) {
		int f = machine_fabric(m, devices[0], devices[i]);

		if (f >= 0 && nccl_is_network(m, f))
			return true;
	}
	return false;
}

/* Returns whether a step crosses nodes: in some group, or between any of its devices. */
static bool step_several(const struct bench *b, const struct plan *p,
                         const struct step *s)
{
	const struct placement *place = &b->placement;
	struct groups g = s->groups;
	int32_t n = p->problem->ndevices;
	int32_t *ids = xmalloc((size_t)n + 1, sizeof(*ids));
	bool several = false;

	if (!g.ngroups)
		g = (struct groups){.ngroups = 1, .size = n, .ids = NULL};
	for (int32_t i = 0; i < g.ngroups && !several; i++) {
		for (int32_t k = 0; k < g.size; k++) {
			int32_t d = g.ids ? g.ids[(int64_t)i * g.size + k] : k;

			ids[k] = place->platform ? placement_device(place, d) : d;
		}
		several = likely_several(b->machine, ids, g.size);
	}
	xfree(ids);
	return several;
}

/* Returns the bytes of a step as nccl-tests counts them: its larger tile. */
static int64_t step_bytes(const struct plan *p, const struct step *s)
{
	int64_t before = shape_elements(&s->before_local),
		after = shape_elements(&s->local);

	return dtype_bytes(p->problem->array.dtype, before > after ? before : after);
}

struct likely likely_of_plan(const struct likely_table *t, const struct bench *b,
                             const struct plan *p, const struct step_time *times)
{
	struct likely sum = {0, 0};

	for (int i = 0; i < p->nsteps; i++) {
		const struct step *s = &p->step[i];
		struct likely factor = {1, 1};
		/* An exchange is plain sends, as an all-to-all is. */
		const char *name = op_name(s->op == OP_EXCHANGE ? OP_ALL_TO_ALL : s->op);

		if (op_communicates(s->op))
			factor = likely_find(t, b->machine, name, step_bytes(p, s),
			                     step_several(b, p, s));
		sum.low += factor.low * times[i].time_s;
		sum.high += factor.high * times[i].time_s;
	}
	return sum;
}

const char *likely_range(const struct likely *l, struct arena *a)
{
	if (!(l->low < l->high))
		return NULL;
	return arena_printf(a, "%s to %s", words_time(a, l->low),
	                    words_time(a, l->high));
}

const char *likely_words(const struct likely *l, struct arena *a)
{
	const char *range = likely_range(l, a);

	return range ? arena_printf(a, "80 %% sure: %s", range) : "";
}

json_t *likely_json(const struct likely *l)
{
	return isnan(l->low) ? json_null() : json_pack("[f,f]", l->low, l->high);
}
