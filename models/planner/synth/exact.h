/*
 * The exact search: A* over types (models/README.md, The synthesizer). Where the price is
 * received bytes, its lower bound is what devices lack (lack.h); else it is made by a
 * search from the target (back.h), if some path is known, and 0 if none is.
 *
 * A plan in normal form is slice? (all-to-all | permute)* all-gather*. The search
 * starts at the source, takes at most one fused slice, any all-to-alls (also several
 * pairs of dimensions in one) and permutes, then all-gathers. A permute goes through
 * one virtual node per local shape, which joins all types of that shape. Since tiles
 * fall, stay, then rise, no state is larger than max(source tile, target tile): every
 * memory limit that any plan can keep is kept (models/README.md, Normal form).
 *
 * Types number sum_m C(k,m) m! C(m+r-1,r-1) for k atoms and rank r: 42,079 for 6 and 3.
 */
#ifndef SHARDSIM_PLANNER_SYNTH_EXACT_H
#define SHARDSIM_PLANNER_SYNTH_EXACT_H

#include "planner/synth/path.h"

/* With the first path alone 12 rows of `synth` are dearer. */
enum { EXACT_PATHS_MAX = 5 };

/*
 * The first path is the cheapest; others are as cheap but have permutes, whose prices
 * are estimates.
 */
struct exact_paths {
	int n;
	struct path path[EXACT_PATHS_MAX];
};

/*
 * Finds the cheapest path from s->from to s->to, which differ, over at most
 * CODE_ATOMS_MAX atoms: by price, then by the largest source + operand + result, then
 * the first in the order in which states are made. `most` (NULL: none) is the price of
 * some path: what costs more is not looked at. Returns false if there is no path of
 * that price or less; without `most` only digits of composite size can bring that
 * about, since whole axes of 6 and 3 cannot do what their primes can. Where `most` is
 * given and prices are not received bytes, some of the paths that part once from the
 * cheapest follow it.
 */
bool synth_exact(struct exact_paths *out, struct synth *s, const struct price *most);

#endif
