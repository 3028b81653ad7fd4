#include "cli/advice.h"
#include "cli/warned.h"

#include "base/units.h"
#include "emit/constraint.h"
#include "notation/notation.h"
#include "plan/plan_text.h"
#include "plan/position.h"
#include "text/columns.h"
#include "text/words.h"

#include <math.h>
#include <string.h>

extern const struct planner planner_xla, planner_xla_2021;

/* --- finding ----------------------------------------------------------------------- */

bool advised_fits(const struct advised *a)
{
	return !a->bench->machine ||
	       position_needs(a->problem) <= a->bench->machine->ndevices;
}

void advised_name_axes(struct mesh *m, struct arena *arena)
{
	for (int i = 0; i < m->naxes; i++)
		if (strncmp(m->axis[i].name, "axis_", 5) != 0)
			return;
	for (int i = 0; i < m->naxes; i++)
		m->axis[i].name = i < 26 ? arena_printf(arena, "%c", 'a' + i)
		                         : arena_printf(arena, "a%d", i);
}

static bool is_full(const struct shape *tile, const struct shape *whole, int first)
{
	for (int dim = first; dim < whole->rank; dim++)
		if (tile->dim[dim] < whole->dim[dim])
			return false;
	return true;
}

bool advised_rematerializes(const struct plan *plan, int manual)
{
	struct shape from, to;

	if (!manual || !plan)
		return plan && plan->full_remat;
	from = layout_local(&plan->from, &plan->shape);
	to = layout_local(&plan->to, &plan->shape);
	for (int i = 0; i < plan->nsteps; i++)
		if (is_full(&plan->step[i].local, &plan->shape, manual) &&
		    !is_full(&from, &plan->shape, manual) &&
		    !is_full(&to, &plan->shape, manual))
			return true;
	return false;
}

static double cost_of(const struct advised *a, const struct plan *plan)
{
	return plan ? a->prices.plan(a->prices.self, plan).cost : NAN;
}

/*
 * Asks once more, of a compiler that does rematerialize, where none of this project does.
 * Keeps what there is where gathering everything cannot be planned.
 */
static void advise_warned(struct advised *a, struct advise_ask *ask, struct arena *arena)
{
	struct advice advice;

	a->version = "neither XLA of today nor that of 2021 rematerializes here";
	ask->compiler = warned_compiler(a->advice.plan, a->manual > 0);
	advise(&advice, ask, arena);
	if (!advice.plan)
		return;
	a->version = arena_printf(
		arena,
		"neither XLA of today nor that of 2021 rematerializes here, which "
		"would cost %s; what was warned of is priced: everything gathered, "
		"then sliced. Layouts between are for a compiler that does so",
		advised_cost(a, (struct price){.cost = cost_of(a, a->advice.plan)},
	                     arena));
	a->compiler = ask->compiler;
	a->advice = advice;
	a->logged = cost_of(a, advice.plan);
}

/* Finds out whether XLA of today would have warned, and what that of 2021 says. */
static void find_version(struct advised *a, struct advise_ask *ask, struct arena *arena)
{
	struct text why = {0};
	struct plan *old = NULL;

	if (a->compiler != &planner_xla || !a->advice.plan ||
	    advised_rematerializes(a->advice.plan, a->manual))
		return;
	if (!a->manual)
		planner_run(&planner_xla_2021, &old, a->problem, &a->prices, arena,
		            &why);
	text_free(&why);
	if (!advised_rematerializes(old, 0)) {
		advise_warned(a, ask, arena);
		return;
	}
	a->logged = cost_of(a, old);
	a->version =
		arena_printf(arena,
	                     "XLA of today does not rematerialize here; that of "
	                     "2021 does, which costs %s",
	                     advised_cost(a, (struct price){.cost = a->logged}, arena));
}

