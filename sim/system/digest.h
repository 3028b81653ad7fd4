/*
 * Digests that are stored: 128-bit FNV-1a (Fowler, Noll, Vo; RFC 9923), the same on every
 * machine. They tell cases apart that differ by accident, not by intent: among 10^9 cases
 * two share a digest with a probability below 10^-20.
 */
#ifndef SHARDSIM_SIM_SYSTEM_DIGEST_H
#define SHARDSIM_SIM_SYSTEM_DIGEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct digest {
	uint64_t high, low;
};

/* Returns the digest of no bytes. */
struct digest digest_start(void);

/*
 * Add to the digest `n` bytes, or a text with its final NUL (NULL is the same as "").
 */
void digest_bytes(struct digest *d, const void *bytes, size_t n);
void digest_text(struct digest *d, const char *text);

/* Adds the sixteen bytes of another digest. */
void digest_add(struct digest *d, struct digest other);

bool digest_equal(struct digest a, struct digest b);

/*
 * digest_print() writes 32 hexadecimal digits and a NUL; digest_parse() reads them back
 * and returns false for any other text.
 */
enum { DIGEST_TEXT = 33 };
void digest_print(char out[DIGEST_TEXT], struct digest d);
bool digest_parse(struct digest *out, const char *text);

/* A set of digests that grows; `struct digests d = {0}` is empty. */
struct digests {
	size_t n;
	struct digest_set *set; /* NULL where n is 0 */
};

void digests_add(struct digests *all, struct digest d);
bool digests_has(const struct digests *all, struct digest d);
void digests_free(struct digests *all);

#endif
