/*
 * Plans as text: one step a line, as people read them and bug reports quote them, and
 * back. Axes are written as Shardy writes them, without quotes where the name is plain:
 *
 *   slice {y}: ->1 => P('x', 'y')
 *   all-to-all {x}: 0->1, {y:(1)2}: 2->3 => P(None, 'x', None, 'y')
 *   all-gather {x}: 1-> => P(None, None)
 *   permute => P('y', 'x')                                pairs by the rule of plan.h
 *   permute pairs {{0,1},{1,0}} => P('y', 'x')            other pairs
 *   all-gather groups {{0,3},{1,2}} => {devices=[...]...} where no axes say it
 *
 * What a line leaves out follows from the layouts before and after it.
 */
#ifndef SHARDSIM_PLAN_PLAN_TEXT_H
#define SHARDSIM_PLAN_PLAN_TEXT_H

#include "plan/plan.h"

/* One step without its layout: "all-to-all {x}: 0->1". */
void step_print(struct text *out, const struct plan *p, int step);

/* All steps, a line each. Planners' ties are broken by the byte order of this text. */
void plan_print(struct text *out, const struct plan *p);

/* All steps on one line, without layouts, joined by "; "; "nothing" for no steps. */
void plan_print_line(struct text *out, const struct plan *p);

/*
 * Read the steps of a plan of problem `p` and finish it. Errors have their line and
 * column; they include steps that the layouts do not allow.
 */
enum status plan_parse(struct plan **out, const struct problem *p, struct arena *a,
                       const char *text, struct where at, struct error *e);

/*
 * Append a step that was read: `moves` may be 0 (then they follow from the layouts),
 * `groups` and `pairs` NULL (then they follow from the moves, or for a permute from the
 * layouts). False with the reason when the layouts do not allow it.
 */
bool plan_add_read(struct plan *p, enum op op, const struct move *moves, int nmoves,
                   const struct groups *groups, const struct pair *pairs, int32_t npairs,
                   const struct layout *after, struct text *why);

/* The op of this name, OPS if none. */
enum op op_find(const char *name, size_t length);

/* Are a step's groups (or chunks, pairs) just those that follow from its axes? */
bool step_follows_axes(const struct plan *p, int step);

#endif
