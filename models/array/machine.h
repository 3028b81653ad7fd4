/*
 * A machine as plain data: devices, fabrics, links and geometry. Read from a platform
 * file by sim/platform, or built by the makers below for tests. Links are numbered; a
 * route is computed from the geometry, or asked through a callback where no geometry
 * tells it, and never stored for all pairs.
 *
 * A device has one port ("host" in SimGrid) per fabric it is on. The ports of one fabric
 * and one domain reach each other (the eight GPUs of a node on `nvlink`, all NICs on
 * `net`, all chips of a pod on `ici`). A message takes the fabric with the lowest
 * `priority` whose domain holds both devices (design 6).
 *
 * Link bandwidths are one-way usable bytes per second; the two directions of a cable are
 * two links.
 */
#ifndef SHARDSIM_ARRAY_MACHINE_H
#define SHARDSIM_ARRAY_MACHINE_H

#include "array/tuning.h"
#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>

enum {
	MACHINE_FABRICS_MAX = 4,
	TORUS_AXES_MAX = 6,
	ROUTE_LINKS_MAX = 4096 /* of one route; a longer one is an error of the machine */
};

struct link {
	const char *name;
	double bandwidth_Bps, latency_s;
};

struct device {
	double memory_bytes;
	double memory_Bps; /* local passes; 0 means free (design 3) */
	double launch_s;   /* per communicating step and stand-alone local step */
};

enum geometry {
	GEOMETRY_TORUS, /* neighbours along axes, some of which wrap */
	GEOMETRY_SWITCH, /* one up and one down link per port, nothing in between shared */
	GEOMETRY_GRAPH /* any: routes are asked through the callback */
};

struct fabric {
	const char *name;    /* ici, nvlink, net */
	const char *profile; /* whose collectives it runs (collective/profile.h) */
	int priority;        /* 0 first */
	enum geometry geometry;
	int ndomains;
	const int32_t *domain; /* [ndevices]: domain of the device's port, -1 without one */
	/*
	 * Torus: every domain has shape[0..naxes), last axis fastest. `place[d]` is the
	 * row-major number of device d in its domain, `at[domain * places + place]` the
	 * device there (places: the product of shape). A 2-long axis has one cable and never
	 * wraps. `port[d * 2 * naxes + 2 * a]` is the link from d to its neighbour at +1
	 * along axis a, `+ 1` the one at -1; -1 where there is none.
	 * Switch: `port[2 * d]` is the link up from d, `port[2 * d + 1]` the one down to it.
	 */
	int naxes;
	int32_t shape[TORUS_AXES_MAX];
	bool wrap[TORUS_AXES_MAX];
	const int32_t *place;
	const int32_t *at;
	const int32_t *port;
};

/*
 * What a user forces on the collectives of a machine; NULL: the profile chooses. The
 * names are those of collective/profile.h.
 */
struct forced {
	const char *algorithm, *protocol;
};

/* How collectives are started: what of the launch is paid (collective/profile.h). */
enum launch_mode {
	LAUNCH_PROCESS, /* one process per device */
	LAUNCH_SINGLE,  /* one process launches on all devices, one after another */
	LAUNCH_GRAPH    /* captured in a graph */
};

struct machine;

/*
 * The links from src to dst in order, at most `capacity` of them, into `links`; the
 * number of links, or -1 when fabric `f` does not join the two. src == dst: 0 links.
 */
typedef int machine_route_fn(const struct machine *m, int f, int32_t src, int32_t dst,
                             int32_t *links, int capacity);

struct machine {
	const char *name; /* as the user typed it: tpu-v4:4x4x4, my.xml */
	int32_t ndevices;
	const struct device *device; /* [ndevices] */
	int nfabrics;
	struct fabric fabric[MACHINE_FABRICS_MAX]; /* by rising priority */
	int32_t nlinks;
	const struct link *link;
	struct tuning tuning;
	struct forced forced;
	enum launch_mode launch;
	machine_route_fn *ask; /* for GEOMETRY_GRAPH; NULL if no fabric is one */
	void *ask_state;
};

/* Torus: the number of places of one domain, the product of its shape. */
int32_t fabric_places(const struct fabric *f);

/*
 * Torus: the device one step from d along an axis, `dir` +1 or -1; -1 where the axis ends.
 */
int32_t fabric_neighbour(const struct fabric *f, int32_t d, int axis, int dir);

/* The fabric a message from src to dst takes, -1 if none joins them. */
int machine_fabric(const struct machine *m, int32_t src, int32_t dst);

/*
 * As machine_route_fn, from the geometry. Torus: axis by axis, LAST axis first, the
 * shorter way round; an exact half is broken as SimGrid's torus zone breaks it: from
 * coordinate c to t on a wrapped axis of even length n with |c - t| = n/2, up (+1) if
 * t > c, or if c > n/2; else down.
 */
int machine_route(const struct machine *m, int f, int32_t src, int32_t dst,
                  int32_t *links, int capacity);

/* Sum of the latencies of the route, seconds; < 0 when there is none. */
double machine_latency(const struct machine *m, int f, int32_t src, int32_t dst);

/*
 * Makers, for tests and for planning without a platform file. All memory is the arena's.
 * machine_torus: one fabric `ici`, one domain, profile "tpu", all links alike.
 * machine_gpu: `nodes` x `gpus` devices; fabric `nvlink` (priority 0, one switch domain
 * per node) and, for more than one node, `net` (priority 1, one switch of all NICs),
 * profile "nccl". A link's latency here is that of one of the two links (up or down).
 */
struct machine *machine_torus(struct arena *a, int naxes, const int32_t *shape,
                              const bool *wrap, struct link link, struct device device);
struct machine *machine_gpu(struct arena *a, int32_t nodes, int32_t gpus,
                            struct link nvlink, struct link nic, struct device device);

#endif