void advised_make(struct advised *a, const struct plan *const *guide,
                  struct arena *arena)
{
	const struct plan *guides[8];
	struct advise_ask ask = {.problem = a->problem,
	                         .compiler = a->compiler,
	                         .guide = guides,
	                         .held = a->manual};
	struct advice *advice = &a->advice;
	int n = 0;

	a->prices = a->bench->pricer ? pricer_prices(a->bench->pricer) : prices_bytes;
	ask.prices = &a->prices;
	if (a->best->plan)
		guides[n++] = a->best->plan;
	for (; *guide && n < 7; guide++)
		guides[n++] = *guide;
	guides[n] = NULL;
	if (advised_fits(a))
		advise(advice, &ask, arena);
	else
		*advice = (struct advice){.alone = ANSWER_NOT_APPLICABLE,
		                          .why = a->best->message};
	a->version = NULL;
	a->logged = cost_of(a, advice->plan);
	if (a->warned)
		find_version(a, &ask, arena);
	a->alone = NULL;
	if (advice->nchains > 0 && advice->chain[0].nhops == 1) {
		a->alone = advice->chain[0].hop[0].plan;
		a->alone_price = advice->chain[0].price;
	}
	if (a->best->plan)
		a->best_price = a->prices.plan(a->prices.self, a->best->plan);
}

const struct advised_chain *advised_chain(const struct advised *a)
{
	return a->advice.nchains > 0 ? &a->advice.chain[a->advice.nchains - 1] : NULL;
}

bool advised_gains(const struct advised *a)
{
	const struct advised_chain *c = advised_chain(a);

	return c && c->nhops > 1;
}

/* --- words ------------------------------------------------------------------------- */

bool advised_timed(const struct advised *a)
{
	return a->bench->machine != NULL;
}

const char *advised_cost(const struct advised *a, struct price price,
                         struct arena *arena)
{
	return advised_timed(a) ? words_time(arena, price.cost)
	                        : words_bytes(arena, price.cost);
}

static const char *layout_words(const struct advised *a, const struct layout *l,
                                const struct mesh *m, struct arena *arena)
{
	struct text out = {0};

	layout_print(&out, l, m, &a->problem->array.shape);
	return text_take(&out, arena);
}

const char *advised_hop(const struct advised *a, const struct advised_chain *c, int i,
                        struct arena *arena)
{
	const struct problem *q = c->hop[i].problem;

	return layout_words(a, &q->to, &q->to_mesh, arena);
}

const char *advised_layouts(const struct advised *a, const struct advised_chain *c,
                            struct arena *arena)
{
	struct text out = {0};

	for (int i = 0; i < c->nhops - 1; i++)
		text_printf(&out, "%s%s", i ? ", " : "", advised_hop(a, c, i, arena));
	return out.s ? text_take(&out, arena) : "-";
}

static double ratio_of(struct price a, struct price b)
{
	return b.cost > 0 ? a.cost / b.cost : NAN;
}

static const char *ratio_words(double ratio, struct arena *arena)
{
	return isnan(ratio) ? "-" : arena_printf(arena, "%.2f", ratio);
}

/* Says what the compiler does by itself, and what `best` costs. */
static void say_ends(struct text *out, const struct advised *a, struct arena *arena)
{
	const struct measurement *best = a->best;

	text_printf(out, "%s alone: ", a->compiler->name);
	if (a->alone) {
		text_printf(out, "%s, ", advised_cost(a, a->alone_price, arena));
		plan_print_line(out, a->alone);
		text_printf(out, "%s\n",
		            advised_rematerializes(a->alone, a->manual)
		                    ? " (full rematerialization)"
		                    : "");
	} else {
		text_printf(out, "%s: %s\n",
		            a->advice.alone == ANSWER_OVER_MEMORY ? "over-memory"
		                                                  : "not-applicable",
		            a->advice.why);
	}
	text_printf(out, "%s: ", best->planner);
	if (best->plan) {
		text_printf(out, "%s, ", advised_cost(a, a->best_price, arena));
		plan_print_line(out, best->plan);
		text_printf(out, "\n");
	} else {
		text_printf(out, "%s: %s\n", outcome_name(best->status), best->message);
	}
}

