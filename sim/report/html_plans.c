/* Scenarios with a part of their own: plans as time lines, steps, busiest links. */
#include "measure/timeline.h"
#include "report/html.h"
#include "report/select.h"
#include "text/words.h"

#include <math.h>
#include <string.h>

enum { LEFT = 150, RIGHT = 660, WIDTH = 800, TOP = 8, BAND = 26, BAR = 16 };

/* Times beyond this many times the fastest are cut off. */
#define CUT 6

/* Rows of one case that have the same plan and time. */
struct same {
	const struct row *row; /* the first of them */
	const char *names;     /* all: "best, digit" */
	const char *label;     /* short: "digit +1" */
	const char **text; /* [nsteps] of the steps as they are printed; NULL: unknown */
	struct timeline_step *step;
	int nsteps;
};

/* --- plans -------------------------------------------------------------------------- */

/* The steps of a printed plan, which "; " joins; NULL unless there are n. */
static const char **split_steps(struct arena *a, const char *steps, int n)
{
	const char **out = arena_alloc(a, (size_t)n + 1, sizeof(*out));
	int found = 0;

	while (*steps) {
		bool quoted = false;
		size_t length = 0;

		while (steps[length] && (quoted || strncmp(steps + length, "; ", 2) != 0))
			quoted ^= steps[length++] == '"';
		if (found == n)
			return NULL;
		out[found++] = arena_strndup(a, steps, length);
		steps += length + (steps[length] ? 2 : 0);
	}
	return found == n ? out : NULL;
}

static bool is_same(const struct row *a, const struct row *b)
{
	return a->time_s == b->time_s && strcmp(a->steps, b->steps) == 0;
}

/* Inserts a row among n that are sorted by time, behind equal ones. */
static void insert_row(const struct row **row, size_t n, const struct row *r)
{
	for (; n > 0 && row[n - 1]->time_s > r->time_s; n--)
		row[n] = row[n - 1];
	row[n] = r;
}

/* Finds the distinct plans of a case that have times, at most c->n, the fastest first. */
static size_t find_plans(struct same *out, struct arena *a, const struct html_case *c)
{
	const struct row **row = arena_alloc(a, c->n, sizeof(*row));
	size_t rows = 0, n = 0;

	for (size_t i = 0; i < c->n; i++)
		if (report_timed(c->row[i]))
			insert_row(row, rows++, c->row[i]);
	for (size_t i = 0; i < rows; i++) {
		struct same *s = &out[n];
		size_t more = 0;

		if (!row[i])
			continue;
		*s = (struct same){.row = row[i], .names = row[i]->planner};
		for (size_t k = i + 1; k < rows; k++) {
			if (!row[k] || !is_same(row[i], row[k]))
				continue;
			s->names = arena_printf(a, "%s, %s", s->names, row[k]->planner);
			row[k] = NULL;
			more++;
		}
		s->label = more ? arena_printf(a, "%s +%zu", s->row->planner, more)
		                : s->names;
		s->nsteps = timeline_read(&s->step, a, s->row->timeline);
		s->text = split_steps(a, s->row->steps, s->nsteps);
		n++;
	}
	return n;
}

static const char *step_text(const struct same *s, int i)
{
	return s->text ? s->text[i] : s->step[i].op;
}

static const char *busiest_text(struct arena *a, const struct timeline_step *s)
{
	struct text t = {0};

	for (int i = 0; i < s->nlinks; i++)
		text_printf(&t, "%s%s %s (%s)", i ? "; " : "", s->link[i].name,
		            words_bytes(a, s->link[i].bytes),
		            words_time(a, s->link[i].busy_s));
	if (s->busiest > 1)
		text_printf(&t, "; %lld links as busy as the first",
		            (long long)s->busiest);
	return t.length ? text_take(&t, a) : "-";
}

/* --- time lines --------------------------------------------------------------------- */

static void draw_steps(const struct page *p, const struct same *s, double most_s,
                       double top)
{
	struct arena *a = p->arena;
	double from_s = 0, scale = (RIGHT - LEFT) / most_s;

	for (int i = 0; i < s->nsteps && from_s < most_s; i++) {
		const struct timeline_step *step = &s->step[i];
		double to_s = fmin(from_s + step->time_s, most_s);

		if (!(to_s > from_s))
			continue;
		fprintf(p->out,
		        "<rect class=\"op %s\" x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" "
		        "height=\"%d\"><title>%s: %s",
		        html_id(a, step->op), LEFT + from_s * scale, top,
		        fmax(0.6, (to_s - from_s) * scale), BAR,
		        html_escape(a, step_text(s, i)), words_time(a, step->time_s));
		if (step->algorithm)
			fprintf(p->out, ", %s", html_escape(a, step->algorithm));
		if (step->recv_bytes > 0)
			fprintf(p->out, ", receives %s",
			        words_bytes(a, step->recv_bytes));
		if (step->nlinks)
			fprintf(p->out, "; busiest: %s",
			        html_escape(a, busiest_text(a, step)));
		fputs("</title></rect>\n", p->out);
		from_s += step->time_s;
	}
}

