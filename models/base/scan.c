#include "base/scan.h"

#include <ctype.h>
#include <stdarg.h>
#include <string.h>

struct scan scan_start(const char *text, struct where at, struct error *error)
{
	return (struct scan){.text = text, .pos = text, .at = at, .error = error};
}

struct where scan_where(const struct scan *s, const char *pos)
{
	struct where at = s->at;

	if (!at.line)
		at.line = at.col = 1;
	for (const char *p = s->text; p < pos; p++) {
		if (*p != '\n') {
			at.col++;
			continue;
		}
		at.line++;
		at.col = 1;
		if (at.source)
			at.source = p + 1;
	}
	return at;
}

static void skip_space(struct scan *s)
{
	while (isspace((unsigned char)*s->pos))
		s->pos++;
}

bool scan_done(struct scan *s)
{
	skip_space(s);
	return *s->pos == '\0';
}

char scan_peek(struct scan *s)
{
	skip_space(s);
	return *s->pos;
}

bool scan_take(struct scan *s, const char *token)
{
	size_t n = strlen(token);

	skip_space(s);
	if (strncmp(s->pos, token, n) != 0)
		return false;
	s->pos += n;
	return true;
}

static bool is_name_byte(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

bool scan_word(struct scan *s, const char *word)
{
	size_t n = strlen(word);

	skip_space(s);
	if (strncmp(s->pos, word, n) != 0 || is_name_byte(s->pos[n]))
		return false;
	s->pos += n;
	return true;
}

bool scan_expect(struct scan *s, const char *token)
{
	if (scan_take(s, token))
		return true;
	scan_fail(s, E_SYNTAX, "expected '%s'", token);
	return false;
}

bool scan_name(struct scan *s, const char **start, size_t *length)
{
	const char *p;

	skip_space(s);
	p = s->pos;
	if (!isalpha((unsigned char)*p) && *p != '_')
		return false;
	while (is_name_byte(*p) || *p == '.' || *p == '-')
		p++;
	*start = s->pos;
	*length = (size_t)(p - s->pos);
	s->pos = p;
	return true;
}

bool scan_plain_name(const char *name)
{
	if (!isalpha((unsigned char)*name) && *name != '_')
		return false;
	while (is_name_byte(*name) || *name == '.' || *name == '-')
		name++;
	return *name == '\0';
}

bool scan_quoted(struct scan *s, char quote, const char **start, size_t *length)
{
	const char *end;

	skip_space(s);
	if (*s->pos != quote)
		return false;
	end = strchr(s->pos + 1, quote);
	if (!end) {
		scan_fail(s, E_SYNTAX, "this %c is not closed", quote);
		return false;
	}
	*start = s->pos + 1;
	*length = (size_t)(end - *start);
	s->pos = end + 1;
	return true;
}

/* Says that a number that has no name is missing or out of its range. */
static enum status fail_unnamed(struct scan *s, const char *start, int64_t lo,
                                int64_t hi)
{
	if (s->pos > start)
		return scan_fail_at(
			s, start, E_RANGE,
			"%.*s is out of range, expected a whole number from "
			"%lld to %lld",
			(int)(s->pos - start), start, (long long)lo, (long long)hi);
	return scan_fail_at(s, start, E_SYNTAX,
	                    "expected a whole number from %lld to %lld", (long long)lo,
	                    (long long)hi);
}

bool scan_int(struct scan *s, const char *what, int64_t lo, int64_t hi, int64_t *out)
{
	const char *start;
	int64_t value = 0;
	bool over = false;

	skip_space(s);
	start = s->pos;
	if (!isdigit((unsigned char)*start)) {
		if (!what)
			fail_unnamed(s, start, lo, hi);
		else
			scan_fail(s, E_SYNTAX, "expected %s, a whole number", what);
		return false;
	}
	for (; isdigit((unsigned char)*s->pos); s->pos++)
		over = over || __builtin_mul_overflow(value, 10, &value) ||
		       __builtin_add_overflow(value, *s->pos - '0', &value);
	if (!over && value >= lo && value <= hi) {
		*out = value;
		return true;
	}
	if (!what)
		fail_unnamed(s, start, lo, hi);
	else
		scan_fail_at(s, start, E_RANGE,
		             "%s %.*s is out of range, expected %lld to %lld", what,
		             (int)(s->pos - start), start, (long long)lo, (long long)hi);
	return false;
}

static enum status fail(struct scan *s, const char *pos, enum status code,
                        const char *fmt, va_list ap)
{
	char text[sizeof(s->error->text)];

	vsnprintf(text, sizeof(text), fmt, ap);
	return error_set(s->error, code, scan_where(s, pos), "%s", text);
}

enum status scan_fail(struct scan *s, enum status code, const char *fmt, ...)
{
	va_list ap;
	enum status status;

	skip_space(s);
	va_start(ap, fmt);
	status = fail(s, s->pos, code, fmt, ap);
	va_end(ap);
	return status;
}

enum status scan_fail_at(struct scan *s, const char *pos, enum status code,
                         const char *fmt, ...)
{
	va_list ap;
	enum status status;

	va_start(ap, fmt);
	status = fail(s, pos, code, fmt, ap);
	va_end(ap);
	return status;
}

enum status scan_finish(struct scan *s)
{
	if (s->error->code != OK)
		return s->error->code;
	if (scan_done(s))
		return OK;
	return scan_fail(s, E_SYNTAX, "expected the end of the text here");
}
