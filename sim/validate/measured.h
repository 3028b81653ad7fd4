/*
 * Published timings of collectives: platforms/measured.csv and files like it, and the
 * output of nccl-tests itself.
 *
 * CSV: columns set, system, nodes, devices, collective, bytes, time_us, busbw_GBps and,
 * if there, topology, groups, in_place, quality and source, in any order. Devices are those
 * of one group; `groups` says how many such groups run at once, one after another on the
 * machine, and is 1 where it is blank. Bytes are nccl-tests' "size": the gathered
 * array of an all-gather, the input of a reduce-scatter, else the buffer of one device.
 * A blank is a figure that was not printed; where only the bus bandwidth was, the time
 * follows from it.
 *
 * The output of nccl-tests and its like: nccl_log.h.
 */
#ifndef SHARDSIM_SIM_VALIDATE_MEASURED_H
#define SHARDSIM_SIM_VALIDATE_MEASURED_H

#include "base/arena.h"
#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

struct measured {
	const char *set, *system; /* "" from a log */
	const char *collective;   /* "all-reduce", "permute", ...; "" unknown */
	const char *quality, *source;
	const char *launch;     /* of a log: "single" or "graph", else "" */
	const char *gpu;        /* of a log: the GPU of rank 0, "" if not printed */
	int32_t nodes, devices; /* 0 if unknown; devices of each group */
	int32_t groups;         /* that run it at once; 1 of a log */
	int64_t bytes;          /* -1 if not printed */
	double time_s;          /* NaN if not printed, and not known from busbw */
	double busbw_Bps;       /* NaN if not printed */
	bool in_place;
	bool one_pair; /* a permute of one pair (p2p-copy), not of all devices */
	struct where at;
};

struct measured_table {
	bool log; /* of nccl-tests */
	int64_t n;
	struct measured *row;
};

/*
 * Reads a file of either kind; everything is the arena's. It is an error, which names
 * the line, if a column is missing, a number or a collective is none, or there is no
 * row.
 */
enum status measured_read(struct measured_table *out, struct arena *a, const char *path,
                          struct error *e);

/*
 * Checks that file number `i` is none of those before it, whose rows would count twice.
 */
enum status measured_once(const char *const *path, int i, struct error *e);

/*
 * Reads the rows of several files, one after another; no file may be there twice
 * (E_TYPE).
 */
enum status measured_read_all(struct measured_table *out, struct arena *a,
                              const char *const *path, int n, struct error *e);

#endif
