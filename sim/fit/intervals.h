/*
 * How sure times are, from timings that were foretold by fits without their set.
 *
 * Of each timing e = ln(measured / time). Every pair of a set and a collective weighs the
 * same, in classes of size, inside one node and over several; a set that is the only one of its
 * family is foretold from the priors of what is fitted to it (fit/family.h). The 10 % and 90 %
 * quantiles of all of a class are drawn to those of a family, and these to those of one of its
 * collectives, by k/(k+5), k the pairs that it has there. To a half-width h so made comes a
 * share s of the spread between sets, sqrt(h^2 + (1.28 s tau)^2), where tau is the root mean
 * square of the means of sets; for families without timings sqrt(2) tau, and for sends over a
 * network of a family that has another's cost of one.
 *
 * Errors of sets to which nothing was fitted hold much of tau already: with s = 1 intervals
 * hold far more than they say. So s is no assumption: each set is left out of all this as well,
 * and s is the least, of a class, with which intervals made of the other sets hold four of five
 * of its timings. That is the order statistic at 0.8 (n+1)/n of n pairs, which holds for one
 * more pair as well (split conformal prediction: Lei et al., JASA 113, 2018).
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
