/* Arena, growing texts, errors with a place, the scanner, units and random numbers. */
#include "base/arena.h"
#include "base/hash.h"
#include "base/rng.h"
#include "base/scan.h"
#include "base/units.h"
#include "tests/tests.h"

#include <check.h>

#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* --- arena and text ---------------------------------------------------------------- */

static const size_t sizes[] = {0,    1,    3,     7,     48,    333,     4096,
                               4097, 8191, 16383, 16385, 49153, 1000003, 5 << 20};

static bool is_zero(const unsigned char *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (p[i])
			return false;
	return true;
}

/*
 * Blocks of all sizes in odd order: aligned, zeroed, and none overlaps another, whether
 * freed memory is kept or not.
 */
START_TEST(memory_is_aligned_zeroed_and_apart)
{
	enum { KINDS = sizeof(sizes) / sizeof(*sizes), BLOCKS = 5 * KINDS };
	struct arena *a = arena_new();
	unsigned char *block[BLOCKS];

	if (_i)
		memory_keep();
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < BLOCKS; i++) {
			size_t n = sizes[i * 5 % KINDS];

			block[i] = arena_alloc(a, n, 1);
			ck_assert_ptr_nonnull(block[i]);
			ck_assert_uint_eq((uintptr_t)block[i] % _Alignof(max_align_t),
			                  0);
			ck_assert(is_zero(block[i], n));
			memset(block[i], 1 + i, n);
		}
		for (int i = 0; i < BLOCKS; i++) {
			size_t n = sizes[i * 5 % KINDS];

			for (size_t k = 0; k < n; k += n / 5 + 1)
				ck_assert_int_eq(block[i][k], 1 + i);
			if (n)
				ck_assert_int_eq(block[i][n - 1], 1 + i);
		}
		if (round == 1) {
			arena_free(a);
			a = arena_new();
		} else {
			arena_reset(a);
		}
	}
	arena_free(a);
	arena_free(NULL);
}
END_TEST

START_TEST(strings_are_copied)
{
	struct arena *a = arena_new();
	static const int32_t three[] = {3, 5, 7};

	ck_assert_str_eq(arena_strdup(a, "odd"), "odd");
	ck_assert_str_eq(arena_strndup(a, "oddly", 3), "odd");
	ck_assert_str_eq(arena_strndup(a, "", 0), "");
	ck_assert_str_eq(arena_printf(a, "%d/%s", 7, "x"), "7/x");
	ck_assert_uint_eq(strlen(arena_printf(a, "%*d", 49153, 1)), 49153);
	ck_assert_mem_eq(arena_dup(a, three, 3, sizeof(*three)), three, sizeof(three));
	ck_assert_ptr_nonnull(arena_dup(a, NULL, 0, 8));
	ck_assert_mem_eq(arena_grow(a, three, 3, 70000, sizeof(*three)), three,
	                 sizeof(three));
	arena_free(a);
}
END_TEST

START_TEST(texts_grow)
{
	struct text t = {0};
	struct arena *a = arena_new();
	char *s;

	ck_assert_str_eq(text_take(&t, a), "");
	for (int i = 0; i < 1001; i++)
		text_printf(&t, "%d,", i % 10);
	text_append(&t, "end\0of", 3);
	ck_assert_uint_eq(t.length, 2005);
	ck_assert_uint_eq(strlen(t.s), t.length);
	ck_assert_uint_lt(t.length, t.capacity);
	s = text_take(&t, a);
	ck_assert_str_eq(s + 1998, "9,0,end");
	ck_assert_ptr_null(t.s);
	ck_assert_uint_eq(t.capacity, 0);
	text_free(&t);
	arena_free(a);
}
END_TEST

