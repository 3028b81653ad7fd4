/*
 * How much `best` gains: on a sample of pairs of layouts, per platform, against every
 * other planner and the lower bounds. Printed; what is asserted is that it never loses
 * and that all its plans are right.
 */
#include "planner_case.h"
#include "tests/tests.h"

#include "bound/bound.h"
#include "plan/check.h"
#include "plan/plan_text.h"
#include "price/price.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static const struct link ici = {.bandwidth_Bps = 45e9, .latency_s = 1e-6};
static const struct link nvlink = {.bandwidth_Bps = 235e9, .latency_s = 0.475e-6};
static const struct link nic = {.bandwidth_Bps = 24e9, .latency_s = 1.25e-6};
static const struct device tpu = {.memory_Bps = 1.2e12, .launch_s = 3.55e-6};
static const struct device gpu = {.memory_Bps = 2e12, .launch_s = 5e-6};

struct platform {
	const char *name;
	int naxes; /* 0: GPUs */
	int32_t shape[3];
	bool wrap;
};

static const struct platform platforms[] = {
	{"torus 4x4x4", 3, {4, 4, 4}, true},
	{"torus 16x16", 2, {16, 16}, true},
	{"torus 4x8, no wrap", 2, {4, 8}, false},
	{"gpu 4x8", 0, {4, 8}, false},
	{"bytes", 0, {0}, false},
};

static const int meshes[][4] = {{2, 4}, {4, 4}, {2, 3}, {2, 2, 2}, {4, 4, 4}};

enum { PLANNERS_MAX = 24, MESHES = sizeof(meshes) / sizeof(meshes[0]) };

static struct machine *machine_of(const struct platform *p, struct arena *a)
{
	const bool wrap[] = {p->wrap, p->wrap, p->wrap};

	if (p->naxes == 0)
		return machine_gpu(a, p->shape[0], p->shape[1], nvlink, nic, gpu);
	return machine_torus(a, p->naxes, p->shape, wrap, ici, tpu);
}

struct tally {
	int problems, wins, without_exchange;
	double log_gain, log_over_bound, log_bytes;
	double slowest_s, total_s; /* planning */
	int n[PLANNERS_MAX];
	double log_ratio[PLANNERS_MAX]; /* of each planner's price to that of best */
	struct {
		double over_bound;
		char text[600];
	} worst;
};

static double cost_of(const struct plan *p, const struct prices *prices)
{
	return prices->plan(prices->self, p).cost;
}

static bool has_exchange(const struct plan *p)
{
	for (int i = 0; i < p->nsteps; i++)
		if (p->step[i].op == OP_EXCHANGE)
			return true;
	return false;
}

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static struct plan *plan_with(const struct planner *planner, const struct problem *p,
                              const struct prices *prices, struct arena *a)
{
	struct text why = {0};
	struct plan *plan = NULL;
	enum answer answer = planner_run(planner, &plan, p, prices, a, &why);

	if (answer == ANSWER_PLAN && strcmp(planner->name, "best") == 0)
		ck_assert_msg(plan_check(plan, &why), "%s: %s", case_describe(a, p),
		              why.s);
	text_free(&why);
	return answer == ANSWER_PLAN ? plan : NULL;
}

/* `bound`: what no plan can be cheaper than. */
static void compare(struct tally *t, const struct problem *p,
                    const struct prices *prices, double bound, struct arena *a)
{
	double start_s = now_s(), least = INFINITY, mine, took_s;
	const struct planner *best = planner_find("best", strlen("best"));
	struct plan *plan = plan_with(best, p, prices, a);

	ck_assert_ptr_nonnull(plan);
	took_s = now_s() - start_s;
	t->slowest_s = fmax(t->slowest_s, took_s);
	t->total_s += took_s;
	mine = cost_of(plan, prices);
	if (mine == 0)
		return;
	t->problems++;
	for (int i = 0; planners[i]; i++) {
		struct plan *other = planners[i] == best
		                             ? plan
		                             : plan_with(planners[i], p, prices, a);
		double cost;

		if (!other)
			continue;
		cost = cost_of(other, prices);
		ck_assert_msg(mine <= cost * (1 + 1e-9), "%s: %s", planners[i]->name,
		              case_describe(a, p));
		t->n[i]++;
		t->log_ratio[i] += log(cost / mine);
		if (planners[i] != best)
			least = fmin(least, cost);
	}
	t->wins += mine < least * (1 - 1e-9);
	t->log_gain += log(least / mine);
	ck_assert(bound <= mine * (1 + 1e-9));
	if (bound > 0)
		t->log_over_bound += log(mine / bound);
	if (!has_exchange(plan) && p->recv_bound_bytes > 0) {
		t->without_exchange++;
		t->log_bytes +=
			log((double)plan->recv_bytes / (double)p->recv_bound_bytes);
	}
	if (bound > 0 && mine / bound > t->worst.over_bound) {
		struct text s = {0};

		t->worst.over_bound = mine / bound;
		plan_print_line(&s, plan);
		snprintf(t->worst.text, sizeof(t->worst.text), "%s: %s",
		         case_describe(a, p), s.s);
		text_free(&s);
	}
}

