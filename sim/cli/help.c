/*
 * The commands, and `shardsim help COMMAND`: what one is for, with examples, its
 * options.
 */
#include "cli/command.h"
#include "cli/options.h"

#include "base/suggest.h"

#include <stdlib.h>
#include <string.h>

const struct command commands[] = {
	{"plan", "plan a redistribution with one or more planners", command_plan},
	{"simulate", "plan a redistribution and time every step on a platform",
         command_simulate},
	{"advise", "find intermediate layouts that bring a compiler closest to best",
         command_advise},
	{"sweep", "run suites of scenarios over platforms, planners and clocks",
         command_sweep},
	{"report", "print tables of speedups from the rows of a sweep", command_report},
	{"place", "rank placements of parallelism axes and their reductions",
         command_place},
	{"move", "move many arrays at once: a model from one mesh to another",
         command_move},
	{"perf", "print the table of nccl-tests: a collective over sizes", command_perf},
	{"step", "time a training step of a model: kernels, communication, memory",
         command_step},
	{"program", "price a whole program from a compiler's dump: step time, memory",
         command_program},
	{"automap", "search for the sharding of a whole program or model",
         command_automap},
	{"validate", "compare simulated with published timings", command_validate},
	{"fit", "fit a family's constants to published timings", command_fit},
	{"platform", "print a platform as SimGrid XML", command_platform},
	{"list", "list planners, platforms, clocks, dtypes, emitters or algorithms",
         command_list},
	{"help", "say what a command is for, with examples", command_help},
	{"version", "print the version and a digest of the sources", command_version},
	{NULL, NULL, NULL},
};

/*
 * The lines are printed as they are. Examples stand behind "$ ", so that a test can run
 * all of them in this order.
 */
