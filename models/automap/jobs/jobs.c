#include "automap/jobs/jobs.h"

#include "base/assert.h"

#include <math.h>

const char *const job_policy_name[JOB_POLICIES] = {
	"random", "min", "max", "acceptable", "simulated", "look-ahead"};

/* --- policies --------------------------------------------------------------------- */

/* The least degree of at least 1 / accept devices, as if devices shared work without loss. */
static int acceptable(const struct job *j, const int *degree, int n)
{
	for (int i = 0; i < n; i++)
		if (1 << degree[i] >= ceil(1 / j->accept * (1 - 1e-12)))
			return degree[i];
	return degree[n - 1];
}

static int choose(struct job_desk *d, const struct job *j)
{
	int degree[JOB_DEGREES], n = job_degrees(degree, d->mix, &d->devices, j);

	if (n == 0)
		return JOB_FULL;
	switch (d->policy) {
	case JOBS_RANDOM:
		return degree[rng_below(d->rng, (uint32_t)n)];
	case JOBS_MIN:
		return degree[0];
	case JOBS_MAX:
		return degree[n - 1];
	case JOBS_ACCEPTABLE:
		return acceptable(j, degree, n);
	case JOBS_AHEAD:
		return job_ahead(d, j);
	default:
		return job_simulated(d->mix, &d->devices, j);
	}
}

struct job_given job_arrives(struct job_desk *d, const struct job *j)
{
	struct job_given g = {.degree = choose(d, j), .first = -1};

	if (g.degree >= 0 && !job_meets(d->mix, j, g.degree))
		g.degree = JOB_SLOW;
	if (g.degree < 0)
		return g;
	g.first = job_block(&d->devices, g.degree);
	g.seconds = job_seconds(&d->mix->kind[j->kind], g.degree);
	job_take(&d->devices, j->at_s, &g);
	return g;
}

static void devices_open(struct job_devices *d, struct arena *a, int32_t n)
{
	d->n = n;
	d->busy = arena_alloc(a, (size_t)n, sizeof(*d->busy));
	d->running = arena_alloc(a, (size_t)n, sizeof(*d->running));
}

void job_desk_open(struct job_desk *out, struct arena *a, const struct job_mix *m,
                   enum job_policy policy, int32_t n, struct rng *rng)
{
	*out = (struct job_desk){.mix = m, .policy = policy, .rng = rng};
	devices_open(&out->devices, a, n);
	if (policy != JOBS_AHEAD)
		return;
	devices_open(&out->scratch, a, n);
	out->future = arena_alloc(a, JOBS_FUTURES * JOBS_FUTURE, sizeof(*out->future));
}

void jobs_pass(struct job_given *out, struct job_desk *d, const struct job *j, int64_t n)
{
	for (int64_t i = 0; i < n; i++) {
		job_free_until(&d->devices, j[i].at_s);
		out[i] = job_arrives(d, &j[i]);
	}
}

void job_ends(struct job_desk *d, int32_t first)
{
	for (int32_t i = 0; i < d->devices.nrunning; i++)
		if (d->devices.running[i].first == first) {
			job_end_running(&d->devices, i);
			return;
		}
	assert(false);
}
