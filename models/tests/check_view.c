/*
 * Plans over digits: the interpreter against one that moves elements, on right and broken
 * plans.
 */
#include "plan/view.h"
#include "tests/tests.h"

#include "digit_case.h"
#include "digit_elements.h"
#include "plan/exchange.h"

#include <check.h>

#include <string.h>

static struct arena *memory;

static void make_memory(void)
{
	memory = arena_new();
}

static void free_memory(void)
{
	arena_free(memory);
}

START_TEST(right_plans_are_proven)
{
	struct rng *r = rng_new(11 + (uint64_t)_i);
	int count[OPS] = {0};

	for (int k = 0; k < 500; k++) {
		struct plan *p = digit_random_plan(r, memory, _i);
		const char *reason;

		if (p) {
			ck_assert(elements_prove(p, memory));
			ck_assert_msg(digit_proven(p, memory, &reason), "%s\n%s",
			              reason, digit_printed(p, memory));
			for (int i = 0; i < p->nsteps; i++)
				count[p->step[i].op]++;
		}
		arena_reset(memory);
	}
	ck_assert_int_gt(count[OP_SLICE], 30);
	ck_assert_int_gt(count[OP_ALL_TO_ALL], 30);
	ck_assert_int_gt(count[OP_ALL_GATHER], 30);
	ck_assert_int_gt(count[OP_PERMUTE], 30);
	ck_assert_int_gt(count[OP_EXCHANGE] + 100 * _i, 30);
	rng_free(r);
}
END_TEST

/* --- broken plans ----------------------------------------------------------------- */

static int pick(struct rng *r, int64_t n)
{
	return (int)rng_below(r, (uint32_t)n);
}

static void swap_ids(struct rng *r, struct step *s)
{
	int64_t n = (int64_t)s->groups.ngroups * s->groups.size;
	int32_t *ids = arena_dup(memory, s->groups.ids, (size_t)n, sizeof(*ids));
	int i = pick(r, n), k = pick(r, n);
	int32_t id = ids[i];

	ids[i] = ids[k];
	ids[k] = id;
	s->groups.ids = ids;
}

static void break_move(struct rng *r, const struct plan *p, struct step *s)
{
	struct move *m = arena_dup(memory, s->move, (size_t)s->nmoves, sizeof(*m));
	int k = pick(r, s->nmoves), other = pick(r, s->nmoves), dim;

	switch (pick(r, 3)) {
	case 0: /* two moves change their targets, or a move its dimension */
		dim = m[k].to_dim;
		m[k].to_dim = m[other].to_dim;
		m[other].to_dim = dim;
		break;
	case 1:
		if (m[k].from_dim >= 0)
			m[k].from_dim = pick(r, p->shape.rank);
		break;
	default:
		if (m[k].to_dim >= 0)
			m[k].to_dim = pick(r, p->shape.rank);
	}
	s->move = m;
}

static void break_chunk(struct rng *r, const struct plan *p, struct step *s)
{
	size_t n = (size_t)p->problem->ndevices * (size_t)s->nmoves;
	int32_t *chunk = arena_dup(memory, s->chunk, n, sizeof(*chunk));
	int k = pick(r, (int64_t)n);

	chunk[k] = pick(r, s->move[k % s->nmoves].factor);
	s->chunk = chunk;
}

static void break_pair(struct rng *r, struct step *s)
{
	struct pair *pairs =
		arena_dup(memory, s->pairs, (size_t)s->npairs, sizeof(*pairs));
	int i = pick(r, s->npairs), k = pick(r, s->npairs);
	int32_t dst = pairs[i].dst;

	pairs[i].dst = pairs[k].dst;
	pairs[k].dst = dst;
	s->pairs = pairs;
}

static void break_transfer(struct rng *r, const struct plan *p, struct step *s)
{
	struct transfer *all =
		arena_dup(memory, s->transfers, (size_t)s->ntransfers, sizeof(*all));
	struct transfer *t = &all[pick(r, s->ntransfers)];
	int64_t *bounds = arena_dup(memory, t->bounds, 2 * (size_t)p->shape.rank,
	                            sizeof(*bounds));

	s->transfers = all;
	switch (pick(r, 4)) {
	case 0:
		do
			t->src = pick(r, p->problem->ndevices);
		while (t->src == t->dst);
		break;
	case 1:
		*t = all[--s->ntransfers]; /* one box is missing */
		break;
	case 2:
		do
			t->dst = pick(r, p->problem->ndevices);
		while (t->src == t->dst);
		break;
	default:
		bounds[pick(r, 2 * p->shape.rank)] += pick(r, 2) ? 1 : -1;
		t->bounds = bounds;
		t->elements = 1;
		for (int i = 0; i < p->shape.rank; i++)
			t->elements *= bounds[2 * i + 1] - bounds[2 * i];
	}
}

/* A digit's parts go to another digit in what a step claims, or two change places. */
static void break_claim(struct rng *r, const struct plan *p, struct step *s)
{
	struct layout l = layout_replicated(s->after.rank);
	int a = pick(r, l.rank), b = pick(r, l.rank);

	for (int dim = 0; dim < l.rank; dim++) {
		int n;
		const struct part *part = layout_parts(&s->after,
		                                       dim == a   ? b
		                                       : dim == b ? a
		                                                  : dim,
		                                       &n);

		for (int k = 0; k < n; k++)
			layout_append(&l, dim, part[k]);
	}
	s->after = l;
	s->local = layout_local(&l, &p->shape);
}

