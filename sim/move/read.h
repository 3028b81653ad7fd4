/* The readers of workloads, private to sim/move. */
#ifndef SHARDSIM_SIM_MOVE_READ_H
#define SHARDSIM_SIM_MOVE_READ_H

#include "move/scheme.h"
#include "move/work.h"

/* Both ends of a move of a model or of a list of tensors. */
struct move_sides {
	struct scheme from, to;
	bool given; /* they are there; else every tensor has to say its layouts */
	const struct dtype *dtype; /* of all tensors; NULL: their own */
};

/*
 * Adds a tensor: its layouts by the schemes, its devices by its stages. `dtype` is its
 * own. `said` are the texts that the tensor has itself, which count before the schemes'.
 */
enum status move_add_tensor(struct move_work *w, const struct move_sides *sides,
                            const struct model_tensor *t, const struct dtype *dtype,
                            const struct problem_text *said, struct where at,
                            struct error *e);

/* Adds all tensors of a model (facts/model.h), or of a JSON list. */
enum status move_add_model(struct move_work *w, struct move_sides *sides,
                           const char *path, struct error *e);
enum status move_add_list(struct move_work *w, struct move_sides *sides,
                          const char *path, struct error *e);

/* Reads a mapping with `model` or `tensors`, `from` and `to`. */
enum status move_read_transfer(struct move_work *w, const char *path,
                               const struct move_ends *ends, struct error *e);

#endif
