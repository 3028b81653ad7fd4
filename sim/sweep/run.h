/* A sweep under way, shared by sweep*.c and private to them. */
#ifndef SHARDSIM_SIM_SWEEP_RUN_H
#define SHARDSIM_SIM_SWEEP_RUN_H

#include "sweep/sweep.h"

#include <sys/types.h>

/* What is left to do on one platform. */
struct queue {
	struct sweep_work *work; /* by falling cost */
	int64_t n, next;         /* next: the one to hand out next */
	struct leftover *leftover;
	double cost_left;
	int deaths; /* of workers in a row that did not get as far as loading it */
};

/* Units that were not done because a worker died. */
struct leftover {
	struct sweep_work work;
	struct leftover *next;
};

struct slot {
	pid_t pid;                        /* 0: no worker */
	int platform, to, from, evidence; /* pipes and what it left on stderr */
	bool ready;                       /* the platform is loaded */
	struct sweep_work work;           /* what it works on; no units: idle */
	double since_s;                   /* since when it is at its lowest unit */
	const char *verdict;              /* why it was killed, NULL if it was not */
	uint64_t verdict_units;           /* what it worked on then */
	struct text input;                /* bytes of rows not yet whole */
	off_t heard;                      /* bytes of evidence up to the last row */
};

struct run {
	const struct sweep *sweep;
	const struct sweep_sink *sink;
	struct sweep_counts *counts;
	struct arena *arena, *row_arena;
	struct queue *queue; /* [nplatforms] */
	double cost_left;    /* of all queues */
	struct slot *slot;   /* [jobs] */
	struct error *error;
	double looked_s; /* when memory and progress were looked at last */
};

enum status run_system_error(struct run *r, const char *what);

/* A row to the sink, with the log of its process. */
enum status run_keep(struct run *r, int platform, int32_t scenario, int unit,
                     const struct row *row, const char *log);

/* queue.c: is there work on the platform, and take some of it. */
void queue_fill(struct run *r, const struct sweep_work *work, int64_t n);
bool queue_has(const struct run *r, int platform);
bool queue_take(struct run *r, int platform, struct sweep_work *out);
void queue_give_back(struct run *r, const struct sweep_work *w);

/* The platform with the most work left for each of its workers; -1 if none has any. */
int queue_neediest(const struct run *r);

/* slot.c: workers. Give the slot work, if there is any. */
enum status slot_give(struct run *r, struct slot *s);

/* Read from a worker that has something to say, or has died. */
enum status slot_read(struct run *r, struct slot *s);

/* How long it may go on with its unit; infinity where that is not limited. */
double slot_left_s(const struct run *r, const struct slot *s);

/* Kill a worker that takes too long or, if that is to be looked at, too much memory. */
void slot_limit(struct run *r, struct slot *s, bool memory);

/* Kill it; what it has finished is kept. */
enum status slot_end(struct run *r, struct slot *s);

#endif
