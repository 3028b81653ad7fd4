#include "cli/explain.h"

#include "cli/advice.h"

#include "base/units.h"
#include "notation/notation.h"
#include "plan/plan_json.h"
#include "plan/plan_text.h"
#include "planner/xla/xla.h"
#include "text/columns.h"
#include "text/words.h"

#include <math.h>
#include <string.h>

/* --- planners -------------------------------------------------------------------- */

static bool is_listed(const struct planner *const *chosen, int n, const char *name)
{
	for (int i = 0; i < n; i++)
		if (strcmp(chosen[i]->name, name) == 0)
			return true;
	return false;
}

void explain_planners(const struct planner ***chosen, int *n, struct arena *a)
{
	const struct planner **all;
	int named = *n;

	for (int i = 0; planners[i]; i++)
		*n += !is_listed(*chosen, named, planners[i]->name);
	all = arena_alloc(a, (size_t)*n, sizeof(*all));
	memcpy(all, *chosen, (size_t)named * sizeof(*all));
	*n = named;
	for (int i = 0; planners[i]; i++)
		if (!is_listed(all, named, planners[i]->name))
			all[(*n)++] = planners[i];
	*chosen = all;
}

/* Returns the planner's among the first n measurements, or NULL. */
static const struct measurement *find_measurement(const struct shown *s, int n,
                                                  const char *name)
{
	for (int i = 0; i < n; i++)
		if (strcmp(s->measurement[i].planner, name) == 0)
			return &s->measurement[i];
	return NULL;
}

/* --- what moves ------------------------------------------------------------------ */

/* Where a digit of a mesh axis is: a dimension, or one of these. */
enum { NOWHERE = -1, UNREDUCED = -2 };

/* Returns the dimension that the digit cuts, or NOWHERE or UNREDUCED. */
static int dim_of(const struct layout *l, struct part digit)
{
	for (int dim = 0; dim <= l->rank; dim++) {
		int n;
		const struct part *part = layout_parts(l, dim, &n);

		for (int k = 0; k < n; k++)
			if (part[k].axis == digit.axis && part[k].pre <= digit.pre &&
			    digit.pre < part[k].pre * part[k].size)
				return dim < l->rank ? dim : UNREDUCED;
	}
	return NOWHERE;
}

static bool same_layout_part(struct part a, struct part b)
{
	return a.axis == b.axis && a.pre == b.pre && a.size == b.size;
}

/* Do both layouts have the same parts in this dimension? */
static bool same_dim(const struct layout *a, const struct layout *b, int dim)
{
	int n, m;
	const struct part *p = layout_parts(a, dim, &n), *q = layout_parts(b, dim, &m);

	for (int k = 0; k < n && n == m; k++)
		if (!same_layout_part(p[k], q[k]))
			return false;
	return n == m;
}

static void say_part(struct text *out, const struct problem *p, struct part part,
                     int from, int to)
{
	text_printf(out, "  ");
	part_print(out, &p->mesh, part);
	text_printf(out, ", %d devices, ", part.size);
	if (from == UNREDUCED && to == NOWHERE)
		text_printf(out, "is summed over; the sums are whole on all of them");
	else if (from == UNREDUCED && to >= 0)
		text_printf(out, "is summed over and cuts dimension %d", to);
	else if (from == UNREDUCED)
		text_printf(out, "stays unreduced");
	else if (to == UNREDUCED)
		text_printf(out, "becomes unreduced");
	else if (from == NOWHERE && to == NOWHERE)
		text_printf(out, "holds copies and still does");
	else if (from == NOWHERE)
		text_printf(out, "held copies and cuts dimension %d", to);
	else if (to == NOWHERE)
		text_printf(out,
		            "leaves dimension %d, whose tiles it then holds copies of",
		            from);
	else if (from != to)
		text_printf(out, "moves from dimension %d to %d", from, to);
	else if (same_dim(&p->from, &p->to, from))
		text_printf(out, "stays on dimension %d", from);
	else
		text_printf(out, "stays on dimension %d, which other axes join or leave",
		            from);
	text_printf(out, "\n");
}

