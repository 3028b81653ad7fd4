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

#endif
