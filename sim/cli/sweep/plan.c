/* `shardsim sweep plan`: all of a sweep in one file, for `sweep run`. */
#include "cli/sweep/sweep.h"

#include "cli/command.h"
#include "sweep/shard.h"

struct options {
	struct request_options asked;
	struct command_words suite;
	const char *out;
};

static const struct option_row option_table[] = {
	{"out", 0, "FILE", "the plan (default plan.jsonl)", AT(out)},
	{0},
};

static void check_suites(void *self, const struct argp_state *state)
{
	struct options *o = self;

	request_take(&o->asked, &o->suite, state);
}

int command_sweep_plan(int argc, char **argv)
{
	struct options o = {.out = "plan.jsonl"};
	const struct command_syntax syntax = {
		.usage = "SUITE.yaml...",
		.doc = "Write down the cases of a sweep, for `sweep run` to "
		       "measure in parts.",
		.machines = true,
		.options = {{option_table, &o}, {request_table, &o.asked}},
		.words = &o.suite,
		.check = check_suites,
		.self = &o,
	};
	struct arena *a = arena_new();
	struct sweep s = {0};
	struct error e = {0};
	int status;

	command_parse(&syntax, argc, argv);
	if (sweep_setup(&s, &o.asked.request, a, &e) == OK &&
	    plan_write(o.out, &s, &o.asked.request, &e) == OK)
		fprintf(stderr, "%lld cases in %s\n", (long long)sweep_cases(&s), o.out);
	status = e.code == OK ? EXIT_DONE : command_misuse(&e);
	arena_free(a);
	return status;
}