/* clang-format off */
static const struct page {
	const char *command, *text;
} pages[] = {
	{"plan",
	 "Plans how to bring an array from one layout into another, as a sequence of typed\n"
	 "steps. Every plan is proved, on the index sets of every device, to end with the\n"
	 "wanted layout. Layouts may be written as in JAX, HLO, Shardy, DTensor or arXiv\n"
	 "2112.01075, also mixed: their form tells them apart.\n"
	 "\n"
	 "Examples:\n"
	 "  Without a platform plans are compared by received bytes.\n"
	 "    $ shardsim plan --array 'bf16[8192,8192]' --mesh x=4,y=2 \\\n"
	 "        --from \"P('x', None)\" --to \"P(None, 'y')\" --planner all\n"
	 "  HLO's layouts name devices, not axes.\n"
	 "    $ shardsim plan --array 'f32[1024,512]' --num-devices 8 \\\n"
	 "        --from '{devices=[8,1]<=[8]}' --to '{devices=[1,8]<=[8]}'\n"
	 "  Why does XLA copy the whole array, what does it cost, and what would not?\n"
	 "    $ shardsim plan --array 'bf16[4096,4096]' --mesh x=4,y=2 --explain \\\n"
	 "        --from \"P('x', 'y')\" --to \"P('y', 'x')\" --platform dgx-h100:1\n"
	 "  The plan as a schedule of messages for LogGOPSim and ATLAHS; `shardsim list\n"
	 "  emitters` has what else a plan can become.\n"
	 "    $ shardsim plan --array 'bf16[8192,8192]' --mesh x=4,y=2 \\\n"
	 "        --from \"P('x', None)\" --to \"P(None, 'y')\" --emit goal -o plan.goal\n"},
	{"simulate",
	 "Plans as `plan` does, and times every step on a machine: by the clock `model`, a\n"
	 "closed form; by `fluid`, where groups share links; by `flow`, where steps overlap;\n"
	 "or by `simgrid`, a replay in SimGrid.\n"
	 "\n"
	 "Examples:\n"
	 "  Every planner, by two clocks.\n"
	 "    $ shardsim simulate --array 'bf16[8192,8192]' --mesh x=4,y=2 \\\n"
	 "        --from \"P('x', None)\" --to \"P(None, 'y')\" --platform dgx-a100:1 \\\n"
	 "        --planner all --clock model,fluid\n"
	 "  Which links are busy, and a time line to open in https://ui.perfetto.dev.\n"
	 "    $ shardsim simulate --array 'bf16[8192,8192]' --mesh x=8,y=8 \\\n"
	 "        --from \"P('x', None)\" --to \"P(None, 'y')\" --platform tpu-v4:4x4x4 \\\n"
	 "        --links=3 --trace trace.json\n"},
	{"advise",
	 "A compiler takes no plan, but it can be told layouts that an array is to pass\n"
	 "through. Finds at most three with which XLA, Shardy or PyTorch comes closest to the\n"
	 "best plan, each hop planned in its own way, and prints the lines that ask for them\n"
	 "in JAX, Shardy, HLO and PyTorch.\n"
	 "\n"
	 "Examples:\n"
	 "  What spares XLA a full rematerialization?\n"
	 "    $ shardsim advise --array 'bf16[65536,131072]' --platform tpu-v5p:4x8x8 \\\n"
	 "        --from '{devices=[256,1]<=[256]}' \\\n"
	 "        --to '{devices=[1,64,4]<=[256] last_tile_dim_replicate}'\n"
	 "  The same for PyTorch.\n"
	 "    $ shardsim advise --array 'f32[4096,4096]' --mesh x=4,y=2 --compiler dtensor \\\n"
	 "        --from \"P('x', 'y')\" --to \"P(None, ('x', 'y'))\" --platform dgx-h100:1\n"
	 "  All warnings of a log, the costliest first.\n"
	 "    $ printf '%s\\n' '[SPMD] Involuntary full rematerialization. The compiler cannot' \\\n"
	 "        'go from sharding {devices=[2,1,4]<=[8] last_tile_dim_replicate} to' \\\n"
	 "        '{devices=[1,4,2]<=[2,4]T(1,0) last_tile_dim_replicate} efficiently for' \\\n"
	 "        'HLO operation %p = f32[48,96]{1,0} parameter(0).' >train.log\n"
	 "    $ shardsim advise train.log --platform 'dgx-h100:{n}'\n"},
	{"sweep",
	 "Runs all scenarios of suites over platforms, planners and clocks, and keeps a row\n"
	 "for each in a folder. If it is stopped, the same command goes on from there.\n"
	 "\n"
	 "Examples:\n"
	 "    $ shardsim sweep scenarios/smoke.yaml --platform tpu-v5e:4x8 \\\n"
	 "        --planner gather,synth,xla-2021 --out rows\n"
	 "  In parts, anywhere and in any order, then brought together.\n"
	 "    $ shardsim sweep plan scenarios/smoke.yaml --platform tpu-v5e:4x8 \\\n"
	 "        --planner gather,synth --out parts\n"
	 "    $ shardsim sweep run parts --shard 0/2\n"
	 "    $ shardsim sweep run parts --shard 1/2\n"
	 "    $ shardsim sweep merge parts --out all\n"
	 "    $ shardsim report all --baseline gather\n"},
	{"report",
	 "Prints how much faster than a baseline the planners of a sweep are, with\n"
	 "intervals, and what was left out and why.\n"
	 "\n"
	 "Examples:\n"
	 "    $ shardsim report rows --baseline xla-2021\n"
	 "    $ shardsim report rows --baseline gather --format tex\n"},
	{"place",
	 "Ranks placements of parallelism axes on a hierarchy of devices by the fastest\n"
	 "program of collectives that sums over some of them.\n"
	 "\n"
	 "Examples:\n"
	 "  Four nodes of 16 devices, axes of 16 and 4, a sum over the first.\n"
	 "    $ shardsim place --hierarchy 4,16 --axes 16,4 --reduce 0 --top 3\n"
	 "  The order of devices for all collectives of a training step.\n"
	 "    $ shardsim place --with scenarios/training.yaml --platform dgx-h100:8\n"},
	{"move",
	 "Moves many arrays at once, and plans arrays that are alike once. Prints the total\n"
	 "time and the memory of a device over all of them, in an order that keeps it low.\n"
	 "\n"
	 "Examples:\n"
	 "  A model from the mesh that trains it to other devices that serve it.\n"
	 "    $ shardsim move scenarios/models/llama-3-8b.yaml --from fsdp=16 \\\n"
	 "        --to data=2,tensor=8 --to-devices 16-31 --platform dgx-h100:4\n"
	 "  Four calls at once, arrays with equal layouts in batches of 1 GiB.\n"
	 "    $ shardsim move scenarios/models/llama-3-8b.yaml --from fsdp=16 \\\n"
	 "        --to data=2,tensor=8 --to-devices 16-31 --platform dgx-h100:4 \\\n"
	 "        --concurrent 4 --batch 1GiB\n"},
	{"perf",
	 "Times a collective over a range of sizes and prints the columns of nccl-tests.\n"
	 "\n"
	 "Examples:\n"
	 "    $ shardsim perf all-reduce --platform dgx-h100:2 -b 8 -e 1G -f 8\n"
	 "  All groups along an axis of a mesh at once.\n"
	 "    $ shardsim perf all-to-all --platform tpu-v4:4x4x4 --mesh x=4,y=16 \\\n"
	 "        --axis y -b 1M -e 64M -f 4 --clock fluid\n"
	 "  One algorithm on links alone, without the library's costs.\n"
	 "    $ shardsim perf all-gather --platform dgx-a100:1 --set profile=plain \\\n"
	 "        --set launch_s=0 --algorithm ring -b 1M -e 1M\n"
	 "  A program that measures it under MPI; `fit` reads what it prints.\n"
	 "    $ shardsim perf all-reduce -b 1K -e 4M -f 4 --emit mpi -o bench.c\n"},
	{"program",
	 "Prices a whole program from a compiler's dump, HLO's text or StableHLO: the time of\n"
	 "a step, what collectives and kernels take of it, and the memory of a device.\n"
	 "\n"
	 "Examples:\n"
	 "    $ shardsim program scenarios/programs/fsdp.hlo --platform dgx-h100:1\n"
	 "  Which ops take longest, grouped by their names in the source.\n"
	 "    $ shardsim program scenarios/programs/fsdp.hlo --platform dgx-h100:1 \\\n"
	 "        --report ops --by op_name\n"},
	{"automap",
	 "Searches for the sharding of a whole program, or of the training step of a model, that\n"
	 "takes the least time on a machine and fits into its memory. Tactics say first what is\n"
	 "known; the search decides on the rest.\n"
	 "\n"
	 "Examples:\n"
	 "    $ shardsim automap scenarios/models/gpt-24.yaml --mesh batch=8,model=4 \\\n"
	 "        --platform dgx-a100:4\n"
	 "  What data parallelism, Megatron-LM and ZeRO-3 are, counted and timed.\n"
	 "    $ shardsim automap scenarios/models/gpt-24.yaml --mesh batch=8,model=4 \\\n"
	 "        --platform dgx-a100:4 --search none --tactic data:batch \\\n"
	 "        --tactic megatron:model --tactic zero3:batch\n"
	 "  The sizes of the mesh's axes, and where they are on the machine, are searched, too.\n"
	 "    $ shardsim automap scenarios/models/gpt-24.yaml --device-count 16 \\\n"
	 "        --platform dgx-a100:2 --memory-limit 5GiB --devices-out order.txt\n"
	 "  The shardings as a program of JAX.\n"
	 "    $ shardsim automap scenarios/models/gpt-24.yaml --mesh batch=8,model=4 \\\n"
	 "        --platform dgx-a100:4 --emit jax -o shardings.py\n"
	 "  A suite of cases beside each other; scenarios/jobs.yaml is one of jobs that arrive.\n"
	 "    $ shardsim automap scenarios/splitbrain.yaml\n"},
	{"step",
	 "Times a training step of a model that is described in twenty lines, on any number of\n"
	 "devices, with the same ops, layouts and collectives as a compiler's dump has.\n"
	 "scenarios/README.md lists the keys of a description under \"Models\".\n"
	 "\n"
	 "Examples:\n"
	 "    $ shardsim step scenarios/models/gpt-7b.yaml --parallel fsdp=16 \\\n"
	 "        --platform dgx-h100:2\n"
	 "  A model whose file does not state the batch, on as many nodes as the job needs.\n"
	 "    $ shardsim step scenarios/models/llama-3-8b.yaml --parallel fsdp=16 \\\n"
	 "        --platform 'dgx-h100:{n}' --batch 32 --micro-batch 2 --seq 4096\n"
	 "  The program of one device, which `program` reads.\n"
	 "    $ shardsim step scenarios/models/gpt-7b.yaml --parallel fsdp=4,tensor=4 \\\n"
	 "        --platform dgx-h100:2 -o step.hlo\n"
	 "    $ shardsim program step.hlo --platform dgx-h100:2 --planner none --rows 5\n"},
	{"validate",
	 "Compares published timings with simulated ones and prints the errors.\n"
	 "\n"
	 "Examples:\n"
	 "    $ shardsim validate platforms/measured.csv\n"},
	{"fit",
	 "Fits the constants of platform families to published timings.\n"
	 "\n"
	 "Examples:\n"
	 "    $ shardsim fit platforms/measured.csv --family dgx-h100 -o entry.yaml\n"},
	{"platform",
	 "Prints a machine as a SimGrid 4.1 platform file, which any SimGrid program\n"
	 "loads, and which --platform takes back after changes by hand.\n"
	 "\n"
	 "Examples:\n"
	 "    $ shardsim platform tpu-v4:4x4x4\n"
	 "  A machine that is not there yet: NVLink at twice the bandwidth.\n"
	 "    $ shardsim platform dgx-h100:4 --set nvlink.bandwidth=720GB/s -o fast.xml\n"
	 "    $ shardsim perf all-reduce --platform ./fast.xml -b 1M -e 1G -f 4\n"
	 "  A machine that nobody has built: figures that are not set are assumed, with a note.\n"
	 "    $ shardsim perf all-reduce --platform torus:6x6x6 -b 1M -e 1G -f 4 \\\n"
	 "        --set link.bandwidth=800Gb/s --set link.latency=700ns\n"
	 "    $ shardsim perf all-reduce -b 1M -e 1G -f 4 \\\n"
	 "        --platform cluster:nodes=64,gpus=4,nics=2,nic.bandwidth=400Gb/s\n"},
	{"list", "Lists what can be named on the command line.\n"
	 "\n"
	 "Examples:\n"
	 "    $ shardsim list planners\n"
	 "    $ shardsim list platforms\n"},
	{"version",
	 "Prints the version, and a digest of the sources that tells builds apart.\n"
	 "\n"
	 "Examples:\n"
	 "    $ shardsim version\n"},
	{"help", "Says what a command is for, with examples, then its options.\n"
	 "\n"
	 "Examples:\n"
	 "    $ shardsim help simulate\n"},
};
/* clang-format on */

