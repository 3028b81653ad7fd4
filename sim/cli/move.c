/* `shardsim move`: many arrays at once. */
#include "move/move.h"
#include "cli/command.h"
#include "cli/options.h"
#include "measure/choose.h"
#include "measure/clocks.h"
#include "measure/library.h"
#include "move/show.h"

#include <string.h>

struct options {
	struct move_ends ends;
	struct move_texts texts;
	const char *platform, *planner, *clock, *order, *format;
	struct settings set;
	struct library_text library;
	bool host_costs, timing;
	struct command_words file;
};

static const struct option_row option_table[] = {
	{"platform", 0, "P", "family:shape or a SimGrid XML file", AT(platform)},
	{"set", 0, "KEY=VALUE", "change a figure of a family:shape platform", AT(set),
         .settings = true},
	{"from", 0, "AXES",
         "for a model or a list of tensors: the mesh that it is on, whose axes say how "
         "it is cut (data, fsdp, tensor, expert, pipeline)",
         AT(ends.from)},
	{"to", 0, "AXES", "the mesh that it is needed on", AT(ends.to)},
	{"devices", 0, "LIST|@FILE", "platform devices of --from (default: the first)",
         AT(ends.devices)},
	{"to-devices", 0, "LIST|@FILE", "platform devices of --to (default: the first)",
         AT(ends.to_devices)},
	{"dtype", 0, "TYPE", "type of all tensors (default: the file's)", AT(ends.dtype)},
	{"planner", 0, "LIST", "planners, or all (default best)", AT(planner)},
	{"clock", 0, "LIST", "clocks: model, fluid, simgrid, flow (default model)",
         AT(clock)},
	{"concurrent", 0, "N", "how many calls are in flight at once (default 1)",
         AT(texts.concurrent)},
	{"batch", 0, "SIZE",
         "put arrays with equal layouts into one call, up to that size of arrays",
         AT(texts.batch)},
	{"source", 0, "keep|free",
         "whether an array's source is freed once it is moved (default keep)",
         AT(texts.source), .unknown = "unknown source"},
	{"order", 0, "best|given",
         "the order with the least time and memory, or the file's (default best)",
         AT(order), .unknown = "unknown order"},
	{"memory-limit", 0, "SIZE",
         "largest memory of all arrays together on a device; none: no limit (default: "
         "the memory of a device)",
         AT(texts.memory_limit)},
	{"host-costs", 0, NULL,
         "add rows with the time that hosts take for calls, packing and gathering",
         AT(host_costs)},
	{"format", 0, "text|json", "how to print (default text)", AT(format),
         .unknown = "unknown format"},
	{"timing", 0, NULL, "show planning times", AT(timing)},
	{0},
};

static void check_move_options(void *self, const struct argp_state *state)
{
	const struct options *o = self;

	if (!o->platform)
		argp_error(state, "--platform is needed, such as dgx-h100:8");
}

struct session {
	struct arena *arena;
	struct move_work work;
	struct move_how how;
	struct host_costs host;
	struct clocks clocks;
	struct bench bench;
};

static struct where place_of(const char *option, const char *text)
{
	return text ? where_option(option, text) : (struct where){0};
}

/* Reads the file and what the command line says in its place. */
static enum status read_work(struct session *s, struct options *o, struct error *e)
{
	struct move_texts *t = &o->texts;

	s->work.arena = s->arena;
	if (move_read(&s->work, o->file.at[0], &o->ends, e) != OK)
		return e->code;
	t->concurrent_at = place_of("--concurrent", t->concurrent);
	t->batch_at = place_of("--batch", t->batch);
	t->memory_limit_at = place_of("--memory-limit", t->memory_limit);
	t->source_at = place_of("--source", t->source);
	return move_settings(&s->work, t, e);
}

/* Opens the platform, which may be asked for by the number of devices that are used. */
static enum status open_move_platform(struct session *s, const struct options *o,
                                      struct error *e)
{
	const struct machine *machine;
	const char *platform = o->platform;
	int *clock, n;

