#include "program/lex.h"

#include <ctype.h>
#include <string.h>

char lex_peek(struct scan *s)
{
	for (;;) {
		while (isspace((unsigned char)*s->pos))
			s->pos++;
		if (s->pos[0] != '/' || (s->pos[1] != '*' && s->pos[1] != '/'))
			return *s->pos;
		if (s->pos[1] == '/') {
			s->pos += strcspn(s->pos, "\n");
			continue;
		}
		const char *end = strstr(s->pos + 2, "*/");

		s->pos = end ? end + 2 : s->pos + strlen(s->pos);
	}
}

bool lex_take(struct scan *s, const char *token)
{
	size_t n = strlen(token);

	if (lex_peek(s) != *token || strncmp(s->pos, token, n) != 0)
		return false;
	s->pos += n;
	return true;
}

bool lex_expect(struct scan *s, const char *token)
{
	lex_peek(s);
	return scan_expect(s, token);
}

bool lex_word(struct scan *s, const char *word)
{
	return lex_peek(s) == *word && scan_word(s, word);
}

bool lex_int(struct scan *s, const char *what, int64_t lo, int64_t hi, int64_t *out)
{
	lex_peek(s);
	return scan_int(s, what, lo, hi, out);
}

bool lex_signed(struct scan *s, const char *what, int64_t *out)
{
	bool negative = lex_take(s, "-");

	if (!scan_int(s, what, 0, INT64_MAX, out))
		return false;
	if (negative)
		*out = -*out;
	return true;
}

bool lex_name(struct scan *s, const char *more, struct span *out)
{
	const char *start, *name;
	size_t length;

	lex_peek(s);
	start = s->pos;
	if (*s->pos && strchr(more, *s->pos))
		s->pos++;
	if (!scan_name(s, &name, &length)) {
		s->pos = start;
		return false;
	}
	*out = (struct span){name, (int32_t)length};
	return true;
}

/* Returns the byte behind a text in quotes, NULL if it has no end. */
static const char *quotes_end(const char *p)
{
	char quote = *p++;

	for (; *p && *p != quote; p++)
		if (*p == '\\' && p[1])
			p++;
	return *p ? p + 1 : NULL;
}

bool lex_quoted(struct scan *s, struct span *out)
{
	const char *end;

	lex_peek(s);
	if (*s->pos != '"' && *s->pos != '\'') {
		scan_fail(s, E_SYNTAX, "expected a text in quotes");
		return false;
	}
	end = quotes_end(s->pos);
	if (!end) {
		scan_fail(s, E_SYNTAX, "this %c is not closed", *s->pos);
		return false;
	}
	*out = (struct span){s->pos + 1, (int32_t)(end - s->pos - 2)};
	s->pos = end;
	return true;
}

static char closing(char open)
{
	return open == '(' ? ')' : open == '[' ? ']' : open == '{' ? '}' : '>';
}

/*
 * Moves on by brackets until what is open is closed and one of `stop` is next; `open` has the
 * brackets that are open.
 */
static bool skip(struct scan *s, const char *stop)
{
	const char *open[LEX_DEPTH_MAX];
	int depth = 0;

	for (;; s->pos++) {
		char c = *s->pos;

		if (!c && !depth)
			return true;
		if (!c) {
			scan_fail_at(s, open[depth - 1], E_SYNTAX,
			             "this %c is not closed", *open[depth - 1]);
			return false;
		}
		if (!depth && strchr(stop, c))
			return true;
		if (c == '"') {
			const char *end = quotes_end(s->pos);

			if (!end) {
				scan_fail(s, E_SYNTAX, "this \" is not closed");
				return false;
			}
			s->pos = end - 1;
		} else if ((c == '-' && s->pos[1] == '>') ||
		           (c == '<' && s->pos[1] == '=')) {
			s->pos++;
		} else if (strchr("([{<", c)) {
			if (depth == LEX_DEPTH_MAX) {
				scan_fail(s, E_RANGE, "brackets too deep");
				return false;
			}
			open[depth++] = s->pos;
		} else if (strchr(")]}>", c)) {
			if (depth && closing(*open[depth - 1]) != c) {
				scan_fail_at(
					s, s->pos, E_SYNTAX,
					"expected %c, to close the %c of column %u",
					closing(*open[depth - 1]), *open[depth - 1],
					scan_where(s, open[depth - 1]).col);
				return false;
			}
			if (!depth) {
				scan_fail_at(s, s->pos, E_SYNTAX,
				             "this %c closes nothing", c);
				return false;
			}
			depth--;
			if (!depth && !*stop) {
				s->pos++;
				return true;
			}
		}
	}
}

bool lex_balanced(struct scan *s, struct span *out)
{
	const char *start;

	if (!lex_peek(s) || !strchr("([{<", *s->pos)) {
		scan_fail(s, E_SYNTAX, "expected a bracket");
		return false;
	}
	start = s->pos;
	if (!skip(s, ""))
		return false;
	*out = (struct span){start, (int32_t)(s->pos - start)};
	return true;
}

bool lex_value(struct scan *s, struct span *out)
{
	const char *start;

	lex_peek(s);
	start = s->pos;
	if (!skip(s, ",)]}>\n"))
		return false;
	if (s->pos == start) {
		scan_fail(s, E_SYNTAX, "expected a value");
		return false;
	}
	*out = (struct span){start, (int32_t)(s->pos - start)};
	while (out->length && isspace((unsigned char)out->at[out->length - 1]))
		out->length--;
	return true;
}

bool lex_ints(struct scan *s, struct arena *a, const char *open, const char *close,
              struct ints *out)
{
	LIST(int64_t) list = {0};
	bool good = lex_expect(s, open);

	while (good && !lex_take(s, close)) {
		if (list.n && !lex_expect(s, ","))
			good = false;
		else
			good = lex_signed(s, "a number", list_add(&list, NULL));
	}
	*out = (struct ints){(int32_t)list.n,
	                     arena_dup(a, list.at, (size_t)list.n, sizeof(*list.at))};
	xfree(list.at);
	return good;
}

bool span_is(struct span s, const char *text)
{
	return s.at && (size_t)s.length == strlen(text) &&
	       !memcmp(s.at, text, (size_t)s.length);
}

const char *span_find(struct span s, const char *key)
{
	size_t n = strlen(key);
	const char *end;

	if (!s.at)
		return NULL;
	end = s.at + s.length;
	for (const char *p = s.at; p && p + n <= end; p++) {
		p = memchr(p, *key, (size_t)(end - p));
		if (!p || p + n > end)
			return NULL;
		if (!memcmp(p, key, n))
			return p + n;
	}
	return NULL;
}
