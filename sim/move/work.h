/*
 * Many arrays to be moved at once (`shardsim move`, scenarios/README.md, "Workloads"): what
 * a file says, as problems. Arrays alike in everything but their names are one entry with
 * a count, so that they are planned once.
 */
#ifndef SHARDSIM_SIM_MOVE_WORK_H
#define SHARDSIM_SIM_MOVE_WORK_H

#include "base/list.h"
#include "base/table.h"
#include "plan/problem.h"

enum {
	MOVE_ARRAYS_MAX = 100000, /* in all */
	MOVE_CONCURRENT_MAX = 4096
};

/* Arrays alike. */
struct move_array {
	LIST(const char *) name; /* of each, where each has one; else of all */
	int64_t count;
	struct problem_text text;
	struct where at; /* where the first one stands */
};

/* So many arrays that follow each other in the file are alike. */
struct move_run {
	int32_t array;
	int64_t count;
};

struct move_work {
	struct arena *arena; /* borrowed; owns all of this */
	const char *name;    /* as the file calls it, or the file */
	LIST(struct move_array) array;
	struct table index;          /* of the arrays, by their texts */
	LIST(struct move_run) given; /* in the order of the file */
	int64_t narrays;
	int64_t concurrent; /* so many calls at once; 0: the file does not say */
	int64_t batch_bytes; /* arrays with equal layouts go in one call up to that; 0: none */
	bool free_source; /* an array's source is given back once it is moved */
	/* Of all arrays on a device together: -1 the file does not say; none: any will do. */
	int64_t memory_limit_bytes;
	bool any_memory;
};

/*
 * Adds `count` arrays of that name; texts are borrowed. It is an E_RANGE at `at` if there
 * are more than MOVE_ARRAYS_MAX.
 */
enum status move_add(struct move_work *w, const char *name,
                     const struct problem_text *text, int64_t count, struct where at,
                     struct error *e);

/* Returns how many devices a machine must have for all of them. */
int64_t move_needs(const struct move_work *w, struct error *e);

/* How arrays are moved, as texts; NULL: not said. */
struct move_texts {
	const char *concurrent, *batch, *memory_limit, *source;
	struct where concurrent_at, batch_at, memory_limit_at, source_at;
};

/* Reads those that are there into the workload. */
enum status move_settings(struct move_work *w, const struct move_texts *t,
                          struct error *e);

/* What the command line says of a file that does not say it itself; NULL: nothing. */
struct move_ends {
	const char *from, *to; /* meshes whose axes say the scheme (scheme.h) */
	const char *devices, *to_devices, *dtype;
};

/*
 * Reads a workload, told by its form: a suite, whose scenarios are moved together and whose
 * weights say how many there are of each; a mapping with `model` or `tensors`, `from` and
 * `to`; a model.yaml (facts/model.h); or a JSON list of tensors. `w` is {.arena = a}.
 * Errors have file, line and column, or the name of the tensor.
 */
enum status move_read(struct move_work *w, const char *path,
                      const struct move_ends *ends, struct error *e);

#endif
