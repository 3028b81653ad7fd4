#include "placement/memo.h"

#include "base/hash.h"
#include "base/list.h"
#include "base/table.h"

#include <stdlib.h>
#include <string.h>

/* A question, whose groups are one after another in `ids`, and its answer. */
struct answer {
	const int32_t *ids;
	int32_t ngroups, size;
	enum op op;
	double held_bytes, time_s;
};

struct memo {
	struct reduction_clock clock;
	struct arena *kept, *scratch;
	LIST(struct answer) answers;
	struct table by_question;
};

struct memo *memo_new(struct reduction_clock clock)
{
	struct memo *m = xmalloc(1, sizeof(*m));

	*m = (struct memo){.clock = clock, .kept = arena_new(), .scratch = arena_new()};
	return m;
}

void memo_free(struct memo *m)
{
	if (!m)
		return;
	arena_free(m->kept);
	arena_free(m->scratch);
	xfree(m->answers.at);
	table_free(&m->by_question);
	xfree(m);
}

static size_t ids_bytes(const struct answer *a)
{
	return (size_t)a->ngroups * (size_t)a->size * sizeof(*a->ids);
}

static uint64_t question_hash(const struct answer *a)
{
	uint64_t h = hash_bytes(HASH_START, &a->op, sizeof(a->op));

	h = hash_bytes(h, &a->size, sizeof(a->size));
	h = hash_bytes(h, &a->held_bytes, sizeof(a->held_bytes));
	return hash_bytes(h, a->ids, ids_bytes(a));
}

static bool same_question(const struct answer *x, const struct answer *y)
{
	return x->op == y->op && x->ngroups == y->ngroups && x->size == y->size &&
	       x->held_bytes == y->held_bytes &&
	       memcmp(x->ids, y->ids, ids_bytes(x)) == 0;
}

/* Returns what is known, else what the clock says, which is kept. */
static double memo_step_s(void *self, const struct reduction_step *step,
                          double held_bytes, struct text *why)
{
	struct memo *m = self;
	struct reduction_step asked = *step;
	struct answer a = {.op = step->op, .held_bytes = held_bytes};
	uint64_t hash;
	size_t at;

	arena_reset(m->scratch);
	asked.groups = reduction_groups(&step->groups, m->scratch);
	a.ids = asked.groups.ids;
	a.ngroups = asked.groups.ngroups;
	a.size = asked.groups.size;
	hash = question_hash(&a);
	for (int32_t i = table_first(&m->by_question, hash, &at); i >= 0;
	     i = table_next(&m->by_question, hash, &at))
		if (same_question(&m->answers.at[i], &a))
			return m->answers.at[i].time_s;
	a.time_s = m->clock.step_s(m->clock.self, &asked, held_bytes, why);
	if (a.time_s < 0)
		return a.time_s;
	a.ids = arena_dup(m->kept, a.ids, ids_bytes(&a), 1);
	table_add(&m->by_question, hash, (int32_t)m->answers.n);
	*list_add(&m->answers, NULL) = a;
	return a.time_s;
}

struct reduction_clock memo_clock(struct memo *m)
{
	return (struct reduction_clock){memo_step_s, m};
}
