/*
 * Problems and plans as JSON objects, and plans read from such objects. Objects are
 * jansson's; the caller owns what is returned.
 */
#ifndef SHARDSIM_PLAN_PLAN_JSON_H
#define SHARDSIM_PLAN_PLAN_JSON_H

#include "plan/plan.h"

#include <jansson.h>

/*
 * Returns a text as JSON, which has Unicode only: each byte that is not UTF-8, as names
 * of files and axes may have them, becomes U+FFFD.
 */
json_t *json_text(const char *s);

/*
 * Returns a quantity that may have a fraction: an integer where it is whole and exact
 * in a double (up to 2^53).
 */
json_t *json_quantity(double x);

/* Returns a number, or null for NaN: it is not known. */
json_t *json_known(double x);

/* Returns the "problem" object. Device lists that were not given are null. */
json_t *problem_json(const struct problem *p);

/*
 * Returns all steps, an array. In each "algorithm" is null and "time_s" {}: who knows a
 * platform sets them. What every member means, so that a program that knows nothing else
 * runs the plan, is in sim/doc/shardsim-1.schema.json.
 */
json_t *plan_json(const struct plan *p);

/*
 * Returns a step without its "boxes", [{"bounds": [[0,3], [6,12]], "pairs": [[4,0],
 * [5,1]]}], and whether it has them: who prints plans of millions of boxes prints them
 * one by one (step_box_run()).
 */
json_t *step_json(const struct plan *p, int step);
bool step_has_boxes(const struct step *s);

/*
 * A finished plan of problem `p` from an array of steps; `file` names the text in
 * errors, which say the step and member that is wrong ("steps[1].op: ..."). Every plan
 * reads back as it was written. What follows from the layouts and axes need not be there;
 * of strided tiles, boxes always follow, and those that are there are not read.
 */
enum status plan_parse_json(struct plan **out, const struct problem *p, struct arena *a,
                            const json_t *steps, const char *file, struct error *e);

#endif
