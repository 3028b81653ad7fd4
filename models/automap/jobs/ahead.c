/* Decisions by what happens after them, in futures that may come. */
#include "automap/jobs/jobs.h"

#include <string.h>

static void copy(struct job_devices *to, const struct job_devices *from)
{
	memcpy(to->busy, from->busy, (size_t)from->n * sizeof(*to->busy));
	memcpy(to->running, from->running,
	       (size_t)from->nrunning * sizeof(*to->running));
	to->nrunning = from->nrunning;
}

/* Jobs that are blocked in one future, which begins at a time. */
static int blocked_in(struct job_desk *d, const struct job *future, double now_s)
{
	int blocked = 0;

	for (int i = 0; i < JOBS_FUTURE; i++) {
		struct job j = future[i];
		struct job_given g;

		j.at_s += now_s;
		job_free_until(&d->scratch, j.at_s);
		g.degree = job_fewest(d->mix, &d->scratch, &j, &g.first);
		if (g.degree < 0) {
			blocked++;
			continue;
		}
		g.seconds = job_seconds(&d->mix->kind[j.kind], g.degree);
		job_take(&d->scratch, j.at_s, &g);
	}
	return blocked;
}

/* Jobs that are blocked in all futures if this one gets a degree, or none (< 0). */
static int blocked_after(struct job_desk *d, const struct job *j, int degree)
{
	int blocked = degree < 0 ? JOBS_FUTURES : 0;

	for (int f = 0; f < JOBS_FUTURES; f++) {
		copy(&d->scratch, &d->devices);
		if (degree >= 0) {
			const struct job_given g = {
				degree, job_block(&d->scratch, degree),
				job_seconds(&d->mix->kind[j->kind], degree)};

			job_take(&d->scratch, j->at_s, &g);
		}
		blocked += blocked_in(d, d->future + f * JOBS_FUTURE, j->at_s);
	}
	return blocked;
}

int job_ahead(struct job_desk *d, const struct job *j)
{
	int best = job_simulated(d->mix, &d->devices, j), least;

	if (best < 0)
		return best;
	for (int f = 0; f < JOBS_FUTURES; f++)
		jobs_draw(d->future + f * JOBS_FUTURE, JOBS_FUTURE, d->mix, d->rng);
	least = blocked_after(d, j, best);
	for (int i = best + 1; i < JOB_DEGREES && 1 << i <= d->devices.n; i++) {
		int blocked;

		if (d->mix->kind[j->kind].step_s[i] <= 0 ||
		    job_block(&d->devices, i) < 0 || !job_meets(d->mix, j, i))
			continue;
		blocked = blocked_after(d, j, i);
		if (blocked < least) {
			least = blocked;
			best = i;
		}
	}
	return blocked_after(d, j, JOB_DECLINED) < least ? JOB_DECLINED : best;
}
