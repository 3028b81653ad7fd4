/*
 * The name that somebody may have meant who typed one that is not known. Offer all known
 * names one after another, then ask: of those that are near the word the nearest is
 * kept, of several the one offered first.
 *
 * Near is a name that differs by few slips: a letter that is missing, too many, another,
 * or in its neighbour's place, the case of letters left out; at most one slip in three
 * letters. So is one of which the word is the beginning or the end, behind or before one
 * of "-_.:" (`h100` of `dgx-h100`), or of at least three letters. Where none is near, the
 * word may be short for one: between dots it has the first of a name's letters and others of
 * them in their order, two or more (`bw` and `nic.bw` of `nic.bandwidth`).
 */
#ifndef SHARDSIM_BASE_SUGGEST_H
#define SHARDSIM_BASE_SUGGEST_H

#include <stdbool.h>
#include <stddef.h>

enum { SUGGEST_NAME = 64 };

struct suggestion {
	const char *word; /* borrowed */
	size_t length;
	const char *nearest; /* the best of the names offered, borrowed; NULL: none is near */
	int slips;           /* by how much it differs */
	bool part;           /* the word is its beginning or its end, or short for it */
	char text[SUGGEST_NAME + 32];
};

struct suggestion suggest_start(const char *word, size_t length);
void suggest_offer(struct suggestion *s, const char *name);

/* Does both for a list that ends with NULL. */
struct suggestion suggest_among(const char *word, size_t length,
                                const char *const *known);

/*
 * Returns "; did you mean 'NAME'?" to stand behind a message, or "" where no name is
 * near. It is the struct's own text. `before` stands before the name, such as "--".
 */
const char *suggest_ask(struct suggestion *s, const char *before);

#endif
