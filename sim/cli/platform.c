/* `shardsim platform family:shape`: the platform as SimGrid XML. */
#include "platform/platform.h"
#include "cli/command.h"
#include "cli/options.h"
#include "system/file.h"

struct options {
	const char *output;
	struct settings set;
	struct command_words spec;
};

static const struct option_row option_table[] = {
	{"set", 0, "KEY=VALUE", "change a figure, such as ici.bandwidth=90GB/s",
         AT(set), .settings = true},
	{"output", 'o', "FILE", "write to FILE, whole or not at all", AT(output)},
	{0},
};

int command_platform(int argc, char **argv)
{
	struct options o = {0};
	const struct command_syntax syntax = {
		.usage = "FAMILY:SHAPE",
		.doc = "Print a platform file that any SimGrid program loads.\v"
		       "'shardsim list platforms' prints the families.",
		.machines = true,
		.options = {{option_table, &o}},
		.words = &o.spec,
		.most = 1,
		.expected = "a platform such as tpu-v4:4x4x4",
	};
	struct arena *a = arena_new();
	struct error e = {0};
	struct text xml = {0};
	struct machine *machine;
	int status = EXIT_DONE;

	command_parse(&syntax, argc, argv);
	if ((o.output && file_check(o.output, &e) != OK) ||
	    platform_text(&xml, a, o.spec.at[0], o.set.at, o.set.n, false, &e) != OK ||
	    platform_machine(&machine, a, o.spec.at[0], o.set.at, o.set.n, &e) != OK)
		status = command_misuse(&e);
	else if (!o.output)
		fwrite(xml.s, 1, xml.length, stdout);
	else if (file_write(o.output, xml.s, xml.length, &e) != OK)
		status = command_misuse(&e);
	if (status == EXIT_DONE)
		command_note(machine->name, machine->note);
	text_free(&xml);
	arena_free(a);
	return status;
}
