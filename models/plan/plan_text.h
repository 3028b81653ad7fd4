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
 *   all-reduce {x}: -> => P('y')           reduce-scatter {x}: ->0 => P('x')
 *   partial {x}: -> => P(unreduced={'x'})
 *   exchange => P('y', 'x')             the boxes that the layouts imply (exchange.h)
 *   exchange boxes => P('y', 'x')       others: lines of `[lo:hi,...] sender->receiver`
 *     [0:3,6:12] 4->0, 5->1
 *   permute boxes => P('x')             parts of tiles; `pairs ... part 6 boxes` of 6
 *     [2:3] 1->0                        elements for each pair
 *   pad tile [3,4] => P('x')            tiles of another size than the layout's; also of
 *                                       other steps, `starts {{0,0},{2,0}}` by device
 *   all-reduce {x}: 0-> sums [8,24] => P()       gathers: adds up arrays of that extent
 *   exchange on target mesh boxes => P('a')      the layout is of the problem's other mesh
 *   all-gather {x}: 0-> unpadded => P()          a plan on the array's real extent
 *
 *   all-gather {x}: 0-> => [8,8]->[2,4,8] P(None, 'y', None)      a strided layout
 *
 * What a line leaves out follows from the layouts before and after it. Plans over digits
 * name the array's dimensions; two moves may then have the same one. Every plan reads
 * back as it was printed, whichever planner made it.
 */
#ifndef SHARDSIM_PLAN_PLAN_TEXT_H
#define SHARDSIM_PLAN_PLAN_TEXT_H

#include "plan/plan.h"

/* Prints one step without its layout: "all-to-all {x}: 0->1". */
void step_print(struct text *out, const struct plan *p, int step);

/*
 * Prints all steps, a line each. Planners' ties are broken by the byte order of this
 * text.
 */
void plan_print(struct text *out, const struct plan *p);

/*
 * Returns whether `a` comes first of two plans of equal price: by peak_live_bytes, then
 * by the byte order of the printed plans.
 */
bool plan_wins_tie(const struct plan *a, const struct plan *b);

/*
 * Prints all steps on one line, without layouts, joined by "; ", or "nothing" if there
 * are none.
 */
void plan_print_line(struct text *out, const struct plan *p);

/*
 * Read the steps of a plan of problem `p` and finish it. Errors have their line and
 * column; they include steps that the layouts do not allow.
 */
enum status plan_parse(struct plan **out, const struct problem *p, struct arena *a,
                       const char *text, struct where at, struct error *e);

/*
 * A step that was read. `move` may be empty (then moves follow from the layouts), `groups`
 * and `pairs` NULL (then they follow from the moves, or for a permute from the layouts),
 * and so may what stands behind the layout: NULL, 0 or false where it was not told. Boxes
 * need no `elements`. The layout is over `digits`, the moves and all else are over the
 * dimensions of the array.
 */
struct step_read {
	enum op op;
	int nmoves;
	const struct move *move;
	const struct groups *groups;
	const struct pair *pairs;
	int32_t npairs;
	struct layout after;
	struct view digits;
	bool boxes; /* are told: */
	int64_t ntransfers;
	const struct transfer *transfers;
	int64_t part;
	const struct shape *summed, *tile;
	const int64_t *start; /* [ndevices * rank], ndevices the problem's */
	bool on_target, unpadded;
};

/* Where tiles may start, and the numbers of boxes and of elements of a part, end here. */
#define STEP_NUMBER_MAX ((int64_t)1 << 62)

/*
 * Appends a step that was read to a plan; its moves and layout are over the plan's
 * shape. False with the reason when the layouts do not allow it. The transfers of an
 * exchange without boxes are those of plan_exchange_axes().
 */
bool plan_add_read(struct plan *p, const struct step_read *s, struct text *why);

/*
 * Returns the plan of steps that were read, not yet finished: over the array's
 * dimensions where that can be, else over digits (view.h). NULL with the number of the
 * first step that cannot be, and the reason.
 */
struct plan *plan_of_read(const struct problem *p, struct arena *a, const char *planner,
                          const struct step_read *steps, int n, int *wrong,
                          struct text *why);

/* The op of this name, OPS if none. */
enum op op_find(const char *name, size_t length);

/*
 * Return whether a step's boxes follow from its layouts (an exchange's may) or it has
 * none; whether its tile is the usual one; and whether its layout is one of the target
 * mesh, which is another one.
 */
bool step_implies_boxes(const struct plan *p, int step);
bool step_implies_tile(const struct plan *p, int step);
bool step_on_target(const struct plan *p, int step);

/*
 * Returns whether the plan runs on the array's real extent although there is a padded
 * one.
 */
bool plan_is_unpadded(const struct plan *p);

/* Returns the end of the transfers from `first` on that carry the same box. */
int64_t step_box_run(const struct plan *p, const struct step *s, int64_t first);

#endif
