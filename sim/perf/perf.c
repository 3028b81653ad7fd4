#include "perf/perf.h"

#include "bound/bound.h"
#include "collective/lower.h"
#include "cost/steps.h"

#include "base/suggest.h"

#include <math.h>
#include <string.h>

/*
 * The collectives as problems, of which the bounds are made: what each does to an array
 * that is laid out over g groups (axis "g") of n devices (axis "x"). With `from_roots`
 * or `to_roots` the mesh of that side is the first device of each group. With `shift`
 * the target mesh is the source's mesh, one device on.
 */
static const struct {
	const char *name;
	enum op op;
	bool per_device; /* a whole number of 16 bytes for each device */
	enum { BUFFER, PER_DEVICE, SENDS } shape;
	const char *from, *to;
	bool from_roots, to_roots, shift;
} kinds[] = {
	{"all-gather", OP_ALL_GATHER, true, BUFFER, "P('g', 'x')", "P('g', None)",
         false, false, false},
	{"reduce-scatter", OP_REDUCE_SCATTER, true, BUFFER,
         "P('g', None, unreduced={'x'})", "P('g', 'x')", false, false, false},
	{"all-reduce", OP_ALL_REDUCE, false, BUFFER, "P('g', None, unreduced={'x'})",
         "P('g', None)", false, false, false},
	{"all-to-all", OP_ALL_TO_ALL, true, SENDS, "P('g', 'x', None)",
         "P('g', None, 'x')", false, false, false},
	{"permute", OP_PERMUTE, false, PER_DEVICE, "P('g', 'x')", "P('g', 'x')", false,
         false, true},
	{"broadcast", OP_BROADCAST, false, BUFFER, "P('g', None)", "P('g', None)", true,
         false, false},
	{"reduce", OP_REDUCE, false, BUFFER, "P('g', None, unreduced={'x'})",
         "P('g', None)", false, true, false},
};

enum { KINDS = (int)(sizeof(kinds) / sizeof(*kinds)) };

static int kind_of_collective(const char *name)
{
	for (int i = 0; i < KINDS; i++)
		if (!strcmp(kinds[i].name, name))
			return i;
	return -1;
}

bool perf_op(enum op *out, const char *name, struct where at, struct error *e)
{
	int kind = kind_of_collective(name);
	struct suggestion near;
	struct text known = {0};

	if (kind >= 0) {
		*out = kinds[kind].op;
		return true;
	}
	near = suggest_start(name, strlen(name));
	for (int i = 0; i < KINDS; i++) {
		suggest_offer(&near, kinds[i].name);
		text_printf(&known, "%s%s", i ? ", " : "", kinds[i].name);
	}
	error_set(e, E_RANGE, at, "unknown collective '%s', expected one of %s%s", name,
	          known.s, suggest_ask(&near, ""));
	text_free(&known);
	return false;
}

int64_t perf_unit_bytes(const char *collective, int32_t devices)
{
	int kind = kind_of_collective(collective);

	return kind >= 0 && kinds[kind].per_device ? 16 * (int64_t)devices
	                                           : PERF_ELEMENT_BYTES;
}

int64_t perf_bytes(const char *collective, int32_t devices, int64_t bytes)
{
	int64_t unit = perf_unit_bytes(collective, devices);

	return bytes / unit * unit;
}

bool perf_sends(const char *collective, int32_t devices, int64_t bytes)
{
	return strcmp(collective, "all-to-all") != 0 || bytes >= devices;
}

/*
 * Makes a list of the devices of all groups, each moved on by `shift` inside its group,
 * or of the first device of each.
 */
static const char *device_list(const struct groups *g, bool roots, int shift,
                               struct arena *a)
{
	struct text out = {0};
	int32_t each = roots ? 1 : g->size;

	for (int32_t i = 0; i < g->ngroups; i++)
		for (int32_t k = 0; k < each; k++)
			text_printf(
				&out, "%s%d", i || k ? "," : "",
				(int)g->ids[(int64_t)i * g->size + (k + shift) % g->size]);
	return text_take(&out, a);
}

static const char *mesh_text(const struct groups *g, bool roots, struct arena *a)
{
	return arena_printf(a, "g=%d,x=%d", (int)g->ngroups, roots ? 1 : (int)g->size);
}

bool perf_problem(struct problem *out, const struct perf *p, int64_t bytes,
                  struct arena *a)
{
	int kind = kind_of_collective(p->collective);
	long long all = (long long)bytes *
	                (kinds[kind].shape == PER_DEVICE ? p->groups.size : 1);
	struct groups g = p->groups;
	struct problem_text text = {.from = kinds[kind].from, .to = kinds[kind].to};
	struct error e = {0};

