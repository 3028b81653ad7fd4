/*
 * The normal-form synthesizer after arXiv 2112.01075 (models/README.md, The synthesizer):
 * the cheapest slice? (all-to-all | permute)* all-gather*, exact for few atoms.
 */
#ifndef SHARDSIM_PLANNER_SYNTH_SYNTH_H
#define SHARDSIM_PLANNER_SYNTH_SYNTH_H

#include "planner/planner.h"

/*
 * The planner `synth` is exact for problems of at most so many atoms in common, unless
 * their types are more than SYNTH_TYPES_MAX (five atoms and ten dimensions). Tests have
 * the exact search try SYNTH_ATOMS_MAX; more it cannot take. With four atoms 19 rows of
 * `synth` are dearer; the limit on types changes none and bounds the time.
 */
enum { SYNTH_EXACT_ATOMS = 5, SYNTH_ATOMS_MAX = 6, SYNTH_TYPES_MAX = 250000 };

/*
 * Plans as `synth` does: exactly (exact.h) up to `exact_atoms` atoms, and by weak types
 * and lifting (weak.h) above. Takes and returns what planner->plan does.
 */
enum answer synth_search(struct plan **out, const struct problem *p,
                         const struct prices *prices, struct arena *arena,
                         int exact_atoms, struct text *why);

#endif
