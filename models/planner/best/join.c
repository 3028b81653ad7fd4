/*
 * Scripts over as few digits as they need: neighbouring digits that every layout cuts
 * as one, and every step moves as one, are joined, so that an axis that moves whole is
 * one move.
 */
#include "planner/best/script.h"

#include <string.h>

/* Which digits are joined with the next one. */
struct joining {
	bool next[RANK_MAX];
};

/* A stack of primes before and after a step. */
struct pair_of_stacks {
	struct part before[LAYOUT_PARTS_MAX], after[LAYOUT_PARTS_MAX];
	int nbefore, nafter, common;
};

/*
 * Returns whether a digit and the next one can be one in a layout: the first is cut to
 * single elements, or it alone is cut.
 */
static bool joins_layout(const struct view *v, const struct layout *l, int digit)
{
	return l->nparts[digit + 1] == 0 ||
	       layout_shards(l, digit) == v->shape.dim[digit];
}

static bool joins_layouts(const struct script *s, int digit)
{
	const struct view *v = &s->view;

	if (v->dim[digit] != v->dim[digit + 1] || !joins_layout(v, &s->to, digit))
		return false;
	for (int i = 0; i <= s->n; i++)
		if (!joins_layout(v, script_before(s, i), digit))
			return false;
	return true;
}

static struct layout joined_layout(const struct joining *j, const struct layout *l)
{
	struct layout out = layout_replicated(l->rank);
	int digit = 0;

	for (int dim = 0; dim < l->rank; dim++) {
		int n;
		const struct part *part = layout_parts(l, dim, &n);

		for (int k = 0; k < n; k++)
			layout_append(&out, digit, part[k]);
		digit += !j->next[dim];
	}
	for (int k = 0; k < l->nunreduced; k++) {
		int n;
		const struct part *part = layout_parts(l, l->rank, &n);

		layout_append(&out, out.rank, part[k]);
	}
	out.rank = digit;
	layout_normalise(&out);
	return out;
}

static struct pair_of_stacks stacks_of(const struct layout *before,
                                       const struct layout *after, int digit)
{
	struct pair_of_stacks stacks;

	stacks.nbefore = layout_digits(stacks.before, before, digit);
	stacks.nafter = layout_digits(stacks.after, after, digit);
	for (stacks.common = 0;
	     stacks.common < stacks.nbefore && stacks.common < stacks.nafter &&
	     memcmp(&stacks.before[stacks.common], &stacks.after[stacks.common],
	            sizeof(*stacks.before)) == 0;)
		stacks.common++;
	return stacks;
}

static void add_joined_move(struct script_step *out, struct move *move, int from,
                            int to, const struct part *parts, int n, struct arena *a)
{
	struct move *m = &move[out->nmoves++];

	*m = (struct move){.from_dim = from,
	                   .to_dim = to,
	                   .factor = 1,
	                   .nparts = n,
	                   .parts = arena_dup(a, parts, (size_t)n, sizeof(*parts))};
	for (int k = 0; k < n; k++)
		m->factor *= parts[k].size;
}

/* Returns the digit whose stack grows by just these primes, or -1. */
static int grown_by(const struct layout *before, const struct layout *after,
                    const struct part *parts, int n)
{
	for (int digit = 0; digit < before->rank; digit++) {
		struct pair_of_stacks stacks = stacks_of(before, after, digit);

		if (stacks.common == stacks.nbefore &&
		    stacks.nafter - stacks.common == n &&
		    memcmp(stacks.after + stacks.common, parts,
		           (size_t)n * sizeof(*parts)) == 0)
			return digit;
	}
	return -1;
}

/*
 * Finds the moves of a step from its layouts. Returns false where it needs more than
 * one move per digit.
 */
static bool find_moves(struct script_step *out, const struct layout *before,
                       struct arena *a)
{
	struct move *move = arena_alloc(a, (size_t)before->rank, sizeof(*move));
	int grown = 0, moved = 0;

	out->move = move;
	out->nmoves = 0;
	for (int digit = 0; digit < before->rank; digit++) {
		struct pair_of_stacks stacks = stacks_of(before, &out->after, digit);
		int gone = stacks.nbefore - stacks.common,
		    come = stacks.nafter - stacks.common, to;
		bool slice = out->op == OP_SLICE || out->op == OP_REDUCE_SCATTER;

		if (gone > 0 && come > 0)
			return false;
		if (come > 0 && slice)
			add_joined_move(out, move, -1, digit,
			                stacks.after + stacks.common, come, a);
		if (gone == 0) {
			grown += come > 0;
			continue;
		}
		to = out->op == OP_ALL_GATHER
		             ? -1
		             : grown_by(before, &out->after,
		                        stacks.before + stacks.common, gone);
		if (slice || (to < 0 && out->op != OP_ALL_GATHER))
			return false;
		add_joined_move(out, move, digit, to, stacks.before + stacks.common,
		                gone, a);
		moved++;
	}
	return out->op == OP_ALL_TO_ALL ? grown == moved
	                                : out->op != OP_ALL_GATHER || grown == 0;
}

/*
 * Writes the script over the joined digits. Returns false where a step cannot be said
 * so.
 */
static bool join_digits_of(struct script *out, const struct script *s,
                           const struct joining *j, struct arena *a)
{
	script_begin(out, s->problem);
	out->n = s->n;
	for (int digit = 0; digit < s->view.shape.rank; digit++) {
		int at = out->view.shape.rank;

		out->view.dim[at] = s->view.dim[digit];
		if (digit == 0 || !j->next[digit - 1])
			out->view.shape.dim[at] = 1;
		out->view.shape.dim[at] *= s->view.shape.dim[digit];
		out->view.shape.rank += !j->next[digit];
	}
	out->from = joined_layout(j, &s->from);
	out->to = joined_layout(j, &s->to);
	for (int i = 0; i < s->n; i++) {
		struct script_step *step = &out->step[i];

		*step = s->step[i];
		step->after = joined_layout(j, &s->step[i].after);
		if (step->op != OP_PERMUTE && step->op != OP_EXCHANGE &&
		    step->op != OP_ALL_REDUCE &&
		    !find_moves(step, script_before(out, i), a))
			return false;
	}
	return true;
}

