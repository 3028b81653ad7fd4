/*
 * Which machine a published timing was taken on: a YAML file beside the timings
 * (platforms/measured.yaml), a list of entries. A row belongs to the first entry that
 * matches it:
 *
 *   - set: xxrjun-*          the row's set; a * at the end stands for any rest
 *     system: H200           (optional) a part of the row's system
 *     devices: 128           (optional) the row's number of devices
 *     platform: dgx-h100:{nodes}    family:shape; {nodes} is the row's number
 *     units: 2               (optional) nodes or racks the devices are spread over evenly,
 *                            the first ones of each; default the row's nodes
 *     stride: 2              (optional) of the devices taken in a unit
 *     order: 0-1,3,2         (optional) the group's order of those devices
 *     mesh: g=2,x=4, axis: x (optional) all groups along an axis at once; the row's
 *                            devices are then one group's
 *     launch: single         (optional) process, single, bound, graph, xla, eager or mpi; or untold:
 *                            the source does not tell, the rows are run as by default, and
 *                            are of no known way (validate/ways.h)
 *     algorithm, protocol    (optional) where the source says that it forced one
 *     settings: {KEY: VALUE} (optional) hardware that the source states
 *     cluster: xxrjun        (optional) one name for the sets of one machine, which errors of
 *                            theirs may share (fit/intervals.h); default the set's
 *     source: "..."          what says so
 *     note: "..."            (optional) what the simulator lacks for these rows
 *   - set: nt100
 *     unmapped: "reason"     rows that are not run, and why
 *
 * Nothing is said of single rows or sizes.
 */
#ifndef SHARDSIM_SIM_VALIDATE_MAPPING_H
#define SHARDSIM_SIM_VALIDATE_MAPPING_H

#include "base/arena.h"
#include "base/error.h"
#include "validate/measured.h"

enum { MAPPING_SETTINGS_MAX = 16 };

struct mapping_entry {
	const char *set, *system; /* system NULL: any */
	int32_t devices, units;   /* 0: any; the row's nodes */
	int32_t stride;
	const char *platform, *unmapped; /* one of them is NULL */
	const char *order, *mesh, *axis, *launch, *algorithm, *protocol;
	bool untold;         /* nobody tells who called; `launch` is NULL */
	const char *cluster; /* NULL: the set is one alone */
	const char *note;
	int nsettings;
	const char *setting[MAPPING_SETTINGS_MAX]; /* "key=value" */
	struct where at;
};

struct mapping {
	int n;
	struct mapping_entry *entry;
};

/*
 * Reads a mapping. Errors name the line and column of the file; texts are the arena's.
 */
enum status mapping_read(struct mapping *out, struct arena *a, const char *path,
                         struct error *e);

/* Returns the path of the timings with the ending .yaml; it is the arena's. */
const char *mapping_beside(struct arena *a, const char *timings);

/* Returns the entry that a row belongs to, or NULL. */
const struct mapping_entry *mapping_find(const struct mapping *m,
                                         const struct measured *row);

/* Returns the platform of an entry for a row with `{nodes}` filled in; the arena's. */
const char *mapping_platform(const struct mapping_entry *m, const struct measured *row,
                             struct arena *a);

#endif
