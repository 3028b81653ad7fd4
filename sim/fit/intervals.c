#include "fit/intervals.h"

#include "fit/points.h"
#include "measure/likely.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Times whose intervals stand together: of one size and number of nodes, or training steps. */
struct class
{
	struct points points;
	const char *name; /* the collective of rows that are not of one kind */
	int64_t from_bytes;
	const char *nodes;
};

/* --- gathering ------------------------------------------------------------------------ */

/* Lists the timings of a class of collectives, each its own kind and part of a set. */
static struct points points_of(const struct validation *v, const struct family_fit *fit,
                               int n, int size_class, bool several)
{
	struct points p = {0};
	size_t most = 0;

	for (int i = 0; i < n; i++)
		most += fit[i].nresiduals;
	p.at = xmalloc(most + 1, sizeof(*p.at));
	for (int i = 0; i < n; i++)
		for (size_t k = 0; k < fit[i].nresiduals; k++) {
			const struct fit_residual *r = &fit[i].residual[k];
			const struct measured *m = r->row->row;
			const char *cluster = r->row->entry->cluster;

			if (validation_class(m->bytes) != size_class ||
			    validation_several(v, r->row) != several)
				continue;
			p.at[p.n++] =
				(struct point){.family = fit[i].family,
			                       .cluster = cluster ? cluster : m->set,
			                       .set = m->set,
			                       .part = m->collective,
			                       .kind = m->collective,
			                       .e = r->e};
		}
	points_weigh(&p);
	return p;
}

/*
 * Returns the seconds that are told of a step by constants that were not fitted to it: the
 * shipped ones where none was, else those fitted without its set, else without its model. NaN
 * where there are none.
 */
static double foretold_s(const struct measured_step *s)
{
	if (s->held_out)
		return s->time_s;
	return isnan(s->without_s[HELD_SET]) ? s->without_s[HELD_MODEL]
	                                     : s->without_s[HELD_SET];
}

/* Lists the training steps with experts, or those without; models are the parts of a set. */
static struct points points_of_steps(const struct step_table *t, bool experts)
{
	struct points p = {.at = xmalloc((size_t)t->n + 1, sizeof(*p.at))};

	for (int64_t i = 0; i < t->n; i++) {
		const struct measured_step *s = &t->row[i];

		if (s->experts == experts && !isnan(foretold_s(s)))
			p.at[p.n++] =
				(struct point){.family = s->family,
			                       .cluster = s->set,
			                       .set = s->set,
			                       .part = s->name,
			                       .e = log(s->measured_s / foretold_s(s)),
			                       .held_out = s->held_out};
	}
	points_weigh(&p);
	return p;
}

/* --- printing ------------------------------------------------------------------------- */

static void row_print(struct text *out, const struct class *c, struct which which,
                      const struct width *w, double scale)
{
	text_printf(out, "%s,%s,%lld,%s,%.0f,%.4f,%.4f\n",
	            which.family ? which.family : "*",
	            which.kind ? which.kind : c->name, (long long)c->from_bytes,
	            c->nodes, w->pairs, exp(-scale * w->low), exp(scale * w->high));
}

/* Returns whether no point before this one has its family and, if asked, kind. */
static bool is_first(const struct points *p, size_t i, bool kind)
{
	struct which which = {p->at[i].family, kind ? p->at[i].kind : NULL};

	for (size_t k = 0; k < i; k++)
		if (points_is_of(p, k, which))
			return false;
	return true;
}

static int by_name(const void *a, const void *b)
{
	const struct point *x = a, *y = b;
	int order = strcmp(x->family, y->family);

	return order || !x->kind ? order : strcmp(x->kind, y->kind);
}

/*
 * Prints what a family's sends over a network are sure to where no timings say it and their
 * cost is another family's.
 */
