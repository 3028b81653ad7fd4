/*
 * The pieces of a round: its tasks, parted so that no two pieces have a link in common.
 * Pieces do not slow each other down: where all are alike, each takes as long as the round.
 */
#ifndef SHARDSIM_COST_PIECES_H
#define SHARDSIM_COST_PIECES_H

#include "array/machine.h"
#include "collective/schedule.h"

/* A piece: the numbers of its tasks in the round, ascending. */
struct piece {
	int32_t ntasks;
	const int32_t *task;
};

enum pieces_status {
	PIECES_OK,
	PIECES_NO_ROUTE, /* of a message */
	PIECES_TOO_LARGE /* more than PIECES_LINKS_MAX links on all routes together */
};

enum { PIECES_LINKS_MAX = 1 << 25 };

/* A workspace for one machine, which is borrowed and must outlive it. */
struct pieces;

struct pieces *pieces_new(const struct machine *m);
void pieces_free(struct pieces *pieces);

/*
 * Parts a round of the schedule into *n pieces, in the order of their first tasks. The
 * pieces are the workspace's until the next call.
 */
enum pieces_status pieces_find(const struct piece **out, int32_t *n,
                               struct pieces *pieces, const struct schedule *s,
                               const struct round *r);

/*
 * Returns the routes of a task of the round that was parted last: for each of its
 * messages in order the number of links and those links. They are the workspace's until
 * the next call of pieces_find().
 */
const int32_t *pieces_routes(const struct pieces *pieces, int32_t task);

#endif