/* Read by AddressSanitizer alone: its malloc must fail as any other does. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "allocator_may_return_null=1";
}

/* Each of these ends the program: no caller ever sees NULL. */
/* 4,096 texts that differ in one bit or in length fall evenly into 256 places. */
START_TEST(hashes_spread)
{
	unsigned char text[512] = {0};
	int place[256] = {0}, most = 0;

	for (int i = 0; i < 4096; i++) {
		text[i / 8] = (unsigned char)(1u << i % 8);
		place[hash_bytes(HASH_START, text, sizeof(text)) % 256]++;
		text[i / 8] = 0;
	}
	for (int i = 0; i < 256; i++)
		most = place[i] > most ? place[i] : most;
	/* 16 on average; above 48 has a chance below 1e-9 for a fair hash. */
	ck_assert_int_lt(most, 48);
	ck_assert(hash_bytes(HASH_START, text, 3) != hash_bytes(HASH_START, text, 4));
	ck_assert(hash_bytes(HASH_START, "ab", 2) == hash_bytes(HASH_START, "abc", 2));
}
END_TEST

START_TEST(too_much_memory_ends_the_program)
{
	struct arena *a = arena_new();

	switch (_i) {
	case 0:
		arena_alloc(a, SIZE_MAX / 2, 3);
		break;
	case 1:
		arena_alloc(a, SIZE_MAX, 1);
		break;
	case 2:
		arena_alloc(a, SIZE_MAX / 2, 1);
		break;
	case 3:
		free(xmalloc(SIZE_MAX, SIZE_MAX));
		break;
	default:
		free(xrealloc(xmalloc(7, 1), (size_t)1 << 33, (size_t)1 << 33));
		break;
	}
}
END_TEST

START_TEST(no_bytes_are_memory_too)
{
	void *p = xmalloc(0, 5);

	ck_assert_ptr_nonnull(p);
	p = xrealloc(p, 5, 0);
	ck_assert_ptr_nonnull(p);
	free(p);
}
END_TEST

/* --- errors ------------------------------------------------------------------------ */

static const struct {
	struct where at;
	const char *printed;
} places[] = {
	{{0}, "bad thing\n"},
	{{.file = "a.yaml"}, "a.yaml: bad thing\n"},
	{{.file = "a.yaml", .line = 3, .col = 7}, "a.yaml:3:7: bad thing\n"},
	{{.file = "--from", .line = 1, .col = 3, .source = "P(x)"},
         "--from:1:3: bad thing\n  P(x)\n    ^\n"},
	{{.file = "--from", .line = 1, .col = 1, .source = ""},
         "--from:1:1: bad thing\n  \n  ^\n"},
	{{.file = "f", .line = 2, .col = 5, .source = "\ta\tbc\nnext line"},
         "f:2:5: bad thing\n  \ta\tbc\n  \t \t ^\n"},
	{{.file = "f", .line = 1, .col = 99, .source = "abc"},
         "f:1:99: bad thing\n  abc\n     ^\n"},
};

START_TEST(errors_print_their_place)
{
	struct error e = {0};
	char printed[200] = {0};
	FILE *out = fmemopen(printed, sizeof(printed) - 1, "w");

	ck_assert_int_eq(error_set(&e, E_TYPE, places[_i].at, "bad %s", "thing"),
	                 E_TYPE);
	error_print(out, &e);
	fclose(out);
	ck_assert_str_eq(printed, places[_i].printed);
}
END_TEST

START_TEST(the_first_error_wins)
{
	struct error e = {0};
	struct where at = where_option("--to", "P()");

	ck_assert_int_eq(error_set(&e, E_RANGE, at, "first"), E_RANGE);
	ck_assert_int_eq(error_set(&e, E_IO, (struct where){0}, "second"), E_RANGE);
	ck_assert_str_eq(e.text, "first");
	ck_assert_str_eq(e.at.file, "--to");
	ck_assert_int_eq(error_set(NULL, E_IO, at, "nobody listens"), E_IO);
}
END_TEST

START_TEST(long_errors_are_cut)
{
	struct error e = {0};

	error_set(&e, E_TYPE, (struct where){0}, "%0999d", 7);
	ck_assert_uint_eq(strlen(e.text), sizeof(e.text) - 1);
}
END_TEST

/* --- scanner ----------------------------------------------------------------------- */

