/* A sweep under way. Private to sim/sweep/. */
#ifndef SHARDSIM_SIM_SWEEP_RUN_H
#define SHARDSIM_SIM_SWEEP_RUN_H

#include "sweep/sweep.h"

#include <sys/types.h>

/* What is left to do on one platform. */
struct queue {
	struct sweep_work *work; /* by falling cost */
	int64_t n, next;         /* `next` is the index of what is handed out next */
	struct leftover *leftover;
	double cost_left;
	int deaths; /* how many workers in a row died before they had loaded it */
};

/* Units that were not done because a worker died. */
struct leftover {
	struct sweep_work work;
	struct leftover *next;
};

/* How much work a worker may have ahead, so that nobody waits where cases are short. */
enum { SLOT_AHEAD = 32 };

struct slot {
	pid_t pid;                        /* 0 where there is no worker */
	int platform, to, from, evidence; /* pipes and what it left on stderr */
	bool ready;                       /* the platform is loaded */
	struct sweep_work work;           /* its work, without units when it is idle */
	struct sweep_work ahead[SLOT_AHEAD]; /* what it was given to do after that */
	int nahead;
	double since_s;         /* since when it is at its lowest unit */
	const char *verdict;    /* why it was killed, NULL if it was not */
	uint64_t verdict_units; /* the units of its work then */
	struct text input;      /* the bytes of a row that is not whole yet */
	off_t heard;            /* bytes of evidence up to the last row */
};

struct run {
	const struct sweep *sweep;
	const struct sweep_sink *sink;
	struct sweep_counts *counts;
	struct arena *arena, *row_arena;
	struct queue *queue; /* [nplatforms] */
	double cost_left;    /* that of all queues together */
	struct slot *slot;   /* [jobs] */
	struct error *error;
	double looked_s; /* when memory and progress were looked at last */
	int64_t nkept;   /* rows that are not committed */
	double kept_s;   /* since when there are such rows */
};

/* Records an E_IO, that the system call `what` failed for the reason in errno. */
enum status run_system_error(struct run *r, const char *what);

/* Gives a row to the sink, with the log of its process, and counts it. */
enum status run_keep(struct run *r, int platform, const struct row *row,
                     struct sweep_mark mark, const char *log);

/*
 * queue.c: queue_fill() sorts all work by platform; queue_has() tells whether a platform
 * has any left, queue_take() hands some of it out, and queue_give_back() takes back what a
 * worker that died has not done.
 */
void queue_fill(struct run *r, const struct sweep_work *work, int64_t n);
bool queue_has(const struct run *r, int platform);
bool queue_take(struct run *r, int platform, struct sweep_work *out);
void queue_give_back(struct run *r, const struct sweep_work *work);

/*
 * Returns the platform with the most work left for each of its workers, -1 without any.
 */
int queue_neediest(const struct run *r);

/*
 * slot.c has the workers: slot_give() gives the slot work, if there is any; a worker that is
 * at work gets more to do after it, as long as that is little of what is left.
 */
enum status slot_give(struct run *r, struct slot *s);

/* Reads from a worker that has something to say, or has died. */
enum status slot_read(struct run *r, struct slot *s);

/* Returns how long a worker may go on with its unit; infinity without a limit. */
double slot_left_s(const struct run *r, const struct slot *s);

/*
 * Kills a worker that takes too long or, where `memory` is set, uses too much memory.
 */
void slot_limit(struct run *r, struct slot *s, bool memory);

/* Kills a worker; the rows that it has finished are kept. */
enum status slot_end(struct run *r, struct slot *s);

#endif
