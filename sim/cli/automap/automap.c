/* `shardsim automap FILE|MODEL`: which sharding a whole program should have. */
#include "automap/jobs_suite.h"
#include "automap/load.h"
#include "automap/remarks.h"
#include "automap/show.h"
#include "automap/study.h"
#include "automap/try.h"
#include "base/scan.h"
#include "base/units.h"
#include "cli/automap/options.h"
#include "plan/devices.h"
#include "platform/platform.h"
#include "system/file.h"
#include "system/stop.h"
#include "validate/program/sharded.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct session {
	const struct options *o;
	struct arena *a;
	struct automap_program program;
	struct machine *machine;
	struct mesh mesh;
	struct automap_ask ask;
	int status; /* of the exit, where there is no error */
};

static enum status read_count(int64_t *out, const char *option, const char *text,
                              int64_t least, int64_t most, struct error *e)
{
	struct scan s;

	if (!text)
		return OK;
	s = scan_start(text, where_option(option, text), e);
	if (!scan_int(&s, NULL, least, most, out))
		return e->code;
	return scan_finish(&s);
}

static enum status read_program(struct session *s, struct error *e)
{
	struct automap_train train = {.recompute = is_word(s->o->recompute, "full")};

	if (read_count(&train.batch, "--batch", s->o->batch, 1, INT32_MAX, e) != OK ||
	    read_count(&train.micro_batches, "--micro-batches", s->o->micro, 1,
	               INT32_MAX, e) != OK ||
	    read_count(&train.seq, "--seq", s->o->seq, 1, INT32_MAX, e) != OK)
		return e->code;
	s->ask.micro_batches = train.micro_batches;
	s->ask.recompute = train.recompute;
	s->ask.overlap = is_word(s->o->overlap, "async");
	if (automap_load(&s->program, s->a, s->o->file.at[0], train, s->o->group.at,
	                 s->o->group.n, e) != OK ||
	    !s->o->weights.n)
		return e->code;
	return graph_weights(&s->program.graph, s->a, s->o->weights.at, s->o->weights.n,
	                     e);
}

static enum status read_machine(struct session *s, int64_t devices, struct error *e)
{
	const struct options *o = s->o;
	const char *platform = o->platform;
	int32_t *order, n;

	if (!platform)
		return OK;
	if ((platform_sized(platform) &&
	     platform_resize(&platform, s->a, o->set.at, o->set.n, devices, e) != OK) ||
	    platform_machine(&s->machine, s->a, platform, o->set.at, o->set.n, e) != OK ||
	    library_of_plans(s->machine, &o->library, NULL, e) != OK)
		return e->code;
	command_machine_notes(s->machine, &o->library, platform, o->set.at, o->set.n);
	if (devices > s->machine->ndevices)
		return error_set(e, E_INFEASIBLE, where_option("--platform", platform),
		                 "has %d devices, and the mesh %lld",
		                 (int)s->machine->ndevices, (long long)devices);
	if (!o->devices)
		return OK;
	if (devices_parse(&order, &n, s->a, o->devices,
	                  where_option("--devices", o->devices), s->machine->ndevices,
	                  e) != OK)
		return e->code;
	s->ask.devices = order;
	if (n != devices)
		return error_set(e, E_TYPE, where_option("--devices", o->devices),
		                 "%d device%s for a mesh of %lld", (int)n,
		                 n == 1 ? "" : "s", (long long)devices);
	return OK;
}

static enum status read_limit(struct session *s, struct error *e)
{
	const char *text = s->o->limit;
	int64_t bytes = 0;

	s->ask.memory_limit_bytes = s->machine ? s->machine->device[0].memory_bytes : 0;
	if (!text)
		return OK;
	if (strcmp(text, "none") &&
	    units_bytes(text, where_option("--memory-limit", text), &bytes, e) != OK)
		return e->code;
	if (strcmp(text, "none") && !bytes)
		return error_set(e, E_RANGE, where_option("--memory-limit", text),
		                 "a device without memory, expected more than 0 bytes, "
		                 "or none for no limit");
	s->ask.memory_limit_bytes = (double)bytes;
	return OK;
}

static enum status read_planner(struct session *s, struct error *e)
{
	const char *name = s->o->planner ? s->o->planner : "best";

	s->ask.planner = planner_find(name, strlen(name));
	if (s->ask.planner || is_word(name, "none"))
		return OK;
	return error_set(e, E_TYPE, where_option("--planner", name),
	                 "unknown planner, expected none or one of `shardsim list "
	                 "planners`");
}

/* The mesh that is given, or that of the program's text; or the number of devices. */
static enum status take_mesh(struct session *s, int32_t devices, struct error *e)
{
	const struct options *o = s->o;
	const struct mesh *own = &s->program.given.mesh;

