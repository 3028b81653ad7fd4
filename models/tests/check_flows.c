#include "flow/pipeline.h"
#include "tests/tests.h"

#include "bound/bound.h"
#include "bound_machine.h"
#include "cost/flow.h"
#include "cost/model.h"
#include "flow/relay.h"
#include "plan/check.h"
#include "plan_random.h"
#include "planner/planner.h"
#include "planner_case.h"
#include "price/price.h"

#include <check.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Flows of data as schedules: that they bring what is lacked, that they are near the bound
 * where the bound is known to be reached, and that clocks time them as their closed form
 * says.
 */

static struct arena *arena;

static void setup(void)
{
	arena = arena_new();
}

static void teardown(void)
{
	arena_free(arena);
}

static struct machine *without_latency(struct machine *m)
{
	struct link *link =
		arena_dup(arena, m->link, (size_t)m->nlinks, sizeof(*link));

	for (int32_t l = 0; l < m->nlinks; l++)
		link[l].latency_s = 0;
	m->link = link;
	m->tuning = tuning_default;
	m->tuning.value[TUNING_SCHEDULED] = 1;
	return m;
}

static struct machine *torus(int naxes, const int32_t *shape)
{
	static const bool wrap[] = {true, true, true};

	return machine_torus(arena, naxes, shape, wrap, bound_ici, bound_device);
}

static const int32_t *identity(int32_t n)
{
	int32_t *out = arena_alloc(arena, (size_t)n, sizeof(*out));

	for (int32_t d = 0; d < n; d++)
		out[d] = d;
	return out;
}

struct found {
	struct network network;
	struct demand demand;
	struct symmetry symmetry;
	struct forest forest;
	struct flows flows;
};

static bool find(struct found *out, const struct problem *p, const struct machine *m,
                 const int32_t *platform)
{
	if (!network_make(&out->network, m, platform, p->ndevices, arena) ||
	    !demand_make(&out->demand, p, arena))
		return false;
	symmetry_find(&out->symmetry, &out->network, &out->demand, &p->mesh, arena);
	if (!forest_make(&out->forest, &out->network, &out->demand, &out->symmetry, false,
	                 arena))
		return false;
	flows_of_forest(&out->flows, &out->forest, &out->network, &out->symmetry, arena);
	return true;
}

/* --- known optima ----------------------------------------------------------------- */

/*
 * Problems whose optimum is known, as the bytes of the busiest link, and how near flows come.
 * V = 16384 is the array, S what a device holds of it.
 *   gather       V less S over all links into a device: 2 on a ring, 4 and 6 on tori; along
 *                one axis alone what a line across it lacks, by two links for each
 *   all-to-all   half of all pairs cross the bisection: S d / 8 on wrapped rings of d and on
 *                tori of such axes (Dally and Towles, Principles and Practices, 2004)
 *   transpose    of k x k: into a box of a rows and b = k + o - a columns, o of them the same
 *                numbers, come a b - o^2 tiles of S by 2 (a + b) links: S / 2 for k = 4, and
 *                for k = 8 S 19 / 18, where a is 5 and b 4; S k / 8 is what all tiles load
 *                links with in the mean, k / 4 places along either axis
 */
static const struct {
	int naxes;
	int32_t shape[3];
	const char *mesh, *array, *from, *to;
	double bytes, most;
} known[] = {
	{1, {8}, "x=8", "f32[64,64]", "P('x')", "P()", 16384 * 7 / 8 / 2., 1.01},
	{1, {8}, "x=8", "f32[64,64]", "P('x')", "P(None,'x')", 2048, 1.01},
	{1, {6}, "x=6", "f32[48,48]", "P('x')", "P(None,'x')", 1536 * 6 / 8., 1.02},
	{2, {4, 4}, "x=4,y=4", "f32[64,64]", "P('x','y')", "P()", 15360 / 4., 1.01},
	{2,
         {4, 4},
         "x=4,y=4",
         "f32[64,64]",
         "P(('x','y'))",
         "P(None,('x','y'))",
         1024 * 4 / 8.,
         1.02},
	{2, {4, 4}, "x=4,y=4", "f32[64,64]", "P('x','y')", "P('x')", 3072 / 2., 1.01},
	{2, {4, 4}, "x=4,y=4", "f32[64,64]", "P('x','y')", "P('y','x')", 1024 / 2., 1.05},
	{2, {8, 8}, "x=8,y=8", "f32[64,64]", "P('x','y')", "P('y','x')", 256 * 19 / 18., 1.15},
	{2, {8, 8}, "x=8,y=8", "f32[64,64]", "P(('x','y'))", "P()", 16128 / 4., 1.02},
	{3,
         {4, 4, 4},
         "x=4,y=4,z=4",
         "f32[64,64]",
         "P(('x','y','z'))",
         "P()",
         16128 / 6.,
         1.02},
	{3,
         {4, 4, 4},
         "x=4,y=4,z=4",
         "f32[64,64]",
         "P(('x','y','z'))",
         "P(None,('x','y','z'))",
         256 * 4 / 8.,
         1.05},
};

