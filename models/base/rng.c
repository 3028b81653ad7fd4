#include "base/rng.h"

#include "base/arena.h"
#include "base/memory.h"

#include <gsl/gsl_rng.h>

struct rng {
	gsl_rng *gsl;
};

struct rng *rng_new(uint64_t seed)
{
	struct rng *r = xmalloc(1, sizeof(*r));

	r->gsl = gsl_rng_alloc(gsl_rng_mt19937);
	if (!r->gsl)
		memory_end(MEMORY_OUT, "out of memory (random numbers)");
	gsl_rng_set(r->gsl, seed);
	return r;
}

void rng_free(struct rng *r)
{
	if (!r)
		return;
	gsl_rng_free(r->gsl);
	xfree(r);
}

uint32_t rng_below(struct rng *r, uint32_t n)
{
	return (uint32_t)gsl_rng_uniform_int(r->gsl, n);
}

double rng_uniform(struct rng *r)
{
	return gsl_rng_uniform(r->gsl);
}
