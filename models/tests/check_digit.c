/* Digit plans: Theorem D, what they cover, and the ways out where digits change owners. */
#include "planner/planner.h"
#include "tests/plan_count.h"
#include "tests/tests.h"

#include "array/tile.h"
#include "digit_case.h"
#include "digit_elements.h"
#include "plan/check.h"
#include "plan/plan_text.h"
#include "xla_text.h"

#include <check.h>

#include <math.h>
#include <string.h>

extern const struct planner planner_digit, planner_synth;

static struct arena *memory;

static void make_memory(void)
{
	memory = arena_new();
}

static void free_memory(void)
{
	arena_free(memory);
}

/* The plan, NULL where the planner does not apply; the reason is then in *reason. */
static struct plan *run(const struct problem *p, const struct prices *prices,
                        const char **reason)
{
	struct plan *plan = NULL;
	struct text why = {0};
	enum answer answer = planner_run(&planner_digit, &plan, p, prices, memory, &why);

	if (reason)
		*reason = text_take(&why, memory);
	else
		text_free(&why);
	ck_assert_int_ne(answer, ANSWER_OVER_MEMORY);
	return answer == ANSWER_PLAN ? plan : NULL;
}

/* Every device receives what it lacks or more; the busiest is the one that is told. */
static void check_received(const struct plan *plan)
{
	const struct problem *p = plan->problem;
	const struct shape *g = &p->array.shape;
	struct tilemap from = tilemap_make(&p->from, &p->mesh, g, memory);
	struct tilemap to = tilemap_make(&p->to, &p->to_mesh, g, memory);
	int64_t *received, *real, most = 0;

	plan_count(plan, memory, &received, &real);
	for (int32_t d = 0; d < p->ndevices; d++) {
		int64_t lacks =
			tilemap_elements(&to, g, d) - tilemap_common(&from, &to, g, d);
		int64_t sum = 0;

		for (int i = 0; i < plan->nsteps; i++)
			sum += received[(int64_t)i * p->ndevices + d];
		ck_assert_int_ge(sum, lacks);
		most = sum > most ? sum : most;
	}
	ck_assert_int_eq(dtype_bytes(p->array.dtype, most), plan->recv_bytes);
}

/* The form of 10.1: at most one step of each kind, in this order. */
static void check_form(const struct plan *plan, bool owners)
{
	static const int turn[OPS] = {[OP_SLICE] = 0,
	                              [OP_EXCHANGE] = 1,
	                              [OP_PERMUTE] = 1,
	                              [OP_ALL_TO_ALL] = 1,
	                              [OP_ALL_GATHER] = 2};
	int count[OPS] = {0}, last = 0;

	for (int i = 0; i < plan->nsteps; i++) {
		enum op op = plan->step[i].op;

		ck_assert_int_ge(turn[op], last);
		last = turn[op];
		count[op]++;
	}
	ck_assert_int_le(count[OP_SLICE], 1);
	ck_assert_int_le(count[OP_ALL_TO_ALL], 1);
	ck_assert_int_le(count[OP_ALL_GATHER], 1);
	ck_assert_int_eq(count[OP_PERMUTE] + count[OP_EXCHANGE], owners);
	ck_assert_int_eq(plan->nsteps, count[OP_SLICE] + count[OP_ALL_TO_ALL] +
	                                       count[OP_ALL_GATHER] + owners);
}

/* Theorem D on an even problem: priced by bytes the bound is met, owners or not. */
static void check_theorem(const struct plan *plan)
{
	const struct problem *p = plan->problem;
	struct text why = {0};
	const char *text = digit_printed(plan, memory);

	ck_assert_msg(plan_check(plan, &why), "%s\n%s", why.s, text);
	ck_assert_msg(plan->recv_bytes == p->recv_bound_bytes, "%lld, bound %lld:\n%s",
	              (long long)plan->recv_bytes, (long long)p->recv_bound_bytes, text);
	ck_assert_int_eq(plan->peak_array_bytes, p->memory_bound_bytes);
	check_form(plan, digit_changes_owner(plan->problem));
	check_received(plan);
}

