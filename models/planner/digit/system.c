/* Finding the digits of a problem. */
#include "base/assert.h"
#include "planner/digit/digit.h"

#include <string.h>

/*
 * The most orders of the primes inside the axes that are tried. No row needs more than
 * 24; the limit bounds the time where many axes have sizes of many primes.
 */
enum { ORDERS_MAX = 20000 };

/* Prime digits, before neighbours are joined: at most those of both layouts and a rest. */
enum { PRIMES_MAX = 2 * ATOMS_MAX + TYPE_RANK_MAX };

/* Atoms that bind each digit in the source and in the target, -1: none. */
struct primes {
	int n;
	uint8_t dim[PRIMES_MAX];
	int64_t size[PRIMES_MAX];
	int atom[2][PRIMES_MAX];
	bool joined[PRIMES_MAX]; /* with the next one */
};

/* --- the order of atoms ----------------------------------------------------------- */

/*
 * Returns whether a part of the layout or an axis of its mesh begins or ends at this
 * stride.
 */
static bool cut_at(const struct layout *l, const struct mesh *m, int64_t stride)
{
	int n = 0;

	for (int dim = 0; dim < l->rank; dim++)
		n += l->nparts[dim];
	for (int x = 0; x < m->naxes; x++)
		if (mesh_stride(m, x) == stride)
			return true;
	for (int k = 0; k < n; k++) {
		struct part p = l->part[k];
		int64_t top = mesh_stride(m, p.axis) * m->axis[p.axis].size / p.pre;

		if (top == stride || top / p.size == stride)
			return true;
	}
	return false;
}

/* Returns the end of the run of atoms from `first` on whose order nothing fixes. */
static int segment_end(const struct problem *p, const struct atoms *atoms, int first)
{
	int end = first + 1;

	while (end < atoms->n &&
	       !cut_at(&p->from, &p->mesh, atoms->atom[end - 1].stride) &&
	       !cut_at(&p->to, &p->to_mesh, atoms->atom[end - 1].stride))
		end++;
	return end;
}

static void swap_sizes(struct atom *a, struct atom *b)
{
	int32_t size = a->size;

	a->size = b->size;
	b->size = size;
}

/*
 * Makes the next order of sizes in falling sequence. After the last one it makes the
 * first and returns false.
 */
static bool next_order(struct atom *a, int n)
{
	int i = n - 1, j = n - 1;
	bool more;

	while (i > 0 && a[i - 1].size <= a[i].size)
		i--;
	more = i > 0;
	if (more) {
		while (a[j].size >= a[i - 1].size)
			j--;
		swap_sizes(&a[i - 1], &a[j]);
	}
	for (int k = n - 1; i < k; i++, k--)
		swap_sizes(&a[i], &a[k]);
	return more;
}

/*
 * Makes the next order of all atoms, which start with the large primes major (type.h).
 * One segment after the other goes on to its next order, as the digits of a counter do.
 * Returns false when all have been seen.
 */
static bool next_atoms(struct atoms *atoms, const struct problem *p)
{
	for (int first = 0, end; first < atoms->n; first = end) {
		int32_t low = 1;
		bool more;

		end = segment_end(p, atoms, first);
		if (end < atoms->n)
			low = atoms->atom[end].stride * atoms->atom[end].size;
		more = next_order(atoms->atom + first, end - first);
		for (int k = end - 1; k >= first; k--) {
			atoms->atom[k].stride = low;
			low *= atoms->atom[k].size;
		}
		if (more)
			return true;
	}
	return false;
}

/* --- prime digits ----------------------------------------------------------------- */

static void add_prime(struct primes *out, int dim, int64_t size, int from, int to)
{
	assert(out->n < PRIMES_MAX);
	out->dim[out->n] = (uint8_t)dim;
	out->size[out->n] = size;
	out->atom[0][out->n] = from;
	out->atom[1][out->n] = to;
	out->n++;
}

/*
 * Finds the prime digits. Cuts into primes form a divisor chain only if both layouts
 * cut off the same primes in the same order, as far as both go. Returns false where
 * they do not, with the dimension in *wrong.
 */
static bool find_primes(struct primes *out, const struct problem *p,
                        const struct atoms *atoms, int *wrong)
{
	struct type from = type_of_layout(&p->from, &p->mesh, atoms);
	struct type to = type_of_layout(&p->to, &p->to_mesh, atoms);
	int nf = 0, nt = 0;

	out->n = 0;
	for (int dim = 0; dim < p->padded.rank; dim++) {
		int64_t rest = p->padded.dim[dim];
		int most = from.count[dim] > to.count[dim] ? from.count[dim]
		                                           : to.count[dim];

		for (int k = 0; k < most; k++) {
			int f = k < from.count[dim] ? from.atom[nf++] : -1;
			int t = k < to.count[dim] ? to.atom[nt++] : -1;
			int32_t size = atoms->atom[f >= 0 ? f : t].size;

			*wrong = dim;
			if (f >= 0 && t >= 0 && size != atoms->atom[t].size)
				return false;
			assert(rest % size == 0);
			rest /= size;
			add_prime(out, dim, size, f, t);
		}
		if (rest > 1 || most == 0)
			add_prime(out, dim, rest, -1, -1);
	}
	return true;
}

/* --- joining ---------------------------------------------------------------------- */

static int place_of(const struct primes *s, int side, int atom)
{
	for (int k = 0; k < s->n; k++)
		if (s->atom[side][k] == atom)
			return k;
	return -1;
}

