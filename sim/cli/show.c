#include "cli/show.h"

#include "base/units.h"
#include "bound/bound.h"
#include "measure/library.h"
#include "notation/notation.h"
#include "plan/plan_json.h"
#include "plan/plan_text.h"
#include "plan/view.h"
#include "price/messages.h"
#include "text/columns.h"
#include "text/words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- text -------------------------------------------------------------------------- */

void show_problem(struct text *out, const struct shown *s, struct arena *a)
{
	const struct problem *p = s->problem;

	array_print(out, &p->array);
	text_printf(out, " on ");
	mesh_print(out, &p->mesh);
	text_printf(out, ": ");
	layout_print(out, &p->from, &p->mesh, &p->array.shape);
	text_printf(out, " -> ");
	layout_print(out, &p->to, &p->to_mesh, &p->array.shape);
	if (p->two_meshes) {
		text_printf(out, " on ");
		mesh_print(out, &p->to_mesh);
	}
	text_printf(out, "\n%d device%s", p->ndevices, p->ndevices == 1 ? "" : "s");
	if (s->bench->machine)
		text_printf(out, " of %s", s->bench->machine->name);
	for (int i = 0; i < s->nset; i++)
		text_printf(out, "%s%s", i ? ", " : " with ", s->set[i]);
	text_printf(out, "%s", library_words(s->bench->machine, a));
	if (p->position)
		text_printf(out, ", %s", p->position);
	text_printf(out, "; every device lacks at most %s, the larger tile is %s",
	            words_bytes(a, p->recv_bound_bytes),
	            words_bytes(a, p->memory_bound_bytes));
	if (p->memory_limit_bytes >= 0)
		text_printf(out, "; limit %s", words_bytes(a, p->memory_limit_bytes));
	if (s->n > 0 && !isnan(s->measurement[0].bound_s))
		text_printf(out, "; no plan under %s",
		            words_time(a, s->measurement[0].bound_s));
	if (s->n > 0 && s->measurement[0].floor_s > 0)
		text_printf(out, " (about %s if it packs, in one launch)",
		            words_time(a, s->measurement[0].floor_s));
	text_printf(out, "\n");
	for (const char *const *note = s->note; note && *note; note++)
		text_printf(out, "note: %s\n", *note);
}

/* Returns between which times a plan is by clock number k; NaN where that is not known. */
static struct likely likely_by(const struct shown *s, const struct measurement *m, int k)
{
	if (!s->likely || !m->plan || !m->step[k])
		return (struct likely){NAN, NAN};
	return likely_of_plan(s->likely, s->bench, m->plan, m->step[k]);
}

/*
 * Returns "80 % sure: 1 us to 2 us", or of clocks whose times differ "80 % sure: model, fluid
 * 1 us to 2 us; flow 3 us to 4 us"; NULL where nothing is known.
 */
static const char *likely_text(const struct shown *s, const struct measurement *m,
                               struct arena *a)
{
	const char *before = "80 % sure: ";
	int n = s->bench->nclocks;
	const char **range = arena_alloc(a, (size_t)n + 1, sizeof(*range));
	struct text out = {0};
	bool alike = true;

	for (int k = 0; k < n; k++) {
		struct likely l = likely_by(s, m, k);

		range[k] = likely_range(&l, a);
		alike = alike && range[k] && !strcmp(range[k], range[0]);
	}
	if (alike)
		return arena_printf(a, "%s%s", before, range[0]);
	for (int k = 0; k < n; k++) {
		bool next = k + 1 < n && range[k] && range[k + 1] &&
		            !strcmp(range[k], range[k + 1]);

		if (!range[k])
			continue;
		text_printf(&out, "%s%s%s%s", before, s->bench->clock[k]->name,
		            next ? "" : " ", next ? "" : range[k]);
		before = next ? ", " : "; ";
	}
	return out.length ? text_take(&out, a) : NULL;
}

/* Prints the steps of a plan: step, received, a time per clock, algorithm, layout. */
static void show_steps(struct text *out, const struct shown *s,
                       const struct measurement *m, struct arena *a)
{
	const struct plan *p = m->plan;
	bool priced = s->bench->nclocks > 0;
	int columns = 3 + (priced ? 1 + s->bench->nclocks : 0);
	const char *cell[8] = {"step", "received"};
	struct columns t;

	columns_start(&t, a, columns, 1);
	for (int k = 0; k < s->bench->nclocks; k++)
		cell[2 + k] = s->bench->clock[k]->name;
	if (priced)
		cell[columns - 2] = "algorithm";
	cell[columns - 1] = "layout after it";
	columns_row(&t, cell);
	for (int i = 0; i < p->nsteps; i++) {
		struct text step = {0}, layout = {0};
		const char *algorithm = NULL;

		step_print(&step, p, i);
		view_print_layout(&layout, p, &p->step[i].after, p->step[i].mesh);
		cell[0] = text_take(&step, a);
		cell[1] = words_bytes(a, p->step[i].recv_bytes);
		for (int k = 0; k < s->bench->nclocks; k++) {
			cell[2 + k] =
				words_time(a, m->step[k] ? m->step[k][i].time_s : NAN);
			if (m->step[k])
				algorithm = m->step[k][i].algorithm;
		}
		if (priced)
			cell[columns - 2] = algorithm                        ? algorithm
			                    : op_communicates(p->step[i].op) ? "-"
			                                                     : "local";
		cell[columns - 1] = text_take(&layout, a);
		columns_row(&t, cell);
	}
	cell[0] = "total";
	cell[1] = words_bytes(a, p->recv_bytes);
	for (int k = 0; k < s->bench->nclocks; k++)
		cell[2 + k] = words_time(a, m->time_s[k]);
	cell[columns - 2] = priced ? NULL : cell[columns - 2];
	cell[columns - 1] = priced ? likely_text(s, m, a) : NULL;
	columns_row(&t, cell);
	columns_print(out, &t, 2);
	text_printf(out, "  memory: largest array %s, live %s\n",
	            words_bytes(a, p->peak_array_bytes),
	            words_bytes(a, m->peak_live_bytes));
}

