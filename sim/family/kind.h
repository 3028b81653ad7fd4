/*
 * What differs between the kinds of families: one table of functions each. Private to
 * sim/families*.c.
 */
#ifndef SHARDSIM_SIM_FAMILY_KIND_H
#define SHARDSIM_SIM_FAMILY_KIND_H

#include "family/families.h"
#include "text/yaml_reader.h"

/* --- settings (set.c) --- */

/*
 * "key=value" in two rounds: what changes the structure (and so which figures are used)
 * and the profile, then figures and constants; each passes over the other's keys.
 */
bool setting_is_structure(const struct family *f, const char *set);
enum status setting_structure(struct family_machine *m, struct arena *a,
                              const char *spec, const char *set, struct error *e);
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

/* "slow_link" and so on. */
const char *overlay_name(enum overlay_kind kind);

/* Adds the overlays of one setting's value to the machine's. */
enum status overlay_read(struct family_machine *m, struct arena *a,
                         enum overlay_kind kind, const char *text, struct where at,
                         struct error *e);

/* What slow devices leave of the rates of devices first .. first + n - 1 together. */
double overlay_device(const struct family_machine *m, int32_t first, int32_t n);

/*
 * What overlays leave of the cable between ports `a` and `b`, each of `share` devices:
 * 1 for all, 0 if it is missing. Slow devices included.
 */
double overlay_cable(const struct family_machine *m, int32_t share, int32_t a,
                     int32_t b);

/* Is a cable missing? Does every overlay of a cable name one of `joined`'s? */
bool overlay_missing(const struct family_machine *m);
enum status overlay_check(const struct family_machine *m, int32_t share,
                          bool (*joined)(const void *self, int32_t a, int32_t b),
                          const void *self, struct error *e);

/* --- the platform file (xml.c) --- */

/* What a host says of the fabric it is on. */
struct port {
	const char *fabric, *domain, *geometry;
	int priority;
	int32_t devices;        /* that share the host, 1 or more */
	int32_t domain_devices; /* of one domain; 0: all hosts of the domain's name */
	double slow;            /* what overlays leave of the memory's rate; 0: all */
};

/* `<link id="NAME" .../>`, one direction of a cable. */
void xml_link(struct text *out, const char *name, double bandwidth_Bps,
              double latency_s);

/* The properties of a host, in the order design 6 lists them. */
void xml_props(struct text *out, const struct family *f, struct port port);

/* `<host id="PREFIXnumber">` with its properties. */
void xml_host(struct text *out, const struct family *f, const char *prefix,
              int32_t number, struct port port);

/*
 * A cluster of hosts PREFIXfirst .. first + n - 1 with split-duplex links. Without a
 * topology SimGrid's flat cluster, a switch; else e.g. "FAT_TREE" with its parameters.
 * `radical`: NULL for those numbers, else their order, "0,2,1,3".
 */
struct cluster {
	const char *id, *prefix, *radical, *topology, *parameters;
	int32_t first, n;
	double bandwidth_Bps, latency_s; /* of one link */
};

void xml_cluster(struct text *out, const struct family *f, const struct cluster *c,
                 struct port port);

/*
 * A switch with slow devices: the hosts of a flat cluster, their links up and down and
 * all routes written out. Where no device is slow it is the cluster.
 */
void xml_switch(struct text *out, const struct family_machine *m,
                const struct cluster *c, struct port port);

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
	/* Fills shape (and wrap) from the text behind the colon. */
	enum status (*shape)(struct family_machine *m, struct scan *s, const char *text);
	void (*describe)(struct text *what, struct text *shapes, const struct family *f);
	/* Appends what is inside `<zone id="machine">`. */
	enum status (*generate)(struct text *out, const struct family_machine *m,
	                        const char *spec, struct error *e);
};

/* The cluster of all NICs (net.c). */
enum status net_generate(struct text *out, const struct family_machine *m,
                         const char *spec, struct error *e);

/*
 * A node whose GPUs are joined by cables and PCIe (pcie.c): the links of PCIe,
 * and the routes of all pairs, by their cable or else by PCIe. `here` has the cables.
 */
void pcie_generate(struct text *out, const struct family *here, int32_t first,
                   const char *node);

/* What is inside `<zone id="machine">` of a torus (torus_xml.c). */
enum status torus_generate(struct text *out, const struct family_machine *m,
                           const char *spec, struct error *e);

extern const struct kind kind_torus, kind_nodes;

const struct kind *kind_of(const struct family *f);

/* For shape(): each sorted length is at most `largest`, the product times `per`. */
enum status shape_bounds(struct family_machine *m, int32_t per, struct scan *s,
                         const char *text);

#endif
