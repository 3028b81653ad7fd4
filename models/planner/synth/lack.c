#include "planner/synth/lack.h"

#include <stdlib.h>

/*
 * On more devices looking at each takes longer than it saves. Where it is done, the
 * search in received bytes takes half the time.
 */
enum { LACK_DEVICES_MAX = 512 };

/* Returns the tile of device d in a dimension cut by a stack of atoms. */
static int32_t tile_of_digits(const struct lack *lack, const uint8_t *stack, int n,
                              int32_t d)
{
	const struct atoms *atoms = &lack->s->atoms;
	int32_t number = 0;

	for (int k = 0; k < n; k++)
		number = number * atoms->atom[stack[k]].size +
		         lack->digit[d * atoms->n + stack[k]];
	return number;
}

void lack_init(struct lack *out, const struct synth *s)
{
	const struct atoms *atoms = &s->atoms;
	int32_t n = s->problem->mesh.ndevices;
	int rank = s->to.rank;

	*out = (struct lack){.s = s};
	code_stacks(&out->to, code_of_type(&s->to), rank);
	stacks_extents(out->want, &out->to, s);
	out->one_size = true;
	for (int a = 1; a < atoms->n; a++)
		out->one_size =
			out->one_size && atoms->atom[a].size == atoms->atom[0].size;
	if (n > LACK_DEVICES_MAX)
		return;
	out->ndevices = n;
	if (out->one_size)
		return;
	out->digit = xmalloc((size_t)n * (size_t)(atoms->n + 1), sizeof(*out->digit));
	out->wanted = xmalloc((size_t)n * (size_t)(rank + 1), sizeof(*out->wanted));
	for (int32_t d = 0; d < n; d++) {
		for (int a = 0; a < atoms->n; a++)
			out->digit[d * atoms->n + a] =
				d / atoms->atom[a].stride % atoms->atom[a].size;
		for (int dim = 0; dim < rank; dim++)
			out->wanted[d * rank + dim] = tile_of_digits(
				out, out->to.atom[dim], out->to.count[dim], d);
	}
}

void lack_free(struct lack *lack)
{
	xfree(lack->digit);
	xfree(lack->wanted);
}

/* Returns the elements of the target's tile that device d holds in a type. */
static int64_t held(const struct lack *lack, const struct stacks *t,
                    const int64_t *have, int32_t d)
{
	int64_t elements = 1;

	for (int dim = 0; dim < t->rank && elements > 0; dim++) {
		int64_t want = lack->want[dim];
		int64_t lo = have[dim] *
		             tile_of_digits(lack, t->atom[dim], t->count[dim], d);
		int64_t low = want * lack->wanted[d * t->rank + dim];
		int64_t hi = lo + have[dim], high = low + want;

		lo = lo > low ? lo : low;
		hi = hi < high ? hi : high;
		elements *= hi > lo ? hi - lo : 0;
	}
	return elements;
}

/*
 * Returns the least that any device holds where all atoms are of one size, so that two
 * tiles of a dimension lie in each other or apart.
 */
static int64_t least_held(const struct lack *lack, const struct stacks *t)
{
	const struct atoms *atoms = &lack->s->atoms;
	int64_t elements = 1;

	for (int dim = 0; dim < t->rank; dim++) {
		int n = t->count[dim], wanted = lack->to.count[dim];
		int64_t extent = lack->want[dim];

		for (int k = 0; k < n && k < wanted; k++)
			if (t->atom[dim][k] != lack->to.atom[dim][k])
				return 0;
		for (int k = wanted; k < n; k++)
			extent /= atoms->atom[t->atom[dim][k]].size;
		elements *= extent;
	}
	return elements;
}

int64_t lack_least(const struct lack *lack, uint64_t code, int64_t elements)
{
	int64_t have[TYPE_RANK_MAX], least = elements;
	struct stacks t;

	if (lack->ndevices == 0)
		return elements;
	code_stacks(&t, code, lack->to.rank);
	if (lack->one_size)
		return least_held(lack, &t);
	stacks_extents(have, &t, lack->s);
	for (int32_t d = 0; d < lack->ndevices && least > 0; d++) {
		int64_t h = held(lack, &t, have, d);

		least = h < least ? h : least;
	}
	return least;
}