static void put_text(FILE *out, struct text *t)
{
	if (t->s)
		fputs(t->s, out);
	text_free(t);
}

static bool put_message_line(void *out, const struct sent_message *m)
{
	fprintf(out, "  %5d  %d->%d  %.15g", m->round, m->src, m->dst, m->bytes);
	if (m->repeats > 1)
		fprintf(out, "  in %d rounds", m->repeats);
	putc('\n', out);
	return true;
}

/* Prints the messages of every step, a line each. */
static void show_messages(FILE *out, const struct shown *s, const struct timed *t,
                          const struct plan *p)
{
	const char *whose = s->bench->machine ? "platform's" : "plan's";

	for (int i = 0; i < p->nsteps; i++) {
		if (!op_communicates(p->step[i].op))
			continue;
		fprintf(out,
		        "  messages of step %d (%s): round, devices (the %s), bytes\n",
		        i + 1, t->step[i], whose);
		if (!messages_of_step(t->steps.self, i, put_message_line, out))
			fprintf(out, "  more than %d, or without a route: not listed\n",
			        MESSAGES_MAX);
	}
}

void show_text(FILE *out, const struct shown *s, struct arena *a)
{
	struct text t = {0};

	show_problem(&t, s, a);
	for (int i = 0; i < s->n; i++) {
		const struct measurement *m = &s->measurement[i];

		text_printf(&t, "\n%s: %s", m->planner, outcome_name(m->status));
		if (m->message[0])
			text_printf(&t, " (%s)", m->message);
		if (s->timing && !isnan(m->planning_s))
			text_printf(&t, ", planned in %s", words_time(a, m->planning_s));
		text_printf(&t, "\n");
		if (m->plan)
			show_steps(&t, s, m, a);
		if (m->plan && s->links)
			links_text(&t, &s->links[i], s->bench, a);
		put_text(out, &t);
		if (m->plan && s->messages)
			show_messages(out, s, &s->messages[i], m->plan);
	}
	put_text(out, &t);
}

/* --- JSON -------------------------------------------------------------------------- */

/* Prints the members of an object without its braces, and frees it. */
static void put_members(FILE *out, json_t *object)
{
	char *text = json_dumps(object, JSON_REAL_PRECISION(17));

	fwrite(text + 1, 1, strlen(text) - 2, out);
	free(text);
	json_decref(object);
}

/* As text at once: there may be millions. */
static void put_box(FILE *out, const struct plan *p, const struct transfer *t, int64_t n)
{
	fputs("{\"bounds\": [", out);
	for (int i = 0; i < p->shape.rank; i++)
		fprintf(out, "%s[%lld, %lld]", i ? ", " : "",
		        (long long)t->bounds[2 * i], (long long)t->bounds[2 * i + 1]);
	fputs("], \"pairs\": [", out);
	for (int64_t i = 0; i < n; i++)
		fprintf(out, "%s[%d, %d]", i ? ", " : "", t[i].src, t[i].dst);
	fputs("]}", out);
}

static void put_boxes(FILE *out, const struct plan *p, const struct step *step)
{
	int64_t end;

	fputs(", \"boxes\": [", out);
	for (int64_t i = 0; i < step->ntransfers; i = end) {
		end = step_box_run(p, step, i);
		fputs(i ? ", " : "", out);
		put_box(out, p, &step->transfers[i], end - i);
	}
	putc(']', out);
}

struct messages_list {
	FILE *out;
	bool any;
};

static bool put_message(void *self, const struct sent_message *m)
{
	struct messages_list *list = self;

	fprintf(list->out,
	        "%s{\"round\": %d, \"from\": %d, \"to\": %d, \"bytes\": %.17g",
	        list->any ? ", " : "[", m->round, m->src, m->dst, m->bytes);
	if (m->repeats > 1)
		fprintf(list->out, ", \"repeats\": %d", m->repeats);
	putc('}', list->out);
	list->any = true;
	return true;
}

