#include "cli/command.h"

#include "array/machine.h"

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
