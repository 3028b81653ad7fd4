/*
 * How sure times are, from timings that were foretold by fits without their set.
 *
 * Of each timing e = ln(measured / time). Every pair of a set and a collective weighs the
 * same, in classes of size, inside one node and over several; a set that is the only one of its
 * family is foretold from the priors of what is fitted to it (fit/family.h). The 10 % and 90 %
 * quantiles of all of a class are drawn to those of a family, and these to those of one of its
 * collectives, by k/(k+5), k the pairs that it has there. To a half-width h so made comes the
 * spread between sets, sqrt(h^2 + (1.28 tau)^2), where tau is the root mean square of the means
 * of sets, of a family drawn to that of all in the same way, k its sets; sqrt(2) tau for families
 * without timings, and for sends over a network of a family that has another's cost of one.
 *
 * Errors of sets to which nothing was fitted hold much of tau already, so intervals so made
 * hold more than they say. They are calibrated: each cluster is left out of all this as well, and
 * half-widths are multiplied by the factor, of a class, with which those made of the others hold
 * four of five timings of a cluster, all clusters of equal weight. A cluster is a set alone unless
 * the mapping names one for the sets of one machine (validate/mapping.h), which say less about
 * another machine than as many machines would. This is conformal prediction with scores in units
 * of a width (Lei et al., JASA 113, 2018), of groups whose distributions are pooled with equal
 * weight (Dunn, Wasserman and Ramdas, JASA 118, 2023). How many timings are held by intervals
 * of which neither widths nor factor know the cluster is said at the top of the table.
 *
 * The rule was chosen among others by the interval score (Gneiting and Raftery, JASA 102, 2007)
 * of these sets left out twice, in ln: the mean over pairs of width + 10 times what is beyond an
 * end. For collectives it was 0.81 from 1 MiB on and 1.07 below; 0.82 and 1.11 where h is left as
 * it is, a share of one tau of all families added, and the level that of one pair more. Sizes from
 * 512 MiB on are a class since then: in one with those from 64 MiB on, intervals held 75 % of the
 * fitted timings below 512 MiB and 89 % above, and apart they hold 85 and 86 %.
 *
 * Training steps are treated alike, with models in place of collectives and no rows for one of
 * them. A step is foretold by the shipped constants where none of them was fitted to it, else
 * by those fitted without its set, or without its model where other sets do not tell them; one
 * that is left with neither counts for nothing. Steps of models with experts are a class of
 * their own, with a score of 0.53: in one class with all others it is 0.55, and of 12 pairs with
 * experts 55 % are held and of 49 without 85 %, instead of 86 % and 78 %. Numbers of nodes share
 * a class: two classes, with experts and without together, are no better than one, 0.55.
 */
#ifndef SHARDSIM_SIM_FIT_INTERVALS_H
#define SHARDSIM_SIM_FIT_INTERVALS_H

#include "fit/family.h"
#include "validate/program/steps.h"

/*
 * Appends the table platforms/intervals.csv (measure/likely.h) of these fits, whose
 * validation is still open, and of training steps that were left out in turn; NULL: of none.
 * `command` says what writes it.
 */
void intervals_print(struct text *out, const struct validation *v,
                     const struct family_fit *fit, int n,
                     const struct step_table *steps, const char *command);

#endif
