/*
 * What differs between the kinds of families: one table of functions each. Private to
 * models/facts.
 */
#ifndef SHARDSIM_FACTS_KIND_H
#define SHARDSIM_FACTS_KIND_H

#include "facts/families.h"
#include "facts/yaml_reader.h"

/* Finds the family of that name in the file at `path`; an error lists those known. */
enum status family_find(struct family *out, struct arena *a, const char *path,
                        const char *name, size_t length, struct where at,
                        struct error *e);
/* --- figures (figures.c) --- */

enum unit { UNIT_RATE, UNIT_TIME, UNIT_BYTES, UNIT_COUNT };
enum unit figure_unit(enum figure g);

/* --- settings (set.c) --- */

/*
 * Returns whether a figure can be set. Peaks are for the reader of the file: nothing is
 * computed from them.
 */
bool figure_settable(const struct family *f, enum figure g);

/*
 * "key=value" in two rounds. First what changes the structure (and so which figures are
 * used) and the profile, in the order of the kind's settings, for what a node has depends
 * on its GPUs; *at becomes the place of the last one. Then figures, constants and
 * overlays. Each passes over the other's keys.
 */
enum status settings_structure(struct family_machine *m, struct arena *a,
                               const char *spec, const char *const *set, int nset,
                               struct where *at, struct error *e);
enum status setting_figure(struct family_machine *m, struct arena *a, const char *spec,
                           const char *set, struct error *e);

/* The value of a constant: a time, a rate or a number, by its name's unit. */
enum status tuning_value_parse(double *out, enum tuning_key key, const char *text,
                               struct where at, struct error *e);

/*
 * Figures that are used and not given get their standard value; those without one are an
 * error at `at`, which names them all.
 */
enum status figures_complete(struct family *f, struct where at, struct error *e);

/* --- overlays (overlay.c) --- */

/* Returns "slow_link" and so on. */
const char *overlay_name(enum overlay_kind kind);

/* Adds the overlays of one setting's value to the machine's. */
enum status overlay_read(struct family_machine *m, struct arena *a,
                         enum overlay_kind kind, const char *text, struct where at,
                         struct error *e);

/* --- kinds --- */

struct kind {
	const char *name;        /* in families.yaml */
	const char *const *keys; /* its own top-level keys, ends with NULL */
	/* Reads those; the profile is there, figures are not yet. */
	enum status (*read)(struct reader *r, yaml_node_t *map, struct family *f);
	/* What `--set` takes of the structure, ends with NULL; sets keys[key]. */
	const char *const *settings;
	enum status (*set)(struct family *f, struct arena *a, int key,
	                   const char *value, struct where at, struct error *e);
	/* Fills the shape from the text behind the colon, up to `,key=value`. */
	enum status (*shape)(struct family_machine *m, struct scan *s, const char *text);
	/*
	 * Makes the machine whole when the structure is set: wrap, ndevices. `at` is the
	 * place of the last such setting, or of the shape.
	 */
	enum status (*settle)(struct family_machine *m, struct arena *a,
	                      struct where at, struct error *e);
	void (*describe)(struct text *what, struct text *shapes, const struct family *f);
};

extern const struct kind kind_torus, kind_nodes;

const struct kind *kind_of(const struct family *f);

/* For shape(): each sorted length is at most `largest`, the product times `per`. */
enum status shape_bounds(struct family_machine *m, int32_t per, struct scan *s,
                         const char *text);

#endif
