/*
 * A machine as plain data: devices, fabrics, links and geometry. Read from a platform
 * file by sim/platform, or built by the makers below for tests. Links are numbered; a
 * route is computed from the geometry, or asked through a callback where no geometry
 * tells it, and never stored for all pairs.
 *
 * A device has one port ("host" in SimGrid) per fabric it is on. The ports of one fabric
 * and one domain reach each other (the eight GPUs of a node on `nvlink`, all NICs on
 * `net`, all chips of a pod on `ici`). A message takes the fabric with the lowest
 * `priority` whose domain holds both devices. Several devices may share one port of a
 * fabric (two GPUs one NIC, two cores one chip): messages between those never take that
 * fabric, another one joins them.
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
	double memory_bytes; /* 0: unknown */
	double memory_Bps;   /* of local passes; 0: they are free */
	double launch_s;     /* per communicating step and stand-alone local step */
};

enum geometry {
	GEOMETRY_TORUS, /* neighbours along axes, some of which wrap; or twisted */
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
	 * Port number h is that of devices h * share to h * share + share - 1; usually 1.
	 * All that is said of devices below holds for each of those alike.
	 */
	int32_t share;
	/*
	 * Torus: every domain has shape[0..naxes), last axis fastest. `place[d]` is the
	 * row-major number of device d in its domain, `at[domain * places + place]` the
	 * (first) device there (places: the product of shape). A 2-long axis has one cable
	 * and never wraps. `port[d * 2 * naxes + 2 * a]` is the link from d to its neighbour
	 * at +1 along axis a, `+ 1` the one at -1; -1 where there is none.
	 *
	 * Twisted torus (TPU v4 paper, arXiv 2304.01433, section 2.8): `twist` is n > 0, every
	 * axis is n (short) or 2n (long) devices long, both kinds are there. A long axis
	 * wraps: its lines are rings of 2n. Going round a short axis leads back to the first
	 * coordinate of that axis, but n further along every long axis: `wrap` is false,
	 * for a line of n along it does not close, yet every device has both neighbours.
	 * Twice round closes: a ring of 2n through two lines of the short axis.
	 * Switch: `port[2 * d]` is the link up from d, `port[2 * d + 1]` the one down to it.
	 * A torus that lacks cables is a graph with the shape, wrap, place and at of the
	 * whole torus, and, where all routes run along its cables, the ports of those (-1
	 * where one is missing), else NULL; other graphs have no axes and no ports.
	 * Graph: routes from d begin with one of end[end_first[2 * d]..end_first[2 * d + 1])
	 * and those to d end with one of end[end_first[2 * d + 1]..end_first[2 * d + 2]);
	 * `end_first` is NULL where that is not known.
	 */
	int naxes;
	int32_t shape[TORUS_AXES_MAX];
	bool wrap[TORUS_AXES_MAX];
	int32_t twist;
	const int32_t *place;
	const int32_t *at;
	const int32_t *port;
	const int32_t *end_first; /* [2 * ndevices + 1] */
	const int32_t *end;
};

/*
 * What a user forces on the collectives of a machine; NULL: the profile chooses. The
 * names are those of collective/profile.h.
 */
struct forced {
	const char *algorithm, *protocol;
};

/*
 * Who calls collectives: what of the launch is paid (collective/profile.h), and what else
 * hangs on it (struct nccl_caller in collective/nccl.h).
 */
enum launch_mode {
	LAUNCH_PROCESS, /* one process per device, one call behind the other */
	LAUNCH_SINGLE,  /* one process launches on all devices, one after another */
	LAUNCH_BOUND,   /* the same, on one core */
	LAUNCH_GRAPH,   /* captured in a graph */
	LAUNCH_XLA,     /* programs that XLA compiled */
	LAUNCH_EAGER,   /* torch.distributed, which waits for each call */
	LAUNCH_MPI,     /* MPI on buffers of devices, call by call */
	LAUNCH_MODES
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
	const char *note; /* what is assumed that the name does not say; NULL: nothing */
	int32_t ndevices;
	const struct device *device; /* [ndevices] */
	int nfabrics;
	struct fabric fabric[MACHINE_FABRICS_MAX]; /* by rising priority */
	int32_t nlinks;
	const struct link *link;
	struct tuning tuning;
	struct forced forced;
	enum launch_mode launch;
	bool launch_given; /* launch_s is a user's figure, which callers do not replace */
	machine_route_fn *ask; /* for GEOMETRY_GRAPH; NULL if no fabric is one */
	void *ask_state;
};

