/* `shardsim advise`: the layouts between that bring a compiler closest to `best`. */
#include "cli/advice.h"
#include "cli/advise/log.h"
#include "cli/command.h"
#include "cli/notes.h"
#include "cli/options.h"
#include "cli/problem_options.h"
#include "cli/show.h"
#include "cli/warning.h"
#include "measure/clocks.h"
#include "measure/library.h"
#include "plan/plan_json.h"
#include "plan/position.h"
#include "planner/best/best.h"

#include "base/list.h"

#include <stdlib.h>
#include <string.h>

enum { DETAILS_DEFAULT = 3, DETAILS_MAX = 1000000 };

struct options {
	struct problem_text problem;
	const char *compiler, *platform, *format, *warning, *top;
	struct settings set;
	struct library_text library;
	struct command_words logs;
};

static const struct option_row option_table[] = {
	{"compiler", 0, "xla|xla-2021|shardy|dtensor",
         "the compiler to advise (default xla)", AT(compiler),
         .unknown = "unknown compiler"},
	{"platform", 0, "P", "family:shape or a SimGrid XML file", AT(platform)},
	{"set", 0, "KEY=VALUE", "change a figure of a family:shape platform", AT(set),
         .settings = true},
	{"xla-warning", 0, "TEXT|@FILE|-",
         "both layouts from logged \"Involuntary full rematerialization\"s", AT(warning)},
	{"top", 0, "N",
         "how many warnings to show in full: the dearest that advice makes cheaper "
         "(default 3)",
         AT(top)},
	{"format", 0, "text|json", "how to print (default text)", AT(format),
         .unknown = "unknown format"},
	{0},
};

/* Checks for options that do not go together, or are missing. */
static void check_options(void *self, const struct argp_state *state)
{
	struct options *o = self;
	bool layouts = o->problem.from || o->problem.to;

	if (o->warning && o->logs.n)
		argp_error(state, "expected --xla-warning or files, not both");
	if ((o->warning || o->logs.n) && layouts)
		argp_error(state, "warnings say what --from and --to say");
	if (!o->warning && !o->logs.n &&
	    (!o->problem.array || !o->problem.from || !o->problem.to))
		argp_error(state, "--array, --from and --to are needed, or a log with "
		                  "warnings");
	if (!o->platform && (o->set.n || o->library.launch))
		argp_error(state, "--%s needs --platform", o->set.n ? "set" : "launch");
}

/* The machines of a run: one, or one for each number of devices. */
struct opened {
	const char *spec;
	struct bench bench;
};

struct session {
	struct arena *arena;
	const struct options *o;
	const struct planner *compiler, *best;
	LIST(struct opened *) opened;
};

/* Returns the bench for so many devices, opened once; NULL on an error. */
static struct bench *open_bench(struct session *s, int32_t needs, struct error *e)
{
	const struct options *o = s->o;
	const char *spec = o->platform;
	struct platform *platform = NULL;
	struct family_size size;
	struct opened *new;

	if (spec && platform_sized(spec)) {
		if (platform_size(&size, s->arena, spec, o->set.at, o->set.n, needs, e))
			return NULL;
		spec = size.spec;
	}
	for (int64_t i = 0; i < s->opened.n; i++)
		if (!spec || strcmp(s->opened.at[i]->spec, spec) == 0)
			return &s->opened.at[i]->bench;
	if (spec && (platform_open(&platform, s->arena, spec, o->set.at, o->set.n,
	                           false, e) != OK ||
	             library_of_plans(platform->machine, &o->library, NULL, e) != OK))
		return NULL;
	new = arena_alloc(s->arena, 1, sizeof(*new));
	new->spec = spec;
	bench_init(&new->bench, platform ? platform->machine : NULL);
	if (platform)
		command_machine_notes(platform->machine, &o->library, spec, o->set.at,
		                      o->set.n);
	*list_add(&s->opened, s->arena) = new;
	return &new->bench;
}

