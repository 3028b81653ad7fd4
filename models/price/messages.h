/*
 * Who sends what to whom in a step of a plan, message by message.
 *
 * Where there is a machine these are the messages of the schedule that all clocks
 * read (collective/schedule.h), between devices of the machine, with those that relay.
 * Without one nobody knows the algorithm: devices are those of the plan, and every
 * device sends each other member of its group what that needs of it, at once. M is the
 * operand and q the size of the group: all-gather M, all-to-all and reduce-scatter M / q,
 * all-reduce M / q in a first round for the sums and M / q in a second one to gather
 * them. So a device receives what plan.h says of the step.
 */
#ifndef SHARDSIM_PRICE_MESSAGES_H
#define SHARDSIM_PRICE_MESSAGES_H

#include "price/price.h"

/* A step of more messages is refused: they would be a file of 250 MB. */
enum { MESSAGES_MAX = 1 << 22 };

struct sent_message {
	int32_t round;   /* from 0; the next one starts when the last has ended */
	int32_t repeats; /* of rounds merged into this one, whose bytes are summed */
	int32_t src, dst;
	double bytes;
};

/* Gets a message, and returns whether it wants the next. */
typedef bool message_fn(void *self, const struct sent_message *m);

/*
 * Gives all messages of a step of a plan to a reader, by round. Returns false, and has
 * given none, where there are more than MESSAGES_MAX, or the machine cannot run the step.
 */
bool messages_of_step(const struct plan_steps *of, int step, message_fn *reader,
                      void *self);

#endif
