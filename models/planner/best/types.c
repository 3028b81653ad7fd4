#include "planner/best/types.h"

#include "planner/digit/digit.h"

#include <string.h>

struct making {
	struct types *types;
	const struct problem *problem;
	int most;
	int from[TYPES_PRIMES_MAX], to[TYPES_PRIMES_MAX], own[TYPES_PRIMES_MAX];
	bool any; /* a prime may go to any digit of its size */
	/* The digits that each prime may cut; what primes from one on may cut tiles to. */
	int nplaces[TYPES_PRIMES_MAX];
	int8_t place[TYPES_PRIMES_MAX][RANK_MAX];
	int64_t cut[TYPES_PRIMES_MAX + 1];
	bool taken[RANK_MAX];
	struct types_state at;
};

/* --- the ends over digits --------------------------------------------------------- */

/* Does no layout of the script cut a digit by more than one prime? */
static bool is_fine(const struct script *s)
{
	struct part prime[LAYOUT_PARTS_MAX];

	for (int digit = 0; digit < s->view.shape.rank; digit++)
		if (layout_digits(prime, &s->from, digit) > 1 ||
		    layout_digits(prime, &s->to, digit) > 1)
			return false;
	return true;
}

/* Do both layouts cut a digit into the same number, or one of them not at all? */
static bool is_aligned(const struct script *s)
{
	for (int digit = 0; digit < s->view.shape.rank; digit++) {
		int64_t from = layout_shards(&s->from, digit);
		int64_t to = layout_shards(&s->to, digit);

		if (from != to && from > 1 && to > 1)
			return false;
	}
	return true;
}

static bool refine_ends(struct script *out, const struct script *s, struct arena *a)
{
	if (!script_refine(out, s, a)) {
		if (!is_fine(s))
			return false;
		script_copy(out, s);
	}
	return is_aligned(out);
}

/* Over the dimensions of the array cut into primes, or over the digits of `digit`. */
static bool find_ends(struct script *out, const struct problem *p, struct arena *a)
{
	struct script s;
	struct text why = {0};
	struct digits digits;
	struct binding from, to;
	bool made;

	if (!mesh_equal(&p->mesh, &p->to_mesh) || p->from.kind != LAYOUT_AXES ||
	    p->to.kind != LAYOUT_AXES || !p->padded_ok)
		return false;
	script_begin(&s, p, SENDERS_RULE);
	s.from = p->from;
	s.to = p->to;
	s.view.shape = p->padded;
	for (int i = 0; i < p->padded.rank; i++)
		s.view.dim[i] = (uint8_t)i;
	if (refine_ends(out, &s, a))
		return true;
	made = p->has_atoms && digits_make(&digits, p, &why);
	text_free(&why);
	if (!made)
		return false;
	from = digits_from(&digits);
	to = digits_to(&digits);
	s.view = digits.view;
	s.from = digits_layout(&digits, &from, &p->mesh);
	s.to = digits_layout(&digits, &to, &p->mesh);
	return refine_ends(out, &s, a);
}

/* --- primes ----------------------------------------------------------------------- */

/* The number of a prime, added if it is not there; -1 if there are too many. */
static int prime_number(struct types *t, struct part part)
{
	for (int i = 0; i < t->nprimes; i++)
		if (memcmp(&t->prime[i], &part, sizeof(part)) == 0)
			return i;
	if (t->nprimes == TYPES_PRIMES_MAX)
		return -1;
	t->prime[t->nprimes] = part;
	return t->nprimes++;
}

/* Where the primes of one layout are; places of primes that are not in it are left. */
static bool add_primes(struct types *t, int *at, const struct layout *l)
{
	for (int digit = 0; digit <= l->rank; digit++) {
		struct part prime[LAYOUT_PARTS_MAX];
		int n = layout_digits(prime, l, digit);

		for (int k = 0; k < n; k++) {
			int i = prime_number(t, prime[k]);

			if (i < 0)
				return false;
			at[i] = digit == l->rank ? AT_SUM : digit;
		}
	}
	return true;
}

