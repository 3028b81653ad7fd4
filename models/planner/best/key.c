#include "planner/best/key.h"

#include "base/assert.h"
#include "base/list.h"

#include <stdlib.h>
#include <string.h>

static_assert(MESH_DEVICES_MAX <= 1 << 24 && MESH_AXES_MAX <= 1 << 8,
              "a part is one word, with room for a bit");

/*
 * This bit stands above the part in a word, and says that the cut is one of the layout
 * before the step.
 */
static const uint64_t BEFORE = UINT64_C(1) << 63;

void script_key_free(struct script_key *key)
{
	xfree(key->at);
	*key = (struct script_key){0};
}

static void add_word(struct script_key *key, uint64_t word)
{
	*list_add(key, NULL) = word;
}

static void add_words(struct script_key *key, const uint64_t *word, int n)
{
	add_word(key, (uint64_t)n);
	list_reserve(key, NULL, n);
	memcpy(key->at + key->n, word, (size_t)n * sizeof(*word));
	key->n += n;
}

static uint64_t word_of_part(struct part part)
{
	return (uint64_t)part.axis << 48 | (uint64_t)part.pre << 24 |
	       (uint64_t)part.size;
}

static void add_layout(struct script_key *key, const struct layout *l)
{
	for (int dim = 0; dim <= l->rank; dim++) {
		struct part prime[LAYOUT_PARTS_MAX];
		int n = layout_digits(prime, l, dim);

		add_word(key, (uint64_t)n);
		for (int k = 0; k < n; k++)
			add_word(key, word_of_part(prime[k]));
	}
}

static void add_extents(struct script_key *key, const struct view *v)
{
	add_word(key, (uint64_t)v->shape.rank);
	for (int i = 0; i < v->shape.rank; i++)
		add_word(key, (uint64_t)v->shape.dim[i]);
}

void script_key(struct script_key *out, const struct script *s)
{
	out->n = 0;
	add_extents(out, &s->view);
	for (int i = 0; i < s->view.shape.rank; i++)
		add_word(out, s->view.dim[i]);
	add_layout(out, &s->from);
	for (int i = 0; i < s->n; i++) {
		add_word(out, (uint64_t)s->step[i].senders << 8 | s->step[i].op);
		add_layout(out, &s->step[i].after);
	}
}

/* --- what a permute or an exchange sends ------------------------------------------ */

/* Lists of words, one after the other, whose order does not count. */
struct bag {
	int n, nwords;
	int end[2 * LAYOUT_PARTS_MAX]; /* of each list; the next one begins there */
	uint64_t word[2 * LAYOUT_PARTS_MAX];
};

static void bag_word(struct bag *bag, uint64_t word)
{
	assert(bag->nwords < 2 * LAYOUT_PARTS_MAX);
	bag->word[bag->nwords++] = word;
}

static int bag_first(const struct bag *bag, int list)
{
	return list ? bag->end[list - 1] : 0;
}

/* Compares two lists by length, then by words. */
static int bag_compare(const struct bag *bag, int a, int b)
{
	int first_a = bag_first(bag, a), first_b = bag_first(bag, b);
	int n = bag->end[a] - first_a, m = bag->end[b] - first_b;

	if (n != m)
		return n < m ? -1 : 1;
	return memcmp(bag->word + first_a, bag->word + first_b,
	              (size_t)n * sizeof(*bag->word));
}

static void add_bag(struct script_key *key, const struct bag *bag)
{
	int order[2 * LAYOUT_PARTS_MAX];

	for (int i = 0; i < bag->n; i++) {
		int at = i;

		for (; at > 0 && bag_compare(bag, i, order[at - 1]) < 0; at--)
			order[at] = order[at - 1];
		order[at] = i;
	}
	add_word(key, (uint64_t)bag->n);
	for (int i = 0; i < bag->n; i++) {
		int first = bag_first(bag, order[i]);

		add_words(key, bag->word + first, bag->end[order[i]] - first);
	}
}

