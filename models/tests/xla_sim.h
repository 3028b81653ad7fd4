/*
 * Programs of XLA's rules run element by element, whatever the shapes: each device
 * holds real buffers of element numbers, collectives move them, and the tiles that a
 * step claims must hold what lies there in the array.
 */
#ifndef SHARDSIM_TESTS_XLA_SIM_H
#define SHARDSIM_TESTS_XLA_SIM_H

#include "planner/xla/xla.h"

/*
 * Run a program from tiles of `s`, recorded with x->uneven set; asserts every step, and
 * that every device ends with its tile of `t`.
 */
void xla_simulate(const struct xla *x, const struct shape *array,
                  const struct tiling *s, const struct tiling *t);

#endif
