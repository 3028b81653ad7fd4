#include "cli/command.h"
#include "system/version.h"

#include <argp.h>
#include <gsl/gsl_errno.h>

#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void usage(FILE *out)
{
	fputs("usage: shardsim COMMAND [OPTION...]\n\n", out);
	for (const struct command *c = commands; c->name; c++)
		fprintf(out, "  %-10s %s\n", c->name, c->help);
	fputs("\n'shardsim COMMAND --help' or -h tells its options, 'shardsim help "
	      "COMMAND' "
	      "has\nexamples, 'shardsim --version' or -V tells builds apart.\n",
	      out);
}

/*
 * A full disk or a closed pipe shows at the last write: it must not pass for success. Done
 * at the end of the process, for argp ends it after --help.
 */
static void flush_stdout(void)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return;
	perror("shardsim: cannot write the output");
	_exit(EXIT_FAULT);
}

/* argp says argv[0] in its messages and usage. */
static int run_command(const struct command *c, int argc, char **argv)
{
	char name[64];
	int status;

	snprintf(name, sizeof(name), "shardsim %s", c->name);
	argv[0] = name;
	status = c->run(argc, argv);
	argv[0] = NULL;
	return status;
}

int main(int argc, char **argv)
{
	static char version[64], spelled_out[] = "version";
	const struct command *c;

	setlocale(LC_ALL, "C");
	/* A file at its size limit is an error of the write, not a death. */
	signal(SIGXFSZ, SIG_IGN);
	memory_keep();
	gsl_set_error_handler_off();
	atexit(flush_stdout);
	snprintf(version, sizeof(version), "shardsim %s", version_text);
	argp_program_version = version;
	if (argc < 2) {
		usage(stderr);
		return EXIT_MISUSE;
	}
	if (!strcmp(argv[1], "-h") || !strcmp(argv[1], "--help") ||
	    (argc == 2 && !strcmp(argv[1], "help"))) {
		usage(stdout);
		return EXIT_DONE;
	}
	if (!strcmp(argv[1], "-V") || !strcmp(argv[1], "--version"))
		argv[1] = spelled_out;
	c = command_find(argv[1]);
	return c ? run_command(c, argc - 1, argv + 1) : command_unknown(argv[1]);
}
