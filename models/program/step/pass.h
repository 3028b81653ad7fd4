/*
 * A pass of a layer that is being written, forward or backward, and what both write. Private
 * to program/step.
 */
#ifndef SHARDSIM_PROGRAM_STEP_PASS_H
#define SHARDSIM_PROGRAM_STEP_PASS_H

#include "program/step/layer.h"

enum { ROUNDED_MAX = 64 };

/* Parameters as they are gathered, and what was made. */
struct pass {
	struct step_writer *w;
	const struct layer_shape *s;
	/* Arrays that projections read, as they are and rounded. */
	struct array_of exact[ROUNDED_MAX], rounded[ROUNDED_MAX];
	int nrounded;
	struct array_of param[LAYER_PARAMS];
	struct array_of kept[LAYER_KEPT];
	struct array_of grad[LAYER_PARAMS];
};

/* Gathers the parts of all parameters of dense layers in one collective, of experts in another. */
void pass_gather_params(struct pass *p, const struct array_of *part);

/* Reduces the gradients to the parts that the device keeps, in the order of the parts. */
void pass_scatter_grads(struct pass *p, struct array_of *out);

/* A projection and its gradient; the results are of the layer's type. */
struct array_of pass_product(struct pass *p, const char *name, struct array_of x,
                             struct array_of y, bool back);
struct array_of pass_product_grad(struct pass *p, const char *name, struct array_of x,
                                  struct array_of y);

/* What eager frameworks move besides: n kernels that read and write x. */
void pass_eager(struct pass *p, struct array_of x, int n);

/* The tokens that norms hold to those that projections read, and partial sums back. */
struct array_of pass_gathered(struct pass *p, struct array_of x);
struct array_of pass_reduced(struct pass *p, struct array_of x);

/* The text behind the operands of an attention kernel. */
const char *pass_attention(const struct pass *p, bool back);

/* Dropout, which keeps its mask, and its gradient. */
struct array_of pass_dropped(struct pass *p, enum layer_kept mask, struct array_of x);
struct array_of pass_dropped_back(struct pass *p, enum layer_kept mask,
                                  struct array_of d);

/* The scores of attention that is no kernel of its own. */
struct array_of pass_scores(struct pass *p, struct array_of q, struct array_of k);

/* Positions rotated into queries or keys. */
struct array_of pass_rotated(struct pass *p, struct array_of x);

/* Tokens to their experts, or of `back` the other way. */
struct array_of pass_dispatch(struct pass *p, struct array_of x, bool back);

/* The pass over a whole layer: the next x of x, and its gradient of that of the result. */
struct array_of layer_forward(struct pass *p, struct array_of x);
struct array_of layer_backward(struct pass *p, struct array_of dy);

#endif
