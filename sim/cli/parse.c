#include "cli/parse.h"

#include "cli/command.h"
#include "facts/families.h"

#include "base/suggest.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* --- options that do not exist ---------------------------------------------------- */

/* What a word on the command line, "--name" or "-n", is found to be. */
struct found {
	const char *name; /* without dashes */
	size_t length;
	int key; /* of a short one; 0: a long one */
	const struct argp_option *option;
	struct suggestion near;
};

static bool is_last(const struct argp_option *o)
{
	return !o->name && !o->key && !o->doc && !o->group;
}

/* argp's own, which no table has. */
static const struct argp_option common[] = {
	{"help", 0, NULL, 0, NULL, 0},
	{"usage", 0, NULL, 0, NULL, 0},
	{"version", 0, NULL, 0, NULL, 0},
	{NULL, 0, NULL, 0, NULL, 0},
};

/* Looks the word up in a table; a name may be cut short, but the whole one counts first. */
static void find_in(struct found *f, const struct argp_option *o)
{
	for (; o && !is_last(o); o++) {
		if (f->key ? o->key == f->key
		           : o->name && f->length == strlen(o->name) &&
		                     !memcmp(o->name, f->name, f->length))
			f->option = o;
		if (f->key || !o->name)
			continue;
		if (!f->option && !strncmp(o->name, f->name, f->length))
			f->option = o;
		suggest_offer(&f->near, o->name);
	}
}

static void find_option(struct found *f, const struct argp *argp)
{
	find_in(f, argp->options);
	for (const struct argp_child *c = argp->children; c && c->argp; c++)
		find_option(f, c->argp);
}

static bool takes_next(const struct argp_option *o)
{
	return o && o->arg && !(o->flags & OPTION_ARG_OPTIONAL);
}

/* Refuses a long option that does not exist; returns whether it takes the next word. */
static bool check_long(const struct argp *argp, const char *command, const char *name)
{
	struct found f = {.name = name, .length = strcspn(name, "=")};

	f.near = suggest_start(name, f.length);
	find_option(&f, argp);
	find_in(&f, common);
	if (f.option)
		return !name[f.length] && takes_next(f.option);
	fprintf(stderr, "%s: unrecognized option '--%.*s'%s\n", command, (int)f.length,
	        name, suggest_ask(&f.near, "--"));
	fprintf(stderr, "Try `%s --help' or `%s --usage' for more information.\n",
	        command, command);
	exit(EXIT_MISUSE);
}

/* Returns whether the last of the short options of a word takes the next word. */
static bool check_short(const struct argp *argp, const char *letters)
{
	for (; *letters; letters++) {
		struct found f = {.key = *letters};

		find_option(&f, argp);
		if (f.option && f.option->arg)
			return !letters[1] && takes_next(f.option);
	}
	return false;
}

/* Looks at the words before argp does, which would say nothing but "unrecognized". */
static void check_words(const struct argp *argp, int argc, char **argv)
{
	static char help[] = "--help";

	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
		if (!strcmp(argv[i], "-h"))
			argv[i] = help;
		if (!strncmp(argv[i], "--", 2))
			i += check_long(argp, argv[0], argv[i] + 2);
		else if (argv[i][0] == '-')
			i += check_short(argp, argv[i] + 1);
	}
}

void command_parse(const struct argp *argp, int argc, char **argv, void *input)
{
	argp_err_exit_status = EXIT_MISUSE;
	check_words(argp, argc, argv);
	argp_parse(argp, argc, argv, 0, NULL, input);
}

/* --- families of the user's -------------------------------------------------------- */

enum { KEY_FAMILIES = 0x4000 };

static const struct argp_option families_table[] = {
	{"families", KEY_FAMILIES, "FILE", 0,
         "more machine families, in the form of families.yaml", 0},
	{NULL, 0, NULL, 0, NULL, 0},
};

/* Makes the file known by its full name, for a sweep may go to another folder. */
static error_t parse_families(int key, char *arg, struct argp_state *state)
{
	static bool given;
	char full[PATH_MAX];

	if (key != KEY_FAMILIES)
		return ARGP_ERR_UNKNOWN;
	if (given)
		argp_error(state, "--families is given twice");
	given = true;
	setenv(FAMILIES_MORE, realpath(arg, full) ? full : arg, 1);
	return 0;
}

/* Hands the command's parser its input. */
static error_t parse_whole(int key, char *arg, struct argp_state *state)
{
	(void)arg;
	if (key == ARGP_KEY_INIT)
		state->child_inputs[0] = state->input;
	return ARGP_ERR_UNKNOWN;
}

void command_parse_machines(const struct argp *argp, int argc, char **argv, void *input)
{
	static const struct argp families = {families_table, parse_families, NULL, NULL,
	                                     NULL,           NULL,           NULL};
	const struct argp_child children[] = {
		{argp, 0, NULL, 0}, {&families, 0, NULL, 0}, {NULL, 0, NULL, 0}};
	const struct argp whole = {NULL, parse_whole, NULL, NULL, children, NULL, NULL};
	struct arena *a = arena_new();
	struct families all;
	struct error e = {0};

	command_parse(&whole, argc, argv, input);
	if (getenv(FAMILIES_MORE) && families_known(&all, a, &e) != OK)
		exit(command_misuse(&e));
	arena_free(a);
}
