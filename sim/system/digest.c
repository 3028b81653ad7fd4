#include "system/digest.h"

#include "base/arena.h"
#include "base/list.h"
#include "base/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__extension__ typedef unsigned __int128 word;

/* The offset basis of the 128-bit hash, and its prime: 2^88 + 2^8 + 0x3b. */
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

/* A digest is a hash already, so its low half is the key of the table. */
struct digest_set {
	LIST(struct digest) digests;
	struct table by_low;
};

bool digests_has(const struct digests *all, struct digest d)
{
	const struct digest_set *set = all->set;
	size_t at;

	if (!set)
		return false;
	for (int32_t i = table_first(&set->by_low, d.low, &at); i >= 0;
	     i = table_next(&set->by_low, d.low, &at))
		if (digest_equal(set->digests.at[i], d))
			return true;
	return false;
}

void digests_add(struct digests *all, struct digest d)
{
	if (digests_has(all, d))
		return;
	if (!all->set) {
		all->set = xmalloc(1, sizeof(*all->set));
		*all->set = (struct digest_set){0};
	}
	table_add(&all->set->by_low, d.low, (int32_t)all->n++);
	*list_add(&all->set->digests, NULL) = d;
}

void digests_free(struct digests *all)
{
	if (!all->set)
		return;
	table_free(&all->set->by_low);
	free(all->set->digests.at);
	free(all->set);
	*all = (struct digests){0};
}