	text.array = kinds[kind].shape == SENDS
	                     ? arena_printf(a, "u8[%d,%d,%lld]", (int)g.ngroups,
	                                    (int)g.size, all)
	                     : arena_printf(a, "u8[%d,%lld]", (int)g.ngroups, all);
	text.mesh = mesh_text(&g, kinds[kind].from_roots, a);
	text.devices = device_list(&g, kinds[kind].from_roots, 0, a);
	if (kinds[kind].shift || kinds[kind].from_roots || kinds[kind].to_roots) {
		bool roots = kinds[kind].to_roots;

		text.to_mesh = mesh_text(&g, roots, a);
		text.to_devices = device_list(&g, roots, kinds[kind].shift, a);
	}
	return problem_make(out, a, &text, &e) == OK;
}

/* Returns the least seconds that any algorithm needs; they are 0 for no bytes. */
static double least_s(const struct perf *p, int64_t bytes, struct arena *a)
{
	struct problem problem;
	struct placement place;

	if (!bytes || p->groups.size < 2 || !perf_problem(&problem, p, bytes, a))
		return 0;
	place = (struct placement){problem.ndevices, problem.platform};
	return bound_s(&problem, p->machine, place.platform ? &place : NULL);
}

bool perf_time(struct perf_run *out, const struct perf *p, int64_t bytes,
               clock_fn *clock, void *self, struct arena *a, struct text *why)
{
	double held = (double)bytes;
	char message[256] = "";
	struct clock_rounds r = {clock, self, message, sizeof(message), 0};
	struct lowered l;

	if (p->op == OP_ALL_GATHER)
		held /= p->groups.size;
	if (p->by_round
	            ? !lower_collective_rounds(&l, a, p->machine, p->op, p->groups,
	                                       held, clock_rounds_read, &r, why)
	            : !lower_collective(&l, a, p->machine, p->op, p->groups, held, why))
		return false;
	if (!p->by_round)
		r.wire_s = clock(self, &l.schedule, message, sizeof(message));
	*out = (struct perf_run){r.wire_s + l.launch_s, l.algorithm, l.protocol, NULL};
	if (r.wire_s == CLOCK_REFUSED_S) {
		out->time_s = NAN;
		out->refusal = arena_strdup(a, message);
	} else if (r.wire_s < 0) {
		text_printf(why, "%s", message);
		return false;
	}
	return true;
}

double perf_bus_factor(const char *collective, int32_t devices)
{
	double n = devices;

	if (!strcmp(collective, "all-reduce"))
		return 2 * (n - 1) / n;
	if (!strcmp(collective, "all-gather") ||
	    !strcmp(collective, "reduce-scatter") || !strcmp(collective, "all-to-all"))
		return (n - 1) / n;
	return 1;
}

bool perf_measure(struct perf_row *out, const struct perf *p, int64_t bytes,
                  clock_fn *clock, void *self, struct arena *a, struct text *why)
{
	int kind = kind_of_collective(p->collective);
	int64_t each = kinds[kind].per_device ? bytes / p->groups.size : bytes;
	struct perf_run run;

	*out = (struct perf_row){.bytes = bytes,
	                         .count = each / PERF_ELEMENT_BYTES,
	                         .likely_s = {NAN, NAN}};
	if (!bytes) {
		out->time_s = out->algbw_Bps = out->busbw_Bps = NAN;
		out->algorithm = "-";
		out->refusal = "less than an element for each device";
		return true;
	}
	if (!perf_time(&run, p, bytes, clock, self, a, why))
		return false;
	out->time_s = run.time_s;
	out->algorithm = run.algorithm;
	out->protocol = run.protocol;
	out->refusal = run.refusal;
	out->algbw_Bps = run.refusal       ? NAN
	                 : out->time_s > 0 ? (double)bytes / out->time_s
	                                   : 0;
	out->busbw_Bps = out->algbw_Bps * perf_bus_factor(p->collective, p->groups.size);
	out->bound_s = least_s(p, bytes, a);
	return true;
}

void perf_likely(struct perf_row *row, const struct perf *p,
                 const struct likely_table *t)
{
	row->likely_s =
		likely_find(t, p->machine, p->collective, row->bytes,
	                    likely_several(p->machine, p->groups.ids, p->groups.size));
	row->likely_s.low *= row->time_s;
	row->likely_s.high *= row->time_s;
}
