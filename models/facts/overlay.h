/* What is wrong with a machine: what its overlays (families.h) leave of it. */
#ifndef SHARDSIM_FACTS_OVERLAY_H
#define SHARDSIM_FACTS_OVERLAY_H

#include "facts/families.h"

/*
 * Returns what slow devices leave of the rates of devices first .. first + n - 1
 * together.
 */
double overlay_device(const struct family_machine *m, int32_t first, int32_t n);

/*
 * Returns what overlays leave of the cable between ports `a` and `b`, each of `share`
 * devices: 1 for all, 0 if it is missing. Slow devices are included.
 */
double overlay_cable(const struct family_machine *m, int32_t share, int32_t a,
                     int32_t b);

/*
 * The first returns whether a cable is missing, the second whether every overlay of a
 * cable names one of `joined`'s.
 */
bool overlay_missing(const struct family_machine *m);
enum status overlay_check(const struct family_machine *m, int32_t share,
                          bool (*joined)(const void *self, int32_t a, int32_t b),
                          const void *self, struct error *e);

/*
 * Returns whether the cables of a node, which may be missing, let every GPU reach every
 * other.
 */
bool cables_join(const struct family *f);

#endif