static void break_step(struct rng *r, struct plan *p)
{
	struct step *s = &p->step[pick(r, p->nsteps)];

	if (pick(r, 5) == 0)
		break_claim(r, p, s);
	else if (s->op == OP_PERMUTE)
		break_pair(r, s);
	else if (s->op == OP_EXCHANGE)
		break_transfer(r, p, s);
	else if (s->op == OP_SLICE && pick(r, 2))
		break_chunk(r, p, s);
	else if (s->op == OP_SLICE || pick(r, 2))
		break_move(r, p, s);
	else
		swap_ids(r, s);
}

/* A step is lost, a step is broken, or two digits of the view change their radices. */
static void break_plan(struct rng *r, struct plan *p)
{
	p->step = arena_dup(memory, p->step, (size_t)p->nsteps, sizeof(*p->step));
	if (pick(r, 10) == 0) {
		int gone = pick(r, p->nsteps--);

		memmove(p->step + gone, p->step + gone + 1,
		        (size_t)(p->nsteps - gone) * sizeof(*p->step));
	} else {
		break_step(r, p);
	}
}

/*
 * Both must agree. The interpreter's exchanges may refuse what comes in too many pieces,
 * which these plans do not.
 */
START_TEST(broken_plans_are_found_out)
{
	struct rng *r = rng_new(3001 + (uint64_t)_i);
	int wrong = 0, harmless = 0;

	for (int k = 0; k < 900; k++) {
		struct plan *p = digit_random_plan(r, memory, false);

		for (int times = 0; p && times < 4; times++) {
			struct plan broken = *p;
			const char *reason;
			bool right;

			break_plan(r, &broken);
			right = elements_prove(&broken, memory);
			ck_assert_msg(digit_proven(&broken, memory, &reason) == right,
			              "%s by elements, but: %s\n%s",
			              right ? "right" : "wrong", reason,
			              digit_printed(p, memory));
			wrong += !right;
			harmless += right;
		}
		arena_reset(memory);
	}
	ck_assert_int_gt(wrong, 500);
	ck_assert_int_gt(harmless, 100);
	rng_free(r);
}
END_TEST

/* A view whose digits, or whose ends, are not the problem's. */
START_TEST(wrong_views_are_found_out)
{
	struct problem *p = digit_texts(memory, "f32[8,6]", "x=2,y=2", "P(('y','x'))",
	                                "P(None,'y')");
	struct view right = {.shape = {3, {2, 4, 6}}, .dim = {0, 0, 1}};
	struct view size = {.shape = {3, {2, 3, 6}}, .dim = {0, 0, 1}};
	struct view dim = {.shape = {3, {2, 4, 6}}, .dim = {0, 1, 1}};
	struct part x = {0, 1, 2}, y = {1, 1, 2};
	struct layout from = layout_replicated(3), to = layout_replicated(3);
	struct layout wrong = layout_replicated(3);
	const struct view *view[] = {&right, &size, &dim, &right, &right};

	layout_append(&from, 0, y);
	layout_append(&from, 1, x);
	layout_append(&to, 2, y);
	layout_append(&wrong, 0, x);
	layout_append(&wrong, 1, y);
	for (int k = 0; k < 5; k++) {
		struct plan *plan = plan_new(memory, p, "hand");
		struct move move = {0, 2, 2, 1, &y}, gather = {1, -1, 2, 1, &x};
		const char *reason;

		plan_view(plan, view[k], k == 3 ? &wrong : &from, k == 4 ? &from : &to);
		if (k == 0) {
			plan_axes_step(plan, OP_ALL_TO_ALL, &move, 1);
			plan_axes_step(plan, OP_ALL_GATHER, &gather, 1);
			plan_finish(plan);
		}
		ck_assert_int_eq(digit_proven(plan, memory, &reason), k == 0);
		if (k > 0)
			ck_assert_str_eq(reason,
			                 "the digits do not say the problem's layouts");
	}
}
END_TEST

/* --- exchanges that layouts imply ------------------------------------------------- */

/* Plain and strided ends: right, and no device serves more boxes than another. */
START_TEST(implied_exchanges_are_right_and_balanced)
{
	struct rng *r = rng_new(61);
	int refused = 0, checked = 0;

	for (int k = 0; k < 400; k++) {
		struct problem *p = digit_problem(r, memory, 24, k % 4 == 0);
		struct plan *plan = plan_new(memory, p, "hand");
		struct text why = {0};
		bool flat = layout_local_elements(&p->from, &p->padded) ==
		            layout_local_elements(&p->to, &p->padded);
		const char *reason;

		if (plan_exchange_axes(plan, &p->to, &why)) {
			plan_finish(plan);
			ck_assert_msg(digit_proven(plan, memory, &reason), "%s", reason);
			ck_assert(elements_prove(plan, memory));
			ck_assert_int_eq(plan->recv_bytes, p->recv_bound_bytes);
			if (flat)
				ck_assert_int_le(plan->send_bytes,
				                 p->memory_bound_bytes);
			checked++;
		} else {
			refused++;
		}
		text_free(&why);
		arena_reset(memory);
	}
	ck_assert_int_gt(checked, 200);
	ck_assert_int_gt(refused, 20);
	rng_free(r);
}
END_TEST

Suite *tests(void)
{
	Suite *suite = suite_create("view");
	TCase *c = tcase_create("view");

	tcase_add_checked_fixture(c, make_memory, free_memory);
	tcase_set_timeout(c, 60);
	tcase_add_loop_test(c, right_plans_are_proven, 0, 2);
	tcase_add_loop_test(c, broken_plans_are_found_out, 0, 3);
	tcase_add_test(c, wrong_views_are_found_out);
	tcase_add_test(c, implied_exchanges_are_right_and_balanced);
	suite_add_tcase(suite, c);
	return suite;
}
