#include "cli/command.h"

int command_misuse(const struct error *e)
{
	if (!e->at.file)
		fputs("shardsim: ", stderr);
	error_print(stderr, e);
	return EXIT_MISUSE;
}
