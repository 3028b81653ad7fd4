/*
 * What holds for the texts of every kind: there is a whole text or a reason, never both; the
 * text begins with comments that no command line can end; the same plan gives the same bytes.
 */
#include "emit/emit.h"

#include "plan_random.h"
#include "tests/tests.h"

#include <check.h>
#include <math.h>
#include <string.h>

enum { PLANS = 300 };

static struct arena *arena;

static void setup(void)
{
	arena = arena_new();
}

static void teardown(void)
{
	arena_free(arena);
}

static struct emission emission_of(const struct plan *p)
{
	return (struct emission){.plan = p,
	                         .command = "shardsim plan --mesh 'x=2' \"*/ --> \n'",
	                         .version = "1.2.3",
	                         .time_s = NAN};
}

/* Checks that the heading is comments, of which none ends before its line does. */
static void check_heading(const char *text, const struct emitter *e)
{
	size_t begin = strlen(e->comment), end = strlen(e->comment_end);
	int lines = 0;

	while (strncmp(text, e->comment, begin) == 0 && strstr(text, "\n")) {
		const char *stop = strchr(text, '\n');

		ck_assert_msg(strncmp(stop - end, e->comment_end, end) == 0,
		              "%s: %.80s", e->name, text);
		for (const char *c = text + begin; end && c < stop - end; c++)
			ck_assert_msg(strncmp(c, e->comment_end + 1, 2) != 0,
			              "%s: %.80s", e->name, text);
		text = stop + 1;
		lines++;
	}
	ck_assert_msg(lines >= 3, "%s has %d lines of comment", e->name, lines);
}

static void check_text(const struct plan *p, const struct emitter *e)
{
	struct emission what = emission_of(p);
	struct text out = {0}, again = {0}, why = {0};

	if (e->emit(&out, &what, arena, &why) == EMITTED) {
		ck_assert_msg(out.length > 0 && !why.length, "%s: %s", e->name, why.s);
		check_heading(out.s, e);
		ck_assert_ptr_nonnull(strstr(out.s, "shardsim plan "));
		ck_assert_ptr_nonnull(strstr(out.s, p->planner));
		ck_assert_int_eq(e->emit(&again, &what, arena, &why), EMITTED);
		ck_assert_str_eq(out.s, again.s);
	} else {
		ck_assert_msg(!out.length && why.length > 0, "%s", e->name);
	}
	text_free(&out);
	text_free(&again);
	text_free(&why);
}

/* Plans of every planner, and random ones. */
START_TEST(texts_are_whole_or_refused)
{
	struct rng *r = rng_new((uint64_t)_i + 77);

	for (int k = 0; k < PLANS; k++) {
		const struct plan *p = plan_of_any_kind(r, arena, k);

		for (int i = 0; emitters[i]; i++)
			check_text(p, emitters[i]);
		if (k % 20 == 19)
			arena_reset(arena);
	}
	rng_free(r);
}
END_TEST

START_TEST(kinds_are_found_by_their_names)
{
	for (int i = 0; emitters[i]; i++) {
		const char *name = emitters[i]->name;

		ck_assert_ptr_eq(emitter_find(name, strlen(name)), emitters[i]);
		ck_assert_ptr_ne(emitter_find(name, strlen(name) - 1), emitters[i]);
	}
	ck_assert_ptr_null(emitter_find("", 0));
}
END_TEST

/* By hand: quotes, backslashes, trigraphs and bytes above 127 as octal numbers. */
START_TEST(strings_are_those_of_c)
{
	struct text out = {0};

	emit_string(&out, "a\"b\\c?\n\xc3");
	ck_assert_str_eq(out.s, "\"a\\\"b\\\\c\\077\\012\\303\"");
	text_free(&out);
}
END_TEST

Suite *tests(void)
{
	Suite *suite = suite_create("emitters");
	TCase *c = tcase_create("emitters");

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_add_loop_test(c, texts_are_whole_or_refused, 0, 2);
	tcase_add_test(c, kinds_are_found_by_their_names);
	tcase_add_test(c, strings_are_those_of_c);
	suite_add_tcase(suite, c);
	return suite;
}
