/*
 * Short texts for the problems of tests: meshes "2,4" with axes x, y, z, w, f32 arrays
 * "16,48", layouts "xy,-" and device lists as XLA writes them. They read what the tests
 * hold and nothing else; the ways people spell layouts are models/notation.
 */
#ifndef SHARDSIM_TESTS_XLA_TEXT_H
#define SHARDSIM_TESTS_XLA_TEXT_H

#include "planner/xla.h"

/* Numbers between commas up to a byte that is neither, *s moved there; their count. */
int read_numbers(int32_t *out, const char **s);

struct mesh mesh_of(const char *s);
struct array array_of(const char *s);

/* "xy,-,z": dimension 0 over x and y, x major; 1 whole; 2 over z. */
struct layout axes_of(const char *s, const struct mesh *m);

/*
 * "[2,1,4]<=[2,4]T(1,0) r": the numbers 0.. reshaped to [2,4], transposed, reshaped to
 * [2,1,4]; `r` if the last dimension counts replicas (spec xla.md 9.4). Without "<=..."
 * the numbers in order.
 */
const struct tiling *tiles_of(const char *s, struct arena *a);

/* Device lists start with '['; all else is axes. */
struct layout layout_from(const char *s, const struct mesh *m, struct arena *a);

/* A finished problem; the target mesh is `to_mesh`, or `m` again where that is NULL. */
struct problem *problem_of(const struct array *array, const struct mesh *m,
                           const struct mesh *to_mesh, const struct layout *from,
                           const struct layout *to, struct arena *a);

/* All layouts of whole axes, lists of axes in every order; their number. */
int all_layouts(struct layout *out, int rank, const struct mesh *m);

#endif
