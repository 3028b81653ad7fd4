#include "system/digest.h"

#include "base/arena.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__extension__ typedef unsigned __int128 word;

/* Offset basis and prime of the 128-bit hash: 2^88 + 2^8 + 0x3b. */
static const uint64_t basis_high = 0x6c62272e07bb0142, basis_low = 0x62b821756295c58d;
static const uint64_t prime_high = 0x0000000001000000, prime_low = 0x000000000000013b;

struct digest digest_start(void)
{
	return (struct digest){basis_high, basis_low};
}

void digest_bytes(struct digest *d, const void *bytes, size_t n)
{
	const unsigned char *p = bytes;
	word h = (word)d->high << 64 | d->low;
	word prime = (word)prime_high << 64 | prime_low;

	for (size_t i = 0; i < n; i++)
		h = (h ^ p[i]) * prime;
	*d = (struct digest){(uint64_t)(h >> 64), (uint64_t)h};
}

void digest_text(struct digest *d, const char *text)
{
	digest_bytes(d, text ? text : "", text ? strlen(text) + 1 : 1);
}

void digest_add(struct digest *d, struct digest other)
{
	unsigned char bytes[16];

	for (int i = 0; i < 8; i++) {
		bytes[i] = (unsigned char)(other.high >> (56 - 8 * i));
		bytes[8 + i] = (unsigned char)(other.low >> (56 - 8 * i));
	}
	digest_bytes(d, bytes, sizeof(bytes));
}

bool digest_equal(struct digest a, struct digest b)
{
	return a.high == b.high && a.low == b.low;
}

void digest_print(char out[DIGEST_TEXT], struct digest d)
{
	snprintf(out, DIGEST_TEXT, "%016llx%016llx", (unsigned long long)d.high,
	         (unsigned long long)d.low);
}

bool digest_parse(struct digest *out, const char *text)
{
	char half[17] = "";

	if (strlen(text) != 32 || text[strspn(text, "0123456789abcdef")])
		return false;
	memcpy(half, text, 16);
	out->high = strtoull(half, NULL, 16);
	out->low = strtoull(text + 16, NULL, 16);
	return true;
}

static bool is_free(const struct digest *d)
{
	return d->high == 0 && d->low == 0;
}

/* The slot that has the digest, or the free one where it belongs. */
static struct digest *find(const struct digests *set, struct digest d)
{
	size_t i = (size_t)d.low & (set->size - 1);

	while (!is_free(&set->slot[i]) && !digest_equal(set->slot[i], d))
		i = (i + 1) & (set->size - 1);
	return &set->slot[i];
}

static void grow(struct digests *set)
{
	struct digests old = *set;

	set->size = old.size ? 2 * old.size : 64;
	set->slot = xmalloc(set->size, sizeof(*set->slot));
	memset(set->slot, 0, set->size * sizeof(*set->slot));
	for (size_t i = 0; i < old.size; i++)
		if (!is_free(&old.slot[i]))
			*find(set, old.slot[i]) = old.slot[i];
	free(old.slot);
}

void digests_add(struct digests *set, struct digest d)
{
	struct digest *slot;

	if (2 * set->n >= set->size)
		grow(set);
	slot = find(set, d);
	set->n += is_free(slot);
	*slot = d;
}

bool digests_has(const struct digests *set, struct digest d)
{
	return set->size > 0 && !is_free(find(set, d));
}

void digests_free(struct digests *set)
{
	free(set->slot);
	*set = (struct digests){0};
}
