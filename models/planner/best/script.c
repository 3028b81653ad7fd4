#include "planner/best/script.h"

#include "base/assert.h"
#include "plan/exchange.h"
#include "planner/best/senders.h"

#include <stddef.h>
#include <string.h>

const struct layout *script_before(const struct script *s, int i)
{
	return i ? &s->step[i - 1].after : &s->from;
}

void script_begin(struct script *out, const struct problem *p)
{
	memset(out, 0, offsetof(struct script, step));
	out->problem = p;
}

static size_t size_of(const struct script *s)
{
	return offsetof(struct script, step) + (size_t)s->n * sizeof(*s->step);
}

void script_copy(struct script *out, const struct script *s)
{
	memcpy(out, s, size_of(s));
}

const struct script *script_keep(const struct script *s, struct arena *a)
{
	return arena_dup(a, s, 1, size_of(s));
}

/* --- from a plan and back -------------------------------------------------------- */

static bool same_shape(const struct shape *a, const struct shape *b)
{
	return a->rank == b->rank &&
	       memcmp(a->dim, b->dim, (size_t)a->rank * sizeof(*a->dim)) == 0;
}

static bool is_rewritable(const struct plan *p, const struct step *s)
{
	if (s->after.kind != LAYOUT_AXES || !mesh_equal(s->mesh, &p->problem->mesh) ||
	    !layout_divides(&s->after, &p->shape))
		return false;
	switch (s->op) {
	case OP_PERMUTE:
		return s->npairs > 0 && !s->part && !s->start;
	case OP_EXCHANGE:
		return !s->start;
	case OP_PAD:
	case OP_PARTIAL:
		return false;
	default:
		return step_has_axes(s) && !s->gathers && !s->start;
	}
}

bool script_of_plan(struct script *out, const struct plan *p)
{
	if (!mesh_equal(&p->problem->mesh, &p->problem->to_mesh) ||
	    p->from.kind != LAYOUT_AXES || p->to.kind != LAYOUT_AXES ||
	    p->nsteps > SCRIPT_STEPS_MAX || !layout_divides(&p->from, &p->shape) ||
	    !layout_divides(&p->to, &p->shape) ||
	    (!p->view && !same_shape(&p->shape, &p->problem->padded)))
		return false;
	script_begin(out, p->problem);
	out->from = p->from;
	out->to = p->to;
	out->view.shape = p->shape;
	for (int i = 0; i < p->shape.rank; i++)
		out->view.dim[i] = p->view ? p->view->dim[i] : (uint8_t)i;
	for (int i = 0; i < p->nsteps; i++) {
		const struct step *s = &p->step[i];

		if (!is_rewritable(p, s))
			return false;
		out->step[out->n++] = (struct script_step){s->op, s->nmoves, s->move,
		                                           s->after, SENDERS_RULE};
	}
	return true;
}

/*
 * Adds a step to a plan, with the bounds of the boxes of an exchange or without them
 * (plan/exchange.h).
 */
static bool add_script_step(struct plan *plan, const struct script_step *step,
                            bool bounds, const struct prices *prices)
{
	struct text why = {0};
	int before = plan->nsteps;
	bool done;

	switch (step->op) {
	case OP_PERMUTE:
		if (step->senders != SENDERS_PATHS ||
		    !best_permute(plan, &step->after, prices))
			plan_permute(plan, &step->after);
		return true;
	case OP_EXCHANGE:
		done = bounds ? plan_exchange_axes(plan, &step->after, &why)
		              : plan_exchange_sizes(plan, &step->after, &why);
		text_free(&why);
		if (!done || plan->step[before].ntransfers == 0)
			return false;
		best_senders(plan, before, step->senders, prices);
		return true;
	default:
		plan_axes_step(plan, step->op, step->move, step->nmoves);
		return true;
	}
}

struct plan *script_plan(const struct script *s, const struct prices *prices,
                         struct arena *a)
{
	struct plan *plan = plan_new(a, s->problem, "best");

	if (!same_shape(&s->view.shape, &s->problem->padded))
		plan_view(plan, &s->view, &s->from, &s->to);
	for (int i = 0; i < s->n; i++)
		if (!add_script_step(plan, &s->step[i], true, prices))
			return NULL;
	plan_finish(plan);
	return plan;
}

static int64_t tile_bytes(const struct script *s, const struct layout *l)
{
	return dtype_bytes(s->problem->array.dtype,
	                   layout_local_elements(l, &s->view.shape));
}

