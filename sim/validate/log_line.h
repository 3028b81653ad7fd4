/* The lines of a program's output and their words. */
#ifndef SHARDSIM_SIM_VALIDATE_LOG_LINE_H
#define SHARDSIM_SIM_VALIDATE_LOG_LINE_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LOG_WORDS_MAX = 32 };

struct log_word {
	const char *s;
	size_t n;
};

struct log_line {
	struct where at;
	const char *start, *end;
	int n;
	struct log_word word[LOG_WORDS_MAX];
};

/* Returns whether the part is somewhere in the line. */
bool log_line_has(const struct log_line *l, const char *part);

/* Returns the place of a byte of the line. */
struct where log_line_where(const struct log_line *l, const char *pos);

/*
 * Splits a line into words, behind a prefix such as `[1,0]<stdout>:`, or `3:` of srun
 * --label; more than LOG_WORDS_MAX are not told apart from as many.
 */
void log_line_split(struct log_line *l);

bool log_word_is(const struct log_word *w, const char *text);

/* Returns the number that a word is as a whole, else -1. */
double log_word_number(const struct log_word *w);

/* Returns the whole number of a word of up to 18 digits and nothing else, else -1. */
int64_t log_word_whole(const struct log_word *w);

#endif
