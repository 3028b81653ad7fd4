/*
 * What a step changes: the digit of each piece before and after it. A change is one
 * collective or an exchange, is found from layouts, and can be done in two halves.
 */
#include "planner/best/script.h"

#include <string.h>

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

bool script_between(struct script_step *out, const struct layout *before,
                    const struct layout *after, struct arena *a)
{
	struct change c;

	if (!find_change(&c, before, after))
		return false;
	make_step(out, &c, after, a);
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
			if (parts_are_next(part[k], part[k + 1]))
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

/*
 * Does step `at`, which makes the change `all`, in two, of which the first makes the change
 * `half`. Returns false where one of them has nothing to do, or cannot be said.
 */
static bool split_change(struct script *out, const struct script *s, int at,
                         const struct change *all, const struct change *half,
                         struct arena *a)
{
	const struct layout *before = script_before(s, at);
	const struct layout *after = &s->step[at].after;
	struct change first, rest;
	struct layout mid;

	if (half->n == 0 || half->n == all->n ||
	    !apply_change(&mid, before, after, half) ||
	    !layout_divides(&mid, &s->view.shape) || !is_valid(&mid) ||
	    !find_change(&first, before, &mid) || !find_change(&rest, &mid, after) ||
	    first.n == 0 || rest.n == 0)
		return false;
	script_copy(out, s);
	make_step(&out->step[at], &first, &mid, a);
	make_step(&out->step[at + 1], &rest, after, a);
	out->step[at].senders = out->step[at + 1].senders = s->step[at].senders;
	if (s->step[at].op == OP_REDUCE_SCATTER)
		out->step[at].op = out->step[at + 1].op = OP_REDUCE_SCATTER;
	for (int i = at + 1; i < s->n; i++)
		out->step[i + 1] = s->step[i];
	out->n = s->n + 1;
	return true;
}

bool script_split(struct script *out, const struct script *s, int at, int64_t stride,
                  bool major, struct arena *a)
{
	struct change all, half = {0};

	if (s->n == SCRIPT_STEPS_MAX ||
	    !find_change(&all, script_before(s, at), &s->step[at].after))
		return false;
	for (int i = 0; i < all.n; i++)
		if ((stride_of(&s->problem->mesh, all.bound[i].part) >= stride) == major)
			half.bound[half.n++] = all.bound[i];
	return split_change(out, s, at, &all, &half, a);
}

bool script_slice_first(struct script *out, const struct script *s, int at,
                        struct arena *a)
{
	const struct layout *before = script_before(s, at);
	struct change all, half = {0};

	if (s->n == SCRIPT_STEPS_MAX || !find_change(&all, before, &s->step[at].after))
		return false;
	for (int i = 0; i < all.n; i++) {
		const struct bound *b = &all.bound[i];

		if (b->before < 0 && before->nparts[b->after] == 0)
			half.bound[half.n++] = *b;
	}
	return split_change(out, s, at, &all, &half, a);
}

bool script_gather_last(struct script *out, const struct script *s, int at,
                        struct arena *a)
{
	const struct layout *after = &s->step[at].after;
	struct change all, half = {0};

	if (s->n == SCRIPT_STEPS_MAX || !find_change(&all, script_before(s, at), after))
		return false;
	for (int i = 0; i < all.n; i++) {
		const struct bound *b = &all.bound[i];

		if (b->after >= 0 || after->nparts[b->before] > 0)
			half.bound[half.n++] = *b;
	}
	return split_change(out, s, at, &all, &half, a);
}
