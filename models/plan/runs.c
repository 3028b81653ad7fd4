#include "plan/runs.h"

#include <stdlib.h>
#include <string.h>

struct list list_of(struct arena *a, int64_t lo, int64_t hi)
{
	struct run *run = arena_alloc(a, 1, sizeof(*run));

	*run = (struct run){lo, hi};
	return (struct list){.n = lo < hi, .run = run};
}

int64_t list_length(struct list l)
{
	int64_t n = 0;

	for (int32_t i = 0; i < l.n; i++)
		n += l.run[i].hi - l.run[i].lo;
	return n;
}

bool list_equal(struct list a, struct list b)
{
	return a.n == b.n && (a.run == b.run || a.n == 0 ||
	                      memcmp(a.run, b.run, (size_t)a.n * sizeof(*a.run)) == 0);
}

struct list list_join(struct arena *a, const struct list *parts, int32_t count)
{
	int32_t total = 0;
	struct list out = {0};
	struct run *run;

	for (int32_t i = 0; i < count; i++)
		total += parts[i].n;
	run = arena_alloc(a, (size_t)total, sizeof(*run));
	out.run = run;
	for (int32_t i = 0; i < count; i++) {
		for (int32_t k = 0; k < parts[i].n; k++) {
			struct run r = parts[i].run[k];

			if (out.n && run[out.n - 1].hi == r.lo)
				run[out.n - 1].hi = r.hi;
			else
				run[out.n++] = r;
		}
	}
	return out;
}

bool list_block(struct list *out, struct arena *a, struct list l, int32_t block,
                int32_t factor)
{
	int64_t length = list_length(l), skip, take;
	struct run *run = arena_alloc(a, (size_t)l.n, sizeof(*run));

	*out = (struct list){.run = run};
	if (length % factor != 0 || block < 0 || block >= factor)
		return false;
	take = length / factor;
	skip = take * block;
	for (int32_t i = 0; i < l.n && take > 0; i++) {
		int64_t n = l.run[i].hi - l.run[i].lo;
		struct run r = l.run[i];

		if (skip >= n) {
			skip -= n;
			continue;
		}
		r.lo += skip;
		skip = 0;
		if (r.hi - r.lo > take)
			r.hi = r.lo + take;
		take -= r.hi - r.lo;
		run[out->n++] = r;
	}
	return true;
}

struct list list_common(struct arena *a, struct list x, struct list y)
{
	struct run *run = arena_alloc(a, (size_t)(x.n * y.n), sizeof(*run));
	struct list out = {.run = run};

	for (int32_t i = 0; i < x.n; i++)
		for (int32_t k = 0; k < y.n; k++) {
			int64_t lo = x.run[i].lo, hi = x.run[i].hi;

			lo = lo > y.run[k].lo ? lo : y.run[k].lo;
			hi = hi < y.run[k].hi ? hi : y.run[k].hi;
			if (lo < hi)
				run[out.n++] = (struct run){lo, hi};
		}
	return out;
}

bool list_matches(struct list l, int64_t lo, int64_t size, int64_t limit)
{
	int64_t at = lo;

	for (int32_t i = 0; i < l.n; i++) {
		if (at < limit && l.run[i].lo != at)
			return false;
		at += l.run[i].hi - l.run[i].lo;
	}
	return at == lo + size;
}

bool list_holds(struct list l, int64_t lo, int64_t hi)
{
	for (int32_t i = 0; i < l.n; i++)
		if (l.run[i].lo <= lo && hi <= l.run[i].hi)
			return true;
	return false;
}

static int by_start(const void *a, const void *b)
{
	const struct run *x = a, *y = b;

	return (x->lo > y->lo) - (x->lo < y->lo);
}

bool lists_partition(struct arena *a, const struct list *parts, int32_t count, int64_t n)
{
	int32_t total = 0, at = 0;
	int64_t next = 0;
	struct run *run;

	for (int32_t i = 0; i < count; i++)
		total += parts[i].n;
	run = arena_alloc(a, (size_t)total, sizeof(*run));
	for (int32_t i = 0; i < count; i++)
		for (int32_t k = 0; k < parts[i].n; k++)
			run[at++] = parts[i].run[k];
	qsort(run, (size_t)total, sizeof(*run), by_start);
	for (int32_t i = 0; i < total; i++) {
		if (run[i].lo != next)
			return false;
		next = run[i].hi;
	}
	return next == n;
}
