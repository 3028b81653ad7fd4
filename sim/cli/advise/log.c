#include "cli/advise/rows.h"

#include "notation/notation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

/* Keeps an operation of a row once. */
static void add_operation(struct reading *r, int32_t row, const char *operation)
{
	const char *key = arena_printf(r->scratch, "%d %s", (int)row, operation);
	bool fresh;

	keys_add(&r->operations, key, strlen(key), &fresh);
	if (fresh)
		*list_add(&r->row.at[row].operation, r->arena) =
			arena_strdup(r->arena, operation);
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
	if (w.operation)
		add_operation(r, number, w.operation);
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

	row->version = a->version ? arena_strdup(r->arena, a->version) : NULL;
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
	r->machine = a.bench->machine;
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
	if (r->row.n)
		return OK;
	if (r->unfit.code != OK)
		*e = r->unfit;
	else
		error_set(e, E_SYNTAX, r->damage.at[0].at, "%s%s",
		          r->damage.at[0].message,
		          r->damage.n > 1 ? "; no other warning here can be read" : "");
	return e->code;
}

static void print_json(const struct reading *r)
{
	json_t *o = log_json(r);

	json_dumpf(o, stdout, JSON_REAL_PRECISION(17));
	putchar('\n');
	json_decref(o);
}

enum status advise_log(const struct advise_log *log, const struct xla_warnings *text,
                       int n, bool json, struct error *e)
{
	struct reading r = {.log = log, .arena = arena_new(), .json = json};
	struct text out = {0};

	r.scratch = arena_new();
	r.known.arena = r.operations.arena = r.arena;
	if (read_all(&r, text, n, e) == OK) {
		for (int64_t i = 0; i < r.row.n; i++)
			advise_row(&r, &r.row.at[i]);
		if (r.row.n > 1)
			qsort(r.row.at, (size_t)r.row.n, sizeof(*r.row.at),
			      compare_rows);
		choose_told(&r);
		if (json)
			print_json(&r);
		else
			log_text(&out, &r);
		if (out.s)
			fputs(out.s, stdout);
		text_free(&out);
	}
	arena_free(r.scratch);
	arena_free(r.arena);
	return e->code;
}
