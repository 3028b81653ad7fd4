/*
 * The five spellings of a layout. Each reader fills one `struct layout`, each
 * printer prints from it; print(read(t)) is canonical and has the same tiles. What a
 * spelling cannot say is an error that names the axis.
 *
 *   JAX      P('x', None)   P(('x','y'), None)   PartitionSpec(...)   unreduced={'x'}
 *   HLO      {devices=[2,1,4]<=[8] last_tile_dim_replicate}   {replicated}
 *            {devices=[2,2]0,2,1,3}   {maximal device=0}
 *   Shardy   [{"x"}, {"y":(1)2, ?}p1]   #sdy.sharding<@mesh, [...], replicated={"a"}>
 *   DTensor  [Shard(0), Replicate()]   S(0)R   S(0)[0]S(0)[1]   S(0)[1,0]   Partial()
 *            [_StridedShard(dim=0, sf=2), Shard(-1)]   _S(0, 2)S(0)
 *   paper    [32{x}128, 8{}8]: local{axes}global, axes MINOR to major
 */
#ifndef SHARDSIM_NOTATION_NOTATION_H
#define SHARDSIM_NOTATION_NOTATION_H

#include "array/layout.h"

enum notation {
	NOTATION_JAX,
	NOTATION_HLO,
	NOTATION_SHARDY,
	NOTATION_DTENSOR,
	NOTATION_PAPER,
	NOTATIONS
};

const char *notation_name(enum notation n); /* "jax", "hlo", "shardy", ... */

/* Returns the spelling a text is in, by its form alone, or NOTATIONS if it is none. */
enum notation notation_detect(const char *text);

/*
 * Read a layout of an array of shape `shape` over `mesh`. Trailing dimensions that a
 * PartitionSpec leaves out are None. An HLO device list that sub-axes of the mesh can
 * say becomes LAYOUT_AXES, any other LAYOUT_TILES. Errors have the place in the text:
 * unknown axis (with the known ones), axis used twice, sub-axis that does not divide
 * its axis, another rank than the array's, device numbers that are no permutation,
 * another number of devices than the mesh's; paper: local size that does not fit the
 * global one.
 */
enum status layout_parse(struct layout *out, const struct mesh *mesh,
                         const struct shape *shape, struct arena *a, const char *text,
                         struct where at, struct error *e);

/* Does what layout_parse does, for one spelling. */
enum status jax_parse(struct layout *out, const struct mesh *mesh,
                      const struct shape *shape, struct arena *a, struct scan *s);
enum status hlo_parse(struct layout *out, const struct mesh *mesh,
                      const struct shape *shape, struct arena *a, struct scan *s);
enum status shardy_parse(struct layout *out, const struct mesh *mesh,
                         const struct shape *shape, struct arena *a, struct scan *s);
enum status dtensor_parse(struct layout *out, const struct mesh *mesh,
                          const struct shape *shape, struct arena *a, struct scan *s);
enum status paper_parse(struct layout *out, const struct mesh *mesh,
                        const struct shape *shape, struct arena *a, struct scan *s);

/*
 * The mesh of problems given by HLO texts alone: the one that the first text that does
 * names, {mesh['x'=4], ...}; else axes `axis_0`, `axis_1`, ... whose sizes are the
 * coarsest digits in which the device lists of both texts can be said; one axis of N
 * where each has digits but they conflict (its sub-axes can say both, one after the
 * other), the digits of the one text that has any, and one axis per prime factor of N,
 * in falling stride, where neither has. `num_devices` 0: the device lists tell. Error
 * when the texts are not HLO or disagree on N.
 */
enum status hlo_mesh(struct mesh *out, struct arena *a, const char *from,
                     struct where from_at, const char *to, struct where to_at,
                     int64_t num_devices, struct error *e);

/*
 * Prints in one spelling; returns false with the reason in `why` (naming the axis) when
 * the spelling cannot say it: sub-axes in JAX, two orders of axes in plain DTensor, ...
 */
bool layout_print_as(struct text *out, enum notation n, const struct layout *l,
                     const struct mesh *mesh, const struct shape *shape,
                     struct text *why);

/* Prints it as JAX if that can say it, else as Shardy, else as HLO. Always succeeds. */
void layout_print(struct text *out, const struct layout *l, const struct mesh *mesh,
                  const struct shape *shape);

#endif
