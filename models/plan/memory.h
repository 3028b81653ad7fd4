/*
 * Whether what a plan holds fits (models/README.md, "Memory"): its largest array the memory
 * limit, and all arrays that live at once the memory of a device.
 */
#ifndef SHARDSIM_PLAN_MEMORY_H
#define SHARDSIM_PLAN_MEMORY_H

#include "array/machine.h"
#include "plan/plan.h"

/*
 * Takes over the memory of the machine's devices that the problem is on, that of the
 * smallest, unless it is not known or is not to count. NULL: no machine.
 */
void problem_use_memory(struct problem *p, const struct machine *m);

/*
 * Returns whether a plan of the problem with such a peak_array_bytes and peak_live_bytes
 * does not fit; plan_over_memory() (plan.h) asks the same of a plan.
 */
bool memory_exceeded(const struct problem *p, int64_t array_bytes, int64_t live_bytes);

/*
 * Returns the peak_live_bytes of a plan whose source is not the array that is kept to the
 * end: the largest, over steps, of operand and result, with `beside_bytes` of other arrays.
 */
int64_t plan_live_beside(const struct plan *p, int64_t beside_bytes);

/*
 * Appends what such a plan needs: "needs a memory limit of at least 8192 bytes, that is
 * 8 KiB" where the limit is exceeded, "needs 118.6 GiB, the device has 16 GB" where the memory is.
 */
void memory_explain(struct text *out, const struct problem *p, int64_t array_bytes,
                    int64_t live_bytes);

#endif
