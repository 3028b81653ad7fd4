/*
 * The transfers of an exchange or of a permute of parts in the order of their messages.
 * Private to models/collective/.
 */
#ifndef SHARDSIM_COLLECTIVE_SENT_H
#define SHARDSIM_COLLECTIVE_SENT_H

#include "plan/plan.h"

/* All that one device sends another, or a part of it. */
struct sent {
	int32_t src, dst;
	int64_t elements;
};

/*
 * Returns the step's transfers by set, source and destination, s->ntransfers of them,
 * and in *set for each of the devices the number of its set: those that send to one
 * another, whoever relays. In the arena; all but the sets in linear time.
 */
const struct sent *sent_sorted(const int32_t **set, const struct step *s,
                               int32_t ndevices, struct arena *a);

#endif
