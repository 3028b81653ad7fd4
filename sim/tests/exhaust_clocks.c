/*
 * Holds the clock fluid to SimGrid on all of scenarios/random.yaml, of which `make check`
 * takes a tenth, on the platforms of `make sweep`. Minutes.
 */
#include "clocks_suite.h"

#include "base/arena.h"

#include <gsl/gsl_errno.h>

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *const platforms[] = {"tpu-v4:4x4x4", "tpu-v4:8x8x8", "tpu-v5e:16x16",
                                        "tpu-v5e:4x8",  "dgx-a100:4",   "dgx-h100:8"};

static int compare(const char *platform)
{
	const struct clocks_suite of = {"scenarios/random.yaml", platform, 1};
	struct clocks_compared is = clocks_suite_compare(&of);

	printf("%-14s %6lld steps in both clocks, %lld refused, %lld differ; at most "
	       "by "
	       "%.1e\n",
	       platform, (long long)is.steps, (long long)is.refused,
	       (long long)is.differ, is.worst);
	return is.differ || !is.steps ? EXIT_FAILURE : EXIT_SUCCESS;
}

int main(void)
{
	int failed = 0;

	memory_keep();
	gsl_set_error_handler_off();
	for (size_t i = 0; i < sizeof(platforms) / sizeof(*platforms); i++) {
		int status = 0;
		pid_t child;

		fflush(stdout);
		child = fork();
		if (child == 0)
			exit(compare(platforms[i]));
		waitpid(child, &status, 0);
		failed += status != 0;
	}
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
