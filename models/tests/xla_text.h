/*
 * Short texts for the problems of tests: meshes "2,4" with axes x, y, z, w, f32 arrays
 * "16,48", layouts "xy,-" and device lists as XLA writes them. They read what the tests
 * hold and nothing else; the ways people spell layouts are models/notation.
 */
#ifndef SHARDSIM_TESTS_XLA_TEXT_H
#define SHARDSIM_TESTS_XLA_TEXT_H

#include "base/rng.h"
#include "planner/xla/xla.h"

/* Numbers between commas up to a byte that is neither, *s moved there; their count. */
int read_numbers(int32_t *out, const char **s);

struct mesh mesh_of(const char *s);
struct array array_of(const char *s);

/* "xy,-,z": dimension 0 over x and y, x major; 1 whole; 2 over z. */
struct layout axes_of(const char *s, const struct mesh *m);

/*
 * "[2,1,4]<=[2,4]T(1,0) r": the numbers 0.. reshaped to [2,4], transposed, reshaped to
 * [2,1,4]; `r` if the last dimension counts replicas. Without "<=..."
 * the numbers in order; "[2,2]1,0,3,2" lists them.
 */
const struct tiling *tiles_of(const char *s, struct arena *a);

/* Device lists start with '['; all else is axes. */
struct layout layout_from(const char *s, const struct mesh *m, struct arena *a);

/* A tiling of n devices with random factors of n on each dimension, in random order. */
const struct tiling *random_tiling(struct rng *rng, int rank, int32_t n, bool shuffled,
                                   struct arena *a);

/* A tiling in random order whose counts are those of `s`, of dimensions further on. */
const struct tiling *rotated_tiling(struct rng *rng, const struct tiling *s,
                                    struct arena *a);

/* A finished problem; the target mesh is `to_mesh`, or `m` again where that is NULL. */
struct problem *problem_of(const struct array *array, const struct mesh *m,
                           const struct mesh *to_mesh, const struct layout *from,
                           const struct layout *to, struct arena *a);

/* The program of a mode, which every problem has one of. */
struct xla program_of(const struct xla_mode *mode, const struct array *array,
                      const struct layout *from, const struct layout *to,
                      const struct mesh *m, struct arena *a);

/*
 * "gather 0:2 {0,1}{2,3}; swap 1>0:2 {..}; slice 0:2 0101; permute (0,1)(1,0)": moves
 * with their factors, then groups, chunk numbers or pairs. "send 0:[1,3) (0,1)"
 * permutes a part, "window 5,3" leaves tiles of that extent, "sum {0,1}" is an
 * all-reduce.
 */
const char *program_text(const struct xla *x);

/* "gather", "swap", ... as above. */
const char *xla_op_text(const struct xla_op *op);

/* All layouts of whole axes, lists of axes in every order; their number. */
int all_layouts(struct layout *out, int rank, const struct mesh *m);

#endif