	s->ask.given = own->naxes ? &s->program.given : NULL;
	if (!o->mesh && !o->count && !own->naxes)
		return error_set(e, E_TYPE, (struct where){.file = o->file.at[0]},
		                 "no mesh is in it, expected --mesh or --device-count");
	if (!o->mesh && !o->count && !automap_large_axes(&s->mesh, own))
		return error_set(e, E_RANGE, (struct where){.file = o->file.at[0]},
		                 "more than %d axes of several devices in its mesh, "
		                 "expected --mesh",
		                 CUT_AXES);
	s->ask.mesh = o->count ? NULL : &s->mesh;
	s->ask.ndevices = o->count ? devices : s->mesh.ndevices;
	return OK;
}

static enum status read_all(struct session *s, struct error *e)
{
	const struct options *o = s->o;
	int64_t devices = 0, budget = 0, seed = 1;

	if (o->mesh && mesh_parse(&s->mesh, s->a, o->mesh,
	                          where_option("--mesh", o->mesh), e) != OK)
		return e->code;
	if (s->mesh.naxes > CUT_AXES)
		return error_set(e, E_RANGE, where_option("--mesh", o->mesh),
		                 "%d axes, expected at most %d", s->mesh.naxes,
		                 CUT_AXES);
	if (read_count(&devices, "--device-count", o->count, 1, 1 << 20, e) != OK ||
	    read_count(&budget, "--budget", o->budget, 1, INT64_C(1) << 40, e) != OK ||
	    read_count(&seed, "--seed", o->seed, 0, INT64_C(1) << 40, e) != OK ||
	    read_program(s, e) != OK)
		return e->code;
	if (!o->platform && !is_word(o->search, "none"))
		return error_set(e, E_TYPE, (struct where){0},
		                 "--platform is needed for a search");
	s->ask.graph = &s->program.graph;
	if (take_mesh(s, (int32_t)devices, e) != OK)
		return e->code;
	s->ask.ntactics = o->tactic.n;
	s->ask.tactic = o->tactic.at;
	if (read_planner(s, e) != OK)
		return e->code;
	s->ask.nstart = o->start.n;
	s->ask.start = o->start.at;
	s->ask.search = automap_search_of(o->search);
	s->ask.budget = budget;
	s->ask.seed = (uint64_t)seed;
	if (read_machine(s, s->ask.ndevices, e) != OK)
		return e->code;
	s->ask.machine = s->machine;
	return read_limit(s, e);
}

/* The best so far, on a terminal. */
static void tell(void *self, const struct mesh *mesh, const struct search *s)
{
	struct text out = {0};

	(void)self;
	mesh_print(&out, mesh);
	text_printf(&out, ", %lld evaluations: ", (long long)s->evaluations);
	units_print_time(&out, s->best.step_s);
	text_printf(&out, ", ");
	units_print_bytes(&out, s->best.peak_bytes);
	fprintf(stderr, "\r\033[K%s", out.s);
	text_free(&out);
}

static enum status write_text(const char *path, const struct text *text, struct error *e)
{
	if (path)
		return file_write(path, text->s, text->length, e);
	fwrite(text->s, 1, text->length, stdout);
	return OK;
}

static enum status write_order(const char *path, const struct automap_found *f,
                               struct error *e)
{
	struct text out = {0};

	for (int32_t i = 0; i < f->mesh.ndevices; i++)
		text_printf(&out, "%d\n", (int)(f->device ? f->device[i] : i));
	file_write(path, out.s, out.length, e);
	text_free(&out);
	return e->code;
}

static enum status emit_answer(const struct session *s, const struct automap_show *show,
                               struct error *e)
{
	const char *kind = s->o->emit;
	struct text out = {0}, why = {0};

	if (automap_emit(&out, s->a, kind, show, &why))
		write_text(s->o->output, &out, e);
	else
		error_set(e, E_INFEASIBLE, where_option("--emit", kind), "%s", why.s);
	if (e->code == OK && why.length)
		fprintf(stderr, "shardsim: %s\n", why.s);
	text_free(&out);
	text_free(&why);
	return e->code;
}

static enum status print_answer(struct session *s, const struct automap_answer *answer,
                                struct error *e)
{
	const struct options *o = s->o;
	struct likely_table likely = {0};
	const struct automap_show show = {.name = s->program.name,
	                                  .program = &s->program,
	                                  .platform =
	                                          s->machine ? s->machine->name : NULL,
	                                  .ask = &s->ask,
	                                  .answer = answer,
	                                  .likely = &likely};
	bool fails = automap_fails(&s->ask, answer);
	struct text out = {0};

	if (likely_read(&likely, s->a, e) != OK)
		return e->code;
	if (!o->emit || o->output) {
		if (is_word(o->format, "json"))
			automap_show_json(&out, s->a, &show);
		else
			automap_show_text(&out, s->a, &show);
		fwrite(out.s, 1, out.length, stdout);
		text_free(&out);
		out = (struct text){0};
	}
	if (!fails && o->emit)
		emit_answer(s, &show, e);
	if (!fails && e->code == OK && o->devices_out)
		write_order(o->devices_out, &answer->best, e);
	automap_remarks(&out, &show);
	if (fails && (o->emit || o->devices_out)) {
		text_printf(&out, "shardsim: ");
		automap_show_failure(&out, &show);
		text_printf(&out, "; no %s is written\n",
		            o->emit ? "sharding" : "order of devices");
		s->status = EXIT_FAULT;
	}
	if (out.length)
		fwrite(out.s, 1, out.length, stderr);
	text_free(&out);
	return e->code;
}

