/* The program that a search is about: a compiler's dump, or the training step of a model. */
#ifndef SHARDSIM_SIM_AUTOMAP_LOAD_H
#define SHARDSIM_SIM_AUTOMAP_LOAD_H

#include "automap/graph.h"
#include "base/error.h"
#include "program/model.h"
#include "program/sharding.h"

struct automap_program {
	const char *name;
	struct text text; /* of a model's step, which the caller frees; else empty */
	struct program program;
	struct graph graph;
	struct shardings given; /* by the text; of a mesh without axes: none are */
	/* Of a pass of the model, on all devices together; NaN: there is no model. */
	double tokens, model_flops;
};

/*
 * What the caller says in place of the model's `train`; 0: nothing. Of a program none but
 * `recompute` may be said.
 */
struct automap_train {
	int64_t batch, seq;
	int64_t micro_batches; /* into which the batch is cut; the program is that of one of them */
	bool recompute; /* there must be layers to compute again; the program is the same */
};

/*
 * Reads a file that ends in .yaml as a model, any other as a program; `like` are the
 * groups of graph_make(). All is the arena's. Errors have their place.
 */
enum status automap_load(struct automap_program *out, struct arena *a, const char *path,
                         struct automap_train train, const char *const *like, int nlike,
                         struct error *e);

/*
 * The step of a model that is read already, one micro batch of all of its train.global_batch; `path`
 * names it in errors.
 */
enum status automap_of_model(struct automap_program *out, struct arena *a,
                             const struct architecture *m, const char *path,
                             struct error *e);

#endif
