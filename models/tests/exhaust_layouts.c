/*
 * Every pair of whole-axis layouts of rank 1 to 3 on every mesh of up to 16 devices
 * with axes of 2, 3 and 4, with every planner of the registry. Each plan is interpreted,
 * normal forms must stay within max(source tile, target tile), no plan may receive less
 * or be faster than the bounds, and an answer without a plan must have a reason.
 *
 * Axes of equal size can be renamed, on both sides at once. The first pair of each such
 * class is planned by everyone, priced by bytes and by the clock `model` on two
 * machines, and `best` may lose to nobody. The other pairs are planned by all but
 * `best`, priced by bytes: there are planners that look at the order of the axes.
 */
#include "planner_case.h"

#include "bound/bound.h"
#include "bound_machine.h"
#include "plan/check.h"
#include "plan/vocabulary.h"
#include "price/price.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
	DEVICES_MAX = 16,
	AXES_MAX = 4,
	RENAMINGS_MAX = 24,
	PLANNERS_MAX = 32,
	PROCESSES = 2,
	TARIFFS = 3, /* bytes, torus, nodes */
	TOLD_MAX = 20
};

/* What one process has found; shared with its parent. */
struct found {
	int64_t pairs, classes, failures;
	struct tally {
		int64_t plans, not_applicable;
		double cpu_s;
	} of[PLANNERS_MAX];
};

struct tariff_of {
	const char *name;
	const struct machine *machine; /* NULL: received bytes */
	struct model *model;
	struct prices prices;
	double bound_s;
};

struct run {
	struct tariff_of tariff[TARIFFS];
	struct found *found;
	int process;
	int64_t npairs;
};

/* The layouts of one rank on one mesh, and what renaming equal axes makes of them. */
struct layouts {
	int n, nrenamings;
	struct type *type;
	struct layout *layout;
	int *image[RENAMINGS_MAX]; /* [n] the number of the renamed layout */
};

static void __attribute__((format(printf, 4, 5)))
fail(struct run *run, const struct problem *p, const char *who, const char *fmt, ...)
{
	struct arena *a;
	va_list args;

	if (run->found->failures++ >= TOLD_MAX)
		return;
	a = arena_new();
	printf("%s: ", who);
	va_start(args, fmt);
	vprintf(fmt, args);
	va_end(args);
	printf(": %s\n", case_describe(a, p));
	fflush(stdout);
	arena_free(a);
}

static bool in_normal_form(const char *name)
{
	return strcmp(name, "synth") == 0 || strcmp(name, "synth-rewrite") == 0;
}

static void check_bounds(struct run *run, const struct plan *plan)
{
	const struct problem *p = plan->problem;
	char message[200];

	if (plan->recv_bytes < p->recv_bound_bytes)
		fail(run, p, plan->planner, "receives %lld bytes of at least %lld",
		     (long long)plan->recv_bytes, (long long)p->recv_bound_bytes);
	if (in_normal_form(plan->planner) &&
	    plan->peak_array_bytes > p->memory_bound_bytes)
		fail(run, p, plan->planner, "holds %lld bytes of at most %lld",
		     (long long)plan->peak_array_bytes,
		     (long long)p->memory_bound_bytes);
	for (int i = 1; i < TARIFFS; i++) {
		const struct tariff_of *t = &run->tariff[i];
		double time_s = plan_seconds(NULL, plan, t->machine, NULL, model_clock,
		                             t->model, message, sizeof(message));

		if (time_s < 0)
			fail(run, p, plan->planner, "no time on %s: %s", t->name,
			     message);
		else if (time_s < t->bound_s * (1 - 1e-9))
			fail(run, p, plan->planner, "%.17g s of at least %.17g on %s",
			     time_s, t->bound_s, t->name);
	}
}

/* A checked plan of one planner under one tariff; NULL where it is not applicable. */
static struct plan *plan_with(struct run *run, const struct planner *planner,
                              const struct problem *p, const struct tariff_of *tariff,
                              struct tally *tally)
{
	struct text why = {0};
	struct plan *plan = NULL;
	enum answer answer =
		planner_run(planner, &plan, p, &tariff->prices, p->arena, &why);

	if (answer == ANSWER_PLAN) {
		tally->plans++;
		if (!plan_check(plan, &why))
			fail(run, p, planner->name, "%s", why.s);
		check_bounds(run, plan);
	} else {
		tally->not_applicable++;
		if (answer != ANSWER_NOT_APPLICABLE || why.length == 0)
			fail(run, p, planner->name, "answer %d, '%s'", (int)answer,
			     why.s ? why.s : "");
		plan = NULL;
	}
	text_free(&why);
	return plan;
}

/* What the planners answered to one problem under one tariff. */
struct answers {
	bool has[PLANNERS_MAX], portable[PLANNERS_MAX];
	struct price price[PLANNERS_MAX];
};

