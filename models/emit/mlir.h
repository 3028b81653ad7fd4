/* What the kinds in MLIR's syntax share. */
#ifndef SHARDSIM_EMIT_MLIR_H
#define SHARDSIM_EMIT_MLIR_H

#include "array/array.h"
#include "array/mesh.h"

/* Finds the name that MLIR has for a type of elements, and its zero in a `dense<>`. */
void mlir_type(const char **type, const char **zero, const struct dtype *d);

/* Appends `tensor<8x2xf32>`. */
void put_tensor(struct text *out, const char *type, const struct shape *s);

/* Appends a line `sdy.mesh @name = <["x"=4], device_ids=[..]>`, the ids where there are any. */
void put_sdy_mesh(struct text *out, const struct mesh *m, const char *name);

#endif
