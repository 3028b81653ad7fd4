/*
 * What the readers and printers of the five spellings share. Private to
 * models/notation; notation.h is the public header.
 */
#ifndef SHARDSIM_NOTATION_READ_H
#define SHARDSIM_NOTATION_READ_H

#include "notation/notation.h"

/* Returns how many bytes of a name an error message shows. */
int name_shown(size_t length);

/* Finds the axis of this name; the error, if there is none, lists the known ones. */
bool axis_find(int *axis, const struct mesh *m, struct scan *s, const char *name,
               size_t length);

/* Returns the whole of an axis. */
struct part part_whole(const struct mesh *m, int axis);

/* All parts a text has named so far: the check that none is used twice. */
struct used {
	int n;
	struct part part[LAYOUT_PARTS_MAX + MESH_AXES_MAX];
};

/*
 * Appends a part to `dim` (== rank: unreduced; < 0: to none, the text only says that it
 * replicates). Parts of size 1 count as used and are dropped. False, with an error at
 * `pos`, where the part overlaps one in `used` or cannot exist beside it.
 */
bool part_use(struct layout *l, struct used *used, int dim, struct part p,
              const struct mesh *m, struct scan *s, const char *pos);

/*
 * Does layout_normalise, and puts the unreduced parts, a set, in the order of the mesh.
 */
void layout_tidy(struct layout *l);

/*
 * Skips to the next `,` or closing bracket that belongs to no bracket or quote opened
 * on the way. Returns false with an error where the text ends before.
 */
bool skip_argument(struct scan *s);

/*
 * Reads `[{"x"}, {}], replicated={...}, unreduced={...}`, which is Shardy's and HLO's
 * named form.
 */
bool shardy_read_dims(struct layout *out, const struct mesh *mesh, struct scan *s);

/* Quotes a name for printing: in `quote`, or in the other one if the name holds it. */
void name_print(struct text *out, const char *name, char quote);

/* Returns a part of `l` that is not a whole axis, NULL if all are. */
const struct part *sub_axis_find(const struct layout *l, const struct mesh *m);

/* Printers; `l` is tidy. False with the reason in `why`. */
typedef bool layout_printer(struct text *out, const struct layout *l,
                            const struct mesh *mesh, const struct shape *shape,
                            struct text *why);
layout_printer jax_print, hlo_print, shardy_print, dtensor_print, paper_print;

#endif
