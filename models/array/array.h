/*
 * An array: an element type and a shape. Text as XLA writes it: `bf16[8192,8192]`,
 * `f32[]` is a scalar. JAX's and numpy's long names (`bfloat16`, `float32`) read too.
 */
#ifndef SHARDSIM_ARRAY_ARRAY_H
#define SHARDSIM_ARRAY_ARRAY_H

#include "base/arena.h"
#include "base/scan.h"

#include <stdint.h>

enum { RANK_MAX = 32 };

struct dtype {
	const char *name;      /* short, canonical: bf16 */
	const char *long_name; /* as JAX prints it: bfloat16; also read */
	int bits;
};

/* All types that XLA's texts name, ended by a NULL name. */
extern const struct dtype dtypes[];

/* Elements per dimension, each >= 1; the product is at most 2^62. */
struct shape {
	int rank;
	int64_t dim[RANK_MAX];
};

struct array {
	const struct dtype *dtype;
	struct shape shape;
};

/*
 * Read `dtype[d0,d1,...]`. Errors: unknown dtype, dimension below 1, too many
 * dimensions, more than 2^62 elements or bits.
 */
enum status array_scan(struct array *out, struct scan *s);
enum status array_parse(struct array *out, const char *text, struct where at,
                        struct error *e);
void array_print(struct text *out, const struct array *a);

/* Returns the type of that name, short or long; NULL if there is none. */
const struct dtype *dtype_find(const char *start, size_t length);

int64_t shape_elements(const struct shape *s);

/*
 * Returns the bytes of `elements` of a type: sub-byte types pack, so ceil(elements *
 * bits / 8).
 */
int64_t dtype_bytes(const struct dtype *d, int64_t elements);

#endif
