/*
 * How sure times are, from timings that were foretold by fits without their set.
 *
 * Of each timing e = ln(measured / time). Every pair of a set and a collective weighs the
 * same, in classes of size, inside one node and over several. The 10 % and 90 % quantiles of
 * all of a class are drawn to those of a family, and these to those of one of its collectives,
 * by k/(k+5), k the pairs that it has there. To a half-width h so made comes half of the
 * spread between sets, sqrt(h^2 + (1.28 tau / 2)^2), where tau is the root mean square of the
 * means of sets; for families without timings sqrt(2) tau. Half, because the quantiles hold
 * part of that spread already: of timings whose set is left out of this as well, the
 * intervals hold 81 %, above 1 MiB and below (77 and 75 without tau, 90 and 87 with all of it).
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