START_TEST(known_optima_are_met)
{
	struct machine *m =
		without_latency(torus(known[_i].naxes, known[_i].shape));
	struct problem *p = case_of_texts(arena, known[_i].mesh, known[_i].array,
	                                  known[_i].from, known[_i].to);
	double least_s = known[_i].bytes / bound_ici.bandwidth_Bps;
	struct found found;

	ck_assert(find(&found, p, m, identity(p->ndevices)));
	printf("%s %s to %s: %.3f of the optimum, depth %d, %d symmetries\n",
	       known[_i].mesh, known[_i].from, known[_i].to,
	       found.flows.busiest_s / least_s, (int)found.flows.depths,
	       (int)found.symmetry.order);
	ck_assert_double_le(bound_s(p, m, NULL), least_s * (1 + 1e-9));
	ck_assert_double_ge(found.flows.busiest_s, least_s * (1 - 1e-9));
	ck_assert_double_le(found.flows.busiest_s, least_s * known[_i].most);
}
END_TEST

/*
 * Sums are no flows of data; the collectives of the geometry meet the optimum, what a device
 * does not keep over all its links: V (n - 1) / n over 2, 4 and 6 of them.
 */
START_TEST(reduce_scatters_use_all_links)
{
	static const int32_t shape[] = {4, 4, 4};
	double bytes = 1 << 20;

	for (int naxes = 1; naxes <= 3; naxes++) {
		struct machine *m = without_latency(torus(naxes, shape));
		struct groups g = {1, m->ndevices, identity(m->ndevices)};
		struct model *model = model_new(m);
		double optimum_s = bytes * (m->ndevices - 1) / m->ndevices /
		                   (2 * naxes * bound_ici.bandwidth_Bps);
		struct lowered lowered;
		struct text why = {0};
		char message[200];
		double s;

		ck_assert(lower_collective(&lowered, arena, m, OP_REDUCE_SCATTER, g,
		                           bytes, &why));
		s = model_clock(model, &lowered.schedule, message, sizeof(message));
		ck_assert_double_ge(s, optimum_s * (1 - 1e-9));
		ck_assert_double_le(s, optimum_s * 1.01);
		model_free(model);
	}
}
END_TEST

/* One device has all, and everybody wants it: a broadcast over all links into them. */
START_TEST(a_broadcast_uses_all_links)
{
	struct problem_text t = {.array = "f32[48,48]",
	                         .mesh = "x=1",
	                         .to_mesh = "x=16",
	                         .devices = "0",
	                         .to_devices = "0-15",
	                         .from = "P()",
	                         .to = "P()"};
	struct problem *p = arena_alloc(arena, 1, sizeof(*p));
	struct machine *m = without_latency(torus(2, (const int32_t[]){4, 4}));
	struct error e = {0};
	struct found found;

	ck_assert_msg(problem_make(p, arena, &t, &e) == OK, "%s", e.text);
	ck_assert(find(&found, p, m, p->platform ? p->platform : identity(16)));
	/* four links out of the one device, and into each other one */
	ck_assert_double_ge(found.flows.busiest_s, 48 * 48 * 4 / 4 / 45e9 * (1 - 1e-9));
	ck_assert_double_le(found.flows.busiest_s, 48 * 48 * 4 / 4 / 45e9 * 1.3);
}
END_TEST

/* --- what they bring -------------------------------------------------------------- */

/* Returns what a device lacks, by the problem's tiles. */
static double lacks(const struct found *f, int32_t device)
{
	double bytes = 0;

	for (int32_t s = 0; s < f->demand.nsupplies; s++) {
		const struct supply *supply = &f->demand.supply[s];
		bool holds = false;

		for (int32_t i = 0; i < supply->holders.n; i++)
			holds = holds || supply->holders.device[i] == device;
		for (int64_t k = 0; k < supply->ndata && !holds; k++) {
			const struct party *w =
				&f->demand.party[supply->datum[k].wanters];

			for (int32_t i = 0; i < w->n; i++)
				bytes += w->device[i] == device ? supply->datum[k].bytes
				                                : 0;
		}
	}
	return bytes;
}

