/* What draws the ops of a random program (draw_program.h), each on values that are there. */
#ifndef SHARDSIM_TESTS_DRAW_OPS_H
#define SHARDSIM_TESTS_DRAW_OPS_H

#include "base/arena.h"

#include <stdint.h>

struct array_of {
	int rank, dim[3];
};

enum { VALUES_MAX = 64 };

struct drawing {
	struct arena *a;
	uint64_t state;
	struct text text;
	struct array_of pool[VALUES_MAX]; /* of rank 0: no op takes it */
	int n;                            /* values %0 .. %(n-1) */
};

/* Returns a random number in [0, n). */
int drawing_number(struct drawing *g, int n);

const char *drawing_type(const struct drawing *g, const struct array_of *t);

void drawing_add(struct drawing *g, struct array_of t);

/* Returns a random value of the shape of `v`, which may be `v` itself. */
int drawing_like(struct drawing *g, int v);

/* Each appends ops on the value `v`. */
void draw_unary(struct drawing *g, int v, const char *op);
void draw_pieces(struct drawing *g, int v);
void draw_pad(struct drawing *g, int v);
void draw_turned(struct drawing *g, int v);
void draw_window(struct drawing *g, int v);
void draw_convolution(struct drawing *g, int v);
void draw_look(struct drawing *g, int v);
void draw_pick(struct drawing *g, int v);
void draw_update(struct drawing *g, int v);

#endif
