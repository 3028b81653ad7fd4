#include "placement/memo.h"

#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

struct entry {
	const int32_t *ids; /* NULL: free */
	int32_t ngroups, size;
	enum op op;
	double held_bytes, time_s;
	uint64_t hash;
};

struct memo {
	struct reduction_clock clock;
	struct arena *kept, *scratch;
	struct entry *table; /* open addressing; capacity a power of two */
	size_t entries, capacity;
};

struct memo *memo_new(struct reduction_clock clock)
{
	struct memo *m = xmalloc(1, sizeof(*m));

	*m = (struct memo){.clock = clock, .capacity = 256};
	m->kept = arena_new();
	m->scratch = arena_new();
	m->table = xmalloc(m->capacity, sizeof(*m->table));
	memset(m->table, 0, m->capacity * sizeof(*m->table));
	return m;
}

void memo_free(struct memo *m)
{
	if (!m)
		return;
	arena_free(m->kept);
	arena_free(m->scratch);
	free(m->table);
	free(m);
}

static size_t ids_size(const struct entry *e)
{
	return (size_t)e->ngroups * (size_t)e->size * sizeof(*e->ids);
}

static uint64_t entry_hash(const struct entry *e)
{
	uint64_t h = hash_bytes(HASH_START, &e->op, sizeof(e->op));

	h = hash_bytes(h, &e->size, sizeof(e->size));
	h = hash_bytes(h, &e->held_bytes, sizeof(e->held_bytes));
	return hash_bytes(h, e->ids, ids_size(e));
}

static bool same(const struct entry *x, const struct entry *y)
{
	return x->hash == y->hash && x->op == y->op && x->ngroups == y->ngroups &&
	       x->size == y->size && x->held_bytes == y->held_bytes &&
	       memcmp(x->ids, y->ids, ids_size(x)) == 0;
}

/* The entry that is the same, or the free one where it belongs. */
static struct entry *find(struct entry *table, size_t capacity, const struct entry *e)
{
	size_t i = e->hash & (capacity - 1);

	while (table[i].ids && !same(&table[i], e))
		i = (i + 1) & (capacity - 1);
	return &table[i];
}

static void grow(struct memo *m)
{
	size_t capacity = 2 * m->capacity;
	struct entry *grown = xmalloc(capacity, sizeof(*grown));

	memset(grown, 0, capacity * sizeof(*grown));
	for (size_t i = 0; i < m->capacity; i++)
		if (m->table[i].ids)
			*find(grown, capacity, &m->table[i]) = m->table[i];
	free(m->table);
	m->table = grown;
	m->capacity = capacity;
}

static double step_s(void *self, const struct reduction_step *step, double held_bytes,
                     struct text *why)
{
	struct memo *m = self;
	struct reduction_step asked = *step;
	struct entry e = {.op = step->op, .held_bytes = held_bytes}, *at;

	arena_reset(m->scratch);
	asked.groups = reduction_groups(&step->groups, m->scratch);
	e.ids = asked.groups.ids;
	e.ngroups = asked.groups.ngroups;
	e.size = asked.groups.size;
	e.hash = entry_hash(&e);
	at = find(m->table, m->capacity, &e);
	if (at->ids)
		return at->time_s;
	e.time_s = m->clock.step_s(m->clock.self, &asked, held_bytes, why);
	if (e.time_s < 0)
		return e.time_s;
	if (2 * ++m->entries > m->capacity) {
		grow(m);
		at = find(m->table, m->capacity, &e);
	}
	*at = e;
	at->ids = arena_dup(m->kept, e.ids, (size_t)e.ngroups * (size_t)e.size,
	                    sizeof(*e.ids));
	return e.time_s;
}

struct reduction_clock memo_clock(struct memo *m)
{
	return (struct reduction_clock){step_s, m};
}
