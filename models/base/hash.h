/* A hash for tables in memory: not stored, not the same on every machine. */
#ifndef SHARDSIM_BASE_HASH_H
#define SHARDSIM_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

enum { HASH_START = 1 };

/*
 * Returns the hash of `n` bytes behind what was hashed into `h`, HASH_START at first.
 */
uint64_t hash_bytes(uint64_t h, const void *bytes, size_t n);

/* Returns the hash of one number: the finaliser of splitmix64. */
static inline uint64_t hash_word(uint64_t x)
{
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
	x = (x ^ x >> 27) * 0x94d049bb133111eb;
	return x ^ x >> 31;
}

#endif
