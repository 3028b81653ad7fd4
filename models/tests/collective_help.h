/*
 * What the tests of collectives share: machines of odd figures, groups, and the bytes of
 * a schedule.
 */
#ifndef SHARDSIM_TESTS_COLLECTIVE_HELP_H
#define SHARDSIM_TESTS_COLLECTIVE_HELP_H

#include "collective/collective.h"
#include "cost/model.h"

/* Torus links, and the bytes of a block. */
extern const double W, LAT, BLOCK;
extern const struct link ici, nvlink, nic;
extern const struct device device;

/* The ops in the order of the tables. */
extern const enum op ops[4];

/* The fixture, and the model of the machine made last. */
extern struct arena *arena;
extern struct model *model;
void setup(void);
void teardown(void);

struct machine *torus(int naxes, const int32_t *shape, bool wrap);
struct machine *cluster(int32_t nodes, int32_t gpus);

/* One group of `n` devices first, first + stride, ... listed back to front. */
struct groups group_of(int32_t first, int32_t stride, int32_t n);

/* Consecutive groups of `n` of `all` devices. */
struct groups groups_of(int32_t all, int32_t n);

/* Build by the algorithm that must be chosen; `bytes` as in struct algorithm. */
struct schedule built(const struct machine *m, const char *name, enum op op,
                      struct groups g, double bytes);

/* `bytes` before the op that make the gathered array (or S) n blocks. */
double before(enum op op, int32_t n);

/* Bytes that device d receives on its way or for itself, over all messages. */
double received(const struct schedule *s, int32_t d);

/* Bytes on every link over all rounds, and the largest of them. */
double *link_bytes(const struct machine *m, const struct schedule *s);
double largest(const struct machine *m, const double *load);

/* Equal within 1e-12, or a failure that says `what`. */
void near(double found, double wanted, const char *what);

#endif
