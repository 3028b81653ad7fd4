/* The tables of `fit`, and which constants a family's timings can tell. */
#ifndef SHARDSIM_SIM_VALIDATE_FIT_REPORT_H
#define SHARDSIM_SIM_VALIDATE_FIT_REPORT_H

#include "text/pen.h"
#include "validate/fit_family.h"

/* Constants with standard errors, errors before and after, each set left out. */
void fit_words(const struct pen *pen, const struct family_fit *fit, int n);

/*
 * What there is to fit for a family by default, NULL-ended, the arena's: the launch of each
 * mode that its rows have; with groups inside a node fill_s and step; with groups over
 * several nodes net_step and net_fill_s, with all-gathers or reduce-scatters among them,
 * rings that is, net_post_s and, where they are over few and many nodes, net_growth, with
 * all-to-alls or permutes net_send_share and net_send_s. Bandwidths only if open
 * (family_open). Where all there is are all-reduces over several nodes, launch and step
 * cannot be told from net_step: they remain those of a single node.
 */
const char **fit_constants(const struct validation *v, const char *family,
                           struct arena *a);

#endif
