/* The blocks of a training step: embedding, layers, loss. Private to train*.c. */
#ifndef SHARDSIM_AUTOMAP_TRAIN_LAYER_H
#define SHARDSIM_AUTOMAP_TRAIN_LAYER_H

#include "automap/tape.h"
#include "program/model.h"

enum { WEIGHTS_MAX = 32 };

struct weight {
	const char *name; /* within the layer: attention.wq */
	struct term term; /* its type and shape */
};

/* A block and the parameters among its arguments, which come last. */
struct train_block {
	struct block block;
	int ninputs; /* arguments before the parameters */
	int n;
	struct weight weight[WEIGHTS_MAX];
};

/* x, then the parameters; gives the next x. */
void train_layer(struct train_block *out, struct tape *t, const struct architecture *m,
                 bool experts);

/* tokens, then the table (and positions). */
void train_embedding(struct train_block *out, struct tape *t,
                     const struct architecture *m);

/* x, targets, then the last norm and the head; gives the loss. */
void train_loss(struct train_block *out, struct tape *t, const struct architecture *m);

#endif
