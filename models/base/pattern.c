#include "base/pattern.h"

#include <string.h>

/* Returns what is behind a bracket expression, which begins at `at`. */
static const char *skip_bracket(const char *at)
{
	at += at[1] == '^' ? 2 : 1;
	/* A first ] is a member, and so are those within [: :], [= =] and [. .]. */
	at += *at == ']';
	while (*at && *at != ']') {
		char kind = *at == '[' && at[1] && strchr(":=.", at[1]) ? at[1] : 0;

		at += kind ? 2 : 1;
		while (kind && *at && !(*at == kind && at[1] == ']'))
			at++;
		at += kind && *at ? 2 : 0;
	}
	return *at ? at + 1 : at;
}

/* Returns whether it has few parts, with a copy for each +, and nothing that has no bound. */
static bool is_bounded(const char *text)
{
	int outer[PATTERN_MOST + 1]; /* parts before each group that is open */
	int depth = 0, parts = 0, last = 0;
	const char *at = text;

	if (strlen(text) > PATTERN_MOST)
		return false;
	while (*at && parts <= PATTERN_MOST) {
		char c = *at;

		if (c == '{' || (c == '\\' && at[1] >= '1' && at[1] <= '9'))
			return false;
		at = c == '[' ? skip_bracket(at) : at + (c == '\\' && at[1] ? 2 : 1);
		parts++;
		if (c == '(')
			outer[depth++] = parts - 1;
		if (c == ')')
			last = parts - (depth ? outer[--depth] : 0);
		else
			last = strchr("*?+", c) ? last + 1 : 1;
		/* What was repeated so far is repeated with its copy. */
		parts += c == '+' ? last : 0;
		last *= c == '+' ? 2 : 1;
	}
	return parts <= PATTERN_MOST;
}

enum status pattern_compile(regex_t *out, const char *text, struct where at,
                            struct error *e)
{
	char why[160];
	int code;

	if (!is_bounded(text))
		return error_set(
			e, E_RANGE, at,
			"a regular expression that may take minutes to match, "
			"expected one of at most %d bytes, of which each + makes "
			"a copy of what it repeats, without {counts} and \\1",
			PATTERN_MOST);
	code = regcomp(out, text, REG_EXTENDED | REG_NOSUB);
	if (!code)
		return OK;
	regerror(code, out, why, sizeof(why));
	return error_set(e, E_SYNTAX, at, "'%.80s' is no regular expression: %s", text,
	                 why);
}

bool pattern_matches(const regex_t *re, const char *name, size_t length)
{
	regmatch_t all = {0, (regoff_t)length};

	return !regexec(re, name, 1, &all, REG_STARTEND);
}
