/* Scripts over prime digits. */
#include "planner/best/script.h"

#include <string.h>

/* The pieces of one digit, and where each begins in the new view. */
struct pieces {
	int n, first; /* n == 0: the digit stays whole, whatever cuts it */
	int32_t size[LAYOUT_PARTS_MAX];
};

/*
 * Pieces are primes or, where their stacks do not line up in every digit (4 before and 6
 * after), runs of primes of an axis that no layout takes apart.
 */
struct refining {
	struct pieces pieces[RANK_MAX];
	int rank, njoined;
	struct part joined[LAYOUT_PARTS_MAX]; /* primes that are one with the next one */
};

static const struct layout *layout_of(const struct script *s, int i)
{
	return i <= s->n ? script_before(s, i) : &s->to;
}

/* Returns whether a layout has neither of two primes, or one on top of the other. */
static bool keeps_together(const struct layout *l, struct part p, struct part q)
{
	for (int digit = 0; digit < l->rank; digit++) {
		struct part prime[LAYOUT_PARTS_MAX];
		int n = layout_digits(prime, l, digit);

		for (int k = 0; k < n; k++) {
			if (memcmp(&prime[k], &p, sizeof(p)) == 0)
				return k + 1 < n &&
				       memcmp(&prime[k + 1], &q, sizeof(q)) == 0;
			if (memcmp(&prime[k], &q, sizeof(q)) == 0)
				return false;
		}
	}
	return true;
}

static bool is_joined(const struct refining *refining, struct part p)
{
	for (int i = 0; i < refining->njoined; i++)
		if (memcmp(&refining->joined[i], &p, sizeof(p)) == 0)
			return true;
	return false;
}

static void join_primes(struct refining *refining, const struct script *s,
                        const struct layout *l, int digit)
{
	struct part prime[LAYOUT_PARTS_MAX];
	int n = layout_digits(prime, l, digit);

	for (int k = 0; k + 1 < n && refining->njoined < LAYOUT_PARTS_MAX; k++) {
		bool together = parts_are_next(prime[k], prime[k + 1]) &&
		                !is_joined(refining, prime[k]);

		for (int i = 0; i <= s->n + 1 && together; i++)
			together =
				keeps_together(layout_of(s, i), prime[k], prime[k + 1]);
		if (together)
			refining->joined[refining->njoined++] = prime[k];
	}
}

/* Writes the pieces that a layout cuts a digit into and returns their number. */
static int pieces_of(struct part *out, const struct refining *refining,
                     const struct layout *l, int digit)
{
	struct part prime[LAYOUT_PARTS_MAX];
	int n = layout_digits(prime, l, digit), count = 0;
	bool joined = false;

	for (int k = 0; k < n; k++) {
		if (joined)
			out[count - 1].size *= prime[k].size;
		else
			out[count++] = prime[k];
		joined = is_joined(refining, prime[k]);
	}
	return count;
}

/*
 * Takes over the pieces of a longer stack. Returns false if neither stack begins the
 * other.
 */
static bool add_stack(struct pieces *p, const struct refining *refining,
                      const struct layout *l, int digit)
{
	struct part piece[LAYOUT_PARTS_MAX];
	int n = pieces_of(piece, refining, l, digit);

	for (int k = 0; k < n; k++) {
		if (k < p->n && p->size[k] != piece[k].size)
			return false;
		p->size[k] = piece[k].size;
	}
	p->n = n > p->n ? n : p->n;
	return true;
}

/* Finds the pieces of a digit. Returns false where they do not line up or divide it. */
static bool find_pieces_of(struct refining *refining, const struct script *s, int digit)
{
	struct pieces *p = &refining->pieces[digit];
	int64_t rest = s->view.shape.dim[digit];

	p->n = 0;
	for (int i = 0; i <= s->n + 1; i++)
		if (!add_stack(p, refining, layout_of(s, i), digit))
			return false;
	for (int k = 0; k < p->n; k++) {
		if (rest % p->size[k])
			return false;
		rest /= p->size[k];
	}
	/* What is left behind the last piece, or the digit that is not cut. */
	refining->rank += p->n + (rest > 1 || p->n == 0);
	return true;
}

