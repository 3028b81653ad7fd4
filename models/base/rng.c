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

/*
 * GSL takes the whole part of a number over `scale` and draws again where that is n or more.
 * The division is a product here, exact for 32-bit numbers (Lemire, Kaser and Kurz 2019).
 */
void rng_fill_below(uint32_t *out, size_t count, struct rng *r, uint32_t n)
{
	unsigned long least = gsl_rng_min(r->gsl);
	uint32_t scale = (uint32_t)((gsl_rng_max(r->gsl) - least) / n);
	uint64_t inverse = scale > 1 ? UINT64_MAX / scale + 1 : 0;

	for (size_t i = 0; i < count;) {
		uint32_t drawn = (uint32_t)(gsl_rng_get(r->gsl) - least);
		uint32_t k =
			scale > 1 ? (uint32_t)((unsigned __int128)inverse * drawn >> 64)
				  : drawn;

		out[i] = k;
		i += k < n;
	}
}

double rng_uniform(struct rng *r)
{
	return gsl_rng_uniform(r->gsl);
}
