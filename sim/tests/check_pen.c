/* Tables of LaTeX: in parts that fit on a page, and lines that can break. */
#include "tests/tests.h"
#include "text/pen.h"
#include "text/words.h"

#include <check.h>

#include <stdlib.h>
#include <string.h>

static int count(const char *text, const char *part)
{
	int n = 0;

	for (; (text = strstr(text, part)); text += strlen(part))
		n++;
	return n;
}

/* Writes a table of `rows` rows, whose second cell is long text, and returns it. */
static char *written(struct arena *a, int rows, const char *text)
{
	static const char *const head[] = {"n", "why"};
	struct pen_table t = words_table(a, "Reasons", "rp", head, (size_t)rows);
	char *out = NULL;
	size_t size;
	FILE *f = open_memstream(&out, &size);
	struct pen pen = pen_tex(f, a);

	for (int i = 0; i < rows; i++) {
		const char **cell = words_row(&t);

		cell[0] = arena_printf(a, "row%d", i);
		cell[1] = text;
	}
	pen.table(&pen, &t);
	fclose(f);
	return out;
}

/*
 * A page has room for 45 lines: 45 short rows, four of ten lines each (350 letters, 35 to a
 * line, are taken for eleven), or one that is longer than it.
 */
START_TEST(parts)
{
	static const struct {
		int rows, letters, parts;
	} table[] = {{45, 34, 1}, {46, 34, 2}, {0, 0, 1}, {9, 349, 3}, {3, 3500, 3}};
	struct arena *a = arena_new();

	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		char *text = arena_alloc(a, (size_t)table[i].letters + 1, 1), *out;

		memset(text, 'w', (size_t)table[i].letters);
		out = written(a, table[i].rows, text);
		ck_assert_int_eq(count(out, "\\begin{table}"), table[i].parts);
		ck_assert_int_eq(count(out, "\\end{table}"), table[i].parts);
		ck_assert_int_eq(count(out, "row"),
		                 table[i].rows + count(out, "rowsep"));
		free(out);
	}
	arena_free(a);
}
END_TEST

START_TEST(breaks)
{
	struct arena *a = arena_new();
	char *out = written(a, 1, "a:1{b=1,c=2}, d, e,");

	ck_assert_ptr_nonnull(
		strstr(out, "a:1\\{b=1,\\allowbreak{}c=2\\}, d, e, \\\\"));
	free(out);
	arena_free(a);
}
END_TEST

Suite *tests(void)
{
	Suite *s = suite_create("pen");
	TCase *t = tcase_create("pen");

	tcase_add_test(t, parts);
	tcase_add_test(t, breaks);
	suite_add_tcase(s, t);
	return s;
}
