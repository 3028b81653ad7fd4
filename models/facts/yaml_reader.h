/*
 * YAML files of ours (families, mappings) as libyaml's documents, with the place of every
 * node for errors. Texts that are given out are the arena's; the first error stays.
 */
#ifndef SHARDSIM_FACTS_YAML_READER_H
#define SHARDSIM_FACTS_YAML_READER_H

#include "base/arena.h"
#include "base/error.h"

#include <stdint.h>
#include <yaml.h>

struct reader {
	struct arena *arena;
	const char *path;
	yaml_document_t doc;
	struct error *error; /* never NULL */
};

/*
 * Reads the file's first document and hands it to `read`, which fills `out`. Errors: no
 * file, no YAML, and those of `read`.
 */
enum status yaml_read(struct arena *a, const char *path,
                      enum status (*read)(struct reader *r, void *out), void *out,
                      struct error *e);

/* Returns the place of a node in its file. */
struct where node_where(const struct reader *r, const yaml_node_t *node);

/* Returns the text of a scalar, borrowed from the document; NULL for any other node. */
const char *node_text(const yaml_node_t *node);

/* Returns the value of `key` in a mapping, NULL where it is not there. */
yaml_node_t *map_find(struct reader *r, yaml_node_t *map, const char *key);

/* Does the same, but a missing key is an error. */
yaml_node_t *map_get(struct reader *r, yaml_node_t *map, const char *key);

/* Every key of the mapping must be one of `known`, a list that ends with NULL. */
enum status map_check(struct reader *r, yaml_node_t *map, const char *const *known);

/* Returns the text of `key`; NULL with an error where it is missing or not a text. */
const char *map_text(struct reader *r, yaml_node_t *map, const char *key,
                     struct where *at);

/* Returns a number from 1 to `hi`; 0 with an error where there is none. */
int32_t map_int(struct reader *r, yaml_node_t *map, const char *key, int32_t hi);

#endif
