/*
 * The named tensors of a model: what a checkpoint of it holds, with shapes and what their
 * dimensions mean, from which schemes make layouts.
 *
 * Names, shapes and the number of tensors are those of the checkpoints of the library
 * Transformers, a projection being [out, in], with one difference: the experts of a layer
 * are one tensor with a dimension of experts in front. A model of 126 layers with grouped
 * queries and a gated feed-forward layer has 126 * 9 + 3 = 1137.
 */
#ifndef SHARDSIM_PROGRAM_TENSORS_H
#define SHARDSIM_PROGRAM_TENSORS_H

#include "program/model.h"

/* What a dimension runs over. */
enum tensor_axis {
	TENSOR_OTHER, /* nothing that is cut: the latent of MLA, a part of a head */
	TENSOR_HIDDEN,
	TENSOR_HEADS,    /* heads times what each has */
	TENSOR_KV_HEADS, /* the same of keys and values */
	TENSOR_FFN,
	TENSOR_VOCAB,
	TENSOR_EXPERTS
};

enum { TENSOR_RANK = 8 }; /* the models here have at most 3 dimensions */

struct model_tensor {
	const char *name;
	int rank;
	int64_t dim[TENSOR_RANK];
	enum tensor_axis axis[TENSOR_RANK];
	int64_t layer;  /* of all; -1: before the first, `layers`: behind the last */
	bool in_expert; /* of the experts that a router chooses from */
};

/* Stores the tensors of a model in the order of its layers; the arena's. */
void model_tensors(struct model_tensor **out, int64_t *n, struct arena *a,
                   const struct architecture *m);

/* Returns how many elements it has. */
int64_t model_tensor_elements(const struct model_tensor *t);

/*
 * Returns the parameters of the model, which are the elements of its tensors. Each element
 * counts, also of the experts that a token does not go through.
 */
int64_t model_parameters(const struct architecture *m);

#endif
