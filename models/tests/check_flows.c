#include "flow_help.h"
#include "tests/tests.h"

#include "array/tile.h"
#include "bound/bound.h"
#include "bound_machine.h"
#include "cost/model.h"
#include "flow/relay.h"
#include "plan/check.h"
#include "plan_interpret.h"
#include "plan_random.h"
#include "planner_case.h"

#include <check.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Flows of data: that they bring what is lacked, and that they are near the bound where that
 * is known to be reached.
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

/* --- known optima ----------------------------------------------------------------- */

/*
 * Problems whose optimum is known, as the bytes of the busiest link, and how near flows come.
 * V = 16384 is the array, S what a device holds of it.
 *   gather       V less S over all links into a device: 2 on a ring, 4 and 6 on tori; along
 *                one axis alone what a line across it lacks, by two links for each
 *   all-to-all   half of all pairs cross the bisection: S d / 8 on wrapped rings of d and on
 *                tori of such axes (Dally and Towles, Principles and Practices, 2004)
 *   transpose    of k x k: S k / 8 is what all tiles load links with in the mean, k / 4 places
 *                along either axis, and met for k = 4 (larger ones in check_transpose_lp)
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
	{2, {4, 4}, "x=4,y=4", "f32[64,64]", "P('x','y')", "P('y','x')", 1024 / 2., 1.02},
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
         1.02},
	{3,
         {16, 16, 16},
         "x=16,y=16,z=16",
         "f32[4096,1]",
         "P(('x','y','z'))",
         "P()",
         16380 / 6.,
         1.05},
};

START_TEST(known_optima_are_met)
{
	struct machine *m = flow_machine(
		arena, flow_torus(arena, known[_i].naxes, known[_i].shape), false);
	struct problem *p = case_of_texts(arena, known[_i].mesh, known[_i].array,
	                                  known[_i].from, known[_i].to);
	double least_s = known[_i].bytes / bound_ici.bandwidth_Bps;
	struct found found;

	ck_assert(flow_find(&found, p, m, flow_identity(arena, p->ndevices), FLOW_ALL,
	                    arena));
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
		struct machine *m =
			flow_machine(arena, flow_torus(arena, naxes, shape), false);
		struct groups g = {1, m->ndevices, flow_identity(arena, m->ndevices)};
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

/*
 * One device has all, and everybody wants it: a broadcast over all links into them. Of the
 * array of V bytes each device gets all over its links, of which a ring has 2, tori 4 and 6
 * (3 where axes have two devices, without a second cable). Of nodes of 8 the first has one
 * link out of 240 GB/s, and one of 23, and each other one gets all by 8 of 23. Trees that
 * share no link exist (Edmonds, Edge-disjoint branchings, 1973). Of the trees that grow and of
 * those over nodes the better ones count.
 */
static const struct {
	int naxes; /* of the torus; 0: nodes */
	int32_t shape[3];
	double Bps, most;
} broadcasts[] = {
	{1, {8}, 2 * 45e9, 1.02},       {2, {4, 4}, 4 * 45e9, 1.02},
	{2, {3, 5}, 4 * 45e9, 1.02},    {2, {8, 8}, 4 * 45e9, 1.05},
	{2, {16, 16}, 4 * 45e9, 1.05},  {3, {2, 2, 2}, 3 * 45e9, 1.02},
	{3, {4, 4, 4}, 6 * 45e9, 1.05}, {3, {4, 4, 8}, 6 * 45e9, 1.05},
	{0, {1, 8}, 240e9, 1.05},       {0, {2, 8}, 8 * 23e9, 1.05},
	{0, {4, 8}, 8 * 23e9, 1.01},    {0, {8, 8}, 8 * 23e9, 1.01},
	{0, {16, 8}, 8 * 23e9, 1.01},   {0, {13, 8}, 8 * 23e9, 1.01},
};