/* Puts the problem on a machine and plans it as `best` does. */
static enum status place(struct session *s, struct advised *out, struct problem *p,
                         struct arena *arena, struct error *e)
{
	struct measurement *best = arena_alloc(arena, 1, sizeof(*best));
	struct bench *bench = open_bench(s, position_needs(p), e);

	if (!bench)
		return e->code;
	bench_place(bench, p);
	measure_plan(best, bench, p, s->best, arena);
	out->problem = p;
	out->bench = bench;
	out->compiler = s->compiler;
	out->best = best;
	return OK;
}

/* An advise_place. */
static bool place_logged(void *self, struct advised *out, struct problem *p,
                         struct arena *arena, const char **why)
{
	struct error e = {0};

	if (place(self, out, p, arena, &e) != OK) {
		*why = arena_strdup(arena, e.text);
		return false;
	}
	*why = out->best->message;
	return advised_fits(out);
}

static void show_json_one(const struct advised *a, const char *const *note,
                          struct arena *arena)
{
	json_t *o = json_object(), *notes = json_array();

	json_object_set_new(o, "schema", json_string("shardsim/1"));
	json_object_set_new(o, "problem", problem_json(a->problem));
	json_object_set_new(o, "platform",
	                    a->bench->machine ? json_text(a->bench->machine->name)
	                                      : json_null());
	json_object_set_new(o, "launch", library_json(a->bench->machine));
	json_object_update_new(o, advised_json(a, arena));
	for (; *note; note++)
		json_array_append_new(notes, json_text(*note));
	if (a->version)
		json_array_append_new(notes, json_text(a->version));
	if (json_array_size(notes))
		json_object_set(o, "notes", notes);
	json_decref(notes);
	json_dumpf(o, stdout, JSON_REAL_PRECISION(17));
	putchar('\n');
	json_decref(o);
}

static void show_one(const struct advised *a, const char *const *note, bool json,
                     struct arena *arena)
{
	const struct shown shown = {.problem = a->problem,
	                            .bench = a->bench,
	                            .measurement = a->best,
	                            .n = 1,
	                            .note = notes_of(arena, a->problem, note)};
	struct text out = {0};

	if (json) {
		show_json_one(a, shown.note, arena);
		return;
	}
	show_problem(&out, &shown, arena);
	text_printf(&out, "\n");
	advised_text(&out, a, arena);
	fputs(out.s, stdout);
	text_free(&out);
}

static enum status advise_one(struct session *s, const struct problem_text *text,
                              const char *const *note, int manual, bool json,
                              struct error *e)
{
	const struct plan *no_guide = NULL;
	struct advised a = {.manual = manual, .warned = s->o->warning != NULL};
	struct problem p;

	if (problem_make(&p, s->arena, text, e) != OK)
		return e->code;
	a.names_mesh = !text->mesh;
	if (a.names_mesh) {
		advised_name_axes(&p.mesh, s->arena);
		advised_name_axes(&p.to_mesh, s->arena);
	}
	if (place(s, &a, &p, s->arena, e) != OK)
		return e->code;
	advised_make(&a, &no_guide, s->arena);
	show_one(&a, note, json, s->arena);
	return OK;
}

static enum status choose_details(int *out, const char *text, struct error *e)
{
	struct scan s = scan_start(text, where_option("--top", text), e);
	int64_t n;

	if (scan_int(&s, "a number of warnings", 0, DETAILS_MAX, &n) &&
	    scan_finish(&s) == OK)
		*out = (int)n;
	return e->code;
}

/* Opens the logs that are named, or the one text; stores their number. */
static enum status open_texts(struct xla_warnings **out, int *n,
                              const struct options *o, struct arena *a, struct error *e)
{
	*n = o->warning ? 1 : o->logs.n;
	*out = arena_alloc(a, (size_t)*n, sizeof(**out));
	for (int i = 0; i < *n; i++) {
		const char *arg = o->warning;

		if (!arg)
			arg = strcmp(o->logs.at[i], "-") == 0
			              ? "-"
			              : arena_printf(a, "@%s", o->logs.at[i]);
		if (warning_open(&(*out)[i], a, arg, e) != OK)
			return e->code;
	}
	return OK;
}