/* Prints a row for each number of layouts between that makes it cheaper. */
static void say_chains(struct text *out, const struct advised *a, struct arena *arena)
{
	const char *cell[7] = {
		"layouts between", advised_timed(a) ? "model" : "received",
		"faster",          "x best",
		"x bound",         "live"};
	struct columns t;

	columns_start(&t, arena, 7, 1);
	cell[6] = "";
	columns_row(&t, cell);
	for (int i = 0; i < a->advice.nchains; i++) {
		const struct advised_chain *c = &a->advice.chain[i];
		double bound = advised_timed(a) ? a->best->bound_s
		                                : (double)a->problem->recv_bound_bytes;
		double alone = a->alone ? ratio_of(a->alone_price, c->price) : NAN;
		double best = a->best->plan ? ratio_of(c->price, a->best_price) : NAN;

		cell[0] = arena_printf(arena, "%d", c->nhops - 1);
		cell[1] = advised_cost(a, c->price, arena);
		cell[2] = ratio_words(alone, arena);
		cell[3] = ratio_words(best, arena);
		cell[4] = ratio_words(bound > 0 ? c->price.cost / bound : NAN, arena);
		cell[5] = words_bytes(arena, (double)c->peak_live_bytes);
		cell[6] = c->nhops > 1 ? advised_layouts(a, c, arena) : "none";
		columns_row(&t, cell);
	}
	columns_print(out, &t, 2);
}

/* Prints a row for each hop of a chain. */
static void say_hops(struct text *out, const struct advised *a,
                     const struct advised_chain *c, struct arena *arena)
{
	const char *cell[3] = {"to", advised_timed(a) ? "model" : "received", NULL};
	struct columns t;

	cell[2] = arena_printf(arena, "what %s does", a->compiler->name);
	columns_start(&t, arena, 3, 1);
	columns_row(&t, cell);
	for (int i = 0; i < c->nhops; i++) {
		struct text line = {0};

		plan_print_line(&line, c->hop[i].plan);
		cell[0] = advised_hop(a, c, i, arena);
		cell[1] = advised_cost(a, c->hop[i].price, arena);
		cell[2] = text_take(&line, arena);
		columns_row(&t, cell);
	}
	columns_print(out, &t, 2);
}

struct constraints advised_constraints(struct constraint *at, const struct advised *a,
                                       const struct advised_chain *c)
{
	for (int i = 0; i < c->nhops - 1; i++)
		at[i] = (struct constraint){&c->hop[i].problem->to,
		                            &c->hop[i].problem->to_mesh};
	return (struct constraints){.problem = a->problem,
	                            .n = c->nhops - 1,
	                            .at = at,
	                            .names_mesh = a->names_mesh,
	                            .manual = a->manual};
}

/* Prints each line of a text indented. */
static void say_lines(struct text *out, const char *lines)
{
	for (; *lines; lines += strcspn(lines, "\n") + 1)
		text_printf(out, "    %.*s\n", (int)strcspn(lines, "\n"), lines);
}

static void say_forms(struct text *out, const struct advised *a,
                      const struct advised_chain *c, struct arena *arena)
{
	struct constraint at[ADVISE_MOST];
	struct constraints constraints = advised_constraints(at, a, c);

	for (int form = 0; form < CONSTRAINT_FORMS; form++) {
		struct text lines = {0}, why = {0};

		text_printf(out, "  %s", constraint_form_title(form));
		if (constraints_print(&lines, form, &constraints, &why)) {
			text_printf(out, "\n");
			say_lines(out, text_take(&lines, arena));
		} else {
			text_printf(out, ": cannot say it: %s\n", why.s);
		}
		text_free(&why);
	}
}

