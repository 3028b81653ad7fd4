/* The tables of `fit`, and which constants a family's timings can tell. */
#ifndef SHARDSIM_SIM_FIT_REPORT_H
#define SHARDSIM_SIM_FIT_REPORT_H

#include "fit_family.h"
#include "report_pen.h"

/* Constants with standard errors, errors before and after, each set left out. */
void fit_words(const struct pen *pen, const struct family_fit *fit, int n);

/*
 * What there is to fit for a family by default, NULL-ended, the arena's: the launch of each
 * mode that its rows have; step; with groups inside a node fill_s and the bandwidth of
 * its links; with groups over several nodes the bandwidth of the NICs, net_step and
 * net_fill_s, and with all-to-alls or permutes among them net_send_share and net_send_s.
 */
const char **fit_constants(const struct validation *v, const char *family,
                           struct arena *a);

#endif
