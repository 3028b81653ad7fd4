/* Whole files as texts. */
#ifndef SHARDSIM_BASE_INPUT_H
#define SHARDSIM_BASE_INPUT_H

#include "base/arena.h"
#include "base/error.h"

/*
 * Appends all bytes of the file. It is an E_IO at the place `path` (borrowed), with the
 * reason, or an E_RANGE if there are more than `most` of them: nothing that people write is
 * so large, but devices such as /dev/zero never end. input_read() takes up to INPUT_MAX.
 */
enum { INPUT_MAX = 256 << 20 };
enum status input_read_most(struct text *out, const char *path, size_t most,
                            struct error *e);
enum status input_read(struct text *out, const char *path, struct error *e);

/*
 * Reads the whole file as a text of the arena's; NULL on errors. A byte 0, at which it
 * would end early, is an E_SYNTAX at its place.
 */
char *input_text(struct arena *a, const char *path, struct error *e);

#endif