/* Prints "((0, 0), (0, 1))", or "[:, :4095]" with `cut`. */
static void say_sizes(struct text *out, const struct shape *real,
                      const struct shape *padded, bool cut)
{
	text_printf(out, cut ? "[" : "(");
	for (int dim = 0; dim < real->rank; dim++) {
		long long n = (long long)real->dim[dim];

		text_printf(out, "%s", dim ? ", " : "");
		if (!cut)
			text_printf(out, "(0, %lld)", (long long)padded->dim[dim] - n);
		else if (real->dim[dim] < padded->dim[dim])
			text_printf(out, ":%lld", n);
		else
			text_printf(out, ":");
	}
	text_printf(out, cut ? "]" : real->rank == 1 ? ",)" : ")");
}

bool advised_padded_jax(struct text *out, const struct advised *a, struct text *why)
{
	const struct advised_padding *p = &a->advice.padding;
	struct constraint at[ADVISE_MOST + 2];
	struct constraints all = advised_constraints(at + 1, a, &p->chain);
	const struct shape *real = &a->problem->array.shape;
	const struct shape *padded = &p->problem->array.shape;
	struct text lines = {0};
	bool said;

	at[0] = (struct constraint){&p->problem->from, &p->problem->mesh};
	at[all.n + 1] = (struct constraint){&p->problem->to, &p->problem->to_mesh};
	all.problem = p->problem;
	all.at = at;
	all.n += 2;
	said = constraints_print(&lines, CONSTRAINT_JAX, &all, why);
	if (said) {
		text_printf(out, "x = jnp.pad(x, ");
		say_sizes(out, real, padded, false);
		text_printf(out, ")\n%sx = x", lines.s);
		say_sizes(out, real, padded, true);
		text_printf(out, "\n");
	}
	text_free(&lines);
	return said;
}

const char *advised_padded_array(const struct advised *a, struct arena *arena)
{
	struct text out = {0};

	array_print(&out, &a->advice.padding.problem->array);
	return text_take(&out, arena);
}

/* Says what a padded array would make of it. */
static void say_padding(struct text *out, const struct advised *a, struct arena *arena)
{
	const struct advised_padding *p = &a->advice.padding;
	struct text lines = {0}, why = {0};

	if (!p->problem)
		return;
	text_printf(out, "\npadded to %s first, for %s: %s in all",
	            advised_padded_array(a, arena), advised_cost(a, p->pad, arena),
	            advised_cost(a, p->chain.price, arena));
	if (a->alone)
		text_printf(out, ", %s times as fast",
		            ratio_words(ratio_of(a->alone_price, p->chain.price), arena));
	text_printf(out, "\n");
	say_hops(out, a, &p->chain, arena);
	if (advised_padded_jax(&lines, a, &why)) {
		text_printf(out, "  JAX\n");
		say_lines(out, text_take(&lines, arena));
	}
	text_free(&why);
}

/* Says which layouts between make the compiler cheaper, or that none do. */
static void say_advice(struct text *out, const struct advised *a, struct arena *arena)
{
	const struct advised_chain *c = advised_chain(a);

	if (!c) {
		text_printf(out, "no layouts between that were tried give %s a plan\n",
		            a->compiler->name);
		return;
	}
	if (!advised_gains(a)) {
		text_printf(out, "nothing to gain: no layouts between make %s cheaper\n",
		            a->compiler->name);
		return;
	}
	text_printf(out, "\n");
	say_chains(out, a, arena);
	text_printf(out, "\nadvice: %d layout%s between\n", c->nhops - 1,
	            c->nhops > 2 ? "s" : "");
	say_hops(out, a, c, arena);
	say_forms(out, a, c, arena);
}

void advised_text(struct text *out, const struct advised *a, struct arena *arena)
{
	if (a->version)
		text_printf(out, "note: %s\n", a->version);
	say_ends(out, a, arena);
	say_advice(out, a, arena);
	say_padding(out, a, arena);
}