static enum status run_jobs(struct session *s, struct error *e)
{
	struct jobs_suite suite;
	struct jobs_rows rows = {0};

	if (jobs_suite_read(&suite, s->a, s->o->file.at[0], e) != OK ||
	    jobs_suite_run(&rows, s->a, &suite, e) != OK)
		return e->code;
	jobs_suite_write(stdout, s->a, &suite, &rows, is_word(s->o->format, "csv"));
	return OK;
}

/* Evaluations of a published configuration, unless --budget says how many. */
enum { PUBLISHED_BUDGET = 1000 };

static enum status run_published(struct session *s, struct error *e)
{
	const struct pen pen = pen_md(stdout, s->a);
	struct sharded_table t;
	int64_t budget = PUBLISHED_BUDGET;

	if (read_count(&budget, "--budget", s->o->budget, 1, INT64_C(1) << 40, e) != OK ||
	    sharded_table_read(&t, s->a, s->o->file.at[0], budget, e) != OK)
		return e->code;
	if (is_word(s->o->format, "csv"))
		sharded_table_csv(stdout, &t);
	else
		sharded_table_words(&pen, &t);
	return OK;
}

/* Finds before any search what cannot be written. */
static enum status check_files(const struct options *o, struct error *e)
{
	const char *const used[] = {o->file.at[0], o->output};

	if (o->output && file_check_apart(o->output, used, 1, e) != OK)
		return e->code;
	return o->devices_out ? file_check_apart(o->devices_out, used, 2, e) : OK;
}

static enum status run_session(struct session *s, struct error *e)
{
	const struct options *o = s->o;
	struct automap_answer answer;

	if (check_files(o, e) != OK)
		return e->code;
	if (jobs_suite_is(o->file.at[0]))
		return run_jobs(s, e);
	if (automap_is_study(o->file.at[0]))
		return automap_study(stdout, s->a, o->file.at[0],
		                     is_word(o->format, "csv"), e);
	if (step_table_is(o->file.at[0]))
		return run_published(s, e);
	if (is_word(o->emit, "hlo")) {
		if (read_program(s, e) != OK)
			return e->code;
		if (!s->program.text.s)
			return error_set(e, E_TYPE, where_option("--emit", o->emit),
			                 "%s is a program already, expected a model",
			                 o->file.at[0]);
		return write_text(o->output, &s->program.text, e);
	}
	if (read_all(s, e) != OK)
		return e->code;
	if (isatty(STDERR_FILENO))
		s->ask.better = tell;
	s->ask.stop = stop_on_signals();
	automap_run(&answer, s->a, &s->ask, e);
	if (s->ask.better)
		fprintf(stderr, "\r\033[K");
	if (e->code != OK || print_answer(s, &answer, e) != OK || !*s->ask.stop)
		return e->code;
	fprintf(stderr, "shardsim: stopped by signal %d (%s); this is the best so far\n",
	        *s->ask.stop, strsignal(*s->ask.stop));
	s->status = EXIT_FAULT;
	return OK;
}

int command_automap(int argc, char **argv)
{
	struct options o = {0};
	const struct command_syntax syntax = {
		.usage = "FILE|MODEL|SUITE|STEPS",
		.doc = "Search for the sharding of a whole program (HLO, StableHLO) or "
		       "of the training step of a model on a machine: "
		       "scenarios/models/gpt-24.yaml "
		       "--mesh batch=8,model=4 --platform dgx-a100:4. A SUITE has "
		       "cases of its own (scenarios/automap.yaml), or jobs that "
		       "arrive (scenarios/jobs.yaml); STEPS is a table of published "
		       "steps (platforms/steps.csv).\v"
		       "Behind a mesh stands how it lies on the machine: with "
		       "batch=32,model=2 [[4 8][2 1]] batch is 4 nodes x 8 GPUs, "
		       "and model is 2 nodes.",
		.machines = true,
		.options = {{automap_table, &o}, {launch_table, &o.library}},
		.words = &o.file,
		.most = 1,
		.expected =
			"a program or a model, such as scenarios/models/gpt-24.yaml",
		.check = automap_check_options,
		.self = &o,
	};
	struct session s = {.o = &o, .status = EXIT_DONE};
	struct error e = {0};

	command_parse(&syntax, argc, argv);
	s.a = arena_new();
	if (run_session(&s, &e) != OK)
		s.status = command_misuse(&e);
	text_free(&s.program.text);
	arena_free(s.a);
	return s.status;
}
