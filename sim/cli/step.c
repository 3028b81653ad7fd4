/* `shardsim step MODEL`: a training step of a model that is described in twenty lines. */
#include "base/scan.h"
#include "base/units.h"
#include "cli/command.h"
#include "cli/options.h"
#include "facts/model.h"
#include "measure/library.h"
#include "plan/devices.h"
#include "platform/platform.h"
#include "program/show.h"
#include "program/step_time.h"
#include "system/file.h"

#include <math.h>
#include <string.h>

struct options {
	const char *parallel, *platform, *overlap, *format, *output, *devices;
	const char *batch, *micro_batch, *seq;
	struct settings set;
	struct command_words file;
	struct library_text library;
};

static const struct option_row option_table[] = {
	{"parallel", 0, "AXES",
         "how many devices along each axis of the job: fsdp=64,tensor=8", AT(parallel),
         .filled = "axes such as fsdp=64"},
	{"batch", 0, "N", "sequences of the job in a step, whatever the model says",
         AT(batch)},
	{"micro-batch", 0, "N",
         "sequences of a device in a micro batch, whatever the model says",
         AT(micro_batch)},
	{"seq", 0, "N", "tokens of a sequence, whatever the model says", AT(seq)},
	{"platform", 0, "P", "family:shape or a SimGrid XML file", AT(platform)},
	{"set", 0, "KEY=VALUE", "change a figure of a family:shape platform", AT(set),
         .settings = true},
	{"devices", 0, "LIST|@FILE",
         "platform devices of the job's (default: the first)", AT(devices)},
	{"overlap", 0, "none|async", "how collectives run beside kernels (default async)",
         AT(overlap), .unknown = "unknown overlap"},
	{"output", 'o', "FILE", "write the program of the step as HLO's text, too",
         AT(output)},
	{"format", 0, "text|json", "how to print (default text)", AT(format),
         .unknown = "unknown format"},
	{0},
};

static void check_step_options(void *self, const struct argp_state *state)
{
	struct options *o = self;

	if (!o->parallel || !o->platform)
		argp_error(state, "--parallel and --platform are needed");
}

static void add_line(struct text *out, const char *what, double s)
{
	text_printf(out, "  %-24s ", what);
	if (isnan(s))
		text_printf(out, "-");
	else
		units_print_time(out, s);
	text_printf(out, "\n");
}

static void add_bytes(struct text *out, const char *what, double bytes)
{
	text_printf(out, "  %-24s ", what);
	units_print_bytes(out, bytes);
	text_printf(out, "\n");
}

static void add_sure(struct text *out, const char *what, double s,
                     const struct likely *l, struct arena *a)
{
	const char *sure = likely_words(l, a);

	add_line(out, what, s);
	if (!*sure)
		return;
	out->length--; /* back before the end of the line */
	text_printf(out, "   %s\n", sure);
}

static void print_text(struct text *out, const struct step_time *s,
                       const struct program_show *show, const struct machine *m,
                       const struct architecture *model, const char *parallel,
                       struct arena *a)
{
	const struct program_job *job = show->job;
	double device = m->device[0].memory_bytes;

	text_printf(out, "%s, %s: %lld device%s of %s, %lld micro batch%s\n",
	            model->name, parallel, (long long)s->facts.devices,
	            s->facts.devices == 1 ? "" : "s", m->name,
	            (long long)s->facts.micro_batches,
	            s->facts.micro_batches == 1 ? "" : "es");
	add_sure(out, "step", s->step_s, &job->sure, a);
	add_line(out, "compute", s->price.compute_s);
	for (int i = 0; i < CLASSES; i++)
		if (s->price.class_s[i] > 0) {
			text_printf(out, "  ");
			add_line(out, op_class_name((enum op_class)i),
			         s->price.class_s[i]);
		}
	add_sure(out, "communication", s->price.communication_s, show->likely, a);
	add_line(out, "  of it exposed", s->price.exposed_s);
	for (int i = 0; i < job->naxes; i++)
		if (job->axis[i].exposed_s > 0) {
			text_printf(out, "  ");
			add_line(out, job->axis[i].name, job->axis[i].exposed_s);
		}
	if (s->contention_s > 0)
		add_line(out, "contention", s->contention_s);
	if (s->idle_s > 0)
		add_line(out, "idle", s->idle_s);
	add_line(out, "bubble of the pipeline", s->bubble_s);
	text_printf(out, "  %-24s %.6g on a device\n", "tokens/s", s->tokens_per_s);
	if (!isnan(s->mfu))
		text_printf(out, "  %-24s %.1f %% of the bf16 peak\n", "model flops",
		            100 * s->mfu);
	add_bytes(out, "memory", s->peak_bytes);
	add_bytes(out, "  arguments", s->live.params_bytes);
	add_bytes(out, "  computed", s->live.temp_bytes);
	if (s->facts.held_bytes > 0)
		add_bytes(out, "  in flight", s->facts.held_bytes);
	if (device > 0 && s->peak_bytes > device) {
		text_printf(out, "  does not fit: the device has ");
		units_print_memory(out, device);
		text_printf(out, "\n");
	}
}

