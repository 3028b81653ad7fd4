/*
 * The YAML side of suites, private to sim/suite/. It reads a strict subset (maps
 * without a key twice, lists, texts) and keeps places for errors.
 */
#ifndef SHARDSIM_SIM_SUITE_READER_H
#define SHARDSIM_SIM_SUITE_READER_H

#include "suite/suite.h"
#include "suite/varied.h"

#include <yaml.h>

/*
 * The values that may be lists, as nodes of the file; NULL where they are not given.
 */
struct suite_list {
	const yaml_node_t *mesh, *bytes, *parallel;
	const char *weight, *placement; /* texts that are read later */
	struct where weight_at, placement_at;
};

struct reader {
	struct suite *suite;
	struct error *error;
	const char *path;
	yaml_document_t *document;
	struct scenario defaults;
	struct suite_list default_list;
	bool machines; /* the file has platforms or settings */
};

/* Returns the place of a mark in the file. */
struct where reader_mark(const struct reader *r, yaml_mark_t mark);

/* Records an E_SYNTAX at the node, and returns the error's code. */
enum status reader_bad(struct reader *r, const yaml_node_t *node, const char *reason);

/*
 * Returns the text of a scalar, which is the suite's, and stores the place of its first
 * byte, inside any quotes.
 */
const char *reader_scalar(struct reader *r, const yaml_node_t *node, struct where *at);

/* Checks that no key is there twice; YAML lets the last of two win. */
enum status reader_check_keys(struct reader *r, const yaml_node_t *map);

struct field {
	const char *key;
	const char **text;
	struct where *at;         /* NULL where the place is not kept */
	const yaml_node_t **node; /* the value's node where that may be a list */
};

/*
 * Sets the fields that a map has; any other key is an error, which lists the known
 * ones.
 */
enum status reader_fields(struct reader *r, const yaml_node_t *map,
                          const struct field *fields);

/* Calls `item` for every node of a list. */
enum status reader_list(struct reader *r, const yaml_node_t *list,
                        enum status (*item)(struct reader *, const yaml_node_t *));

/* One of the texts that a varied field takes in turn. */
struct suite_value {
	const char *text;
	struct where at;
};

/*
 * Stores the values of a text or of a list of texts. Unless the unit is VARIED_TEXT, a
 * text may have several values with commas between, and each may be a range "1MiB..8GiB
 * x2": every value from the first on, times 2, up to the last; or "25GBps..100GBps
 * +25GBps", so much more each. It is an E_RANGE if there are more than SUITE_VALUES_MAX
 * values or none, and an E_TYPE if a number is there twice, in whatever unit.
 *
 * suite_values_text() does so for a text of the command line, which may have braces around
 * it; with them values of VARIED_TEXT may have commas between, too.
 */
enum { SUITE_VALUES_MAX = 1000 };
enum status suite_values(struct suite_value **out, int *n, struct reader *r,
                         const yaml_node_t *node, enum varied_unit unit);
enum status suite_values_text(struct suite_value **out, int *n, struct reader *r,
                              const char *text, struct where at, enum varied_unit unit);

/* Appends the scenario, or one per mesh and per size of the lists it has. */
enum status suite_vary(struct reader *r, const struct scenario *s,
                       const struct suite_list *list);

/* Appends the scenario, which is a step, or one for each of its degrees. */
enum status suite_vary_step(struct reader *r, const struct scenario *s,
                            const struct suite_list *list);

/* Read the sections `platforms`, `set` and `generate`. */
enum status suite_platforms(struct reader *r, const yaml_node_t *list);
enum status suite_settings(struct reader *r, const yaml_node_t *map);
enum status suite_generate_block(struct reader *r, const yaml_node_t *map);

#endif
