/* `shardsim step MODEL`: a training step of a model, described in twenty lines. */
#include "cli/command.h"
#include "cli/options.h"
#include "facts/model.h"
#include "platform/platform.h"
#include "program/step_time.h"
#include "system/whole.h"

#include <math.h>
#include <string.h>

struct options {
	const char *parallel, *platform, *overlap, *format, *output;
	struct settings set;
	struct command_words file;
};

static const struct option_row option_table[] = {
	{"parallel", 0, "AXES",
         "degrees of data, fsdp, tensor, context, expert and pipeline: fsdp=64,tensor=8",
         AT(parallel)},
	{"platform", 0, "P", "family:shape or a SimGrid XML file", AT(platform)},
	{"set", 0, "KEY=VALUE", "change a figure of a family:shape platform", AT(set),
         .settings = true},
	{"overlap", 0, "none|async|stream",
         "communication beside compute (default async)", AT(overlap),
         .unknown = "unknown overlap"},
	{"output", 'o', "FILE", "write the step's program as HLO there", AT(output)},
	{"format", 0, "text|json", "how to print (default text)", AT(format),
         .unknown = "unknown format"},
	{0},
};

static void print_text(const struct step_time *s, const struct machine *m)
{
	printf("step %g s: compute %g s, exposed communication %g s (of %g s), bubble %g s\n",
	       s->step_s, s->price.compute_s, s->price.exposed_s,
	       s->price.communication_s, s->bubble_s);
	printf("%g tokens/s/device, %.1f %% of the peak in model flops\n",
	       s->tokens_per_s, 100 * s->mfu);
	printf("memory of a device %.2f GB: arguments %.2f, computed %.2f, micro batches in "
	       "flight %.2f; the device has %.2f GB\n",
	       s->peak_bytes / 1e9, s->live.params_bytes / 1e9, s->live.temp_bytes / 1e9,
	       s->facts.held_bytes / 1e9, m->device[0].memory_bytes / 1e9);
	for (int i = 0; i < CLASSES; i++)
		if (s->price.class_s[i] > 0)
			printf("  %-12s %g s\n", op_class_name(i), s->price.class_s[i]);
}

int command_step(int argc, char **argv)
{
	struct options o = {0};
	const struct command_syntax syntax = {
		.usage = "MODEL.yaml --parallel AXES --platform P",
		.doc = "Time a training step of a model.",
		.machines = true,
		.options = {{option_table, &o}},
		.words = &o.file,
		.most = 1,
		.expected = "a model, such as scenarios/models/llama-3-8b.yaml",
	};
	struct arena *a = arena_new();
	struct error e = {0};
	struct machine *machine;
	struct architecture model;
	struct step_degrees degrees;
	struct step_time s;
	struct where at;
	enum overlap overlap;
	int status = EXIT_DONE;

	command_parse(&syntax, argc, argv);
	at = where_option("--parallel", o.parallel);
	overlap = o.overlap && !strcmp(o.overlap, "none") ? OVERLAP_NONE : OVERLAP_ASYNC;
	if (architecture_read(&model, a, o.file.at[0], &e) != OK ||
	    step_degrees_parse(&degrees, a, o.parallel, at, &e) != OK ||
	    platform_machine(&machine, a, o.platform, o.set.at, o.set.n, &e) != OK ||
	    step_time(&s, a, &model, &degrees, machine, NULL, overlap, at, &e) != OK)
		status = command_misuse(&e);
	else
		print_text(&s, machine);
	arena_free(a);
	return status;
}
