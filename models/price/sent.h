/*
 * Seconds of exchanges by the clock `model`, as a schedule has them, but without one: a
 * search prices thousands. Private to models/cost/.
 */
#ifndef SHARDSIM_PRICE_SENT_H
#define SHARDSIM_PRICE_SENT_H

#include "array/machine.h"
#include "collective/lower.h"
#include "cost/model.h"
#include "plan/plan.h"

struct price_sent;

/*
 * Makes the workspace of a machine for devices placed on it (NULL: the identity), whose
 * links `model` loads. All are borrowed.
 */
struct price_sent *price_sent_new(const struct machine *m,
                                  const struct placement *place, struct model *model);
void price_sent_free(struct price_sent *sent);

/*
 * Stores the seconds on the wires of a step; where these are more than `most_s`, some seconds
 * above it that they are no less than. Returns false where it is no exchange, or one
 * that this does not price: its boxes are not listed by receiver, two of them are one
 * message, a message has no route, or a library runs on some of the machine's fabrics
 * only.
 */
bool price_sent_s(double *seconds, struct price_sent *sent, const struct plan *plan,
                  int step, double most_s);

#endif
