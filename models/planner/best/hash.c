/* Hashes of scripts and of their permutes and exchanges. */
#include "planner/best/script.h"

static const uint64_t START = UINT64_C(0xcbf29ce484222325);

static uint64_t mix(uint64_t hash, uint64_t value)
{
	/* FNV-1a, by words; shifted so that high bits reach low ones. */
	hash = (hash ^ value) * UINT64_C(0x100000001b3);
	return hash ^ hash >> 29;
}

static uint64_t mix_part(uint64_t hash, struct part part)
{
	return mix(mix(mix(hash, (uint64_t)part.axis), (uint64_t)part.pre),
	           (uint64_t)part.size);
}

static uint64_t mix_layout(uint64_t hash, const struct layout *l)
{
	for (int dim = 0; dim <= l->rank; dim++) {
		struct part prime[LAYOUT_PARTS_MAX];
		int n = layout_digits(prime, l, dim);

		hash = mix(hash, (uint64_t)n);
		for (int k = 0; k < n; k++)
			hash = mix_part(hash, prime[k]);
	}
	return hash;
}

uint64_t script_hash(const struct script *s)
{
	uint64_t hash = mix(START, s->senders);

	for (int i = 0; i < s->view.shape.rank; i++)
		hash = mix(mix(hash, (uint64_t)s->view.shape.dim[i]), s->view.dim[i]);
	hash = mix_layout(hash, &s->from);
	for (int i = 0; i < s->n; i++)
		hash = mix_layout(mix(hash, s->step[i].op), &s->step[i].after);
	return hash;
}

/* --- what a permute or an exchange sends ------------------------------------------ */

/* A sum does not tell the order of what is in it. */
static uint64_t unordered(uint64_t hash)
{
	hash = (hash ^ hash >> 32) * UINT64_C(0x9e3779b97f4a7c15);
	return hash ^ hash >> 29;
}

/* The cuts of one digit, before and after, that are not in a piece yet. */
struct cuts {
	struct part before[LAYOUT_PARTS_MAX], after[LAYOUT_PARTS_MAX];
	int nbefore, nafter, i, k;
};

/* Cuts up to where both sides have as many tiles, or to the end. */
static uint64_t next_piece(struct cuts *x)
{
	int64_t before = 1, after = 1;
	bool both = x->i < x->nbefore && x->k < x->nafter;
	uint64_t hash = START;

	do {
		bool left = x->k == x->nafter || (x->i < x->nbefore && before <= after);
		struct part part = left ? x->before[x->i++] : x->after[x->k++];

		hash = mix_part(mix(hash, left), part);
		if (left)
			before *= part.size;
		else
			after *= part.size;
	} while (both && before != after && (x->i < x->nbefore || x->k < x->nafter));
	return unordered(hash);
}

/* Is it a power of one prime? */
static bool is_power(int32_t size)
{
	int32_t prime = 2;

	while (size % prime)
		prime++;
	while (size % prime == 0)
		size /= prime;
	return size == 1;
}

/* Sizes of several primes: into which digits the mesh is cut hangs on where they end. */
static uint64_t hash_mixed(const struct layout *l)
{
	uint64_t sum = 0;
	int n = 0;

	for (int dim = 0; dim < l->rank; dim++)
		n += l->nparts[dim];
	for (int k = 0; k < n; k++)
		if (l->part[k].size > 1 && !is_power(l->part[k].size))
			sum += unordered(mix_part(START, l->part[k]));
	return sum;
}

/* Do all tiles have as many elements? */
static bool divides(const struct layout *l, const struct shape *shape)
{
	for (int dim = 0; dim < l->rank; dim++)
		if (shape->dim[dim] % layout_shards(l, dim) != 0)
			return false;
	return true;
}

/* Equal digits in another order, or not told apart, lead to the same boxes. */
static uint64_t hash_exchange(const struct layout *before, const struct layout *after)
{
	uint64_t sum = 0;

	for (int dim = 0; dim < before->rank; dim++) {
		struct cuts x = {.i = 0};

		x.nbefore = layout_digits(x.before, before, dim);
		x.nafter = layout_digits(x.after, after, dim);
		while (x.i < x.nbefore || x.k < x.nafter)
			sum += next_piece(&x);
	}
	return sum;
}

/* All tiles are numbered by all cuts in a row, whatever dimension they are of. */
static uint64_t hash_permute(const struct layout *before, const struct layout *after)
{
	const struct layout *l[2] = {before, after};
	uint64_t hash = START;

	for (int i = 0; i < 2; i++) {
		for (int dim = 0; dim < l[i]->rank; dim++) {
			struct part prime[LAYOUT_PARTS_MAX];
			int n = layout_digits(prime, l[i], dim);

			for (int k = 0; k < n; k++)
				hash = mix_part(hash, prime[k]);
		}
		hash = mix(hash, (uint64_t)i);
	}
	return hash;
}

uint64_t script_sent_hash(const struct script *s, int i)
{
	const struct script_step *step = &s->step[i];
	const struct layout *before = script_before(s, i), *after = &step->after;
	uint64_t hash = mix(mix(START, s->senders), step->op);

	/* Of equal paths the one in front is chosen, as the boxes are listed. */
	if (s->senders == SENDERS_PATHS || before->nunreduced || after->nunreduced ||
	    !divides(before, &s->view.shape) || !divides(after, &s->view.shape)) {
		for (int k = 0; k < s->view.shape.rank; k++)
			hash = mix(hash, (uint64_t)s->view.shape.dim[k]);
		return mix_layout(mix_layout(hash, before), after);
	}
	hash = mix(hash, hash_mixed(before) + 3 * hash_mixed(after));
	return mix(hash, step->op == OP_PERMUTE ? hash_permute(before, after)
	                                        : hash_exchange(before, after));
}
