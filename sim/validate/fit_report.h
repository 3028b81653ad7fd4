/* The tables of `fit`, and which constants a family's timings can tell. */
#ifndef SHARDSIM_SIM_VALIDATE_FIT_REPORT_H
#define SHARDSIM_SIM_VALIDATE_FIT_REPORT_H

#include "text/pen.h"
#include "validate/fit_family.h"

/*
 * Prints constants with standard errors, errors before and after, and each set left
 * out.
 */
void fit_words(const struct pen *pen, const struct family_fit *fit, int n);

/*
 * Returns the constants that are fitted for a family by default, ended by NULL; the
 * list is the arena's. These are:
 *
 * - the launch of each mode that its rows have; - fill_s and step, with groups inside a
 * node; - net_step and net_fill_s, with groups over several nodes; - net_post_s, with
 * all-gathers or reduce-scatters, which are rings, among those; - net_growth, if those
 * rings are over few and over many nodes; - net_send_share and net_send_s, with
 * all-to-alls or permutes over several nodes; - bandwidths that are open
 * (family_open()).
 *
 * If all rows are all-reduces over several nodes, launch and step cannot be told from
 * net_step, and remain those of a single node.
 */
const char **fit_constants(const struct validation *v, const char *family,
                           struct arena *a);

#endif