/* Returns whether a text has several warnings. */
static bool are_several(struct xla_warnings text, struct arena *a)
{
	struct where at;

	return xla_warnings_next(&text, &at, a) && xla_warnings_next(&text, &at, a);
}

/*
 * Checks the platform for all warnings, so that one which cannot be read is an error of the
 * run and not of each warning. What follows from the size of `{n}` is left to each.
 */
static enum status check_platform(struct session *s, struct error *e)
{
	const struct options *o = s->o;

	if (!o->platform)
		return OK;
	if (platform_sized(o->platform) && strstr(o->platform, ":{n}"))
		return platform_check_any_size(s->arena, o->platform, o->set.at,
		                               o->set.n, e);
	open_bench(s, 0, e);
	return e->code;
}

static enum status run_logs(struct session *s, struct options *o, bool json,
                            struct error *e)
{
	struct advise_log log = {.compiler = s->compiler,
	                         .text = o->problem,
	                         .platform = o->platform,
	                         .place = place_logged,
	                         .self = s,
	                         .details = DETAILS_DEFAULT};
	const char *note[WARNING_NOTES];
	struct xla_warnings *text;
	int manual, n;

	if ((o->top && choose_details(&log.details, o->top, e) != OK) ||
	    open_texts(&text, &n, o, s->arena, e) != OK)
		return e->code;
	if (o->logs.n || are_several(text[0], s->arena))
		return check_platform(s, e) == OK ? advise_log(&log, text, n, json, e)
		                                  : e->code;
	if (warning_read(&o->problem, note, &manual, s->arena, text[0], e) != OK)
		return e->code;
	return advise_one(s, &o->problem, note, manual, json, e);
}

static enum status advise_asked(struct session *s, struct options *o, struct error *e)
{
	const char *no_note = NULL, *name = o->compiler ? o->compiler : "xla";
	bool json = o->format && strcmp(o->format, "json") == 0, any;

	s->compiler = planner_find(name, strlen(name));
	if (!o->problem.vocabulary)
		o->problem.vocabulary = "portable";
	any = strcmp(o->problem.vocabulary, "any") == 0;
	s->best = any ? &planner_best : &planner_best_portable;
	if (o->warning || o->logs.n)
		return run_logs(s, o, json, e);
	return advise_one(s, &o->problem, &no_note, 0, json, e);
}

int command_advise(int argc, char **argv)
{
	struct options o = {0};
	const struct command_syntax syntax = {
		.usage = "--array A --mesh M --from LAYOUT --to LAYOUT\nLOG...",
		.doc = "Find the intermediate layouts that bring a compiler closest to "
		       "best, and print the lines to add to a program.\v"
		       "Example: shardsim advise --array 'bf16[65536,131072]' --from "
		       "'{devices=[256,1]<=[256]}' --to '{devices=[1,64,4]<=[256] "
		       "last_tile_dim_replicate}' --platform tpu-v5p:4x8x8",
		.machines = true,
		.options = {{problem_table, &o.problem},
	                    {option_table, &o},
	                    {launch_table, &o.library}},
		.words = &o.logs,
		.check = check_options,
		.self = &o,
	};
	struct session s = {.arena = arena_new(), .o = &o};
	struct error e = {0};
	int status = EXIT_DONE;

	command_parse(&syntax, argc, argv);
	problem_places(&o.problem);
	if (advise_asked(&s, &o, &e) != OK)
		status = command_misuse(&e);
	for (int64_t i = 0; i < s.opened.n; i++)
		bench_free(&s.opened.at[i]->bench);
	arena_free(s.arena);
	return status;
}
