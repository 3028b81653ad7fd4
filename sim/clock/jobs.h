/*
 * Jobs that arrive at a machine (automap/jobs/jobs.h), in SimGrid: an actor sleeps from arrival to
 * arrival and asks the desk, and an actor for each job that is given devices runs one
 * parallel task on them, of as many flops as a device does in the seconds of the job. So a job
 * whose devices were another's, too, would take longer than it should.
 */
#ifndef SHARDSIM_SIM_CLOCK_JOBS_H
#define SHARDSIM_SIM_CLOCK_JOBS_H

#include "automap/jobs/jobs.h"
#include "platform/platform.h"

/* What became of a job. */
struct job_result {
	int degree;     /* as of struct job_given */
	double seconds; /* from its arrival to its end; 0: it is blocked */
};

/*
 * Lets n jobs pass over a desk, from SimGrid's time 0, in a child. SimGrid is started if it
 * is not; an error is SimGrid's, or its death.
 */
enum status jobs_replay(struct job_result *out, struct platform *p, struct job_desk *d,
                        const struct job *j, int64_t n, struct error *e);

#endif