static bool coexists(const struct types *t, struct part part)
{
	for (int i = 0; i < t->nprimes; i++)
		if (!parts_coexist(t->prime[i], part))
			return false;
	return true;
}

static int64_t stride_of(const struct mesh *m, struct part p)
{
	return mesh_stride(m, p.axis) * (m->axis[p.axis].size / (p.pre * p.size));
}

/* The prime of the mesh with the smallest stride that is not there; false if none. */
static bool next_free(struct part *out, const struct types *t, const struct mesh *m)
{
	bool found = false;

	for (int axis = 0; axis < m->naxes; axis++) {
		const struct part whole = {axis, 1, m->axis[axis].size};
		struct part prime[LAYOUT_PARTS_MAX];
		int n = parts_digits(prime, &whole, 1);

		for (int k = 0; k < n; k++) {
			if (!coexists(t, prime[k]) ||
			    (found && stride_of(m, prime[k]) >= stride_of(m, *out)))
				continue;
			*out = prime[k];
			found = true;
		}
	}
	return found;
}

/* --- digits of their own ---------------------------------------------------------- */

static struct layout shifted(const struct layout *l, int digit)
{
	struct layout out = layout_replicated(l->rank + 1);

	for (int dim = 0; dim <= l->rank; dim++) {
		int n;
		const struct part *part = layout_parts(l, dim, &n);

		for (int k = 0; k < n; k++)
			layout_append(&out, dim > digit ? dim + 1 : dim, part[k]);
	}
	return out;
}

/* The largest digit that neither end cuts and that `size` divides; -1 if none. */
static int rest_digit(const struct script *s, int32_t size)
{
	int best = -1;

	for (int digit = 0; digit < s->view.shape.rank; digit++) {
		int64_t extent = s->view.shape.dim[digit];

		if (s->from.nparts[digit] || s->to.nparts[digit] || extent % size)
			continue;
		if (best < 0 || extent > s->view.shape.dim[best])
			best = digit;
	}
	return best;
}

/*
 * Split a digit that neither end cuts: a front one of the prime's size, and the rest.
 * False if there is none.
 */
static bool add_digit(struct making *x, int prime)
{
	struct script *s = &x->types->ends;
	int32_t size = x->types->prime[prime].size;
	int digit = rest_digit(s, size), rank = s->view.shape.rank;
	struct view *v = &s->view;

	if (digit < 0 || rank == RANK_MAX)
		return false;
	s->from = shifted(&s->from, digit);
	s->to = shifted(&s->to, digit);
	for (int k = rank; k > digit; k--) {
		v->shape.dim[k] = v->shape.dim[k - 1];
		v->dim[k] = v->dim[k - 1];
	}
	v->shape.rank++;
	v->shape.dim[digit] = size;
	v->shape.dim[digit + 1] /= size;
	for (int i = 0; i < x->types->nprimes; i++) {
		x->from[i] += x->from[i] > digit;
		x->to[i] += x->to[i] > digit;
		x->own[i] += x->own[i] > digit;
	}
	x->own[prime] = digit;
	return true;
}

/* --- states ----------------------------------------------------------------------- */

static bool is_over(const struct making *x, int64_t elements)
{
	const struct problem *p = x->problem;

	return p->memory_limit_bytes >= 0 &&
	       dtype_bytes(p->array.dtype, elements) > p->memory_limit_bytes;
}

static bool add_state(struct making *x, int64_t elements)
{
	struct types *t = x->types;
	bool from = true, to = true;

	if (t->n == x->most)
		return false;
	t->state[t->n] = x->at;
	t->tile_bytes[t->n] = (double)elements * x->problem->array.dtype->bits / 8;
	for (int i = 0; i < t->nprimes; i++) {
		from = from && x->at.at[i] == x->from[i];
		to = to && x->at.at[i] == x->to[i];
	}
	if (from)
		t->from = t->n;
	if (to)
		t->to = t->n;
	t->n++;
	return true;
}

