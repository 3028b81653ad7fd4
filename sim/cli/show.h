/* Measurements of one problem, as text for people and as JSON (sim/README.md, JSON). */
#ifndef SHARDSIM_SIM_CLI_SHOW_H
#define SHARDSIM_SIM_CLI_SHOW_H

#include "measure/links.h"
#include "measure/measure.h"

#include <jansson.h>

struct shown {
	const struct problem *problem;
	const struct bench *bench; /* clocks, machine, placement */
	const struct measurement *measurement;
	int n;
	bool timing;                      /* planning times are shown */
	const struct links_report *links; /* [n], NULL if not shown */
	const char *const *note;          /* on the problem (notes.h); NULL: none */
};

void show_text(struct text *out, const struct shown *s, struct arena *a);

/* `explanation` is that of explain.h, NULL for none; it is the object's from here on. */
void show_json(struct text *out, const struct shown *s, json_t *explanation);

#endif
