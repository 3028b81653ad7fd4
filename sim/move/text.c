#include "move/show.h"

#include "base/units.h"
#include "measure/library.h"
#include "plan/plan_text.h"
#include "text/columns.h"
#include "text/words.h"

/* Returns how many arrays of the workload there are, and of how many bytes. */
static double all_bytes(const struct move_shown *s)
{
	double sum = 0;

	for (int64_t i = 0; i < s->work->array.n && s->n; i++)
		sum += (double)s->result[0].array[i].bytes *
		       (double)s->work->array.at[i].count;
	return sum;
}

static void head_text(struct text *out, const struct move_shown *s, struct arena *a)
{
	const struct move_how *how = s->how;
	int64_t n = s->work->narrays;

	text_printf(out, "%s on %s%s: %lld array%s, %lld kind%s, %s\n", s->work->name,
	            s->platform, library_words(s->bench->machine, a), (long long)n,
	            n == 1 ? "" : "s", (long long)s->work->array.n,
	            s->work->array.n == 1 ? "" : "s", words_bytes(a, all_bytes(s)));
	text_printf(out, "%lld call%s at once", (long long)how->concurrent,
	            how->concurrent == 1 ? "" : "s");
	if (how->batch_bytes)
		text_printf(out, ", in batches of equal layouts up to %s",
		            words_bytes(a, (double)how->batch_bytes));
	text_printf(out, "; sources are %s; ",
	            how->free_source ? "given back once moved" : "kept");
	if (how->limit_bytes > 0) {
		text_printf(out, "%s ", how->limit_what);
		units_print_capacity(out, how->limit_bytes);
		text_printf(out, " for all of them\n");
	} else {
		text_printf(out, "no limit of memory\n");
	}
}

static const char *array_label(const struct moved_array *m, struct arena *a)
{
	const struct move_array *array = m->array;

	if (array->name.n < 2)
		return array->name.at[0];
	return arena_printf(a, "%s ...", array->name.at[0]);
}

/* Prints every kind of array with its plan and the time of one that is moved alone. */
static void arrays_text(struct text *out, const struct move_shown *s,
                        const struct move_result *r, struct arena *a)
{
	const char *cell[5 + CLOCKS_MAX] = {"array"};
	int nclocks = s->bench->nclocks, columns = 5 + nclocks;
	struct columns t;

	cell[1] = "type";
	cell[2] = "count";
	cell[3] = "received";
	for (int k = 0; k < nclocks; k++)
		cell[4 + k] = nclocks > 1 ? arena_printf(a, "each (%s)",
		                                         s->bench->clock[k]->name)
		                          : "each";
	cell[columns - 1] = "plan";
	columns_start(&t, a, columns, 2);
	columns_row(&t, cell);
	for (int64_t i = 0; i < s->work->array.n; i++) {
		const struct moved_array *m = &r->array[i];
		struct text line = {0};

		cell[0] = array_label(m, a);
		cell[1] = m->array->text.array;
		cell[2] = arena_printf(a, "%lld", (long long)m->array->count);
		cell[3] =
			m->m.plan ? words_bytes(a, (double)m->m.plan->recv_bytes) : "-";
		for (int k = 0; k < nclocks; k++)
			cell[4 + k] = words_time(a, m->m.time_s[k]);
		if (m->m.plan)
			plan_print_line(&line, m->m.plan);
		else
			text_printf(&line, "%s", outcome_name(m->m.status));
		cell[columns - 1] = text_take(&line, a);
		columns_row(&t, cell);
	}
	columns_print(out, &t, 2);
}

/* Prints the steps that all waves have together, by the first clock. */
static void steps_text(struct text *out, const struct move_result *r, struct arena *a)
{
	int most = 0;

	for (int64_t i = 0; i < r->waves.wave.n; i++)
		if (r->wave[i].nsteps > most)
			most = r->wave[i].nsteps;
	for (int k = 0; k < most && most > 1; k++) {
		double sum = 0;

		for (int64_t i = 0; i < r->waves.wave.n; i++)
			if (k < r->wave[i].nsteps && r->wave[i].step[0])
				sum += (double)r->waves.wave.at[i].repeats *
				       r->wave[i].step[0][k].time_s;
		text_printf(out, "%s step %d %s", k ? "," : "  of which", k + 1,
		            words_time(a, sum));
	}
	if (most > 1)
		text_printf(out, "\n");
}

static void totals_text(struct text *out, const struct move_shown *s,
                        const struct move_result *r, struct arena *a)
{
	int64_t n = r->nwaves;

	text_printf(out, "  %lld call%s in %lld wave%s, %s: ", (long long)r->calls,
	            r->calls == 1 ? "" : "s", (long long)n, n == 1 ? "" : "s", r->order);
	for (int k = 0; k < s->bench->nclocks; k++)
		text_printf(out, "%s%s (%s)", k ? ", " : "",
		            words_time(a, r->time_s[k]), s->bench->clock[k]->name);
	text_printf(out, "\n");
	steps_text(out, r, a);
	text_printf(out, "  memory of a device: %s before, at most %s, %s after\n",
	            words_bytes(a, r->waves.before), words_bytes(a, r->waves.peak),
	            words_bytes(a, r->waves.after));
}

static void host_text(struct text *out, const struct move_result *r, struct arena *a)
{
	const struct host_time *h = r->host;
	const char *cell[4];
	struct columns t;

	text_printf(out, "  what hosts add\n");
	columns_start(&t, a, 4, 1);
	cell[0] = "calls";
	cell[1] = arena_printf(a, "%lld", (long long)h->calls);
	cell[2] = words_time(a, h->call_s);
	cell[3] = h->costs->call_source;
	columns_row(&t, cell);
	cell[0] = "packing";
	cell[1] = "";
	cell[2] = words_time(a, h->pack_s);
	cell[3] = h->costs->pack_source;
	columns_row(&t, cell);
	cell[0] = "gather";
	cell[2] = words_time(a, h->gather_s);
	cell[3] = "every array on its source mesh, by the clock model";
	columns_row(&t, cell);
	cell[0] = "with all";
	cell[2] = words_time(a, r->time_s[0] + h->call_s + h->pack_s + h->gather_s);
	cell[3] = "one after another";
	columns_row(&t, cell);
	columns_print(out, &t, 4);
}

void move_text(struct text *out, const struct move_shown *s, struct arena *a)
{
	head_text(out, s, a);
	for (int i = 0; i < s->n; i++) {
		const struct move_result *r = &s->result[i];

		text_printf(out, "\n%s: %s\n", r->planner, outcome_name(r->status));
		if (*r->message)
			text_printf(out, "  %s\n", r->message);
		arrays_text(out, s, r, a);
		if (r->wave)
			totals_text(out, s, r, a);
		if (r->host)
			host_text(out, r, a);
		if (s->timing)
			text_printf(out, "  planned in %s\n",
			            words_time(a, r->planning_s));
	}
}
