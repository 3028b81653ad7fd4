/*
 * The hierarchy of a system: levels from the outermost to the devices, each instance of
 * a level having as many children as the next level's size (Xie et al. 2022, 2: "system
 * hierarchy"). Devices are numbered by the mixed radix of their places, outermost level
 * most major.
 */
#ifndef SHARDSIM_PLACEMENT_HIERARCHY_H
#define SHARDSIM_PLACEMENT_HIERARCHY_H

#include "base/arena.h"
#include "base/error.h"

#include <stdint.h>

/*
 * Of a text; a synthesis hierarchy may have all prime factors of its devices, and a
 * root.
 */
enum { HIERARCHY_LEVELS_MAX = 16, HIERARCHY_FACTORS_MAX = 24 };

struct level {
	const char *name; /* NULL where the text gave none */
	int32_t size;     /* >= 1 */
};

struct hierarchy {
	int nlevels;
	struct level level[HIERARCHY_FACTORS_MAX];
	int32_t ndevices; /* product of the sizes */
	/*
	 * The platform device of each device, [ndevices]; NULL where they are the first ones in
	 * order. Synthesis hierarchies have none.
	 */
	const int32_t *on;
};

/*
 * Read `rack 1, server 4, gpu 16`, or the bare sizes `1,4,16`; names are the arena's.
 * Errors: names for some levels only, a name twice, the name `root` (which is that of
 * the level above all), a size below 1, more than HIERARCHY_LEVELS_MAX levels or
 * MESH_DEVICES_MAX devices.
 */
enum status hierarchy_parse(struct hierarchy *out, struct arena *a, const char *text,
                            struct where at, struct error *e);

/* Prints what hierarchy_parse reads: `rack 1, server 4, gpu 16` or `1,4,16`. */
void hierarchy_print(struct text *out, const struct hierarchy *h);

/* Adds an innermost level, whose name is borrowed. An empty hierarchy is {0}. */
void hierarchy_add(struct hierarchy *h, const char *name, int32_t size);

/*
 * Returns the devices under one instance of a level: the product of the sizes below it.
 */
int32_t hierarchy_stride(const struct hierarchy *h, int level);

/* Returns the number of the level with this name, -1 if none. */
int hierarchy_level(const struct hierarchy *h, const char *name, size_t length);

#endif
