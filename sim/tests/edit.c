#include "edit.h"

#include "platform/platform.h"

#include <check.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *edit_write(struct arena *a, const char *text, size_t length,
                       const char *suffix)
{
	const char *folder = getenv("TMPDIR");
	char *path =
		arena_printf(a, "%s/check-XXXXXX%s", folder ? folder : "/tmp", suffix);
	int fd = mkstemps(path, (int)strlen(suffix));
	FILE *out;

	ck_assert_int_ge(fd, 0);
	out = fdopen(fd, "wb");
	ck_assert_uint_eq(fwrite(text, 1, length, out), length);
	ck_assert_int_eq(fclose(out), 0);
	return path;
}

const char *edit_platform(struct arena *a, const char *spec, const char *from,
                          const char *to)
{
	struct text all = {0}, edited = {0};
	struct error e = {0};
	const char *path, *at;

	ck_assert_int_eq(platform_text(&all, a, spec, NULL, 0, false, &e), OK);
	at = from ? strstr(all.s, from) : all.s;
	ck_assert_msg(at != NULL, "'%s' is not in %s", from, spec);
	text_append(&edited, all.s, (size_t)(at - all.s));
	text_printf(&edited, "%s%s", from ? to : "", at + (from ? strlen(from) : 0));
	path = edit_write(a, edited.s, edited.length, ".xml");
	text_free(&all);
	text_free(&edited);
	return path;
}