static void sends_print(struct text *out, const struct class *c, const char *family,
                        double scale)
{
	static const char *const name[] = {"all-to-all", "permute"};
	struct arena *a = arena_new();

	for (int i = 0; i < 2 && family_borrows(family, "net_send_s", a); i++) {
		struct which which = {family, name[i]};
		struct width w = points_width(&c->points, which, sqrt(2));

		if (w.pairs > 0)
			continue;
		row_print(out, c, which, &w, scale);
	}
	arena_free(a);
}

/* Prints a class: all families, each family, and its kinds, by name. */
static void class_print(struct text *out, const struct class *c)
{
	const struct points *p = &c->points;
	struct width w = points_width(p, (struct which){0}, 1);
	double scale = points_scale(p);
	struct points named = {.n = p->n, .at = xmalloc(p->n + 1, sizeof(*named.at))};

	memcpy(named.at, p->at, p->n * sizeof(*named.at));
	qsort(named.at, named.n, sizeof(*named.at), by_name);
	row_print(out, c, (struct which){0}, &w, scale);
	for (size_t i = 0; i < named.n; i++) {
		const struct point *q = &named.at[i];
		struct which family = {q->family, NULL}, kind = {q->family, q->kind};

		if (is_first(&named, i, false)) {
			w = points_width(p, family, 1);
			row_print(out, c, family, &w, scale);
			if (!strcmp(c->nodes, "several"))
				sends_print(out, c, q->family, scale);
		}
		if (kind.kind && is_first(&named, i, true)) {
			w = points_width(p, kind, 1);
			row_print(out, c, kind, &w, scale);
		}
	}
	xfree(named.at);
}

/* Says how many times such intervals hold of sets that they are not made of. */
static void held_print(struct text *out, const struct held *held, const char *part)
{
	if (held->pairs > 0)
		text_printf(
			out,
			"# Of %.0f pairs of a set and a %s they hold %.1f %%, without "
			"its cluster.\n",
			held->pairs, part, 100 * held->in / held->pairs);
}

static void collectives_print(struct text *head, struct text *rows,
                              const struct validation *v, const struct family_fit *fit,
                              int n)
{
	struct held held[2] = {{0, 0}};

	for (int several = 0; several < 2; several++)
		for (int k = 0; k < VALIDATION_CLASSES; k++) {
			struct class c = {.points = points_of(v, fit, n, k, several),
			                  .name = "*",
			                  .from_bytes = validation_class_from(k),
			                  .nodes = several ? "several" : "one"};

			if (c.points.n)
				class_print(rows, &c);
			points_held(&held[c.from_bytes >= FIT_LARGE], &c.points, false);
			points_free(&c.points);
		}
	held_print(head, &held[0], "collective below 1 MiB");
	held_print(head, &held[1], "collective from 1 MiB on");
}

static void steps_print(struct text *head, struct text *rows, const struct step_table *t)
{
	struct held held = {0, 0}, out = {0, 0};

	for (int experts = 0; experts < 2; experts++) {
		struct class c = {.points = points_of_steps(t, experts),
		                  .name = likely_step_name(experts),
		                  .nodes = "any"};

		if (c.points.n)
			class_print(rows, &c);
		points_held(&held, &c.points, false);
		points_held(&out, &c.points, true);
		points_free(&c.points);
	}
	held_print(head, &held, "model of training steps");
	held_print(head, &out, "model to which nothing is fitted");
}

void intervals_print(struct text *out, const struct validation *v,
                     const struct family_fit *fit, int n,
                     const struct step_table *steps, const char *command)
{
	struct text rows = {0};

	text_printf(out,
	            "# Between which factors of a simulated time four timings of five "
	            "lie\n# (sim/fit/intervals.h). Written by `%s`.\n",
	            command);
	collectives_print(out, &rows, v, fit, n);
	if (steps)
		steps_print(out, &rows, steps);
	text_printf(out, "family,collective,from_bytes,nodes,pairs,low,high\n%s",
	            rows.s ? rows.s : "");
	text_free(&rows);
}
