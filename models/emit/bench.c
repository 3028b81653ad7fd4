#include "emit/bench.h"

#include <string.h>

/* The collectives as the program, and nccl-tests, name them. */
static const struct {
	const char *name, *word, *test;
	bool reduces;
	int root; /* -1: none */
} collectives[] = {
	{"all-gather", "ALL_GATHER", "all_gather_perf", false, -1},
	{"reduce-scatter", "REDUCE_SCATTER", "reduce_scatter_perf", true, -1},
	{"all-reduce", "ALL_REDUCE", "all_reduce_perf", true, -1},
	{"all-to-all", "ALL_TO_ALL", "alltoall_perf", false, -1},
	{"permute", "PERMUTE", "sendrecv_perf", false, -1},
	{"broadcast", "BROADCAST", "broadcast_perf", false, 0},
	{"reduce", "REDUCE", "reduce_perf", true, 0},
};

enum { COLLECTIVES = (int)(sizeof(collectives) / sizeof(*collectives)) };

static void put_program(struct text *out, const struct bench_program *what, int which)
{
	text_printf(out, "/* ");
	for (const char *c = what->command; *c; c++)
		text_printf(out, c[0] == '*' && c[1] == '/' ? "%c " : "%c", *c);
	text_printf(
		out,
		" */\n/* by shardsim %s: mpicc -O2 -o bench THIS.c && mpirun -n RANKS "
		"./bench */\n",
		what->version);
	emit_mpi_includes(out);
	text_printf(out, "\nenum collective {");
	for (int i = 0; i < COLLECTIVES; i++)
		text_printf(out, "%s %s", i ? "," : "", collectives[i].word);
	text_printf(
		out,
		" };\n#define COLLECTIVE %s\n#define TEST \"%s\"\n#define REDUCES %d\n"
		"#define ROOT (%d)\n#define SIZES %d\n\n",
		collectives[which].word, collectives[which].test,
		collectives[which].reduces, collectives[which].root, what->n);
	text_printf(out, "static const char command[] = ");
	emit_string(out, what->command);
	text_printf(out, ";\nstatic const int64_t size[] = {");
	for (int i = 0; i < what->n; i++)
		text_printf(out, "%s%s%lld", i ? "," : "", i % 8 ? " " : "\n\t",
		            (long long)what->bytes[i]);
	text_printf(out, "\n};\n\n%s", emit_text_mpi_bench);
}

bool emit_bench(struct text *out, const struct bench_program *what)
{
	for (int i = 0; i < COLLECTIVES; i++)
		if (strcmp(collectives[i].name, what->collective) == 0) {
			put_program(out, what, i);
			return true;
		}
	return false;
}
