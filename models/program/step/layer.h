/*
 * One layer of a step's program, forward and backward. Private to program/step.
 */
#ifndef SHARDSIM_PROGRAM_STEP_LAYER_H
#define SHARDSIM_PROGRAM_STEP_LAYER_H

#include "program/step/write.h"

/* The parameters of a layer; those that it does not have are empty. */
enum layer_param_name {
	PARAM_NORM,
	PARAM_Q_LATENT, /* of multi-head latent attention, as PARAM_KV_LATENT */
	PARAM_Q,
	PARAM_KV_LATENT,
	PARAM_K, /* with the values in multi-head latent attention */
	PARAM_V,
	PARAM_O,
	PARAM_NORM2,
	PARAM_UP, /* with the gate; of the shared experts where there are experts */
	PARAM_DOWN,
	PARAM_ROUTER,
	PARAM_EXPERT_UP,
	PARAM_EXPERT_DOWN,
	LAYER_PARAMS
};

/* What the forward pass makes and the backward pass reads. */
enum layer_kept {
	KEPT_X,
	KEPT_NORM,
	KEPT_Q_LATENT,
	KEPT_KV_LATENT,
	KEPT_Q,
	KEPT_K,
	KEPT_V,
	KEPT_SCORES, /* of attention that is no kernel of its own; before and after dropout */
	KEPT_SCORES_MASK,
	KEPT_SCORES_DROPPED,
	KEPT_ATTENTION,
	KEPT_ATTENTION_MASK,
	KEPT_X1,
	KEPT_NORM2,
	KEPT_UP,
	KEPT_ACT,
	KEPT_MASK,
	KEPT_ROWS, /* tokens at their experts */
	KEPT_EXPERT_UP,
	KEPT_EXPERT_ACT,
	LAYER_KEPT
};

/* A parameter as it is when gathered: a vector (rows 0), a matrix, or one of each expert. */
struct layer_param {
	int64_t rows, columns, experts;
};

/* The sizes of a layer on one device. */
struct layer_shape {
	const struct architecture *m;
	const char *type;         /* of activations and parameters */
	const char *residual;     /* of the sums between layers */
	const char *rounded;      /* of what projections read; NULL: type */
	int64_t batch, seq, keys; /* sequences; tokens of each here; keys of a query */
	int64_t tokens, held;     /* batch x seq; those that norms and sums hold */
	int64_t heads, kv_heads;  /* here */
	int64_t head, value;      /* columns of a head's query and key; of its value */
	int64_t ffn;              /* width here; 0: no dense part */
	int64_t experts, rows;    /* experts here, tokens of each; 0: none */
	bool gathers_tokens;      /* sequence parallelism */
	bool recomputes, regathers; /* in the backward pass: activations; parameters */
	struct layer_param param[LAYER_PARAMS];
};

struct layer {
	struct layer_shape shape;
	const char *forward, *backward; /* computations */
	/* Of the forward pass: what it hands to the backward pass. */
	int nsaved;
	struct array_of saved[LAYER_KEPT + LAYER_PARAMS];
	bool made[LAYER_KEPT];
	/* Parts of parameters that a device keeps, vectors in the order of the enum. */
	int nparts;
	struct array_of part[LAYER_PARAMS];
	bool of_experts[LAYER_PARAMS]; /* of each part */
};

/* Sets the sizes of a layer, dense or with experts. */
void layer_set_shape(struct layer_shape *s, const struct step_writer *w,
                     const struct architecture *m, bool experts);

/* Returns whether the layer has a parameter. */
bool layer_has(const struct layer_param *p);

/* Returns the elements of a parameter on a device that has gathered it. */
double layer_param_elements(const struct layer_param *p);

/* Returns the vector that a device keeps of a parameter; it is padded to equal parts. */
struct array_of layer_part(const struct step_writer *w, const struct layer_param *p,
                           const char *type);

/* Brings a gathered vector into the shape of its parameter, and back, padded to n. */
struct array_of layer_shaped(struct step_writer *w, const struct layer_param *p,
                             struct array_of x);
struct array_of layer_padded(struct step_writer *w, const struct layer_param *p,
                             struct array_of x, int64_t n);

/*
 * Writes a layer as two computations. The forward one takes x and the parts of the parameters
 * and gives the next x and what is saved. The backward one takes the gradient of the
 * result, what was saved, and the parts, and gives the gradient of x and those of the
 * parts.
 */
void layer_write(struct layer *out, struct step_writer *w, const struct architecture *m,
                 bool experts);

#endif
