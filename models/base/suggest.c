#include "base/suggest.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static int least(int a, int b)
{
	return a < b ? a : b;
}

static bool same(char a, char b)
{
	return tolower((unsigned char)a) == tolower((unsigned char)b);
}

/*
 * Counts the slips between two words (optimal string alignment: Levenshtein's distance
 * with swaps of neighbours), row by row of which the last three are kept.
 */
static int slips_between(const char *a, size_t n, const char *b, size_t m)
{
	int row[3][SUGGEST_NAME + 1];

	for (size_t j = 0; j <= m; j++)
		row[0][j] = (int)j;
	for (size_t i = 1; i <= n; i++) {
		int *now = row[i % 3], *last = row[(i + 2) % 3],
		    *before = row[(i + 1) % 3];

		now[0] = (int)i;
		for (size_t j = 1; j <= m; j++) {
			now[j] = least(least(last[j], now[j - 1]) + 1,
			               last[j - 1] + !same(a[i - 1], b[j - 1]));
			if (i > 1 && j > 1 && same(a[i - 1], b[j - 2]) &&
			    same(a[i - 2], b[j - 1]))
				now[j] = least(now[j], before[j - 2] + 1);
		}
	}
	return row[n % 3][m];
}

static bool same_bytes(const char *a, const char *b, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!same(a[i], b[i]))
			return false;
	return true;
}

/* Returns whether the word is the beginning or the end of a longer name. */
static bool is_part(const char *word, size_t n, const char *name, size_t m)
{
	static const char joints[] = "-_.:";

	if (!n || n >= m)
		return false;
	if (same_bytes(word, name, n) && (n >= 3 || strchr(joints, name[n])))
		return true;
	return same_bytes(word, name + m - n, n) &&
	       (n >= 3 || strchr(joints, name[m - n - 1]));
}

/* Returns whether a word without dots is short for one: `bw` for `bandwidth`. */
static bool is_short_word(const char *word, size_t n, const char *name, size_t m)
{
	size_t i = 1;

	if (n < 2 || n > m || !same(word[0], name[0]))
		return false;
	for (size_t k = 1; k < m && i < n; k++)
		i += same(word[i], name[k]);
	return i == n;
}

/* Returns whether the word's parts between dots are short for the name's from `name` on. */
static bool is_short_from(const char *word, size_t n, const char *name)
{
	for (;;) {
		const char *dot = memchr(word, '.', n);
		size_t part = dot ? (size_t)(dot - word) : n, m = strcspn(name, ".");

		if (!is_short_word(word, part, name, m) || (dot && !name[m]))
			return false;
		if (!dot)
			return true;
		word += part + 1;
		n -= part + 1;
		name += m + 1;
	}
}

static bool is_short(const char *word, size_t n, const char *name)
{
	for (; name; name = strchr(name, '.') ? strchr(name, '.') + 1 : NULL)
		if (is_short_from(word, n, name))
			return true;
	return false;
}

struct suggestion suggest_start(const char *word, size_t length)
{
	return (struct suggestion){.word = word, .length = length};
}

static void take(struct suggestion *s, const char *name, int slips, bool part)
{
	s->nearest = name;
	s->slips = slips;
	s->part = part;
}

void suggest_offer(struct suggestion *s, const char *name)
{
	size_t m = strlen(name), longer = s->length > m ? s->length : m;
	bool part = is_part(s->word, s->length, name, m);
	int slips;

	if (!s->length || longer > SUGGEST_NAME)
		return;
	slips = slips_between(s->word, s->length, name, m);
	/* A part of a name is near, but not as near as a name with one slip. */
	if (part)
		slips = least(slips, 2);
	else if (slips > (int)(longer / 3) && slips > 1) {
		/* Any name that is near is nearer. */
		if (!s->nearest && is_short(s->word, s->length, name))
			take(s, name, SUGGEST_NAME, true);
		return;
	}
	if (slips >= (int)longer || (s->nearest && slips > s->slips))
		return;
	/* Of two as near, the one that goes on from the word: tpu-v5 is rather tpu-v5e. */
	if (s->nearest && slips == s->slips && (s->part || !part))
		return;
	take(s, name, slips, part);
}

struct suggestion suggest_among(const char *word, size_t length,
                                const char *const *known)
{
	struct suggestion s = suggest_start(word, length);

	for (; *known; known++)
		suggest_offer(&s, *known);
	return s;
}

const char *suggest_ask(struct suggestion *s, const char *before)
{
	s->text[0] = '\0';
	if (s->nearest)
		snprintf(s->text, sizeof(s->text), "; did you mean '%s%s'?", before,
		         s->nearest);
	return s->text;
}
