/* `shardsim sweep`: suites over platforms, planners and clocks, one row each. */
#include "cli/sweep/sweep.h"

#include "cli/command.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

struct options {
	struct request_options asked;
	struct run_options run;
	struct command_words suite;
	const char *out, *resume;
	bool update;
};

static const struct option_row option_table[] = {
	{"out", 0, "DIR", "folder of the rows (default sweep)", AT(out),
         .filled = "a folder"},
	{"resume", 0, "DIR",
         "go on with the sweep in DIR: run what is missing or failed, and nothing else",
         AT(resume), .filled = "a folder"},
	{"update", 0, NULL,
         "where DIR has rows of another sweep, keep those that belong to this one too, "
         "and drop the others",
         AT(update)},
	{0},
};

static const char doc[] =
	"Measure every scenario on every platform with every planner and clock.\v"
	"If DIR has rows of the same sweep (equal scenarios, platform files, planners "
	"and clocks), the sweep goes on, as by --resume: it measures rows that are "
	"missing, failed or of another build of shardsim, and no others. A DIR with "
	"another sweep is refused, unless --update is given.\n"
	"\n"
	"On many machines: `sweep plan SUITE.yaml... --out PLAN`, then `sweep run "
	"PLAN --shard K/N` for every K from 0 to N-1, anywhere and in any order, then "
	"`sweep merge PLAN SHARD... --out DIR`; `sweep status` tells how far the "
	"shards are.";

static void check_arguments(void *self, const struct argp_state *state)
{
	struct options *o = self;
	const struct option_set request[] = {{request_table, &o->asked}, {NULL, NULL}};

	if (!o->resume)
		request_take(&o->asked, &o->suite, state);
	else if (o->suite.n || option_misused(request, 0) || o->out)
		argp_error(
			state,
			"--resume goes without suites, platforms, settings, planners, "
			"clocks, --launch and --out: DIR has them");
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

/* Returns whether there is something to go on with. */
static bool has_rows(const char *out, struct arena *a)
{
	return access(arena_printf(a, "%s/sweep.db", out), F_OK) == 0;
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
		if (has_rows(out, a))
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

	if (!has_rows(dir, a))
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

/* Tells what is assumed of the machines, of several that are alike in it once. */
static void note_machines(const struct sweep *s)
{
	const struct suite_platform *told = NULL;
	const char *note = "";

	for (int p = 0; p < s->nplatforms; p++) {
		const struct suite_platform *asked = s->platform[p].asked;

		if (!s->known[p].note || asked == told ||
		    (told && !strcmp(note, s->known[p].note) &&
		     !strcmp(asked->base, told->base)))
			continue;
		told = asked;
		note = s->known[p].note;
		command_note(s->platform[p].name, note);
	}
}

/* Tells what nothing reads of the machines, what several say once. */
static void note_unread(const struct sweep *s)
{
	struct text all = {0};

	for (int p = 0; p < s->nplatforms; p++) {
		const char *line = s->known[p].unread, *end;

		for (; *line; line = end) {
			size_t n;

			end = strchr(line, '\n') + 1;
			n = (size_t)(end - line);
			if (!all.s || !memmem(all.s, all.length, line, n))
				text_printf(&all, "%.*s", (int)n, line);
		}
	}
	command_notes(all.s);
	text_free(&all);
}

static int run_request(struct options *o, struct arena *a)
{
	struct sweep_request request = o->asked.request;
	const char *out = o->resume ? o->resume : o->out ? o->out : "sweep";
	struct sweep s = {0};
	struct store *store = NULL;
	struct error e = {0};

	run_options_take(&s, &o->run, cmd_sweep_cores(), &e);
	if (e.code == OK && o->resume)
		take_resume(&store, &request, out, a, &e);
	if (e.code == OK)
		sweep_setup(&s, &request, a, &e);
	if (e.code == OK) {
		note_machines(&s);
		note_unread(&s);
		return sweep_into(&s, o, &request, out, a, store);
	}
	if (store && store_damage(store)) {
		fprintf(stderr, "shardsim: %s\n", store_damage(store));
		store_discard(store); /* the new one, of which nothing is known */
	}
	store_close(store);
	return command_misuse(&e);
}

/* Finds the command of its own that `sweep plan`, `sweep run` and so on are, or NULL. */
static const struct command *subcommand(const char *name)
{
	static const struct command all[] = {
		{"plan", NULL, command_sweep_plan},
		{"run", NULL, command_sweep_run},
		{"submit", NULL, command_sweep_submit},
		{"merge", NULL, command_sweep_merge},
		{"status", NULL, command_sweep_status},
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (strcmp(all[i].name, name) == 0)
			return &all[i];
	return NULL;
}

int command_sweep(int argc, char **argv)
{
	struct options o = {0};
	const struct command_syntax syntax = {
		.usage = "SUITE.yaml...",
		.doc = doc,
		.machines = true,
		.options = {{option_table, &o},
	                    {request_table, &o.asked},
	                    {run_table, &o.run}},
		.words = &o.suite,
		.check = check_arguments,
		.self = &o,
	};
	const struct command *sub = argc > 1 ? subcommand(argv[1]) : NULL;
	struct arena *a;
	char name[64];
	int status;

	if (sub) {
		snprintf(name, sizeof(name), "%s %.16s", argv[0], argv[1]);
		argv[1] = name;
		return sub->run(argc - 1, argv + 1);
	}
	command_parse(&syntax, argc, argv);
	a = arena_new();
	status = run_request(&o, a);
	arena_free(a);
	return status;
}
