/* Plans that a machine runs as a schedule of messages, relays and all. */
#ifndef SHARDSIM_EMIT_RELAYS_H
#define SHARDSIM_EMIT_RELAYS_H

#include "emit/emit.h"

/*
 * Returns, in the arena, what is to be emitted with the exchange that the machine runs as a
 * schedule (collective/scheduled.c) said step by step (flow/relay.h); that is `what` itself
 * where the machine runs no schedule. An exchange of contributions is said in steps that end
 * without boxes in any case. No time is predicted of single steps.
 */
const struct emission *emission_relayed(const struct emission *what, struct arena *a);

#endif
