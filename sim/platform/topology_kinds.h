/*
 * What a topology is made of, and the functions that make each kind. Private to
 * topology.c, topology_kinds.c and the file of each kind.
 */
#ifndef SHARDSIM_SIM_PLATFORM_TOPOLOGY_KINDS_H
#define SHARDSIM_SIM_PLATFORM_TOPOLOGY_KINDS_H

#include "platform/topology.h"

enum { TOPOLOGY_LINKS_MAX = 1 << 24 /* of one cluster */ };

/* A cable: the link up (or from the first end to the second) and the one back. */
struct duplex {
	int32_t up, down;
};

/* What a topology is made of: the arguments of topology_make(). */
struct topology_maker {
	struct platform_xml *xml;
	const char *parameters;
	int32_t nhosts;
	struct cable cable;
	struct where at;
	struct error *error;
};

/* Records the E_RANGE `topo_parameters="..." why`. */
enum status topology_refuse(const struct topology_maker *k, const char *why);

/*
 * Reads "3,5" at *text, n whole numbers of at least 1, and moves *text behind them and the
 * ';' that follows. Returns false where there are no such numbers.
 */
bool topology_numbers(const char **text, int32_t *number, int n);

/* Adds the link or the two links of that name (the arena's), `wide` links in one. */
struct duplex topology_cable(const struct topology_maker *k, const char *name,
                             int32_t wide);

struct fat_tree;
struct dragonfly;

/* The makers return NULL on an error; routes and ends are as in topology.h. */
const struct fat_tree *fat_tree_make(const struct topology_maker *k);
int fat_tree_route(const struct fat_tree *t, int32_t src, int32_t dst, int32_t *links,
                   int capacity);
const struct duplex *fat_tree_ends(int32_t *n, const struct fat_tree *t, int32_t rank);

const struct dragonfly *dragonfly_make(const struct topology_maker *k);
int dragonfly_route(const struct dragonfly *f, int32_t src, int32_t dst, int32_t *links,
                    int capacity);
const struct duplex *dragonfly_ends(int32_t *n, const struct dragonfly *f, int32_t rank);

#endif
