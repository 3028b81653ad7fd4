#include "move_file.h"

#include <check.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const struct move_ends no_ends;

const char *move_file(struct arena *a, const char *text, const char *ending)
{
	char *path = arena_printf(a, "/tmp/shardsim-move-XXXXXX%s", ending);
	int fd = mkstemps(path, (int)strlen(ending));
	FILE *f = fdopen(fd, "w");

	ck_assert(fd >= 0 && f);
	fputs(text, f);
	fclose(f);
	return path;
}

struct move_work move_read_ok(struct arena *a, const char *text, const char *ending,
                              const struct move_ends *ends)
{
	const char *path = move_file(a, text, ending);
	struct move_work w = {.arena = a};
	struct error e = {0};

	ck_assert_msg(move_read(&w, path, ends, &e) == OK, "%s:%u:%u: %s",
	              e.at.file ? e.at.file : "", e.at.line, e.at.col, e.text);
	unlink(path);
	return w;
}
