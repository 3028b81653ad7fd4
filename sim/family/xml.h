/*
 * Platform files made from families (facts/families.h): SimGrid XML. What is declared behind
 * platform_generate() is shared by the files of this folder alone.
 */
#ifndef SHARDSIM_SIM_FAMILY_XML_H
#define SHARDSIM_SIM_FAMILY_XML_H

#include "facts/families.h"
#include "facts/overlay.h"

/*
 * Appends the platform file of `family:shape`: SimGrid XML, DTD 4.1, as
 * platforms/README.md says. A torus whose axes all wrap and are 3 or longer is SimGrid's own; any other
 * has its links and the routes of machine_route() written out, and so has one with
 * overlays: for at most WRITTEN_HOSTS_MAX chips, of several slices for no more pairs in
 * all. So are the hosts of a switch with slow devices. A missing link makes the geometry
 * a graph. `brief` leaves out of those tori whose geometry states the routes all but the
 * neighbours', for our own reader, and for any number of chips; SimGrid needs all.
 * `out` is unchanged on an error, which may borrow from `a`.
 */
enum { WRITTEN_HOSTS_MAX = 2048 };

enum status platform_generate(struct text *out, struct arena *a, const char *spec,
                              const char *const *set, int nset, bool brief,
                              struct error *e);

/* --- parts of the file --- */

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

/* The properties of a host, in the order of platforms/README.md. */
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

/* --- kinds: each appends what is inside `<zone id="machine">` --- */

enum status torus_generate(struct text *out, const struct family_machine *m,
                           const char *spec, struct error *e);
enum status nodes_generate(struct text *out, const struct family_machine *m,
                           const char *spec, struct error *e);

/* The cluster of all NICs (net.c). */
enum status net_generate(struct text *out, const struct family_machine *m,
                         const char *spec, struct error *e);

/*
 * A node whose GPUs are joined by cables and PCIe (pcie.c): the links of PCIe,
 * and the routes of all pairs, by their cable or else by PCIe. `here` has the cables.
 */
void pcie_generate(struct text *out, const struct family *here, int32_t first,
                   const char *node);

#endif
