#include "base/input.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum status input_read(struct text *out, const char *path, struct error *e)
{
	FILE *in = fopen(path, "rb");
	char block[65536];
	size_t n;
	int fault = in ? 0 : errno;

	if (in) {
		while ((n = fread(block, 1, sizeof(block), in)) > 0)
			text_append(out, block, n);
		fault = ferror(in) ? errno : 0;
		fclose(in);
	}
	if (!fault)
		return OK;
	return error_set(e, E_IO, (struct where){.file = path}, "cannot be read: %s",
	                 strerror(fault));
}
