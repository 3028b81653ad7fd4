/* Measurements of one problem, as text for people and as JSON (sim/README.md, JSON). */
#ifndef SHARDSIM_SIM_CLI_SHOW_H
#define SHARDSIM_SIM_CLI_SHOW_H

#include "measure/likely.h"
#include "measure/links.h"
#include "measure/measure.h"

#include <jansson.h>
#include <stdio.h>

struct shown {
	const struct problem *problem;
	const struct bench *bench; /* clocks, machine, placement */
	const struct measurement *measurement;
	const struct likely_table *likely;
	int n;
	bool timing;                      /* planning times are shown */
	const struct links_report *links; /* [n], NULL if not shown */
	const struct timed *messages;     /* [n]: whose are shown; NULL: nobody's */
	const char *const *note;          /* on the problem (notes.h); NULL: none */
	const char *const *set; /* [nset]: figures of the machine that were changed */
	int nset;
	bool names_mesh; /* the mesh's names are ours, as no mesh was given */
	int manual;      /* first dimensions that number manual groups (warning.h) */
	bool warned;     /* it is of a warning */
};

/* Appends the problem, what bounds its plans, and the notes. */
void show_problem(struct text *out, const struct shown *s, struct arena *a);

/*
 * Print to a file as they go: a plan of many devices has boxes and messages by the
 * million, and no more than one of them is kept as text or JSON. `explanation` is that of
 * explain.h, NULL for none; it is the object's from here on.
 */
void show_text(FILE *out, const struct shown *s, struct arena *a);
void show_json(FILE *out, const struct shown *s, json_t *explanation);

#endif
