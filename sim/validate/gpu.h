/* What the name of a GPU says of its generation. */
#ifndef SHARDSIM_SIM_VALIDATE_GPU_H
#define SHARDSIM_SIM_VALIDATE_GPU_H

#include "array/machine.h"

/*
 * Returns the name of the GPU in the text behind `device` in the line of a rank, such as
 * ` 0 [0x07] NVIDIA A100-SXM4-80GB`, which ends at `end`; the arena's, "" if there is none.
 */
const char *gpu_name(struct arena *a, const char *text, const char *end);

/*
 * Returns why a GPU of that name is none of the machine's, or NULL where it may be one or
 * nobody knows: by the compute capability that the machine's constants say (`cc`), or by
 * the profile of AMD's machines. The arena's.
 */
const char *gpu_differs(struct arena *a, const char *name, const struct machine *m);

#endif
