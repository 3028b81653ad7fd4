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

/* Of no bytes. */
struct digest digest_start(void);

/* Of `n` bytes, or of a text (NULL as "") and its end, behind what is in `d`. */
void digest_bytes(struct digest *d, const void *bytes, size_t n);
void digest_text(struct digest *d, const char *text);

/* Of another digest's sixteen bytes. */
void digest_add(struct digest *d, struct digest other);

bool digest_equal(struct digest a, struct digest b);

/* 32 hexadecimal digits and a NUL; and back: false for any other text. */
enum { DIGEST_TEXT = 33 };
void digest_print(char out[DIGEST_TEXT], struct digest d);
bool digest_parse(struct digest *out, const char *text);

/* A set of digests, which grows. `struct digests d = {0}` is empty. */
struct digests {
	size_t n;
	struct digest_set *set; /* NULL where n is 0 */
};

void digests_add(struct digests *all, struct digest d);
bool digests_has(const struct digests *all, struct digest d);
void digests_free(struct digests *all);

#endif