/* Says what the digits of an axis do, those that do the same in one line. */
static void say_axis(struct text *out, const struct problem *p, int axis)
{
	int32_t stride = 1, size = p->mesh.axis[axis].size;
	struct part part = {axis, 1, 1};
	int from = NOWHERE, to = NOWHERE;

	for (int x = axis + 1; x < p->mesh.naxes; x++)
		stride *= p->mesh.axis[x].size;
	for (int i = 0; i < p->atoms.n; i++) {
		struct atom atom = p->atoms.atom[i];
		struct part digit = {.axis = axis, .size = atom.size};

		if (atom.stride < stride || atom.stride >= stride * size)
			continue;
		digit.pre = stride * size / (atom.stride * atom.size);
		if (part.size > 1 && dim_of(&p->from, digit) == from &&
		    dim_of(&p->to, digit) == to) {
			part.size *= digit.size;
			continue;
		}
		if (part.size > 1)
			say_part(out, p, part, from, to);
		part = digit;
		from = dim_of(&p->from, digit);
		to = dim_of(&p->to, digit);
	}
	if (part.size > 1)
		say_part(out, p, part, from, to);
}

static void say_moves(struct text *out, const struct problem *p)
{
	text_printf(out, "what moves\n");
	if (p->two_meshes || !p->has_atoms || p->from.kind != LAYOUT_AXES ||
	    p->to.kind != LAYOUT_AXES) {
		text_printf(
			out,
			"  no axes say it: tiles go from the devices of one list to "
			"those of another\n");
		return;
	}
	for (int axis = 0; axis < p->mesh.naxes; axis++)
		say_axis(out, p, axis);
}

/* --- XLA's rules ----------------------------------------------------------------- */

/* Returns the first line, not of a rule within another, that says that its rule applies. */
static const char *fired_rule(const char *words, struct arena *a)
{
	for (const char *line = words; *line; line += strcspn(line, "\n") + 1) {
		const char *at = strstr(line, ": applies");

		if (strncmp(line, "rule ", 5) == 0 && at &&
		    at < line + strcspn(line, "\n"))
			return arena_strndup(a, line, strcspn(line, "\n"));
		if (!strchr(line, '\n'))
			break;
	}
	return NULL;
}

static void say_indented(struct text *out, const char *lines)
{
	while (*lines) {
		size_t n = strcspn(lines, "\n");

		text_printf(out, "%s%.*s\n", n ? "  " : "", (int)n, lines);
		lines += n + (lines[n] == '\n');
	}
}

static void say_bytes(struct text *out, int64_t bytes)
{
	units_print_bytes(out, (double)bytes);
}

static void say_rules(struct text *out, const struct problem *p,
                      const struct measurement *m, struct arena *a)
{
	bool today = strcmp(m->planner, "xla") == 0;
	struct text words = {0};
	const char *lines, *rule;

	xla_explain(&words, p, today);
	lines = text_take(&words, a);
	rule = fired_rule(lines, a);
	text_printf(out, "\nwhat %s does\n", m->planner);
	say_indented(out, lines);
	if (!*lines)
		text_printf(out, "  nothing: the shardings are the same\n");
	if (rule && strncmp(rule, "rule 10,", 8) == 0 && m->plan && m->plan->full_remat) {
		text_printf(out, "  full rematerialization, because no rule for two "
		                 "shardings applies: every device holds ");
		say_bytes(out, m->plan->peak_array_bytes);
		text_printf(out, " where ");
		say_bytes(out, p->memory_bound_bytes);
		text_printf(out, " would do\n");
	}
}

/* --- costs ----------------------------------------------------------------------- */

static bool is_timed(const struct shown *s)
{
	return s->bench->nclocks > 0;
}

