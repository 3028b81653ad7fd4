/*
 * Layouts that an array is to pass through, as the lines that a user adds to a program:
 *
 *   jax      x = jax.lax.with_sharding_constraint(x, NamedSharding(mesh, P(None, 'x')))
 *   sdy      %1 = sdy.sharding_constraint %0 <@mesh, [{}, {"x"}]> : tensor<8x8xf32>
 *   hlo      sharding={devices=[1,4,2]<=[8] last_tile_dim_replicate}
 *   dtensor  x = x.redistribute(mesh, [Shard(1), Replicate()])
 */
#ifndef SHARDSIM_EMIT_CONSTRAINT_H
#define SHARDSIM_EMIT_CONSTRAINT_H

#include "plan/problem.h"

enum constraint_form {
	CONSTRAINT_JAX,
	CONSTRAINT_SDY,
	CONSTRAINT_HLO,
	CONSTRAINT_DTENSOR,
	CONSTRAINT_FORMS
};

/* Returns "jax", "sdy", "hlo" or "dtensor", and what people call it. */
const char *constraint_form_name(enum constraint_form form);
const char *constraint_form_title(enum constraint_form form);

/* A layout of the problem's array, on the source's mesh or the target's. */
struct constraint {
	const struct layout *layout;
	const struct mesh *mesh;
};

struct constraints {
	const struct problem *problem;
	int n;
	const struct constraint *at;
	/*
	 * The user has no mesh of these names, so that the lines begin with one. Of others
	 * they only say how axes are cut where a layout needs parts of them.
	 */
	bool names_mesh;
	/*
	 * So many first dimensions are none of the user's: they number the groups of a
	 * manual region (notation/xla_warning.h), inside which the array has the others.
	 */
	int manual;
};

/*
 * Appends the lines; returns false with the reason in `why`, and nothing appended, where
 * the form cannot say one of the layouts.
 */
bool constraints_print(struct text *out, enum constraint_form form,
                       const struct constraints *c, struct text *why);

#endif