/* Checks that the plan of planner `best`, if there is one, is dearer than no other. */
static void check_unbeaten(struct run *run, const struct problem *p,
                           const struct answers *answers, const bool *has, int best,
                           const char *tariff)
{
	for (int i = 0; planners[i]; i++) {
		if (!has[i] || (has[best] && price_compare(answers->price[i],
		                                           answers->price[best]) >= 0))
			continue;
		fail(run, p, planners[best]->name, "beaten by %s on %s",
		     planners[i]->name, tariff);
		return;
	}
}

static void run_tariff(struct run *run, const struct problem *p,
                       const struct tariff_of *tariff, bool with_best)
{
	struct answers answers = {0};

	for (int i = 0; planners[i]; i++) {
		struct tally *tally = &run->found->of[i];
		clock_t start = clock();
		struct plan *plan = NULL;

		if (with_best || strncmp(planners[i]->name, "best", 4) != 0)
			plan = plan_with(run, planners[i], p, tariff, tally);
		answers.has[i] = plan;
		answers.portable[i] = plan && !plan_not_portable(plan);
		if (plan)
			answers.price[i] =
				tariff->prices.plan(tariff->prices.self, plan);
		tally->cpu_s += (double)(clock() - start) / CLOCKS_PER_SEC;
	}
	for (int i = 0; planners[i] && with_best; i++) {
		if (strcmp(planners[i]->name, "best") == 0)
			check_unbeaten(run, p, &answers, answers.has, i, tariff->name);
		if (strcmp(planners[i]->name, "best-portable") == 0)
			check_unbeaten(run, p, &answers, answers.portable, i,
			               tariff->name);
	}
}

static void run_problem(struct run *run, const struct problem *p, bool first)
{
	for (int i = 1; i < TARIFFS; i++)
		run->tariff[i].bound_s = bound_s(p, run->tariff[i].machine, NULL);
	for (int i = 0; i < (first ? TARIFFS : 1); i++)
		run_tariff(run, p, &run->tariff[i], first);
	run->found->pairs++;
	run->found->classes += first;
}

/* --- layouts and their classes --- */

/* t with every axis renamed; digit order within dimensions stays. */
static struct type renamed(const struct type *t, const int *to)
{
	struct type out = *t;
	int n = type_first(t, t->rank);

	for (int k = 0; k < n; k++)
		out.atom[k] = (uint8_t)to[t->atom[k]];
	return out;
}

/* All renamings from axis `axis` on; `to` holds those of the axes before it. */
static void add_renamings(struct layouts *x, const struct mesh *m, int *to, int axis)
{
	int *image;

	if (axis < m->naxes) {
		for (int i = 0; i < m->naxes; i++) {
			bool taken = m->axis[i].size != m->axis[axis].size;

			for (int k = 0; k < axis; k++)
				taken = taken || to[k] == i;
			if (taken)
				continue;
			to[axis] = i;
			add_renamings(x, m, to, axis + 1);
		}
		return;
	}
	image = xmalloc((size_t)x->n, sizeof(*image));
	for (int i = 0; i < x->n; i++) {
		struct type t = renamed(&x->type[i], to);

		for (image[i] = 0; memcmp(&x->type[image[i]], &t, sizeof(t)) != 0;)
			image[i]++;
	}
	x->image[x->nrenamings++] = image;
}

static void layouts_make(struct layouts *x, const struct mesh *m, int rank)
{
	struct atoms whole = {.n = m->naxes};
	int to[AXES_MAX];

	/* Types of whole axes: an "atom" per axis, whatever its size. */
	for (int i = 0; i < m->naxes; i++)
		whole.atom[i] = (struct atom){.stride = (int32_t)mesh_stride(m, i),
		                              .size = m->axis[i].size};
	*x = (struct layouts){0};
	x->n = case_types(&x->type, &whole, rank);
	x->layout = xmalloc((size_t)x->n, sizeof(*x->layout));
	for (int i = 0; i < x->n; i++)
		if (!layout_of_type(&x->layout[i], &x->type[i], &whole, m))
			abort();
	add_renamings(x, m, to, 0);
}

static void layouts_free(struct layouts *x)
{
	for (int i = 0; i < x->nrenamings; i++)
		free(x->image[i]);
	free(x->layout);
	free(x->type);
}

/* Whether the pair is the first of its class. */
static bool is_first(const struct layouts *x, int from, int to)
{
	for (int i = 0; i < x->nrenamings; i++) {
		int f = x->image[i][from], t = x->image[i][to];

		if (f < from || (f == from && t < to))
			return false;
	}
	return true;
}

