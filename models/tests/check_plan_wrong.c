/*
 * Wrong plans are found: valid plans are changed in one place, and plan_check must say
 * of each what an interpreter says that moves the elements one by one.
 */
#include "plan/check.h"
#include "tests/tests.h"

#include "plan_interpret.h"
#include "plan_random.h"

#include <check.h>

#include <stdlib.h>
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

/* A deep copy of what a change may touch. */
static struct plan *copy_plan(const struct plan *p)
{
	struct plan *q = arena_dup(memory, p, 1, sizeof(*p));
	size_t n = (size_t)p->problem->mesh.ndevices;

	q->room = p->nsteps + 1;
	q->step = arena_alloc(memory, (size_t)q->room, sizeof(*q->step));
	if (p->nsteps)
		memcpy(q->step, p->step, (size_t)p->nsteps * sizeof(*p->step));
	for (int i = 0; i < p->nsteps; i++) {
		struct step *s = &q->step[i];

		s->move =
			arena_dup(memory, s->move, (size_t)s->nmoves, sizeof(*s->move));
		if (s->chunk)
			s->chunk = arena_dup(memory, s->chunk, n * (size_t)s->nmoves,
			                     sizeof(*s->chunk));
		if (s->groups.ids)
			s->groups.ids = arena_dup(memory, s->groups.ids, n,
			                          sizeof(*s->groups.ids));
		if (s->pairs)
			s->pairs = arena_dup(memory, s->pairs, (size_t)s->npairs,
			                     sizeof(*s->pairs));
	}
	return q;
}

/* Each change returns false where the step has nothing of the kind. */
typedef bool change(struct rng *r, struct plan *p, struct step *s);

static int32_t *ids_of(struct step *s)
{
	return (int32_t *)s->groups.ids;
}

static struct pair *pairs_of(struct step *s)
{
	return (struct pair *)s->pairs;
}

static void swap(int32_t *a, int32_t *b)
{
	int32_t t = *a;

	*a = *b;
	*b = t;
}

static bool swap_members(struct rng *r, struct plan *p, struct step *s)
{
	int32_t *group;
	uint32_t size = (uint32_t)s->groups.size;

	(void)p;
	if (!s->groups.ids)
		return false;
	group = ids_of(s) + (int32_t)rng_below(r, (uint32_t)s->groups.ngroups) * size;
	swap(&group[rng_below(r, size)], &group[rng_below(r, size)]);
	return true;
}

static bool swap_between_groups(struct rng *r, struct plan *p, struct step *s)
{
	uint32_t n = (uint32_t)p->problem->mesh.ndevices;

	if (!s->groups.ids || s->groups.ngroups < 2)
		return false;
	swap(&ids_of(s)[rng_below(r, n)], &ids_of(s)[rng_below(r, n)]);
	return true;
}

/* Whole groups in another order change nothing. */
static bool swap_groups(struct rng *r, struct plan *p, struct step *s)
{
	uint32_t count = (uint32_t)s->groups.ngroups;
	int32_t a, b;

	(void)p;
	if (!s->groups.ids)
		return false;
	a = (int32_t)rng_below(r, count) * s->groups.size;
	b = (int32_t)rng_below(r, count) * s->groups.size;
	for (int32_t k = 0; k < s->groups.size; k++)
		swap(&ids_of(s)[a + k], &ids_of(s)[b + k]);
	return true;
}

static bool repeat_member(struct rng *r, struct plan *p, struct step *s)
{
	uint32_t n = (uint32_t)p->problem->mesh.ndevices;

	if (!s->groups.ids)
		return false;
	ids_of(s)[rng_below(r, n)] = ids_of(s)[rng_below(r, n)];
	return true;
}

static bool strange_member(struct rng *r, struct plan *p, struct step *s)
{
	int32_t n = p->problem->mesh.ndevices;

	if (!s->groups.ids)
		return false;
	ids_of(s)[rng_below(r, (uint32_t)n)] = rng_below(r, 2) ? n : -1;
	return true;
}

static bool regroup(struct rng *r, struct plan *p, struct step *s)
{
	(void)r;
	if (!s->groups.ids || s->groups.ngroups == s->groups.size)
		return false;
	swap(&s->groups.ngroups, &s->groups.size);
	return s->groups.ngroups * s->groups.size == p->problem->mesh.ndevices;
}

static bool drop_pair(struct rng *r, struct plan *p, struct step *s)
{
	(void)p;
	if (!s->pairs)
		return false;
	pairs_of(s)[rng_below(r, (uint32_t)s->npairs)] = s->pairs[s->npairs - 1];
	s->npairs--;
	return true;
}

