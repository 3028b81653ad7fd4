/*
 * The exact search of spec redistribution.md 6.2: Dijkstra over types, with A*'s lower
 * bound where the price is received bytes.
 *
 * A plan in normal form is slice? (all-to-all | permute)* all-gather*. The search
 * starts at the source, takes at most one fused slice, any all-to-alls (also several
 * pairs of dimensions in one) and permutes, then all-gathers. A permute goes through
 * one virtual node per local shape, which joins all types of that shape. Since tiles
 * fall, stay, then rise, no state is larger than max(source tile, target tile): every
 * memory limit that any plan can keep is kept (spec 5, memory theorem).
 *
 * Types number sum_m C(k,m) m! C(m+r-1,r-1) for k atoms and rank r: 42,079 for 6 and 3.
 */
#ifndef SHARDSIM_PLANNER_SYNTH_EXACT_H
#define SHARDSIM_PLANNER_SYNTH_EXACT_H

#include "planner/synth_path.h"

/*
 * The cheapest path from s->from to s->to, which differ, over at most CODE_ATOMS_MAX
 * atoms: by price, then by the largest source + operand + result, then the first in the
 * order in which states are made. `most` (NULL: none) is the price of some path: what
 * costs more is not looked at. False if there is none of that price or less; without
 * `most` only digits of composite size can bring that about: whole axes of 6 and 3
 * cannot do what their primes can.
 */
bool synth_exact(struct path *out, struct synth *s, const struct price *most);

#endif
