#include "base/hash.h"

#include <string.h>

/*
 * Mixes eight bytes by one multiplication; the constant is 2^64 over the golden ratio,
 * made odd.
 */
static uint64_t hash_mix(uint64_t h, uint64_t word)
{
	h = (h ^ word) * UINT64_C(0x9e3779b97f4a7c15);
	return h ^ h >> 32;
}

uint64_t hash_bytes(uint64_t h, const void *bytes, size_t n)
{
	const char *p = bytes;
	uint64_t word;

	for (; n >= sizeof(word); n -= sizeof(word), p += sizeof(word)) {
		memcpy(&word, p, sizeof(word));
		h = hash_mix(h, word);
	}
	word = n;
	memcpy(&word, p, n);
	h = hash_mix(h, word ^ (uint64_t)n << 56);
	/*
	 * Low bits of a product know nothing of high ones, where the last digits of a name
	 * are: so it is mixed once more, both halves together.
	 */
	h *= UINT64_C(0xbf58476d1ce4e5b9);
	return h ^ h >> 29;
}
