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

void command_notes(const char *lines)
{
	for (const char *end; lines && *lines; lines = end + 1) {
		end = strchr(lines, '\n');
		fprintf(stderr, "shardsim: note: %.*s\n", (int)(end - lines), lines);
	}
}

void command_machine_notes(const struct machine *m, const struct library_text *library,
                           const char *spec, const char *const *set, int n)
{
	struct text unread = {0};

	command_note(m->name, m->note);
	library_unread(&unread, m, library, spec, set, n);
	command_notes(unread.s);
	text_free(&unread);
}
