/*
 * A planner of one's own: gathers every dimension whole, one after another, then cuts out
 * what the target layout asks for.
 *
 *	cc planner.c $(pkg-config --cflags --libs shardsim)
 */
#include <planner/planner.h>
#include <shardsim.h>

#include <stdio.h>
#include <stdlib.h>

/* Appends an all-gather or a slice of dimension `dim` by the parts that shard it in `l`. */
static void add_step(struct plan *plan, enum op op, const struct layout *l, int dim)
{
	struct move move = {.from_dim = op == OP_SLICE ? -1 : dim,
	                    .to_dim = op == OP_SLICE ? dim : -1,
	                    .factor = (int32_t)layout_shards(l, dim)};

	move.parts = layout_parts(l, dim, &move.nparts);
	if (move.nparts > 0)
		plan_axes_step(plan, op, &move, 1);
}

static enum answer plan_whole(struct plan **out, const struct problem *p,
                              const struct prices *prices, struct arena *arena,
                              struct text *why)
{
	(void)prices; /* it has nothing to choose from */
	if (p->from.kind != LAYOUT_AXES || p->to.kind != LAYOUT_AXES || p->two_meshes ||
	    p->from.nunreduced || p->to.nunreduced || !problem_even(p)) {
		text_printf(why, "takes even layouts of axes on one mesh");
		return ANSWER_NOT_APPLICABLE;
	}
	*out = plan_new(arena, p, "whole");
	for (int dim = 0; dim < p->array.shape.rank; dim++)
		add_step(*out, OP_ALL_GATHER, &p->from, dim);
	for (int dim = 0; dim < p->array.shape.rank; dim++)
		add_step(*out, OP_SLICE, &p->to, dim);
	plan_finish(*out);
	return ANSWER_PLAN;
}

static const struct planner whole = {
	.name = "whole", .help = "gathers all, then slices", .plan = plan_whole};

/* Walks the steps of the plan. */
static void show(const struct shardsim_plan *plan)
{
	struct shardsim_step step;

	for (int i = 0; shardsim_step(&step, plan, i, NULL) == SHARDSIM_OK; i++)
		printf("%-10s receives %3lld bytes, then %s\n", step.op,
		       (long long)step.recv_bytes, step.layout);
}

int main(void)
{
	struct shardsim_problem_text text = {.array = "f32[16,8]",
	                                     .mesh = "x=4,y=2",
	                                     .from = "P('x', 'y')",
	                                     .to = "P('y', None)"};
	struct shardsim_problem *problem = NULL;
	struct shardsim_plan *plan = NULL;
	struct shardsim_error e;

	if (shardsim_planner_add(&whole, &e) == SHARDSIM_OK &&
	    shardsim_problem_read(&problem, &text, &e) == SHARDSIM_OK &&
	    shardsim_plan(&plan, problem, NULL, "whole", &e) == SHARDSIM_OK)
		show(plan);
	else
		fprintf(stderr, "%s\n", e.text);
	shardsim_free(plan);
	shardsim_free(problem);
	return e.status;
}
