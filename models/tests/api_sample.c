#include "tests/api_sample.h"

#include "planner/planner.h"

#include <check.h>

struct shardsim_problem *sample_problem(const char *array, const char *mesh,
                                        const char *from, const char *to)
{
	struct shardsim_problem_text text = {
		.array = array, .mesh = mesh, .from = from, .to = to};
	struct shardsim_problem *out;
	struct shardsim_error e;

	ck_assert_msg(shardsim_problem_read(&out, &text, &e) == SHARDSIM_OK, "%s: %s",
	              e.of, e.text);
	return out;
}

struct shardsim_machine *sample_machine(int32_t gpus)
{
	struct shardsim_link link = {.bandwidth_Bps = 1e9, .latency_s = 1e-6};
	struct shardsim_device device = {.launch_s = 5e-6};
	struct shardsim_machine *out;

	ck_assert(shardsim_machine_nodes(&out, 1, gpus, link, link, device, NULL) ==
	          SHARDSIM_OK);
	return out;
}

struct shardsim_plan *sample_plan_of(const struct shardsim_problem *p,
                                     const struct shardsim_machine *m,
                                     const char *planner)
{
	struct shardsim_plan *out;
	struct shardsim_error e;

	ck_assert_msg(shardsim_plan(&out, p, m, planner, &e) == SHARDSIM_OK, "%s",
	              e.text);
	return out;
}

static enum answer sample_plan(struct plan **out, const struct problem *p,
                               const struct prices *prices, struct arena *arena,
                               struct text *why)
{
	struct part all[LAYOUT_PARTS_MAX];
	struct move gather = {.from_dim = 0, .to_dim = -1, .factor = 1, .parts = all};
	int n;
	const struct part *part = layout_parts(&p->from, 0, &n);

	(void)prices;
	if (p->array.shape.rank != 1 || n == 0 || p->to.nparts[0] > 0) {
		text_printf(why, "gathers one dimension and nothing else");
		return ANSWER_NOT_APPLICABLE;
	}
	for (int i = 0; i < n; i++) {
		all[i] = part[i];
		gather.factor *= part[i].size;
	}
	gather.nparts = n;
	*out = plan_new(arena, p, "sample");
	plan_axes_step(*out, OP_ALL_GATHER, &gather, 1);
	plan_finish(*out);
	return ANSWER_PLAN;
}

const struct planner sample_planner = {
	.name = "sample", .help = "one all-gather", .plan = sample_plan};
