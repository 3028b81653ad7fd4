/*
 * A training step of a model as a program on whole arrays, which a search for shardings
 * cuts: forward, backward and the optimizer, one layer after another, as HLO's text.
 *
 * Layers of one kind are one computation, which is called as often as there are such
 * layers. Arguments have the names of the tensors in op_name: `layers.3.attention.wq`,
 * `layers.3.mlp.w1`, their optimizer's states behind these (`.master`, `.mean`,
 * `.square`), then `tokens` and `targets`. Parameters and states take the place of their
 * arguments.
 *
 *   norms        a mean (of layer norms) and a mean of squares, a weight, a bias
 *   attention    projections wq, wk, wv [hidden, heads x head_dim], wo; one kernel where
 *                train.attention says so, else scores and a softmax. Positions that are
 *                rotated stand as one elementwise op, for they move nothing
 *   mlp          w1 [hidden, ffn] (and a gate), w2; x times a sigmoid between them
 *   experts      a router over `experts`; each expert takes the same number of tokens of a
 *                sequence, top_k x seq / experts times the capacity. Which ones depends on
 *                data that no one has: they are constants
 *   loss         cross entropy, or without a head the sum of (x - targets)^2
 */
#ifndef SHARDSIM_AUTOMAP_TRAIN_H
#define SHARDSIM_AUTOMAP_TRAIN_H

#include "base/arena.h"
#include "program/model.h"

/* Appends the text. False with the reason in `why` where the model does not say enough. */
bool train_text(struct text *out, const struct architecture *m, struct text *why);

#endif
