/*
 * Steps that were read in which boxes travel, or tiles have any extent. Private to
 * plan_read.c and plan_read_boxes.c. All are false with the reason in `why`.
 */
#ifndef SHARDSIM_PLAN_PLAN_READ_H
#define SHARDSIM_PLAN_PLAN_READ_H

#include "plan/plan_text.h"

/* Appends a permute of parts of tiles, which leaves the layout as it is. */
bool plan_add_parts(struct plan *p, const struct step_read *s, struct text *why);

/* Appends an exchange or a pad. */
bool plan_add_exchange(struct plan *p, const struct step_read *s, struct text *why);

/* Returns whether the bytes of such tiles, on all devices, can be counted. */
bool plan_extent_fits(const struct problem *q, const struct shape *s);

#endif
