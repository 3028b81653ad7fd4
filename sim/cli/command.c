#include "cli/command.h"

#include "array/machine.h"

#include <string.h>

int command_misuse(const struct error *e)
{
	if (!e->at.file)
		fputs("shardsim: ", stderr);
	error_print(stderr, e);
	return e->code == E_WRITE ? EXIT_FAULT : EXIT_MISUSE;
}

void command_note(const char *machine, const char *note)
{
	if (note)
		fprintf(stderr, "shardsim: note: %s: %s\n", machine, note);
}

/*
 * Returns the length of a figure's name where the text is a setting of one that the library's
 * own model alone reads. That of channels over nodes counts without it too.
 */
static int ranking_figure(const char *text)
{
	static const char both[] = "graph_net_channels=";
	const char *end = strchr(text, '=');

	if (!end || strncmp(text, "graph_", 6) != 0 ||
	    !strncmp(text, both, sizeof(both) - 1))
		return 0;
	return (int)(end - text);
}

void command_ranking_note(const char *machine, const char *const *set, int n,
                          const char *algorithm)
{
	static const char *const note = "shardsim: note: %.*s counts where --algorithm "
					"tuner ranks, and is read by "
					"nothing else\n";
	const char *at = strpbrk(machine, "{");

	if (algorithm && !strcmp(algorithm, "tuner"))
		return;
	for (; at; at = strpbrk(at, ","))
		if (ranking_figure(++at))
			fprintf(stderr, note, ranking_figure(at), at);
	for (int i = 0; i < n; i++)
		if (ranking_figure(set[i]))
			fprintf(stderr, note, ranking_figure(set[i]), set[i]);
}
