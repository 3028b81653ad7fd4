#include "cli/perf/sizes.h"

#include "base/scan.h"
#include "base/units.h"
#include "cli/command.h"
#include "perf/perf.h"
#include "validate/measured.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SIZES_MAX = 10000 };

static enum status size_read(int64_t *out, const char *option, const char *text,
                             int64_t least, int64_t most, struct error *e)
{
	struct where at = where_option(option, text);

	if (units_bytes(text, at, out, e) != OK)
		return e->code;
	if (*out < least)
		return error_set(e, E_RANGE, at,
		                 "less than -b, expected %lld bytes or more",
		                 (long long)least);
	if (*out > most)
		return error_set(e, E_RANGE, at, "expected at most %lld bytes",
		                 (long long)most);
	return OK;
}

/* Reads the range of sizes; all devices together hold an array of at most 2^62 bits. */
static enum status range_read(int64_t *lo, int64_t *hi, const struct perf_sizes_text *o,
                              const char *begin, const char *end,
                              const struct groups *g, struct error *e)
{
	int64_t most = ((int64_t)1 << 59) / ((int64_t)g->ngroups * g->size);

	if (size_read(lo, "-b", o->begin ? o->begin : begin, 0, most, e) != OK)
		return e->code;
	return size_read(hi, "-e", o->end ? o->end : end, *lo, most, e);
}

static enum status step_read(int64_t *out, const char *text, struct error *e)
{
	if (units_bytes(text, where_option("-i", text), out, e) == OK && *out < 1)
		error_set(e, E_RANGE, where_option("-i", text),
		          "expected a step of 1 byte or more");
	return e->code;
}

static enum status factor_read(int64_t *out, const char *text, struct error *e)
{
	struct error inner = {0};
	struct scan s = scan_start(text, where_option("-f", text), &inner);

	if (scan_int(&s, NULL, 2, INT32_MAX, out) && scan_done(&s))
		return OK;
	return error_set(e, E_RANGE, where_option("-f", text),
	                 "expected a whole factor from 2 to %d", INT32_MAX);
}

/*
 * Says which size was the first that runs rounded down, where the user gave sizes. The
 * usual ones are powers of two, of which the first few are 0 for each device.
 */
static void say_rounded(const struct perf_sizes_text *o, int n, int64_t asked,
                        int64_t runs, int64_t unit, struct arena *a)
{
	if (n && (o->begin || o->end))
		command_note(
			o->collective,
			arena_printf(a,
		                     "%d size%s rounded down to a multiple of %lld "
		                     "bytes as nccl-tests does, %s: %lld bytes run "
		                     "as %lld%s",
		                     n, n == 1 ? " is" : "s are", (long long)unit,
		                     unit > PERF_ELEMENT_BYTES ? "16 for each device"
		                                               : "whole elements",
		                     (long long)asked, (long long)runs,
		                     runs ? "" : ", of which there is no time"));
}

enum status perf_sizes_range(struct perf_sizes *out, struct arena *a,
                             const struct perf_sizes_text *o, const struct groups *g,
                             struct error *e)
{
	int64_t lo = 0, hi = 0, factor = 2, step = 0, asked = 0, runs = 0;
	int rounded = 0;

	if (range_read(&lo, &hi, o, "8", "16G", g, e) != OK ||
	    factor_read(&factor, o->factor ? o->factor : "2", e) != OK ||
	    (o->step && step_read(&step, o->step, e) != OK))
		return e->code;
	out->bytes = arena_alloc(a, SIZES_MAX, sizeof(*out->bytes));
	for (int64_t b = lo;; b = step ? b + step : b * factor) {
		int64_t bytes = perf_bytes(o->collective, g->size, b);
		bool last = step ? b > hi - step : b == 0 || b > hi / factor;

		if (bytes != b && !rounded++) {
			asked = b;
			runs = bytes;
		}
		if (!out->n || out->bytes[out->n - 1] != bytes)
			out->bytes[out->n++] = bytes;
		if (last) {
			say_rounded(o, rounded, asked, runs,
			            perf_unit_bytes(o->collective, g->size), a);
			return OK;
		}
		if (out->n == SIZES_MAX)
			return error_set(e, E_RANGE,
			                 where_option("-i", o->step ? o->step : ""),
			                 "more than %d sizes", SIZES_MAX);
	}
}

