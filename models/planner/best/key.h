/*
 * What scripts and their permutes and exchanges say, as words that can be compared:
 * things with equal words are equal. Private to models/planner/best/.
 */
#ifndef SHARDSIM_PLANNER_BEST_KEY_H
#define SHARDSIM_PLANNER_BEST_KEY_H

#include "planner/best/script.h"

/* The words of a key, in memory that is used again; `{0}` has no words. */
struct script_key {
	uint64_t *at;
	int64_t n, room;
};

void script_key_free(struct script_key *key);

/* Returns the size of the words in bytes. */
static inline size_t script_key_size(const struct script_key *key)
{
	return (size_t)key->n * sizeof(*key->at);
}

/* Writes what a script does: equal words mean the same steps over the same digits. */
void script_key(struct script_key *out, const struct script *s);

/*
 * Writes what step i, a permute or an exchange, sends: equal words mean equal prices
 * within a problem, as the same devices send as much to the same others, whatever digits
 * of the view say so.
 */
void script_sent_key(struct script_key *out, const struct script *s, int i);

#endif
