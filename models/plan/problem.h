/*
 * A problem: an array laid out one way over the devices of a mesh, needed another way.
 */
#ifndef SHARDSIM_PLAN_PROBLEM_H
#define SHARDSIM_PLAN_PROBLEM_H

#include "array/array.h"
#include "array/layout.h"
#include "array/mesh.h"
#include "array/type.h"

/* What plans may use (vocabulary.h). */
enum vocabulary { VOCABULARY_ANY, VOCABULARY_PORTABLE };

/* The texts of a problem, as on the command line or in a suite; NULL where not given. */
struct problem_text {
	const char *array, *mesh, *to_mesh, *from, *to, *memory_limit, *vocabulary;
	const char *num_devices; /* for HLO layouts without a mesh */
	/* Platform devices of the two meshes: `0-3,8-11` or `@FILE` (devices.h). */
	const char *devices, *to_devices;
	/* Places of the texts above, in the same order, for errors. */
	struct where array_at, mesh_at, to_mesh_at, from_at, to_at, memory_limit_at;
	struct where num_devices_at, devices_at, to_devices_at, vocabulary_at;
};

struct problem {
	struct arena *arena; /* owns all that hangs on the problem */
	struct array array;
	struct mesh mesh, to_mesh; /* equal unless a target mesh was given */
	bool two_meshes;
	/*
	 * The devices of both meshes together are numbered 0..ndevices-1, those of the
	 * source first, in the order of its logical numbers; both meshes' ids are such
	 * numbers. `same_devices`: the two meshes cover the same ones. platform[d] is the
	 * platform device of number d; NULL: the identity. from_devices and to_devices
	 * are the lists that were given, NULL where none was.
	 */
	int32_t ndevices;
	bool same_devices;
	const int32_t *platform, *from_devices, *to_devices;
	const char *position; /* "an 8x8 slice" (position.h); NULL: no slice was taken */
	struct layout from, to;
	int64_t memory_limit_bytes; /* per device, of the largest live array; -1: none */
	/*
	 * Of the smallest device that takes part, for all arrays that live at once; 0: not
	 * known, or not to count (memory.h). `any_memory`: the limit was given as "none".
	 */
	int64_t device_memory_bytes;
	bool any_memory;
	enum vocabulary vocabulary; /* of planners that have a choice */
	/*
	 * The extent plans run on: ceil(g / s) * s where source and target shard counts
	 * agree on it (models/README.md, "Layouts"). `padded_ok` is false where they do
	 * not; then `padded` is the real shape and planners that need even shapes are not
	 * applicable.
	 */
	struct shape padded;
	bool padded_ok;
	/* Common atoms of both layouts; has_atoms false with the reason in no_atoms. */
	bool has_atoms;
	struct atoms atoms;
	const char *no_atoms;
	/* Derived figures, of real elements only (models/README.md, "Bounds"). */
	int64_t recv_bound_bytes;   /* largest number of bytes one device lacks */
	int64_t memory_bound_bytes; /* max(source tile, target tile) */
};

/*
 * Read and complete a problem. Errors name the text they are in: unknown axes, a rank
 * that differs, a device list shorter than its mesh, and so on.
 */
enum status problem_make(struct problem *out, struct arena *a,
                         const struct problem_text *text, struct error *e);

/*
 * Completes a problem whose array, meshes, layouts and memory limit are set: padded
 * shape, atoms, bounds. Used by problem_make and by tests that build problems directly.
 */
void problem_finish(struct problem *p);

/* Returns whether every dimension divides by its shard count, on both sides. */
bool problem_even(const struct problem *p);

#endif
