#include "cli/advise_log.h"

#include "base/keys.h"
#include "base/list.h"
#include "notation/notation.h"
#include "plan/plan_json.h"
#include "text/columns.h"
#include "text/words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Damaged warnings that are named; all are counted. */
enum { DAMAGED_SHOWN = 10 };

/* Equal warnings, and all that is printed of them; texts are the log's arena's. */
struct logged {
	struct problem_text text;
	struct where at; /* of the first */
	int count, manual;
	const char *note;      /* on the array */
	const char *version;   /* on what XLA of which date does; NULL: as logged */
	const char *unplanned; /* why it has no price, or NULL */
	double logged;         /* what the plan costs that was warned of, one time */
	double advised;
	bool gains, told; /* cheaper with layouts between; told in full */
	const char *title, *logged_words, *total_words, *advised_words, *layouts;
	const char *details;
	json_t *advice;
};

struct damage {
	struct where at;
	const char *message;
};

struct reading {
	const struct advise_log *log;
	struct arena *arena, *scratch;
	struct keys known;
	LIST(struct logged) row;
	LIST(struct damage) damage;
	int64_t warnings, lacking; /* all, and those that do not tell their array */
	bool json, override;       /* --array is that of all, whatever they tell */
	struct error unfit; /* of the first that only the options make no problem */
};

/* --- reading ----------------------------------------------------------------------- */

static void add_damage(struct reading *r, struct where at, const char *message)
{
	at.source = NULL;
	*list_add(&r->damage, r->arena) =
		(struct damage){at, arena_strdup(r->arena, message)};
}

/* Writes what tells warnings apart: the array and both layouts by their tiles. */
static const char *key_of(const struct problem *p, int manual, struct arena *a)
{
	struct text key = {0}, why = {0};

	array_print(&key, &p->array);
	text_printf(&key, " %d ", manual);
	layout_print_as(&key, NOTATION_HLO, &p->from, &p->mesh, &p->array.shape, &why);
	layout_print_as(&key, NOTATION_HLO, &p->to, &p->to_mesh, &p->array.shape, &why);
	text_printf(&key, " %d", p->ndevices);
	text_free(&why);
	return text_take(&key, a);
}

/* Keeps the texts of a problem. */
static struct problem_text keep_text(const struct problem_text *t, struct arena *a)
{
	struct problem_text out = *t;

	out.array = arena_strdup(a, t->array);
	out.from = arena_strdup(a, t->from);
	out.to = arena_strdup(a, t->to);
	out.array_at.source = out.from_at.source = out.to_at.source = NULL;
	return out;
}

/*
 * Remembers an error that the options make: the warning without them is a problem. All else
 * is damage of the warning.
 */
static void note_unfit(struct reading *r, const struct problem_text *t,
                       const struct error *e)
{
	const struct problem_text *o = &r->log->text;
	struct problem_text bare = {.array = t->array,
	                            .array_at = t->array_at,
	                            .from = t->from,
	                            .from_at = t->from_at,
	                            .to = t->to,
	                            .to_at = t->to_at,
	                            .vocabulary = t->vocabulary};
	const char *option[][2] = {{"--mesh", o->mesh},
	                           {"--to-mesh", o->to_mesh},
	                           {"--num-devices", o->num_devices},
	                           {"--devices", o->devices},
	                           {"--to-devices", o->to_devices},
	                           {"--memory-limit", o->memory_limit}};
	struct error none = {0};
	struct problem p;

	if (r->unfit.code != OK || problem_make(&p, r->scratch, &bare, &none) != OK)
		return;
	for (size_t i = 0; i < sizeof(option) / sizeof(*option); i++) {
		if (!option[i][1])
			continue;
		error_set(&r->unfit, e->code, where_option(option[i][0], option[i][1]),
		          "does not fit what the warnings say: %s", e->text);
		return;
	}
}