struct plan *script_step_plan(const struct script *s, int i,
                              const struct prices *prices, struct arena *a)
{
	struct plan *plan = plan_new(a, s->problem, "best");

	plan_view(plan, &s->view, script_before(s, i), &s->step[i].after);
	if (!add_script_step(plan, &s->step[i], false, prices))
		return NULL;
	plan_finish(plan);
	return plan;
}

void script_memory(int64_t *array_bytes, int64_t *live_bytes, const struct script *s)
{
	int64_t source = tile_bytes(s, &s->from), operand = source;

	*array_bytes = *live_bytes = source;
	for (int i = 0; i < s->n; i++) {
		int64_t result = tile_bytes(s, &s->step[i].after);
		int64_t live = source + (i ? operand : 0) + result;

		*array_bytes = result > *array_bytes ? result : *array_bytes;
		*live_bytes = live > *live_bytes ? live : *live_bytes;
		operand = result;
	}
}

struct price script_price(const struct script *s, int i, const struct prices *prices,
                          double most_cost)
{
	const struct script_step *step = &s->step[i];
	struct shape local = layout_local(script_before(s, i), &s->view.shape);
	struct step_ask ask = {
		.op = step->op,
		.nmoves = step->nmoves,
		.move = step->move,
		.before_bytes =
			dtype_bytes(s->problem->array.dtype, shape_elements(&local)),
		.most_cost = most_cost,
	};

	if (step->op == OP_PERMUTE || step->op == OP_EXCHANGE)
		return (struct price){0};
	ask.unpack = step->op == OP_ALL_GATHER &&
	             moves_unpack(step->move, step->nmoves, &local);
	return prices->step(prices->self, s->problem, &ask);
}

/* --- rewrites -------------------------------------------------------------------- */

void script_exchange(struct script *out, const struct script *s, int first, int end)
{
	assert(first < end && end <= s->n);
	script_copy(out, s);
	out->step[first] = (struct script_step){.op = OP_EXCHANGE,
	                                        .after = s->step[end - 1].after,
	                                        .senders = s->step[first].senders};
	for (int i = end; i < s->n; i++)
		out->step[first + 1 + i - end] = s->step[i];
	out->n = s->n - (end - first) + 1;
}

/* Parts coexist if one ends where the other begins or more major, in whole digits. */
bool parts_coexist(struct part p, struct part q)
{
	return p.axis != q.axis || p.pre % (q.pre * q.size) == 0 ||
	       q.pre % (p.pre * p.size) == 0;
}

bool parts_are_next(struct part p, struct part q)
{
	return p.axis == q.axis && q.pre == p.pre * p.size;
}

static bool layout_uses(const struct layout *l, struct part part)
{
	int n = l->nunreduced;

	for (int dim = 0; dim < l->rank; dim++)
		n += l->nparts[dim];
	for (int k = 0; k < n; k++) {
		struct part p = l->part[k];

		if (!parts_coexist(p, part))
			return true;
	}
	return false;
}

bool script_uses(const struct script *s, struct part part, int first)
{
	if (layout_uses(&s->to, part) || (first < 0 && layout_uses(&s->from, part)))
		return true;
	for (int i = first < 0 ? 0 : first; i < s->n; i++)
		if (layout_uses(&s->step[i].after, part))
			return true;
	return false;
}

/* How a digit is split: the numbers of those behind it grow by `more`. */
struct split {
	int digit, fresh, more;
	struct part part;
};

static int moved_digit(const struct split *split, int digit)
{
	return digit > split->digit ? digit + split->more : digit;
}

/* Returns the layout over the new digits, with the part at the fresh one if `cut`. */
static struct layout split_layout(const struct split *split, const struct layout *l,
                                  bool cut)
{
	struct layout out = layout_replicated(l->rank + split->more);

	for (int dim = 0; dim <= l->rank; dim++) {
		int n;
		const struct part *part = layout_parts(l, dim, &n);

		for (int k = 0; k < n; k++)
			layout_append(&out, moved_digit(split, dim), part[k]);
	}
	if (cut)
		layout_append(&out, split->fresh, split->part);
	return out;
}

/*
 * Writes the moves of a step over the new digits and, if `op` is given, one of the
 * part.
 */
