/*
 * Every hierarchy, axes, matrix and set of axes to reduce over of up to 32 devices, in
 * both orders: every program of up to five steps is executed on every device. Reductions
 * over four and five levels have 3,967 and 11,580 programs: these are run whole where each
 * axis is on one level of its own, in order, and by every 97th program elsewhere.
 */
#include "placement_help.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { DEVICES_MAX = 32, LEVELS_WHOLE = 3, PROCESSES = 2, TOLD_MAX = 20 };

struct run {
	int process;
	int64_t cases, programs, failures;
	struct synth_cache cache;
	struct arena *arena;
};

static void tell(struct run *r, const struct placed_case *c, const char *fault)
{
	struct text t = {0};

	if (r->failures++ >= TOLD_MAX)
		return;
	hierarchy_print(&t, &c->hierarchy);
	matrix_print(&t, &c->matrix);
	printf("%s reduce %x: %s\n", t.s, (unsigned)c->reduce, fault);
	text_free(&t);
}

/*
 * Is each axis on one level of its own, so that the case stands for its permutations?
 */
static bool is_first(const struct placed_case *c)
{
	for (int i = 0; i < c->matrix.naxes; i++)
		if (c->matrix.x[i][i] != c->axes.axis[i].size)
			return false;
	return true;
}

/* How many steps they begin with alike. */
static int alike(const struct program *x, const struct program *y)
{
	int n = 0;

	while (n < x->n && n < y->n &&
	       !memcmp(&x->step[n], &y->step[n], sizeof(x->step[n])))
		n++;
	return n;
}

/* Every program, or every `stride`th, from where it differs from the one before. */
static void run_programs(struct run *r, const struct placed_case *c,
                         const struct space *space, const struct synthesis *s,
                         int64_t stride)
{
	struct checker *checker = checker_new(&c->matrix, c->reduce, PROGRAM_STEPS);
	struct arena *scratch = arena_new();
	struct synth_walk walk = {.s = s};
	struct program before = {0};
	struct text why = {0};

	for (int64_t n = 0; synth_next(&walk); n++) {
		const struct program *p = &walk.program;
		struct reduction reduction;
		bool right = true;
		int i = alike(p, &before);

		if (n % stride)
			continue;
		arena_reset(scratch);
		reduction_of(&reduction, scratch, space, p);
		for (; i < p->n && right; i++)
			right = checker_step(checker, i, &reduction.step[i], &why);
		before = *p;
		if (!right)
			before.n = i - 1;
		if (!right || !checker_end(checker, p->n, &why))
			tell(r, c, why.s);
		why.length = 0;
		r->programs++;
	}
	text_free(&why);
	arena_free(scratch);
	checker_free(checker);
}

static void run_order(struct run *r, const struct placed_case *c, enum order order)
{
	const struct synthesis *s;
	struct error e = {0};
	struct space space;
	int64_t stride = 1;

	arena_reset(r->arena);
	space_collapsed(&space, r->arena, &c->hierarchy, &c->matrix, c->reduce, order);
	if (synth_cached(&s, &r->cache, &space.tree, PROGRAM_STEPS, (struct where){0},
	                 &e) != OK) {
		tell(r, c, e.text);
		return;
	}
	if (space.tree.nlevels - 1 > LEVELS_WHOLE && !is_first(c))
		stride = 97;
	run_programs(r, c, &space, s, stride);
}

static void visit(void *self, const struct placed_case *c)
{
	struct run *r = self;

	if (r->cases++ % PROCESSES != r->process)
		return;
	run_order(r, c, ORDER_ROW);
	if (c->reduce & (c->reduce - 1))
		run_order(r, c, ORDER_LEVEL);
}

static int run(int process)
{
	struct run r = {.process = process, .arena = arena_new()};

	r.cache.arena = arena_new();
	for (int32_t n = 2; n <= DEVICES_MAX; n++) {
		int64_t cases = r.cases, programs = r.programs;

		each_placement(n, visit, &r);
		printf("%d: %2d devices, of %lld cases %lld programs, %lld failures\n",
		       process, (int)n, (long long)(r.cases - cases),
		       (long long)(r.programs - programs), (long long)r.failures);
		fflush(stdout);
	}
	arena_free(r.cache.arena);
	arena_free(r.arena);
	return r.failures ? EXIT_FAILURE : EXIT_SUCCESS;
}

int main(void)
{
	int failed = 0;

	for (int process = 0; process < PROCESSES; process++) {
		pid_t child = fork();

		if (child == 0)
			exit(run(process));
		failed |= child < 0;
	}
	for (int process = 0; process < PROCESSES; process++) {
		int status;

		failed |= wait(&status) < 0 || status != 0;
	}
	printf("exhaust_placement: %s\n", failed ? "FAILED" : "all sums are right");
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
