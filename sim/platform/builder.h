/*
 * The builder that makes the machine of a platform file. It is private to machine.c
 * (devices and fabrics), geometry.c (geometry and ports) and stated.c (which compares
 * the geometry with the routes).
 */
#ifndef SHARDSIM_SIM_PLATFORM_BUILDER_H
#define SHARDSIM_SIM_PLATFORM_BUILDER_H

#include "platform/xml.h"

struct builder {
	const struct platform_xml *xml;
	struct arena *arena;
	struct machine *m;
	int32_t *host_of; /* as struct platform_graph's */
	const struct xml_host *example[MACHINE_FABRICS_MAX]; /* a host of each fabric */
	struct error *error;
};

/* Records an error at a host and returns its code. */
#define builder_fail(b, code, h, ...)                                                  \
	error_set((b)->error, code, platform_xml_where((b)->xml, (h)->place),          \
	          __VA_ARGS__)

/* Returns the host of a device on a fabric, NULL without one. */
static inline const struct xml_host *builder_host(const struct builder *b, int f,
                                                  int32_t d)
{
	int32_t h = b->host_of[(int64_t)f * b->m->ndevices + d];

	return h < 0 ? NULL : &b->xml->host[h];
}

/* Finds geometry and ports of a fabric whose domains are known. */
enum status builder_wire(struct builder *b, struct platform_graph *g, int f);

/*
 * Compares the routes written out with the geometry that the hosts state, and returns
 * E_TYPE where they differ. builder_wire() of all fabrics comes before it.
 */
enum status builder_check_stated(struct builder *b);

#endif
