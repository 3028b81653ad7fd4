#include "cli/command.h"

#include "measure/measure.h"
#include "text/words_list.h"

#include <string.h>

int command_misuse(const struct error *e)
{
	if (!e->at.file)
		fputs("shardsim: ", stderr);
	error_print(stderr, e);
	return EXIT_MISUSE;
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

static enum status unknown_planner(const char *list, int word, struct error *e)
{
	struct text known = {0};

	for (int i = 0; planners[i]; i++)
		text_printf(&known, "%s%s", i ? ", " : "", planners[i]->name);
	error_set(e, E_TYPE, words_list_at("--planner", list, word),
	          "unknown planner, expected all, or some of %s", known.s);
	text_free(&known);
	return e->code;
}

enum status command_planners(const struct planner ***out, int *n, struct arena *a,
                             const char *list, struct error *e)
{
	const char **words;
	int count = 0;

	if (words_list_read(&words, a, "--planner", list, e) != OK)
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
	return words_list_once("--planner", list, words, e);
}

enum status command_clocks(int **out, int *n, struct arena *a, const char *list,
                           struct error *e)
{
	const char **words;

	*n = 0;
	if (words_list_read(&words, a, "--clock", list, e) != OK ||
	    words_list_once("--clock", list, words, e) != OK)
		return e->code;
	*out = arena_alloc(a, CLOCKS_MAX, sizeof(**out));
	for (int i = 0; i == 0 || words[i]; i++) {
		int k = words[i] ? clock_find(words[i], strlen(words[i])) : -1;

		if (k < 0)
			return error_set(
				e, E_TYPE, words_list_at("--clock", list, i),
				"unknown clock, expected model, fluid or flow");
		(*out)[(*n)++] = k;
	}
	return OK;
}
