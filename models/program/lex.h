/*
 * What the texts of programs have in common, on the scanner of base/scan.h: comments are
 * white space, and what is not understood is skipped as a whole. Private to the readers.
 */
#ifndef SHARDSIM_PROGRAM_LEX_H
#define SHARDSIM_PROGRAM_LEX_H

#include "base/scan.h"
#include "program/program.h"

enum { LEX_DEPTH_MAX = 200 }; /* brackets within brackets */

/* Skips white space and comments, and returns the next byte without taking it. */
char lex_peek(struct scan *s);

/* As scan_take(), scan_expect(), scan_word() and scan_int(), behind comments, too. */
bool lex_take(struct scan *s, const char *token);
bool lex_expect(struct scan *s, const char *token);
bool lex_word(struct scan *s, const char *word);
bool lex_int(struct scan *s, const char *what, int64_t lo, int64_t hi, int64_t *out);

/* Reads a whole number that may be negative. */
bool lex_signed(struct scan *s, const char *what, int64_t *out);

/* Reads a name as scan_name() does, with any of the bytes of `more` in front of it. */
bool lex_name(struct scan *s, const char *more, struct span *out);

/* Reads a text in quotes, " or ', with backslashes before such; without the quotes. */
bool lex_quoted(struct scan *s, struct span *out);

/*
 * Skips what is next up to the bracket that closes it: it must begin with one of ( [ { <.
 * False with an error at the bracket if none does. Texts in quotes have no brackets; `->`
 * has none, either.
 */
bool lex_balanced(struct scan *s, struct span *out);

/*
 * Skips a value: all up to the next comma, closing bracket or end of line that is not inside
 * of brackets or quotes. It is not empty.
 */
bool lex_value(struct scan *s, struct span *out);

/*
 * Reads whole numbers between two brackets, `{0,1}`, `[0, 1]`. The numbers are the
 * arena's.
 */
bool lex_ints(struct scan *s, struct arena *a, const char *open, const char *close,
              struct ints *out);

static inline struct span span_up_to(const char *at, const char *end)
{
	return (struct span){at, (int32_t)(end - at)};
}

/* Returns the byte behind a part of a text; NULL behind none. */
static inline const char *span_end(struct span s)
{
	return s.at ? s.at + s.length : NULL;
}

/*
 * Finds `key` in a text such as backend_config, with or without backslashes before its
 * quotes, and returns what stands behind it; NULL if it is not there.
 */
const char *span_find(struct span s, const char *key);

#endif
