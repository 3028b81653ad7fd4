#include "cost/fair_memo.h"

#include "base/hash.h"
#include "base/list.h"
#include "base/table.h"

#include <stdlib.h>
#include <string.h>

/* A system: its tasks, uses and links are one after another in fair_memo.bytes. */
struct known {
	int64_t first, ntasks, nuses;
	int32_t nlinks;
	double seconds;
};

struct fair_memo {
	struct table table; /* of the numbers in `known` */
	LIST(struct known) known;
	LIST(char) bytes;
};

/* One of the three arrays of a system. */
struct part {
	const void *at;
	size_t size;
};

struct fair_memo *fair_memo_new(void)
{
	struct fair_memo *m = xmalloc(1, sizeof(*m));

	*m = (struct fair_memo){.known = {0}};
	return m;
}

void fair_memo_free(struct fair_memo *m)
{
	if (!m)
		return;
	table_free(&m->table);
	free(m->known.at);
	free(m->bytes.at);
	free(m);
}

/* No struct in them has bytes that are no figure's. */
static void parts_of(struct part out[3], const struct fair *f)
{
	_Static_assert(sizeof(struct fair_task) == 2 * sizeof(double) + 16, "padding");
	_Static_assert(sizeof(struct fair_use) == 8 + sizeof(double), "padding");
	out[0] = (struct part){f->task, (size_t)f->ntasks * sizeof(*f->task)};
	out[1] = (struct part){f->use, (size_t)f->nuses * sizeof(*f->use)};
	out[2] = (struct part){f->link_Bps, (size_t)f->nlinks * sizeof(*f->link_Bps)};
}

static uint64_t hash_of(const struct part part[3])
{
	uint64_t hash = HASH_START;

	for (int i = 0; i < 3; i++)
		hash = hash_bytes(hash, part[i].at, part[i].size);
	return hash;
}

static bool is_known(const struct fair_memo *m, const struct known *k, const struct fair *f,
                     const struct part part[3])
{
	const char *at = m->bytes.at + k->first;

	if (k->ntasks != f->ntasks || k->nuses != f->nuses || k->nlinks != f->nlinks)
		return false;
	for (int i = 0; i < 3; i++) {
		if (memcmp(at, part[i].at, part[i].size) != 0)
			return false;
		at += part[i].size;
	}
	return true;
}

bool fair_memo_find(double *seconds, const struct fair_memo *m, const struct fair *f)
{
	struct part part[3];
	uint64_t hash;
	size_t at;

	parts_of(part, f);
	hash = hash_of(part);
	for (int32_t i = table_first(&m->table, hash, &at); i >= 0;
	     i = table_next(&m->table, hash, &at)) {
		if (!is_known(m, &m->known.at[i], f, part))
			continue;
		*seconds = m->known.at[i].seconds;
		return true;
	}
	return false;
}

void fair_memo_add(struct fair_memo *m, const struct fair *f, double seconds)
{
	struct part part[3];
	int64_t size;

	parts_of(part, f);
	size = (int64_t)(part[0].size + part[1].size + part[2].size);
	if (size > FAIR_MEMO_BYTES_MAX)
		return;
	if (m->bytes.n + size > FAIR_MEMO_BYTES_MAX || m->known.n == FAIR_MEMO_MAX) {
		table_clear(&m->table);
		m->known.n = m->bytes.n = 0;
	}
	table_add(&m->table, hash_of(part), (int32_t)m->known.n);
	*list_add(&m->known, NULL) =
		(struct known){m->bytes.n, f->ntasks, f->nuses, f->nlinks, seconds};
	list_reserve(&m->bytes, NULL, size);
	for (int i = 0; i < 3; i++) {
		memcpy(m->bytes.at + m->bytes.n, part[i].at, part[i].size);
		m->bytes.n += (int64_t)part[i].size;
	}
}