	if (choose_clocks(&clock, &n, s->arena, o->clock ? o->clock : "model", e) != OK)
		return e->code;
	if (platform_sized(platform)) {
		int64_t needs = move_needs(&s->work, e);

		if (e->code != OK || platform_resize(&platform, s->arena, o->set.at,
		                                     o->set.n, needs, e) != OK)
			return e->code;
	}
	if (clocks_open(&s->clocks, s->arena, platform, o->set.at, o->set.n, clock, n,
	                e) != OK ||
	    library_of_plans(s->clocks.platform->machine, &o->library, NULL, e) != OK)
		return e->code;
	machine = s->clocks.platform->machine;
	command_machine_notes(machine, &o->library, platform, o->set.at, o->set.n);
	bench_init(&s->bench, machine);
	for (int i = 0; i < n; i++)
		clocks_bench(&s->clocks, &s->bench, clock[i]);
	if (o->host_costs &&
	    host_costs_find(&s->host, s->arena, platform,
	                    where_option("--platform", o->platform), e) != OK)
		return e->code;
	return OK;
}

static void set_how(struct session *s, const struct options *o)
{
	const struct move_work *w = &s->work;
	const struct machine *m = s->bench.machine;
	double memory = 0;

	for (int32_t d = 0; d < m->ndevices; d++)
		if (m->device[d].memory_bytes > 0 &&
		    (memory == 0 || m->device[d].memory_bytes < memory))
			memory = m->device[d].memory_bytes;
	s->how = (struct move_how){
		.concurrent = w->concurrent ? w->concurrent : 1,
		.batch_bytes = w->batch_bytes,
		.free_source = w->free_source,
		.given_order = o->order && !strcmp(o->order, "given"),
		.limit_bytes = w->any_memory ? 0 : memory,
		.limit_what = "a device has",
		.host = o->host_costs ? &s->host : NULL,
	};
	if (w->memory_limit_bytes >= 0) {
		s->how.limit_bytes = (double)w->memory_limit_bytes;
		s->how.limit_what = "the limit is";
	}
}

static int run_session(struct session *s, struct options *o)
{
	struct move_shown shown = {.work = &s->work, .how = &s->how, .bench = &s->bench};
	const struct planner **planner;
	struct move_result *result;
	struct text out = {0};
	struct error e = {0};
	int n, status = EXIT_DONE;

	if (read_work(s, o, &e) != OK ||
	    choose_planners(&planner, &n, s->arena, o->planner ? o->planner : "best",
	                    &e) != OK ||
	    open_move_platform(s, o, &e) != OK)
		return command_misuse(&e);
	set_how(s, o);
	result = arena_alloc(s->arena, (size_t)n, sizeof(*result));
	for (int i = 0; i < n; i++) {
		if (move_run(&result[i], &s->work, &s->how, planner[i], &s->bench,
		             s->arena, &e) != OK)
			return command_misuse(&e);
		if (result[i].status >= OUTCOME_WRONG)
			status = EXIT_FAULT;
	}
	shown.platform = s->bench.machine->name;
	shown.n = n;
	shown.result = result;
	shown.timing = o->timing;
	if (o->format && !strcmp(o->format, "json"))
		move_json(&out, &shown);
	else
		move_text(&out, &shown, s->arena);
	fputs(out.s, stdout);
	text_free(&out);
	return status;
}

int command_move(int argc, char **argv)
{
	struct session s = {.arena = arena_new()};
	struct options o = {0};
	const struct command_syntax syntax = {
		.usage = "FILE --platform P",
		.doc = "Move many arrays at once: a suite of scenarios, a list of "
		       "tensors, or a model from one mesh to another.\v"
		       "Example: shardsim move scenarios/models/llama-3-70b.yaml "
		       "--from "
		       "fsdp=64 --to data=8,tensor=8 --to-devices 64-127 --platform "
		       "dgx-h100:16",
		.machines = true,
		.options = {{option_table, &o}, {launch_table, &o.library}},
		.words = &o.file,
		.most = 1,
		.expected = "a workload",
		.check = check_move_options,
		.self = &o,
	};
	int status;

	command_parse(&syntax, argc, argv);
	status = run_session(&s, &o);
	bench_free(&s.bench);
	clocks_free(&s.clocks);
	arena_free(s.arena);
	return status;
}