/*
 * What comes into a device is at least what it lacks, and it relays at each depth only
 * what came at the one before: on any one message at most all of it.
 */
static void check_devices(const struct found *f)
{
	const struct flows *flows = &f->flows;
	int32_t n = f->network.n;
	double *in = arena_alloc(arena, (size_t)n * (FLOW_DEPTH_MAX + 1), sizeof(*in));

	for (int32_t d = 0; d < flows->depths; d++)
		for (int32_t m = 0; m < flows->nmessages; m++)
			in[(d + 1) * n + flows->message[m].dst] +=
				flows->bytes[m * flows->depths + d];
	for (int32_t d = 1; d < flows->depths; d++)
		for (int32_t m = 0; m < flows->nmessages; m++)
			ck_assert_double_le(
				flows->bytes[m * flows->depths + d],
				in[d * n + flows->message[m].src] * (1 + 1e-9));
	for (int32_t device = 0; device < n; device++) {
		double all = 0;

		for (int32_t d = 1; d <= flows->depths; d++)
			all += in[d * n + device];
		ck_assert_double_ge(all, lacks(f, device) * (1 - 1e-9));
	}
}

/*
 * The busiest link, from all messages, is as busy as the trees say of themselves and of
 * what symmetries make of them.
 */
static void check_links(const struct found *f)
{
	const struct flows *flows = &f->flows;
	double *load = arena_alloc(arena, (size_t)f->network.nlinks, sizeof(*load));
	double most = 0;

	for (int32_t m = 0; m < flows->nmessages; m++) {
		const int32_t *link;
		int32_t pair[2];
		int32_t n = network_links(&f->network, &flows->message[m], &link, pair);

		for (int32_t d = 0; d < flows->depths; d++)
			for (int32_t i = 0; i < n; i++)
				load[link[i]] += flows->bytes[m * flows->depths + d] *
				                 f->network.s_per_byte[link[i]];
	}
	for (int32_t l = 0; l < f->network.nlinks; l++)
		most = fmax(most, load[l]);
	ck_assert_double_le(fabs(most / flows->busiest_s - 1), 1e-9);
}

/* A group: every element numbers the devices anew, and products are elements. */
static void check_group(const struct symmetry *s)
{
	bool *seen = arena_alloc(arena, (size_t)s->n, sizeof(*seen));
	int32_t g = s->order / 2, h = s->order - 1, same = 0;

	for (int32_t d = 0; d < s->n; d++)
		seen[s->image[h * s->n + d]] = true;
	for (int32_t d = 0; d < s->n; d++)
		ck_assert(seen[d] && s->image[d] == d);
	for (int32_t k = 0; k < s->order; k++) {
		int32_t d = 0;

		while (d < s->n && s->image[k * s->n + d] ==
		                           s->image[g * s->n + s->image[h * s->n + d]])
			d++;
		same += d == s->n;
	}
	ck_assert_int_eq(same, 1);
}

/* Random problems on random machines: never below a bound, and timed as they say. */
START_TEST(random_flows)
{
	struct rng *r = rng_new(5);
	double logs = 0;
	int n = 0;

	for (int k = 0; k < 600; k++) {
		struct problem *p = k % 3 ? random_problem(r, arena, 16)
		                          : random_listed_problem(r, arena, 12);
		struct machine *m = without_latency(random_machine(
			r, arena, p->ndevices + (int32_t)rng_below(r, 3), 0, k % 2));
		const int32_t *platform = random_order(r, m->ndevices, arena);
		struct placement place = {p->ndevices, platform};
		double least_s = bound_s(p, m, &place);
		struct found found;

		if (least_s > 0 && find(&found, p, m, platform)) {
			check_devices(&found);
			check_links(&found);
			check_group(&found.symmetry);
			ck_assert_double_ge(found.flows.busiest_s, least_s * (1 - 1e-9));
			logs += log(found.flows.busiest_s / least_s);
			n++;
		}
		arena_reset(arena);
	}
	printf("%d random problems: flows %.3f of the bound\n", n, exp(logs / n));
	ck_assert_int_gt(n, 300);
	ck_assert_double_le(exp(logs / n), 1.25);
	rng_free(r);
}
END_TEST

/*
 * As plans: relays and all, with every element where the target wants it, by the
 * interpreter of plans.
 */
