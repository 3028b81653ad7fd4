/*
 * A mesh: ordered named axes over N = product of sizes devices, first axis most major.
 * The coordinate c of a device has the row-major *position* sum c[a] * stride[a]; the
 * device there is `ids[position]` (identity when NULL). `ids` is a permutation of
 * 0..N-1: these are the logical device numbers that plans, HLO device lists and replica
 * groups speak of. Which platform device a logical one is, the problem says (plan.h).
 */
#ifndef SHARDSIM_ARRAY_MESH_H
#define SHARDSIM_ARRAY_MESH_H

#include "base/arena.h"
#include "base/scan.h"

#include <stdbool.h>
#include <stdint.h>

enum { MESH_AXES_MAX = 64, MESH_DEVICES_MAX = 1 << 22 };

struct axis {
	const char *name;
	int32_t size; /* >= 1; axes of size 1 are kept for printing */
};

struct mesh {
	int naxes;
	struct axis axis[MESH_AXES_MAX];
	int32_t ndevices;
	const int32_t *ids; /* [ndevices] or NULL for the identity */
	/*
	 * Device numbers are below `nids`: 0 stands for ndevices, of which `ids` is then a
	 * permutation. More where the mesh covers a part of a problem's devices.
	 */
	int32_t nids;
};

/*
 * Read `x=4,y=2`, or Shardy's `<["x"=4, "y"=2], device_ids=[...]>` (the `sdy.mesh @m =`
 * in front may be there), or JAX's `Mesh('x': 4, 'y': 2)`. Names and ids are the
 * arena's. Errors: an axis twice, size below 1, more than MESH_AXES_MAX axes or
 * MESH_DEVICES_MAX devices, device_ids that are no permutation.
 */
enum status mesh_parse(struct mesh *out, struct arena *a, const char *text,
                       struct where at, struct error *e);

/*
 * Prints `x=4,y=2` and, where they are not the identity, device ids as Shardy writes
 * the mesh.
 */
void mesh_print(struct text *out, const struct mesh *m);

/* Returns the number of the axis with this name, -1 if none. */
int mesh_axis(const struct mesh *m, const char *name, size_t length);

/*
 * Returns the product of the sizes of the axes after `axis`: how far one step of it
 * moves.
 */
int64_t mesh_stride(const struct mesh *m, int axis);

/*
 * Adds to value[p * every], for each of n positions p, `weight` times the digit of p
 * that has this stride and size: p / stride % size. stride * size divides n.
 */
void mesh_add_digit(int32_t *value, int every, int32_t n, int32_t stride, int32_t size,
                    int32_t weight);

/* Returns the number that all device numbers of the mesh are below. */
int32_t mesh_nids(const struct mesh *m);

/*
 * Returns the device at a position, and [nids] position of each device, -1 if not in
 * the mesh.
 */
int32_t mesh_device(const struct mesh *m, int32_t position);
const int32_t *mesh_positions(const struct mesh *m, struct arena *a);

/*
 * Return whether they have the same axis names and sizes in one order; and mesh_equal()
 * also the same device order.
 */
bool mesh_same_axes(const struct mesh *a, const struct mesh *b);
bool mesh_equal(const struct mesh *a, const struct mesh *b);

#endif
