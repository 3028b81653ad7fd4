/* What is printed of the warnings of logs. */
#include "cli/advise/rows.h"

#include "measure/library.h"
#include "plan/plan_json.h"
#include "text/columns.h"
#include "text/words.h"

#include <math.h>

/* Damaged warnings that are named; all are counted. */
enum { DAMAGED_SHOWN = 10 };

/* Operations that are named; JSON has all. */
enum { OPERATIONS_SHOWN = 3 };

static const char *place_words(struct where at, struct arena *a)
{
	return arena_printf(a, "%s:%u:%u", at.file ? at.file : "", at.line, at.col);
}

/* --- text -------------------------------------------------------------------------- */

/* Returns seconds, or bytes without a platform, as cells have them. */
static const char *sum_words(const struct reading *r, double sum)
{
	return r->log->platform ? words_time(r->arena, sum) : words_bytes(r->arena, sum);
}

static void say_table(struct text *out, const struct reading *r)
{
	const char *cell[6] = {
		"",       "times",       "each",
		"in all", "with advice", "layouts between | what was warned of"};
	double logged = 0, advised = 0;
	int count = 0;
	struct columns t;

	columns_start(&t, r->arena, 6, 0);
	columns_row(&t, cell);
	for (int64_t i = 0; i < r->row.n; i++) {
		const struct logged *row = &r->row.at[i];
		bool summed = !isnan(row->logged) && !isnan(row->advised);

		cell[0] = arena_printf(r->arena, "%lld", (long long)i + 1);
		cell[1] = arena_printf(r->arena, "%d", row->count);
		cell[2] = row->unplanned ? "-" : row->logged_words;
		cell[3] = row->unplanned ? "-" : row->total_words;
		cell[4] = row->unplanned ? "-" : row->advised_words;
		cell[5] = arena_printf(r->arena, "%s | %s%s",
		                       row->unplanned ? row->unplanned : row->layouts,
		                       row->title, row->version ? " (see below)" : "");
		columns_row(&t, cell);
		count += summed ? row->count : 0;
		logged += summed ? row->logged * row->count : 0;
		advised += summed ? row->advised * row->count : 0;
	}
	cell[0] = cell[2] = NULL;
	cell[1] = arena_printf(r->arena, "%d", count);
	cell[3] = sum_words(r, logged);
	cell[4] = sum_words(r, advised);
	cell[5] = "all that have both figures";
	columns_row(&t, cell);
	columns_print(out, &t, 0);
}

static void say_operations(struct text *out, const struct logged *row)
{
	int64_t shown = row->operation.n < OPERATIONS_SHOWN ? row->operation.n
	                                                    : OPERATIONS_SHOWN;

	for (int64_t i = 0; i < shown; i++)
		text_printf(out, "%s%s", i ? "; " : "of ", row->operation.at[i]);
	if (row->operation.n > shown)
		text_printf(out, "; and %lld more operations",
		            (long long)(row->operation.n - shown));
	if (shown)
		text_printf(out, "\n");
}

static void say_details(struct text *out, const struct logged *row, int64_t number,
                        struct arena *a)
{
	text_printf(out, "\n%lld. %s\n", (long long)number, row->title);
	text_printf(out, "%d time%s, first at %s\n", row->count,
	            row->count == 1 ? "" : "s", place_words(row->at, a));
	say_operations(out, row);
	if (row->note)
		text_printf(out, "note: %s\n", row->note);
	if (row->manual)
		text_printf(out,
		            "note: inside a manual region; dimension 0 numbers its "
		            "groups of devices\n");
	text_printf(out, "%s", row->unplanned ? row->unplanned : row->details);
	text_printf(out, "%s", row->unplanned ? "\n" : "");
}

static void say_damage(struct text *out, const struct reading *r)
{
	if (r->damage.n)
		text_printf(out, "\ndamaged, and in no row:\n");
	for (int64_t i = 0; i < r->damage.n && i < DAMAGED_SHOWN; i++)
		text_printf(out, "  %s: %s\n", place_words(r->damage.at[i].at, r->arena),
		            r->damage.at[i].message);
	if (r->damage.n > DAMAGED_SHOWN)
		text_printf(out, "  and %lld more\n",
		            (long long)r->damage.n - DAMAGED_SHOWN);
}

