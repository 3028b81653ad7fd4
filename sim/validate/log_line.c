#include "validate/log_line.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

bool log_line_has(const struct log_line *l, const char *part)
{
	return memmem(l->start, (size_t)(l->end - l->start), part, strlen(part)) != NULL;
}

bool log_word_is(const struct log_word *w, const char *text)
{
	return w->n == strlen(text) && !memcmp(w->s, text, w->n);
}

struct where log_line_where(const struct log_line *l, const char *pos)
{
	struct where at = l->at;

	at.col = (unsigned)(pos - l->start) + 1;
	return at;
}

double log_word_number(const struct log_word *w)
{
	char *end;
	double x;

	if (!isdigit((unsigned char)*w->s))
		return -1;
	x = strtod(w->s, &end);
	return end == w->s + w->n && isfinite(x) ? x : -1;
}

int64_t log_word_whole(const struct log_word *w)
{
	int64_t x = 0;

	if (w->n > 18)
		return -1;
	for (size_t i = 0; i < w->n; i++) {
		if (!isdigit((unsigned char)w->s[i]))
			return -1;
		x = 10 * x + (w->s[i] - '0');
	}
	return x;
}

/* Returns the line behind a prefix such as `[1,0]<stdout>:`, or `3:` of srun --label. */
static const char *prefix_skip(const struct log_line *l)
{
	static const char mark[] = "<stdout>:";
	const char *found =
		memmem(l->start, (size_t)(l->end - l->start), mark, sizeof(mark) - 1);
	const char *p = l->start;

	if (found)
		return found + sizeof(mark) - 1;
	while (p < l->end && isspace((unsigned char)*p))
		p++;
	if (p == l->end || !isdigit((unsigned char)*p))
		return p;
	for (found = p; found < l->end && isdigit((unsigned char)*found);)
		found++;
	return found < l->end && *found == ':' ? found + 1 : p;
}

void log_line_split(struct log_line *l)
{
	const char *p = prefix_skip(l);

	for (l->n = 0; l->n < LOG_WORDS_MAX; l->n++) {
		struct log_word *w = &l->word[l->n];

		while (p < l->end && isspace((unsigned char)*p))
			p++;
		if (p == l->end)
			return;
		for (w->s = p; p < l->end && !isspace((unsigned char)*p);)
			p++;
		w->n = (size_t)(p - w->s);
	}
}