START_TEST(broadcasts_use_all_links)
{
	const int32_t *shape = broadcasts[_i].shape;
	struct machine *m = flow_machine(
		arena,
		broadcasts[_i].naxes
			? flow_torus(arena, broadcasts[_i].naxes, shape)
			: machine_gpu(arena, shape[0], shape[1], bound_nvlink,
	                              bound_nic, bound_device),
		false);
	char *mesh = arena_printf(arena, "x=%d", (int)m->ndevices);
	char *all = arena_printf(arena, "0-%d", (int)m->ndevices - 1);
	struct problem_text t = {.array = "f32[4096,4096]",
	                         .mesh = "x=1",
	                         .to_mesh = mesh,
	                         .devices = "0",
	                         .to_devices = all,
	                         .from = "P()",
	                         .to = "P()"};
	struct problem *p = arena_alloc(arena, 1, sizeof(*p));
	double least_s = 4096. * 4096 * 4 / broadcasts[_i].Bps;
	struct error e = {0};
	struct found found, over;

	ck_assert_msg(problem_make(p, arena, &t, &e) == OK, "%s", e.text);
	ck_assert(flow_find(&found, p, m, p->platform, FLOW_ALL, arena));
	if (flow_find(&over, p, m, p->platform, FLOW_TREES, arena) &&
	    over.flows.busiest_s < found.flows.busiest_s)
		found = over;
	printf("broadcast to %d: %.3f of the optimum, depth %d\n", (int)m->ndevices,
	       found.flows.busiest_s / least_s, (int)found.flows.depths);
	ck_assert_double_ge(found.flows.busiest_s, least_s * (1 - 1e-9));
	ck_assert_double_le(found.flows.busiest_s, least_s * broadcasts[_i].most);
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

/* Adds to all depths but the first what devices hold, and what came before. */
static void add_earlier(double *in, const struct found *f)
{
	int32_t n = f->network.n;

	for (int32_t d = 1; d < f->flows.depths; d++)
		for (int32_t device = 0; device < n; device++) {
			int32_t s = f->demand.supply_of[device];

			if (d > 1)
				in[d * n + device] += in[(d - 1) * n + device];
			for (int64_t k = 0;
			     d == 1 && s >= 0 && k < f->demand.supply[s].ndata; k++)
				in[n + device] += f->demand.supply[s].datum[k].bytes;
		}
}

/*
 * What comes into a device is at least what it lacks, and it relays at each depth only
 * what came at the one before: on any one message at most all of it. On rails that may have
 * come at any depth before, and holders may begin later.
 */
static void check_devices(const struct found *f)
{
	const struct flows *flows = &f->flows;
	int32_t n = f->network.n;
	double *in = arena_alloc(arena, (size_t)n * (FLOW_DEPTH_MAX + 1), sizeof(*in));

	for (int32_t d = 0; d < flows->depths; d++)
		for (int32_t m = 0; m < flows->nmessages; m++)
			in[(d + 1) * n + flows->message[m].dst] +=
				flows_bytes(flows, m, d);
	if (f->network.reach == FLOW_RAILS)
		add_earlier(in, f);
	for (int32_t d = 1; d < flows->depths; d++)
		for (int32_t m = 0; m < flows->nmessages; m++)
			ck_assert_double_le(flows_bytes(flows, m, d),
			                    in[d * n + flows->message[m].src] *
			                            (1 + 1e-9));
	for (int32_t device = 0; device < n; device++) {
		double all = 0;

		for (int32_t m = 0; m < flows->nmessages; m++)
			for (int32_t d = 0; d < flows->depths; d++)
				all += flows->message[m].dst == device
				               ? flows_bytes(flows, m, d)
				               : 0;
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
				load[link[i]] += flows_bytes(flows, m, d) *
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

	for (int k = 0; k < 1350; k++) {
		struct problem *p = k % 3 ? random_problem(r, arena, 16)
		                          : random_listed_problem(r, arena, 12);
		struct machine *m = flow_machine(
			arena,
			random_machine(r, arena, p->ndevices + (int32_t)rng_below(r, 3),
		                       0, k % 2),
			false);
		enum flow_reach reach = (enum flow_reach)(k / 2 % FLOW_REACHES);
		const int32_t *platform = random_order(r, m->ndevices, arena);
		struct placement place = {p->ndevices, platform};
		double least_s = bound_s(p, m, &place);
		struct found found;

		if (least_s > 0 && flow_find(&found, p, m, platform, reach, arena)) {
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
 * interpreter of plans and by one that moves elements one by one.
 */
START_TEST(flows_are_plans)
{
	struct rng *r = rng_new(11);
	int n = 0, relayed = 0, wrong;

	for (int k = 0; k < 300; k++) {
		struct problem *p = k % 3 ? random_problem(r, arena, 16)
		                          : random_listed_problem(r, arena, 12);
		struct machine *m = random_machine(
			r, arena, p->ndevices + (int32_t)rng_below(r, 3), 1e-4, k % 2);
		struct plan *plan =
			relay_plan(p, m, random_order(r, m->ndevices, arena),
		                   (enum flow_reach)(k / 2 % FLOW_REACHES), arena);
		struct text why = {0};

		if (plan) {
			ck_assert_msg(plan_check(plan, &why), "%s: %s",
			              case_describe(arena, p), why.s);
			ck_assert(plan_interpret(plan, arena, &wrong));
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

/* A problem between two meshes on 12 devices, which have some of them in common or none. */
static struct problem *draw_meshes(struct rng *r)
{
	static const char *const mesh[] = {"x=1", "x=2,y=2", "x=4", "x=3,y=2"};
	static const int32_t size[] = {1, 4, 4, 6};
	static const char *const layout[][4] = {{"P()", "P('x')", "P(None,'x')", "P('x')"},
	                                        {"P()", "P('x','y')", "P('y')",
	                                         "P(('y','x'))"},
	                                        {"P()", "P('x')", "P(None,'x')", "P('x')"},
	                                        {"P()", "P('x','y')", "P(('x','y'))",
	                                         "P(None,'y')"}};
	struct problem *p = arena_alloc(arena, 1, sizeof(*p));
	uint32_t from = rng_below(r, 4), to = rng_below(r, 4);
	int32_t first = (int32_t)rng_below(r, 12 - (uint32_t)size[to] + 1);
	struct problem_text t = {
		.array = "f32[12,24]",
		.mesh = mesh[from],
		.to_mesh = mesh[to],
		.from = layout[from][rng_below(r, 4)],
		.to = layout[to][rng_below(r, 4)],
		.devices = arena_printf(arena, "0-%d", (int)size[from] - 1),
		.to_devices = arena_printf(arena, "%d-%d", (int)first,
	                                   (int)(first + size[to] - 1))};
	struct error e = {0};

	ck_assert_msg(problem_make(p, arena, &t, &e) == OK, "%s", e.text);
	return p;
}

/* Between two meshes devices relay, too, that never have a tile of the source. */
START_TEST(flows_between_meshes_are_plans)
{
	static const bool wrap[] = {true, true, true};
	static const int32_t shape[] = {3, 4};
	struct rng *r = rng_new(12);
	int n = 0, late = 0, wrong;

	for (int k = 0; k < 200; k++) {
		struct problem *p = draw_meshes(r);
		struct machine *m =
			k % 2 ? machine_torus(arena, 2, shape, wrap, bound_ici,
		                              bound_device)
			      : machine_gpu(arena, 3, 4, bound_nvlink, bound_nic,
		                            bound_device);
		struct plan *plan = relay_plan(p, m, p->platform,
		                               (enum flow_reach)(k / 2 % FLOW_REACHES),
		                               arena);
		struct tilemap from;
		struct text why = {0};

		if (plan) {
			ck_assert_msg(plan_check(plan, &why), "%s: %s",
			              case_describe(arena, p), why.s);
			ck_assert(plan_interpret(plan, arena, &wrong));
			from = tilemap_make(&p->from, &p->mesh, &p->array.shape, arena);
			for (int i = 0; i < plan->nsteps; i++)
				for (int64_t j = 0; j < plan->step[i].ntransfers; j++)
					late += !tilemap_has(
						&from, plan->step[i].transfers[j].src);
			n++;
		}
		text_free(&why);
		arena_reset(arena);
	}
	printf("%d plans between two meshes proved, %d boxes by devices without a tile\n",
	       n, late);
	ck_assert_int_gt(n, 70);
	ck_assert_int_gt(late, 100);
	rng_free(r);
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
	tcase_add_loop_test(c, broadcasts_use_all_links, 0, COUNT(broadcasts));
	tcase_add_test(c, random_flows);
	tcase_add_test(c, flows_are_plans);
	tcase_add_test(c, flows_between_meshes_are_plans);
	suite_add_tcase(suite, c);
	return suite;
}
