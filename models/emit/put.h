/* Pieces of text that several kinds have in common. */
#ifndef SHARDSIM_EMIT_PUT_H
#define SHARDSIM_EMIT_PUT_H

#include "emit/local.h"

/* Appends a name in quotes; those in it, and backslashes, have a backslash in front. */
void put_quoted(struct text *out, const char *name, char quote);

/* Appends name number i of a list of Python. */
void put_name(struct text *out, int i, const char *name);

/* Appends numbers as `(1, 2)`; of Python, where one alone is `(1,)`. */
void put_tuple(struct text *out, const int64_t *value, int n);
void put_list(struct text *out, const int32_t *value, int64_t n);

/* Appends lists of `each` numbers: `[[0, 1], [2, 3]]`. */
void put_lists(struct text *out, const int32_t *value, int64_t n, int64_t each);

/*
 * Appends, as Python, the line that splits the tile `a` of the source into the digits of
 * the plan's view, or joins those of the target.
 */
void put_digits(struct text *out, const struct local *l, bool join);

/*
 * Appends `[1, 2, 1, 2]`: of each of `ndevices` devices the weight (local_weight) of the
 * one of `n` contributions that it has.
 */
void put_weights(struct text *out, const int32_t *which, int32_t ndevices, int32_t n);

/*
 * Appends what the checks of programs of PyTorch begin with: the guard, and `shape`, `size`
 * and `want`, an array of different numbers.
 */
void put_torch_check(struct text *out, int32_t ndevices, const struct shape *s);

/* Appends what a program of PyTorch begins with, `imports` of its own among it. */
void put_torch(struct text *out, const char *imports);

/* Appends the line of Python that makes `mesh`, a DeviceMesh of PyTorch. */
void put_device_mesh(struct text *out, const struct mesh *m);

/* Appends `f32[8,2]`. */
void put_array_type(struct text *out, const char *dtype, const struct shape *s);

#endif
