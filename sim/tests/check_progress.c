/* The lines of progress: what they count, and when there are none. */
#include "tests/tests.h"
#include "text/progress.h"

#include <check.h>

#include <stdlib.h>
#include <string.h>

/* What three rows, the last of which failed, say to a file. */
static char *told(struct progress p)
{
	size_t size;
	char *text;

	p.out = open_memstream(&text, &size);
	ck_assert_ptr_nonnull(p.out);
	p.total = 4;
	progress_start(&p);
	for (int i = 0; i < 3; i++)
		progress_row(&p, 0, i == 2);
	progress_end(&p);
	fclose(p.out);
	return text;
}

/* Each line begins with the rows that are done and ends with those that failed. */
START_TEST(every_row)
{
	static const char *const begin[] = {"1/4 rows, ", "2/4 rows, ", "3/4 rows, ",
	                                    "3/4 rows, "};
	static const char *const end[] = {" 0 failed", " 0 failed", " 1 failed",
	                                  " 1 failed"};
	char *text = told((struct progress){.interval_s = 0}), *rest = text, *line;
	int n = 0;

	while ((line = strsep(&rest, "\n")) && *line) {
		ck_assert_int_lt(n, 4);
		ck_assert_int_eq(strncmp(line, begin[n], strlen(begin[n])), 0);
		ck_assert_str_eq(line + strlen(line) - strlen(end[n]), end[n]);
		n++;
	}
	ck_assert_int_eq(n, 4);
	free(text);
}
END_TEST

/* Rows of platforms are counted for each of them, too. */
START_TEST(of_platforms)
{
	struct progress_platform on[] = {{"here", 0, 3}, {"there", 1, 1}};
	char *text = told(
		(struct progress){.interval_s = 1e6, .nplatforms = 2, .platform = on});

	ck_assert_ptr_nonnull(strstr(text, " 1 failed; here 3/3, there 1/1\n"));
	ck_assert_ptr_null(strstr(text, "1/4"));
	free(text);
}
END_TEST

/* What is brief and ends within the first interval says nothing. */
START_TEST(brief)
{
	char *text = told((struct progress){.interval_s = 1e6, .brief = true});

	ck_assert_str_eq(text, "");
	free(text);
	text = told((struct progress){.interval_s = 0, .brief = true});
	ck_assert_ptr_nonnull(strstr(text, "3/4 rows, "));
	free(text);
}
END_TEST

/* Off a terminal progress_begin() shows nothing: the tests have none on stderr here. */
START_TEST(no_terminal)
{
	struct progress p;

	ck_assert_ptr_nonnull(freopen("/dev/null", "w", stderr));
	progress_begin(&p, 2);
	ck_assert_ptr_null(p.out);
	progress_row(&p, 0, false);
	progress_end(&p);
	ck_assert_int_eq((int)p.done, 1);
}
END_TEST

Suite *tests(void)
{
	Suite *s = suite_create("progress");
	TCase *tc = tcase_create("progress");

	tcase_add_test(tc, every_row);
	tcase_add_test(tc, of_platforms);
	tcase_add_test(tc, brief);
	tcase_add_test(tc, no_terminal);
	suite_add_tcase(s, tc);
	return s;
}
