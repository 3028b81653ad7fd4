/*
 * A scanner over one text: the token level of every notation.
 *
 * The scanner skips white space between tokens and knows its place, so a reader says
 * only what it expected. Readers stop at the first error; scan_fail() records it at the
 * token read last or about to be read.
 */
#ifndef SHARDSIM_BASE_SCAN_H
#define SHARDSIM_BASE_SCAN_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

struct scan {
	const char *text, *pos; /* NUL-terminated text, next byte to read */
	struct where at;        /* the place of text[0] */
	struct error *error;    /* where failures go; never NULL */
};

struct scan scan_start(const char *text, struct where at, struct error *error);

/* Returns the place of the byte at `pos` (not skipping white space). */
struct where scan_where(const struct scan *s, const char *pos);

/* Skips white space, then says whether the text has ended. */
bool scan_done(struct scan *s);

/* Skips white space and returns the next byte (0 at the end) without taking it. */
char scan_peek(struct scan *s);

/* Takes `token` (a literal, compared bytewise after white space) if it is next. */
bool scan_take(struct scan *s, const char *token);

/* Takes `word` if it is next and is not followed by a letter, digit or '_'. */
bool scan_word(struct scan *s, const char *word);

/* Does as scan_take(), but the absence is an error: "expected '<token>'". */
bool scan_expect(struct scan *s, const char *token);

/*
 * Reads a name: letters, digits, '_', '.', '-', starting with a letter or '_'. False,
 * without an error, if none is next. The name is [*start, *start + *length).
 */
bool scan_name(struct scan *s, const char **start, size_t *length);

/*
 * Returns whether scan_name would take the whole of `name`. Such a name needs no
 * quotes.
 */
bool scan_plain_name(const char *name);

/*
 * Reads a name between two `quote` bytes (' or "), for axis names of any bytes but the
 * quote. Returns false with an error where the quote is not closed; false without one
 * if no quote is next.
 */
bool scan_quoted(struct scan *s, char quote, const char **start, size_t *length);

/* White space, for strcspn(). */
#define SPACES " \t\r\n\v\f"

/*
 * Reads a decimal integer in [lo, hi]; its absence or a number outside is an error, which says
 * that `what` was expected, or a whole number where that is NULL.
 */
bool scan_int(struct scan *s, const char *what, int64_t lo, int64_t hi, int64_t *out);

/* Record an error at the next token (or at `pos` for scan_fail_at). Returns `code`. */
enum status scan_fail(struct scan *s, enum status code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
enum status scan_fail_at(struct scan *s, const char *pos, enum status code,
                         const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/* Error "expected the end, found ..." unless the text has ended. */
enum status scan_finish(struct scan *s);

#endif
