/* Ops of the interpreter that look elements up, through windows or by index. */
#ifndef SHARDSIM_TESTS_INTERPRET_LOOK_H
#define SHARDSIM_TESTS_INTERPRET_LOOK_H

#include "program/program.h"
#include "tests/tensor.h"

/* Of two numbers; an op that is not known aborts the test. */
double interpret_apply(enum opcode code, double x, double y);

/* Each fills `out`, whose shape is the result's, from the operands. */
void interpret_pad(struct tensor *out, const struct instruction *op,
                   const struct tensor *const *in);
void interpret_reduce_window(struct tensor *out, const struct program *p,
                             const struct instruction *op,
                             const struct tensor *const *in);
void interpret_convolution(struct tensor *out, const struct instruction *op,
                           const struct tensor *const *in);
void interpret_gather(struct tensor *out, const struct instruction *op,
                      const struct tensor *const *in);
void interpret_scatter(struct tensor *out, const struct program *p,
                       const struct instruction *op, const struct tensor *const *in);

#endif
