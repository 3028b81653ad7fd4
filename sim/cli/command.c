#include "cli/command.h"

#include "array/machine.h"

#include <string.h>

int command_misuse(const struct error *e)
{
	if (!e->at.file)
		fputs("shardsim: ", stderr);
	error_print(stderr, e);
	return EXIT_MISUSE;
}

void command_note(const struct machine *m)
{
	if (m->note)
		fprintf(stderr, "shardsim: note: %s: %s\n", m->name, m->note);
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
