#include "planner/synth/rewrite.h"

#include "base/assert.h"
#include "base/list.h"

#include <stdlib.h>
#include <string.h>

enum { REPLACEMENT_MAX = 5 };

/* What a pair of neighbours becomes. */
struct replacement {
	int n;
	struct rewrite_op op[REPLACEMENT_MAX];
};

static struct rewrite_op op_g(int i)
{
	return (struct rewrite_op){.kind = REWRITE_G, .i = (uint8_t)i};
}

static struct rewrite_op op_s(int i, int a)
{
	return (struct rewrite_op){.kind = REWRITE_S, .i = (uint8_t)i, .a = (uint8_t)a};
}

static struct rewrite_op op_a(int i, int j)
{
	return (struct rewrite_op){.kind = REWRITE_A, .i = (uint8_t)i, .j = (uint8_t)j};
}

static struct rewrite_op op_x(int i, int j)
{
	return (struct rewrite_op){.kind = REWRITE_X, .i = (uint8_t)i, .j = (uint8_t)j};
}

static struct rewrite_op op_w(int i, int a, int b)
{
	return (struct rewrite_op){
		.kind = REWRITE_W, .i = (uint8_t)i, .a = (uint8_t)a, .b = (uint8_t)b};
}

static struct rewrite_op op_r(int i, int a)
{
	return (struct rewrite_op){.kind = REWRITE_R, .i = (uint8_t)i, .a = (uint8_t)a};
}

/* Replaces the pair by the ops given. */
#define BECOMES(out, ...)                                                              \
	become((out), (const struct rewrite_op[]){__VA_ARGS__},                        \
	       sizeof((struct rewrite_op[]){__VA_ARGS__}) / sizeof(struct rewrite_op))

static bool become(struct replacement *out, const struct rewrite_op *op, size_t n)
{
	assert(n <= REPLACEMENT_MAX);
	out->n = (int)n;
	memcpy(out->op, op, n * sizeof(*op));
	return true;
}

static int size_of(const struct synth *s, int atom)
{
	return s->atoms.atom[atom].size;
}

/* Returns the atom `depth` below the top of a stack. */
static int top(const struct type *t, int dim, int depth)
{
	assert(t->count[dim] > depth);
	return type_stack(t, dim)[t->count[dim] - 1 - depth];
}

/* Returns the atom that becomes the top of `dim` once the top of `gathered` is gone. */
static int next_top(const struct type *t, int dim, int gathered)
{
	return top(t, dim, dim == gathered);
}

/* --- the rules -------------------------------------------------------------------- */

static bool gather_slice(struct replacement *out, const struct synth *s,
                         const struct type *t, int i, struct rewrite_op op)
{
	int x = top(t, i, 0), a = op.a, j = op.i;

	if (a == x && i == j) {
		out->n = 0;
		return true;
	}
	if (a == x)
		return BECOMES(out, op_a(i, j));
	if (i != j)
		return BECOMES(out, op, op_g(i));
	if (size_of(s, a) == size_of(s, x))
		return BECOMES(out, op_r(i, a));
	return BECOMES(out, op, op_w(i, a, x), op_g(i));
}

static bool gather_all_to_all(struct replacement *out, const struct synth *s,
                              const struct type *t, int i, struct rewrite_op op)
{
	int x = top(t, i, 0), k = op.i, l = op.j, y = next_top(t, k, i);

	if (i == k)
		return BECOMES(out, op_w(i, x, y), op, op_g(i));
	if (i != l)
		return BECOMES(out, op, op_g(i));
	if (size_of(s, x) == size_of(s, y))
		return BECOMES(out, op_x(i, k), op_g(k));
	return BECOMES(out, op, op_w(i, x, y), op_g(i));
}

static bool gather_swap(struct replacement *out, const struct type *t, int i,
                        struct rewrite_op op)
{
	int x = top(t, i, 0), l = i == op.i ? op.j : op.i;
	int y, z;

	if (i != op.i && i != op.j)
		return BECOMES(out, op, op_g(i));
	y = next_top(t, i, i);
	z = top(t, l, 0);
	return BECOMES(out, op_w(i, x, y), op_x(i, l), op_w(i, x, z), op_g(i));
}

static bool gather_replace(struct replacement *out, const struct type *t, int i,
                           struct rewrite_op op)
{
	int x = top(t, i, 0), k = op.i, b = op.a, y = next_top(t, k, i);

