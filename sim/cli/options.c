#include "cli/options.h"

#include "cli/command.h"
#include "cli/unknown.h"
#include "facts/families.h"
#include "measure/library.h"

#include "base/suggest.h"

#include <assert.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS_MAX = 40, LONG_KEYS = 256 };

const struct option_row launch_table[] = {LAUNCH_ROW(struct library_text, launch), {0}};

const struct option_row library_table[] = {
	{"algorithm", 0, "NAME",
         "force an algorithm (`list algorithms`); with scheduled an exchange may be a "
         "schedule of messages, whose rounds are one launch",
         .at = offsetof(struct library_text, algorithm)},
	{"protocol", 0, "NAME", "force a protocol: ll, ll128, simple",
         .at = offsetof(struct library_text, protocol)},
	LAUNCH_ROW(struct library_text, launch),
	{0},
};

/* A command line that is being read. */
struct reading {
	const struct command_syntax *syntax;
	const struct option_row *row[ROWS_MAX];
	void *value[ROWS_MAX];
	bool given[ROWS_MAX];
	struct argp_option option[ROWS_MAX + 1];
	int n;
};

static void *value_of(const struct option_row *row, const struct option_set *set)
{
	return (char *)set->into + row->at;
}

static void add_rows(struct reading *r, const struct option_set *set)
{
	for (const struct option_row *row = set->table; row->name; row++, r->n++) {
		assert(r->n < ROWS_MAX);
		r->row[r->n] = row;
		r->value[r->n] = value_of(row, set);
		r->option[r->n] = (struct argp_option){
			.name = row->name,
			.key = row->letter ? row->letter : LONG_KEYS + r->n,
			.arg = row->shown ? row->shown : row->arg,
			.flags = row->alone ? OPTION_ARG_OPTIONAL : 0,
			.doc = row->help,
		};
	}
}

/*
 * Leaves if the key of KEY=VALUE, or a value that has no key, was given before, with a
 * message that has both.
 */
static void add_setting(const struct option_row *row, struct settings *set,
                        const char *arg, const struct argp_state *state)
{
	const char *end = strchr(row->arg, '=') ? "=" : "";
	size_t key = strcspn(arg, end);

	if (set->n == SETTINGS_MAX)
		argp_error(state, "more than %d times --%s", SETTINGS_MAX, row->name);
	for (int i = 0; i < set->n; i++)
		if (strcspn(set->at[i], end) == key && !strncmp(set->at[i], arg, key))
			argp_error(state, "--%s has '%.*s' twice: %s and %s", row->name,
			           (int)key, arg, set->at[i], arg);
	set->at[set->n++] = arg;
}

/* Returns "; did you mean 'NAME'?" for a word that others use or one that is near, or "". */
static const char *ask_word(const struct option_row *row, const char *arg,
                            struct suggestion *near, struct arena *a)
{
	for (const char *const *word = row->meant; word && *word; word += 2)
		if (!strcmp(word[0], arg))
			return arena_printf(a, "; did you mean %s?", word[1]);
	return suggest_ask(near, "");
}

/* Leaves unless `arg` is a word of "md|tex|csv". */
static void check_word(const struct option_row *row, const char *arg,
                       const struct argp_state *state)
{
	struct suggestion near = suggest_start(arg, strlen(arg));
	struct arena *a = arena_new();
	struct text words = {0};

	for (const char *word = row->arg; *word;) {
		size_t n = strcspn(word, "|");
		const char *next = word + n + (word[n] != '\0');

		if (strlen(arg) == n && !strncmp(word, arg, n)) {
			text_free(&words);
			arena_free(a);
			return;
		}
		suggest_offer(&near, arena_strndup(a, word, n));
		text_printf(&words, "%s%.*s",
		            !words.length ? ""
		            : *next       ? ", "
		                          : " or ",
		            (int)n, word);
		word = next;
	}
	argp_error(state, "%s '%s', expected %s%s", row->unknown, arg, words.s,
	           ask_word(row, arg, &near, a));
}

static void take_option(struct reading *r, int i, const char *arg,
                        const struct argp_state *state)
{
	const struct option_row *row = r->row[i];

	if (row->settings) {
		add_setting(row, r->value[i], arg, state);
		return;
	}
	if (r->given[i])
		argp_error(
			state, "--%s is given twice%s", row->name,
			row->arg && strstr(row->arg, "LIST")
				? "; several go in one list, with commas between them"
				: "");
	r->given[i] = true;
	if (!row->arg) {
		*(bool *)r->value[i] = true;
		return;
	}
	if (row->unknown)
		check_word(row, arg, state);
	if (row->filled && !*arg)
		argp_error(state, "--%s is empty, expected %s", row->name, row->filled);
	*(const char **)r->value[i] = arg ? arg : row->alone;
}

static void take_words(const struct command_syntax *s, const struct argp_state *state)
{
	int n = state->argc - state->next, most = s->words ? s->most : 0;

	if (n > most && (most || !s->words))
		argp_error(state, "unexpected argument '%s'",
		           state->argv[state->next + most]);
	*s->words = (struct command_words){
		(const char *const *)state->argv + state->next, n};
}

static error_t parse_key(int key, char *arg, struct argp_state *state)
{
	struct reading *r = state->input;
	const struct command_syntax *s = r->syntax;

	switch (key) {
	case ARGP_KEY_ARGS:
		take_words(s, state);
		return 0;
	case ARGP_KEY_NO_ARGS:
		if (s->expected)
			argp_error(state, "expected %s", s->expected);
		return 0;
	case ARGP_KEY_END:
		if (s->check)
			s->check(s->self, state);
		return 0;
	default:
		for (int i = 0; i < r->n; i++) {
			if (r->option[i].key != key)
				continue;
			take_option(r, i, arg, state);
			return 0;
		}
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct option_row families_table[] = {
	{"families", 0, "FILE", "more machine families, in the form of families.yaml",
         .at = 0},
	{0},
};

/* Makes the file known by its full name, for a sweep may go to another folder. */
static void take_families(const char *file)
{
	struct arena *a = arena_new();
	struct families all;
	struct error e = {0};
	char full[PATH_MAX];

	if (file)
		setenv(FAMILIES_MORE, realpath(file, full) ? full : file, 1);
	if (file && families_known(&all, a, &e) != OK)
		exit(command_misuse(&e));
	arena_free(a);
}

void command_parse(const struct command_syntax *syntax, int argc, char **argv)
{
	struct reading r = {.syntax = syntax};
	const char *families = NULL;
	const struct argp argp = {.options = r.option,
	                          .parser = parse_key,
	                          .args_doc = syntax->usage,
	                          .doc = syntax->doc};

	for (const struct option_set *set = syntax->options; set->table; set++)
		add_rows(&r, set);
	if (syntax->machines)
		add_rows(&r, &(struct option_set){families_table, &families});
	argp_err_exit_status = EXIT_MISUSE;
	unknown_check(r.option, argc, argv);
	argp_parse(&argp, argc, argv, 0, NULL, &r);
	take_families(families);
}

static bool is_given(const struct option_row *row, const void *value)
{
	if (row->settings)
		return ((const struct settings *)value)->n > 0;
	return row->arg ? *(const char *const *)value != NULL : *(const bool *)value;
}

const char *option_misused(const struct option_set *options, int use)
{
	for (; options->table; options++)
		for (const struct option_row *row = options->table; row->name; row++)
			if (!(row->use & use) && is_given(row, value_of(row, options)))
				return row->name;
	return NULL;
}