static bool repeat_destination(struct rng *r, struct plan *p, struct step *s)
{
	(void)p;
	if (!s->pairs)
		return false;
	pairs_of(s)[rng_below(r, (uint32_t)s->npairs)].dst =
		s->pairs[rng_below(r, (uint32_t)s->npairs)].dst;
	return true;
}

static bool repeat_source(struct rng *r, struct plan *p, struct step *s)
{
	(void)p;
	if (!s->pairs)
		return false;
	pairs_of(s)[rng_below(r, (uint32_t)s->npairs)].src =
		s->pairs[rng_below(r, (uint32_t)s->npairs)].src;
	return true;
}

static bool swap_destinations(struct rng *r, struct plan *p, struct step *s)
{
	(void)p;
	if (!s->pairs)
		return false;
	swap(&pairs_of(s)[rng_below(r, (uint32_t)s->npairs)].dst,
	     &pairs_of(s)[rng_below(r, (uint32_t)s->npairs)].dst);
	return true;
}

static bool strange_pair(struct rng *r, struct plan *p, struct step *s)
{
	struct pair *pair;

	if (!s->pairs)
		return false;
	pair = &pairs_of(s)[rng_below(r, (uint32_t)s->npairs)];
	*(rng_below(r, 2) ? &pair->src : &pair->dst) =
		rng_below(r, 2) ? p->problem->mesh.ndevices : -1;
	return true;
}

static bool change_chunk(struct rng *r, struct plan *p, struct step *s)
{
	uint32_t cells = (uint32_t)(p->problem->mesh.ndevices * s->nmoves);

	if (!s->chunk)
		return false;
	((int32_t *)s->chunk)[rng_below(r, cells)] = (int32_t)rng_below(r, 7) - 1;
	return true;
}

static struct move *some_move(struct rng *r, struct step *s)
{
	if (!s->nmoves)
		return NULL;
	return (struct move *)&s->move[rng_below(r, (uint32_t)s->nmoves)];
}

static bool change_to_dim(struct rng *r, struct plan *p, struct step *s)
{
	struct move *m = some_move(r, s);

	if (m)
		m->to_dim = (int)rng_below(r, (uint32_t)p->shape.rank + 2) - 1;
	return m;
}

static bool change_from_dim(struct rng *r, struct plan *p, struct step *s)
{
	struct move *m = some_move(r, s);

	if (m)
		m->from_dim = (int)rng_below(r, (uint32_t)p->shape.rank + 2) - 1;
	return m;
}

static bool change_factor(struct rng *r, struct plan *p, struct step *s)
{
	struct move *m = some_move(r, s);

	(void)p;
	if (m)
		m->factor = 1 + (int32_t)rng_below(r, 6);
	return m;
}

static bool swap_moves(struct rng *r, struct plan *p, struct step *s)
{
	struct move *m = (struct move *)s->move, t;

	(void)r;
	(void)p;
	if (s->nmoves < 2)
		return false;
	t = m[0];
	m[0] = m[1];
	m[1] = t;
	return true;
}

static bool drop_move(struct rng *r, struct plan *p, struct step *s)
{
	(void)r;
	(void)p;
	return s->nmoves-- > 0;
}

static bool other_op(struct rng *r, struct plan *p, struct step *s)
{
	(void)p;
	if (!s->groups.ids)
		return false;
	s->op = rng_below(r, 2) ? OP_ALL_GATHER : OP_ALL_TO_ALL;
	return true;
}

static bool claim_another_layout(struct rng *r, struct plan *p, struct step *s)
{
	s->after = random_layout(r, &p->problem->mesh, p->shape.rank);
	return true;
}

static bool swap_claimed_parts(struct rng *r, struct plan *p, struct step *s)
{
	struct part t = s->after.part[0];
	int n = 0;

	(void)p;
	for (int dim = 0; dim < s->after.rank; dim++)
		n += s->after.nparts[dim];
	if (n < 2)
		return false;
	n = 1 + (int)rng_below(r, (uint32_t)n - 1);
	s->after.part[0] = s->after.part[n];
	s->after.part[n] = t;
	return true;
}

static bool drop_step(struct rng *r, struct plan *p, struct step *s)
{
	int at = (int)(s - p->step);

	(void)r;
	p->nsteps--;
	memmove(s, s + 1, (size_t)(p->nsteps - at) * sizeof(*s));
	return true;
}

static bool repeat_step(struct rng *r, struct plan *p, struct step *s)
{
	int at = (int)(s - p->step);

	(void)r;
	memmove(s + 1, s, (size_t)(p->nsteps - at) * sizeof(*s));
	p->nsteps++;
	return true;
}

static bool swap_steps(struct rng *r, struct plan *p, struct step *s)
{
	struct step t = *s, *other = &p->step[rng_below(r, (uint32_t)p->nsteps)];

	*s = *other;
	*other = t;
	return true;
}

