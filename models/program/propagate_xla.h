/* XLA's propagation over the steps of a program. Private to propagate*.c. */
#ifndef SHARDSIM_PROGRAM_PROPAGATE_XLA_H
#define SHARDSIM_PROGRAM_PROPAGATE_XLA_H

#include "program/propagate_op.h"

/* Hands the shardings on over `n` steps, which stand in the order of the program. */
void propagate_xla(struct shardings *s, struct arena *a, const struct program *p,
                   const struct flow_step *step, int64_t n);

#endif
