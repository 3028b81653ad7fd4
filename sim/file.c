#include "file.h"

#include "base/arena.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum status file_write(const char *path, const char *bytes, size_t n, struct error *e)
{
	struct arena *a = arena_new();
	char *part = arena_printf(a, "%s.part", path);
	FILE *f = fopen(part, "wb");
	bool ok = f && fwrite(bytes, 1, n, f) == n && fflush(f) == 0 &&
	          fsync(fileno(f)) == 0;

	if (f && fclose(f) != 0)
		ok = false;
	if (ok && rename(part, path) != 0)
		ok = false;
	if (!ok) {
		error_set(e, E_IO, (struct where){.file = path}, "cannot write it: %s",
		          strerror(errno));
		if (f)
			unlink(part);
	}
	arena_free(a);
	return e->code;
}