/*
 * Returns whether the atoms of digits k and k + 1 of one side also go together on the
 * other.
 */
static bool blocks_together(const struct primes *s, int side, int k)
{
	int a, b;

	if (s->atom[side][k] < 0)
		return true;
	a = place_of(s, !side, s->atom[side][k]);
	b = place_of(s, !side, s->atom[side][k + 1]);
	return a < 0 ? b < 0 : b == a + 1 && s->joined[a];
}

/*
 * Joins all digits that may be, then parts those that must not until nothing changes.
 */
static void join_primes(struct primes *s)
{
	bool changed = true;

	for (int k = 0; k < s->n; k++) {
		s->joined[k] = k + 1 < s->n && s->dim[k] == s->dim[k + 1];
		for (int side = 0; side < 2 && s->joined[k]; side++)
			s->joined[k] =
				(s->atom[side][k] < 0) == (s->atom[side][k + 1] < 0);
	}
	while (changed) {
		changed = false;
		for (int k = 0; k < s->n; k++) {
			if (!s->joined[k] ||
			    (blocks_together(s, 0, k) && blocks_together(s, 1, k)))
				continue;
			s->joined[k] = false;
			changed = true;
		}
	}
}

/* --- blocks ----------------------------------------------------------------------- */

/*
 * Returns the block that begins with this atom, which is made if it is not there yet.
 */
static struct block *block_of(struct digits *out, int atom)
{
	for (int k = 0; k < out->nblocks; k++)
		if (out->block[k].atom[0] == atom)
			return &out->block[k];
	out->block[out->nblocks] = (struct block){.size = 1, .from = -1, .to = -1};
	return &out->block[out->nblocks++];
}

static void bind_digits(struct digits *out, const struct primes *s, int side, int k,
                        int digit)
{
	struct block *b;

	if (s->atom[side][k] < 0)
		return;
	b = block_of(out, s->atom[side][k]);
	*(side ? &b->to : &b->from) = digit;
	if (b->natoms > 0)
		return;
	do {
		b->atom[b->natoms++] = (uint8_t)s->atom[side][k];
		b->size *= (int32_t)s->size[k];
	} while (s->joined[k++]);
}

static bool make_blocks(struct digits *out, const struct primes *s, struct text *why)
{
	out->nblocks = out->view.shape.rank = 0;
	for (int k = 0, first; k < s->n; k++) {
		int digit = out->view.shape.rank++;

		if (digit == RANK_MAX) {
			text_printf(why, "more than %d digits", RANK_MAX);
			return false;
		}
		first = k;
		out->view.dim[digit] = s->dim[k];
		out->view.shape.dim[digit] = s->size[k];
		for (; s->joined[k]; k++)
			out->view.shape.dim[digit] *= s->size[k + 1];
		bind_digits(out, s, 0, first, digit);
		bind_digits(out, s, 1, first, digit);
	}
	return true;
}

bool digits_make(struct digits *out, const struct problem *p, struct text *why)
{
	struct primes s;
	int tries = 1, wrong = 0;

	*out = (struct digits){.problem = p, .atoms = p->atoms};
	while (!find_primes(&s, p, &out->atoms, &wrong)) {
		if (tries++ < ORDERS_MAX && next_atoms(&out->atoms, p))
			continue;
		text_printf(why, "dimension %d is cut in radices that do not line up",
		            wrong);
		return false;
	}
	join_primes(&s);
	return make_blocks(out, &s, why);
}

/* --- bindings --------------------------------------------------------------------- */

struct binding digits_from(const struct digits *s)
{
	struct binding b;

	memset(b.block, -1, sizeof(b.block));
	for (int k = 0; k < s->nblocks; k++)
		if (s->block[k].from >= 0)
			b.block[s->block[k].from] = (int8_t)k;
	return b;
}

struct binding digits_to(const struct digits *s)
{
	struct binding b;

	memset(b.block, -1, sizeof(b.block));
	for (int k = 0; k < s->nblocks; k++)
		if (s->block[k].to >= 0)
			b.block[s->block[k].to] = (int8_t)k;
	return b;
}

/* Returns a layout of one dimension that a block cuts. */
static struct layout block_layout(const struct digits *s, const struct block *b,
                                  const struct mesh *m)
{
	struct type t;
	struct layout l;
	bool said;

	memset(&t, 0, sizeof(t));
	t.rank = 1;
	t.count[0] = (uint8_t)b->natoms;
	memcpy(t.atom, b->atom, (size_t)b->natoms);
	said = layout_of_type(&l, &t, &s->atoms, m);
	assert(said);
	(void)said;
	return l;
}

const struct part *digits_parts(int *n, const struct digits *s, const struct block *b,
                                const struct mesh *m, struct arena *a)
{
	struct layout l = block_layout(s, b, m);
	const struct part *parts = layout_parts(&l, 0, n);

	return arena_dup(a, parts, (size_t)*n, sizeof(*parts));
}

struct layout digits_layout(const struct digits *s, const struct binding *b,
                            const struct mesh *m)
{
	struct layout out = layout_replicated(s->view.shape.rank);

	for (int digit = 0; digit < out.rank; digit++) {
		struct layout l;
		const struct part *parts;
		int n;

		if (b->block[digit] < 0)
			continue;
		l = block_layout(s, &s->block[b->block[digit]], m);
		parts = layout_parts(&l, 0, &n);
		for (int k = 0; k < n; k++)
			layout_append(&out, digit, parts[k]);
	}
	return out;
}
