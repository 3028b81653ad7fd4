/*
 * Families of machines: the facts in platforms/families.yaml.
 *
 * `family:shape` names a machine: `tpu-v4:4x4x8` a torus of chips,
 * `tpu-v4:4x4x8_twisted` the same twisted, `tpu-v4:2*4x4x8` two such slices,
 * `dgx-a100:4` that many nodes, `tpu-v4:{64}` one of that size (family_size()), also with settings: `cluster:nodes=64,gpus=4,nics=2`. Of
 * the families `torus` and `cluster` nothing is known: `torus:3x5` has as many axes as
 * one writes, and their figures are assumptions to be set. Every figure comes from the file, with its source,
 * unless a setting `key=value` overrides it. A setting may name
 *
 *   ici.bandwidth, ici.latency        torus, or link.*: one way per link; per hop
 *   core.bandwidth, core.latency      several devices per chip: one way per device
 *                                     between those of a chip; end to end
 *   dcn.bandwidth, dcn.latency        several slices: one way per chip; end to end
 *   nvlink.bandwidth, nvlink.latency  nodes, or xgmi.* or link.*: one way per GPU and end
 *                                     to end through a switch, else per link and hop
 *   pcie.bandwidth, bridge.bandwidth  nodes with PCIe: one way per switch of two GPUs,
 *                                     and between the halves of a node
 *   nic.bandwidth                     more than one node: one way per NIC
 *   nic.latency                       net=switch: end to end
 *   net.latency                       other nets: per cable with the switch behind it
 *   net.ports                         other nets: NICs that one switch takes
 *   net.oversubscription              rails, fat-tree: cables down to one up
 *   net.groups, net.routers           dragonfly: groups; routers of one group
 *   net.global, net.local             dragonfly: cables between two groups, two routers
 *   memory_bytes, memory_Bps          per device; memory_Bps=0 makes local passes free
 *   launch_s                          per step that communicates, or is local and alone
 *   step, fill_s, ...                 a constant of the library (array/tuning.h)
 *   profile                           whose collectives (collective/collective.h)
 *   gpus, inside, nics, net           nodes: the structure, as in families.yaml
 *   wrap                              torus: a digit for each axis, 1 where it closes
 *   slow_link, slow_device, no_link   what is wrong with a machine (struct overlay)
 *
 * Values have the units of base/units.h (`50GB/s`, `1.5us`, `32GiB`), without which a
 * bandwidth or a latency is an error unless it is 0. A key the
 * family does not have is an error that lists those it has; so is one that changes
 * nothing.
 */
#ifndef SHARDSIM_FACTS_FAMILIES_H
#define SHARDSIM_FACTS_FAMILIES_H

#include "array/machine.h"
#include "base/error.h"
#include "base/scan.h"

enum family_kind { FAMILY_TORUS, FAMILY_NODES };

enum wrap_rule {
	WRAP_NEVER,
	WRAP_MULTIPLES, /* all axes, when every one is a multiple of wrap_length */
	WRAP_FULL,      /* an axis of exactly wrap_length */
	WRAP_ALWAYS,    /* all axes */
	WRAP_SET        /* those that the setting `wrap` says */
};

/* What joins the NICs of several nodes. */
enum net {
	NET_SWITCH,    /* one non-blocking switch */
	NET_RAILS,     /* leaf-spine, leaf i takes NIC i of net.ports nodes */
	NET_FAT_TREE,  /* leaf-spine, a leaf takes all NICs of neighbouring nodes */
	NET_DRAGONFLY, /* groups of routers, all joined to all */
	NETS
};

enum figure {
	ICI_PEAK,
	ICI_BANDWIDTH,
	ICI_LATENCY,
	CORE_BANDWIDTH,
	CORE_LATENCY,
	DCN_PEAK,
	DCN_BANDWIDTH,
	DCN_LATENCY,
	LINK_PEAK, /* nvlink.peak or xgmi.peak, and so on */
	LINK_BANDWIDTH,
	LINK_LATENCY,
	PCIE_BANDWIDTH,
	BRIDGE_BANDWIDTH,
	NIC_PEAK,
	NIC_BANDWIDTH,
	NIC_LATENCY,
	NET_LATENCY,
	NET_PORTS,
	NET_OVERSUBSCRIPTION,
	NET_GROUPS,
	NET_ROUTERS,
	NET_GLOBAL,
	NET_LOCAL,
	MEMORY_BYTES,
	MEMORY_BPS,
	LAUNCH_S,
	HOST_CALL_S, /* in no platform file (facts/host.h) */
	HOST_PACK_BPS,
	FIGURES
};

