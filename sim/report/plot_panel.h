/* What a plot of a sweep draws, and its two kinds of panels. Private to plot*.c. */
#ifndef SHARDSIM_SIM_REPORT_PLOT_PANEL_H
#define SHARDSIM_SIM_REPORT_PLOT_PANEL_H

#include "report/curve.h"
#include "report/html.h"

#include "base/list.h"

#include <stdio.h>

/* The speedups of a planner on a machine, in rising order. */
struct plot_share {
	const char *machine, *planner;
	LIST(double) speedup;
};

/* The shares of one machine, or a curve that has a planner to draw. */
struct plot_panel {
	const struct plot_share *share;
	int64_t nshares;
	const struct report_curve *curve; /* NULL: shares */
};

struct plot {
	const char *baseline;
	const char **planner; /* [nplanners]: number i has style i */
	size_t nplanners;
	struct html_axis y; /* of speedups */
};

/* Is the planner's line part of the curve? It is not drawn where no scenario is common. */
bool plot_draws(const struct plot *p, const struct report_curve *c, int planner);

/* Write a panel's axes and lines for gnuplot. */
void plot_shares(FILE *out, const struct plot *p, const struct plot_panel *panel);
void plot_curve(FILE *out, struct arena *a, const struct plot *p,
                const struct report_curve *c);

#endif
