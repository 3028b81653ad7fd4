/*
 * The pieces of a round: its tasks, parted so that no two pieces have a link in common.
 * Pieces do not slow each other down, so each can be timed alone; and pieces of one form
 * take equally long, so that one of them can be timed for all: 256 rings at once on a
 * torus are one ring.
 */
#ifndef SHARDSIM_COST_PIECES_H
#define SHARDSIM_COST_PIECES_H

#include "array/machine.h"
#include "collective/schedule.h"

/*
 * Tasks by number in the round, ascending. The form: everything that time depends on, in
 * order; per task its figures, per message its bytes and the links of its route,
 * numbered as they are first used, each of those with bandwidth and latency. Pieces with
 * equal forms differ in the names of devices and links only.
 */
struct piece {
	int64_t ntasks;
	const int64_t *task;
	int64_t nform; /* 0: it has none, for it were longer than PIECES_FORM_MAX */
	const uint64_t *form;
	uint64_t hash; /* of the form */
};

enum pieces_status {
	PIECES_OK,
	PIECES_NO_ROUTE, /* of a message */
	PIECES_TOO_LARGE /* more than PIECES_LINKS_MAX links on all routes together */
};

enum { PIECES_LINKS_MAX = 1 << 25, PIECES_FORM_MAX = 1 << 22 };

/* A workspace for one machine (borrowed, must outlive it). */
struct pieces;

struct pieces *pieces_new(const struct machine *m);
void pieces_free(struct pieces *w);

/*
 * The pieces of a round of the schedule, by their first task; the workspace's until the
 * next call.
 */
enum pieces_status pieces_find(const struct piece **out, int64_t *n, struct pieces *w,
                               const struct schedule *s, const struct round *r);

/*
 * Of a task of the round that was parted last, by its number: for each of its messages in
 * order the number of links of its route and those links; the workspace's until the next
 * call of pieces_find().
 */
const int32_t *pieces_routes(const struct pieces *w, int64_t task);

#endif
