/*
 * The reader of model.yaml: an architecture in some twenty lines (scenarios/README.md,
 * "Models"), which every command that takes a model reads by this.
 */
#ifndef SHARDSIM_FACTS_MODEL_H
#define SHARDSIM_FACTS_MODEL_H

#include "base/error.h"
#include "program/model.h"

/* The most elements that a dimension of a model may have, the most layers, and in all. */
enum { MODEL_DIM_MAX = 1 << 28, MODEL_LAYERS_MAX = 10000 };
#define MODEL_PARAMETERS_MAX 1e18

/*
 * Reads the file. Fields that are not there have the values of scenarios/README.md. Errors
 * have file, line and column: an unknown field, with the one that may be meant, or one
 * that is there twice; a value of another form or beyond its range; fields that do not go
 * together; one that is missing.
 */
enum status architecture_read(struct architecture *out, struct arena *a,
                              const char *path, struct error *e);

#endif