static bool change_nothing(struct rng *r, struct plan *p, struct step *s)
{
	(void)r;
	(void)p;
	(void)s;
	return true;
}

/* Which verdicts a kind of change must have led to by the end of a test. */
enum { SOME_RIGHT = 1, SOME_WRONG = 2, BOTH = 3 };

static const struct {
	const char *name;
	change *make;
	int verdicts;
} changes[] = {
	{"nothing", change_nothing, SOME_RIGHT},
	{"swap members", swap_members, BOTH},
	{"swap between groups", swap_between_groups, BOTH},
	{"swap groups", swap_groups, SOME_RIGHT},
	{"repeat member", repeat_member, BOTH},
	{"strange member", strange_member, SOME_WRONG},
	{"regroup", regroup, SOME_WRONG},
	{"drop pair", drop_pair, SOME_WRONG},
	{"repeat destination", repeat_destination, BOTH},
	{"repeat source", repeat_source, BOTH},
	{"swap destinations", swap_destinations, BOTH},
	{"strange pair", strange_pair, SOME_WRONG},
	{"change chunk", change_chunk, BOTH},
	{"change to_dim", change_to_dim, BOTH},
	{"change from_dim", change_from_dim, BOTH},
	{"change factor", change_factor, BOTH},
	{"swap moves", swap_moves, SOME_WRONG},
	{"drop move", drop_move, SOME_WRONG},
	{"other op", other_op, BOTH},
	{"claim another layout", claim_another_layout, BOTH},
	{"swap claimed parts", swap_claimed_parts, SOME_WRONG},
	{"drop step", drop_step, SOME_WRONG},
	{"repeat step", repeat_step, SOME_WRONG},
	{"swap steps", swap_steps, BOTH},
};

/* plan_check's verdict, which must be the interpreter's and name its step. */
static bool verdict(const struct plan *p, const char *name)
{
	struct text why = {0};
	char where[32] = "at the end";
	int step;
	bool right = plan_interpret(p, memory, &step), said = plan_check(p, &why);

	ck_assert_msg(right == said, "%s: interpreter says %s at step %d, check: %s",
	              name, right ? "right" : "wrong", step + 1,
	              why.s ? why.s : "right");
	if (right) {
		ck_assert_ptr_null(why.s);
		return true;
	}
	if (step < p->nsteps)
		snprintf(where, sizeof(where), "step %d (", step + 1);
	ck_assert_msg(why.s && strstr(why.s, where), "%s: '%s' lacks '%s'", name, why.s,
	              where);
	text_free(&why);
	return false;
}

START_TEST(changed_plans_are_judged_as_the_interpreter_does)
{
	struct rng *r = rng_new(6007 + (uint64_t)_i);
	int found = 0, tries = 0;

	for (int done = 0; done < 400;) {
		struct plan *p, *q;

		p = tries++ % 4 ? random_plan(r, memory, 16, 4)
		                : plan_of_any_kind(r, memory, tries / 4);
		if (p->nsteps > 0) {
			struct step *s;

			q = copy_plan(p);
			s = &q->step[rng_below(r, (uint32_t)q->nsteps)];
			if (changes[_i].make(r, q, s)) {
				found |= verdict(q, changes[_i].name) ? SOME_RIGHT
				                                      : SOME_WRONG;
				done++;
			}
		}
		arena_reset(memory);
	}
	ck_assert_msg(found == changes[_i].verdicts, "%s: verdicts %d, expected %d",
	              changes[_i].name, found, changes[_i].verdicts);
	rng_free(r);
}
END_TEST

/* The target, the problem's side of a plan, may be another one, too. */
START_TEST(another_target_is_missed)
{
	struct rng *r = rng_new(8117);
	int wrong = 0;

	for (int round = 0; round < 1000; round++) {
		struct plan *p = random_plan(r, memory, 16, 3);
		struct problem *q = (struct problem *)p->problem;

		p->to = q->to = random_layout(r, &q->mesh, q->padded.rank);
		wrong += !verdict(p, "another target");
		arena_reset(memory);
	}
	ck_assert_int_gt(wrong, 500);
	ck_assert_int_lt(wrong, 1000);
	rng_free(r);
}
END_TEST

Suite *tests(void)
{
	Suite *suite = suite_create("plan_wrong");
	TCase *c = tcase_create("plan_wrong");

	tcase_add_checked_fixture(c, make_memory, free_memory);
	tcase_add_loop_test(c, changed_plans_are_judged_as_the_interpreter_does, 0,
	                    sizeof(changes) / sizeof(*changes));
	tcase_add_test(c, another_target_is_missed);
	suite_add_tcase(suite, c);
	return suite;
}
