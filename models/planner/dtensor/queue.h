/*
 * The queue of DTensor's search and of its bound: by cost, then first come first served.
 * Private to the planner.
 */
#ifndef SHARDSIM_PLANNER_DTENSOR_QUEUE_H
#define SHARDSIM_PLANNER_DTENSOR_QUEUE_H

#include <stdint.h>

struct dtensor_entry {
	double cost;
	int32_t counter, node;
};

/* `{0}` is the empty one; free `entry` at the end. */
struct dtensor_queue {
	struct dtensor_entry *entry;
	int32_t n, capacity, counter;
};

void dtensor_queue_push(struct dtensor_queue *q, double cost, int32_t node);

/* Take the first node; the queue is not empty. */
int32_t dtensor_queue_pop(struct dtensor_queue *q);

#endif
