/* `shardsim platform family:shape`: the platform as SimGrid XML. */
#include "platform/platform.h"
#include "cli/command.h"
#include "cli/parse.h"
#include "system/file.h"

#include <argp.h>
#include <stdlib.h>

enum { KEY_SET = 256 };

struct options {
	const char *spec, *output;
	const char *set[SETTINGS_MAX];
	int nset;
	uint64_t given;
};

static const struct argp_option option_table[] = {
	{"set", KEY_SET, "KEY=VALUE", 0,
         "change a figure, such as ici.bandwidth=90GB/s", 0},
	{"output", 'o', "FILE", 0, "write there, whole or not at all", 0},
	{NULL, 0, NULL, 0, NULL, 0},
};

static error_t parse_platform_option(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	if (key != KEY_SET)
		command_given(&o->given, option_table, key, state);
	switch (key) {
	case KEY_SET:
		command_setting(o->set, &o->nset, arg, state);
		return 0;
	case 'o':
		o->output = arg;
		return 0;
	case ARGP_KEY_ARG:
		if (o->spec)
			argp_error(state, "unexpected argument '%s'", arg);
		o->spec = arg;
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "expected a platform such as tpu-v4:4x4x4");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

int command_platform(int argc, char **argv)
{
	const struct argp argp = {
		option_table,
		parse_platform_option,
		"FAMILY:SHAPE",
		"Print a platform file that any SimGrid program loads.\v"
		"'shardsim list platforms' prints the families.",
		NULL,
		NULL,
		NULL};
	struct arena *a = arena_new();
	struct options o = {0};
	struct error e = {0};
	struct text xml = {0};
	struct machine *machine;
	int status = EXIT_DONE;

	command_parse_machines(&argp, argc, argv, &o);
	if (platform_text(&xml, a, o.spec, o.set, o.nset, false, &e) != OK ||
	    platform_machine(&machine, a, o.spec, o.set, o.nset, &e) != OK)
		status = command_misuse(&e);
	else if (!o.output)
		fwrite(xml.s, 1, xml.length, stdout);
	else if (file_write(o.output, xml.s, xml.length, &e) != OK)
		status = command_misuse(&e);
	if (status == EXIT_DONE)
		command_note(machine);
	text_free(&xml);
	arena_free(a);
	return status;
}
