#include "cli/automap/options.h"

#include "automap/jobs_suite.h"
#include "automap/study.h"
#include "validate/program/sharded.h"

static const char *const emit_meant[] = {"torch", "dtensor (PyTorch)", "pytorch",
                                         "dtensor (PyTorch)", NULL};

const struct option_row automap_table[] = {
	{"mesh", 0, "MESH", "the axes to cut along: batch=8,model=4", AT(mesh)},
	{"device-count", 0, "N",
         "instead of a mesh: how many devices; axes batch and model, their sizes and "
         "places are searched",
         AT(count)},
	{"platform", 0, "P", "family:shape or a SimGrid XML file", AT(platform)},
	{"set", 0, "KEY=VALUE", "change a figure of a family:shape platform", AT(set),
         .settings = true},
	{"devices", 0, "LIST|@FILE",
         "platform devices of the mesh's (default: the first)", AT(devices)},
	{"tactic", 0, "T",
         "cut like this first: data, context, megatron, sequence, expert, zero2 or "
         "zero3, :AXIS; or a file of rules",
         AT(tactic), .settings = true},
	{"start", 0, "T", "start the search from this tactic, too; it need not keep it",
         AT(start), .settings = true},
	{"group", 0, "REGEX", "arguments to decide on together (default: equal layers)",
         AT(group), .settings = true},
	{"weights", 0, "REGEX",
         "arguments that are weights and not data (default: found by donated buffers, "
         "results, names)",
         AT(weights), .settings = true},
	{"search", 0, "structure|mcts|exhaustive|none",
         "how to decide on the rest (default structure)", AT(search),
         .unknown = "unknown search"},
	{"planner", 0, "PLANNER",
         "who plans changes of layout that take several steps (default best; `none`: "
         "slices, all-to-alls and all-gathers as they come)",
         AT(planner)},
	{"budget", 0, "N", "evaluations of a mesh in a placement", AT(budget)},
	{"seed", 0, "N", "of the random numbers of mcts (default 1)", AT(seed)},
	{"memory-limit", 0, "SIZE",
         "of a device (default: what it has; none: no limit)", AT(limit)},
	{"batch", 0, "N", "sequences of a step, whatever the model says", AT(batch)},
	{"seq", 0, "N", "tokens of a sequence, whatever the model says", AT(seq)},
	{"micro-batches", 0, "N",
         "passes of a step, each of an N-th of the batch (default 1)", AT(micro)},
	{"recompute", 0, "none|full",
         "full: layers are computed again in the backward pass (default none)",
         AT(recompute), .unknown = "unknown recomputation"},
	{"overlap", 0, "none|async", "collectives beside kernels (default none)",
         AT(overlap)},
	{"emit", 0, "jax|sdy|dtensor|annotate|hlo",
         "write the shardings for another system, into the text of the program "
         "(annotate), or the step of a model as a program (hlo)",
         AT(emit), .unknown = "unknown kind of text", .meant = emit_meant},
	{"output", 'o', "FILE", "where --emit writes (default: it is printed alone)",
         AT(output)},
	{"devices-out", 0, "FILE", "write the device order, for --devices @FILE",
         AT(devices_out)},
	{"format", 0, "text|json|md|csv",
         "how to print (default text; of suites md, or csv)", AT(format),
         .unknown = "unknown format"},
	{0},
};

static bool sharding_asked(const struct options *o)
{
	return o->mesh || o->count || o->platform || o->search || o->budget ||
	       o->seed || o->limit || o->devices || o->devices_out || o->set.n ||
	       o->tactic.n || o->start.n || o->group.n || o->weights.n || o->planner ||
	       o->micro || o->recompute || o->overlap || o->library.launch;
}

/* Of shardings, of jobs that arrive, or a table of published steps. */
static bool is_suite(const char *path)
{
	return automap_is_study(path) || jobs_suite_is(path) || step_table_is(path);
}

static void check_of_suite(struct options given, const struct argp_state *state)
{
	const struct options *o = &given;

	/* Of a table of steps the evaluations may be said. */
	if (step_table_is(given.file.at[0]))
		given.budget = NULL;
	if (sharding_asked(o) || o->batch || o->seq || o->emit || o->output)
		argp_error(state, "the cases of a suite say all but --format");
	if (is_word(o->format, "text") || is_word(o->format, "json"))
		argp_error(state, "--format %s is not for suites, expected md or csv",
		           o->format);
}

/* What a search of this kind would not look at. */
static void check_search(const struct options *o, const struct argp_state *state)
{
	if (o->seed && !is_word(o->search, "mcts"))
		argp_error(state, "--seed goes with --search mcts");
	if ((o->budget || o->start.n) && is_word(o->search, "none"))
		argp_error(state, "--%s goes with a search",
		           o->budget ? "budget" : "start");
	if (!o->platform &&
	    (o->set.n || o->devices || o->planner || o->overlap || o->library.launch))
		argp_error(state, "--%s goes with --platform",
		           o->set.n     ? "set"
		           : o->devices ? "devices"
		           : o->planner ? "planner"
		           : o->overlap ? "overlap"
		                        : "launch");
}

static void check_overlap(const char *overlap, const struct argp_state *state)
{
	if (!overlap || is_word(overlap, "none") || is_word(overlap, "async"))
		return;
	if (is_word(overlap, "stream"))
		argp_error(state,
		           "--overlap stream runs collectives from where a "
		           "compiler's schedule starts them to where it waits, and "
		           "what is cut here has no schedule: expected async, or a "
		           "dump of the step compiled with these shardings (--emit) "
		           "for `shardsim program --overlap stream`");
	argp_error(state, "unknown overlap '%s', expected none or async", overlap);
}

void automap_check_options(void *self, const struct argp_state *state)
{
	const struct options *o = self;
	bool hlo = is_word(o->emit, "hlo");

	if (o->file.n && is_suite(o->file.at[0])) {
		check_of_suite(*o, state);
		return;
	}
	if (is_word(o->format, "md") || is_word(o->format, "csv"))
		argp_error(state, "--format %s is for suites", o->format);
	if (o->mesh && o->count)
		argp_error(state, "--mesh and --device-count, expected one of them");
	if (o->output && !o->emit)
		argp_error(state, "--output is where --emit writes");
	if (o->emit && o->format && !o->output && !hlo)
		argp_error(state, "--emit without --output prints nothing else");
	if (o->devices && o->count)
		argp_error(state, "--devices goes with --mesh");
	if (hlo && (sharding_asked(o) || o->format))
		argp_error(state,
		           "--emit hlo writes the step of a model before it is "
		           "sharded, expected no more than --batch, --seq and -o");
	check_overlap(o->overlap, state);
	check_search(o, state);
}
