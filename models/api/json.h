/* Plans as JSON, with jansson's memory in an arena. Private to models/api. */
#ifndef SHARDSIM_API_JSON_H
#define SHARDSIM_API_JSON_H

#include "plan/plan.h"

/* Appends the object that shardsim_print() gives. */
void json_print_plan(struct text *out, const struct plan *p);

/*
 * A finished plan of the problem from such an object, or its steps alone; the arena's. The
 * text outlives the error.
 */
enum status json_read_plan(struct plan **out, const struct problem *p, struct arena *a,
                           const char *text, struct error *e);

#endif
