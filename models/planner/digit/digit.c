/*
 * Digit plans (models/README.md, Digits): states bind blocks of atoms to any digits of
 * the dimensions, so no axis is on top of another.
 *
 *   1. slice every new block at its target digit (one step, local),
 *   2. all-to-all all blocks that change their digit (one step),
 *   3. all-gather all blocks that the target does not have (one step).
 *
 * With a tile of M elements after the slices and q the product of the sizes of the blocks
 * in 2, a device receives (M - M/q) + (|dst| - M), which is what it lacks (Theorem D),
 * and no array is larger than max(|src|, |dst|).
 *
 * Where a digit has another owner in the target than in the source, some device lacks its
 * whole target tile, |dst|. The blocks that change over are then rebound by one permute
 * before or after the all-to-all, or one exchange, which brings at most M, does that or
 * all of 2. By prices; the permute moves M and the all-to-all comes on top.
 */
#include "planner/digit/digit.h"

#include "plan/exchange.h"
#include "plan/view.h"
#include "planner/planner.h"

#include <string.h>

struct digit_plan {
	struct digits digits;
	const struct prices *prices;
	struct arena *arena;
	/*
	 * The bindings of the source, after the slices, with the target's owners at
	 * digits that change over, after the all-to-all, and of the target.
	 */
	struct binding from, sliced, owned, moved, to;
};

/* The ways in which blocks get from `sliced` to `moved`. */
enum route {
	PERMUTE_FIRST,
	PERMUTE_LAST,
	EXCHANGE_FIRST,
	EXCHANGE_LAST,
	EXCHANGE,
	ROUTES
};

static bool binding_equal(const struct binding *a, const struct binding *b)
{
	return memcmp(a, b, sizeof(*a)) == 0;
}

/* Returns the digit where block number `b` ends if that has another owner, else -1. */
static int taken_digit(const struct digit_plan *s, const struct binding *now, int b)
{
	int digit = b < 0 ? -1 : s->digits.block[b].to;

	return digit < 0 || now->block[digit] < 0 || now->block[digit] == b ? -1 : digit;
}

/*
 * Returns the last of the blocks that block `b` pushes away: it pushes the owner of its
 * digit, that one the owner of its own, and so on to one that finds its digit free or
 * is not in the target.
 */
static int last_pushed(const struct digit_plan *s, const struct binding *now, int b)
{
	for (int digit; (digit = taken_digit(s, now, b)) >= 0;)
		b = now->block[digit];
	return b;
}

/*
 * Slices new blocks at their digits. One whose digit is taken is sliced where the last
 * block that it pushes away will be, so that all it takes then is to change places. If
 * that one is not in the target, the new block will replace it and needs no slice.
 */
static void find_sliced(struct digit_plan *s)
{
	s->sliced = s->from;
	for (int b = 0; b < s->digits.nblocks; b++) {
		const struct block *block = &s->digits.block[b];
		int last;

		if (block->from >= 0)
			continue;
		last = last_pushed(s, &s->from, b);
		if (s->digits.block[last].to >= 0)
			s->sliced.block[s->digits.block[last].to] = (int8_t)b;
	}
}

/*
 * Gives digits that are bound by another block than the target's the target's block.
 * Where that came from a digit that the target leaves free, the last one pushed away
 * fills its place.
 */
static void find_owned(struct digit_plan *s)
{
	s->owned = s->sliced;
	for (int digit = 0; digit < s->digits.view.shape.rank; digit++) {
		int now = s->sliced.block[digit], then = s->to.block[digit];

		if (now >= 0 && then >= 0)
			s->owned.block[digit] = (int8_t)then;
		else if (now >= 0 && taken_digit(s, &s->sliced, now) >= 0)
			s->owned.block[digit] = (int8_t)last_pushed(s, &s->sliced, now);
	}
}

/*
 * Puts all blocks of the target at their digits and leaves the others where they are.
 */
static void find_moved(struct digit_plan *s)
{
	s->moved = s->owned;
	for (int digit = 0; digit < s->digits.view.shape.rank; digit++) {
		int now = s->owned.block[digit];
		int end = now < 0 ? -1 : s->digits.block[now].to;

		if (end < 0 || end == digit)
			continue;
		s->moved.block[digit] = -1;
		s->moved.block[end] = (int8_t)now;
	}
}

/*
 * Adds a step between two bindings: a slice binds, an all-gather frees, an all-to-all
 * moves.
 */
static void add_axes_step(struct plan *plan, struct digit_plan *s, enum op op,
                          const struct binding *before, const struct binding *after)
{
	struct move moves[RANK_MAX];
	int n = 0, rank = s->digits.view.shape.rank;

	for (int digit = 0; digit < rank; digit++) {
		bool from = op == OP_ALL_GATHER;
		int b = from ? before->block[digit] : after->block[digit];
		int other = from ? after->block[digit] : before->block[digit];
		struct move *m = &moves[n];

		if (b < 0 || b == other)
			continue;
		*m = (struct move){.from_dim = from ? digit : -1,
		                   .to_dim = from ? -1 : digit,
		                   .factor = s->digits.block[b].size};
		for (int k = 0; op == OP_ALL_TO_ALL && k < rank; k++)
			if (before->block[k] == b)
				m->from_dim = k;
		m->parts = digits_parts(&m->nparts, &s->digits, &s->digits.block[b],
		                        &plan->problem->mesh, s->arena);
		n++;
	}
	if (n > 0)
		plan_axes_step(plan, op, moves, n);
}