/* --- all pairs of whole-axis layouts ---------------------------------------------- */

/*
 * Independent of the planner: with axes of prime size the shard boundaries of a dimension
 * line up just if one list of sizes begins the other.
 */
static bool sizes_line_up(const struct mesh *m, const struct layout *from,
                          const struct layout *to)
{
	for (int dim = 0; dim < from->rank; dim++) {
		int n, k;
		const struct part *a = layout_parts(from, dim, &n);
		const struct part *b = layout_parts(to, dim, &k);

		for (int i = 0; i < n && i < k; i++)
			if (m->axis[a[i].axis].size != m->axis[b[i].axis].size)
				return false;
	}
	return true;
}

static const struct {
	const char *mesh;
	int rank;
	int64_t extent;
	bool prime, all; /* axes of prime size; every pair is covered */
} meshes[] = {
	{"2,4", 2, 8, false, true},    {"4,4", 2, 16, false, true},
	{"2,3", 2, 6, true, false},    {"2,2,2", 2, 8, true, true},
	{"3,2,2", 2, 12, true, false}, {"2,2", 3, 4, true, true},
	{"3,3", 1, 9, true, true},     {"6,2", 2, 12, false, false},
	{"2,3", 3, 6, true, false},    {"4,3", 2, 12, false, false},
};

START_TEST(whole_axis_pairs_meet_the_bound)
{
	struct mesh m = mesh_of(meshes[_i].mesh);
	struct layout *all = arena_alloc(memory, 400, sizeof(*all));
	int n = all_layouts(all, meshes[_i].rank, &m), covered = 0, owners = 0;
	struct arena *keep = memory;
	double sum = 0;

	ck_assert_int_le(n, 400);
	memory = arena_new();
	for (int i = 0; i < n * n; i++) {
		const struct layout *from = &all[i / n], *to = &all[i % n];
		struct array array = {.dtype = array_of("1").dtype,
		                      .shape.rank = meshes[_i].rank};
		const struct problem *p;
		struct plan *plan;

		for (int dim = 0; dim < meshes[_i].rank; dim++)
			array.shape.dim[dim] = meshes[_i].extent * (dim == 1 ? 3 : 1);
		p = problem_of(&array, &m, NULL, from, to, memory);
		plan = run(p, &prices_bytes, NULL);
		ck_assert(plan || !meshes[_i].all);
		if (meshes[_i].prime)
			ck_assert_int_eq(plan != NULL, sizes_line_up(&m, from, to));
		if (plan) {
			check_theorem(plan);
			owners += digit_changes_owner(plan->problem);
			if (p->recv_bound_bytes > 0)
				sum += log((double)plan->recv_bytes /
				           (double)p->recv_bound_bytes);
			covered++;
		}
		arena_reset(memory);
	}
	printf("%s rank %d: %d of %d pairs (%.1f %%), owner changes %.1f %%, "
	       "received over bound %.4f\n",
	       meshes[_i].mesh, meshes[_i].rank, covered, n * n,
	       100.0 * covered / n / n, 100.0 * owners / covered, exp(sum / covered));
	ck_assert(exp(sum / covered) <= 1.02);
	ck_assert_int_gt(covered, n);
	arena_free(memory);
	memory = keep;
}
END_TEST

/* --- random problems -------------------------------------------------------------- */

START_TEST(random_pairs_meet_the_bound)
{
	struct rng *r = rng_new(41 + (uint64_t)_i);
	int covered = 0, owners = 0, strided = 0;

	for (int k = 0; k < 400; k++) {
		struct problem *p = digit_problem(r, memory, 48, false);
		struct plan *plan = run(p, &prices_bytes, NULL);

		if (plan) {
			check_theorem(plan);
			covered++;
			owners += digit_changes_owner(plan->problem);
			strided += strstr(digit_printed(plan, memory), "]->[") != NULL;
		}
		arena_reset(memory);
	}
	ck_assert_int_gt(covered, 150);
	ck_assert_int_gt(owners, 50);
	ck_assert_int_gt(strided, 10);
	rng_free(r);
}
END_TEST

