/*
 * Regular expressions (POSIX, extended) that users write, which take little time to compile and
 * to match.
 *
 * The C library makes copies of what a count {n} or a + repeats, nested ones copies of copies, and
 * tries all ways in which what \1 refers to may have matched: a line of text can keep it busy for
 * minutes or fill the memory. So there are no counts and no references here, and an expression in
 * which every + is written out as a copy has at most PATTERN_MOST parts.
 */
#ifndef SHARDSIM_BASE_PATTERN_H
#define SHARDSIM_BASE_PATTERN_H

#include "base/error.h"

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>

enum { PATTERN_MOST = 1000 };

/*
 * Compiles an expression for pattern_matches(); regfree() frees it. E_RANGE: it is too large, or has a
 * count or a reference; E_SYNTAX: it is none.
 */
enum status pattern_compile(regex_t *out, const char *text, struct where at,
                            struct error *e);

/* Returns whether it matches some part of a name of so many bytes, in a text that ends with a NUL. */
bool pattern_matches(const regex_t *re, const char *name, size_t length);

#endif