static void split_step(struct script_step *out, const struct split *split,
                       const struct script_step *s, bool add, struct arena *a)
{
	struct move *move = arena_alloc(a, (size_t)s->nmoves + 1, sizeof(*move));
	bool gather = s->op == OP_ALL_GATHER;

	*out = (struct script_step){
		.op = s->op, .nmoves = s->nmoves, .move = move, .senders = s->senders};
	for (int i = 0; i < s->nmoves; i++) {
		move[i] = s->move[i];
		if (move[i].from_dim >= 0)
			move[i].from_dim = moved_digit(split, move[i].from_dim);
		if (move[i].to_dim >= 0)
			move[i].to_dim = moved_digit(split, move[i].to_dim);
	}
	if (add)
		move[out->nmoves++] = (struct move){
			.from_dim = gather ? split->fresh : -1,
			.to_dim = gather ? -1 : split->fresh,
			.factor = split->part.size,
			.nparts = 1,
			.parts = arena_dup(a, &split->part, 1, sizeof(split->part))};
}

/*
 * Returns whether the part can lie on top of what else cuts the digit: that is the same
 * from where the part comes to the end.
 */
static bool stays_on_top(const struct split *split, const struct script *s, int first)
{
	const struct layout *end = &s->to;
	int n, nend, from = first < 0 ? 0 : first + 1;
	const struct part *last = layout_parts(end, split->digit, &nend);
	int64_t tile = layout_shards(end, split->digit) * split->part.size;

	for (int i = from; i <= s->n; i++) {
		const struct part *part =
			layout_parts(script_before(s, i), split->digit, &n);

		if (n != nend || memcmp(part, last, (size_t)n * sizeof(*part)) != 0)
			return false;
	}
	return s->view.shape.dim[split->digit] % tile == 0;
}

/*
 * Splits the digit into [shards, part, rest], of which those of size 1 are left out:
 * the first piece has all that the layouts of the script cut the digit into. Returns
 * false if that does not divide.
 */
static bool split_view(struct split *split, struct view *out, const struct script *s)
{
	int64_t extent = s->view.shape.dim[split->digit], shards = 1, piece[3];
	int n = 0;

	for (int i = 0; i <= s->n; i++) {
		int64_t cut = layout_shards(script_before(s, i), split->digit);
		int64_t more = cut > shards ? cut : shards;

		if (more % cut || more % shards)
			return false;
		shards = more;
	}
	if (extent % (shards * split->part.size))
		return false;
	if (shards > 1)
		piece[n++] = shards;
	split->fresh = split->digit + n;
	piece[n++] = split->part.size;
	if (extent / (shards * split->part.size) > 1)
		piece[n++] = extent / (shards * split->part.size);
	split->more = n - 1;
	if (s->view.shape.rank + split->more > RANK_MAX)
		return false;
	out->shape.rank = s->view.shape.rank + split->more;
	for (int i = 0; i < s->view.shape.rank; i++) {
		out->shape.dim[moved_digit(split, i)] = s->view.shape.dim[i];
		out->dim[moved_digit(split, i)] = s->view.dim[i];
	}
	for (int k = 0; k < n; k++) {
		out->shape.dim[split->digit + k] = piece[k];
		out->dim[split->digit + k] = s->view.dim[split->digit];
	}
	return true;
}

bool script_overslice(struct script *out, const struct script *s, int digit,
                      struct part part, int first, bool on_top, struct arena *a)
{
	struct split split = {.digit = digit, .fresh = digit, .part = part};
	const struct script_step slice = {.op = OP_SLICE},
				 gather = {.op = OP_ALL_GATHER};
	bool slices = s->n > 0 && s->step[0].op == OP_SLICE && first < 0;
	bool gathers = s->n > 0 && s->step[s->n - 1].op == OP_ALL_GATHER;

	script_begin(out, s->problem);
	out->view = s->view;
	if (s->n + 2 > SCRIPT_STEPS_MAX || (on_top ? !stays_on_top(&split, s, first)
	                                           : !split_view(&split, &out->view, s)))
		return false;
	out->from = split_layout(&split, &s->from, false);
	out->to = split_layout(&split, &s->to, false);
	if (!slices && first < 0) {
		split_step(&out->step[out->n], &split, &slice, true, a);
		out->step[out->n++].after = split_layout(&split, &s->from, true);
	}
	for (int i = 0; i < s->n; i++) {
		bool last = gathers && i == s->n - 1, add = last || (slices && i == 0);

		split_step(&out->step[out->n], &split, &s->step[i], add, a);
		out->step[out->n++].after =
			split_layout(&split, &s->step[i].after, i >= first && !last);
	}
	if (!gathers) {
		split_step(&out->step[out->n], &split, &gather, true, a);
		out->step[out->n++].after =
			split_layout(&split, script_before(s, s->n), false);
	}
	return true;
}
