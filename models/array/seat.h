/*
 * Where a mesh smaller than its machine sits: on a compact slice of a torus, as one is
 * handed out by whoever runs the machine, and elsewhere on the first devices.
 *
 * The slice of n devices on a torus is a box of chips (ports), as many as hold n devices;
 * the mesh's devices are row-major over it. Of all boxes
 *
 *   1. one of exactly that many chips or, where there is none, of the fewest above;
 *   2. with the widest bisection: the links that a cut across an axis through its middle
 *      crosses, of the axis with the fewest. An axis that the box covers whole keeps its
 *      wrap, and its ring is cut twice;
 *   3. whose lengths above one have the least sum, as those of a cube have;
 *   4. with the most links in all;
 *   5. with the fewest axes longer than one;
 *   6. whose first axis is the shortest, then the second, and so on, where axes of one
 *      come last: 4x8, 2x2x4, 4x4x1, as such slices are written.
 *
 * It begins at the first chip: every place of a box on a torus is like the others. (That
 * a cable is missing or slow is not looked at.) So 64 of 16x16 chips are 8x8 and not
 * 4x16, 16 of 8x8x8 are 2x2x4, 16 of 4x4x4 are 4x4x1 (as two rings of four, 2x2x4 is the
 * same graph there), and 7 of 16x16 are a line.
 *
 * On a machine of several slices a mesh that fits into one sits in the first one, a
 * larger one on equal boxes of as few of them as hold it or, where it does not divide
 * by those, on the first devices.
 */
#ifndef SHARDSIM_ARRAY_SEAT_H
#define SHARDSIM_ARRAY_SEAT_H

#include "array/machine.h"

struct seat {
	const struct fabric *fabric; /* the torus */
	int32_t domains;             /* how many of its domains have such a box */
	int32_t shape[TORUS_AXES_MAX];
};

/*
 * Finds the slice that n devices take of a machine. Returns false where they are the
 * first ones: they fill the machine, they do not fit, or there is no torus.
 */
bool seat_find(struct seat *out, const struct machine *m, int32_t n);

/* Returns the first n devices of a slice in row-major order, [n], the arena's. */
const int32_t *seat_devices(const struct seat *s, int32_t n, struct arena *a);

/* Appends "an 8x8 slice", "2 slices of 4x4", or "part of a 3x6 slice" for n devices. */
void seat_print(struct text *out, const struct seat *s, int32_t n);

#endif
