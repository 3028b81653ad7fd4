/*
 * Who sends what: boxes that several devices hold are spread over these (`direct`).
 *
 * The load of a sender is the sum, over the boxes it sends, of elements times the price
 * of the path; the busiest sender decides, then the sum of all loads. Boxes by falling
 * size go each to its cheapest sender, of equal ones to the least busy. Then
 *   chains relieve the busiest senders: a sender gives a box to another one, that one a
 *     box of its own to a third, and so on, so that the sum grows least: shortest
 *     augmenting paths over senders instead of boxes, with potentials (Ahuja, Magnanti and
 *     Orlin, Network Flows (1993), 9.7);
 *   moves of one box and swaps of two with the least busy sender that they help with make
 *     the busiest sender less busy; then moves and swaps lower the sum.
 * Where all paths cost the same the busiest sender is at most 4/3 - 1/(3 senders) times
 * the best possible (Graham, SIAM J. Appl. Math. 17 (1969) 416-429), and the best possible
 * where the boxes are of one size.
 */
#ifndef SHARDSIM_PLANNER_SEND_SEND_H
#define SHARDSIM_PLANNER_SEND_SEND_H

#include <stdint.h>

struct sending {
	int32_t nboxes, nsenders;
	const double *elements; /* [nboxes] */
	const double *price;    /* [nboxes * nsenders], of one element, > 0 */
};

/*
 * Fills sender[nboxes] with numbers below nsenders. *work is how much may be spent, in
 * prices looked at. What was spent is taken from it, and it falls below 0 where it was
 * little: all prices are looked at a few times in any case, and a round of chains, or
 * the search for one move or swap, is finished once begun. Where it does not suffice
 * for the chains, boxes go to their cheapest sender that stays within the mean load and
 * half a box. Deterministic.
 */
void send_spread(int32_t *sender, const struct sending *s, int64_t *work);

/* Returns the load of the busiest sender, and stores the sum of all loads in *sum. */
double send_load(double *sum, const struct sending *s, const int32_t *sender);

#endif