/* Waiting by axis: the last part of a collective's op_name is its axis. */
static void count_exposed(struct program_axis *axis, const struct step_time *s)
{
	for (int k = 0; k < STEP_AXES_NAMED; k++)
		axis[k] = (struct program_axis){step_axis_names[k], 0};
	for (int64_t i = 0; i < s->program.op.n && s->overlapped.exposed_s; i++) {
		struct span name = s->program.op.at[i].op_name;

		for (int k = 0; k < STEP_AXES_NAMED; k++) {
			int32_t n = (int32_t)strlen(step_axis_names[k]);

			if (name.length > n && name.at[name.length - n - 1] == '/' &&
			    !memcmp(name.at + name.length - n, step_axis_names[k],
			            (size_t)n))
				axis[k].exposed_s += s->overlapped.exposed_s[i];
		}
	}
}

static enum overlap overlap_of(const struct options *o)
{
	return o->overlap && !strcmp(o->overlap, "none") ? OVERLAP_NONE : OVERLAP_ASYNC;
}

/* Between which the step's time is. No step was measured whose collectives run alone. */
static struct likely sure_of(const struct step_time *s, const struct machine *m,
                             const struct architecture *model, const struct options *o,
                             const struct likely_table *t)
{
	if (overlap_of(o) != OVERLAP_ASYNC)
		return (struct likely){NAN, NAN};
	return step_likely(t, m, model, s->step_s);
}

static void print_step(struct arena *a, struct step_time *s, const struct machine *m,
                       const struct architecture *model, const struct options *o,
                       const struct likely_table *t)
{
	bool json = o->format && !strcmp(o->format, "json");
	struct program_axis axis[STEP_AXES_NAMED];
	const struct program_job job = {.model_flops = s->facts.model_flops,
	                                .mfu = s->mfu,
	                                .bubble_s = s->bubble_s,
	                                .contention_s = s->contention_s,
	                                .idle_s = s->idle_s,
	                                .tokens_per_s_per_device = s->tokens_per_s,
	                                .sure = sure_of(s, m, model, o, t),
	                                .naxes = STEP_AXES_NAMED,
	                                .axis = axis};
	struct program_memory memory = {s->live.params_bytes,
	                                s->live.temp_bytes + s->facts.held_bytes,
	                                s->peak_bytes, m->device[0].memory_bytes, NULL};
	const struct likely likely = program_likely(t, &s->price);
	struct program_show show = {.platform = m->name,
	                            .most = 40,
	                            .memory = &memory,
	                            .job = &job,
	                            .likely = &likely};
	struct text out = {0};

	count_exposed(axis, s);
	if (json)
		program_show_json(&out, a, &s->price, &show);
	else
		print_text(&out, s, &show, m, model, o->parallel, a);
	fwrite(out.s, 1, out.length, stdout);
	text_free(&out);
	if (s->price.why)
		fprintf(stderr, "%s: %s\n", m->name, s->price.why);
}

/* Writes the program, whole or not at all. */
static enum status write_program(const struct options *o, const struct architecture *m,
                                 const struct step_degrees *d, struct error *e)
{
	struct step_facts facts;
	struct text text = {0}, why = {0};
	enum status status = OK;

	if (step_text(&text, &facts, m, d, &why))
		status = file_write(o->output, text.s, text.length, e);
	text_free(&text);
	text_free(&why);
	return status;
}

static enum status set_count(int64_t *out, const char *option, const char *text,
                             const char *what, struct error *e)
{
	struct scan s;

	if (!text)
		return OK;
	s = scan_start(text, where_option(option, text), e);
	return scan_int(&s, what, 1, MODEL_DIM_MAX, out) ? scan_finish(&s) : e->code;
}