/* The cuts of one digit, before and after, that are not in a piece yet. */
struct cuts {
	struct part before[LAYOUT_PARTS_MAX], after[LAYOUT_PARTS_MAX];
	int nbefore, nafter, i, k;
};

/* Adds a list of cuts up to where both sides have as many tiles, or to the end. */
static void bag_piece(struct bag *bag, struct cuts *cuts)
{
	int64_t before = 1, after = 1;
	bool both = cuts->i < cuts->nbefore && cuts->k < cuts->nafter;

	do {
		bool left = cuts->k == cuts->nafter ||
		            (cuts->i < cuts->nbefore && before <= after);
		struct part part =
			left ? cuts->before[cuts->i++] : cuts->after[cuts->k++];

		bag_word(bag, word_of_part(part) | (left ? BEFORE : 0));
		if (left)
			before *= part.size;
		else
			after *= part.size;
	} while (both && before != after &&
	         (cuts->i < cuts->nbefore || cuts->k < cuts->nafter));
	bag->end[bag->n++] = bag->nwords;
}

/* Returns whether a size is a power of one prime. */
static bool is_power(int32_t size)
{
	int32_t prime = 2;

	while (size % prime)
		prime++;
	while (size % prime == 0)
		size /= prime;
	return size == 1;
}

/*
 * Adds the parts of several primes, for where these end decides into which digits the
 * mesh is cut.
 */
static void add_composite(struct script_key *key, const struct layout *l)
{
	struct bag bag = {.n = 0};
	int n = 0;

	for (int dim = 0; dim < l->rank; dim++)
		n += l->nparts[dim];
	for (int k = 0; k < n; k++) {
		if (l->part[k].size == 1 || is_power(l->part[k].size))
			continue;
		bag_word(&bag, word_of_part(l->part[k]));
		bag.end[bag.n++] = bag.nwords;
	}
	add_bag(key, &bag);
}

/*
 * Adds what an exchange does. Equal digits that are in another order, or are not told
 * apart, lead to the same boxes.
 */
static void add_exchange(struct script_key *key, const struct layout *before,
                         const struct layout *after)
{
	struct bag bag = {.n = 0};

	for (int dim = 0; dim < before->rank; dim++) {
		struct cuts cuts = {.i = 0};

		cuts.nbefore = layout_digits(cuts.before, before, dim);
		cuts.nafter = layout_digits(cuts.after, after, dim);
		while (cuts.i < cuts.nbefore || cuts.k < cuts.nafter)
			bag_piece(&bag, &cuts);
	}
	add_bag(key, &bag);
}

/*
 * Adds the cuts of a layout: all tiles are numbered by all cuts in a row, whatever
 * dimension they are of.
 */
static void add_cuts(struct script_key *key, const struct layout *l)
{
	int64_t count = key->n;

	add_word(key, 0);
	for (int dim = 0; dim < l->rank; dim++) {
		struct part prime[LAYOUT_PARTS_MAX];
		int n = layout_digits(prime, l, dim);

		for (int k = 0; k < n; k++)
			add_word(key, word_of_part(prime[k]));
	}
	key->at[count] = (uint64_t)(key->n - count);
}

void script_sent_key(struct script_key *out, const struct script *s, int i)
{
	const struct script_step *step = &s->step[i];
	const struct layout *before = script_before(s, i), *after = &step->after;
	bool ordered = before->nunreduced || after->nunreduced ||
	               !layout_divides(before, &s->view.shape) ||
	               !layout_divides(after, &s->view.shape);

	out->n = 0;
	add_word(out, step->senders);
	add_word(out, (uint64_t)step->op << 1 | ordered);
	if (ordered) {
		add_extents(out, &s->view);
		add_layout(out, before);
		add_layout(out, after);
		return;
	}
	add_composite(out, before);
	add_composite(out, after);
	if (step->op == OP_EXCHANGE) {
		add_exchange(out, before, after);
	} else {
		add_cuts(out, before);
		add_cuts(out, after);
	}
}
