/*
 * The hosts that messages run between, numbered as they come, and how the tasks of a
 * schedule become SimGrid's parallel tasks. The clocks `fluid` (cost/fluid.h) and `simgrid`
 * (sim/clock/simgrid.h) follow the same rules.
 *
 * A task is one parallel task over its hosts, whose messages all progress at one rate. A
 * task of more than HOSTS_TASK_MAX hosts is one parallel task per message instead, since
 * SimGrid keeps a matrix of all pairs of hosts: 32 MB for that many.
 */
#ifndef SHARDSIM_COST_HOSTS_H
#define SHARDSIM_COST_HOSTS_H

#include "array/machine.h"
#include "collective/schedule.h"

enum { HOSTS_TASK_MAX = 2048 };

/* A set of hosts of one machine, told by their numbers (host_number()). */
struct hosts {
	const struct machine *machine;
	int32_t *place;  /* [nfabrics * ndevices]: in `number`; -1: not in the set */
	int32_t *number; /* [n] */
	int32_t n;
};

/* Makes *h an empty set for the machine, which is borrowed; hosts_close() frees it. */
void hosts_open(struct hosts *h, const struct machine *m);
void hosts_close(struct hosts *h);

/*
 * Returns the number of a device's host on a fabric, below nfabrics * ndevices. Devices
 * that share a host have the same number.
 */
int32_t host_number(const struct machine *m, int32_t fabric, int32_t device);

/* Removes all hosts from the set. */
void hosts_clear(struct hosts *h);

/* Adds the senders and receivers of `n` messages. */
void hosts_add(struct hosts *h, const struct message *msg, int64_t n);

/*
 * Returns whether the task is one parallel task, not one per message. The set is
 * overwritten.
 */
bool hosts_are_one_task(struct hosts *h, const struct schedule *s, const struct task *t);

/*
 * When a parallel task starts, and when it ends at the earliest, both from its round's
 * start.
 */
struct task_times {
	double after_s, until_s;
};

/*
 * Returns the times of a task whose longest route has the latency `longest_s`. Each of
 * the `repeats` rounds merged into the task pays that latency: all but the last before
 * the task starts, the last as SimGrid has every parallel task wait for it. The task's
 * own delay_s passes first, and its bytes take least_s or longer.
 */
struct task_times task_times(const struct task *t, double longest_s);

#endif