static int by_bytes(const void *a, const void *b)
{
	const struct measured *x = a, *y = b;

	if (x->bytes != y->bytes)
		return x->bytes < y->bytes ? -1 : 1;
	return x->in_place - y->in_place;
}

/* Returns whether the row is one of those to compare with. */
static bool row_fits(const struct measured *m, const struct perf_sizes_text *o,
                     int32_t devices, int32_t groups)
{
	return !isnan(m->time_s) && m->groups == groups &&
	       (!*m->collective || !strcmp(m->collective, o->collective)) &&
	       (!m->devices || m->devices == devices) &&
	       (!o->system || !strcmp(m->set, o->system) ||
	        strstr(m->system, o->system));
}

/* Returns whether a list of names in quotes has one, which may be a part of others. */
static bool is_listed(const struct text *known, const char *name)
{
	struct text quoted = {0};
	bool found;

	text_printf(&quoted, "'%s'", name);
	found = known->s && strstr(known->s, quoted.s);
	text_free(&quoted);
	return found;
}

/*
 * Checks that timings are of one machine: two in one column would compare with neither.
 */
static enum status one_system(const struct measured_table *t,
                              const struct perf_sizes_text *o, int32_t devices,
                              int32_t groups, struct error *e)
{
	const struct measured *first = NULL;
	struct text known = {0};
	bool one = true;

	for (int64_t i = 0; i < t->n; i++) {
		const struct measured *m = &t->row[i];

		if (!row_fits(m, o, devices, groups) || is_listed(&known, m->system))
			continue;
		one = !first;
		first = m;
		text_printf(&known, "%s'%s'", known.length ? ", " : "", m->system);
	}
	if (first && !one)
		error_set(
			e, E_INFEASIBLE, where_option("--measured", o->measured),
			"has timings of several systems, expected --system and one of "
			"%s",
			known.s);
	text_free(&known);
	return e->code;
}

/* Says that a table has no timing that fits, or but of `others`, sizes that were not asked for. */
static enum status none_fits(const struct perf_sizes_text *o, int32_t devices,
                             bool others, struct error *e)
{
	return error_set(e, E_INFEASIBLE, where_option("--measured", o->measured),
	                 "has %s of %s on %d devices%s%s%s%s",
	                 others ? "timings" : "no timing", o->collective, (int)devices,
	                 o->system ? " by --system '" : "", o->system ? o->system : "",
	                 o->system ? "'" : "",
	                 others ? ", but none of these sizes" : "");
}

enum status perf_sizes_measured(struct perf_sizes *out, struct arena *a,
                                const struct perf_sizes_text *o, const struct groups *g,
                                struct error *e)
{
	struct measured_table t;
	int32_t devices = g->size, groups = g->ngroups;
	int64_t lo, hi, tiny = 0;
	bool others = false;

	if (range_read(&lo, &hi, o, "0", "1T", g, e) != OK ||
	    measured_read(&t, a, o->measured, e) != OK)
		return e->code;
	if (one_system(&t, o, devices, groups, e) != OK)
		return e->code;
	qsort(t.row, (size_t)t.n, sizeof(*t.row), by_bytes);
	out->bytes = arena_alloc(a, (size_t)t.n, sizeof(*out->bytes));
	out->measured_s = arena_alloc(a, (size_t)t.n, sizeof(*out->measured_s));
	for (int64_t i = 0; i < t.n; i++) {
		const struct measured *m = &t.row[i];

		if (!row_fits(m, o, devices, groups))
			continue;
		others |= m->bytes < lo || m->bytes > hi;
		if (m->bytes < lo || m->bytes > hi ||
		    (out->n && out->bytes[out->n - 1] == m->bytes))
			continue;
		if (!perf_sends(o->collective, devices, m->bytes)) {
			tiny++;
			continue;
		}
		if (!out->n)
			out->launch = m->launch;
		out->bytes[out->n] = m->bytes;
		out->measured_s[out->n++] = m->time_s;
	}
	if (tiny)
		command_note(
			o->measured,
			arena_printf(a,
		                     "%lld timing%s left out, of less than a byte for "
		                     "each device",
		                     (long long)tiny, tiny == 1 ? " is" : "s are"));
	return out->n ? OK : none_fits(o, devices, others, e);
}
