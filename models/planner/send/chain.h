/*
 * An answer of send_spread while it is improved, for send.c and chain.c.
 */
#ifndef SHARDSIM_PLANNER_SEND_CHAIN_H
#define SHARDSIM_PLANNER_SEND_CHAIN_H

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>

/* Loads that differ by less than this share of them are equal. */
#define SPREADING_SLACK 1e-12

struct spreading {
	int32_t nboxes, nsenders;
	const double *load; /* [nboxes * nsenders]: of each box at each sender */
	int32_t *sender;
	double *busy;  /* load of each sender */
	int32_t *rank; /* senders by rising load, as of the last time they were sorted */
	/* Boxes of each sender, as linked lists that -1 ends. */
	int32_t *first, *next, *before;
	int64_t work; /* the work that is left */
	/* No answer is below these: load of the busiest sender, sum of all loads. */
	double least_most, least_sum;
};

static inline const double *spreading_loads(const struct spreading *spread, int32_t box)
{
	return spread->load + (int64_t)box * spread->nsenders;
}

/* Return the load of the busiest sender, and the sum of all loads. */
double spreading_most(const struct spreading *spread);
double spreading_sum(const struct spreading *spread);

/* Gives a box that no sender has, or another one has, to a sender. */
void spreading_link(struct spreading *spread, int32_t box, int32_t sender);
void spreading_give(struct spreading *spread, int32_t box, int32_t sender);

/*
 * Relieves the busiest senders, where every box has its cheapest sender, along chains,
 * in which each sender gives a box to the next one, that add least to the sum. It stops
 * after the round that leaves no more than `least_left` work. Returns false if more
 * work is needed.
 */
bool spreading_relieve(struct spreading *spread, int64_t least_left);

#endif
