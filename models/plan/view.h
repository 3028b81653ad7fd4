/*
 * Views: plans over the digits of array dimensions, with strided layouts
 * (models/README.md, "Digits").
 */
#ifndef SHARDSIM_PLAN_VIEW_H
#define SHARDSIM_PLAN_VIEW_H

#include "array/tile.h"
#include "plan/plan.h"

/*
 * Returns whether the view fits the padded shape, and the plan's `from` and `to` over
 * its digits give every device the problem's tiles. A plan without a view has these
 * layouts.
 */
bool view_check(const struct plan *p, struct text *why);

/*
 * Print a layout of the plan's steps. Without a view as layout_print does; with one the
 * digits that need not be apart are joined first (a digit cut down to one element, or a
 * next one that is not cut), and what is still split is written as
 * `[8192,8192]->[4,2048,2,4096] P('x', None, 'y', None)`.
 */
void view_print_layout(struct text *out, const struct plan *p, const struct layout *l,
                       const struct mesh *m);

/*
 * Join the digits that need not be apart in a layout: a digit cut down to one element
 * with the next, one that is not cut with the one before. Every layout with the same
 * tiles comes out the same.
 */
void view_join(struct view *v, struct layout *l);

/*
 * Read a layout of a step on `m`, one of the problem's meshes: a strided one over its
 * own digits, any other over the dimensions of the array; `digits` says which. Errors
 * are those of layout_parse, and digits that do not multiply to the padded shape.
 */
enum status view_parse_layout(struct layout *out, struct view *digits,
                              const struct problem *p, const struct mesh *m,
                              struct arena *a, const char *text, struct where at,
                              struct error *e);

/*
 * Makes an empty plan one over the digits that these steps need between them, and appends
 * them: digits begin and end where those of a layout do, where its shards end and where a
 * move begins or ends. Moves are over array dimensions; which digits they mean follows
 * from the layouts before and after. False with the number of the step and the reason
 * when the digits do not line up or the layouts do not allow a step.
 */
struct step_read;
bool view_add_steps(struct plan *p, const struct step_read *steps, int n, int *wrong,
                    struct text *why);

/*
 * Returns the same plan, finished, over as few digits as its text needs: over the
 * dimensions of the array where these will do. Exchanges must be those of
 * plan_exchange_axes(). It is then what reading its text gives.
 */
struct plan *view_join_plan(const struct plan *p);

/*
 * Returns the real elements (padding excluded) that device d holds in both maps of
 * layouts of the plan's steps: tilemap_common, of strided tiles too.
 */
int64_t view_common(const struct plan *p, const struct tilemap *a,
                    const struct tilemap *b, int32_t d);

/* Returns the array dimension of dimension `dim` of the plan's layouts; -1 stays -1. */
int view_dim(const struct plan *p, int dim);

#endif