START_TEST(flows_are_plans)
{
	struct rng *r = rng_new(11);
	int n = 0, relayed = 0;

	for (int k = 0; k < 150; k++) {
		struct problem *p = k % 3 ? random_problem(r, arena, 16)
		                          : random_listed_problem(r, arena, 12);
		struct machine *m = random_machine(
			r, arena, p->ndevices + (int32_t)rng_below(r, 3), 1e-4, k % 2);
		struct plan *plan = relay_plan(p, m, random_order(r, m->ndevices, arena),
		                               arena);
		struct text why = {0};

		if (plan) {
			ck_assert_msg(plan_check(plan, &why), "%s: %s",
			              case_describe(arena, p), why.s);
			relayed += plan->nsteps > 1;
			n++;
		}
		text_free(&why);
		arena_reset(arena);
	}
	printf("%d plans proved, %d of several rounds\n", n, relayed);
	ck_assert_int_gt(n, 70);
	ck_assert_int_gt(relayed, 30);
	rng_free(r);
}
END_TEST

/* --- as schedules ----------------------------------------------------------------- */

/* The exchange of a whole problem takes what the closed form of the pipeline says. */
START_TEST(clocks_take_the_closed_form)
{
	struct rng *r = rng_new(9);
	int scheduled = 0;

	for (int k = 0; k < 200; k++) {
		struct problem *p = random_problem(r, arena, 16);
		struct machine *m = random_machine(r, arena, p->ndevices, 1e-4, k % 2);
		struct step_time times[1];
		struct model *model;
		struct plan *plan = NULL;
		struct text why = {0};
		struct found found;
		char message[200];
		double time_s;

		m->tuning = tuning_default;
		m->tuning.value[TUNING_SCHEDULED] = 1;
		model = model_new(m);
		if (planner_run(planner_find("direct", 6), &plan, p, &prices_bytes, arena,
		                &why) == ANSWER_PLAN &&
		    plan->nsteps == 1) {
			struct pipeline pipe;

			time_s = plan_seconds(times, plan, m, NULL, model_clock, model,
			                      message, sizeof(message));
			ck_assert_double_gt(time_s, 0);
			if (times[0].algorithm &&
			    !strcmp(times[0].algorithm, "scheduled")) {
				ck_assert(find(&found, p, m, identity(p->ndevices)));
				pipe = pipeline_make(&found.flows, &found.network, 1,
				                     arena);
				ck_assert_double_le(times[0].wire_s,
				                    pipe.seconds * (1 + 1e-9));
				ck_assert_double_ge(times[0].wire_s,
				                    bound_s(p, m, NULL));
				scheduled++;
			}
		}
		text_free(&why);
		model_free(model);
		arena_reset(arena);
	}
	ck_assert_int_gt(scheduled, 30);
	rng_free(r);
}
END_TEST

/* Machines of 64 devices with links of 1 us, and how many of a hundred agree to 5 %. */
static const struct {
	const char *name;
	int sizes[4]; /* of the mesh */
	int naxes;    /* of the torus; 0: nodes */
	int32_t shape[3];
	int near_percent;
} unrounded[] = {
	{"4x4x4", {4, 4, 4}, 3, {4, 4, 4}, 100},
	{"8x8", {8, 8}, 2, {8, 8}, 100},
	{"8 nodes of 8", {8, 8}, 0, {8, 8}, 80},
};

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Returns the time of a schedule by the clock `flow` over that of its rounds; 0: none. */
static double flow_over_rounds(const struct problem *p, struct machine *m)
{
	struct lowered lowered;
	struct plan *plan = NULL;
	struct text why = {0};
	double out = 0;

	ck_assert_int_eq(planner_run(planner_find("direct", 6), &plan, p, &prices_bytes,
	                             arena, &why),
	                 ANSWER_PLAN);
	if (plan->nsteps == 1 && lower_step(&lowered, arena, m, NULL, plan, 0, &why) &&
	    lowered.algorithm && !strcmp(lowered.algorithm, "scheduled")) {
		struct flow *flow = flow_new(m);
		struct model *model = model_new(m);
		char message[200];

		out = flow_clock(flow, &lowered.schedule, message, sizeof(message)) /
		      model_clock(model, &lowered.schedule, message, sizeof(message));
		flow_free(flow);
		model_free(model);
	}
	text_free(&why);
	return out;
}

/*
 * A clock without rounds agrees: on tori each message has its link. On switches messages
 * share one link up and one down each, and where they are of unequal lengths equal shares
 * leave a link idle because the other end of what it carries is busy.
 */
