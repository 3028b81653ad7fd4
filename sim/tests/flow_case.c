#include "flow_case.h"

#include <check.h>

#include <math.h>

struct flow_case flow_case_new(const char *spec, const char *set)
{
	struct flow_case c = {.arena = arena_new()};
	struct error e = {0};

	ck_assert_msg(
		platform_read(&c.platform, c.arena, spec, &set, set ? 1 : 0, &e) == OK,
		"%s", e.text);
	c.machine = c.platform->machine;
	c.replay = flow_replay_new(c.platform);
	c.flow = flow_new(c.machine);
	c.fluid = fluid_new(c.machine);
	c.model = model_new(c.machine);
	for (int k = 0; k < FLOW_CASE_SCHEDULES; k++)
		c.s[k].arena = c.arena;
	return c;
}

void flow_case_free(struct flow_case *c)
{
	flow_free(c->flow);
	flow_replay_free(c->replay);
	fluid_free(c->fluid);
	model_free(c->model);
	arena_free(c->arena);
}

void flow_case_message(struct flow_case *c, int k, int32_t src, int32_t dst,
                       double bytes)
{
	schedule_message(&c->s[k], machine_fabric(c->machine, src, dst), src, dst,
	                 bytes);
}

void flow_case_alone(struct flow_case *c, int k, int32_t src, int32_t dst, double bytes)
{
	schedule_round(&c->s[k]);
	schedule_task(&c->s[k], 1);
	flow_case_message(c, k, src, dst, bytes);
}

double flow_case_both_s(struct flow_case *c, double *wire_s, int n)
{
	double replay_s[FLOW_CASE_SCHEDULES], ours_s = 0, simgrids_s = 0, total_s, whole_s;
	char why[80] = "";

	total_s = flow_schedules(c->flow, wire_s, c->s, n, why, sizeof(why));
	ck_assert_str_eq(why, "");
	whole_s = flow_replay_schedules(c->replay, replay_s, c->s, n, why, sizeof(why));
	ck_assert_str_eq(why, "");
	ck_assert(total_s >= 0 && whole_s >= 0);
	for (int i = 0; i < n; i++) {
		ours_s += wire_s[i];
		simgrids_s += replay_s[i];
		ck_assert_msg(fabs(ours_s - simgrids_s) <= 1e-8 * whole_s,
		              "%s: step %d ends at %.15g, in SimGrid at %.15g",
		              c->machine->name, i, ours_s, simgrids_s);
	}
	return total_s;
}

double flow_case_flow_s(struct flow_case *c)
{
	double wire_s;

	schedule_end(&c->s[0]);
	return flow_case_both_s(c, &wire_s, 1);
}

double flow_case_fluid_s(struct flow_case *c)
{
	schedule_end(&c->s[0]);
	return fluid_clock(c->fluid, &c->s[0], NULL, 0);
}