/* Says how many gain that are not told in full. */
static void say_more(struct text *out, const struct reading *r)
{
	int64_t gain = 0, more = 0;

	for (int64_t i = 0; i < r->row.n; i++) {
		gain += r->row.at[i].gains;
		more += r->row.at[i].gains && !r->row.at[i].told;
	}
	if (more)
		text_printf(out,
		            "\n%lld more gain%s by layouts between; --top %lld tells "
		            "all that do\n",
		            (long long)more, more == 1 ? "s" : "", (long long)gain);
}

void log_text(struct text *out, const struct reading *r)
{
	bool blank = false;

	text_printf(out, "%lld warning%s, %lld different, %lld damaged; %s%s%s%s\n",
	            (long long)r->warnings, r->warnings == 1 ? "" : "s",
	            (long long)r->row.n, (long long)r->damage.n, r->log->compiler->name,
	            r->log->platform ? " on " : ", in received bytes",
	            r->log->platform ? r->log->platform : "",
	            library_words(r->machine, r->arena));
	if (r->row.n) {
		text_printf(out, "\n");
		say_table(out, r);
	}
	if (r->lacking && !r->override)
		text_printf(out,
		            "\nnote: --array is that of the %lld warning%s that tell%s "
		            "none; others tell different ones\n",
		            (long long)r->lacking, r->lacking == 1 ? "" : "s",
		            r->lacking == 1 ? "s" : "");
	for (int64_t i = 0; i < r->row.n; i++)
		if (r->row.at[i].told)
			say_details(out, &r->row.at[i], i + 1, r->arena);
	for (int64_t i = 0; i < r->row.n; i++)
		if (r->row.at[i].version && !r->row.at[i].told) {
			text_printf(out, "%s%lld: %s\n", blank ? "" : "\n",
			            (long long)i + 1, r->row.at[i].version);
			blank = true;
		}
	say_more(out, r);
	say_damage(out, r);
}

/* --- JSON -------------------------------------------------------------------------- */

static json_t *row_json(const struct reading *r, const struct logged *row)
{
	bool timed = r->log->platform && !row->unplanned;
	json_t *o = json_object(), *operations = json_array();

	for (int64_t i = 0; i < row->operation.n; i++)
		json_array_append_new(operations, json_text(row->operation.at[i]));
	json_object_set_new(o, "count", json_integer(row->count));
	json_object_set_new(o, "first", json_text(place_words(row->at, r->arena)));
	json_object_set_new(o, "operations", operations);
	json_object_set_new(o, "array", json_text(row->text.array));
	json_object_set_new(o, "from", json_text(row->text.from));
	json_object_set_new(o, "to", json_text(row->text.to));
	json_object_set_new(o, "manual", json_boolean(row->manual));
	json_object_set_new(o, "logged_s", json_known(timed ? row->logged : NAN));
	json_object_set_new(o, "version",
	                    row->version ? json_text(row->version) : json_null());
	json_object_set_new(o, "message",
	                    json_text(row->unplanned ? row->unplanned : ""));
	json_object_set_new(o, "advice", row->advice ? row->advice : json_null());
	return o;
}

json_t *log_json(const struct reading *r)
{
	json_t *o = json_object(), *rows = json_array(), *damaged = json_array();

	for (int64_t i = 0; i < r->row.n; i++)
		json_array_append_new(rows, row_json(r, &r->row.at[i]));
	for (int64_t i = 0; i < r->damage.n; i++) {
		const char *place = place_words(r->damage.at[i].at, r->arena);
		json_t *d = json_object();

		json_object_set_new(d, "place", json_text(place));
		json_object_set_new(d, "message", json_text(r->damage.at[i].message));
		json_array_append_new(damaged, d);
	}
	json_object_set_new(o, "schema", json_string("shardsim/1"));
	json_object_set_new(o, "platform",
	                    r->log->platform ? json_text(r->log->platform)
	                                     : json_null());
	json_object_set_new(o, "launch", library_json(r->machine));
	json_object_set_new(o, "compiler", json_string(r->log->compiler->name));
	json_object_set_new(o, "read", json_integer(r->warnings));
	json_object_set_new(o, "warnings", rows);
	json_object_set_new(o, "damaged", damaged);
	return o;
}
