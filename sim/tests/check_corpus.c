/* What the readers were once fed and must bear: every file of sim/tests/corpus. */
#include "corpus.h"
#include "tests/tests.h"

#include <check.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

static char *read_whole(const char *path, size_t *length)
{
	FILE *in = fopen(path, "rb");
	char *text;
	long size;

	ck_assert_ptr_nonnull(in);
	ck_assert_int_eq(fseek(in, 0, SEEK_END), 0);
	size = ftell(in);
	ck_assert_int_ge(size, 0);
	rewind(in);
	text = xmalloc((size_t)size + 1, 1);
	*length = fread(text, 1, (size_t)size, in);
	ck_assert_int_eq((long)*length, size);
	text[size] = '\0';
	fclose(in);
	return text;
}

START_TEST(test_corpus)
{
	const struct reader_target *t = &reader_targets[_i];
	struct arena *a = arena_new();
	const char *folder = arena_printf(a, "sim/tests/corpus/%s", t->name);
	struct dirent **entry;
	int n = scandir(folder, &entry, NULL, alphasort), files = 0;

	ck_assert_msg(n >= 0, "%s", folder);
	for (int i = 0; i < n; i++) {
		struct arena *own = arena_new();
		size_t length;
		char *text;

		if (entry[i]->d_name[0] != '.') {
			text = read_whole(
				arena_printf(a, "%s/%s", folder, entry[i]->d_name),
				&length);
			t->run(own, text, length);
			free(text);
			files++;
		}
		free(entry[i]);
		arena_free(own);
	}
	free(entry);
	arena_free(a);
	ck_assert_int_gt(files, 0);
}
END_TEST

Suite *tests(void)
{
	Suite *suite = suite_create("corpus");
	TCase *readers = tcase_create("readers");
	int n = 0;

	while (reader_targets[n].name)
		n++;
	tcase_add_loop_test(readers, test_corpus, 0, n);
	suite_add_tcase(suite, readers);
	return suite;
}