	if (i == k && b == x)
		return BECOMES(out, op_w(i, x, y), op_g(i));
	if (i == k)
		return BECOMES(out, op_w(i, x, y), op, op_w(i, b, x), op_g(i));
	if (b == x)
		return BECOMES(out, op_x(i, k), op_g(i));
	return BECOMES(out, op, op_g(i));
}

static bool all_to_all_slice(struct replacement *out, const struct synth *s,
                             const struct type *t, struct rewrite_op flat,
                             struct rewrite_op op)
{
	int k = flat.i, l = flat.j, y = top(t, k, 0), i = op.i, a = op.a;

	if (i == k && size_of(s, a) == size_of(s, y))
		return BECOMES(out, op_s(l, a), op_x(k, l));
	if (i == k)
		return BECOMES(out, op_s(k, a), op_w(k, a, y), flat);
	if (i == l)
		return BECOMES(out, op_s(l, a), flat, op_w(l, a, y));
	return BECOMES(out, op, flat);
}

static bool swap_slice(struct replacement *out, const struct type *t,
                       struct rewrite_op flat, struct rewrite_op op)
{
	int k = op.i, a = op.a, l = k == flat.i ? flat.j : flat.i;
	int y, z;

	if (k != flat.i && k != flat.j)
		return BECOMES(out, op, flat);
	y = top(t, k, 0);
	z = top(t, l, 0);
	return BECOMES(out, op_s(k, a), op_w(k, a, y), op_x(k, l), op_w(k, a, z));
}

static bool replace_slice(struct replacement *out, const struct synth *s,
                          const struct type *t, struct rewrite_op flat,
                          struct rewrite_op op)
{
	int k = flat.i, b = flat.a, y = top(t, k, 0), i = op.i, a = op.a;

	if (i == k && a == y)
		return BECOMES(out, op_s(k, b), op_w(k, b, y));
	if (i == k && size_of(s, a) == size_of(s, y))
		return BECOMES(out, op_s(k, b), op_w(k, b, y), op_r(k, a));
	if (i == k)
		return BECOMES(out, op_s(k, a), op_w(k, a, y), flat, op_w(k, b, a));
	if (a == y)
		return BECOMES(out, op_s(i, b), op_x(i, k));
	return BECOMES(out, op, flat);
}

/*
 * Finds the replacement of two neighbours in the wrong order, the first of which acts
 * on type t.
 */
static bool rewrite_pair(struct replacement *out, const struct synth *s,
                         const struct type *t, struct rewrite_op p, struct rewrite_op q)
{
	if (p.kind == REWRITE_G) {
		switch (q.kind) {
		case REWRITE_G:
			return false;
		case REWRITE_S:
			return gather_slice(out, s, t, p.i, q);
		case REWRITE_A:
			return gather_all_to_all(out, s, t, p.i, q);
		case REWRITE_X:
			return gather_swap(out, t, p.i, q);
		case REWRITE_R:
			return gather_replace(out, t, p.i, q);
		case REWRITE_W:
			return BECOMES(out, q, p);
		}
	}
	if (q.kind != REWRITE_S)
		return false;
	switch (p.kind) {
	case REWRITE_A:
		return all_to_all_slice(out, s, t, p, q);
	case REWRITE_X:
		return swap_slice(out, t, p, q);
	case REWRITE_R:
		return replace_slice(out, s, t, p, q);
	case REWRITE_W:
		return BECOMES(out, q, p);
	default:
		return false;
	}
}

/* --- acting on types -------------------------------------------------------------- */

static bool holds(const struct type *t, int dim, int atom)
{
	return memchr(type_stack(t, dim), atom, t->count[dim]) != NULL;
}

bool rewrite_op_fits(const struct synth *s, const struct type *t, struct rewrite_op op)
{
	switch (op.kind) {
	case REWRITE_G:
		return t->count[op.i] > 0;
	case REWRITE_S:
		return !(type_used(t) >> op.a & 1) &&
		       synth_extent(s, t, op.i) % size_of(s, op.a) == 0;
	case REWRITE_A:
		return op.i != op.j && t->count[op.i] > 0 &&
		       synth_extent(s, t, op.j) % size_of(s, top(t, op.i, 0)) == 0;
	case REWRITE_X:
		return op.i != op.j && t->count[op.i] > 0 && t->count[op.j] > 0 &&
		       size_of(s, top(t, op.i, 0)) == size_of(s, top(t, op.j, 0));
	case REWRITE_W:
		return op.a != op.b && holds(t, op.i, op.a) && holds(t, op.i, op.b);
	case REWRITE_R:
		return t->count[op.i] > 0 && !(type_used(t) >> op.a & 1) &&
		       size_of(s, top(t, op.i, 0)) == size_of(s, op.a);
	}
	return false;
}

