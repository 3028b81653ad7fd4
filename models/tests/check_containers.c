/*
 * The table, the heap, the list and the sets against plain arrays that say the same by
 * walking through everything: long runs of random operations.
 */
#include "base/arena.h"
#include "base/hash.h"
#include "base/heap.h"
#include "base/list.h"
#include "base/rng.h"
#include "base/sets.h"
#include "base/table.h"
#include "tests/tests.h"

#include <check.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Every test that takes memory runs with the heap's (_i is 0) and with an arena's. */
enum { MEMORIES = 2 };

static struct arena *arena_or_heap(int memory)
{
	return memory ? arena_new() : NULL;
}

static void arena_or_heap_free(struct arena *a)
{
	if (a)
		arena_free(a);
}

/* --- table ------------------------------------------------------------------------- */

enum { KEYS = 6000 };

/* What is in the table: numbers are added in rising order, each under a key. */
struct oracle {
	int64_t key[KEYS];
	int32_t n;
};

/* How many of the hash's bits differ from key to key. */
static uint64_t weak_hash(int64_t key, uint64_t mask)
{
	return ((uint64_t)key * 0x9e3779b97f4a7c15) & mask;
}

static int32_t oracle_find(const struct oracle *o, int64_t key)
{
	for (int32_t i = 0; i < o->n; i++)
		if (o->key[i] == key)
			return i;
	return -1;
}

static int32_t table_find(const struct table *t, const struct oracle *o, int64_t key,
                          uint64_t mask)
{
	uint64_t hash = weak_hash(key, mask);
	size_t at;

	for (int32_t i = table_first(t, hash, &at); i >= 0;
	     i = table_next(t, hash, &at)) {
		ck_assert_int_lt(i, o->n);
		if (o->key[i] == key)
			return i;
	}
	return -1;
}

/* Masks from "all hashes are 0" to "all differ"; keys are asked for and then added. */
static const uint64_t masks[] = {0, 1, 0x7, 0xf0, 0xff00000000, UINT64_MAX};

START_TEST(table_finds_what_a_plain_array_has)
{
	struct arena *a = arena_or_heap(_i % MEMORIES);
	uint64_t mask = masks[_i / MEMORIES];
	struct table t = {.arena = a};
	struct oracle *o = xmalloc(1, sizeof(*o));
	struct rng *r = rng_new((uint64_t)_i + 1);
	/* The walk through equal hashes takes as long as there are of them. */
	int32_t operations = mask < 0x100 ? 1500 : 12000;

	for (int round = 0; round < 3; round++) {
		o->n = 0;
		ck_assert_int_eq(table_find(&t, o, 7, mask), -1);
		for (int32_t i = 0; i < operations && o->n < KEYS; i++) {
			int64_t key = (int64_t)rng_below(r, operations);
			int32_t wanted = oracle_find(o, key);

			ck_assert_int_eq(table_find(&t, o, key, mask), wanted);
			if (wanted >= 0)
				continue;
			o->key[o->n] = key;
			table_add(&t, weak_hash(key, mask), o->n++);
			ck_assert_uint_eq(t.n, o->n);
			ck_assert_uint_ge(t.size, 2 * t.n);
			ck_assert_uint_eq(t.size & (t.size - 1), 0);
		}
		ck_assert_int_gt(o->n, operations / 3); /* it has grown several times */
		if (round == 0) {
			table_clear(&t);
			ck_assert_uint_ge(t.size, 2 * o->n); /* it keeps its memory */
		} else {
			table_free(&t);
			ck_assert_uint_eq(t.size, 0);
			ck_assert_ptr_eq(t.arena, a);
		}
	}
	free(o);
	rng_free(r);
	arena_or_heap_free(a);
}
END_TEST

/*
 * Names that differ in their last digits alone, as those of a large machine do, are spread
 * over a table as if drawn: then of n slots that n names ask for 1 - 1/e are taken.
 */
START_TEST(numbered_names_are_spread)
{
	static const char *const form[] = {"gpu%d", "node_link_%d", "nic%d_to_left"};
	enum { NAMES = 1 << 15 };
	static char taken[NAMES];
	int n = 0;

	memset(taken, 0, sizeof(taken));
	for (int i = 0; i < NAMES; i++) {
		char name[64];
		int length = snprintf(name, sizeof(name), form[_i], 100000 + i);
		uint64_t hash = hash_bytes(HASH_START, name, (size_t)length);
		char *slot = &taken[table_tag(hash) % NAMES];

		n += !*slot;
		*slot = 1;
	}
	ck_assert_int_gt(n, 0.6 * NAMES);
}
END_TEST