enum { PAGES = (int)(sizeof(pages) / sizeof(*pages)) };

const struct command *command_find(const char *name)
{
	for (const struct command *c = commands; c->name; c++)
		if (!strcmp(c->name, name))
			return c;
	return NULL;
}

int command_unknown(const char *name)
{
	struct suggestion near = suggest_start(name, strlen(name));

	for (const struct command *c = commands; c->name; c++)
		suggest_offer(&near, c->name);
	fprintf(stderr, "shardsim: unknown command '%s'%s\n", name,
	        near.nearest ? suggest_ask(&near, "")
	                     : "; 'shardsim help' lists all commands");
	return EXIT_MISUSE;
}

/* Lets argp print the options of a command, which leaves the program. */
static int show_options(const struct command *c)
{
	char name[64], help[] = "--help";
	char *argv[] = {name, help, NULL};

	snprintf(name, sizeof(name), "shardsim %s", c->name);
	return c->run(2, argv);
}

int command_version(int argc, char **argv)
{
	const struct command_syntax syntax = {.doc = "Print the version, and a digest "
	                                             "of the sources that tells builds "
	                                             "apart."};

	command_parse(&syntax, argc, argv);
	puts(argp_program_version);
	return EXIT_DONE;
}

int command_help(int argc, char **argv)
{
	const struct command *c = argc == 2 ? command_find(argv[1]) : NULL;

	if (argc != 2 || !strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
		fputs("Usage: shardsim help COMMAND\n", argc == 2 ? stdout : stderr);
		return argc == 2 ? EXIT_DONE : EXIT_MISUSE;
	}
	if (!c)
		return command_unknown(argv[1]);
	printf("shardsim %s: %s\n\n", c->name, c->help);
	for (int i = 0; i < PAGES; i++)
		if (!strcmp(pages[i].command, c->name))
			printf("%s\n", pages[i].text);
	return c->run == command_help ? EXIT_DONE : show_options(c);
}
