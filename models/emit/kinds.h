/* The emitters, for the list in registry.c; each is at the end of the file of its name. */
#ifndef SHARDSIM_EMIT_KINDS_H
#define SHARDSIM_EMIT_KINDS_H

#include "emit/emit.h"

extern const struct emitter emitter_goal, emitter_mpi, emitter_msccl;

extern const struct emitter emitter_jax, emitter_jax_p2p, emitter_torch,
	emitter_torch_p2p, emitter_dtensor;
extern const struct emitter emitter_stablehlo, emitter_stablehlo_test, emitter_sdy;

#endif
