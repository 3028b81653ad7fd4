/*
 * Families of machines (platforms/families.yaml) and the platform files made from them.
 *
 * `family:shape` names a machine: `tpu-v4:4x4x8` a torus of chips, `dgx-a100:4` that
 * many nodes. Every figure comes from the file, with its source, unless a setting
 * `key=value` overrides it. Keys a setting may name:
 *
 *   ici.bandwidth, ici.latency        torus: one way per link; per hop
 *   nvlink.bandwidth, nvlink.latency  nodes: one way per GPU; end to end
 *   nic.bandwidth, nic.latency        more than one node: one way per NIC; end to end
 *   memory_bytes, memory_Bps          per device; memory_Bps=0 makes local passes free
 *   launch_s                          per step (design: launch)
 *
 * Values have the units of base/units.h (`50GB/s`, `1.5us`, `32GiB`). A key the family
 * does not have is an error that lists those it has; so is one that changes nothing.
 */
#ifndef SHARDSIM_SIM_FAMILIES_H
#define SHARDSIM_SIM_FAMILIES_H

#include "array/machine.h"
#include "base/error.h"
#include "base/scan.h"

enum family_kind { FAMILY_TORUS, FAMILY_NODES };

enum wrap_rule {
	WRAP_NEVER,
	WRAP_MULTIPLES, /* all axes, when every one is a multiple of wrap_length */
	WRAP_FULL       /* an axis of exactly wrap_length */
};

enum figure {
	ICI_PEAK,
	ICI_BANDWIDTH,
	ICI_LATENCY,
	NVLINK_PEAK,
	NVLINK_BANDWIDTH,
	NVLINK_LATENCY,
	NIC_PEAK,
	NIC_BANDWIDTH,
	NIC_LATENCY,
	MEMORY_BYTES,
	MEMORY_BPS,
	LAUNCH_S,
	FIGURES
};

struct family {
	const char *name, *profile;
	enum family_kind kind;
	int naxes;                       /* torus */
	int32_t largest[TORUS_AXES_MAX]; /* torus: falling; nodes: largest[0] nodes */
	enum wrap_rule wrap;
	int32_t wrap_length;
	int32_t gpus; /* per node; a single node has no net */
	double figure[FIGURES];
	const char *source[FIGURES]; /* NULL: a figure this kind does not have */
};

struct families {
	int n;
	struct family *family;
};

/* "ici.bandwidth" and so on. */
const char *figure_name(enum figure f);

/* Whether families of this kind have the figure. */
bool figure_of(enum figure f, enum family_kind kind);

/* A figure in its unit; a bandwidth must be above 0, but memory may be free. */
enum status figure_parse(double *out, enum figure f, const char *text, struct where at,
                         struct error *e);

/* A shape "4x4x8" of n axes up to the end of the text; the same, longest axis first. */
enum status shape_scan(struct scan *s, int32_t *shape, int n);
void shape_sort(int32_t *shape, int n);

/* Reads families.yaml; errors name the file, line and column. */
enum status families_read(struct families *out, struct arena *a, const char *path,
                          struct error *e);

/*
 * The path of a data file (`families.yaml`): in $SHARDSIM_DATA if that is set, else the
 * first of: platforms/ beside or one above the program's folder,
 * share/shardsim/platforms/ one above it, the folder given at compile time
 * (SHARDSIM_DATADIR), platforms/ of the current folder. An error when it is in none.
 */
enum status platform_data_path(const char **out, struct arena *a, const char *file,
                               struct error *e);

/* A machine asked for: a family with its settings applied, and a shape. */
struct family_machine {
	struct family family;
	int32_t shape[TORUS_AXES_MAX]; /* nodes: shape[0] nodes */
	bool wrap[TORUS_AXES_MAX];
	int32_t ndevices;
};

/*
 * Reads `family:shape` and `nset` settings "key=value". Errors show the text at fault
 * with a caret and list what is known.
 */
enum status family_parse(struct family_machine *out, struct arena *a, const char *spec,
                         const char *const *set, int nset, struct error *e);

/*
 * Appends the platform file of `family:shape`: SimGrid XML, DTD 4.1, as design 6 lays
 * it down. A torus whose axes all wrap and are 3 or longer is SimGrid's own; any other
 * has its links and the dimension-ordered routes written out, for at most
 * WRITTEN_ROUTES_DEVICES_MAX devices. `out` is unchanged on an error,
 * which may borrow from `a`.
 */
enum { WRITTEN_ROUTES_DEVICES_MAX = 512 };

enum status platform_generate(struct text *out, struct arena *a, const char *spec,
                              const char *const *set, int nset, struct error *e);

#endif