/* Prints a table of what each planner receives and holds, its time and time over bound. */
static void say_costs(struct text *out, const struct shown *s, struct arena *a)
{
	const char *cell[7] = {"planner", "received", "largest array", "live"};
	int columns = 5 + (is_timed(s) ? 2 : 0);
	struct columns t;

	columns_start(&t, a, columns, 1);
	if (is_timed(s)) {
		cell[4] = s->bench->clock[0]->name;
		cell[5] = "x bound";
	}
	cell[columns - 1] = "";
	columns_row(&t, cell);
	for (int i = 0; i < s->n; i++) {
		const struct measurement *m = &s->measurement[i];
		const struct plan *p = m->plan;

		cell[0] = m->planner;
		cell[1] = p ? words_bytes(a, p->recv_bytes) : "-";
		cell[2] = words_bytes(a, (double)m->peak_array_bytes);
		cell[3] = words_bytes(a, (double)m->peak_live_bytes);
		if (is_timed(s)) {
			cell[4] = words_time(a, m->time_s[0]);
			cell[5] = isnan(m->time_s[0]) || !(m->bound_s > 0)
			                  ? "-"
			                  : arena_printf(a, "%.2f",
			                                 m->time_s[0] / m->bound_s);
		}
		cell[columns - 1] = p ? "" : outcome_name(m->status);
		if (m->status == OUTCOME_OVER_MEMORY)
			cell[columns - 1] =
				arena_printf(a, "over-memory: %s", m->message);
		columns_row(&t, cell);
	}
	text_printf(out, "\nwhat it costs\n");
	columns_print(out, &t, 2);
}

/* Says "the same received, 6 MiB", or "2.33 times less received: 6 MiB instead of 14 MiB". */
static void compare_bytes(struct text *out, const char *what, int64_t best,
                          int64_t baseline)
{
	if (best == baseline) {
		text_printf(out, "  the same %s, ", what);
		say_bytes(out, best);
	} else {
		double ratio = best < baseline ? (double)baseline / (double)best
		                               : (double)best / (double)baseline;

		text_printf(out, "  ");
		if (best > 0 && baseline > 0)
			text_printf(out, "%.2f times ", ratio);
		text_printf(out, "%s %s: ", best < baseline ? "less" : "more", what);
		say_bytes(out, best);
		text_printf(out, " instead of ");
		say_bytes(out, baseline);
	}
	text_printf(out, "\n");
}

static void compare_times(struct text *out, const struct shown *s, double best_s,
                          double baseline_s)
{
	if (isnan(best_s) || isnan(baseline_s))
		return;
	if (fabs(best_s - baseline_s) <= 1e-9 * baseline_s) {
		text_printf(out, "  the same time, ");
		units_print_time(out, best_s);
	} else {
		text_printf(out, "  %s: ", best_s < baseline_s ? "faster" : "slower");
		units_print_time(out, best_s);
		text_printf(out, " instead of ");
		units_print_time(out, baseline_s);
		if (best_s > 0 && best_s < baseline_s) {
			text_printf(out, ", %.2f times, saves ", baseline_s / best_s);
			units_print_time(out, baseline_s - best_s);
		}
	}
	text_printf(out, " (%s)\n", s->bench->clock[0]->name);
}

static void say_best(struct text *out, const struct shown *s,
                     const struct measurement *best, const struct measurement *baseline)
{
	text_printf(out, "\nwhat best does instead\n");
	if (!best->plan) {
		text_printf(out, "  %s: %s\n", outcome_name(best->status),
		            best->message);
		return;
	}
	text_printf(out, "  ");
	plan_print_line(out, best->plan);
	text_printf(out, "\n");
	if (!baseline->plan) {
		text_printf(out, "  %s is %s: %s\n", baseline->planner,
		            outcome_name(baseline->status), baseline->message);
		return;
	}
	compare_bytes(out, "received", best->plan->recv_bytes,
	              baseline->plan->recv_bytes);
	compare_bytes(out, "live memory", best->plan->peak_live_bytes,
	              baseline->plan->peak_live_bytes);
	if (is_timed(s))
		compare_times(out, s, best->time_s[0], baseline->time_s[0]);
}

/* Returns the measurement that `best` is compared with. */
static const struct measurement *find_baseline(const struct shown *s, int named)
{
	const struct measurement *old = find_measurement(s, named, "xla-2021");

	return old && !find_measurement(s, named, "xla")
	               ? old
	               : find_measurement(s, s->n, "xla");
}

/* --- advice ------------------------------------------------------------------------ */

