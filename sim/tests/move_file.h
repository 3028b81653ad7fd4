/* Workloads as texts, for tests. */
#ifndef SHARDSIM_SIM_TESTS_MOVE_FILE_H
#define SHARDSIM_SIM_TESTS_MOVE_FILE_H

#include "move/work.h"

/* A scenario of one array of 1 MB that goes from one platform device to another. */
#define ONE(name, from, to)                                                            \
	"  - {name: " name                                                             \
	", array: 'u8[1000000]', mesh: a=1, to_mesh: b=1, from: P(), "                 \
	"to: P(), devices: '" from "', to_devices: '" to "'}\n"

extern const struct move_ends no_ends;

/* Writes a text to a file of its own, whose name ends so; the caller unlinks it. */
const char *move_file(struct arena *a, const char *text, const char *ending);

/* Reads a text as a workload; it must be one. */
struct move_work move_read_ok(struct arena *a, const char *text, const char *ending,
                              const struct move_ends *ends);

#endif
