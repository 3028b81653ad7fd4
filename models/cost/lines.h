/*
 * What messages put on the lines of tori that are not twisted. Private to cost/model.c.
 *
 * A message goes along some links of one line per axis, up to half of it. Many messages of
 * one task are summed up line by line: each adds its bytes where it enters a line and takes
 * them off where it leaves, and the sums along the line are what its links carry. Bytes are
 * whole numbers, whose sums are exact in any order below 2^53.
 */
#ifndef SHARDSIM_COST_LINES_H
#define SHARDSIM_COST_LINES_H

#include "array/machine.h"

struct lines;

/* A workspace for one machine, which is borrowed and must outlive it. */
struct lines *lines_new(const struct machine *m);
void lines_free(struct lines *lines);

/*
 * Returns whether lines_send() is for a fabric: a torus that is not twisted and whose links
 * have one latency.
 */
bool lines_have(const struct lines *lines, int fabric);

/*
 * Sends bytes from one device to another. Returns the latency of the route, < 0 without one.
 * It stores the *n links that carry the bytes and are too few of their line to be summed up,
 * good until the next call; lines_load() tells of the others. Bytes that are no whole number
 * are not summed up.
 */
double lines_send(struct lines *lines, const int32_t **links, int *n, int fabric,
                  int32_t src, int32_t dst, double bytes);

/* Tells what each link carries in all since the last call, where that is anything. */
typedef void lines_load_fn(void *self, int32_t link, double bytes);
void lines_load(struct lines *lines, lines_load_fn *load, void *self);

#endif
