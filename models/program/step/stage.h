/* The stage of a pipeline whose program is written. Private to program/step. */
#ifndef SHARDSIM_PROGRAM_STEP_STAGE_H
#define SHARDSIM_PROGRAM_STEP_STAGE_H

#include "program/step/layer.h"

enum { KINDS = 2, EXTRAS = 3 };

/* What a device keeps besides layers: the embedding, the head, the last norm. */
enum { EXTRA_EMBEDDING, EXTRA_NORM, EXTRA_HEAD };

struct stage {
	struct step_writer w;
	const struct architecture *m;
	const char *type, *master;
	struct layer kind[KINDS]; /* dense, with experts */
	int64_t layers, first;    /* of this stage; the number of its first layer */
	struct layer_param extra[EXTRAS];
	struct array_of extra_part[EXTRAS];
	int64_t parts; /* of all layers and extras */
	struct array_of *part;
	bool *of_experts;
	const char *micro; /* the computation of a micro batch */
	bool embeds;
};

/* Returns whether a model divides by the degrees; else appends the reason. */
bool step_divides(const struct architecture *m, const struct step_degrees *d,
                  struct text *why);

/* Returns what layer i of the stage is. */
const struct layer *stage_layer(const struct stage *g, int64_t i);

/* Lists the parts of parameters that a device keeps. */
void stage_list_parts(struct stage *g);

/* A micro batch as a computation of the parts, which gives their gradients. */
void stage_write_micro(struct stage *g);

/* The entry: parts and states of the optimizer in, the new ones out. */
void stage_write_entry(struct stage *g, int64_t micro_batches);

/* Results take the place of the arguments, which have the same order. */
void stage_print_aliases(struct text *out, int64_t n);

/* Returns how many moments the optimizer keeps of a parameter. */
int stage_moments(const struct architecture *m);

#endif