/* Joins two more digits. An all-to-all takes two digits at once. */
static bool join_more(struct script *out, const struct script *s, struct joining *j,
                      const int *digit, int n, struct arena *a)
{
	for (int i = 0; i < n; i++)
		for (int k = i; k < n; k++) {
			struct joining more = *j;

			if (j->next[digit[i]] || j->next[digit[k]])
				continue;
			more.next[digit[i]] = more.next[digit[k]] = true;
			if (!join_digits_of(out, s, &more, a))
				continue;
			*j = more;
			return true;
		}
	return false;
}

bool script_join(struct script *out, const struct script *s, struct arena *a)
{
	struct joining j = {{false}};
	int digit[RANK_MAX], n = 0;
	bool joined = false;

	for (int k = 0; k + 1 < s->view.shape.rank; k++)
		if (joins_layouts(s, k))
			digit[n++] = k;
	while (join_more(out, s, &j, digit, n, a))
		joined = true;
	return joined && join_digits_of(out, s, &j, a);
}

bool script_unsplit(struct script *out, const struct script *s, struct arena *a)
{
	struct joining j = {{false}};
	bool joined = false;

	for (int k = 0; k + 1 < s->view.shape.rank; k++) {
		if (s->view.dim[k] != s->view.dim[k + 1])
			continue;
		if (!joins_layouts(s, k))
			return false;
		j.next[k] = joined = true;
	}
	if (joined)
		return join_digits_of(out, s, &j, a);
	script_copy(out, s);
	return true;
}

/* --- steps of another script ------------------------------------------------------ */

void script_alone(struct script *out, const struct script *s, int i)
{
	script_begin(out, s->problem);
	out->view = s->view;
	out->from = *script_before(s, i);
	out->to = s->step[i].after;
	out->n = 1;
	out->step[0] = s->step[i];
}

/*
 * Writes the view that is cut wherever one of two views of an array is. Returns false where
 * their cuts do not line up, or there are too many.
 */
static bool cut_views(struct view *out, const struct view *a, const struct view *b)
{
	int64_t a_left = 1, b_left = 1;

	*out = (struct view){.shape.rank = 0};
	for (int i = 0, k = 0; i < a->shape.rank || a_left > 1;) {
		int64_t size;

		if (a_left == 1)
			a_left = a->shape.dim[i++];
		if (b_left == 1)
			b_left = b->shape.dim[k++];
		size = a_left < b_left ? a_left : b_left;
		if (out->shape.rank == RANK_MAX || a_left % size || b_left % size)
			return false;
		a_left /= size;
		b_left /= size;
		out->dim[out->shape.rank] = a->dim[i - 1];
		out->shape.dim[out->shape.rank++] = size;
	}
	return true;
}

/*
 * Writes a layout over a view that is cut finer. Returns false where a prime of its is on
 * both sides of a cut.
 */
static bool spread_layout(struct layout *out, const struct layout *l,
                          const struct view *view, const struct view *fine)
{
	struct part prime[LAYOUT_PARTS_MAX];
	int at = 0;

	*out = layout_replicated(fine->shape.rank);
	for (int digit = 0; digit < l->rank; digit++) {
		int64_t left = view->shape.dim[digit], room = fine->shape.dim[at];
		int n = layout_digits(prime, l, digit);

		for (int k = 0; k < n; k++) {
			if (room == 1) {
				left /= fine->shape.dim[at++];
				room = fine->shape.dim[at];
			}
			if (room % prime[k].size || !layout_append(out, at, prime[k]))
				return false;
			room /= prime[k].size;
		}
		while (left > fine->shape.dim[at])
			left /= fine->shape.dim[at++];
		at++;
	}
	for (int k = 0, n = layout_digits(prime, l, l->rank); k < n; k++)
		layout_append(out, out->rank, prime[k]);
	layout_normalise(out);
	return true;
}

/* Appends a step of a script over another view. Returns false where it cannot be said so. */
static bool spread_step(struct script *out, const struct script *s, int i,
                        struct arena *a)
{
	struct script_step *step = &out->step[out->n];

	*step = s->step[i];
	if (!spread_layout(&step->after, &s->step[i].after, &s->view, &out->view))
		return false;
	out->n++;
	return step->op == OP_PERMUTE || step->op == OP_EXCHANGE ||
	       step->op == OP_ALL_REDUCE ||
	       find_moves(step, script_before(out, out->n - 1), a);
}

bool script_put(struct script *out, const struct script *s, int i,
                const struct script *steps, struct arena *a)
{
	struct script joined;

	if (s->n - 1 + steps->n > SCRIPT_STEPS_MAX)
		return false;
	if (!script_join(&joined, steps, a))
		script_copy(&joined, steps);
	script_begin(out, s->problem);
	if (!cut_views(&out->view, &s->view, &joined.view) ||
	    !spread_layout(&out->from, &s->from, &s->view, &out->view) ||
	    !spread_layout(&out->to, &s->to, &s->view, &out->view))
		return false;
	for (int k = 0; k < i; k++)
		if (!spread_step(out, s, k, a))
			return false;
	for (int k = 0; k < joined.n; k++)
		if (!spread_step(out, &joined, k, a))
			return false;
	for (int k = i + 1; k < s->n; k++)
		if (!spread_step(out, s, k, a))
			return false;
	return true;
}
