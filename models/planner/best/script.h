/*
 * Scripts: what a plan over axes does, taken apart so that it can be rewritten and
 * built anew. Every rewrite leaves the source and the target as they are (models/README.md,
 * Best).
 */
#ifndef SHARDSIM_PLANNER_BEST_SCRIPT_H
#define SHARDSIM_PLANNER_BEST_SCRIPT_H

#include "planner/best/senders.h"

enum { SCRIPT_STEPS_MAX = 16 };

struct script_step {
	enum op op;
	int nmoves;
	const struct move *move; /* over the digits of the view; none: permute, exchange */
	struct layout after;
};

struct script {
	const struct problem *problem;
	struct view view; /* one digit per dimension where the plan has no view */
	struct layout from, to;
	uint32_t senders; /* of permutes and exchanges: senders.h */
	int n;
	struct script_step step[SCRIPT_STEPS_MAX]; /* what is behind n is not copied */
};

/* A script of no steps, all layouts of rank 0. */
void script_begin(struct script *out, const struct problem *p, uint32_t senders);

void script_copy(struct script *out, const struct script *s);

/* A copy to be read only, with room for its own steps. */
const struct script *script_keep(const struct script *s, struct arena *a);

/*
 * The script of a finished plan, borrowing from it. False where a step is not of axes
 * of the source mesh, or of a kind that is not rewritten (pads, permutes of parts).
 */
bool script_of_plan(struct script *out, const struct plan *p);

/* Are all tiles of a layout equal? Moves of axes cannot say uneven ones. */
bool script_divides(const struct layout *l, const struct shape *shape);

/* The layout before step i; i == n: after the last. */
const struct layout *script_before(const struct script *s, int i);

/*
 * The finished plan, named "best"; NULL where an exchange cannot be said, or does
 * nothing.
 */
struct plan *script_plan(const struct script *s, const struct prices *prices,
                         struct arena *a);

/*
 * A finished plan of step i alone, to be priced: its boxes have no bounds. NULL as
 * script_plan.
 */
struct plan *script_step_plan(const struct script *s, int i,
                              const struct prices *prices, struct arena *a);

/* peak_array_bytes and peak_live_bytes of the plan. */
void script_memory(int64_t *array_bytes, int64_t *live_bytes, const struct script *s);

/* The price of step i by the table; nothing for permutes and exchanges. */
struct price script_price(const struct script *s, int i, const struct prices *prices);

/* Puts one exchange in place of steps [first, end). */
void script_exchange(struct script *out, const struct script *s, int first, int end);

/*
 * Over-slices: cuts digit `digit` by `part`, which no layout of the script
 * from step `first` on uses, and gather it at the end. It gets a digit of its own,
 * behind what the layouts cut that digit into. It is sliced before step 0; `first` >=
 * 0: the exchange of that step brings the cut tiles. False where it does not divide the
 * rest.
 */
bool script_overslice(struct script *out, const struct script *s, int digit,
                      struct part part, int first, struct arena *a);

/*
 * Can two parts both cut something? Not if they share a digit, nor if they cut the axis
 * into digits of different kinds: x:(1)2 and x:(3)2 of 6.
 */
bool parts_coexist(struct part p, struct part q);

/*
 * True if some layout uses a digit of the part, or cannot be with it, unreduced sets
 * included; of those after step `first` on, -1: of all.
 */
bool script_uses(const struct script *s, struct part part, int first);

/*
 * The same script over finer digits: no layout cuts one by more than one prime digit of
 * an axis. False where cuts do not line up, or there is nothing to split.
 */
bool script_refine(struct script *out, const struct script *s, struct arena *a);

/*
 * The same script over fewer digits: neighbours that every layout cuts as one and every
 * step moves as one are joined. False if there are none.
 */
bool script_join(struct script *out, const struct script *s, struct arena *a);

/*
 * Do step `at` of a refined script in two: first bring those parts of mesh axes where
 * they end whose stride over devices is at least `stride` (`major`), or less. Each half
 * is the slice, all-gather or all-to-all that does it, or else an exchange. False where
 * that leaves nothing for one of them, or two parts would be at one digit.
 */
bool script_split(struct script *out, const struct script *s, int at, int64_t stride,
                  bool major, struct arena *a);

/*
 * The strides at which script_split() has different answers for step `at`, rising;
 * their number, at most `most`.
 */
int script_strides(int64_t *out, int most, const struct script *s, int at);

/*
 * All-gathers in a row, from step `first` to the end of them, in the cheapest order and
 * number by prices->step. False if that is what they are already.
 */
bool script_gathers(struct script *out, const struct script *s, int first,
                    const struct prices *prices, struct arena *a);

#endif