static void swap_atoms(uint8_t *a, uint8_t *b)
{
	uint8_t atom = *a;

	*a = *b;
	*b = atom;
}

static void act(struct type *t, struct rewrite_op op)
{
	uint8_t *stack = t->atom + type_first(t, op.i), *end = stack + t->count[op.i];

	switch (op.kind) {
	case REWRITE_G:
		type_pop(t, op.i, NULL, 1);
		break;
	case REWRITE_S:
		type_push(t, op.i, &op.a, 1);
		break;
	case REWRITE_A:
		type_shift(t, op.i, op.j, 1);
		break;
	case REWRITE_X:
		swap_atoms(end - 1, t->atom + type_first(t, op.j + 1) - 1);
		break;
	case REWRITE_W:
		swap_atoms(memchr(stack, op.a, t->count[op.i]),
		           memchr(stack, op.b, t->count[op.i]));
		break;
	case REWRITE_R:
		end[-1] = op.a;
		break;
	}
}

/* Makes room for `more` ops and the types after them. */
static void make_room(struct rewriting *rewriting, int more)
{
	rewriting->op = list_grow(NULL, rewriting->op, rewriting->n, more,
	                          &rewriting->op_room, sizeof(*rewriting->op));
	rewriting->type = list_grow(NULL, rewriting->type, rewriting->n + 1, more,
	                            &rewriting->type_room, sizeof(*rewriting->type));
}

/* Puts `r` in place of the two ops from `at` on, and brings the types up to date. */
static void replace(struct rewriting *rewriting, int at, const struct replacement *r)
{
	int after = rewriting->n - at - 2;

	make_room(rewriting, r->n);
	memmove(rewriting->op + at + r->n, rewriting->op + at + 2,
	        (size_t)after * sizeof(*rewriting->op));
	memmove(rewriting->type + at + r->n, rewriting->type + at + 2,
	        (size_t)(after + 1) * sizeof(*rewriting->type));
	rewriting->n += r->n - 2;
	for (int k = 0; k < r->n; k++) {
		struct type t = rewriting->type[at + k];

		assert(rewrite_op_fits(rewriting->s, &t, r->op[k]));
		rewriting->op[at + k] = r->op[k];
		act(&t, r->op[k]);
		if (k < r->n - 1)
			rewriting->type[at + k + 1] = t;
		else
			assert(type_equal(&t, &rewriting->type[at + r->n]));
	}
}

static void add_op(struct rewriting *rewriting, struct rewrite_op op)
{
	struct type t = rewriting->type[rewriting->n];

	act(&t, op);
	make_room(rewriting, 1);
	rewriting->op[rewriting->n++] = op;
	rewriting->type[rewriting->n] = t;
}

struct rewriting rewriting_easy(const struct synth *s)
{
	struct rewriting rewriting = {.s = s};
	const struct type *to = &s->to;

	rewriting.type = list_grow(NULL, NULL, 0, 1, &rewriting.type_room,
	                           sizeof(*rewriting.type));
	rewriting.type[0] = s->from;
	for (int dim = 0; dim < to->rank; dim++)
		for (int k = 0; k < s->from.count[dim]; k++)
			add_op(&rewriting, op_g(dim));
	for (int dim = 0; dim < to->rank; dim++)
		for (int k = 0; k < to->count[dim]; k++)
			add_op(&rewriting, op_s(dim, type_stack(to, dim)[k]));
	return rewriting;
}

void rewriting_free(struct rewriting *rewriting)
{
	xfree(rewriting->op);
	xfree(rewriting->type);
}

int rewriting_run(struct rewriting *rewriting)
{
	int rewrites = 0;

	for (int at = 0; at + 1 < rewriting->n;) {
		struct replacement r;

		if (!rewrite_pair(&r, rewriting->s, &rewriting->type[at],
		                  rewriting->op[at], rewriting->op[at + 1])) {
			at++;
			continue;
		}
		replace(rewriting, at, &r);
		rewrites++;
		at = at > 0 ? at - 1 : 0;
	}
	return rewrites;
}