/* Every number under a hash is told, each once, and none that has another hash. */
START_TEST(table_tells_all_numbers_of_a_hash)
{
	enum { HASHES = 40, NUMBERS = 2000 };
	struct arena *a = arena_or_heap(_i);
	struct table t = {.arena = a};
	struct rng *r = rng_new((uint64_t)_i + 11);
	int of[NUMBERS];

	for (int32_t i = 0; i < NUMBERS; i++) {
		of[i] = (int)rng_below(r, HASHES);
		table_add(&t, weak_hash(of[i], UINT64_MAX), i);
	}
	for (int h = 0; h < HASHES + 1; h++) {
		uint64_t hash = weak_hash(h, UINT64_MAX);
		bool told[NUMBERS] = {false};
		size_t at;

		for (int32_t i = table_first(&t, hash, &at); i >= 0;
		     i = table_next(&t, hash, &at)) {
			ck_assert(!told[i]);
			told[i] = true;
		}
		for (int32_t i = 0; i < NUMBERS; i++)
			ck_assert(told[i] == (of[i] == h));
	}
	table_free(&t);
	rng_free(r);
	arena_or_heap_free(a);
}
END_TEST

/* --- heap -------------------------------------------------------------------------- */

enum { ITEMS = 400, FAR = 1000000 }; /* keys far above 0 stay so however they fall */

static bool by_key(const void *context, int32_t a, int32_t b)
{
	const int *key = context;

	return key[a] != key[b] ? key[a] < key[b] : a < b;
}

/* Coarser than the keys, so that many costs are equal and the order tells. */
static double cost_of(int key)
{
	return key / 8;
}

/* The first item that is there by walking through all, -1 if none is. */
static int32_t first_there(const bool *there, const int *key)
{
	int32_t first = -1;

	for (int32_t i = 0; i < ITEMS; i++)
		if (there[i] && (first < 0 || by_key(key, i, first)))
			first = i;
	return first;
}

START_TEST(heap_gives_the_first_after_any_operations)
{
	int key[ITEMS];
	bool there[ITEMS] = {false};
	struct heap h = {0};
	struct rng *r = rng_new((uint64_t)_i + 21);
	int32_t n = 0;

	for (int i = 0; i < 20000; i++) {
		int32_t item = (int32_t)rng_below(r, ITEMS), first;
		/* It fills in the first half of every thousand, then it empties. */
		bool adds = (int)rng_below(r, 10) < (i / 500 % 2 ? 3 : 7);

		if (adds && there[item]) { /* it comes earlier now, or where it was */
			key[item] -= (int)rng_below(r, 50);
			heap_queue(&h, by_key, key, item, cost_of(key[item]));
		} else if (adds) {
			key[item] = FAR + (int)rng_below(r, 200);
			there[item] = true;
			n++;
			heap_queue(&h, by_key, key, item, cost_of(key[item]));
		} else {
			first = first_there(there, key);
			ck_assert_int_eq(heap_take(&h, by_key, key), first);
			if (first >= 0) {
				there[first] = false;
				n--;
			}
		}
		ck_assert_int_eq(h.n, n);
	}
	heap_free(&h);
	ck_assert_int_eq(h.n, 0);
	ck_assert_int_eq(heap_take(&h, by_key, key), -1);
	key[3] = 1;
	heap_queue(&h, by_key, key, 3, cost_of(key[3]));
	ck_assert_int_eq(heap_take(&h, by_key, key), 3);
	heap_free(&h);
	rng_free(r);
}
END_TEST

static int compare_ints(const void *a, const void *b)
{
	return (*(const int *)a > *(const int *)b) - (*(const int *)a < *(const int *)b);
}

/* All in and all out is a sort, whatever is moved up in between. */
START_TEST(heap_sorts)
{
	int key[ITEMS], sorted[ITEMS];
	struct heap h = {0};
	struct rng *r = rng_new((uint64_t)_i + 31);

	for (int32_t i = 0; i < ITEMS; i++) {
		key[i] = FAR + (int)rng_below(r, ITEMS / 4);
		heap_queue(&h, by_key, key, i, cost_of(key[i]));
	}
	for (int i = 0; i < ITEMS; i++) {
		int32_t item = (int32_t)rng_below(r, ITEMS);

		key[item] -= (int)rng_below(r, ITEMS);
		heap_queue(&h, by_key, key, item, cost_of(key[item]));
	}
	memcpy(sorted, key, sizeof(key));
	qsort(sorted, ITEMS, sizeof(*sorted), compare_ints);
	for (int i = 0; i < ITEMS; i++)
		ck_assert_int_eq(key[heap_take(&h, by_key, key)], sorted[i]);
	ck_assert_int_eq(heap_take(&h, by_key, key), -1);
	heap_free(&h);
	rng_free(r);
}
END_TEST

