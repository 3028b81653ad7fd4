/*
 * How sure times are, from timings that were foretold by fits without their set.
 *
 * Of each timing e = ln(measured / time). Every pair of a set and a collective weighs the
 * same, in classes of size, inside one node and over several; sets that are the only one of
 * their family tell nothing of others and do not count. The 10 % and 90 % quantiles of all of a
 * class are drawn to those of a family, and these to those of one of its collectives, by
 * k/(k+5), k the pairs that it has there. To a half-width h so made comes a share s of the
 * spread between sets, sqrt(h^2 + (1.28 s tau)^2), where tau is the root mean square of the
 * means of sets; for families without timings sqrt(2) tau.
 *
 * s is no assumption: each set is left out of all this as well, and s is the least, of a class,
 * with which intervals made of the other sets hold its timings, four of five of them with a
 * confidence of 80 % (an order statistic: of n pairs the one at 0.8 + 0.84 sqrt(0.16/n)). Where
 * few sets say how sets differ, as of small messages over networks, intervals are wide.
 */
#ifndef SHARDSIM_SIM_FIT_INTERVALS_H
#define SHARDSIM_SIM_FIT_INTERVALS_H

#include "fit/family.h"

/*
 * Appends the table platforms/intervals.csv (measure/likely.h) of these fits, whose
 * validation is still open. `command` says what writes it.
 */
void intervals_print(struct text *out, const struct validation *v,
                     const struct family_fit *fit, int n, const char *command);

#endif
