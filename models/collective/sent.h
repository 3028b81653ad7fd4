/*
 * How exchanges and permutes of parts are sent: their transfers in the order of messages,
 * or schedules of their own. Private to models/collective/.
 */
#ifndef SHARDSIM_COLLECTIVE_SENT_H
#define SHARDSIM_COLLECTIVE_SENT_H

#include "collective/lower.h"
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

/*
 * Adds what plain sends cost beyond their wires to every task of a schedule, where a
 * library runs them. Tasks are calls of their own, of which each pays for its peers. Where all
 * are rounds of one call, `again` ([nmessages], else NULL) says which messages follow others
 * between the same two devices: their peers are paid for already.
 */
void sent_finish(struct schedule *s, const struct machine *m, const bool *again);

/*
 * Puts the rounds of the algorithm `scheduled` (scheduled.c), which brings every device of
 * a problem what it lacks, in place of those of a plan of one exchange that were lowered, or
 * of a step that adds up contributions.
 * Leaves these as they are where the machine or the problem is none for it, it takes longer,
 * or what it relays does not fit beside what the plan holds.
 */
void scheduled_exchange(struct lowered *out, const struct machine *m,
                        const struct placement *place, const struct plan *plan,
                        int step);

#endif
