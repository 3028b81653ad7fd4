/*
 * Bytes and memory of a plan: the figures of plan.h in closed form (spec
 * redistribution.md 3, design 3 "memory").
 *
 * Received and sent bytes of a device, M its tile before the step, q the group size:
 *   slice 0; all-gather M (q - 1); all-to-all M (1 - 1/q); permute M unless the device
 *   is paired with itself. Each is also what it sends.
 * peak_array_bytes: the largest tile before or after any step.
 * peak_live_bytes:  the largest, over steps, of source tile + operand (unless it is the
 *                   source) + result; a plan without steps holds its source tile.
 */
#ifndef SHARDSIM_PLAN_MEMORY_H
#define SHARDSIM_PLAN_MEMORY_H

#include "plan/plan.h"

/* Fill the byte and memory figures of all steps and of the plan. */
void memory_account(struct plan *p);

#endif
