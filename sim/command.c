#include "command.h"

#include "base/scan.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

int command_misuse(const struct error *e)
{
	if (!e->at.file)
		fputs("shardsim: ", stderr);
	error_print(stderr, e);
	return EXIT_MISUSE;
}

const char **command_words(struct arena *a, const char *list)
{
	const char **words = arena_alloc(a, strlen(list) + 2, sizeof(*words));
	const char *start = list;
	int n = 0, depth = 0;

	for (const char *p = list;; p++) {
		depth += *p && strchr("([{", *p) ? 1 : 0;
		depth -= *p && strchr(")]}", *p) ? 1 : 0;
		if (*p && (*p != ',' || depth > 0))
			continue;
		if (p > start)
			words[n++] = arena_strndup(a, start, (size_t)(p - start));
		if (!*p)
			return words;
		start = p + 1;
	}
}

/* The whole file as a text of the arena; NULL with an error. */
static const char *read_file(struct arena *a, const char *path, struct error *e)
{
	FILE *f = fopen(path, "rb");
	struct text t = {0};
	char block[4096];
	size_t n;

	if (f)
		while ((n = fread(block, 1, sizeof(block), f)) > 0)
			text_append(&t, block, n);
	if (!f || ferror(f)) {
		error_set(e, E_IO, (struct where){.file = path}, "cannot read it: %s",
		          strerror(errno));
		text_free(&t);
	}
	if (f)
		fclose(f);
	return e->code == OK ? text_take(&t, a) : NULL;
}

/* Numbers and ranges; commas and white space both part them. */
static enum status scan_devices(int32_t *out, int32_t *n, bool *seen, struct scan *s,
                                int32_t limit)
{
	while (!scan_done(s)) {
		const char *start = s->pos;
		int64_t first, last;

		if (!scan_int(s, "a device", 0, limit - 1, &first))
			return s->error->code;
		last = first;
		if (scan_take(s, "-") && !scan_int(s, "a device", first, limit - 1, &last))
			return s->error->code;
		for (int64_t d = first; d <= last; d++) {
			if (seen[d])
				return scan_fail_at(s, start, E_TYPE,
				                    "device %lld is listed twice",
				                    (long long)d);
			seen[d] = true;
			out[(*n)++] = (int32_t)d;
		}
		if (!scan_take(s, ",") && !scan_done(s) && !isdigit((unsigned char)*s->pos))
			return scan_fail(s, E_SYNTAX, "expected ',' or a device");
	}
	return OK;
}

enum status command_devices(int32_t **out, int32_t *n, struct arena *a, const char *text,
                            struct where at, int32_t limit, struct error *e)
{
	struct scan s;
	bool *seen = arena_alloc(a, (size_t)limit, sizeof(*seen));

	*out = arena_alloc(a, (size_t)limit, sizeof(**out));
	*n = 0;
	if (text[0] == '@') {
		at = (struct where){.file = text + 1, .line = 1, .col = 1};
		text = read_file(a, text + 1, e);
		if (!text)
			return e->code;
	}
	s = scan_start(text, at, e);
	if (scan_devices(*out, n, seen, &s, limit) != OK)
		return e->code;
	if (*n == 0)
		return scan_fail(&s, E_SYNTAX, "expected devices such as 0-3,8-11");
	return OK;
}
