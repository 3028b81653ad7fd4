/* `shardsim sweep plan`: all of a sweep in one file, for `sweep run`. */
#include "cli/sweep.h"

#include "cli/command.h"
#include "cli/parse.h"
#include "sweep/shard.h"

enum { KEY_OUT = 256 };

struct options {
	struct request_options request;
	const char *out;
	uint64_t given;
};

static const struct argp_option option_table[] = {
	{"out", KEY_OUT, "FILE", 0, "the plan (default plan.jsonl)", 0},
	{NULL, 0, NULL, 0, NULL, 0},
};

static error_t parse_sweep_plan_option(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	command_given(&o->given, option_table, key, state);
	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &o->request;
		return 0;
	case KEY_OUT:
		o->out = arg;
		return 0;
	case ARGP_KEY_END:
		if (o->request.request.nsuites == 0)
			argp_error(state,
			           "expected a suite such as scenarios/models.yaml");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

int command_sweep_plan(int argc, char **argv)
{
	const struct argp_child children[] = {{&request_argp, 0, NULL, 0},
	                                      {NULL, 0, NULL, 0}};
	const struct argp argp = {option_table,
	                          parse_sweep_plan_option,
	                          "SUITE.yaml...",
	                          "Write down the cases of a sweep, for `sweep run` to "
	                          "measure in parts.",
	                          children,
	                          NULL,
	                          NULL};
	struct options o = {.request.request = {.planner = "all", .clock = "model"},
	                    .out = "plan.jsonl"};
	struct arena *a = arena_new();
	struct sweep s = {0};
	struct error e = {0};
	int status;

	command_parse_machines(&argp, argc, argv, &o);
	if (sweep_setup(&s, &o.request.request, a, &e) == OK &&
	    plan_write(o.out, &s, &o.request.request, &e) == OK)
		fprintf(stderr, "%lld cases in %s\n", (long long)sweep_cases(&s), o.out);
	status = e.code == OK ? EXIT_DONE : command_misuse(&e);
	arena_free(a);
	return status;
}