/*
 * Returns the shift n of the twisted torus of that shape: every axis n or 2n long, both
 * there. 0: no such torus.
 */
int32_t fabric_twist(int naxes, const int32_t *shape);

/* Returns the number of places of one domain of a torus: the product of its shape. */
int32_t fabric_places(const struct fabric *f);

/*
 * Returns the device on a torus that is one step from d along an axis, `dir` +1 or -1;
 * -1 where the axis ends. Where ports are shared, the first device of the next port.
 */
int32_t fabric_neighbour(const struct fabric *f, int32_t d, int axis, int dir);

/*
 * Returns +1 or -1: the way in which routes go along an axis of a torus that is not
 * twisted, from coordinate c to another one t (machine_route() has the rule).
 */
int fabric_direction(const struct fabric *f, int axis, int32_t c, int32_t t);

/*
 * Returns how many links routes take along an axis of such a torus from coordinate c to t, and
 * stores the way in which they go, as above.
 */
int fabric_hops(const struct fabric *f, int axis, int32_t c, int32_t t, int *dir);

/* Returns whether the two devices have one port on the fabric. */
bool fabric_shared(const struct fabric *f, int32_t a, int32_t b);

/* Returns the fabric a message from src to dst takes, -1 if none joins them. */
int machine_fabric(const struct machine *m, int32_t src, int32_t dst);

/* Returns the first fabric of which one domain holds all n >= 1 devices, else -1 (joined.c). */
int machine_fabric_of_all(const struct machine *m, const int32_t *ids, int32_t n);

/* Returns whether some fabric joins each two of the devices. */
bool machine_joins(const struct machine *m, const int32_t *ids, int32_t n);

/*
 * As machine_route_fn, from the geometry. Torus: axis by axis, LAST axis first, the
 * shorter way round; an exact half is broken as SimGrid's torus zone breaks it: from
 * coordinate c to t on a wrapped axis of even length n with |c - t| = n/2, up (+1) if
 * t > c, or if c > n/2; else down.
 *
 * Twisted: of the offsets that lead to dst, round each short axis at most once, those
 * with the fewest hops; of several, listed by how often each short axis is gone round
 * (0, +1, -1; the last axis fastest) and then + before - on a long axis at its exact
 * half, number (sum of the coordinates of src and dst) mod (how many), which shares out
 * the load: all pairs at once load no link of 4x4x8 with more than 81 of them, 73 1/3
 * on average. Then axis by axis, LAST axis first.
 */
int machine_route(const struct machine *m, int f, int32_t src, int32_t dst,
                  int32_t *links, int capacity);

/*
 * Returns how many links the route has, < 0 as there or where they are more than
 * ROUTE_LINKS_MAX; sooner told than which.
 */
int machine_hops(const struct machine *m, int f, int32_t src, int32_t dst);

/* Returns the sum of the latencies of the route, seconds; < 0 when there is none. */
double machine_latency(const struct machine *m, int f, int32_t src, int32_t dst);

/*
 * These make machines for tests and for planning without a platform file. All memory is the
 * arena's.
 * machine_torus: one fabric `ici`, one domain, profile "tpu", all links alike.
 * machine_twisted: the same, twisted; the shape must be one (fabric_twist()).
 * machine_gpu: `nodes` x `gpus` devices; fabric `nvlink` (priority 0, one switch domain
 * per node) and, for more than one node, `net` (priority 1, one switch of all NICs),
 * profile "plain". A link's latency here is that of one of the two links (up or down).
 */
struct machine *machine_torus(struct arena *a, int naxes, const int32_t *shape,
                              const bool *wrap, struct link link, struct device device);
struct machine *machine_twisted(struct arena *a, int naxes, const int32_t *shape,
                                struct link link, struct device device);
struct machine *machine_gpu(struct arena *a, int32_t nodes, int32_t gpus,
                            struct link nvlink, struct link nic, struct device device);

#endif