/* Padded to one shape: proven, never below what is lacked, padding charged. */
START_TEST(uneven_dimensions_run_padded)
{
	struct rng *r = rng_new(77 + (uint64_t)_i);
	int uneven = 0;

	for (int k = 0; k < 400; k++) {
		struct problem *p = digit_problem(r, memory, 24, true);
		struct plan *plan = run(p, &prices_bytes, NULL);
		struct text why = {0};

		if (plan) {
			ck_assert_msg(plan_check(plan, &why), "%s\n%s", why.s,
			              digit_printed(plan, memory));
			ck_assert(elements_prove(plan, memory));
			ck_assert_int_ge(plan->recv_bytes, p->recv_bound_bytes);
			check_form(plan, digit_changes_owner(plan->problem));
			uneven += !problem_even(p) && plan->nsteps > 0;
		}
		arena_reset(memory);
	}
	ck_assert_int_gt(uneven, 20);
	rng_free(r);
}
END_TEST

/* Real elements that a device has after a step and had not before, one by one. */
static int64_t new_elements(const struct problem *p, const struct held_elements *was,
                            const struct held_elements *is)
{
	struct held_elements both = {.tile.rank = 1};
	int64_t n = shape_elements(&is->tile);

	both.id = arena_alloc(memory, (size_t)n, sizeof(*both.id));
	for (int64_t i = 0; i < n; i++)
		for (int64_t k = 0; k < shape_elements(&was->tile); k++)
			if (was->id[k] == is->id[i])
				both.id[both.tile.dim[0]++] = is->id[i];
	return elements_real(is, p) - elements_real(&both, p);
}

/* Padding that a step receives is what its devices' elements say. */
START_TEST(padding_is_charged)
{
	struct rng *r = rng_new(99);
	int padded = 0, strided = 0;

	for (int k = 0; k < 400; k++) {
		struct problem *p = digit_problem(r, memory, 24, true);
		struct plan *plan = run(p, &prices_bytes, NULL);
		int64_t *received, *real;

		if (plan)
			plan_count(plan, memory, &received, &real);
		for (int i = 0; plan && i < plan->nsteps; i++) {
			const struct step *s = &plan->step[i];
			struct held_elements *was = elements_of_layout(
				plan_before(plan, i), &p->mesh, &plan->shape, memory);
			struct held_elements *is = elements_of_layout(
				&s->after, &p->mesh, &plan->shape, memory);
			int64_t most = 0;

			if (s->op == OP_PERMUTE || s->op == OP_EXCHANGE)
				continue;
			for (int32_t d = 0; d < p->ndevices; d++) {
				int64_t at = (int64_t)i * p->ndevices + d;
				int64_t padding = received[at] - real[at];

				ck_assert_int_eq(real[at],
				                 new_elements(p, &was[d], &is[d]));
				most = padding > most ? padding : most;
			}
			ck_assert_int_eq(s->padding_bytes, 4 * most);
			padded += most > 0;
			strided += most > 0 && plan->view;
		}
		arena_reset(memory);
	}
	ck_assert_int_gt(padded, 20);
	ck_assert_int_gt(strided, 5);
	rng_free(r);
}
END_TEST

/* --- ways to change owners -------------------------------------------------------- */

/* Prices that like one sequence of steps in the flat part and nothing else. */
static const char *const likes[] = {
	"permute,all-to-all,",  "all-to-all,permute,", "exchange,all-to-all,",
	"all-to-all,exchange,", "exchange,",
};

static struct price liking_plan(void *self, const struct plan *plan)
{
	struct text t = {0};
	struct price price = {.cost = 1};

	for (int i = 0; i < plan->nsteps; i++)
		if (plan->step[i].op != OP_SLICE && plan->step[i].op != OP_ALL_GATHER)
			text_printf(&t, "%s,", op_name(plan->step[i].op));
	if (t.s && strcmp(t.s, self) == 0)
		price.cost = 0.5;
	text_free(&t);
	return price;
}

