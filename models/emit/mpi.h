/* What the files mpi*.c share: the tables of the program in mpi_types.in. */
#ifndef SHARDSIM_EMIT_MPI_H
#define SHARDSIM_EMIT_MPI_H

#include "emit/emit.h"

/* Where a device's tile starts after a step, as rows of struct place in the program. */
struct mpi_place {
	bool has;
	const int64_t *start; /* [rank]; of the arena */
};

/* A program that is being written. */
struct mpi {
	struct text *out;
	const struct emission *what;
	const struct plan *plan;
	struct arena *arena;
	int rank;               /* of the plan's shape */
	int64_t unit[RANK_MAX]; /* elements per unit of each dimension */
};

/*
 * Finds the largest units that all extents, starts and boxes of the plan are whole numbers
 * of, so that the check can run the same steps on the smallest array.
 */
void mpi_find_units(struct mpi *m);

/*
 * Returns where the tiles of a layout are. NULL: tiles of the usual size, and those that
 * start at multiples of it.
 */
const struct mpi_place *mpi_places(const struct mpi *m, const struct layout *l,
                                   const struct mesh *mesh, const struct shape *tile,
                                   const int64_t *start);

/* Appends the tables of all steps, and the list of steps itself. */
void mpi_put_steps(struct mpi *m);

/* Appends a table of places, and a shape in units in braces. */
void mpi_put_places(struct mpi *m, const char *name, const struct mpi_place *place);
void mpi_put_shape(struct mpi *m, const struct shape *s);

#endif
