/*
 * Programs as text, in the words of Xie et al. 2022:
 *   (node, InsideGroup, ReduceScatter); (node, Parallel(root), AllReduce); ...
 * The empty program is the empty text.
 */
#ifndef SHARDSIM_PLACEMENT_PROGRAM_H
#define SHARDSIM_PLACEMENT_PROGRAM_H

#include "placement/synth.h"

/* Prints a program, with levels named as in `tree`. */
void program_print(struct text *out, const struct program *p,
                   const struct hierarchy *tree);

/*
 * Read a program on `tree`. A slice that denotes the groups of another becomes the one
 * that slices_of names them by, so equal programs are equal bytes. Errors: an unknown
 * level, an ancestor that is none, groups of one device, more than PROGRAM_STEPS_MAX
 * steps. Whether it is meaningful, synth_has() says.
 */
enum status program_parse(struct program *out, const char *text,
                          const struct hierarchy *tree, struct where at,
                          struct error *e);

#endif
