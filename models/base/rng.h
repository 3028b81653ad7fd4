/*
 * Seeded random numbers: GSL's Mersenne twister behind our names, so that equal seeds
 * give equal problems on every machine. rand() is not used anywhere.
 */
#ifndef SHARDSIM_BASE_RNG_H
#define SHARDSIM_BASE_RNG_H

#include <stddef.h>
#include <stdint.h>

struct rng;

struct rng *rng_new(uint64_t seed);
void rng_free(struct rng *r);

/* Returns a number uniform in [0, n), 1 <= n < 2^32. */
uint32_t rng_below(struct rng *r, uint32_t n);

/* Stores what `count` calls of rng_below() would return, in a fraction of their time. */
void rng_fill_below(uint32_t *out, size_t count, struct rng *r, uint32_t n);

/* Returns a number uniform in [0, 1). */
double rng_uniform(struct rng *r);

#endif
