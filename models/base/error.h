/*
 * Errors with a place.
 *
 * A function that reads input returns a status and, when it is not OK, has filled
 * `struct error` with what was wrong, what was expected and where. The first error
 * wins. The library never prints; commands do, with error_print().
 *
 * Broken invariants of ours are assert()s. Out of memory ends the program in one place
 * (xmalloc, arena_alloc), so allocation has no error path.
 */
#ifndef SHARDSIM_BASE_ERROR_H
#define SHARDSIM_BASE_ERROR_H

#include <stdio.h>

enum status {
	OK = 0,
	E_SYNTAX, /* the text is not of the form */
	E_TYPE,   /* well-formed, but does not fit together (axis used twice, rank) */
	E_RANGE,  /* a number outside what is allowed */
	E_INFEASIBLE, /* a well-typed request without an answer */
	E_IO,         /* a file or stream */
	E_WRITE       /* output that was asked for rightly, such as onto a full disk */
};

/*
 * A place in a text. `file` is a path, or the option that gave the text ("--from");
 * NULL means no place is known. Lines and columns count from 1; columns count bytes.
 * `source` is the text of that line (up to its newline or NUL) when it is worth showing
 * with a caret, else NULL; borrowed, it must outlive the error.
 */
struct where {
	const char *file;
	unsigned line, col;
	const char *source;
};

struct error {
	enum status code;
	struct where at;
	char text[400];
};

/*
 * Record an error unless `e` already holds one; returns `code` (or the code already
 * there). `e` may be NULL: then only the code is returned.
 */
enum status error_set(struct error *e, enum status code, struct where at,
                      const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/* Prints "file:line:col: text", then the source line and a caret where there is one. */
void error_print(FILE *out, const struct error *e);

/*
 * Returns the bare `struct where` of a text given by option `name`, whole text as
 * source.
 */
struct where where_option(const char *name, const char *text);

/* An error in a text as an option has it is one at the place where a file has the text; returns its code. */
enum status error_in_file(struct error *e, struct where at);

#endif
