#include "flow_case.h"

#include <check.h>

struct flow_case flow_case_new(const char *spec, const char *set)
{
	struct flow_case c = {.arena = arena_new()};
	struct error e = {0};

	ck_assert_msg(
		platform_read(&c.platform, c.arena, spec, &set, set ? 1 : 0, &e) == OK,
		"%s", e.text);
	c.machine = c.platform->machine;
	c.flow = flow_new(c.platform);
	c.fluid = fluid_new(c.machine);
	c.model = model_new(c.machine);
	for (int k = 0; k < FLOW_CASE_SCHEDULES; k++)
		c.s[k].arena = c.arena;
	return c;
}

void flow_case_free(struct flow_case *c)
{
	flow_free(c->flow);
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

double flow_case_flow_s(struct flow_case *c)
{
	char why[80] = "";
	double time_s;

	schedule_end(&c->s[0]);
	time_s = flow_clock(c->flow, &c->s[0], why, sizeof(why));
	ck_assert_str_eq(why, "");
	return time_s;
}

double flow_case_fluid_s(struct flow_case *c)
{
	schedule_end(&c->s[0]);
	return fluid_clock(c->fluid, &c->s[0], NULL, 0);
}