static bool may_cut(const struct making *x, int prime, int digit)
{
	const struct script *s = &x->types->ends;
	bool used = digit == x->own[prime];

	if (s->view.shape.dim[digit] != x->types->prime[prime].size)
		return false;
	for (int i = 0; i < x->types->nprimes && x->any; i++)
		used = used || digit == x->own[i] || digit == x->from[i] ||
		       digit == x->to[i];
	return used || digit == x->from[prime] || digit == x->to[prime];
}

/*
 * All places of primes from number `i` on whose tiles are within the limit; those before
 * leave tiles of so many elements. False if these are too many.
 */
static bool add_states(struct making *x, int i, int64_t elements)
{
	const struct types *t = x->types;

	if (is_over(x, elements / x->cut[i]))
		return true;
	if (i == t->nprimes)
		return add_state(x, elements);
	x->at.at[i] = AT_NONE;
	if (!add_states(x, i + 1, elements))
		return false;
	if (x->from[i] == AT_SUM) {
		x->at.at[i] = AT_SUM;
		if (!add_states(x, i + 1, elements))
			return false;
	}
	for (int k = 0; k < x->nplaces[i]; k++) {
		int digit = x->place[i][k];
		bool done;

		if (x->taken[digit])
			continue;
		x->taken[digit] = true;
		x->at.at[i] = (int8_t)digit;
		done = add_states(x, i + 1, elements / t->prime[i].size);
		x->taken[digit] = false;
		if (!done)
			return false;
	}
	return true;
}

/* The digits that each prime may cut, which all are as long as it. */
static void find_places(struct making *x)
{
	const struct types *t = x->types;

	x->cut[t->nprimes] = 1;
	for (int i = t->nprimes - 1; i >= 0; i--) {
		x->nplaces[i] = 0;
		for (int digit = 0; digit < t->ends.view.shape.rank; digit++)
			if (may_cut(x, i, digit))
				x->place[i][x->nplaces[i]++] = (int8_t)digit;
		x->cut[i] = x->cut[i + 1] * (x->nplaces[i] ? t->prime[i].size : 1);
	}
}

static bool list_states(struct making *x, bool any)
{
	struct types *t = x->types;

	x->any = any;
	t->n = 0;
	t->from = t->to = -1;
	memset(&x->at, 0, sizeof(x->at));
	memset(x->taken, 0, sizeof(x->taken));
	find_places(x);
	return add_states(x, 0, shape_elements(&t->ends.view.shape)) && t->from >= 0 &&
	       t->to >= 0;
}

/* A digit for a sum, or for a free prime as long as there are few types. */
static void add_own_digits(struct making *x)
{
	struct types *t = x->types;
	struct part part;

	for (int i = 0; i < t->nprimes; i++)
		if (x->from[i] == AT_SUM && x->to[i] == AT_NONE)
			add_digit(x, i);
	while (t->nprimes < TYPES_PRIMES_MAX && next_free(&part, t, &x->problem->mesh)) {
		struct types before = *t;
		struct making made = *x;

		t->prime[t->nprimes++] = part;
		if (add_digit(x, t->nprimes - 1) && list_states(x, false))
			continue;
		*x = made;
		*t = before;
		return;
	}
}

bool types_make(struct types *out, const struct problem *p, int most, struct arena *a)
{
	struct making x = {.types = out, .problem = p, .most = most};

	memset(out, 0, sizeof(*out));
	for (int i = 0; i < TYPES_PRIMES_MAX; i++)
		x.from[i] = x.to[i] = x.own[i] = AT_NONE;
	if (!find_ends(&out->ends, p, a) || !add_primes(out, x.from, &out->ends.from) ||
	    !add_primes(out, x.to, &out->ends.to))
		return false;
	for (int i = 0; i < out->nprimes; i++)
		for (int k = 0; k < i; k++)
			if (!parts_coexist(out->prime[i], out->prime[k]))
				return false;
	if (!list_states(&x, false))
		return false;
	add_own_digits(&x);
	return list_states(&x, true) || list_states(&x, false);
}

