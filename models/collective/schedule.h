/*
 * A schedule is what the wires see: rounds of messages. Every clock reads the same one.
 *
 * round: tasks that start together; the next round starts when all have ended.
 * task:  one group's messages of that round, which progress at one common rate (a
 *        balanced set, or the two hosts of a permute pair), or a part of them that
 *        waits for no other.
 * `repeats` > 1 marks rounds merged into this task: `repeats` rounds between the same
 * pairs in identical or proportional sizes, the messages holding their sum. The task
 * then costs repeats - 1 further latencies of its longest route.
 *
 * What no wire explains is said of a task as well: `delay_s` passes before its first byte
 * moves (software per step, the fill of a pipeline), and its bytes take `least_s` or
 * longer however fast the links are (a limit of the sender). Both are 0 unless a profile
 * says otherwise.
 *
 * Devices are platform devices. Bytes are double: an array cut in proportion to axis
 * speeds need not fall on whole bytes, and no clock cares.
 */
#ifndef SHARDSIM_COLLECTIVE_SCHEDULE_H
#define SHARDSIM_COLLECTIVE_SCHEDULE_H

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>

struct message {
	int32_t src, dst;
	int32_t fabric; /* index into machine.fabric: the wire it takes */
	double bytes;
};

struct task {
	int64_t first; /* of its messages in schedule.message */
	int64_t nmessages;
	int32_t repeats; /* >= 1 */
	double delay_s, least_s;
};

struct round {
	int64_t first; /* of its tasks in schedule.task */
	int64_t ntasks;
};

struct schedule;

/*
 * Who reads rounds one by one: gets a schedule whose only round is the one to be read,
 * and returns whether it wants the next.
 */
typedef bool round_fn(void *self, const struct schedule *s);

/*
 * Grows by doubling in its arena; {.arena = a} is the empty schedule. With a `reader`
 * nothing is kept: a round goes to it when it is closed and is then forgotten, and once
 * it wants no more, nothing is added.
 */
struct schedule {
	struct arena *arena;
	int64_t nrounds, ntasks, nmessages;
	struct round *round;
	struct task *task;
	struct message *message;
	int64_t rounds_room, tasks_room, messages_room; /* as base/list.h has it */
	round_fn *reader;
	void *reader_self;
	bool done; /* the reader wants no more */
	/* At least so many rounds follow the one that is read, each with a message. */
	int64_t rounds_left;
};

/*
 * Building: a round is open from schedule_round() to the next, a task from
 * schedule_task() to the next; schedule_software() sets what the open task has of it.
 * Messages of no bytes or to oneself are dropped; tasks and rounds left empty are
 * dropped by schedule_end(), which closes the last ones. schedule_reserve() makes room
 * at once for so many messages more.
 */
void schedule_reserve(struct schedule *s, int64_t nmessages);
void schedule_round(struct schedule *s);
void schedule_task(struct schedule *s, int32_t repeats);
void schedule_software(struct schedule *s, double delay_s, double least_s);
void schedule_message(struct schedule *s, int32_t fabric, int32_t src, int32_t dst,
                      double bytes);
void schedule_end(struct schedule *s);

/* Gives all rounds of a finished schedule to a reader, as long as it wants them. */
void schedule_rounds(const struct schedule *s, round_fn *reader, void *self);

#endif