START_TEST(tokens_are_taken_in_order)
{
	struct error e = {0};
	const char *text =
		"  all-gather{x_1.b-c}: 'a \"b' \"\" 0->  17\n\tpairs2 pairs";
	struct scan s = scan_start(text, where_option("plan", text), &e);
	const char *name;
	size_t n;
	int64_t value;

	ck_assert(!scan_take(&s, "gather"));
	ck_assert(scan_name(&s, &name, &n) && n == 10 && !memcmp(name, "all-gather", n));
	ck_assert(!scan_name(&s, &name, &n));
	ck_assert(scan_expect(&s, "{"));
	ck_assert(scan_name(&s, &name, &n) && n == 7 && !memcmp(name, "x_1.b-c", n));
	ck_assert(scan_take(&s, "}") && scan_take(&s, ":"));
	ck_assert(!scan_quoted(&s, '"', &name, &n));
	ck_assert(scan_quoted(&s, '\'', &name, &n) && n == 4 &&
	          !memcmp(name, "a \"b", n));
	ck_assert(scan_quoted(&s, '"', &name, &n) && n == 0);
	ck_assert(scan_int(&s, "a number", 0, 0, &value) && value == 0);
	ck_assert_int_eq(scan_peek(&s), '-');
	ck_assert(scan_take(&s, "->"));
	ck_assert(scan_int(&s, "a number", 17, 17, &value) && value == 17);
	ck_assert(!scan_word(&s, "pairs"));
	ck_assert(scan_take(&s, "pairs") && scan_take(&s, "2"));
	ck_assert(scan_word(&s, "pairs"));
	ck_assert(scan_done(&s));
	ck_assert_int_eq(scan_peek(&s), 0);
	ck_assert_int_eq(scan_finish(&s), OK);
}
END_TEST

static void fail_expect(struct scan *s)
{
	ck_assert(scan_take(s, "a\nb"));
	ck_assert(!scan_expect(s, "=>"));
}

static void fail_quote(struct scan *s)
{
	const char *name;
	size_t n;

	ck_assert(!scan_quoted(s, '\'', &name, &n));
}

static void fail_int(struct scan *s)
{
	int64_t value = -9;

	ck_assert(!scan_int(s, "the size", 3, 5, &value));
	ck_assert_int_eq(value, -9);
}

static void fail_finish(struct scan *s)
{
	int64_t value;

	ck_assert(scan_int(s, "the size", 3, 5, &value));
	ck_assert_int_eq(scan_finish(s), E_SYNTAX);
	ck_assert_int_eq(scan_finish(s), E_SYNTAX);
}

static const struct {
	const char *text;
	void (*read)(struct scan *);
	enum status code;
	unsigned line, col;
	const char *says, *source;
} bad_scans[] = {
	{"a\nb   = >", fail_expect, E_SYNTAX, 2, 5, "expected '=>'", "b   = >"},
	{"a\nb", fail_expect, E_SYNTAX, 2, 2, "expected '=>'", "b"},
	{"  'abc", fail_quote, E_SYNTAX, 1, 3, "this ' is not closed", "  'abc"},
	{" -4", fail_int, E_SYNTAX, 1, 2, "expected the size, a whole number", " -4"},
	{"", fail_int, E_SYNTAX, 1, 1, "expected the size, a whole number", ""},
	{"\n 6", fail_int, E_RANGE, 2, 2, "the size 6 is out of range, expected 3 to 5",
         " 6"},
	{"2", fail_int, E_RANGE, 1, 1, "the size 2 is out of range", "2"},
	{"9223372036854775808", fail_int, E_RANGE, 1, 1, "out of range",
         "9223372036854775808"},
	{"18446744073709551620", fail_int, E_RANGE, 1, 1, "out of range",
         "18446744073709551620"},
	{"5 \n\n x", fail_finish, E_SYNTAX, 3, 2, "expected the end", " x"},
};

