/*
 * All-to-alls in rounds (collective/pairwise.c) over groups of a torus, without their messages.
 *
 * Where the members of a group count up along one axis after another, each axis is a digit of their
 * numbers. In round k every member sends to the k-th behind it: along an axis as many places on, round
 * and round, as the axis' digit of k says, and one more if the digits below carry. Routes go axis by
 * axis, so that of the messages that share a line of an axis all carry or none does. One line of either
 * kind is looked at for each axis, and how far a member sends is found digit by digit.
 */
#ifndef SHARDSIM_PRICE_SHIFTS_H
#define SHARDSIM_PRICE_SHIFTS_H

#include "price/translates.h"

/* Seconds by the clock `model`: so many, and more for each byte that a device has. */
struct shifts {
	double s, s_per_byte;
};

/*
 * Finds what an all-to-all takes over groups of which few stand for all (translates_few()). Returns
 * false where members do not count up so, or links differ by direction.
 */
bool shifts_find(struct shifts *out, const struct machine *m,
                 const struct translates *t, const struct groups *few);

#endif
