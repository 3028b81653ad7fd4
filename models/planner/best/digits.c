/* Scripts over prime digits, and steps in two halves. */
#include "base/assert.h"
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

static bool is_next(struct part p, struct part q)
{
	return p.axis == q.axis && q.pre == p.pre * p.size;
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
		bool together = is_next(prime[k], prime[k + 1]) &&
		                !is_joined(refining, prime[k]);

		for (int i = 0; i <= s->n + 1 && together; i++)
			together = keeps_together(layout_of(s, i), prime[k],
			                          prime[k + 1]);
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
			if (is_next(piece[k], piece[k + 1]))
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

/* --- bindings: the digit of each piece ------------------------------------------- */

struct bound {
	struct part part;
	int before, after; /* digits; -1: none */
};

struct change {
	int n;
	bool stacked; /* a digit has several of them */
	struct bound bound[LAYOUT_PARTS_MAX];
};

static struct bound *binding_of(struct change *c, struct part part)
{
	for (int i = 0; i < c->n; i++)
		if (memcmp(&c->bound[i].part, &part, sizeof(part)) == 0)
			return &c->bound[i];
	c->bound[c->n] = (struct bound){part, -1, -1};
	return &c->bound[c->n++];
}

/* Returns whether a layout has several primes in a digit. */
static bool has_stack(const struct layout *l, int digit)
{
	struct part prime[LAYOUT_PARTS_MAX];

	return layout_digits(prime, l, digit) > 1;
}

/*
 * Finds the pieces that are not where they were: not in that digit, or not behind the same
 * others. Returns false where there are too many, or several primes of a digit may be
 * those of a sum.
 */
static bool find_change(struct change *out, const struct layout *before,
                        const struct layout *after)
{
	out->n = 0;
	out->stacked = false;
	for (int digit = 0; digit < before->rank; digit++) {
		int nb, na, same = 0;
		const struct part *b = layout_parts(before, digit, &nb);
		const struct part *a = layout_parts(after, digit, &na);

		while (same < nb && same < na &&
		       memcmp(&b[same], &a[same], sizeof(*a)) == 0)
			same++;
		if (out->n + nb + na - 2 * same > LAYOUT_PARTS_MAX ||
		    (before->nunreduced > 0 &&
		     (has_stack(before, digit) || has_stack(after, digit))))
			return false;
		out->stacked = out->stacked || nb - same > 1 || na - same > 1;
		for (int k = same; k < nb; k++)
			binding_of(out, b[k])->before = digit;
		for (int k = same; k < na; k++)
			binding_of(out, a[k])->after = digit;
	}
	return true;
}

/*
 * Returns the collective that makes all these changes at once, or OP_EXCHANGE if none
 * does.
 */
static enum op op_of_change(const struct change *c)
{
	int slices = 0, gathers = 0, moves = 0;

	if (c->stacked)
		return OP_EXCHANGE;
	for (int i = 0; i < c->n; i++) {
		const struct bound *b = &c->bound[i];

		slices += b->before < 0;
		gathers += b->after < 0;
		moves += b->before >= 0 && b->after >= 0;
		for (int k = 0; k < c->n; k++)
			if (b->after >= 0 && c->bound[k].before == b->after)
				return OP_EXCHANGE;
	}
	return slices == c->n    ? OP_SLICE
	       : gathers == c->n ? OP_ALL_GATHER
	       : moves == c->n   ? OP_ALL_TO_ALL
	                         : OP_EXCHANGE;
}

static void make_step(struct script_step *out, const struct change *c,
                      const struct layout *after, struct arena *a)
{
	struct move *move = arena_alloc(a, (size_t)c->n, sizeof(*move));

	*out = (struct script_step){.op = op_of_change(c), .after = *after};
	if (out->op == OP_EXCHANGE)
		return;
	out->move = move;
	out->nmoves = c->n;
	for (int i = 0; i < c->n; i++) {
		const struct bound *b = &c->bound[i];

		move[i] = (struct move){b->before, b->after, b->part.size, 1,
		                        arena_dup(a, &b->part, 1, sizeof(b->part))};
	}
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
		struct change c;

		if (!find_change(&c, before, &after))
			return false;
		make_step(step, &c, &after, a);
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

bool script_merge(struct script *out, const struct script *s, int first, int end,
                  struct arena *a)
{
	const struct layout *after = &s->step[end - 1].after;
	struct change c;

	if (!find_change(&c, script_before(s, first), after) || c.n == 0)
		return false;
	script_copy(out, s);
	make_step(&out->step[first], &c, after, a);
	out->step[first].senders = s->step[first].senders;
	for (int i = end; i < s->n; i++)
		out->step[first + 1 + i - end] = s->step[i];
	out->n = s->n - (end - first) + 1;
	return out->step[first].op != OP_EXCHANGE;
}

/* --- halves ---------------------------------------------------------------------- */

static int64_t stride_of(const struct mesh *m, struct part p)
{
	return mesh_stride(m, p.axis) * (m->axis[p.axis].size / (p.pre * p.size));
}

int script_strides(int64_t *out, int most, const struct script *s, int at)
{
	const struct mesh *m = &s->problem->mesh;
	struct change c;
	int n = 0;

	if (!find_change(&c, script_before(s, at), &s->step[at].after))
		return 0;
	for (int i = 0; i < c.n; i++) {
		int64_t stride = stride_of(m, c.bound[i].part);
		int k = n;

		for (; k > 0 && out[k - 1] > stride; k--)
			;
		if (n == most)
			continue;
		memmove(out + k + 1, out + k, (size_t)(n - k) * sizeof(*out));
		out[k] = stride;
		n++;
	}
	return n;
}

static bool is_in(const struct change *c, struct part part)
{
	for (int i = 0; i < c->n; i++)
		if (memcmp(&c->bound[i].part, &part, sizeof(part)) == 0)
			return true;
	return false;
}

/*
 * Binds the pieces of a part of a change as they are after it, which makes them no longer
 * unreduced. Returns false if that takes a piece from under others.
 */
static bool apply_change(struct layout *out, const struct layout *before,
                         const struct layout *after, const struct change *c)
{
	struct part sum[LAYOUT_PARTS_MAX];
	int nsums = layout_digits(sum, before, before->rank);

	*out = layout_replicated(before->rank);
	for (int digit = 0; digit < before->rank; digit++) {
		int n, kept = 0;
		const struct part *part = layout_parts(before, digit, &n);

		for (int k = 0; k < n; k++) {
			if (is_in(c, part[k]))
				continue;
			if (kept++ < k)
				return false;
			layout_append(out, digit, part[k]);
		}
		part = layout_parts(after, digit, &n);
		for (int k = 0; k < n; k++)
			if (is_in(c, part[k]) && !layout_append(out, digit, part[k]))
				return false;
		part = layout_parts(out, digit, &n);
		for (int k = 0; k + 1 < n; k++)
			if (is_next(part[k], part[k + 1]))
				return false;
	}
	for (int k = 0; k < nsums; k++)
		if (!is_in(c, sum[k]))
			layout_append(out, out->rank, sum[k]);
	return true;
}

/*
 * Returns whether all primes of a layout can be together: [2,3] and [3,2] of one axis
 * cannot.
 */
static bool is_valid(const struct layout *l)
{
	struct part prime[LAYOUT_PARTS_MAX];
	int n = 0;

	for (int dim = 0; dim <= l->rank; dim++)
		n += layout_digits(prime + n, l, dim);
	for (int i = 0; i < n; i++)
		for (int k = 0; k < i; k++)
			if (!parts_coexist(prime[i], prime[k]))
				return false;
	return true;
}

bool script_split(struct script *out, const struct script *s, int at, int64_t stride,
                  bool major, struct arena *a)
{
	const struct mesh *m = &s->problem->mesh;
	const struct layout *before = script_before(s, at);
	const struct layout *after = &s->step[at].after;
	struct change all, half = {0}, rest;
	struct layout mid;

	if (s->n == SCRIPT_STEPS_MAX || !find_change(&all, before, after))
		return false;
	for (int i = 0; i < all.n; i++) {
		bool first = (stride_of(m, all.bound[i].part) >= stride) == major;

		if (first)
			half.bound[half.n++] = all.bound[i];
	}
	if (half.n == 0 || half.n == all.n || !apply_change(&mid, before, after, &half) ||
	    !script_divides(&mid, &s->view.shape) || !is_valid(&mid) ||
	    !find_change(&half, before, &mid) || !find_change(&rest, &mid, after) ||
	    half.n == 0 || rest.n == 0)
		return false;
	script_copy(out, s);
	make_step(&out->step[at], &half, &mid, a);
	make_step(&out->step[at + 1], &rest, after, a);
	out->step[at].senders = out->step[at + 1].senders = s->step[at].senders;
	if (s->step[at].op == OP_REDUCE_SCATTER)
		out->step[at].op = out->step[at + 1].op = OP_REDUCE_SCATTER;
	for (int i = at + 1; i < s->n; i++)
		out->step[i + 1] = s->step[i];
	out->n = s->n + 1;
	return true;
}