static void put_messages(FILE *out, const struct timed *t, int step)
{
	struct messages_list list = {out, false};

	fputs(", \"messages\": ", out);
	if (!messages_of_step(t->steps.self, step, put_message, &list))
		fputs("null", out);
	else
		fputs(list.any ? "]" : "[]", out);
}

static void put_step(FILE *out, const struct shown *s, const struct measurement *m,
                     int i)
{
	json_t *step = step_json(m->plan, i), *times = json_object_get(step, "time_s");

	for (int k = 0; k < s->bench->nclocks; k++) {
		const struct step_time *t = m->step[k] ? &m->step[k][i] : NULL;

		json_object_set_new(times, s->bench->clock[k]->name,
		                    t ? json_real(t->time_s) : json_null());
		if (t && t->algorithm)
			json_object_set_new(step, "algorithm",
			                    json_string(t->algorithm));
	}
	if (s->bench->machine)
		json_object_set_new(
			step, "own_bound_s",
			json_known(step_bound_s(m->plan, i, s->bench->machine,
		                                bench_placement(s->bench))));
	fputs(i ? ", {" : "{", out);
	put_members(out, step);
	if (step_has_boxes(&m->plan->step[i]))
		put_boxes(out, m->plan, &m->plan->step[i]);
	if (s->messages)
		put_messages(out, &s->messages[m - s->measurement], i);
	putc('}', out);
}

static json_t *result_head_json(const struct shown *s, const struct measurement *m)
{
	json_t *o = json_object();

	json_object_set_new(o, "planner", json_string(m->planner));
	json_object_set_new(o, "status", json_string(outcome_name(m->status)));
	json_object_set_new(o, "message", json_text(m->message));
	json_object_set_new(o, "planning_s",
	                    json_known(s->timing ? m->planning_s : NAN));
	return o;
}

/* Returns between which times a plan is by each clock. */
static json_t *intervals_json(const struct shown *s, const struct measurement *m)
{
	json_t *o = json_object();

	for (int k = 0; k < s->bench->nclocks; k++) {
		struct likely l = likely_by(s, m, k);

		json_object_set_new(o, s->bench->clock[k]->name, likely_json(&l));
	}
	return o;
}

static json_t *bytes_json(int64_t bytes)
{
	return bytes >= 0 ? json_integer(bytes) : json_null();
}

/* Returns what a result says of all steps together. */
static json_t *result_sums_json(const struct shown *s, const struct measurement *m)
{
	json_t *o = json_object(), *times = json_object();
	const struct plan *p = m->plan;

	json_object_set_new(o, "recv_bytes", bytes_json(p ? p->recv_bytes : -1));
	json_object_set_new(o, "send_bytes", bytes_json(p ? p->send_bytes : -1));
	json_object_set_new(o, "peak_array_bytes", bytes_json(m->peak_array_bytes));
	json_object_set_new(o, "peak_live_bytes", bytes_json(m->peak_live_bytes));
	for (int k = 0; k < s->bench->nclocks; k++)
		json_object_set_new(times, s->bench->clock[k]->name,
		                    json_known(m->time_s[k]));
	json_object_set_new(o, "time_s", times);
	json_object_set_new(o, "interval_s", intervals_json(s, m));
	json_object_set_new(o, "bound_s", json_known(m->bound_s));
	json_object_set_new(o, "floor_s", json_known(m->floor_s));
	if (s->links)
		json_object_set_new(o, "links",
		                    links_json(&s->links[m - s->measurement], s->bench));
	return o;
}

void show_json(FILE *out, const struct shown *s, json_t *explanation)
{
	json_t *head = json_object(), *tail = json_object(), *notes = json_array();
	json_t *set = json_array();

	json_object_set_new(head, "schema", json_string("shardsim/1"));
	json_object_set_new(head, "problem", problem_json(s->problem));
	json_object_set_new(head, "platform",
	                    s->bench->machine ? json_text(s->bench->machine->name)
	                                      : json_null());
	json_object_set_new(head, "launch", library_json(s->bench->machine));
	for (int i = 0; i < s->nset; i++)
		json_array_append_new(set, json_text(s->set[i]));
	if (s->nset)
		json_object_set(head, "set", set);
	json_decref(set);
	putc('{', out);
	put_members(out, head);
	fputs(", \"results\": [", out);
	for (int i = 0; i < s->n; i++) {
		const struct measurement *m = &s->measurement[i];

		fputs(i ? ", {" : "{", out);
		put_members(out, result_head_json(s, m));
		fputs(", \"steps\": [", out);
		for (int k = 0; m->plan && k < m->plan->nsteps; k++)
			put_step(out, s, m, k);
		fputs("], ", out);
		put_members(out, result_sums_json(s, m));
		putc('}', out);
	}
	putc(']', out);
	for (const char *const *note = s->note; note && *note; note++)
		json_array_append_new(notes, json_text(*note));
	if (json_array_size(notes))
		json_object_set(tail, "notes", notes);
	json_decref(notes);
	if (explanation)
		json_object_set_new(tail, "explanation", explanation);
	if (json_object_size(tail))
		fputs(", ", out);
	put_members(out, tail);
	fputs("}\n", out);
}
