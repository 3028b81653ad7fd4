/*
 * How much of the gap between compilers and `best-portable` their advice closes, on all
 * real scenarios and a sample of the pairs of layouts, on the machines of `make results`.
 * Some minutes. usage: exhaust_advise [COMPILER...]
 */
#include "advise_gap.h"

#include "base/arena.h"

#include <gsl/gsl_errno.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const platforms[] = {"tpu-v4:{n}",   "tpu-v5e:{n}",
                                        "tpu-v5p:{n}",  "dgx-a100:{n}",
                                        "dgx-h100:{n}", "gb200-nvl72:{n}"};

static const struct {
	const char *path;
	uint32_t one_of;
} suites[] = {{"scenarios/models.yaml", 1},
              {"scenarios/uneven.yaml", 1},
              {"scenarios/training.yaml", 1},
              {"scenarios/layouts.yaml", 20}};

static int print_gap(const struct gap_suite *of)
{
	struct gap g = gap_measure(of);
	double n = g.n ? g.n : 1;

	printf("%-8s %-22s %-16s %4d %4d  %6.3f  %6.3f %6.3f %6.3f  %5.1f %5.1f %5.1f  "
	       "%6.2f %6.2f  %d %d %d\n",
	       of->compiler, of->path, of->platform, g.n, g.left_out,
	       exp(g.log_gap / n), exp(g.log_advised[1] / n), exp(g.log_advised[2] / n),
	       exp(g.log_advised[3] / n), 100 * gap_closed(&g, 1),
	       100 * gap_closed(&g, 2), 100 * gap_closed(&g, 3),
	       1e3 * g.small_s / (g.small ? g.small : 1), 1e3 * g.most_s, g.rescued,
	       g.dearer, g.wrong);
	fflush(stdout);
	/* Every suite has problems that the compilers plan. */
	return g.dearer + g.wrong + (g.n == 0);
}

int main(int argc, char **argv)
{
	static const char *const xla[] = {"xla"};
	const char *const *compiler = argc > 1 ? (const char *const *)argv + 1 : xla;
	int ncompilers = argc > 1 ? argc - 1 : 1, failed = 0;

	memory_keep();
	gsl_set_error_handler_off();
	puts("compiler, suite, machine, n, left out; geometric mean of the compiler's "
	     "time "
	     "over best-portable's; over that of chains of at most 1, 2, 3 layouts; "
	     "percentage of the gap closed by these; CPU ms up to 7 atoms: mean, most; "
	     "rescued, dearer, wrong");
	for (int k = 0; k < ncompilers; k++)
		for (size_t s = 0; s < sizeof(suites) / sizeof(*suites); s++)
			for (size_t i = 0; i < sizeof(platforms) / sizeof(*platforms);
			     i++) {
				const struct gap_suite of = {suites[s].path,
				                             platforms[i], compiler[k],
				                             suites[s].one_of};

				failed += print_gap(&of);
			}
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