/* `n` links side by side between GPUs a < b of a node. */
struct cable {
	int32_t a, b, n;
};

struct family {
	const char *name, *profile;
	const char *path; /* the file that it is from */
	enum family_kind kind;
	int naxes;                       /* of a shape; 0: any number of axes */
	int32_t largest[TORUS_AXES_MAX]; /* torus: falling; nodes: largest[0] nodes */
	double figure[FIGURES];
	const char *source[FIGURES]; /* NULL: not given */
	struct tuning tuning;
	const char *tuning_source[TUNINGS]; /* NULL: not given, the default */

	const char *fabric; /* what its figures are called: ici, nvlink, xgmi or link */

	/* torus */
	enum wrap_rule wrap;
	const char *wraps; /* WRAP_SET: a digit for each axis */
	int32_t wrap_length;
	int32_t twisted; /* shortest axis of a twisted one, which divides all; 0: none */
	int32_t chips;   /* most of a slice */
	int32_t cores;   /* of a chip: so many devices are on one ICI port */
	int32_t slices;  /* most that a data center network joins; 1: there is none */
	/*
	 * The shapes that are offered: noffered of TORUS_AXES_MAX lengths each, and all whose
	 * lengths are multiples of `multiples`, unless that is 0.
	 */
	int noffered;
	const int32_t *offered;
	int32_t multiples;

	/* nodes; a single one has no net */
	int32_t gpus, nics; /* per node; one of them divides the other */
	bool own_nics;      /* there are not just as many as GPUs */
	const char *inside; /* as it was read; NULL: a switch */
	int32_t ncables;    /* 0 and no pcie: the GPUs of a node are on a switch */
	const struct cable *cable;
	bool pcie;  /* joins GPUs that no cable does */
	bool apart; /* nothing joins the GPUs of a node but their NICs */
	enum net net;
};

struct families {
	int n;
	struct family *family;
};

/* Returns "ici.bandwidth" and so on, as the family calls it. */
const char *figure_name(const struct family *f, enum figure g);

/* Returns whether families of its kind may have the figure. */
bool figure_known(const struct family *f, enum figure g);

/* Returns whether the family's platform files depend on it; then it has a value. */
bool figure_used(const struct family *f, enum figure g);

/* A figure in its unit; a bandwidth must be above 0, but memory may be free. */
enum status figure_parse(double *out, enum figure g, const char *text, struct where at,
                         struct error *e);

/*
 * A shape "4x4x8" of n axes of lengths up to `most`; the same of any lengths up to the end of
 * the text; longest axis first.
 */
enum status shape_scan_axes(struct scan *s, int32_t *shape, int n, int32_t most);
enum status shape_scan(struct scan *s, int32_t *shape, int n);
void shape_sort(int32_t *shape, int n);

/* Appends "4x4x8". */
void shape_print(struct text *out, const int32_t *shape, int n);

/* Reads families.yaml; errors name the file, line and column. */
enum status families_read(struct families *out, struct arena *a, const char *path,
                          struct error *e);

/*
 * Reads all families that are known: those of the data file families.yaml, and those of
 * the file of the same form that the environment variable FAMILIES_MORE names, if it is
 * set. Of two with one name the latter counts, in the former's place, so that an entry
 * that `shardsim fit` wrote can be tried.
 */
#define FAMILIES_MORE "SHARDSIM_FAMILIES"
enum status families_known(struct families *out, struct arena *a, struct error *e);

/*
 * The path of a data file (`families.yaml`): in $SHARDSIM_DATA if that is set, else the
 * first of: platforms/ beside or one above the program's folder,
 * share/shardsim/platforms/ one above it, the same of the shared library, the folder given at compile time
 * (SHARDSIM_DATADIR), platforms/ of the current folder. An error when it is in none.
 */