/* Returns the compiler to advise: the first that was chosen, or else the baseline. */
static const struct planner *find_compiler(const struct shown *s, int named,
                                           const struct measurement *baseline)
{
	for (int i = 0; i < named; i++)
		for (const struct planner *const *c = advise_compilers; *c; c++)
			if (strcmp((*c)->name, s->measurement[i].planner) == 0)
				return *c;
	return planner_find(baseline->planner, strlen(baseline->planner));
}

static struct advised find_advice(const struct shown *s, int named, struct arena *a)
{
	const struct measurement *portable = find_measurement(s, s->n, "best-portable");
	const struct plan *guide[] = {portable->plan, NULL};
	struct advised advised = {
		.problem = s->problem,
		.bench = s->bench,
		.compiler = find_compiler(s, named, find_baseline(s, named)),
		.best = find_measurement(s, s->n, "best"),
		.names_mesh = s->names_mesh,
		.manual = s->manual,
		.warned = s->warned,
	};

	advised_make(&advised, guide, a);
	return advised;
}

static void say_advice(struct text *out, const struct shown *s, int named,
                       struct arena *a)
{
	const struct advised advised = find_advice(s, named, a);
	struct text lines = {0};

	text_printf(out, "\nwhat to tell %s\n", advised.compiler->name);
	advised_text(&lines, &advised, a);
	say_indented(out, lines.s);
	text_free(&lines);
}

void explain_text(struct text *out, const struct shown *s, int named, struct arena *a)
{
	const struct measurement *baseline = find_baseline(s, named);

	text_printf(out, "\n");
	say_moves(out, s->problem);
	say_rules(out, s->problem, baseline, a);
	say_costs(out, s, a);
	say_best(out, s, find_measurement(s, s->n, "best"), baseline);
	say_advice(out, s, named, a);
}

/* --- JSON ------------------------------------------------------------------------ */

/* Returns the lines of a section but for its title, without the two spaces before each. */
static json_t *lines_json(struct text *section, struct arena *a)
{
	json_t *lines = json_array();
	const char *line = section->s + (section->s[0] == '\n');

	for (line = strchr(line, '\n') + 1; *line; line += strcspn(line, "\n") + 1)
		json_array_append_new(
			lines,
			json_text(arena_strndup(a, line + 2, strcspn(line, "\n") - 2)));
	text_free(section);
	return lines;
}

static json_t *costs_json(const struct shown *s)
{
	json_t *costs = json_array();

	for (int i = 0; i < s->n; i++) {
		const struct measurement *m = &s->measurement[i];
		const struct plan *p = m->plan;
		json_t *cost = json_object();

		json_object_set_new(cost, "planner", json_string(m->planner));
		json_object_set_new(cost, "status",
		                    json_string(outcome_name(m->status)));
		json_object_set_new(cost, "recv_bytes",
		                    p ? json_integer(p->recv_bytes) : json_null());
		json_object_set_new(cost, "peak_array_bytes",
		                    p ? json_integer(p->peak_array_bytes) : json_null());
		json_object_set_new(cost, "peak_live_bytes",
		                    p ? json_integer(p->peak_live_bytes) : json_null());
		json_object_set_new(cost, "time_s",
		                    json_known(is_timed(s) ? m->time_s[0] : NAN));
		json_array_append_new(costs, cost);
	}
	return costs;
}

json_t *explain_json(const struct shown *s, int named, struct arena *a)
{
	const struct measurement *baseline = find_baseline(s, named);
	const struct advised advised = find_advice(s, named, a);
	struct text moves = {0}, rules = {0}, instead = {0};
	json_t *o = json_object();

	say_moves(&moves, s->problem);
	say_rules(&rules, s->problem, baseline, a);
	say_best(&instead, s, find_measurement(s, s->n, "best"), baseline);
	json_object_set_new(o, "moves", lines_json(&moves, a));
	json_object_set_new(o, "baseline", json_string(baseline->planner));
	json_object_set_new(o, "rules", lines_json(&rules, a));
	json_object_set_new(o, "clock",
	                    is_timed(s) ? json_string(s->bench->clock[0]->name)
	                                : json_null());
	json_object_set_new(o, "costs", costs_json(s));
	json_object_set_new(o, "instead", lines_json(&instead, a));
	json_object_set_new(o, "advice", advised_json(&advised, a));
	return o;
}