START_TEST(schedules_need_no_rounds)
{
	static const bool wrap[] = {true, true, true};
	const int sixty = 60;
	struct rng *r = rng_new(17);
	double ratio[60];
	int n = 0, near = 0;

	for (int k = 0; k < sixty; k++) {
		struct mesh mesh = case_mesh(arena, unrounded[_i].sizes);
		struct shape extent = {.rank = 2, .dim = {32768, 32768}};
		struct layout from = random_layout(r, &mesh, 2);
		struct layout to = random_layout(r, &mesh, 2);
		struct problem *p = case_of_layouts(arena, &mesh, &extent, &from, &to);
		const int32_t *shape = unrounded[_i].shape;
		struct machine *m =
			unrounded[_i].naxes
				? machine_torus(arena, unrounded[_i].naxes, shape, wrap,
		                                bound_ici, bound_device)
				: machine_gpu(arena, shape[0], shape[1], bound_nvlink,
		                              bound_nic, bound_device);

		m->tuning = tuning_default;
		m->tuning.value[TUNING_SCHEDULED] = 1;
		ratio[n] = flow_over_rounds(p, m);
		if (ratio[n] > 0)
			near += fabs(ratio[n++] - 1) <= 0.05;
		arena_reset(arena);
	}
	qsort(ratio, (size_t)n, sizeof(*ratio), by_size);
	printf("%s: %d of %d problems are schedules; without rounds %.3f to %.3f, median "
	       "%.3f, %d within 5 %%\n",
	       unrounded[_i].name, n, sixty, ratio[0], ratio[n - 1], ratio[n / 2], near);
	ck_assert_int_gt(n, 30);
	ck_assert_int_ge(100 * near, unrounded[_i].near_percent * n);
	rng_free(r);
}
END_TEST

/*
 * What is relayed is held beside the arrays of the plan: chunks are as small as the memory
 * asks for, and where there is none left every message goes straight.
 */
START_TEST(relays_fit_into_memory)
{
	struct machine *m = torus(2, (const int32_t[]){8, 8});
	struct problem *p = case_of_texts(arena, "x=8,y=8", "f32[8192,8192]", "P('x','y')",
	                                  "P('y','x')");
	struct lowered lowered;
	struct plan *plan = NULL;
	struct text why = {0};
	int64_t free_bytes;

	m->tuning = tuning_default;
	m->tuning.value[TUNING_SCHEDULED] = 1;
	ck_assert_int_eq(planner_run(planner_find("direct", 6), &plan, p, &prices_bytes,
	                             arena, &why),
	                 ANSWER_PLAN);
	ck_assert(lower_step(&lowered, arena, m, NULL, plan, 0, &why));
	ck_assert_str_eq(lowered.algorithm, "scheduled");
	free_bytes = lowered.relay_bytes;
	ck_assert_int_gt(free_bytes, 0);
	p->device_memory_bytes = plan->peak_live_bytes + free_bytes / 2;
	ck_assert(lower_step(&lowered, arena, m, NULL, plan, 0, &why));
	ck_assert_str_eq(lowered.algorithm, "scheduled");
	ck_assert_int_gt(lowered.relay_bytes, 0);
	ck_assert_int_le(lowered.relay_bytes, free_bytes / 2);
	p->device_memory_bytes = plan->peak_live_bytes;
	ck_assert(lower_step(&lowered, arena, m, NULL, plan, 0, &why));
	ck_assert_str_eq(lowered.algorithm, "direct");
	ck_assert_int_eq(lowered.relay_bytes, 0);
}
END_TEST

#define COUNT(a) ((int)(sizeof(a) / sizeof((a)[0])))

Suite *tests(void)
{
	Suite *suite = suite_create("flows");
	TCase *c = tcase_create("flows");

	tcase_set_timeout(c, 240);
	tcase_add_checked_fixture(c, setup, teardown);
	tcase_add_loop_test(c, known_optima_are_met, 0, COUNT(known));
	tcase_add_test(c, reduce_scatters_use_all_links);
	tcase_add_test(c, a_broadcast_uses_all_links);
	tcase_add_test(c, random_flows);
	tcase_add_test(c, flows_are_plans);
	tcase_add_test(c, clocks_take_the_closed_form);
	tcase_add_loop_test(c, schedules_need_no_rounds, 0, COUNT(unrounded));
	tcase_add_test(c, relays_fit_into_memory);
	suite_add_tcase(suite, c);
	return suite;
}
