/* Whole files as texts. */
#ifndef SHARDSIM_BASE_INPUT_H
#define SHARDSIM_BASE_INPUT_H

#include "base/arena.h"
#include "base/error.h"

/*
 * Appends all bytes of the file. E_IO at the place `path` (borrowed), with the reason.
 */
enum status input_read(struct text *out, const char *path, struct error *e);

#endif