static void draw_plans(const struct page *p, const struct same *plan, size_t n,
                       const char *title)
{
	struct arena *a = p->arena;
	double least_s = plan[0].row->time_s, most_s = plan[n - 1].row->time_s;
	FILE *out = p->out;

	if (least_s > 0)
		most_s = fmin(most_s, CUT * least_s);
	if (!(most_s > 0))
		most_s = 1;
	fprintf(out,
	        "<div class=\"scroll\" tabindex=\"0\"><svg viewBox=\"0 0 %d %.0f\" "
	        "role=\"img\" aria-label=\"%s\"><title>%s</title>\n",
	        WIDTH, TOP + BAND * (double)n, title, title);
	for (size_t i = 0; i < n; i++) {
		const struct same *s = &plan[i];
		double top = TOP + BAND * (double)i;
		bool cut = s->row->time_s > most_s * (1 + 1e-9);

		fprintf(out,
		        "<text x=\"%d\" y=\"%.1f\" class=\"name\">%s<title>%s</title>"
		        "</text>\n",
		        LEFT - 8, top + 13, html_escape(a, s->label),
		        html_escape(a, s->names));
		draw_steps(p, s, most_s, top);
		fprintf(out, "<text x=\"%.1f\" y=\"%.1f\">%s%s</text>\n",
		        LEFT + 8 + (RIGHT - LEFT) * fmin(s->row->time_s / most_s, 1),
		        top + 13, cut ? "⋯ " : "", words_time(a, s->row->time_s));
	}
	fputs("</svg></div>\n", out);
}

/* --- tables ------------------------------------------------------------------------- */

static void write_planners(const struct page *p, const struct html_case *c)
{
	struct arena *a = p->arena;
	FILE *out = p->out;

	fputs("<div class=\"scroll\" tabindex=\"0\"><table><thead><tr>"
	      "<th>planner</th><th>status</th><th class=\"r\">time</th>"
	      "<th class=\"r\">speedup</th><th class=\"r\">x bound</th>"
	      "<th class=\"r\">received</th><th class=\"r\">largest array</th>"
	      "<th class=\"r\">memory</th><th>plan, or why there is none</th>"
	      "</tr></thead>\n<tbody>\n",
	      out);
	for (size_t i = 0; i < c->n; i++) {
		const struct row *r = c->row[i];
		bool timed = report_timed(r);

		fprintf(out,
		        "<tr><td>%s</td><td>%s</td><td class=\"r\">%s</td>"
		        "<td class=\"r\">%s</td><td class=\"r\">%s</td>",
		        html_escape(a, r->planner), outcome_name(r->status),
		        words_time(a, timed ? r->time_s : NAN),
		        words_ratio(a, timed && c->baseline && r->time_s > 0
		                               ? c->baseline->time_s / r->time_s
		                               : NAN),
		        words_ratio(a, timed && r->bound_s > 0 ? r->time_s / r->bound_s
		                                               : NAN));
		fprintf(out,
		        "<td class=\"r\">%s</td><td class=\"r\">%s</td>"
		        "<td class=\"r\">%s</td><td class=\"p\">%s%s</td></tr>\n",
		        words_bytes(a, r->recv_bytes),
		        words_bytes(a, r->peak_array_bytes),
		        words_bytes(a, r->peak_live_bytes),
		        html_escape(a, r->status == OUTCOME_OK ? r->steps : r->message),
		        r->full_remat ? " <small>(full rematerialization)</small>" : "");
	}
	fputs("</tbody></table></div>\n", out);
}

static void write_step(const struct page *p, const struct same *s, int i)
{
	const struct timeline_step *step = &s->step[i];
	struct arena *a = p->arena;
	double part = s->row->time_s > 0 ? step->time_s / s->row->time_s : NAN;

	fprintf(p->out,
	        "<tr><td>%s</td><td>%s</td><td>%s</td><td class=\"r\">%s</td>"
	        "<td class=\"r\">%s</td><td class=\"r\">%s</td><td class=\"r\">%s</td>"
	        "<td class=\"r\">%s</td><td class=\"p\">%s</td></tr>\n",
	        i ? "" : html_escape(a, s->names), html_escape(a, step_text(s, i)),
	        step->algorithm ? html_escape(a, step->algorithm) : "local",
	        words_time(a, step->time_s), words_percent(a, part),
	        words_time(a, step->local_s), words_time(a, step->launch_s),
	        words_bytes(a, step->recv_bytes), html_escape(a, busiest_text(a, step)));
}