/* Reads the model, and what the options say in place of its `train`. */
static enum status read_model(struct architecture *m, struct arena *a,
                              const struct options *o, struct error *e)
{
	struct model_train *t = &m->train;
	const char *missing;

	if (architecture_read(m, a, o->file.at[0], e) != OK ||
	    set_count(&t->global_batch, "--batch", o->batch, "a number of sequences",
	              e) != OK ||
	    set_count(&t->micro_batch, "--micro-batch", o->micro_batch,
	              "a number of sequences", e) != OK ||
	    set_count(&t->seq, "--seq", o->seq, "a number of tokens", e) != OK)
		return e->code;
	missing = !t->seq            ? "train.seq, expected it or --seq"
	          : !t->global_batch ? "train.global_batch, expected it or --batch"
	          : !t->micro_batch  ? "train.micro_batch, expected it or --micro-batch"
	                             : NULL;
	if (!missing)
		return OK;
	return error_set(e, E_TYPE,
	                 (struct where){.file = o->file.at[0], .line = 1, .col = 1},
	                 "the model does not tell %s", missing);
}

static enum status time_step(struct step_time *s, struct machine **m,
                             struct architecture *model, struct arena *a,
                             const struct options *o, struct error *e)
{
	struct where at = where_option("--parallel", o->parallel);
	struct step_degrees degrees;
	const char *platform = o->platform;
	int32_t *devices = NULL, n;

	if ((o->output && file_check_apart(o->output, o->file.at, o->file.n, e) != OK) ||
	    read_model(model, a, o, e) != OK ||
	    step_degrees_parse(&degrees, a, o->parallel, at, e) != OK ||
	    (platform_sized(platform) &&
	     platform_resize(&platform, a, o->set.at, o->set.n, step_devices(&degrees),
	                     e) != OK) ||
	    platform_machine(m, a, platform, o->set.at, o->set.n, e) != OK ||
	    library_set(*m, &o->library, NULL, e) != OK)
		return e->code;
	command_machine_notes(*m, &o->library, platform, o->set.at, o->set.n);
	if (o->devices && devices_parse(&devices, &n, a, o->devices,
	                                where_option("--devices", o->devices),
	                                (*m)->ndevices, e) != OK)
		return e->code;
	if (devices && n != step_devices(&degrees))
		return error_set(e, E_TYPE, where_option("--devices", o->devices),
		                 "%d device%s for a job of %lld", (int)n,
		                 n == 1 ? "" : "s", (long long)step_devices(&degrees));
	if (step_time(s, a, model, &degrees, *m, devices, overlap_of(o), at, e) != OK)
		return e->code;
	return o->output ? write_program(o, model, &degrees, e) : OK;
}

int command_step(int argc, char **argv)
{
	struct options o = {0};
	const struct command_syntax syntax = {
		.usage = "MODEL.yaml --parallel AXES --platform P",
		.doc = "Time a training step of a model, and say what a device "
		       "holds.\v"
		       "The axes of a job are data, fsdp, tensor, context, expert and "
		       "pipeline; their product is the number of devices, but for "
		       "expert, which divides data x fsdp. `program` can read what "
		       "--output "
		       "writes, but knows nothing of contention and idle time.\n"
		       "'80 % sure' gives the interval in which four of five measured "
		       "times of the step, or of its collectives, would lie.\n"
		       "Example: shardsim step scenarios/models/gpt-7b.yaml "
		       "--parallel fsdp=8 --platform dgx-h100:1",
		.machines = true,
		.options = {{option_table, &o}, {launch_table, &o.library}},
		.words = &o.file,
		.most = 1,
		.expected = "a model, such as scenarios/models/gpt-7b.yaml",
		.check = check_step_options,
		.self = &o,
	};
	struct arena *a = arena_new();
	struct error e = {0};
	struct machine *m;
	struct architecture model;
	struct likely_table likely;
	struct step_time s;
	int status = EXIT_DONE;

	command_parse(&syntax, argc, argv);
	if (time_step(&s, &m, &model, a, &o, &e) != OK ||
	    likely_read(&likely, a, &e) != OK)
		status = command_misuse(&e);
	else
		print_step(a, &s, m, &model, &o, &likely);
	arena_free(a);
	return status;
}
