/*
 * Scripts: what a plan over axes does, taken apart so that it can be rewritten and
 * built anew. Every rewrite leaves the source and the target as they are (models/README.md,
 * Best).
 */
#ifndef SHARDSIM_PLANNER_BEST_SCRIPT_H
#define SHARDSIM_PLANNER_BEST_SCRIPT_H

#include "planner/best/senders.h"

/* On so few devices there is work to try more of everything. */
enum { SCRIPT_STEPS_MAX = 16, BEST_SMALL_DEVICES = 32 };

struct script_step {
	enum op op;
	int nmoves;
	const struct move *move; /* over the digits of the view; none: permute, exchange */
	struct layout after;
	uint32_t senders; /* of a permute or an exchange, or of one in its place: senders.h */
};

struct script {
	const struct problem *problem;
	struct view view; /* one digit per dimension where the plan has no view */
	struct layout from, to;
	int n;
	struct script_step step[SCRIPT_STEPS_MAX]; /* what is behind n is not copied */
};

/* Makes a script without steps, whose layouts all have rank 0. */
void script_begin(struct script *out, const struct problem *p);

void script_copy(struct script *out, const struct script *s);

/* Returns a copy that is only read, with room for its own steps. */
const struct script *script_keep(const struct script *s, struct arena *a);

/*
 * Makes the script of a finished plan, which it borrows from. Returns false where a
 * step is not of axes of the source mesh, or of a kind that is not rewritten (pads,
 * permutes of parts).
 */
bool script_of_plan(struct script *out, const struct plan *p);

/* Returns the layout before step i or, if i == n, after the last step. */
const struct layout *script_before(const struct script *s, int i);

/*
 * Returns the finished plan, named "best", or NULL where an exchange cannot be said or
 * does nothing.
 */
struct plan *script_plan(const struct script *s, const struct prices *prices,
                         struct arena *a);

/*
 * Returns a finished plan of step i alone, to be priced, whose boxes have no bounds, or
 * NULL as script_plan() does.
 */
struct plan *script_step_plan(const struct script *s, int i,
                              const struct prices *prices, struct arena *a);

/* Stores the peak_array_bytes and the peak_live_bytes of the plan. */
void script_memory(int64_t *array_bytes, int64_t *live_bytes, const struct script *s);

/*
 * Returns the price of step i by the table; permutes and exchanges have none. For a dearer
 * step than `most_cost`, if that is > 0, any price above it will do.
 */
struct price script_price(const struct script *s, int i, const struct prices *prices,
                          double most_cost);

/* Puts one exchange in place of steps [first, end). */
void script_exchange(struct script *out, const struct script *s, int first, int end);

/*
 * Over-slices: cuts digit `digit` by `part`, which no layout of the script from step
 * `first` on uses, and gathers it at the end. The part gets a digit of its own, behind
 * what the layouts cut that digit into, or lies on top of that (`on_top`), which must then
 * stay the same. It is sliced before step 0 or, if `first` >= 0, the exchange of that step
 * brings the cut tiles. Returns false where it does not divide the rest.
 */
bool script_overslice(struct script *out, const struct script *s, int digit,
                      struct part part, int first, bool on_top, struct arena *a);

/*
 * Returns whether two parts can both cut something. They cannot if they share a digit,
 * or if they cut the axis into digits of different kinds: x:(1)2 and x:(3)2 of 6.
 */
bool parts_coexist(struct part p, struct part q);

/* Returns whether the second part is of the digits of an axis that follow the first's. */
bool parts_are_next(struct part p, struct part q);

/*
 * Returns whether some layout uses a digit of the part, or cannot be with it, unreduced
 * sets included. Only layouts after step `first` on count, or all if it is -1.
 */
bool script_uses(const struct script *s, struct part part, int first);

/*
 * Writes the same script over finer digits: no layout cuts one by more than one prime
 * digit of an axis. Returns false where cuts do not line up, or there is nothing to
 * split.
 */
bool script_refine(struct script *out, const struct script *s, struct arena *a);

/*
 * Writes the same script over fewer digits: neighbours that every layout cuts as one
 * and every step moves as one are joined. Returns false if there are none.
 */
bool script_join(struct script *out, const struct script *s, struct arena *a);

/*
 * Writes the same script over the dimensions of the array. Returns false where tiles are
 * strided, or a step cannot be said so.
 */
bool script_unsplit(struct script *out, const struct script *s, struct arena *a);

/* Makes the script of step i alone, which borrows from the other. */
void script_alone(struct script *out, const struct script *s, int i);

/*
 * Puts the steps of another script between the same layouts in place of step i, over as few
 * digits as both need: the other steps may cut digits in ways that do not line up. Returns
 * false where a step cannot be said so.
 */
bool script_put(struct script *out, const struct script *s, int i,
                const struct script *steps, struct arena *a);

/*
 * Makes the step from one layout to another over the digits of a refined script: the slice,
 * all-gather or all-to-all that does it, or else an exchange. Returns false where sums are
 * in the way.
 */
bool script_between(struct script_step *out, const struct layout *before,
                    const struct layout *after, struct arena *a);

/*
 * Puts the slice, all-gather or all-to-all that does the same in place of steps
 * [first, end) of a refined script. Returns false where none does.
 */
bool script_merge(struct script *out, const struct script *s, int first, int end,
                  struct arena *a);

/*
 * Does step `at` of a refined script in two: the first brings those parts of mesh axes
 * where they end whose stride over devices is at least `stride` (`major`), or less.
 * Each half is the slice, all-gather or all-to-all that does it, or else an exchange.
 * Returns false where that leaves nothing for one of them, or two parts would be at one
 * digit.
 */
bool script_split(struct script *out, const struct script *s, int at, int64_t stride,
                  bool major, struct arena *a);

/*
 * Does step `at` of a refined script in two: first slices of digits that nothing cuts before
 * it, so that everything after moves smaller tiles, or last gathers of digits that nothing
 * cuts after it. Return false as script_split() does.
 */
bool script_slice_first(struct script *out, const struct script *s, int at,
                        struct arena *a);
bool script_gather_last(struct script *out, const struct script *s, int at,
                        struct arena *a);

/*
 * Writes the strides at which script_split() has different answers for step `at`,
 * rising, and returns their number, at most `most`.
 */
int script_strides(int64_t *out, int most, const struct script *s, int at);

/*
 * Puts the all-gathers in a row from step `first` on in the cheapest order and number
 * by prices->step. Returns false if that is what they are already.
 */
bool script_gathers(struct script *out, const struct script *s, int first,
                    const struct prices *prices, struct arena *a);

#endif
