#include "clock_pair.h"

#include <check.h>

struct clock_pair clock_pair_set(const char *spec, const char *const *set, int nset)
{
	struct clock_pair b = {.arena = arena_new()};
	struct error e = {0};

	ck_assert_msg(platform_load(&b.platform, b.arena, spec, set, nset, &e) == OK,
	              "%s", e.text);
	b.machine = b.platform->machine;
	b.fluid = fluid_new(b.machine);
	b.simgrid = simgrid_new(b.platform);
	b.model = model_new(b.machine);
	b.s.arena = b.arena;
	return b;
}

struct clock_pair clock_pair_new(const char *spec, const char *set)
{
	return clock_pair_set(spec, &set, set ? 1 : 0);
}

void clock_pair_free(struct clock_pair *b)
{
	fluid_free(b->fluid);
	simgrid_free(b->simgrid);
	model_free(b->model);
	arena_free(b->arena);
}

void clock_pair_message(struct clock_pair *b, int32_t src, int32_t dst, double bytes)
{
	if (src != dst)
		schedule_message(&b->s, machine_fabric(b->machine, src, dst), src, dst,
		                 bytes);
}

double clock_pair_s(struct clock_pair *b)
{
	char why[300] = "";
	double time_s, simgrid_s;

	schedule_end(&b->s);
	time_s = fluid_clock(b->fluid, &b->s, why, sizeof(why));
	ck_assert_str_eq(why, "");
	simgrid_s = simgrid_clock(b->simgrid, &b->s, why, sizeof(why));
	ck_assert_str_eq(why, "");
	ck_assert_msg(fabs(time_s - simgrid_s) <= 1e-9 * fabs(simgrid_s),
	              "fluid %.15g, simgrid %.15g", time_s, simgrid_s);
	return time_s;
}