START_TEST(prices_choose_how_owners_change)
{
	struct rng *r = rng_new(5);
	struct prices prices = {.self = (void *)(size_t)likes[_i], .plan = liking_plan};
	int chosen = 0;

	for (int k = 0; k < 600; k++) {
		struct problem *p = digit_problem(r, memory, 32, false);
		struct plan *plan = run(p, &prices, NULL);
		struct text why = {0};

		if (plan && digit_changes_owner(plan->problem)) {
			ck_assert_msg(plan_check(plan, &why), "%s\n%s", why.s,
			              digit_printed(plan, memory));
			ck_assert_int_eq(plan->peak_array_bytes, p->memory_bound_bytes);
			check_form(plan, true);
			check_received(plan);
			chosen += liking_plan(prices.self, plan).cost < 1;
		}
		arena_reset(memory);
	}
	ck_assert_int_gt(chosen, 20);
	rng_free(r);
}
END_TEST

/* --- by hand ---------------------------------------------------------------------- */

static const struct {
	const char *array, *mesh, *from, *to, *plan;
	int64_t recv_bytes;
} hand[] = {
	/* A strided layout receives 24 elements, where suffixes of dimensions need 28. */
	{"f32[8,8]", "x=2,y=2", "P(('y','x'))", "P(None,'y')",
         "all-to-all {y}: 0->1 => [8,8]->[2,4,8] P(None, 'x', 'y')\n"
         "all-gather {x}: 0-> => P(None, 'y')\n",
         4 * 24},
	/* example 3 with sizes 4 and 2: an exchange of 24, no all-to-all on top */
	{"f32[8,8]", "x=4,y=2", "P('x','y')", "P('y','x')", "exchange => P('y', 'x')\n",
         4 * 8},
	/* equal sizes: one permute, as cheap as an exchange */
	{"f32[8,8]", "x=2,y=2", "P('x','y')", "P('y','x')", "permute => P('y', 'x')\n",
         4 * 16},
	/* The major axis goes, the minor one stays: no suffix could. */
	{"f32[12]", "x=2,y=3", "P(('x','y'),)", "[{}]",
         "all-gather {x,y}: 0-> => P(None)\n", 4 * 10},
	{"f32[12,4]", "x=2,y=3", "P(('x','y'))", "[{},{\"x\"}]",
         "all-to-all {x}: 0->1 => [12,4]->[2,6,4] P(None, 'y', 'x')\n"
         "all-gather {y}: 0-> => P(None, 'x')\n",
         4 * (4 + 16)},
	/* A digit between two others moves within the dimension: x major to y minor. */
	{"f32[24]", "x=2,y=3", "P('x')", "[{\"x\",\"y\"}]",
         "slice {y}: ->0 => P(('x', 'y'))\n", 0},
	/* An axis of 6 cut as the other layout wants it: 3 then 2, and 2 then 3. */
	{"f32[12]", "x=6,y=3,z=2", "P('x')", "P(('y','z'),)",
         "permute => P(('y', 'z'))\n", 4 * 2},
	{"f32[12]", "x=6,y=3,z=2", "P('x')", "P(('z','y'),)",
         "permute => P(('z', 'y'))\n", 4 * 2},
};

START_TEST(plans_by_hand)
{
	struct problem *p = digit_texts(memory, hand[_i].array, hand[_i].mesh,
	                                hand[_i].from, hand[_i].to);
	const char *reason;
	struct plan *plan = run(p, &prices_bytes, &reason);

	ck_assert_msg(plan != NULL, "%s", reason);
	ck_assert_str_eq(digit_printed(plan, memory), hand[_i].plan);
	ck_assert_int_eq(plan->recv_bytes, hand[_i].recv_bytes);
	check_theorem(plan);
}
END_TEST

