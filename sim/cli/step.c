/* `shardsim step MODEL`: a training step of a model, described in twenty lines. */
#include "cli/command.h"
#include "cli/options.h"
#include "cost/compute.h"
#include "facts/model.h"
#include "platform/platform.h"
#include "program/liveness.h"
#include "program/overlap.h"
#include "program/show.h"
#include "program/step.h"

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
	struct machine *m = NULL;
	struct architecture model;
	struct step_degrees degrees;
	struct step_facts facts;
	struct program p;
	struct text text = {0}, why = {0};

	command_parse(&syntax, argc, argv);
	if (architecture_read(&model, a, o.file.at[0], &e) != OK ||
	    step_degrees_parse(&degrees, a, o.parallel, where_option("--parallel", o.parallel), &e) != OK)
		return command_misuse(&e);
	if (!step_text(&text, &facts, &model, &degrees, &why)) {
		fprintf(stderr, "%s\n", why.s);
		return 2;
	}
	if (o.output) {
		FILE *f = fopen(o.output, "w");
		fwrite(text.s, 1, text.length, f);
		fclose(f);
	}
	if (program_of_text(&p, a, text.s, text.length, "step", &e) != OK)
		return command_misuse(&e);
	if (platform_machine(&m, a, o.platform, o.set.at, o.set.n, &e) != OK)
		return command_misuse(&e);
	int32_t *devices = arena_alloc(a, (size_t)p.ndevices + 1, sizeof(*devices));
	for (int32_t i = 0; i < p.ndevices; i++)
		devices[i] = i;
	struct price_options how = {devices, false, true};
	struct program_price price;
	if (!program_price(&price, a, &p, m, &how, &why))
		return 1;
	struct overlapped over;
	program_overlap(&over, a, &price, devices,
	                o.overlap && !strcmp(o.overlap, "none") ? OVERLAP_NONE : OVERLAP_ASYNC);
	struct liveness live;
	liveness_of(&live, NULL, a, &p);
	double step = price.step_s * (1 + facts.bubble);
	printf("step %g s, compute %g s, communication %g s, exposed %g s, bubble %g s\n", step,
	       price.compute_s, price.communication_s, price.exposed_s, price.step_s * facts.bubble);
	printf("tokens/s/device %g, mfu %g, memory %g GB params %g GB temps, held %g\n",
	       facts.tokens / step / (double)facts.devices,
	       facts.model_flops / step / m->tuning.value[TUNING_BF16_FLOPS],
	       live.params_bytes / 1e9, live.temp_bytes / 1e9, facts.held_bytes/1e9);
	for (int i = 0; i < CLASSES; i++)
		if (price.class_s[i] > 0)
			printf("  %s %g\n", op_class_name(i), price.class_s[i]);
	if (price.why)
		printf("%s\n", price.why);
	for (int64_t i = 0; i < p.warning.n && i < 5; i++)
		printf("warn %d %s\n", p.warning.at[i].line, p.warning.at[i].text);
	return 0;
}
