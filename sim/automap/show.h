/* The answer of a search for shardings, as text, as JSON and in the words of other systems. */
#ifndef SHARDSIM_SIM_AUTOMAP_SHOW_H
#define SHARDSIM_SIM_AUTOMAP_SHOW_H

#include "array/layout.h"
#include "automap/load.h"
#include "automap/run.h"
#include "measure/likely.h"

struct automap_show {
	const char *name; /* of the program or model */
	const struct automap_program *program;
	const char *platform; /* NULL: none */
	const struct automap_ask *ask;
	const struct automap_answer *answer;
	const struct likely_table *likely; /* of JSON */
};

void automap_show_text(struct text *out, struct arena *a, const struct automap_show *s);
void automap_show_json(struct text *out, struct arena *a, const struct automap_show *s);

/* Writes that nothing fits, and what the least memory is, of an answer that fails (automap_fails()). */
void automap_show_failure(struct text *out, const struct automap_show *s);

/*
 * Writes the shardings for another system:
 *   annotate  the program's own text, with the shardings of all its values in it
 *   sdy       the same of StableHLO; of HLO a mesh, and attributes for the arguments of a function
 *   jax       a mesh and in_shardings
 *   dtensor   placements for distribute_tensor(), and styles of modules for parallelize_module()
 * Returns false if the kind is none of these or, with the reason in `why`, cannot be written. With
 * true `why` may hold a remark.
 */
bool automap_emit(struct text *out, struct arena *a, const char *kind,
                  const struct automap_show *s, struct text *why);

/* Writes what `annotate` does; false with the reason in `why`. */
bool automap_annotate(struct text *out, struct arena *a, const struct automap_show *s,
                      struct text *why);

/* Returns the layout of a value of the graph on the mesh of the answer. */
struct layout automap_layout(const struct automap_found *f, const struct graph *g,
                             int32_t value);

/* Returns the same of a group's arguments. */
struct layout automap_group_layout(const struct automap_found *f, const struct graph *g,
                                   int32_t group);

/* Returns that layout in JAX's words; the arena's. */
const char *automap_layout_text(struct arena *a, const struct automap_found *f,
                                const struct graph *g, int32_t group);

#endif
