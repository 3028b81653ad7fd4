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

char *input_text(struct arena *a, const char *path, struct error *e)
{
	struct where at = {.file = path, .line = 1, .col = 1};
	struct text whole = {0};
	size_t length;
	char *text;

	input_read(&whole, path, e);
	length = whole.length;
	text = text_take(&whole, a);
	if (e->code != OK)
		return NULL;
	if (strlen(text) == length)
		return text;
	for (const char *p = text; *p; p++) {
		at.col = *p == '\n' ? 1 : at.col + 1;
		at.line += *p == '\n';
	}
	error_set(e, E_SYNTAX, at, "a byte 0, expected text");
	return NULL;
}