static void read_one(struct reading *r, const char *text, struct where at)
{
	struct problem_text problem = r->log->text;
	struct xla_warning w;
	struct problem p;
	struct error e = {0};
	const char *note, *key;
	int manual;
	int32_t number;
	bool fresh;

	r->warnings++;
	if (xla_warning_parse(&w, r->scratch, text, at, &e) == OK && w.array &&
	    !r->override)
		problem.array = NULL;
	if (e.code != OK ||
	    warning_fill(&problem, &note, &manual, r->scratch, &w, &e) != OK) {
		add_damage(r, e.at.line ? e.at : at, e.text);
		return;
	}
	if (problem_make(&p, r->scratch, &problem, &e) != OK) {
		note_unfit(r, &problem, &e);
		add_damage(r, e.at.line ? e.at : at, e.text);
		return;
	}
	key = key_of(&p, manual, r->scratch);
	number = keys_add(&r->known, key, strlen(key), &fresh);
	if (fresh) {
		at.source = NULL;
		*list_add(&r->row, r->arena) = (struct logged){
			.text = keep_text(&problem, r->arena),
			.at = at,
			.manual = manual,
			.note = note ? arena_strdup(r->arena, note) : NULL,
		};
	}
	r->row.at[number].count++;
}

static void read_text(struct reading *r, struct xla_warnings text)
{
	const char *one;
	struct where at;

	for (arena_reset(r->scratch); (one = xla_warnings_next(&text, &at, r->scratch));
	     arena_reset(r->scratch))
		read_one(r, one, at);
}

/*
 * Finds out which warnings --array is for: all if they tell the same or none; else those
 * that tell none, and it is an error if there are no such.
 */
static enum status choose_array(struct reading *r, const struct xla_warnings *text,
                                int n, struct error *e)
{
	const struct problem_text *o = &r->log->text;
	const char *first = NULL, *other = NULL;
	struct array array;

	if (!o->array)
		return OK;
	if (array_parse(&array, o->array, o->array_at, e) != OK)
		return e->code;
	for (int i = 0; i < n; i++) {
		struct xla_warnings rest = text[i];
		struct xla_warning w;
		struct error none = {0};
		struct where at;
		const char *one;

		while ((one = xla_warnings_next(&rest, &at, r->arena))) {
			if (xla_warning_parse(&w, r->arena, one, at, &none) != OK)
				none = (struct error){0};
			else if (!w.array)
				r->lacking++;
			else if (!first)
				first = w.array;
			else if (strcmp(first, w.array) != 0)
				other = w.array;
		}
	}
	r->override = !other;
	if (!other || r->lacking)
		return OK;
	return error_set(
		e, E_TYPE, o->array_at,
		"the warnings tell different arrays, %s and %s among them, and "
		"one cannot stand for all",
		first, other);
}

/* --- advising ---------------------------------------------------------------------- */

static const char *cost_words(const struct advised *a, double cost, struct arena *arena)
{
	return isnan(cost) ? "-" : advised_cost(a, (struct price){.cost = cost}, arena);
}

static const char *place_words(struct where at, struct arena *a)
{
	return arena_printf(a, "%s:%u:%u", at.file ? at.file : "", at.line, at.col);
}

static const char *title_of(const struct problem *p, struct arena *a)
{
	struct text out = {0};

	array_print(&out, &p->array);
	text_printf(&out, " on ");
	mesh_print(&out, &p->mesh);
	text_printf(&out, ": ");
	layout_print(&out, &p->from, &p->mesh, &p->array.shape);
	text_printf(&out, " -> ");
	layout_print(&out, &p->to, &p->to_mesh, &p->array.shape);
	return text_take(&out, a);
}

/* Keeps all words on a row, for its plans go with the scratch arena. */
static void describe(struct reading *r, struct logged *row, const struct advised *a)
{
	const struct advised_chain *c = advised_chain(a);
	struct text details = {0};

	row->version = a->version;
	row->logged = a->logged;
	row->advised = c ? c->price.cost : NAN;
	row->logged_words = cost_words(a, row->logged, r->arena);
	row->total_words = cost_words(a, row->logged * row->count, r->arena);
	row->advised_words = cost_words(a, row->advised * row->count, r->arena);
	row->gains = advised_gains(a);
	row->layouts = !c                 ? "none were found"
	               : advised_gains(a) ? advised_layouts(a, c, r->arena)
	                                  : "nothing to gain";
	if (r->json) {
		row->advice = advised_json(a, r->scratch);
		return;
	}
	advised_text(&details, a, r->scratch);
	row->details = text_take(&details, r->arena);
}