/* This process' share of the pairs of one rank on one mesh. */
static void run_mesh(struct run *run, const struct mesh *m, int rank)
{
	struct arena *a = arena_new();
	static const int64_t scale[] = {1, 1000000, 1000, 100};
	struct shape extent = {.rank = rank};
	struct layouts x;

	/*
	 * Every dimension can be cut by all axes; their extents differ, and the array is
	 * large enough for bytes to outweigh latencies and launches.
	 */
	for (int dim = 0; dim < rank; dim++)
		extent.dim[dim] = m->ndevices * scale[rank] * (2 * dim + 1);
	layouts_make(&x, m, rank);
	for (int i = 0; i < x.n; i++)
		for (int j = 0; j < x.n; j++) {
			if (i == j || run->npairs++ % PROCESSES != run->process)
				continue;
			run_problem(run,
			            case_of_layouts(a, m, &extent, &x.layout[i],
			                            &x.layout[j]),
			            is_first(&x, i, j));
			arena_reset(a);
		}
	layouts_free(&x);
	arena_free(a);
}

/* --- meshes --- */

/* The mesh of `sizes` and every one with more axes behind; the largest first. */
static void run_meshes(struct run *run, int *sizes, int n, int ndevices)
{
	struct arena *a = arena_new();

	for (int size = 4; size >= 2 && n < AXES_MAX; size--) {
		sizes[n] = size;
		if (ndevices * size <= DEVICES_MAX)
			run_meshes(run, sizes, n + 1, ndevices * size);
	}
	sizes[n] = 0;
	for (int rank = 1; rank <= 3 && n > 0; rank++) {
		struct mesh m = case_mesh(a, sizes);
		int64_t before = run->npairs;

		run_mesh(run, &m, rank);
		if (run->process > 0)
			continue;
		for (int i = 0; i < n; i++)
			printf("%s%d", i ? "x" : "mesh ", sizes[i]);
		printf(", rank %d: %lld pairs\n", rank,
		       (long long)(run->npairs - before));
		fflush(stdout);
	}
	arena_free(a);
}

static int run_all(struct found *found, int process)
{
	static const int32_t shape[] = {4, 4};
	static const bool wrap[] = {true, true};
	struct arena *a = arena_new();
	struct run run = {.found = found, .process = process};
	struct pricer *pricer[TARIFFS] = {NULL};
	int sizes[AXES_MAX + 1];

	run.tariff[0] = (struct tariff_of){.name = "bytes", .prices = prices_bytes};
	run.tariff[1].name = "a 4x4 torus";
	run.tariff[1].machine =
		machine_torus(a, 2, shape, wrap, bound_ici, bound_device);
	run.tariff[2].name = "4 nodes of 4";
	run.tariff[2].machine =
		machine_gpu(a, 4, 4, bound_nvlink, bound_nic, bound_device);
	for (int i = 1; i < TARIFFS; i++) {
		pricer[i] = pricer_new(run.tariff[i].machine, NULL);
		run.tariff[i].prices = pricer_prices(pricer[i]);
		run.tariff[i].model = model_new(run.tariff[i].machine);
	}
	run_meshes(&run, sizes, 0, 1);
	for (int i = 1; i < TARIFFS; i++) {
		model_free(run.tariff[i].model);
		pricer_free(pricer[i]);
	}
	arena_free(a);
	return 0;
}

static void add(struct found *sum, const struct found *part)
{
	sum->classes += part->classes;
	sum->pairs += part->pairs;
	sum->failures += part->failures;
	for (int i = 0; i < PLANNERS_MAX; i++) {
		sum->of[i].plans += part->of[i].plans;
		sum->of[i].not_applicable += part->of[i].not_applicable;
		sum->of[i].cpu_s += part->of[i].cpu_s;
	}
}

static int report(const struct found *sum)
{
	printf("\n%lld pairs of layouts; %lld classes under renaming equal axes, each "
	       "with %d price tables\n%-16s %10s %14s %10s\n",
	       (long long)sum->pairs, (long long)sum->classes, TARIFFS, "planner",
	       "plans", "not applicable", "CPU s");
	for (int i = 0; planners[i]; i++)
		printf("%-16s %10lld %14lld %10.1f\n", planners[i]->name,
		       (long long)sum->of[i].plans,
		       (long long)sum->of[i].not_applicable, sum->of[i].cpu_s);
	printf("%lld failures\n", (long long)sum->failures);
	return sum->failures > 0 || sum->classes == 0;
}

int main(void)
{
	struct found *found =
		mmap(NULL, PROCESSES * sizeof(*found), PROT_READ | PROT_WRITE,
	             MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct found sum = {0};
	int bad = 0;

	if (found == MAP_FAILED)
		return 1;
	for (int i = 0; i < PROCESSES; i++) {
		pid_t child = fork();

		if (child == 0)
			exit(run_all(&found[i], i));
		bad += child < 0;
	}
	for (int i = 0; i < PROCESSES; i++) {
		int status = 0;

		bad += wait(&status) < 0 || !WIFEXITED(status) ||
		       WEXITSTATUS(status) != 0;
	}
	/* Now that all have ended, in whatever order. */
	for (int i = 0; i < PROCESSES; i++)
		add(&sum, &found[i]);
	if (bad)
		printf("a process has failed\n");
	return report(&sum) || bad;
}
