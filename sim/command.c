#include "command.h"

#include "base/scan.h"
#include "measure.h"

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

/* The end of the word at `start`: the next comma outside brackets, or the list's end. */
static const char *word_end(const char *start)
{
	int depth = 0;

	for (; *start; start++) {
		depth += strchr("([{", *start) ? 1 : 0;
		depth -= strchr(")]}", *start) ? 1 : 0;
		if (*start == ',' && depth <= 0)
			break;
	}
	return start;
}

const char **command_words(struct arena *a, const char *list)
{
	const char **words = arena_alloc(a, strlen(list) + 2, sizeof(*words));
	int n = 0;

	for (const char *end;; list = end + 1) {
		end = word_end(list);
		if (end > list)
			words[n++] = arena_strndup(a, list, (size_t)(end - list));
		if (!*end)
			return words;
	}
}

struct where command_word_at(const char *option, const char *list, int n)
{
	struct where at = where_option(option, list);
	const char *start = list;

	for (const char *end;; start = end + 1) {
		end = word_end(start);
		if (!*end || (end > start && n-- == 0))
			break;
	}
	at.col += (unsigned)(start - list);
	return at;
}

enum status command_once(const char *option, const char *list, const char **words,
                         struct error *e)
{
	for (int i = 0; words[i]; i++)
		for (int j = 0; j < i; j++)
			if (strcmp(words[i], words[j]) == 0)
				return error_set(e, E_TYPE,
				                 command_word_at(option, list, i),
				                 "'%.80s' is listed twice", words[i]);
	return OK;
}

static enum status unknown_planner(const char *list, int word, struct error *e)
{
	struct text known = {0};

	for (int i = 0; planners[i]; i++)
		text_printf(&known, "%s%s", i ? ", " : "", planners[i]->name);
	error_set(e, E_TYPE, command_word_at("--planner", list, word),
	          "unknown planner, expected all, or some of %s", known.s);
	text_free(&known);
	return e->code;
}

enum status command_planners(const struct planner ***out, int *n, struct arena *a,
                             const char *list, struct error *e)
{
	const char **words = command_words(a, list);
	int count = 0;

	if (words[0] && !words[1] && strcmp(words[0], "all") == 0) {
		for (; planners[count]; count++)
			;
		*out = arena_alloc(a, (size_t)count, sizeof(**out));
		memcpy(*out, planners, (size_t)count * sizeof(**out));
		*n = count;
		return OK;
	}
	for (; words[count]; count++)
		;
	if (!count)
		return unknown_planner(list, 0, e);
	*out = arena_alloc(a, (size_t)count, sizeof(**out));
	for (int i = 0; i < count; i++) {
		(*out)[i] = planner_find(words[i], strlen(words[i]));
		if (!(*out)[i])
			return unknown_planner(list, i, e);
	}
	*n = count;
	return command_once("--planner", list, words, e);
}

enum status command_clocks(int **out, int *n, struct arena *a, const char *list,
                           struct error *e)
{
	const char **words = command_words(a, list);

	*n = 0;
	if (command_once("--clock", list, words, e) != OK)
		return e->code;
	*out = arena_alloc(a, CLOCKS_MAX, sizeof(**out));
	for (int i = 0; i == 0 || words[i]; i++) {
		int k = words[i] ? clock_find(words[i], strlen(words[i])) : -1;

		if (k < 0)
			return error_set(e, E_TYPE, command_word_at("--clock", list, i),
			                 "unknown clock, expected model or fluid");
		(*out)[(*n)++] = k;
	}
	return OK;
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
		if (scan_take(s, "-") &&
		    !scan_int(s, "a device", first, limit - 1, &last))
			return s->error->code;
		for (int64_t d = first; d <= last; d++) {
			if (seen[d])
				return scan_fail_at(s, start, E_TYPE,
				                    "device %lld is listed twice",
				                    (long long)d);
			seen[d] = true;
			out[(*n)++] = (int32_t)d;
		}
		if (!scan_take(s, ",") && !scan_done(s) &&
		    !isdigit((unsigned char)*s->pos))
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
