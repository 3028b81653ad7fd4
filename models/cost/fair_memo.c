#include "cost/fair_memo.h"

#include "base/hash.h"
#include "base/list.h"
#include "base/table.h"

#include <stdlib.h>
#include <string.h>

/*
 * A system that is kept: its arrays are one after another in fair_memo.bytes, from
 * `first` on.
 */
struct known {
	struct fair fair; /* its counts; the arrays are not set */
	int64_t first;
	double seconds;
};

struct fair_memo {
	struct table table; /* of the numbers in `known` */
	LIST(struct known) known;
	LIST(char) bytes;
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
	xfree(m->known.at);
	xfree(m->bytes.at);
	xfree(m);
}

static size_t tasks_size(const struct fair *f)
{
	return (size_t)f->ntasks * sizeof(*f->task);
}

static size_t uses_size(const struct fair *f)
{
	return (size_t)f->nuses * sizeof(*f->use);
}

static size_t links_size(const struct fair *f)
{
	return (size_t)f->nlinks * sizeof(*f->link_Bps);
}

/*
 * Returns the hash of a system. None of its structs has bytes that belong to no figure.
 */
static uint64_t hash_of(const struct fair *f)
{
	uint64_t hash = HASH_START;

	_Static_assert(sizeof(struct fair_task) == 2 * sizeof(double) + 16, "padding");
	_Static_assert(sizeof(struct fair_use) == 8 + sizeof(double), "padding");
	hash = hash_bytes(hash, f->task, tasks_size(f));
	hash = hash_bytes(hash, f->use, uses_size(f));
	return hash_bytes(hash, f->link_Bps, links_size(f));
}

/* Returns a kept system with its arrays. */
static struct fair kept(const struct fair_memo *m, const struct known *k)
{
	struct fair f = k->fair;

	f.task = (struct fair_task *)(m->bytes.at + k->first);
	f.use = (struct fair_use *)(f.task + f.ntasks);
	f.link_Bps = (double *)(f.use + f.nuses);
	return f;
}

bool fair_memo_find(double *seconds, const struct fair_memo *m, const struct fair *f)
{
	uint64_t hash = hash_of(f);
	size_t at;

	for (int32_t i = table_first(&m->table, hash, &at); i >= 0;
	     i = table_next(&m->table, hash, &at)) {
		struct fair other = kept(m, &m->known.at[i]);

		if (!fair_equal(f, &other))
			continue;
		*seconds = m->known.at[i].seconds;
		return true;
	}
	return false;
}

void fair_memo_add(struct fair_memo *m, const struct fair *f, double seconds)
{
	int64_t size = (int64_t)(tasks_size(f) + uses_size(f) + links_size(f));
	char *to;

	if (size > FAIR_MEMO_BYTES_MAX)
		return;
	if (m->bytes.n + size > FAIR_MEMO_BYTES_MAX || m->known.n == FAIR_MEMO_MAX) {
		table_clear(&m->table);
		m->known.n = m->bytes.n = 0;
	}
	table_add(&m->table, hash_of(f), (int32_t)m->known.n);
	*list_add(&m->known, NULL) = (struct known){*f, m->bytes.n, seconds};
	list_reserve(&m->bytes, NULL, size);
	to = m->bytes.at + m->bytes.n;
	m->bytes.n += size;
	memcpy(to, f->task, tasks_size(f));
	memcpy(to + tasks_size(f), f->use, uses_size(f));
	memcpy(to + tasks_size(f) + uses_size(f), f->link_Bps, links_size(f));
}
