/* Regular expressions: what they match, and which are refused. */
#include "base/pattern.h"

#include "tests/tests.h"

#include <check.h>
#include <string.h>
#include <time.h>

static enum status compile(regex_t *re, const char *text)
{
	struct error e = {0};

	return pattern_compile(re, text, (struct where){0}, &e);
}

static const struct {
	const char *text, *name;
	size_t length; /* of the name; 0: all of it */
	bool matches;
} matches[] = {
	{"^layers[.][0-9]+[.]w1$", "layers.12.w1", 0, true},
	{"^layers[.][0-9]+[.]w1$", "layers.12.w1.mean", 0, false},
	/* A name is part of a text, and ends where it does. */
	{"w1$", "layers.12.w1.mean", 12, true},
	{"mean", "layers.12.w1.mean", 12, false},
	{"^$", "x", 0, false},
	{"[]{]x", "]x", 0, true},
	{"[^]{[:digit:]]x", "1x", 0, false},
	{"a\\{2", "a{2", 0, true},
	{"(a*)*(a*)*b", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaac", 0, false},
};

START_TEST(names_match)
{
	size_t length = matches[_i].length;
	regex_t re;

	ck_assert_int_eq(compile(&re, matches[_i].text), OK);
	length = length ? length : strlen(matches[_i].name);
	ck_assert_int_eq(pattern_matches(&re, matches[_i].name, length),
	                 matches[_i].matches);
	regfree(&re);
}
END_TEST

static const struct {
	const char *text;
	enum status code;
} refused[] = {
	{"(", E_SYNTAX},
	{"*[", E_SYNTAX},
	{"[", E_SYNTAX},
	{"[[:", E_SYNTAX},
	{"\\", E_SYNTAX},
	{"a{3}", E_RANGE},
	{"((((x{1,99}){1,99}){1,99}){1,99})", E_RANGE},
	{"(a*)(a*)(a*)\\1\\2\\3b", E_RANGE},
	{"((((((((((((((((((a+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)+b", E_RANGE},
	{"((((((((((((((((((()+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)+", E_RANGE},
};

START_TEST(others_are_refused)
{
	regex_t re;

	ck_assert_int_eq(compile(&re, refused[_i].text), refused[_i].code);
}
END_TEST

/* The slowest that are taken: as much of everything nested as there may be, on long names. */
START_TEST(none_takes_long)
{
	static const char *const unit[] = {"(a*)*", "(a|b)*", "(a+b?)+", "a*", "[ab]?"};
	char text[PATTERN_MOST + 1], name[257] = {0};
	clock_t start = clock();

	memset(name, 'a', sizeof(name) - 1);
	for (size_t k = 0; k < sizeof(unit) / sizeof(*unit); k++)
		for (int depth = 0; depth < 6; depth++) {
			size_t length = 0, size = strlen(unit[k]);
			regex_t re;

			while (length < (size_t)depth)
				text[length++] = '(';
			for (; length + size + 12 < (size_t)PATTERN_MOST >> depth;
			     length += size)
				memcpy(text + length, unit[k], size);
			for (int i = 0; i < depth; i++, length += 2)
				memcpy(text + length, ")+", 2);
			text[length++] = 'c';
			text[length] = 0;
			if (compile(&re, text) != OK)
				continue;
			ck_assert(!pattern_matches(&re, name, sizeof(name) - 1));
			regfree(&re);
		}
	ck_assert_int_lt(clock() - start, CLOCKS_PER_SEC);
}
END_TEST

Suite *tests(void)
{
	Suite *s = suite_create("pattern");
	TCase *t = tcase_create("pattern");

	tcase_add_loop_test(t, names_match, 0, sizeof(matches) / sizeof(*matches));
	tcase_add_loop_test(t, others_are_refused, 0,
	                    sizeof(refused) / sizeof(*refused));
	tcase_add_test(t, none_takes_long);
	suite_add_tcase(s, t);
	return s;
}
