/* Fields that are written, as spreadsheets and people will see them. */
#include "tests/tests.h"
#include "text/csv.h"

#include <check.h>

#include <stdlib.h>

/* From RFC 4180, and from OWASP's page on CSV injection: what must not be run. */
static const struct {
	const char *text, *field;
} fields[] = {
	{"plain", "plain"},
	{"P('x', None)", "\"P('x', None)\""},
	{"say \"hi\"", "\"say \"\"hi\"\"\""},
	{"=1+1", "'=1+1"},
	{"=HYPERLINK(\"http://a\",1)", "\"'=HYPERLINK(\"\"http://a\"\",1)\""},
	{"+cmd|' /C calc'!A0", "'+cmd|' /C calc'!A0"},
	{"-2+3", "'-2+3"},
	{"-", "'-"},
	{"-nan", "'-nan"},
	{"-0x10", "'-0x10"},
	{"@SUM(A1)", "'@SUM(A1)"},
	{"\t=1", "'\t=1"},
	{"\r=1", "\"'\r=1\""},
	/* Numbers stay numbers. */
	{"-1", "-1"},
	{"-1.5e-06", "-1.5e-06"},
	{"+3", "+3"},
	/* In the middle these signs are harmless. */
	{"a=b", "a=b"},
	{"dgx-a100:4", "dgx-a100:4"},
	/* RIGHT-TO-LEFT OVERRIDE, LEFT-TO-RIGHT ISOLATE; not DASH, not ELEMENT OF. */
	{"a\xe2\x80\xae"
         "b",
         "a\xef\xbf\xbd"
         "b"},
	{"\xe2\x81\xa6", "\xef\xbf\xbd"},
	{"\xe2\x80\x93\xe2\x88\x88", "\xe2\x80\x93\xe2\x88\x88"},
	{"\xe2\x80", "\xe2\x80"},
};

START_TEST(written)
{
	char *bytes;
	size_t n;
	FILE *out = open_memstream(&bytes, &n);

	csv_put(out, fields[_i].text, true);
	fclose(out);
	ck_assert_str_eq(bytes, fields[_i].field);
	free(bytes);
}
END_TEST

Suite *tests(void)
{
	Suite *s = suite_create("csv");
	TCase *tc = tcase_create("csv");

	tcase_add_loop_test(tc, written, 0, sizeof(fields) / sizeof(*fields));
	suite_add_tcase(s, tc);
	return s;
}