static const struct {
	const char *array, *mesh, *from, *to, *says;
} not_applicable[] = {
	{"f32[6]", "x=2,y=3", "P(('x','y'),)", "P(('y','x'),)",
         "dimension 0 is cut in radices that do not line up"},
	{"f32[6,6]", "x=2,y=3", "P(None,'x')", "P('x','y')",
         "dimension 1 is cut in radices that do not line up"},
	{"f32[6]", "x=6", "[{\"x\":(1)2}]", "[{\"x\":(1)3}]", "no common sub-axes"},
	{"f32[7]", "x=2,y=3", "P('x')", "P('y')", "pad a dimension differently"},
	{"f32[6]", "x=2,y=3", "P(unreduced={'x'})", "P('x')", "unreduced"},
	{"f32[6]", "x=2,y=2", "{maximal device=1}", "P('x')", "one device"},
	{"f32[4]", "x=4", "{devices=[4]0,3,1,2}", "P('x')", "device list"},
};

START_TEST(what_has_no_common_digits_is_not_applicable)
{
	struct problem *p =
		digit_texts(memory, not_applicable[_i].array, not_applicable[_i].mesh,
	                    not_applicable[_i].from, not_applicable[_i].to);
	const char *reason;

	ck_assert(run(p, &prices_bytes, &reason) == NULL);
	ck_assert_msg(strstr(reason, not_applicable[_i].says), "%s", reason);
}
END_TEST

/* 12 atoms of 4096 devices in rank 4, every one moving: few digits, no search. */
START_TEST(large_meshes_need_no_search)
{
	struct problem *p = digit_texts(memory, "f32[4096,4096,64,64]", "a=16,b=16,c=16",
	                                "P(('a','b'),'c')", "P('c',('b','a'))");
	struct plan *plan = run(p, &prices_bytes, NULL);
	struct text why = {0};

	ck_assert(plan != NULL);
	ck_assert_msg(plan_check(plan, &why), "%s", why.s);
	ck_assert_int_eq(plan->recv_bytes, p->recv_bound_bytes);
	ck_assert_int_le(plan->shape.rank, RANK_MAX);
}
END_TEST

/* Two meshes over the same devices: x=4 is a=2, b=2. */
START_TEST(meshes_may_differ)
{
	struct problem *p = arena_alloc(memory, 1, sizeof(*p));
	struct problem_text t = {.array = "f32[8,8]",
	                         .mesh = "x=4,y=2",
	                         .to_mesh = "a=2,b=4",
	                         .from = "P('x','y')",
	                         .to = "P('a','b')"};
	struct error e = {0};
	struct text why = {0};
	struct plan *plan;

	ck_assert_msg(problem_make(p, memory, &t, &e) == OK, "%s", e.text);
	plan = run(p, &prices_bytes, NULL);
	ck_assert(plan != NULL);
	ck_assert_str_eq(digit_printed(plan, memory),
	                 "exchange => [{\"x\":(1)2}, {\"x\":(2)2, \"y\"}]\n");
	ck_assert_msg(plan_check(plan, &why), "%s", why.s);
	ck_assert_int_eq(plan->recv_bytes, p->recv_bound_bytes);
	check_received(plan);
}
END_TEST

#define COUNT(a) ((int)(sizeof(a) / sizeof((a)[0])))

Suite *tests(void)
{
	Suite *suite = suite_create("digit");
	TCase *c = tcase_create("digit");

	tcase_add_checked_fixture(c, make_memory, free_memory);
	tcase_set_timeout(c, 60);
	tcase_add_loop_test(c, whole_axis_pairs_meet_the_bound, 0, COUNT(meshes));
	tcase_add_loop_test(c, random_pairs_meet_the_bound, 0, 3);
	tcase_add_loop_test(c, uneven_dimensions_run_padded, 0, 2);
	tcase_add_test(c, padding_is_charged);
	tcase_add_loop_test(c, prices_choose_how_owners_change, 0, COUNT(likes));
	tcase_add_loop_test(c, plans_by_hand, 0, COUNT(hand));
	tcase_add_loop_test(c, what_has_no_common_digits_is_not_applicable, 0,
	                    COUNT(not_applicable));
	tcase_add_test(c, large_meshes_need_no_search);
	tcase_add_test(c, meshes_may_differ);
	suite_add_tcase(suite, c);
	return suite;
}
