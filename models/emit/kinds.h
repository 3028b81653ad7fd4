/* The emitters, for the list in registry.c; each is at the end of the file of its name. */
#ifndef SHARDSIM_EMIT_KINDS_H
#define SHARDSIM_EMIT_KINDS_H

#include "emit/emit.h"

extern const struct emitter emitter_mpi;
extern const struct emitter emitter_goal;
extern const struct emitter emitter_msccl;
extern const struct emitter emitter_jax;
extern const struct emitter emitter_jax_p2p;
extern const struct emitter emitter_torch;
extern const struct emitter emitter_torch_p2p;
extern const struct emitter emitter_dtensor;
extern const struct emitter emitter_stablehlo;
extern const struct emitter emitter_stablehlo_test;
extern const struct emitter emitter_sdy;

#endif
