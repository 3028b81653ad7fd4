#include "cli/unknown.h"

#include "cli/command.h"

#include "base/suggest.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* A word on the command line, "--name" or "-n", and the option that it is found to be. */
struct found {
	const char *name; /* without dashes */
	size_t length;
	int key; /* of a short one; 0: a long one */
	const struct argp_option *option;
	struct suggestion near;
};

/* argp's own, which no table has. */
static const struct argp_option common[] = {
	{.name = "help"},
	{.name = "usage"},
	{.name = "version"},
	{0},
};

/* Looks in a table; a name may be cut short, but a whole one counts first. */
static void find_option(struct found *f, const struct argp_option *o)
{
	for (; o->name; o++) {
		bool whole = !f->key && strlen(o->name) == f->length;

		if (f->key ? o->key == f->key
		           : !strncmp(o->name, f->name, f->length) &&
		                     (whole || !f->option))
			f->option = o;
		suggest_offer(&f->near, o->name);
	}
}

static bool takes_next(const struct argp_option *o)
{
	return o->arg && !(o->flags & OPTION_ARG_OPTIONAL);
}

/* Refuses a long option that does not exist; returns whether it takes the next word. */
static bool check_long(const struct argp_option *table, const char *command,
                       const char *name)
{
	struct found f = {.name = name, .length = strcspn(name, "=")};

	f.near = suggest_start(name, f.length);
	find_option(&f, table);
	find_option(&f, common);
	if (f.option)
		return !name[f.length] && takes_next(f.option);
	fprintf(stderr, "%s: unrecognized option '--%.*s'%s\n", command, (int)f.length,
	        name, suggest_ask(&f.near, "--"));
	fprintf(stderr, "Try `%s --help' or `%s --usage' for more information.\n",
	        command, command);
	exit(EXIT_MISUSE);
}

/* Returns whether the last of the short options of a word takes the next word. */
static bool check_short(const struct argp_option *table, const char *letters)
{
	for (; *letters; letters++) {
		struct found f = {.key = *letters};

		find_option(&f, table);
		if (f.option && f.option->arg)
			return !letters[1] && takes_next(f.option);
	}
	return false;
}

void unknown_check(const struct argp_option *table, int argc, char **argv)
{
	static char help[] = "--help";

	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
		if (!strcmp(argv[i], "-h"))
			argv[i] = help;
		if (!strncmp(argv[i], "--", 2))
			i += check_long(table, argv[0], argv[i] + 2);
		else if (argv[i][0] == '-')
			i += check_short(table, argv[i] + 1);
	}
}
