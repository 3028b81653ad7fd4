/* Scripts over prime digits, and steps in two halves. */
#include "base/assert.h"
#include "planner/best/script.h"

#include <string.h>

/* The prime pieces of one digit, and where each begins in the new view. */
struct pieces {
	int n, first;
	int32_t size[LAYOUT_PARTS_MAX];
};

struct refining {
	struct pieces pieces[RANK_MAX];
	int rank;
};

/*
 * Takes over the primes of a longer stack. Returns false if neither stack begins the
 * other.
 */
static bool add_stack(struct pieces *p, const struct layout *l, int digit)
{
	struct part prime[LAYOUT_PARTS_MAX];
	int n = layout_digits(prime, l, digit);

	for (int k = 0; k < n; k++) {
		if (k < p->n && p->size[k] != prime[k].size)
			return false;
		p->size[k] = prime[k].size;
	}
	p->n = n > p->n ? n : p->n;
	return true;
}

static bool find_prime_pieces(struct refining *refining, const struct script *s)
{
	refining->rank = 0;
	for (int digit = 0; digit < s->view.shape.rank; digit++) {
		struct pieces *p = &refining->pieces[digit];

		p->n = 0;
		p->first = refining->rank;
		if (!add_stack(p, &s->to, digit))
			return false;
		for (int i = 0; i <= s->n; i++)
			if (!add_stack(p, script_before(s, i), digit))
				return false;
		refining->rank += p->n;
		/* What is left behind the last piece, or the digit that is not cut. */
		for (int64_t rest = s->view.shape.dim[digit], k = 0; k <= p->n; k++) {
			if (k == p->n)
				refining->rank += rest > 1 || p->n == 0;
			else if (rest % p->size[k])
				return false;
			else
				rest /= p->size[k];
		}
	}
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
	struct part prime[LAYOUT_PARTS_MAX];

	for (int digit = 0; digit < l->rank; digit++) {
		int n = layout_digits(prime, l, digit);

		for (int k = 0; k < n; k++)
			layout_append(&out, refining->pieces[digit].first + k, prime[k]);
	}
	for (int k = 0, n = layout_digits(prime, l, l->rank); k < n; k++)
		layout_append(&out, refining->rank, prime[k]);
	return out;
}

/* --- bindings: the digit of each prime ------------------------------------------- */

struct bound {
	struct part part;
	int before, after; /* digits; -1: none */
};

struct change {
	int n;
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

/*
 * Finds the primes that are not where they were. Returns false if a digit has several
 * of them.
 */
static bool find_change(struct change *out, const struct layout *before,
                        const struct layout *after)
{
	struct change all = {0};

	for (int digit = 0; digit < before->rank; digit++) {
		struct part prime[LAYOUT_PARTS_MAX];
		int n = layout_digits(prime, before, digit);

		if (n > 1)
			return false;
		if (n == 1)
			binding_of(&all, prime[0])->before = digit;
		n = layout_digits(prime, after, digit);
		if (n > 1)
			return false;
		if (n == 1)
			binding_of(&all, prime[0])->after = digit;
	}
	out->n = 0;
	for (int i = 0; i < all.n; i++)
		if (all.bound[i].before != all.bound[i].after)
			out->bound[out->n++] = all.bound[i];
	return true;
}

/*
 * Returns the collective that makes all these changes at once, or OP_EXCHANGE if none
 * does.
 */
static enum op op_of_change(const struct change *c)
{
	int slices = 0, gathers = 0, moves = 0;

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

	if (!find_prime_pieces(&refining, s))
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

/*
 * Binds the primes of the change as they are after it, which makes them no longer
 * unreduced. Returns false if one of their digits is bound already.
 */
static bool apply_change(struct layout *out, const struct layout *before,
                         const struct change *c)
{
	int taken[RANK_MAX] = {0};
	struct part sum[LAYOUT_PARTS_MAX];
	int nsums = layout_digits(sum, before, before->rank);

	*out = layout_replicated(before->rank);
	for (int digit = 0; digit < before->rank; digit++) {
		struct part prime[LAYOUT_PARTS_MAX];
		bool moved = false;

		if (layout_digits(prime, before, digit) == 0)
			continue;
		for (int i = 0; i < c->n; i++)
			moved = moved || c->bound[i].before == digit;
		if (moved)
			continue;
		layout_append(out, digit, prime[0]);
		taken[digit]++;
	}
	for (int i = 0; i < c->n; i++) {
		int digit = c->bound[i].after;

		if (digit < 0)
			continue;
		layout_append(out, digit, c->bound[i].part);
		if (++taken[digit] > 1)
			return false;
	}
	for (int k = 0; k < nsums; k++) {
		bool done = false;

		for (int i = 0; i < c->n; i++)
			done = done ||
			       memcmp(&c->bound[i].part, &sum[k], sizeof(*sum)) == 0;
		if (!done)
			layout_append(out, out->rank, sum[k]);
	}
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
	struct change all, half[2] = {{0}, {0}};
	struct layout mid;

	if (s->n == SCRIPT_STEPS_MAX || !find_change(&all, before, &s->step[at].after))
		return false;
	for (int i = 0; i < all.n; i++) {
		bool first = (stride_of(m, all.bound[i].part) >= stride) == major;
		struct change *c = &half[first ? 0 : 1];

		c->bound[c->n++] = all.bound[i];
	}
	if (half[0].n == 0 || half[1].n == 0 || !apply_change(&mid, before, &half[0]) ||
	    !is_valid(&mid))
		return false;
	script_copy(out, s);
	make_step(&out->step[at], &half[0], &mid, a);
	make_step(&out->step[at + 1], &half[1], &s->step[at].after, a);
	out->step[at].senders = out->step[at + 1].senders = s->step[at].senders;
	if (s->step[at].op == OP_REDUCE_SCATTER)
		out->step[at].op = out->step[at + 1].op = OP_REDUCE_SCATTER;
	for (int i = at + 1; i < s->n; i++)
		out->step[i + 1] = s->step[i];
	out->n = s->n + 1;
	return true;
}
