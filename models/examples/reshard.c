/*
 * Plans one resharding on eight GPUs behind a switch, and prices it.
 *
 *	cc reshard.c $(pkg-config --cflags --libs shardsim)
 */
#include <shardsim.h>

#include <stdio.h>
#include <stdlib.h>

int main(void)
{
	struct shardsim_problem_text text = {.array = "bf16[8192,8192]",
	                                     .mesh = "x=4,y=2",
	                                     .from = "P('x', None)",
	                                     .to = "P(None, 'y')"};
	struct shardsim_link nvlink = {.bandwidth_Bps = 235e9, .latency_s = 1e-6};
	struct shardsim_device gpu = {.memory_Bps = 2e12, .launch_s = 5e-6};
	struct shardsim_problem *problem = NULL;
	struct shardsim_machine *machine = NULL;
	struct shardsim_plan *plan = NULL;
	struct shardsim_error e;
	char *steps = NULL;
	double seconds;

	if (shardsim_problem_read(&problem, &text, &e) == SHARDSIM_OK &&
	    shardsim_machine_nodes(&machine, 1, 8, nvlink, nvlink, gpu, &e) ==
	            SHARDSIM_OK &&
	    shardsim_plan(&plan, problem, machine, "best", &e) == SHARDSIM_OK &&
	    shardsim_price(&seconds, NULL, plan, machine, &e) == SHARDSIM_OK &&
	    shardsim_print(&steps, plan, SHARDSIM_TEXT, &e) == SHARDSIM_OK)
		printf("%s%.1f us\n", steps, seconds * 1e6);
	else
		fprintf(stderr, "%s:%u:%u: %s\n", e.of, e.line, e.column, e.text);
	free(steps);
	shardsim_free(plan);
	shardsim_free(machine);
	shardsim_free(problem);
	return e.status;
}
