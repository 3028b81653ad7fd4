/* Jobs as they are drawn, the devices that they have, and degrees that are free. */
#include "automap/jobs/jobs.h"

#include <math.h>
#include <string.h>

void jobs_draw(struct job *out, int64_t n, const struct job_mix *m, struct rng *rng)
{
	double at_s = 0;

	for (int64_t i = 0; i < n; i++) {
		at_s -= m->gap_s * log(1 - rng_uniform(rng));
		out[i].at_s = at_s;
		out[i].kind = (int)rng_below(rng, (uint32_t)m->nkinds);
		out[i].accept = m->accept[rng_below(rng, (uint32_t)m->naccepts)];
	}
}

double job_seconds(const struct job_kind *k, int degree)
{
	return (double)k->steps * k->step_s[degree];
}

double job_alone_s(const struct job_kind *k)
{
	for (int i = 0; i < JOB_DEGREES; i++)
		if (k->step_s[i] > 0)
			return job_seconds(k, i);
	return 0;
}

bool job_meets(const struct job_mix *m, const struct job *j, int degree)
{
	const struct job_kind *k = &m->kind[j->kind];

	return job_seconds(k, degree) <= j->accept * job_alone_s(k) * (1 + 1e-12);
}

/* --- devices ---------------------------------------------------------------------- */

int32_t job_block(const struct job_devices *d, int degree)
{
	int32_t size = 1 << degree;

	for (int32_t first = 0; first + size <= d->n; first += size)
		if (!memchr(d->busy + first, true, (size_t)size))
			return first;
	return -1;
}

void job_take(struct job_devices *d, double now_s, const struct job_given *g)
{
	memset(d->busy + g->first, true, (size_t)1 << g->degree);
	d->running[d->nrunning++] =
		(struct job_running){now_s + g->seconds, g->first, g->degree};
}

void job_end_running(struct job_devices *d, int32_t i)
{
	memset(d->busy + d->running[i].first, false, (size_t)1 << d->running[i].degree);
	d->running[i] = d->running[--d->nrunning];
}

void job_free_until(struct job_devices *d, double now_s)
{
	for (int32_t i = d->nrunning - 1; i >= 0; i--)
		if (d->running[i].end_s <= now_s)
			job_end_running(d, i);
}

/* --- degrees ---------------------------------------------------------------------- */

int job_degrees(int *out, const struct job_mix *m, const struct job_devices *d,
                const struct job *j)
{
	int n = 0;

	for (int i = 0; i < JOB_DEGREES && 1 << i <= d->n; i++)
		if (m->kind[j->kind].step_s[i] > 0 && job_block(d, i) >= 0)
			out[n++] = i;
	return n;
}

int job_fewest(const struct job_mix *m, const struct job_devices *d,
               const struct job *j, int32_t *first)
{
	for (int i = 0; i < JOB_DEGREES && 1 << i <= d->n; i++)
		if (m->kind[j->kind].step_s[i] > 0 && job_meets(m, j, i) &&
		    (*first = job_block(d, i)) >= 0)
			return i;
	return -1;
}

int job_simulated(const struct job_mix *m, const struct job_devices *d,
                  const struct job *j)
{
	int degree[JOB_DEGREES];
	int32_t first;
	int fewest = job_fewest(m, d, j, &first);

	if (fewest >= 0)
		return fewest;
	return job_degrees(degree, m, d, j) ? JOB_SLOW : JOB_FULL;
}
