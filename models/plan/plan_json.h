/*
 * Problems and plans as JSON objects (design 7), and plans back from it. Objects are
 * jansson's; the caller owns what is returned.
 */
#ifndef SHARDSIM_PLAN_PLAN_JSON_H
#define SHARDSIM_PLAN_PLAN_JSON_H

#include "plan/plan.h"

#include <jansson.h>

/* The "problem" object. The device lists are null: all devices in mesh order. */
json_t *problem_json(const struct problem *p);

/*
 * One element of "steps". "algorithm" is null and "time_s" {}: who knows a platform
 * sets them.
 */
json_t *step_json(const struct plan *p, int step);

/* All steps, an array. */
json_t *plan_json(const struct plan *p);

/*
 * A finished plan of problem `p` from an array of steps; `file` names the text in
 * errors, which say the step and member that is wrong ("steps[1].op: ...").
 */
enum status plan_parse_json(struct plan **out, const struct problem *p, struct arena *a,
                            const json_t *steps, const char *file, struct error *e);

#endif
