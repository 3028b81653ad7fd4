#include "base/suggest.h"
#include "tests.h"

#include <check.h>

#include <string.h>

/* Slips counted by hand; NULL: too many of them. */
static const struct {
	const char *word, *known[4], *nearest;
	int slips;
	bool part;
} rows[] = {
	/* one letter missing, one too many, one other, two swapped */
	{"syth", {"gather", "synth", "digit"}, "synth", 1, false},
	{"gatther", {"gather", "synth"}, "gather", 1, false},
	{"sinth", {"gather", "synth"}, "synth", 1, false},
	{"platfrom", {"planner", "platform"}, "platform", 1, false},
	{"XLA", {"xla-2021", "xla"}, "xla", 0, false},
	/* two slips in seven letters, but not three */
	{"plannre", {"planner"}, "planner", 1, false},
	{"plnanre", {"planner"}, "planner", 2, false},
	{"qlnanre", {"planner"}, NULL, 0, false},
	{"ab", {"ba"}, "ba", 1, false},
	{"ab", {"cd"}, NULL, 0, false},
	{"a", {"b"}, NULL, 0, false},
	{"", {"a"}, NULL, 0, false},
	/* the end and the beginning of a name, behind a joint or long enough */
	{"h100", {"dgx-a100", "dgx-h100"}, "dgx-h100", 2, true},
	{"gb200", {"dgx-b200", "gb200-nvl72"}, "gb200-nvl72", 2, true},
	{"v4", {"tpu-v5", "tpu-v4"}, "tpu-v4", 2, true},
	{"v4", {"tpuv4"}, NULL, 0, false},
	{"sim", {"simulate"}, "simulate", 2, true},
	/* of equal ones the first; a name with one slip before a part of another */
	{"cat", {"bat", "rat"}, "bat", 1, false},
	{"tpu-v5", {"tpu-v2", "tpu-v5e", "tpu-v5p"}, "tpu-v5e", 1, true},
	{"plans", {"plans-of-all", "plan"}, "plan", 1, false},
	/* short for a name, where none is near; of equal ones the first */
	{"bw",
         {"link.latency", "link.bandwidth", "nic.bandwidth"},
         "link.bandwidth",
         SUGGEST_NAME,
         true},
	{"nic.bw", {"link.bandwidth", "nic.bandwidth"}, "nic.bandwidth", SUGGEST_NAME, true},
	{"nc.bdw", {"nic.bandwidth"}, "nic.bandwidth", SUGGEST_NAME, true},
	{"nic.bw", {"nic"}, NULL, 0, false},
	{"link.bw", {"nic.bandwidth"}, NULL, 0, false},
	{"bw", {"bandwidth", "bm"}, "bm", 1, false},
	{"b", {"bandwidth"}, NULL, 0, false},
	{"wb", {"bandwidth"}, NULL, 0, false},
	{"bww", {"bandwidth"}, NULL, 0, false},
};

START_TEST(nearest_is_found)
{
	const char *word = rows[_i].word;
	struct suggestion s = suggest_among(word, strlen(word), rows[_i].known);

	if (!rows[_i].nearest) {
		ck_assert_ptr_null(s.nearest);
		ck_assert_str_eq(suggest_ask(&s, ""), "");
		return;
	}
	ck_assert_ptr_nonnull(s.nearest);
	ck_assert_str_eq(s.nearest, rows[_i].nearest);
	ck_assert_int_eq(s.slips, rows[_i].slips);
	ck_assert(s.part == rows[_i].part);
}
END_TEST

START_TEST(words_may_be_long)
{
	char word[300];
	struct suggestion s;

	memset(word, 'a', sizeof(word));
	s = suggest_start(word, sizeof(word));
	suggest_offer(&s, "aaa");
	ck_assert_ptr_null(s.nearest);
	s = suggest_start(word, SUGGEST_NAME);
	suggest_offer(
		&s, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab");
	ck_assert_int_eq(s.slips, 1);
	ck_assert_uint_eq(strlen(suggest_ask(&s, "--")), SUGGEST_NAME + 20);
}
END_TEST

START_TEST(question_is_asked)
{
	struct suggestion s = suggest_start("platfrom=x", 8);

	suggest_offer(&s, "platform");
	ck_assert_str_eq(suggest_ask(&s, "--"), "; did you mean '--platform'?");
}
END_TEST

Suite *tests(void)
{
	Suite *suite = suite_create("suggest");
	TCase *tcase = tcase_create("suggest");

	tcase_add_loop_test(tcase, nearest_is_found, 0,
	                    (int)(sizeof(rows) / sizeof(*rows)));
	tcase_add_test(tcase, words_may_be_long);
	tcase_add_test(tcase, question_is_asked);
	suite_add_tcase(suite, tcase);
	return suite;
}
