/*
 * Parallelism matrices (Xie et al. 2022, 3.1): which part of every parallelism axis
 * runs over which level of a hierarchy. x[i][j] is how many ways axis i is split at
 * level j: the product of column j is the size of level j, that of row i the size of
 * axis i.
 *
 * The coordinate of a device on axis i has the mixed-radix digits x[i][0..), outermost
 * level most major. Its place within level j has the digits x[0][j], x[1][j], ... of
 * the axes, axis 0 most major.
 */
#ifndef SHARDSIM_PLACEMENT_MATRIX_H
#define SHARDSIM_PLACEMENT_MATRIX_H

#include "array/mesh.h"
#include "placement/hierarchy.h"

enum { MATRIX_AXES_MAX = 8, MATRICES_MAX = 1 << 20 };

struct matrix {
	int naxes, nlevels;
	int32_t x[MATRIX_AXES_MAX][HIERARCHY_LEVELS_MAX];
};

/*
 * Parallelism axes: bare sizes `4,2` (axes named 0, 1, ...) or what mesh_parse reads;
 * E_RANGE for more than MATRIX_AXES_MAX.
 */
enum status axes_parse(struct mesh *out, struct arena *a, const char *text,
                       struct where at, struct error *e);

/*
 * Prints what axes_parse reads: `4,2` or `x=4,y=2`. Axes that were given no names have
 * none.
 */
void axes_print(struct text *out, const struct mesh *axes);
bool axes_named(const struct mesh *axes);

/*
 * Reduction axes, by number or name: `1`, `0,2`, `data`. Bit i of *out stands for axis
 * i. E_TYPE for an axis that is unknown or listed twice.
 */
enum status reduce_parse(uint32_t *out, const struct mesh *axes, const char *text,
                         struct where at, struct error *e);

/* Prints the axes of a reduction by number: `0,2`. */
void reduce_print(struct text *out, uint32_t reduce);

/*
 * All matrices of the axes on the hierarchy, by rising x read row by row. E_TYPE if the
 * two have not the same number of devices, E_RANGE for more than MATRICES_MAX. The
 * array is the arena's.
 */
enum status matrices_of(struct matrix **out, int64_t *n, struct arena *a,
                        const struct hierarchy *h, const struct mesh *axes,
                        struct where at, struct error *e);

/*
 * Prints `[[1 16][2 1]]`, which matrix_parse reads; to it spaces and commas are alike.
 */
void matrix_print(struct text *out, const struct matrix *m);
enum status matrix_parse(struct matrix *out, const char *text, struct where at,
                         struct error *e);

/* E_TYPE if its column or row products are not the sizes of levels and axes. */
enum status matrix_check(const struct matrix *m, const struct hierarchy *h,
                         const struct mesh *axes, struct where at, struct error *e);

/* Returns the size of axis i, of level j, and the number of devices. */
int32_t matrix_axis_size(const struct matrix *m, int axis);
int32_t matrix_level_size(const struct matrix *m, int level);
int32_t matrix_ndevices(const struct matrix *m);

/* Returns the device with coordinate[0..naxes). */
int32_t matrix_device(const struct matrix *m, const int32_t *coordinate);

/*
 * Returns the device at every row-major position of the mesh of the axes (axis 0 most
 * major): [ndevices], a permutation; the device order to use as `--devices`. The
 * arena's.
 */
int32_t *matrix_devices(const struct matrix *m, struct arena *a);

/* Returns the same as platform devices: those that the hierarchy is on. */
int32_t *matrix_platform(const struct matrix *m, const struct hierarchy *h,
                         struct arena *a);

#endif
