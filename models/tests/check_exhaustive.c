/*
 * The whole domain on small instances: every ordered pair of whole-axis layouts, every
 * planner of the registry. Plans must prove right, keep their promises of memory and
 * bytes, and `synth` must not be beaten in received bytes within its memory bound by the
 * planners that use whole axes or its normal form. `best` is beaten by nobody in price.
 * Of problems that differ by the names of equal axes only one goes to every planner.
 */
#include "planner_case.h"
#include "tests/tests.h"

#include "plan/check.h"

#include <check.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct instance {
	int mesh[4];
	int rank;
	bool one_prime;
};

static const struct instance instances[] = {
	{{2, 2}, 2, true},    {{2, 2}, 3, true},    {{2, 3}, 2, false},
	{{2, 3}, 3, false},   {{4, 2}, 2, true},    {{4, 2}, 3, true},
	{{2, 2, 2}, 2, true}, {{2, 2, 2}, 3, true}, {{2, 2, 3}, 2, false},
	{{6, 4}, 2, false},   {{4, 2, 4}, 2, true}, {{3, 9}, 3, true},
};

struct counts {
	int problems, classes, plans, not_applicable, lost;
};

static bool in_normal_form(const char *name)
{
	return strcmp(name, "synth") == 0 || strcmp(name, "synth-rewrite") == 0;
}

/* Exchanges, strided tiles and gathers put off can receive less than any of `synth`. */
static bool is_rival(const char *name)
{
	return strcmp(name, "gather") == 0 || strcmp(name, "synth-rewrite") == 0 ||
	       strcmp(name, "xla-2021") == 0;
}

/* Plan with one planner; NULL where it is not applicable. */
static struct plan *plan_with(const struct planner *planner, const struct problem *p,
                              struct arena *a, struct counts *counts)
{
	struct text why = {0};
	struct plan *plan = NULL;
	enum answer answer = planner_run(planner, &plan, p, &prices_bytes, a, &why);

	if (answer == ANSWER_NOT_APPLICABLE) {
		ck_assert_msg(why.length > 0, "%s: no reason", planner->name);
		counts->not_applicable++;
		text_free(&why);
		return NULL;
	}
	ck_assert_int_eq(answer, ANSWER_PLAN);
	counts->plans++;
	ck_assert_msg(plan_check(plan, &why), "%s: %s: %s", planner->name,
	              case_describe(a, p), why.s);
	ck_assert_msg(plan->recv_bytes >= p->recv_bound_bytes, "%s: %s", planner->name,
	              case_describe(a, p));
	if (in_normal_form(planner->name))
		ck_assert_msg(plan->peak_array_bytes <= p->memory_bound_bytes, "%s: %s",
		              planner->name, case_describe(a, p));
	text_free(&why);
	return plan;
}

static void not_dearer(const struct plan *best, const struct plan *other,
                       struct arena *a)
{
	struct price b = prices_bytes.plan(NULL, best);

	ck_assert_msg(price_compare(b, prices_bytes.plan(NULL, other)) <= 0,
	              "best is beaten by %s: %s", other->planner,
	              case_describe(a, other->problem));
}

/* Equal axes appear in their order, first in the source, then in the target. */
static bool is_representative(const struct mesh *m, const struct type *from,
                              const struct type *to)
{
	int first[ATOMS_MAX], n = 0;

	for (int i = 0; i < m->naxes; i++)
		first[i] = INT_MAX;
	for (int i = 0; i < type_first(from, from->rank); i++)
		if (first[from->atom[i]] == INT_MAX)
			first[from->atom[i]] = n++;
	for (int i = 0; i < type_first(to, to->rank); i++)
		if (first[to->atom[i]] == INT_MAX)
			first[to->atom[i]] = n++;
	for (int i = 0; i < m->naxes; i++)
		for (int k = i + 1; k < m->naxes; k++)
			if (m->axis[i].size == m->axis[k].size && first[i] > first[k])
				return false;
	return true;
}

/* `best` is NULL where only the rivals of `synth` are asked. */
static void run_problem(const struct instance *instance, const struct problem *p,
                        struct arena *a, struct counts *counts, const struct plan *best)
{
	const struct planner *planner = planner_find("synth", strlen("synth"));
	struct plan *synth = plan_with(planner, p, a, counts);

	ck_assert_ptr_nonnull(synth);
	if (best)
		not_dearer(best, synth, a);
	counts->problems++;
	for (int i = 0; planners[i]; i++) {
		bool rival = is_rival(planners[i]->name);
		struct plan *plan;

		if (planners[i] == planner || strcmp(planners[i]->name, "best") == 0 ||
		    (!best && !rival))
			continue;
		plan = plan_with(planners[i], p, a, counts);
		if (plan && best)
			not_dearer(best, plan, a);
		if (!plan || !rival || plan->peak_array_bytes > p->memory_bound_bytes ||
		    plan->recv_bytes >= synth->recv_bytes)
			continue;
		printf("beaten by %s, %lld < %lld bytes: %s\n", planners[i]->name,
		       (long long)plan->recv_bytes, (long long)synth->recv_bytes,
		       case_describe(a, p));
		ck_assert(!instance->one_prime);
		counts->lost++;
	}
}

START_TEST(test_all_pairs)
{
	const struct instance *instance = &instances[_i];
	struct arena *kept = arena_new(), *a = arena_new();
	struct mesh mesh = case_mesh(kept, instance->mesh);
	struct shape extent = {.rank = instance->rank};
	struct counts counts = {0};
	struct layout *layout;
	struct type *type;
	struct atoms whole = {.n = mesh.naxes};
	int n;

	/* Types of whole axes: an "atom" per axis, whatever its size. */
	for (int i = 0; i < mesh.naxes; i++)
		whole.atom[i] = (struct atom){.stride = (int32_t)mesh_stride(&mesh, i),
		                              .size = mesh.axis[i].size};
	for (int dim = 0; dim < extent.rank; dim++)
		extent.dim[dim] = mesh.ndevices * (2 * dim + 1);
	n = case_types(&type, &whole, extent.rank);
	layout = xmalloc((size_t)n, sizeof(*layout));
	for (int i = 0; i < n; i++)
		ck_assert(layout_of_type(&layout[i], &type[i], &whole, &mesh));
	for (int i = 0; i < n; i++) {
		for (int j = 0; j < n; j++) {
			struct problem *p;
			struct plan *best;

			if (i == j)
				continue;
			p = case_of_layouts(a, &mesh, &extent, &layout[i], &layout[j]);
			best = NULL;
			if (is_representative(&mesh, &type[i], &type[j])) {
				best = plan_with(planner_find("best", 4), p, a, &counts);
				ck_assert_ptr_nonnull(best);
				counts.classes++;
			}
			run_problem(instance, p, a, &counts, best);
			arena_reset(a);
		}
	}
	printf("%d devices, rank %d: %d problems, %d of them to every planner, %d "
	       "plans, "
	       "%d not applicable, %d losing pairs\n",
	       mesh.ndevices, extent.rank, counts.problems, counts.classes,
	       counts.plans, counts.not_applicable, counts.lost);
	free(layout);
	free(type);
	arena_free(a);
	arena_free(kept);
}
END_TEST

Suite *tests(void)
{
	Suite *suite = suite_create("exhaustive");
	TCase *pairs = tcase_create("pairs");

	tcase_set_timeout(pairs, 300);
	tcase_add_loop_test(pairs, test_all_pairs, 0,
	                    sizeof(instances) / sizeof(instances[0]));
	suite_add_tcase(suite, pairs);
	return suite;
}
