/* What the generators of scenarios share. Private to generate*.c. */
#ifndef SHARDSIM_SIM_SUITE_GENERATE_H
#define SHARDSIM_SIM_SUITE_GENERATE_H

#include "suite/suite.h"

#include "base/rng.h"

/* Returns `l` with `part` inserted as number `at` of dimension `dim`. */
struct layout generate_insert(const struct layout *l, int dim, int at, struct part part);

/* Places `part` anywhere in a dimension at random, or in none. */
void generate_place(struct layout *l, struct rng *r, struct part part);

/* Returns the layout in the notation of scenarios; the text is the suite's. */
const char *generate_layout_text(struct suite *s, const struct layout *l,
                                 const struct mesh *m, const struct shape *shape);

/* Appends the scenario `family`-`number`; texts are borrowed from the suite's arena. */
void generate_add(struct suite *s, const struct generate *g, const char *family,
                  int64_t number, const char *array, const char *mesh, const char *from,
                  const char *to);

/* Does what suite_generate() does for `kind: layouts`. */
enum status generate_layouts(struct suite *s, const struct generate *g, struct error *e);

#endif
