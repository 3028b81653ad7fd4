#include "base/input.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum status input_read_most(struct text *out, const char *path, size_t most,
                            struct error *e)
{
	FILE *in = fopen(path, "rb");
	char block[65536];
	size_t n, all = 0;
	int fault = in ? 0 : errno;

	if (in) {
		while (all <= most && (n = fread(block, 1, sizeof(block), in)) > 0) {
			text_append(out, block, n);
			all += n;
		}
		fault = ferror(in) ? errno : 0;
		fclose(in);
	}
	if (all > most)
		return error_set(e, E_RANGE, (struct where){.file = path},
		                 "is too large, expected at most %zu MiB", most >> 20);
	if (!fault)
		return OK;
	return error_set(e, E_IO, (struct where){.file = path}, "cannot be read: %s",
	                 strerror(fault));
}

enum status input_read(struct text *out, const char *path, struct error *e)
{
	return input_read_most(out, path, INPUT_MAX, e);
}
