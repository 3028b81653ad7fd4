/* `shardsim sweep`: suites over platforms, planners and clocks, one row each. */
#include "cli/sweep.h"

#include "cli/command.h"
#include "cli/parse.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { KEY_OUT = 256, KEY_RESUME, KEY_UPDATE };

struct options {
	struct request_options request;
	struct run_options run;
	const char *out, *resume;
	bool update;
	uint64_t given;
};

static const struct argp_option option_table[] = {
	{"out", KEY_OUT, "DIR", 0, "folder of the rows (default sweep)", 0},
	{"resume", KEY_RESUME, "DIR", 0,
         "go on with the sweep in DIR: what is missing or failed, nothing else", 0},
	{"update", KEY_UPDATE, NULL, 0,
         "keep those rows of another sweep in DIR that are also of this one, drop the "
         "others",
         0},
	{NULL, 0, NULL, 0, NULL, 0},
};

static const char doc[] =
	"Measure every scenario on every platform with every planner and clock.\v"
	"A DIR that has rows of the same sweep (equal scenarios, platform files, "
	"planners "
	"and clocks) is gone on with, as by --resume: rows that are "
	"missing, failed or of another build of shardsim are measured, others are not. "
	"A DIR with another sweep is refused, "
	"unless --update is given.\n\n"
	"On many machines: `sweep plan SUITE.yaml... --out PLAN`, then `sweep run PLAN "
	"--shard "
	"K/N` for every K from 0 to N-1, anywhere and in any order, then `sweep merge "
	"PLAN "
	"SHARD... --out DIR`; `sweep status` tells how far that is.";

static void check_arguments(const struct options *o, const struct argp_state *state)
{
	const struct sweep_request *r = &o->request.request;

	if (o->resume && (r->nsuites || o->request.given || o->out))
		argp_error(state, "--resume goes without suites, platforms, planners, "
		                  "clocks and --out: DIR has them");
	if (!o->resume && r->nsuites == 0)
		argp_error(state, "expected a suite such as scenarios/models.yaml");
}