START_TEST(scanning_fails_at_a_place)
{
	struct error e = {0};
	const char *text = bad_scans[_i].text;
	struct scan s = scan_start(text, where_option("f", text), &e);

	bad_scans[_i].read(&s);
	ck_assert_int_eq(e.code, bad_scans[_i].code);
	ck_assert_uint_eq(e.at.line, bad_scans[_i].line);
	ck_assert_uint_eq(e.at.col, bad_scans[_i].col);
	ck_assert_msg(strstr(e.text, bad_scans[_i].says), "%s", e.text);
	ck_assert_str_eq(e.at.source, bad_scans[_i].source);
}
END_TEST

/* A text inside a file: columns go on from where it starts. */
START_TEST(places_continue_those_of_the_file)
{
	struct error e = {0};
	struct where at = {.file = "suite.yaml", .line = 12, .col = 9};
	struct scan s = scan_start("ab cd", at, &e);

	ck_assert(scan_take(&s, "ab"));
	ck_assert_int_eq(scan_fail_at(&s, s.text, E_TYPE, "%s", "no"), E_TYPE);
	ck_assert_uint_eq(e.at.col, 9);
	e.code = OK;
	scan_fail(&s, E_TYPE, "no");
	ck_assert_uint_eq(e.at.line, 12);
	ck_assert_uint_eq(e.at.col, 12);
	ck_assert_ptr_null(e.at.source);
	s = scan_start("x", (struct where){0}, &e);
	ck_assert_uint_eq(scan_where(&s, s.text + 1).col, 2);
}
END_TEST

/* --- random numbers ---------------------------------------------------------------- */

START_TEST(equal_seeds_give_equal_numbers)
{
	struct rng *a = rng_new(48), *b = rng_new(48), *c = rng_new(49);
	int differ = 0, seen[7] = {0};

	for (int i = 0; i < 7000; i++) {
		uint32_t x = rng_below(a, 7);

		ck_assert_uint_eq(x, rng_below(b, 7));
		differ += x != rng_below(c, 7);
		ck_assert_uint_lt(x, 7);
		seen[x]++;
	}
	ck_assert_int_gt(differ, 3500);
	for (int i = 0; i < 7; i++)
		ck_assert_int_gt(seen[i], 800);
	for (int i = 0; i < 1001; i++) {
		double u = rng_uniform(a);

		ck_assert(u >= 0 && u < 1 && u == rng_uniform(b));
	}
	ck_assert_uint_eq(rng_below(a, 1), 0);
	rng_free(a);
	rng_free(b);
	rng_free(c);
	rng_free(NULL);
}
END_TEST

/* MT19937 seeded with 5489, the reference implementation's first outputs. */
START_TEST(the_generator_is_the_mersenne_twister)
{
	struct rng *r = rng_new(5489);

	ck_assert(rng_uniform(r) == 3499211612. / 4294967296.);
	ck_assert(rng_uniform(r) == 581869302. / 4294967296.);
	ck_assert(rng_uniform(r) == 3890346734. / 4294967296.);
	rng_free(r);
}
END_TEST

Suite *tests(void)
{
	Suite *suite = suite_create("base");
	TCase *c = tcase_create("base");

	tcase_add_loop_test(c, memory_is_aligned_zeroed_and_apart, 0, 2);
	tcase_add_test(c, strings_are_copied);
	tcase_add_test(c, texts_grow);
	tcase_add_test(c, hashes_spread);
	tcase_add_loop_test_raise_signal(c, too_much_memory_ends_the_program, SIGABRT,
	                                 0, 5);
	tcase_add_test(c, no_bytes_are_memory_too);
	tcase_add_loop_test(c, errors_print_their_place, 0,
	                    sizeof(places) / sizeof(*places));
	tcase_add_test(c, the_first_error_wins);
	tcase_add_test(c, long_errors_are_cut);
	tcase_add_test(c, tokens_are_taken_in_order);
	tcase_add_loop_test(c, scanning_fails_at_a_place, 0,
	                    sizeof(bad_scans) / sizeof(*bad_scans));
	tcase_add_test(c, places_continue_those_of_the_file);
	tcase_add_test(c, equal_seeds_give_equal_numbers);
	tcase_add_test(c, the_generator_is_the_mersenne_twister);
	suite_add_tcase(suite, c);
	return suite;
}