/* Returns whether no layout has neighbours of an axis in a digit that are two pieces. */
static bool can_stay_whole(const struct refining *refining, const struct script *s,
                           int digit)
{
	for (int i = 0; i <= s->n + 1; i++) {
		struct part piece[LAYOUT_PARTS_MAX];
		int n = pieces_of(piece, refining, layout_of(s, i), digit);

		for (int k = 0; k + 1 < n; k++)
			if (parts_are_next(piece[k], piece[k + 1]))
				return false;
	}
	return true;
}

/* Returns whether there is something to split into pieces, and all is said by them. */
static bool find_pieces(struct refining *refining, const struct script *s, bool runs)
{
	bool whole = false;

	refining->rank = 0;
	refining->njoined = 0;
	for (int i = 0; i <= s->n + 1 && runs; i++)
		for (int digit = 0; digit < s->view.shape.rank; digit++)
			join_primes(refining, s, layout_of(s, i), digit);
	for (int digit = 0; digit < s->view.shape.rank; digit++) {
		refining->pieces[digit].first = refining->rank;
		if (find_pieces_of(refining, s, digit))
			continue;
		if (runs && !can_stay_whole(refining, s, digit))
			return false;
		whole = true;
		refining->pieces[digit].n = 0;
		refining->rank++;
	}
	if (whole && !runs)
		return s->from.nunreduced == 0 && find_pieces(refining, s, true);
	return refining->rank > s->view.shape.rank && refining->rank <= RANK_MAX;
}

static void refine_view(struct view *out, const struct refining *refining,
                        const struct view *v)
{
	out->shape.rank = 0;
	for (int digit = 0; digit < v->shape.rank; digit++) {
		const struct pieces *p = &refining->pieces[digit];
		int64_t rest = v->shape.dim[digit];

		for (int k = 0; k < p->n; k++) {
			rest /= p->size[k];
			out->dim[out->shape.rank] = v->dim[digit];
			out->shape.dim[out->shape.rank++] = p->size[k];
		}
		if (rest > 1 || p->n == 0) {
			out->dim[out->shape.rank] = v->dim[digit];
			out->shape.dim[out->shape.rank++] = rest;
		}
	}
}

static struct layout refine_layout(const struct refining *refining,
                                   const struct layout *l)
{
	struct layout out = layout_replicated(refining->rank);
	struct part piece[LAYOUT_PARTS_MAX];

	for (int digit = 0; digit < l->rank; digit++) {
		const struct pieces *p = &refining->pieces[digit];
		int n = pieces_of(piece, refining, l, digit);

		for (int k = 0; k < n; k++)
			layout_append(&out, p->first + (p->n ? k : 0), piece[k]);
	}
	for (int k = 0, n = layout_digits(piece, l, l->rank); k < n; k++)
		layout_append(&out, refining->rank, piece[k]);
	return out;
}

bool script_refine(struct script *out, const struct script *s, struct arena *a)
{
	struct refining refining;

	if (!find_pieces(&refining, s, false))
		return false;
	script_begin(out, s->problem);
	out->n = s->n;
	refine_view(&out->view, &refining, &s->view);
	out->from = refine_layout(&refining, &s->from);
	out->to = refine_layout(&refining, &s->to);
	for (int i = 0; i < s->n; i++) {
		const struct layout *before = script_before(out, i);
		struct layout after = refine_layout(&refining, &s->step[i].after);
		struct script_step *step = &out->step[i];

		if (!script_between(step, before, &after, a))
			return false;
		if (s->step[i].op == OP_REDUCE_SCATTER && step->op == OP_SLICE)
			step->op = OP_REDUCE_SCATTER;
		if (s->step[i].op == OP_ALL_REDUCE)
			*step = s->step[i];
		else if (s->step[i].op == OP_PERMUTE || s->step[i].op == OP_EXCHANGE)
			*step = (struct script_step){.op = s->step[i].op};
		else if (step->op != s->step[i].op)
			return false;
		step->after = after;
		step->senders = s->step[i].senders;
	}
	return true;
}
