#include "cli/command.h"

#include "array/machine.h"

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
