#include "cli/command.h"

#include "base/scan.h"
#include "measure/measure.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

int command_misuse(const struct error *e)
{
	if (!e->at.file)
		fputs("shardsim: ", stderr);
	error_print(stderr, e);
	return EXIT_MISUSE;
}

/* The end of the word at `start`: the next comma outside brackets, or the list's end. */
static const char *word_end(const char *start)
{
	int depth = 0;

	for (; *start; start++) {
		depth += strchr("([{", *start) ? 1 : 0;
		depth -= strchr(")]}", *start) ? 1 : 0;
		if (*start == ',' && depth <= 0)
			break;
	}
	return start;
}

enum status command_words(const char ***out, struct arena *a, const char *option,
                          const char *list, struct error *e)
{
	const char **words = arena_alloc(a, strlen(list) + 2, sizeof(*words));
	const char *start = list;
	int n = 0;

	*out = words;
	if (!*list)
		return OK;
	for (const char *end;; start = end + 1) {
		end = word_end(start);
		if (end == start) {
			struct where at = where_option(option, list);

			at.col += (unsigned)(start - list);
			return error_set(
				e, E_SYNTAX, at,
				"an empty item, expected one on each side of ','");
		}
		words[n++] = arena_strndup(a, start, (size_t)(end - start));
		if (!*end)
			return OK;
	}
}

struct where command_word_at(const char *option, const char *list, int n)
{
	struct where at = where_option(option, list);
	const char *start = list;

	for (const char *end;; start = end + 1) {
		end = word_end(start);
		if (!*end || (end > start && n-- == 0))
			break;
	}
	at.col += (unsigned)(start - list);
	return at;
}

void command_given(uint64_t *given, const struct argp_option *table, int key,
                   const struct argp_state *state)
{
	for (int i = 0; table[i].name; i++) {
		uint64_t bit = UINT64_C(1) << i;

		if (table[i].key != key)
			continue;
		if (*given & bit)
			argp_error(state, "--%s is given twice", table[i].name);
		*given |= bit;
	}
}

bool command_take_text(void *options, const struct command_text *table, int key,
                       const char *text)
{
	while (table->key && table->key != key)
		table++;
	if (table->key)
		*(const char **)((char *)options + table->offset) = text;
	return table->key != 0;
}

void command_setting(const char **set, int *n, const char *arg,
                     const struct argp_state *state)
{
	size_t key = strcspn(arg, "=");

	if (*n == SETTINGS_MAX)
		argp_error(state, "more than %d settings", SETTINGS_MAX);
	for (int i = 0; i < *n; i++)
		if (strcspn(set[i], "=") == key && strncmp(set[i], arg, key) == 0)
			argp_error(state, "--set has '%.*s' twice: %s and %s", (int)key,
			           arg, set[i], arg);
	set[(*n)++] = arg;
}

enum status command_once(const char *option, const char *list, const char **words,
                         struct error *e)
{
	for (int i = 0; words[i]; i++)
		for (int j = 0; j < i; j++)
			if (strcmp(words[i], words[j]) == 0)
				return error_set(e, E_TYPE,
				                 command_word_at(option, list, i),
				                 "'%.80s' is listed twice", words[i]);
	return OK;
}

static enum status unknown_planner(const char *list, int word, struct error *e)
{
	struct text known = {0};

	for (int i = 0; planners[i]; i++)
		text_printf(&known, "%s%s", i ? ", " : "", planners[i]->name);
	error_set(e, E_TYPE, command_word_at("--planner", list, word),
	          "unknown planner, expected all, or some of %s", known.s);
	text_free(&known);
	return e->code;
}

enum status command_planners(const struct planner ***out, int *n, struct arena *a,
                             const char *list, struct error *e)
{
	const char **words;
	int count = 0;

	if (command_words(&words, a, "--planner", list, e) != OK)
		return e->code;
	if (words[0] && !words[1] && strcmp(words[0], "all") == 0) {
		for (; planners[count]; count++)
			;
		*out = arena_alloc(a, (size_t)count, sizeof(**out));
		memcpy(*out, planners, (size_t)count * sizeof(**out));
		*n = count;
		return OK;
	}
	for (; words[count]; count++)
		;
	if (!count)
		return unknown_planner(list, 0, e);
	*out = arena_alloc(a, (size_t)count, sizeof(**out));
	for (int i = 0; i < count; i++) {
		(*out)[i] = planner_find(words[i], strlen(words[i]));
		if (!(*out)[i])
			return unknown_planner(list, i, e);
	}
	*n = count;
	return command_once("--planner", list, words, e);
}

enum status command_clocks(int **out, int *n, struct arena *a, const char *list,
                           struct error *e)
{
	const char **words;

	*n = 0;
	if (command_words(&words, a, "--clock", list, e) != OK ||
	    command_once("--clock", list, words, e) != OK)
		return e->code;
	*out = arena_alloc(a, CLOCKS_MAX, sizeof(**out));
	for (int i = 0; i == 0 || words[i]; i++) {
		int k = words[i] ? clock_find(words[i], strlen(words[i])) : -1;

		if (k < 0)
			return error_set(
				e, E_TYPE, command_word_at("--clock", list, i),
				"unknown clock, expected model, fluid, simgrid or "
				"flow");
		(*out)[(*n)++] = k;
	}
	return OK;
}