/* --- list -------------------------------------------------------------------------- */

/* Of a size that no power of two is. */
struct triple {
	char c[3];
};

START_TEST(list_keeps_what_is_added)
{
	enum { MOST = 5000 };
	struct arena *a = arena_or_heap(_i);
	struct rng *r = rng_new((uint64_t)_i + 41);
	LIST(struct triple) list = {0};
	struct triple *plain = xmalloc(MOST, sizeof(*plain));
	int moves = 0;

	while (list.n + 40 < MOST) {
		int64_t n = list.n, room = list.room, more;
		struct triple *before = list.at;

		if (rng_below(r, 10)) {
			more = 1;
			*list_add(&list, a) = (struct triple){{(char)n, 1, 2}};
		} else {
			more = (int64_t)rng_below(r, 40);
			list_reserve(&list, a, more);
			ck_assert_int_eq(list.n, n);
			for (int64_t i = 0; i < more; i++)
				list.at[list.n++] =
					(struct triple){{(char)i, 3, (char)n}};
		}
		ck_assert_int_eq(list.n, n + more);
		ck_assert_int_ge(list.room, list.n);
		memcpy(plain + n, list.at + n, (size_t)more * sizeof(*plain));
		if (n)
			ck_assert_mem_eq(list.at, plain, (size_t)n * sizeof(*plain));
		if (list.room == room) {
			ck_assert_ptr_eq(list.at, before);
		} else {
			ck_assert_int_ge(list.room, 2 * room);
			moves++;
		}
	}
	ck_assert_int_le(moves, 10); /* from 16 items to 5000 and more */
	free(plain);
	rng_free(r);
	if (!a)
		free(list.at);
	arena_or_heap_free(a);
}
END_TEST

/* --- sets -------------------------------------------------------------------------- */

START_TEST(sets_tell_the_smallest_that_belongs)
{
	enum { N = 300 };
	struct rng *r = rng_new((uint64_t)_i + 51);
	int32_t parent[N], smallest[N];

	sets_apart(parent, N);
	for (int32_t i = 0; i < N; i++)
		smallest[i] = i;
	for (int k = 0; k < N + 100; k++) {
		int32_t a = (int32_t)rng_below(r, N), b = (int32_t)rng_below(r, N);
		int32_t kept = smallest[a] < smallest[b] ? smallest[a] : smallest[b];
		int32_t gone = smallest[a] < smallest[b] ? smallest[b] : smallest[a];

		sets_join(parent, a, b);
		for (int32_t i = 0; i < N; i++)
			if (smallest[i] == gone)
				smallest[i] = kept;
		if (k % 7 == 0)
			for (int32_t i = 0; i < N; i++)
				ck_assert_int_eq(sets_of(parent, i), smallest[i]);
	}
	rng_free(r);
}
END_TEST

Suite *tests(void)
{
	Suite *suite = suite_create("containers");
	TCase *table = tcase_create("table"), *heap = tcase_create("heap");
	TCase *list = tcase_create("list"), *sets = tcase_create("sets");

	tcase_add_loop_test(table, table_finds_what_a_plain_array_has, 0,
	                    MEMORIES * (int)(sizeof(masks) / sizeof(*masks)));
	tcase_add_loop_test(table, numbered_names_are_spread, 0, 3);
	tcase_add_loop_test(table, table_tells_all_numbers_of_a_hash, 0, MEMORIES);
	tcase_add_loop_test(heap, heap_gives_the_first_after_any_operations, 0, 5);
	tcase_add_loop_test(heap, heap_sorts, 0, 5);
	tcase_add_loop_test(list, list_keeps_what_is_added, 0, MEMORIES);
	tcase_add_loop_test(sets, sets_tell_the_smallest_that_belongs, 0, 5);
	suite_add_tcase(suite, table);
	suite_add_tcase(suite, heap);
	suite_add_tcase(suite, list);
	suite_add_tcase(suite, sets);
	return suite;
}
