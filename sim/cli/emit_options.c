#include "cli/emit_options.h"

#include "cli/command.h"
#include "collective/profile.h"
#include "system/file.h"

#include "base/suggest.h"
#include "shardsim.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const struct option_row emit_table[] = {
	{"emit", 0, "KIND",
         "write the cheapest plan as a program or trace (`list emitters`)",
         .at = offsetof(struct emit_options, kind)},
	{"output", 'o', "FILE",
         "write what --emit makes to FILE, whole or not at all (default: print "
         "it alone)",
         .at = offsetof(struct emit_options, output)},
	{0},
};

/* Appends a word so that a shell reads it back; layouts are easiest to read in "". */
static void put_word(struct text *out, const char *word)
{
	size_t plain =
		strspn(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	                     "0123456789_./:=,@%+-");

	if (word[plain] == '\0' && plain) {
		text_printf(out, " %s", word);
		return;
	}
	if (strchr(word, '\'') && !strpbrk(word, "\"$`\\!")) {
		text_printf(out, " \"%s\"", word);
		return;
	}
	text_printf(out, " '");
	for (const char *c = word; *c; c++)
		text_printf(out, *c == '\'' ? "'\\''" : "%c", *c);
	text_printf(out, "'");
}

void emit_options_command(struct emit_options *o, struct arena *a, int argc, char **argv)
{
	struct text out = {0};

	text_printf(&out, "%s", argv[0]);
	for (int i = 1; i < argc; i++)
		put_word(&out, argv[i]);
	o->command = text_take(&out, a);
}

void emit_options_take(struct emit_options *o, const struct argp_state *state)
{
	struct suggestion near;

	if (!o->kind && o->output)
		argp_error(state, "--output needs --emit");
	if (!o->kind)
		return;
	o->emitter = emitter_find(o->kind, strlen(o->kind));
	if (o->emitter)
		return;
	near = suggest_start(o->kind, strlen(o->kind));
	for (int i = 0; emitters[i]; i++)
		suggest_offer(&near, emitters[i]->name);
	argp_error(state, "cannot emit '%s'%s", o->kind,
	           near.nearest ? suggest_ask(&near, "")
	                        : "; 'shardsim list emitters' lists all kinds");
}

void emit_options_caller(struct library_text *out, const struct emit_options *o,
                         const struct machine *m)
{
	if (!out->launch && o->kind && profile_of_fabric(m, 0)->library)
		out->launch = o->emitter->caller;
}

enum status emit_options_check(const struct emit_options *o, struct error *e)
{
	return o->kind && o->output ? file_check(o->output, e) : OK;
}

/* A plan and what it costs, for the order in which plans are tried. */
struct candidate {
	double cost;
	int number;
};

static int compare_cost(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	if (x->cost != y->cost)
		return x->cost < y->cost ? -1 : 1;
	return x->number - y->number;
}

/* Stores the plans that can run, the cheapest first, and returns how many these are. */
static int sort_plans(struct candidate *out, const struct bench *b,
                      const struct measurement *m, int n)
{
	int count = 0;

	for (int i = 0; i < n; i++) {
		if (m[i].status != OUTCOME_OK || !m[i].plan) {
			fprintf(stderr, "shardsim: %s: %s%s%s\n", m[i].planner,
			        outcome_name(m[i].status), *m[i].message ? ": " : "",
			        m[i].message);
			continue;
		}
		out[count++] = (struct candidate){
			b->nclocks ? m[i].time_s[0] : (double)m[i].plan->recv_bytes, i};
	}
	qsort(out, (size_t)count, sizeof(*out), compare_cost);
	return count;
}

enum status emit_write(const struct emit_options *o, const struct text *text,
                       struct error *e)
{
	if (o->output)
		return file_write(o->output, text->s, text->length, e);
	fwrite(text->s, 1, text->length, stdout);
	return OK;
}

/* Emits one plan; false with the reason on stderr if the kind cannot express it. */
static bool emit_one(struct text *out, const struct emit_options *o,
                     const struct bench *b, const struct measurement *m)
{
	struct arena *scratch = arena_new();
	struct text why = {0};
	double *step_s = arena_alloc(scratch, (size_t)m->plan->nsteps, sizeof(*step_s));
	struct emission what = {
		.plan = m->plan,
		.machine = b->machine,
		.command = o->command,
		.version = SHARDSIM_VERSION,
		.time_s = b->nclocks ? m->time_s[0] : NAN,
		.step_s = b->nclocks && m->step[0] ? step_s : NULL,
		.clock = b->nclocks ? b->clock[0]->name : NULL,
	};
	bool done;

	for (int i = 0; i < m->plan->nsteps && what.step_s; i++)
		step_s[i] = m->step[0][i].time_s;
	done = emit_plan(o->emitter, out, &what, scratch, &why) == EMITTED;

	if (!done)
		fprintf(stderr, "shardsim: %s cannot express the plan of %s: %s\n",
		        o->emitter->name, m->planner, why.s);
	text_free(&why);
	arena_free(scratch);
	return done;
}

int emit_plans(const struct emit_options *o, const struct bench *b,
               const struct measurement *m, int n, struct arena *a)
{
	struct candidate *candidate = arena_alloc(a, (size_t)n, sizeof(*candidate));
	struct error e = {0};
	int status = EXIT_FAULT, count;

	if (!o->emitter)
		return EXIT_DONE;
	count = sort_plans(candidate, b, m, n);
	for (int i = 0; i < count && status != EXIT_DONE; i++) {
		struct text out = {0};

		if (!emit_one(&out, o, b, &m[candidate[i].number]))
			continue;
		status = emit_write(o, &out, &e) == OK ? EXIT_DONE : command_misuse(&e);
		text_free(&out);
		if (status != EXIT_DONE)
			return status;
	}
	if (status != EXIT_DONE)
		fprintf(stderr, "shardsim: nothing is emitted\n");
	return status;
}