/*
 * Adds a permute or exchange to a binding. Returns false if there are too many boxes.
 */
static bool add_rebinding(struct plan *plan, const struct digit_plan *s, bool exchange,
                          const struct binding *after)
{
	struct layout l = digits_layout(&s->digits, after, &plan->problem->mesh);
	struct text why = {0};
	bool done = true;

	layout_normalise(&l);
	if (exchange)
		done = plan_exchange_axes(plan, &l, &why);
	else
		plan_permute(plan, &l);
	text_free(&why);
	return done;
}

/*
 * Returns `sliced` after an all-to-all that moves whatever is at the digits that it
 * empties: then the rebinding comes after it.
 */
static struct binding moved_first(const struct digit_plan *s)
{
	struct binding out = s->sliced;

	for (int digit = 0; digit < s->digits.view.shape.rank; digit++) {
		int b = s->owned.block[digit];

		if (b < 0 || s->moved.block[digit] == b)
			continue;
		out.block[s->digits.block[b].to] = s->sliced.block[digit];
		out.block[digit] = -1;
	}
	return out;
}

static bool add_flat_part(struct plan *plan, struct digit_plan *s, enum route route)
{
	bool exchange = route >= EXCHANGE_FIRST;
	struct binding first;

	switch (route) {
	case PERMUTE_FIRST:
	case EXCHANGE_FIRST:
		if (!binding_equal(&s->sliced, &s->owned) &&
		    !add_rebinding(plan, s, exchange, &s->owned))
			return false;
		add_axes_step(plan, s, OP_ALL_TO_ALL, &s->owned, &s->moved);
		return true;
	case PERMUTE_LAST:
	case EXCHANGE_LAST:
		first = moved_first(s);
		add_axes_step(plan, s, OP_ALL_TO_ALL, &s->sliced, &first);
		return add_rebinding(plan, s, exchange, &s->moved);
	default:
		return add_rebinding(plan, s, true, &s->moved);
	}
}

/* Returns the plan of a route, or NULL where it has too many boxes. */
static struct plan *digit_make_plan(struct digit_plan *s, enum route route)
{
	const struct problem *p = s->digits.problem;
	struct plan *plan = plan_new(s->arena, p, "digit");
	struct layout from = digits_layout(&s->digits, &s->from, &p->mesh);
	struct layout to = digits_layout(&s->digits, &s->to, &p->to_mesh);

	layout_normalise(&from);
	layout_normalise(&to);
	plan_view(plan, &s->digits.view, &from, &to);
	add_axes_step(plan, s, OP_SLICE, &s->from, &s->sliced);
	if (!add_flat_part(plan, s, route))
		return NULL;
	add_axes_step(plan, s, OP_ALL_GATHER, &s->moved, &s->to);
	plan_finish(plan);
	return plan;
}

/* Returns the cheapest plan where digits change owners, the first of equal ones. */
static struct plan *cheaper_plan(struct digit_plan *s)
{
	bool even = shape_elements(&s->digits.problem->padded) ==
	            shape_elements(&s->digits.problem->array.shape);
	bool moves = !binding_equal(&s->owned, &s->moved);
	struct plan *best = digit_make_plan(s, PERMUTE_FIRST);
	struct price least = s->prices->plan(s->prices->self, best);

	for (enum route route = PERMUTE_LAST; route < ROUTES; route++) {
		struct plan *plan;
		struct price price;
		int order;

		/* Without an all-to-all there is one permute, and one exchange. */
		if ((!moves && route != EXCHANGE) || (!even && route >= EXCHANGE_FIRST))
			continue;
		plan = digit_make_plan(s, route);
		if (!plan)
			continue;
		price = s->prices->plan(s->prices->self, plan);
		order = price_compare(price, least);
		if (order > 0 ||
		    (order == 0 && plan->peak_live_bytes >= best->peak_live_bytes))
			continue;
		best = plan;
		least = price;
	}
	return best;
}

static bool digit_applies(struct digit_plan *s, const struct problem *p,
                          struct text *why)
{
	if (p->from.kind == LAYOUT_MAXIMAL || p->to.kind == LAYOUT_MAXIMAL) {
		text_printf(why, "the whole array lies on one device");
		return false;
	}
	if (p->from.nunreduced || p->to.nunreduced) {
		text_printf(why, "unreduced axes");
		return false;
	}
	if (!p->has_atoms) {
		text_printf(why, "%s", p->no_atoms);
		return false;
	}
	if (!p->padded_ok) {
		text_printf(why, "source and target pad a dimension differently");
		return false;
	}
	return digits_make(&s->digits, p, why);
}

static enum answer digit_plan(struct plan **out, const struct problem *p,
                              const struct prices *prices, struct arena *arena,
                              struct text *why)
{
	struct digit_plan s = {.prices = prices, .arena = arena};

	if (!digit_applies(&s, p, why))
		return ANSWER_NOT_APPLICABLE;
	s.from = digits_from(&s.digits);
	s.to = digits_to(&s.digits);
	find_sliced(&s);
	find_owned(&s);
	find_moved(&s);
	if (binding_equal(&s.sliced, &s.owned))
		*out = digit_make_plan(&s, PERMUTE_FIRST);
	else
		*out = cheaper_plan(&s);
	*out = view_join_plan(*out);
	return ANSWER_PLAN;
}

const struct planner planner_digit = {
	.name = "digit",
	.help = "strided tiles: slice, one fused all-to-all, one fused all-gather",
	.not_portable = "strided tiles",
	.plan = digit_plan,
};
