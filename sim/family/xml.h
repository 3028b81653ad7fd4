/*
 * Platform files in SimGrid XML that are made from families (facts/families.h). All
 * that is declared behind platform_generate() is for the files of this folder alone.
 */
#ifndef SHARDSIM_SIM_FAMILY_XML_H
#define SHARDSIM_SIM_FAMILY_XML_H

#include "facts/families.h"
#include "facts/overlay.h"

/*
 * Appends the platform file of `family:shape` in SimGrid XML, DTD 4.1, as
 * platforms/README.md says.
 *
 * A torus is SimGrid's own where all its axes wrap and are 3 or longer, and there are
 * no overlays. Any other torus has its links and the routes of machine_route() written
 * out; it may have at most WRITTEN_HOSTS_MAX chips, or for several slices as many pairs
 * in all. The hosts of a switch with slow devices are written out, too. A missing link
 * makes the geometry a graph. With `brief` a torus whose geometry states its routes has
 * only those between neighbours written out, and any number of chips; nodes with a switch
 * are one cluster, which says how many `copies` there are: the hosts of the others have the
 * numbers behind its own, and the id of each ends in its number. Our reader needs no more,
 * but SimGrid needs all.
 *
 * `out` is unchanged on an error, which may borrow from `a`. *note, unless it is NULL,
 * becomes what family_note() says, the arena's, or NULL where that is nothing.
 */
enum { WRITTEN_HOSTS_MAX = 2048 };

enum status platform_generate(struct text *out, const char **note, struct arena *a,
                              const char *spec, const char *const *set, int nset,
                              bool brief, struct error *e);

/* --- parts of the file --- */

/* What a host says about the fabric that it is on. */
struct port {
	const char *fabric, *domain, *geometry;
	int priority;
	int32_t devices;        /* how many devices share the host, 1 or more */
	int32_t domain_devices; /* so many are a domain; 0: all of the domain's name */
	double slow;            /* the part of memory_Bps that is left; 0: all */
};

/* Appends `<link id="NAME" .../>`, which is one direction of a cable. */
void xml_link(struct text *out, const char *name, double bandwidth_Bps,
              double latency_s);

/* Appends the properties of a host, in the order of platforms/README.md. */
void xml_props(struct text *out, const struct family *f, struct port port);

/* Appends `<host id="PREFIXnumber">` with its properties. */
void xml_host(struct text *out, const struct family *f, const char *prefix,
              int32_t number, struct port port);

/*
 * A cluster of the hosts PREFIXfirst .. first + n - 1 with split-duplex links. Without
 * a `topology` it is SimGrid's flat cluster, a switch; else that is a kind such as
 * "FAT_TREE", with its parameters. `radical` is the order of the numbers, such as
 * "0,2,1,3"; NULL is the rising order.
 */
struct cluster {
	const char *id, *prefix, *radical, *topology, *parameters;
	int32_t first, n;
	int32_t copies; /* of a brief text: so many clusters, see there; 0: just one */
	double bandwidth_Bps, latency_s; /* those of one link */
};

void xml_cluster(struct text *out, const struct family *f, const struct cluster *c,
                 struct port port);

/*
 * Appends a switch. If some device is slow, the hosts of the flat cluster, their links
 * up and down and all routes are written out; else it is the cluster.
 */
void xml_switch(struct text *out, const struct family_machine *m,
                const struct cluster *c, struct port port);

/* --- kinds: each appends what is inside `<zone id="machine">` --- */

enum status torus_generate(struct text *out, const struct family_machine *m,
                           const char *spec, struct error *e);
enum status nodes_generate(struct text *out, const struct family_machine *m,
                           const char *spec, struct error *e);

/* Appends the cluster of all NICs (net.c). */
enum status net_generate(struct text *out, const struct family_machine *m,
                         const char *spec, struct error *e);

/*
 * Appends a node whose GPUs are joined by cables and PCIe (pcie.c): the links of PCIe,
 * and the routes of all pairs, by their cable or else by PCIe. `here` has the node's
 * cables.
 */
void pcie_generate(struct text *out, const struct family *here, int32_t first,
                   const char *node);

#endif
