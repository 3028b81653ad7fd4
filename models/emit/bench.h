/* Programs that time a collective on the user's own machine, for `fit`. */
#ifndef SHARDSIM_EMIT_BENCH_H
#define SHARDSIM_EMIT_BENCH_H

#include "emit/emit.h"

struct bench_program {
	const char *collective; /* "all-gather", as `perf` has it */
	const char *command;    /* the command line that asked, for the heading */
	const char *version;    /* of shardsim */
	int n;
	const int64_t *bytes; /* [n] sizes, as nccl-tests counts them */
};

/*
 * Appends a program in C for MPI that runs on any number of ranks and prints the columns
 * of nccl-tests. Returns false, with nothing appended, if the collective is not known.
 */
bool emit_bench(struct text *out, const struct bench_program *what);

#endif
