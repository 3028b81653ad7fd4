/* Numbers for keys, against a list of the keys that were given one. */
#include "base/arena.h"
#include "base/keys.h"
#include "base/rng.h"
#include "tests/tests.h"

#include <check.h>

#include <string.h>

enum { KEYS = 3000, BYTES = 12 };

/* Keys of few bytes of few values, so that many are equal, and one may begin another. */
START_TEST(keys_by_order)
{
	struct rng *r = rng_new(5);
	struct arena *a = arena_new();
	struct keys keys = {.arena = a};
	static char known[KEYS][BYTES];
	static size_t size[KEYS];
	int n = 0;

	for (int i = 0; i < KEYS; i++) {
		char key[BYTES] = {0};
		size_t length = rng_below(r, BYTES);
		bool fresh;
		int at = 0;

		for (size_t k = 0; k < length; k++)
			key[k] = (char)rng_below(r, 2);
		while (at < n &&
		       (size[at] != length || memcmp(known[at], key, length) != 0))
			at++;
		ck_assert_int_eq(keys_find(&keys, key, length), at < n ? at : -1);
		ck_assert_int_eq(keys_add(&keys, key, length, &fresh), at);
		ck_assert(fresh == (at == n));
		memcpy(known[at], key, BYTES);
		size[at] = length;
		n += at == n;
		memset(key, 2, BYTES); /* it was copied */
		ck_assert_int_eq(keys_find(&keys, known[at], length), at);
	}
	ck_assert_int_gt(n, 1000);
	arena_free(a);
	rng_free(r);
}
END_TEST

START_TEST(equal_hashes_are_not_equal_keys)
{
	struct arena *a = arena_new();
	struct keys keys = {.arena = a};
	bool fresh;

	ck_assert_int_eq(keys_add_hashed(&keys, 7, "one", 3, &fresh), 0);
	ck_assert_int_eq(keys_add_hashed(&keys, 7, "two", 3, &fresh), 1);
	ck_assert(fresh);
	ck_assert_int_eq(keys_add_hashed(&keys, 7, "one", 3, &fresh), 0);
	ck_assert(!fresh);
	arena_free(a);
}
END_TEST

Suite *tests(void)
{
	Suite *suite = suite_create("keys");
	TCase *tcase = tcase_create("keys");

	tcase_add_test(tcase, keys_by_order);
	tcase_add_test(tcase, equal_hashes_are_not_equal_keys);
	suite_add_tcase(suite, tcase);
	return suite;
}
