/* Which constants a family's timings can tell. */
#ifndef SHARDSIM_SIM_FIT_CHOOSE_H
#define SHARDSIM_SIM_FIT_CHOOSE_H

#include "fit/family.h"

/* A constant, and why the timings cannot tell it; NULL where they can. */
struct fit_choice {
	const char *figure, *why;
};

/*
 * Lists all constants that a fit can choose, in one order, and returns their number.
 * Texts are the arena's. In a `log`, all of whose timings are of one machine, documented
 * bandwidths are open, and those inside nodes may decide what goes over several.
 */
enum { FIT_CHOICES_MAX = 15, FIT_ROWS_LEAST = 10 };
int fit_choices(struct fit_choice *out, const struct validation *v, const char *family,
                bool log, struct arena *a);

/*
 * Returns the constants that are fitted for a family by default, ended by NULL; the
 * list is the arena's. These are:
 *
 * - the launch of each mode that its rows have; - fill_s and step, with groups inside a
 * node; - net_step and net_fill_s, with groups over several nodes; - net_post_s, with
 * all-gathers or reduce-scatters, which are rings, among those; - net_send_share and
 * net_send_s, with all-to-alls or permutes over several nodes; - send_wait_s, with all-to-alls
 * among 32 devices of a node; - net_latency_s and net_rendezvous_s, where the family has them;
 * - bandwidths that are open (family_open()).
 *
 * What the family takes from another one (family_borrows()) is left so, and everything where
 * the family has fewer than FIT_ROWS_LEAST rows, except for a log.
 *
 * If all rows are all-reduces over several nodes, launch and step cannot be told from
 * net_step, and remain those of a single node.
 */
const char **fit_constants(const struct validation *v, const char *family,
                           struct arena *a);

#endif
