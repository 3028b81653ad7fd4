/* Steps of plan_interpret that send boxes. Each returns false if it cannot be run. */
#ifndef SHARDSIM_TESTS_INTERPRET_BOXES_H
#define SHARDSIM_TESTS_INTERPRET_BOXES_H

#include "interpret_step.h"

/* Finished elements are sent beside the tiles of others, or into the tiles of `after`. */
bool permute_parts(struct run_state *r, const struct step *s);
bool retile(struct run_state *r, const struct step *s);

/* The same of parts of sums, which their senders then have no more. */
bool add_boxes(struct run_state *r, const struct step *s);
bool add_tiles(struct run_state *r, const struct step *s);

#endif