enum status platform_data_path(const char **out, struct arena *a, const char *file,
                               struct error *e);

/*
 * A fault of one machine, of a list `5-6:0.5,7-8:0.25`:
 *   slow_link=3-4:0.5  the cable between devices 3 and 4 at half its bandwidth, both
 *                      ways
 *   slow_device=5:0.5  all links of device 5 and its memory at half their bandwidth; of
 *                      its chip, where that has several devices
 *   no_link=3-4        the cable is missing, and what went over it goes round
 * Cables are those of a torus and those between GPUs without a switch; a port of a
 * switch cannot be missing. Of several slow ones on one link the bandwidth is what all
 * leave of it; a missing one is listed once, and is not slow. Slow links change no routes.
 */
enum overlay_kind { OVERLAY_SLOW_LINK, OVERLAY_SLOW_DEVICE, OVERLAY_NO_LINK, OVERLAYS };

struct overlay {
	enum overlay_kind kind;
	int32_t a, b;  /* devices; the same one twice where it is about a device */
	double factor; /* above 0, below 1; 0 for a missing link */
	struct where at;
};

/* A machine asked for: a family with its settings applied, and a shape. */
struct family_machine {
	struct family family;
	int32_t slices;                /* torus: of the shape each; nodes: 1 */
	int32_t shape[TORUS_AXES_MAX]; /* nodes: shape[0] nodes */
	bool wrap[TORUS_AXES_MAX];
	int32_t twist; /* as struct fabric's */
	int32_t ndevices;
	int noverlays;
	const struct overlay *overlay;
	bool brief; /* routes that the geometry states may be left out */
};

/*
 * Reads `family:shape` and `nset` settings "key=value", by the families of the file at
 * `path` (NULL: those that families_known() reads). Errors show the text at fault with a caret
 * and list what is known.
 */
enum status family_parse(struct family_machine *out, struct arena *a, const char *path,
                         const char *spec, const char *const *set, int nset,
                         struct error *e);

/*
 * A machine of a size: `family:{64}` is the smallest that is offered of at least 64
 * devices, nearest a cube or square; of nodes, the fewest that the switches of their net
 * join evenly. `family:{n}` is that for the
 * number of devices of a mesh or, where none is large enough, the largest that is
 * offered, which then is too small to plan on.
 */
struct family_size {
	const char *spec;    /* family:shape */
	int64_t least, most; /* the numbers of devices for which it is the answer */
	bool net;            /* several nodes, which a network joins */
};

/* Returns whether a setting "key=value" is of the network of several nodes or slices. */
bool setting_of_net(const char *set);

/* Returns whether what is asked for is a size: "{" stands behind the first colon. */
bool family_sized(const char *spec);

/*
 * Finds the machine of the size that family_sized() found; n is that of `{n}`, below 1
 * where there is no mesh, which is an E_TYPE. Of `nset` settings "key=value" those of the
 * structure of nodes and of their net count. E_RANGE: no machine of so many devices as
 * the text says is offered.
 */
enum status family_size(struct family_size *out, struct arena *a, const char *path,
                        const char *spec, const char *const *set, int nset, int64_t n,
                        struct error *e);

/*
 * The machine, without its wires being written out: a torus of one slice with a device per
 * chip, or nodes whose GPUs have a switch and a NIC each or more on one switch, nothing
 * of it slow or missing. E_INFEASIBLE for others. It is the arena's, named `spec`, and
 * equal to that of the platform file (sim/family/xml.h), which says figures with 15 digits.
 */
enum status family_machine(struct machine **out, struct arena *a,
                           const struct family_machine *m, const char *spec,
                           struct error *e);

/*
 * Appends what of a machine its name does not tell and nobody set: that its axes do not
 * wrap, or which figures are plain assumptions; nothing where there is no such thing.
 */
void family_note(struct text *out, const struct family_machine *m);

/* Describes a family for `list platforms`: "3D torus of chips", "up to 16x16x16". */
void family_describe(struct text *what, struct text *shapes, const struct family *f);

#endif
