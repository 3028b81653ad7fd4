/*
 * The reader of tactics of one's own: a YAML list of rules, in the order in which they
 * are applied.
 *
 *	- {match: 'attention\.w[qkv]$', dim: 1, axis: model}
 *	- {match: 'mlp\.w2$', dim: 0, axis: model}
 *	- {match: 'norm', axis: model, atomic: true}
 *
 * `match` is a regular expression (POSIX, extended) on the names of arguments, `dim` the
 * dimension that is cut, from the last one if it is < 0; `atomic` arguments are not to be
 * cut on the axis at all.
 */
#ifndef SHARDSIM_FACTS_TACTIC_H
#define SHARDSIM_FACTS_TACTIC_H

#include "array/mesh.h"
#include "automap/tactic.h"
#include "base/error.h"

/* Reads the file; axes are those of the mesh. Errors have file, line and column. */
enum status tactic_read(struct tactic *out, struct arena *a, const char *path,
                        const struct mesh *mesh, struct error *e);

#endif