struct layout types_layout(const struct types *t, int state)
{
	const struct types_state *s = &t->state[state];
	int rank = t->ends.view.shape.rank;
	struct layout out = layout_replicated(rank);

	for (int i = 0; i < t->nprimes; i++)
		if (s->at[i] != AT_NONE)
			layout_append(&out, s->at[i] == AT_SUM ? rank : s->at[i],
			              t->prime[i]);
	return out;
}

/* --- between types ---------------------------------------------------------------- */

/* Does a prime cut this digit? */
static bool is_cut(const struct types *t, const struct types_state *s, int digit)
{
	for (int i = 0; i < t->nprimes; i++)
		if (s->at[i] == digit)
			return true;
	return false;
}

/* The op that takes one prime from one place to another; OPS if none does. */
static enum op op_between(int before, int after)
{
	if (before == AT_SUM)
		return after == AT_NONE ? OP_ALL_REDUCE : OP_REDUCE_SCATTER;
	if (after == AT_SUM)
		return OPS;
	if (before == AT_NONE)
		return OP_SLICE;
	return after == AT_NONE ? OP_ALL_GATHER : OP_ALL_TO_ALL;
}

/* The one op of all changes between two types, OPS if they need several or none. */
static enum op op_of(const struct types *t, int before, int after)
{
	const struct types_state *b = &t->state[before], *c = &t->state[after];
	enum op op = OPS;

	for (int i = 0; i < t->nprimes; i++) {
		enum op one;

		if (b->at[i] == c->at[i])
			continue;
		one = op_between(b->at[i], c->at[i]);
		if (one == OPS || (op != OPS && op != one) ||
		    (c->at[i] >= 0 && is_cut(t, b, c->at[i])))
			return OPS;
		op = one;
	}
	return op;
}

bool types_collective(struct script_step *out, const struct types *t, int before,
                      int after, struct arena *a)
{
	const struct types_state *b = &t->state[before], *c = &t->state[after];
	enum op op = op_of(t, before, after);
	struct move *move;
	struct part *part;

	if (op == OPS)
		return false;
	move = arena_alloc(a, (size_t)t->nprimes, sizeof(*move));
	part = arena_alloc(a, (size_t)t->nprimes, sizeof(*part));
	*out = (struct script_step){
		.op = op, .move = move, .after = types_layout(t, after)};
	for (int i = 0, n = 0; i < t->nprimes; i++) {
		struct move *m = &move[out->nmoves];

		if (b->at[i] == c->at[i])
			continue;
		part[n] = t->prime[i];
		if (op == OP_ALL_REDUCE && n > 0) {
			move[0].factor *= part[n++].size;
			move[0].nparts++;
			continue;
		}
		*m = (struct move){b->at[i] < 0 ? -1 : b->at[i],
		                   c->at[i] < 0 ? -1 : c->at[i], part[n].size, 1,
		                   &part[n]};
		out->nmoves++;
		n++;
	}
	return true;
}

bool types_exchange(const struct types *t, int before, int after)
{
	bool receives = false;

	for (int i = 0; i < t->nprimes; i++) {
		int b = t->state[before].at[i], c = t->state[after].at[i];

		if (b == AT_SUM || c == AT_SUM)
			return false;
		receives = receives || (b >= 0 && b != c);
	}
	return receives;
}

double types_received(const struct types *t, int before, int after)
{
	const struct types_state *b = &t->state[before], *c = &t->state[after];
	double q = 1;

	for (int i = 0; i < t->nprimes; i++) {
		if (b->at[i] == AT_SUM)
			return 0;
		if (b->at[i] == AT_NONE || b->at[i] == c->at[i])
			continue;
		q *= t->prime[i].size;
		/* A digit that another cuts from now on: some device has nothing. */
		if (is_cut(t, c, b->at[i]))
			return t->tile_bytes[after];
	}
	return t->tile_bytes[after] * (1 - 1 / q);
}