static void advise_row(struct reading *r, struct logged *row)
{
	const struct plan *no_guide = NULL;
	struct advised a = {
		.manual = row->manual, .names_mesh = !row->text.mesh, .warned = true};
	struct problem p;
	struct error e = {0};
	const char *why;

	arena_reset(r->scratch);
	if (problem_make(&p, r->scratch, &row->text, &e) != OK)
		return;
	if (a.names_mesh) {
		advised_name_axes(&p.mesh, r->scratch);
		advised_name_axes(&p.to_mesh, r->scratch);
	}
	row->title = title_of(&p, r->arena);
	row->logged = row->advised = NAN;
	if (!r->log->place(r->log->self, &a, &p, r->scratch, &why)) {
		row->unplanned = arena_strdup(r->arena, why);
		return;
	}
	advised_make(&a, &no_guide, r->scratch);
	describe(r, row, &a);
}

static double total(const struct logged *row)
{
	return isnan(row->logged) ? -1 : row->logged * row->count;
}

/* By falling cost, then by how often they are there. */
static int compare_rows(const void *a, const void *b)
{
	const struct logged *x = a, *y = b;

	if (total(x) != total(y))
		return total(x) > total(y) ? -1 : 1;
	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return strcmp(x->title, y->title);
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

static void say_details(struct text *out, const struct logged *row, int64_t number,
                        struct arena *a)
{
	text_printf(out, "\n%lld. %s\n", (long long)number, row->title);
	text_printf(out, "%d time%s, first at %s\n", row->count,
	            row->count == 1 ? "" : "s", place_words(row->at, a));
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

/* Chooses who is told in full: the dearest that gain, then the dearest. */
static void choose_told(struct reading *r)
{
	int left = r->log->details;

	for (int gains = 1; gains >= 0; gains--)
		for (int64_t i = 0; i < r->row.n && left > 0; i++)
			if (r->row.at[i].gains == gains) {
				r->row.at[i].told = true;
				left--;
			}
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

static void say_all(struct text *out, const struct reading *r)
{
	bool blank = false;

	text_printf(out, "%lld warning%s, %lld different, %lld damaged; %s%s%s\n",
	            (long long)r->warnings, r->warnings == 1 ? "" : "s",
	            (long long)r->row.n, (long long)r->damage.n, r->log->compiler->name,
	            r->log->platform ? " on " : ", in received bytes",
	            r->log->platform ? r->log->platform : "");
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
	json_t *o = json_object();

	json_object_set_new(o, "count", json_integer(row->count));
	json_object_set_new(o, "first", json_text(place_words(row->at, r->arena)));
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

static void put_json(const struct reading *r)
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
	json_object_set_new(o, "compiler", json_string(r->log->compiler->name));
	json_object_set_new(o, "read", json_integer(r->warnings));
	json_object_set_new(o, "warnings", rows);
	json_object_set_new(o, "damaged", damaged);
	json_dumpf(o, stdout, JSON_REAL_PRECISION(17));
	putchar('\n');
	json_decref(o);
}

/* Reads all warnings; an error if there are none, or none that fits the options. */
static enum status read_all(struct reading *r, const struct xla_warnings *text, int n,
                            struct error *e)
{
	struct xla_warning none;

	if (choose_array(r, text, n, e) != OK)
		return e->code;
	for (int i = 0; i < n; i++)
		read_text(r, text[i]);
	if (!r->warnings)
		return xla_warning_parse(&none, r->arena, "", text[0].at, e);
	if (!r->row.n && r->unfit.code != OK)
		*e = r->unfit;
	return e->code;
}

enum status advise_log(const struct advise_log *log, const struct xla_warnings *text,
                       int n, bool json, struct error *e)
{
	struct reading r = {.log = log, .arena = arena_new(), .json = json};
	struct text out = {0};

	r.scratch = arena_new();
	r.known.arena = r.arena;
	if (read_all(&r, text, n, e) == OK) {
		for (int64_t i = 0; i < r.row.n; i++)
			advise_row(&r, &r.row.at[i]);
		if (r.row.n > 1)
			qsort(r.row.at, (size_t)r.row.n, sizeof(*r.row.at),
			      compare_rows);
		choose_told(&r);
		if (json)
			put_json(&r);
		else
			say_all(&out, &r);
		if (out.s)
			fputs(out.s, stdout);
		text_free(&out);
	}
	arena_free(r.scratch);
	arena_free(r.arena);
	return e->code;
}