static error_t parse_sweep_option(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	command_given(&o->given, option_table, key, state);
	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &o->request;
		state->child_inputs[1] = &o->run;
		return 0;
	case KEY_OUT:
		if (!arg[0])
			argp_error(state, "--out is empty, expected a folder");
		o->out = arg;
		return 0;
	case KEY_RESUME:
		if (!arg[0])
			argp_error(state, "--resume is empty, expected a folder");
		o->resume = arg;
		return 0;
	case KEY_UPDATE:
		o->update = true;
		return 0;
	case ARGP_KEY_END:
		check_arguments(o, state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* --- telling ------------------------------------------------------------------------ */

static void tell_resume(const char *out)
{
	struct text command = {0};

	sweep_quote(&command, out);
	fprintf(stderr, "shardsim: go on with: shardsim sweep --resume %s\n", command.s);
	text_free(&command);
}

static int tell_rows(const struct sweep_counts *c, int64_t before, int64_t total,
                     const char *out)
{
	cmd_sweep_counts(c, out);
	if (before)
		fprintf(stderr,
		        before == total ? "; nothing was missing" : "; %lld were there",
		        (long long)before);
	fputs("\n", stderr);
	if (!c->signal)
		return cmd_sweep_status(c);
	fprintf(stderr,
	        "shardsim: stopped by signal %d (%s), %lld of %lld rows are done\n",
	        c->signal, strsignal(c->signal), (long long)c->rows, (long long)total);
	tell_resume(out);
	return EXIT_FAULT;
}

/* --- doing -------------------------------------------------------------------------- */

static int sweep_into(struct sweep *s, const struct options *o,
                      const struct sweep_request *r, const char *out, struct arena *a,
                      struct store *opened)
{
	struct sweep_counts counts = {0};
	struct digests done = {0};
	struct error e = {0};
	struct store *store = opened;
	struct sweep_sink sink;
	struct sweep_work *work;
	int64_t n, before;
	int status;

	if (cmd_sweep_open(&store, out, o->update, s, r, &done, &counts, &e) != OK) {
		digests_free(&done);
		return command_misuse(&e);
	}
	before = counts.rows;
	work = sweep_work(&n, s, &done, 0, 1, a);
	digests_free(&done);
	cmd_sweep_progress(s, &o->run, work, n, 1, a);
	sink = sweep_store(store);
	if (sweep_run(&counts, s, work, n, &sink, &e) == OK)
		store_finish(store, &e);
	store_close(store);
	if (e.code != OK) {
		command_misuse(&e);
		tell_resume(out);
		return EXIT_FAULT;
	}
	status = tell_rows(&counts, before, sweep_cases(s), out);
	return status;
}

/*
 * Takes the request in DIR, whose store stays open, and goes to the request's folder.
 */
static enum status take_resume(struct store **store, struct sweep_request *r,
                               const char *dir, struct arena *a, struct error *e)
{
	struct where at = {.file = dir};
	const char *folder;

	if (access(arena_printf(a, "%s/sweep.db", dir), F_OK) != 0)
		return error_set(e, E_IO, at, "cannot read sweep.db: %s",
		                 strerror(errno));
	if (store_open(store, dir, true, e) != OK)
		return e->code;
	if (!sweep_load(r, &folder, *store, a, e))
		return error_set(e, E_IO, at,
		                 "sweep.db does not tell its command: give the command "
		                 "again, with --out");
	if (chdir(folder) != 0)
		return error_set(e, E_IO, at, "its command was given in %s: %s", folder,
		                 strerror(errno));
	return OK;
}

static int run_request(struct options *o, struct arena *a)
{
	struct sweep_request request = o->request.request;
	const char *out = o->resume ? o->resume : o->out ? o->out : "sweep";
	struct sweep s = {0};
	struct store *store = NULL;
	struct error e = {0};

	run_options_take(&s, &o->run, cmd_sweep_cores(), &e);
	if (e.code == OK && o->resume)
		take_resume(&store, &request, out, a, &e);
	if (e.code == OK)
		sweep_setup(&s, &request, a, &e);
	if (e.code == OK)
		return sweep_into(&s, o, &request, out, a, store);
	if (store && store_damage(store))
		fprintf(stderr, "shardsim: %s\n", store_damage(store));
	store_close(store);
	return command_misuse(&e);
}

/* Finds the command of its own that `sweep plan`, `sweep run` and so on are. */
static int subcommand(int (**out)(int, char **), const char *name)
{
	static const struct command all[] = {
		{"plan", NULL, command_sweep_plan},
		{"run", NULL, command_sweep_run},
		{"submit", NULL, command_sweep_submit},
		{"merge", NULL, command_sweep_merge},
		{"status", NULL, command_sweep_status},
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		if (strcmp(all[i].name, name) == 0) {
			*out = all[i].run;
			return 1;
		}
	}
	return 0;
}

int command_sweep(int argc, char **argv)
{
	const struct argp_child children[] = {{&request_argp, 0, NULL, 0},
	                                      {&run_argp, 0, NULL, 0},
	                                      {NULL, 0, NULL, 0}};
	const struct argp argp = {option_table, parse_sweep_option, "SUITE.yaml...",
	                          doc,          children,           NULL,
	                          NULL};
	struct options o = {.request.request = {.planner = "all", .clock = "model"}};
	int (*sub)(int, char **);
	struct arena *a;
	char name[64];
	int status;

	if (argc > 1 && subcommand(&sub, argv[1])) {
		snprintf(name, sizeof(name), "%s %.16s", argv[0], argv[1]);
		argv[1] = name;
		return sub(argc - 1, argv + 1);
	}
	command_parse_machines(&argp, argc, argv, &o);
	a = arena_new();
	status = run_request(&o, a);
	arena_free(a);
	return status;
}
