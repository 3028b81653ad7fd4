#include "text/words_list.h"

#include <stdbool.h>
#include <string.h>

/* Returns whether a comma goes on with settings: the `,gpus=4` of `cluster:nodes=8,gpus=4`. */
static bool is_setting(const char *start, const char *comma)
{
	const char *key = comma + 1;
	size_t n = strspn(key, "abcdefghijklmnopqrstuvwxyz_.B");

	return n && key[n] == '=' && memchr(start, ':', (size_t)(comma - start));
}

/* The end of the word at `start`: the next comma outside brackets, or the list's end. */
static const char *word_end(const char *start)
{
	const char *at = start;
	int depth = 0;

	for (; *at; at++) {
		depth += strchr("([{", *at) ? 1 : 0;
		depth -= strchr(")]}", *at) ? 1 : 0;
		if (*at == ',' && depth <= 0 && !is_setting(start, at))
			break;
	}
	return at;
}

enum status words_list_read(const char ***out, struct arena *a, const char *option,
                            const char *list, struct error *e)
{
	const char **words = arena_alloc(a, strlen(list) + 2, sizeof(*words));
	const char *start = list;
	int n = 0;

	*out = words;
	if (!*list)
		return OK;
	for (const char *end;; start = end + 1) {
		end = word_end(start);
		if (end == start) {
			struct where at = where_option(option, list);

			at.col += (unsigned)(start - list);
			return error_set(
				e, E_SYNTAX, at,
				"an empty item, expected one on each side of ','");
		}
		words[n++] = arena_strndup(a, start, (size_t)(end - start));
		if (!*end)
			return OK;
	}
}

struct where words_list_at(const char *option, const char *list, int n)
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

enum status words_list_once(const char *option, const char *list, const char **words,
                            struct error *e)
{
	for (int i = 0; words[i]; i++)
		for (int j = 0; j < i; j++)
			if (strcmp(words[i], words[j]) == 0)
				return error_set(e, E_TYPE,
				                 words_list_at(option, list, i),
				                 "'%.80s' is listed twice", words[i]);
	return OK;
}
