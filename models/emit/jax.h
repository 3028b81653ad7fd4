/* Programs of JAX: what `jax` and `jax-p2p` share. */
#ifndef SHARDSIM_EMIT_JAX_H
#define SHARDSIM_EMIT_JAX_H

#include "emit/local.h"

/* A text that is being written. */
struct jax {
	struct text *out;
	struct local l;
	struct text *why;
};

/* Why a layout cannot be that of an argument or a result. */
extern const char jax_no_axes[];

/* Append `'x'` or `('x', 'y')`, of pieces of the mesh or of all of them. */
void jax_names(struct jax *j, const int *piece, int n);
void jax_all_names(struct jax *j);

/* Appends P(...); contributions to a sum are one more dimension, in front. */
void jax_spec(struct jax *j, const struct layout *l);

/* Appends the imports and the mesh, whose array carries the order of devices. */
void jax_begin(struct jax *j);

/* Appends a note on other versions, and `jax.jit(jax.shard_map(NAME, ...))`. */
void jax_note(struct jax *j);
void jax_map(struct jax *j, const char *name, const struct layout *from,
             const struct layout *to);

/*
 * Append the check: first an array `want` whose elements are numbered, and `a`, the `n`
 * contributions to it, which differ so that none can stand for others, or the same array.
 * Then, of the result `got`, a look at every device's tile.
 */
void jax_check_array(struct jax *j, const struct shape *s, int32_t n);
void jax_check_tiles(struct jax *j, int32_t n);

#endif
