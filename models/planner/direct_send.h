/*
 * Who sends what: boxes that several devices hold are spread over these (`direct`).
 *
 * The load of a sender is the sum, over the boxes it sends, of elements times the price
 * of the path; the busiest sender decides, then the sum of all loads. Two answers are
 * improved by moving one box or swapping two as long as that helps, and the better one
 * is taken:
 *   longest first: boxes by falling size, each to the sender that is done with it
 *     first. Where all paths cost the same the busiest sender is then at most 4/3 -
 *     1/(3 senders) times the best possible (Graham, SIAM J. Appl. Math. 17 (1969)
 *     416-429), and the best possible where the boxes are of one size.
 *   min-cost assignment of boxes to places in the queues of the senders, place t from
 *     the end costing t times the load: least sum of completion times (Bruno, Coffman
 *     and Sethi, CACM 17 (1974) 382-387), which fills near senders before far ones in
 *     proportion to their prices.
 */
#ifndef SHARDSIM_PLANNER_DIRECT_SEND_H
#define SHARDSIM_PLANNER_DIRECT_SEND_H

#include <stdint.h>

struct sending {
	int32_t nboxes, nsenders;
	const double *elements; /* [nboxes] */
	const double *price;    /* [nboxes * nsenders], of one element, > 0 */
};

/*
 * Fills sender[nboxes] with numbers below nsenders. *work is how much may be spent on
 * assignments, in steps of their worst case, and is lowered by what they may have
 * taken; without enough of it only the first answer is improved. Deterministic.
 */
void direct_send(int32_t *sender, const struct sending *s, int64_t *work);

/* Load of the busiest sender; the sum of all loads in *sum. */
double direct_load(double *sum, const struct sending *s, const int32_t *sender);

#endif