static void write_steps(const struct page *p, const struct same *plan, size_t n)
{
	fputs("<details><summary>Steps and busiest links</summary>\n"
	      "<div class=\"scroll\" tabindex=\"0\"><table><thead><tr>"
	      "<th>planners</th><th>step</th><th>algorithm</th>"
	      "<th class=\"r\">time</th><th class=\"r\">share</th>"
	      "<th class=\"r\">local</th><th class=\"r\">launch</th>"
	      "<th class=\"r\">received</th><th>busiest links</th></tr></thead>\n"
	      "<tbody>\n",
	      p->out);
	for (size_t i = 0; i < n; i++)
		for (int k = 0; k < plan[i].nsteps; k++)
			write_step(p, &plan[i], k);
	fputs("</tbody></table></div></details>\n", p->out);
}

static void write_case(const struct page *p, const struct html_case *c)
{
	struct same *plan = arena_alloc(p->arena, c->n, sizeof(*plan));
	size_t n = find_plans(plan, p->arena, c);
	const struct row *r = c->row[0];
	const char *title;

	fprintf(p->out, "<h4>clock %s</h4>\n", html_escape(p->arena, r->clock));
	title = html_escape(p->arena,
	                    arena_printf(p->arena, "Plans of %s on %s, clock %s",
	                                 r->scenario, r->platform, r->clock));
	if (n)
		draw_plans(p, plan, n, title);
	write_planners(p, c);
	for (size_t i = 0; i < n; i++) {
		if (plan[i].nsteps == 0)
			continue;
		write_steps(p, plan, n);
		break;
	}
}

/* A text of the problem, where there is one. */
static void write_fact(const struct page *p, const char *name, const char *value)
{
	if (*value)
		fprintf(p->out, "<div><dt>%s</dt><dd>%s</dd></div>\n", name,
		        html_escape(p->arena, value));
}

static void write_problem(const struct page *p, const struct row *r)
{
	fputs("<dl>\n", p->out);
	write_fact(p, "array", r->array);
	write_fact(p, "mesh", r->mesh);
	write_fact(p, "from", r->from);
	write_fact(p, "to", r->to);
	write_fact(p, "target mesh", r->to_mesh);
	write_fact(p, "devices", r->from_devices);
	write_fact(p, "target devices", r->to_devices);
	write_fact(p, "memory limit", r->memory_limit);
	write_fact(p, "vocabulary", r->vocabulary);
	write_fact(p, "launch", r->launch);
	write_fact(p, "varied", r->varied);
	write_fact(p, "family", r->family);
	write_fact(p, "source", r->source);
	fputs("</dl>\n", p->out);
}

static void write_legend(FILE *out)
{
	fputs("<p class=\"legend\">", out);
	for (int op = 0; op < OPS; op++)
		fprintf(out, "<span><i class=\"op %s\"></i>%s</span> ",
		        op_name((enum op)op), op_name((enum op)op));
	fputs("</p>\n", out);
}

static void write_choice(const struct page *p)
{
	if (p->options->scenario)
		fprintf(p->out, "<p class=\"note\">The scenarios that match %s (at most %d).</p>\n",
		        html_escape(p->arena, p->options->scenario), HTML_NAMED);
	else
		fprintf(p->out,
		        "<p class=\"note\">Up to %d scenarios are all shown; of more, "
		        "the %d with the largest speedups of the fastest planner over "
		        "the baseline, the %d where best loses most against the "
		        "fastest, above 1 %%, "
		        "and %d where a planner failed or is wrong. Others: "
		        "<code>--scenario NAME</code>.</p>\n",
		        3 * HTML_EACH, HTML_EACH, HTML_EACH, HTML_EACH);
	fprintf(p->out,
	        "<p class=\"note\">A bar is a plan, a colour a kind of step, the "
	        "length "
	        "its time; planners with the same plan share a bar (+n). Bars longer "
	        "than %d times the shortest are cut off (⋯).</p>\n",
	        CUT);
}

void html_scenarios(const struct page *p)
{
	int last = 0;

	fputs("<h2 id=\"plans\">Plans</h2>\n", p->out);
	write_choice(p);
	write_legend(p->out);
	for (size_t i = 0; i < p->nitems; i++) {
		const struct html_case *c = &p->item[i];
		const struct row *r = c->row[0];

		if (!c->section)
			continue;
		if (c->section != last) {
			fprintf(p->out, "%s<section id=\"s%d\"><h3>%s <small>on %s",
			        last ? "</section>\n" : "", c->section,
			        html_escape(p->arena, r->scenario),
			        html_escape(p->arena, r->platform));
			fputs("</small></h3>\n", p->out);
			write_problem(p, r);
		}
		last = c->section;
		write_case(p, c);
	}
	fputs(last ? "</section>\n" : "<p class=\"note\">None.</p>\n", p->out);
}