static void print_tally(const struct tally *t, const char *name)
{
	double n = t->problems;

	printf("%s: %d problems, best strictly cheaper than all others in %.1f %%, by "
	       "a "
	       "geometric mean of %.3f over the best of them; %.3f of the bound; "
	       "planned in %.1f ms, slowest %.1f\n",
	       name, t->problems, 100 * t->wins / n, exp(t->log_gain / n),
	       exp(t->log_over_bound / n), 1e3 * t->total_s / n, 1e3 * t->slowest_s);
	for (int i = 0; planners[i]; i++)
		if (t->n[i])
			printf("  %-16s %4d plans, %.3f times best\n", planners[i]->name,
			       t->n[i], exp(t->log_ratio[i] / t->n[i]));
	printf("  %d plans without exchange receive %.3f times the bound; worst: %.2f "
	       "%s\n",
	       t->without_exchange, exp(t->log_bytes / t->without_exchange),
	       t->worst.over_bound, t->worst.text);
}

/* A pair of types of a mesh: whole axes, or in one of two cases sub-axes. */
static struct problem *sample(struct rng *r, const struct mesh *m, bool whole_axes,
                              struct arena *a)
{
	struct atoms atoms = case_atoms(m);
	struct shape extent = {.rank = 2 + (int)rng_below(r, 2)};
	struct type from, to;
	struct layout f, t;

	extent.dim[0] = extent.rank == 2 ? 3 * 2048 : 192;
	extent.dim[1] = extent.rank == 2 ? 3 * 1024 : 3 * 64;
	extent.dim[2] = 3 * 128;
	if (whole_axes) {
		atoms = (struct atoms){.n = m->naxes};
		for (int i = 0; i < m->naxes; i++)
			atoms.atom[i] = (struct atom){(int32_t)mesh_stride(m, i),
			                              m->axis[i].size};
	}
	from = case_random_type(r, &atoms, &extent, 65);
	to = case_random_type(r, &atoms, &extent, 65);
	ck_assert(layout_of_type(&f, &from, &atoms, m));
	ck_assert(layout_of_type(&t, &to, &atoms, m));
	return case_of_layouts(a, m, &extent, &f, &t);
}

START_TEST(test_gain)
{
	const struct platform *platform = &platforms[_i];
	struct arena *kept = arena_new(), *a = arena_new();
	bool in_bytes = strcmp(platform->name, "bytes") == 0;
	struct machine *m = in_bytes ? NULL : machine_of(platform, kept);
	struct pricer *pricer = in_bytes ? NULL : pricer_new(m, NULL);
	struct prices prices = in_bytes ? prices_bytes : pricer_prices(pricer);
	struct rng *r = rng_new(29);
	struct tally t = {0};

	for (int i = 0; i < 2 * 40; i++) {
		struct mesh mesh = case_mesh(a, meshes[i % MESHES]);
		struct problem *p = sample(r, &mesh, i / MESHES % 2, a);

		if (in_bytes || mesh.ndevices <= m->ndevices)
			compare(&t, p, &prices,
			        in_bytes ? (double)p->recv_bound_bytes
			                 : bound_s(p, m, NULL),
			        a);
		arena_reset(a);
	}
	print_tally(&t, platform->name);
	rng_free(r);
	pricer_free(pricer);
	arena_free(a);
	arena_free(kept);
}
END_TEST

Suite *tests(void)
{
	Suite *suite = suite_create("best_gain");
	TCase *gain = tcase_create("gain");

	tcase_set_timeout(gain, 300);
	tcase_add_loop_test(gain, test_gain, 0,
	                    sizeof(platforms) / sizeof(platforms[0]));
	suite_add_tcase(suite, gain);
	return suite;
}
