/*
 * Problems for planner tests: from texts, or from types on the atoms of a mesh, which
 * can be listed and drawn at random.
 */
#ifndef SHARDSIM_TESTS_PLANNER_CASE_H
#define SHARDSIM_TESTS_PLANNER_CASE_H

#include "base/rng.h"
#include "plan/plan.h"
#include "planner/planner.h"

/* A problem of texts that must be right; ends the test otherwise. */
struct problem *case_of_texts(struct arena *a, const char *mesh, const char *array,
                              const char *from, const char *to);

/* Axes x0, x1, ... of these sizes (0 ends them). */
struct mesh case_mesh(struct arena *a, const int *sizes);

/* The atoms of a mesh, as many as the prime factors of its axes. */
struct atoms case_atoms(const struct mesh *m);

/*
 * f32 array whose dimensions are `extent`, laid out by two types of the mesh's atoms.
 */
struct problem *case_of_types(struct arena *a, const struct mesh *m,
                              const struct shape *extent, const struct type *from,
                              const struct type *to);

/* As case_of_types, of layouts. */
struct problem *case_of_layouts(struct arena *a, const struct mesh *m,
                                const struct shape *extent, const struct layout *from,
                                const struct layout *to);

/* All types of a rank on the atoms; the caller frees *out. Returns their number. */
int case_types(struct type **out, const struct atoms *atoms, int rank);

/*
 * A random type that `extent` can be cut into: each atom is used with probability
 * `used_percent`, in a random place.
 */
struct type case_random_type(struct rng *r, const struct atoms *atoms,
                             const struct shape *extent, unsigned used_percent);

/* Mesh, array and layouts of a problem, for messages; the arena's. */
const char *case_describe(struct arena *a, const struct problem *p);

#endif
