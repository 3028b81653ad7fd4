/*
 * The state of the interpreter, and the steps in which boxes travel (check_boxes.c).
 * Private to the files check*.c.
 */
#ifndef SHARDSIM_PLAN_CHECK_STATE_H
#define SHARDSIM_PLAN_CHECK_STATE_H

#include "array/tile.h"
#include "plan/plan.h"
#include "plan/runs.h"

/* A box that a device holds beside its tile, between a permute of parts and a pad. */
struct held {
	const int64_t *bounds; /* [2 * rank] */
	struct held *next;
	struct list parts; /* of a sum: which contributions are in it */
};

/*
 * What every device holds: list[d * lists + dim] of the tile's dimensions; the list
 * behind them is the contributions that its sums contain, of `partials` (one unless the
 * source is unreduced).
 */
struct state {
	const struct plan *plan;
	struct arena *arena;
	int rank, lists; /* lists == rank + 1 */
	int32_t ndevices;
	int64_t partials;
	struct list *list;
	struct held **held; /* [ndevices] */
	struct held **given; /* [ndevices] boxes of whose sums they gave their part away */
	struct text *why;
};

/* Returns the source's state; everything is the arena's. */
struct state state_start(const struct plan *p, struct arena *a, struct text *why);

/* Runs one step; returns false with the reason in `why` when it cannot be run. */
bool state_run(struct state *s, int step);

struct list *state_tile(const struct state *s, int32_t device);

/* Says what is wrong with step `step`, at a device unless that is -1; returns false. */
bool state_wrong(struct state *s, int step, const char *reason, int32_t device);

/* Runs a permute of parts: boxes are held beside the tiles. */
bool state_permute_parts(struct state *s, int step);

/*
 * Runs an exchange or pad: tiles of `after` are made of what is there and what arrives.
 */
bool state_retile(struct state *s, int step);

/* Runs the same steps where contributions travel and are added up. */
bool state_add_parts(struct state *s, int step);
bool state_add_tiles(struct state *s, int step);

/* Checks a transfer but for what its sender has. */
bool state_check_box(struct state *s, int step, const struct transfer *t);

/* Returns whether two boxes have an element in common, and whether one is in the other. */
bool boxes_meet(const int64_t *a, const int64_t *b, int rank);
bool box_inside(const int64_t *inner, const int64_t *outer, int rank);

/* Sorts boxes and returns whether no two of them meet. */
bool boxes_disjoint(struct arena *a, const int64_t **box, int64_t n, int rank);

/* Returns the elements of a box. */
int64_t box_elements(const int64_t *box, int rank);

/*
 * Tells the tile of device d after a step, as lists and as a box of real elements;
 * returns false if it gets none.
 */
bool state_wanted(struct list *out, int64_t *want, struct state *s,
                  const struct step *st, const struct tilemap *map, int32_t d);

/*
 * Runs an all-reduce that gathers: each tile is made of the disjoint ones of its group.
 */
bool state_sum_tiles(struct state *s, int step);

#endif
