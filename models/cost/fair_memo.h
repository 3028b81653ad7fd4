/*
 * Systems of tasks that share links (cost/fair.h), remembered with their seconds. Systems
 * are equal when all their figures are, in order, to the last bit: where links and tasks
 * are numbered as they are first used, those of 256 rings at once on a torus are.
 */
#ifndef SHARDSIM_COST_FAIR_MEMO_H
#define SHARDSIM_COST_FAIR_MEMO_H

#include "cost/fair.h"

/*
 * A memo keeps up to FAIR_MEMO_MAX systems of up to FAIR_MEMO_BYTES_MAX bytes together,
 * and forgets all of them when there are more. It does not keep a system larger than
 * that.
 */
enum { FAIR_MEMO_BYTES_MAX = 1 << 25, FAIR_MEMO_MAX = 1 << 16 };

struct fair_memo;

struct fair_memo *fair_memo_new(void);
void fair_memo_free(struct fair_memo *m);

/*
 * Stores the seconds that an equal system was remembered with in *seconds. Returns
 * false if there is none.
 */
bool fair_memo_find(double *seconds, const struct fair_memo *m, const struct fair *f);

/* Remembers a system that fair_memo_find() does not find. */
void fair_memo_add(struct fair_memo *m, const struct fair *f, double seconds);

#endif
