/*
 * The shardings of a program's values: what its text says of arguments, constraints and
 * results, and room for what follows from it (program/propagate.h).
 *
 * Values that one computation carries under several names, such as what a loop hands from
 * turn to turn, have one sharding; `of` says which. Results of the entry have shardings of
 * their own, behind those of the values, as what is returned may be laid out anew; and so have
 * operands of manual computations, as these take them in.
 */
#ifndef SHARDSIM_PROGRAM_SHARDING_H
#define SHARDSIM_PROGRAM_SHARDING_H

#include "array/layout.h"
#include "program/program.h"

/* Parts of axes, major first. */
enum { AXES_MOST = 24 };
struct axes {
	int32_t n;
	struct part at[AXES_MOST];
};

struct dim_sharding {
	struct axes axes;
	bool closed;      /* no more axes than these */
	int32_t priority; /* the user's, 0 the first */
};

struct sharding {
	const struct value_type *type;
	struct dim_sharding *dim; /* [rank] */
	/* Axes that no dimension may have: `replicated={}` and `unreduced={}` of Shardy. */
	struct axes replicated, unreduced;
	bool given; /* the text says something of it */
	bool left;  /* what the text says of it is not handed on, and stays as it is */
	bool anew;  /* made of constants alone: each user has it as it wants it */
	int64_t changed; /* when it changed last (propagate/propagate.c) */
};

struct shardings {
	struct mesh mesh; /* of no axes where the text has no shardings */
	int32_t *of;      /* [values + results of the entry] into `at` */
	struct sharding *at;
	int32_t n; /* values + results of the entry + operands of manual computations */
	int32_t *manual; /* [ops] of a manual computation the first of these; else -1 */
};

/* Makes room for the shardings of a program, of which nothing is known; all is the arena's. */
void shardings_start(struct shardings *out, struct arena *a, const struct program *p);

/*
 * Returns the mesh of the text whose axes its shardings name: of several with axes the first that
 * one names, or the first. NULL: none has axes. *second is another one that they name, else NULL.
 */
const struct span *shardings_mesh(const struct program *p, const struct span **second);

/* Returns the name of a mesh of MLIR's text, `@mesh`. */
struct span mesh_name_of(struct span mesh);

/*
 * Reads what the text says into that room. Shardy's shardings name axes of the program's mesh;
 * HLO's device lists become axes of it, or, where it has none, of a mesh made of the
 * list that has the most digits. What propagation cannot work with is a warning of the
 * program: shardings of parts (manual), device lists that no axes say. Shardings of two meshes are
 * an error. Errors have the line.
 */
enum status shardings_read(struct shardings *out, struct arena *a, struct program *p,
                           struct error *e);

/* Returns whether a manual computation makes an axis of the mesh by hand. */
bool manual_has_axis(const struct instruction *op, const struct mesh *m, int axis);

/* Returns whether it leaves axes, over which what is in it is sharded as all else. */
bool manual_leaves_axes(const struct instruction *op, const struct mesh *m);

/* Returns a sharding as a layout. Ranks above RANK_MAX are not sharded. */
struct layout sharding_layout(const struct sharding *s);

/* Returns the layout of a value, or of result k of the entry. */
struct layout shardings_value(const struct shardings *s, int32_t value);
struct layout shardings_result(const struct shardings *s, const struct program *p,
                               int32_t k);

#endif
