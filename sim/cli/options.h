/*
 * The options of the commands as tables: what each is called, what it takes, and where
 * its value goes. command_parse() reads a command line by them, through argp. Besides
 * argp's --help, --usage and --version, -h is --help and -V is --version.
 */
#ifndef SHARDSIM_SIM_CLI_OPTIONS_H
#define SHARDSIM_SIM_CLI_OPTIONS_H

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>

/* Where a value is in the struct that a command keeps the values of its options in. */
#define AT(member) .at = offsetof(struct options, member)

/* The values of `--set KEY=VALUE`, which may be given for several keys. */
enum { SETTINGS_MAX = 64 };
struct settings {
	const char *at[SETTINGS_MAX];
	int n;
};

/*
 * An option, which may be given once. Its value is a bool if it takes no argument, else
 * a const char *, which stays as it was where the option is not given. A table ends with
 * a row without a name.
 */
struct option_row {
	const char *name;
	int letter;      /* of the short form, or 0 */
	const char *arg; /* the argument as --help shows it, or NULL */
	const char *help;
	size_t at;           /* offset of the value in what the table is read into */
	const char *unknown; /* only the words of `arg`; others are told "UNKNOWN 'x'" */
	const char *const *meant; /* words of others and what they mean here, in turn, then NULL */
	const char *alone;  /* the value of the option without its optional argument */
	const char *filled; /* it is not empty; says what was expected: "a folder" */
	bool settings;      /* the value is a struct settings */
	int use;            /* for what it means something (option_misused()) */
	/* What --help shows in place of an `arg` too long for its lines; `help` lists the words. */
	const char *shown;
};

/* A table and what it is read into; an array of these ends with one without a table. */
struct option_set {
	const struct option_row *table;
	void *into;
};

/* The arguments that are no options: a part of argv. */
struct command_words {
	const char *const *at;
	int n;
};

enum { OPTION_SETS_MAX = 6 };
struct command_syntax {
	const char *usage, *doc; /* as argp takes them */
	struct option_set options[OPTION_SETS_MAX];
	struct command_words *words; /* where they go; NULL if it takes none */
	int most;                    /* words, or 0 for no limit */
	/*
	 * It takes machines, and so --families FILE, whose families the whole program knows
	 * from then on (FAMILIES_MORE of facts/families.h); a file that is no good is misuse.
	 */
	bool machines;
	const char *expected; /* words, if there must be one */
	/* If it is not NULL, it leaves by argp_error() unless all go together. */
	void (*check)(void *self, const struct argp_state *state);
	void *self; /* for the check */
};

/* Reads a command line; it leaves with a message if that is wrong, and after --help. */
void command_parse(const struct command_syntax *syntax, int argc, char **argv);

/* What is forced on the collective library, for a struct library_text. */
extern const struct option_row library_table[];

/* Who calls it, as a row for a member that is the text. */
#define LAUNCH_ROW(type, member)                                                       \
	{                                                                              \
		"launch", 0, "process|single|bound|graph|xla|eager|mpi",               \
			"who calls collectives: a process for each device, a single "  \
			"one for all, the same on one core (as mpirun binds two "      \
			"processes), a captured graph, a program that XLA compiled, "  \
			"PyTorch (eager), or MPI. TPUs always have xla; on GPUs on "   \
			"which its calls were timed it is the default for plans and "  \
			"programs; else the default is process",                       \
			.at = offsetof(type, member)                                   \
	}

/* Who calls it, alone, for a struct library_text. */
extern const struct option_row launch_table[];

/*
 * Returns the name of the first option whose value is there though its `use` has none of
 * these bits, or NULL.
 */
const char *option_misused(const struct option_set *options, int use);

#endif
