/* The kinds of text that a plan can become, in the order in which they are listed. */
#include "emit/emit.h"

#include "emit/kinds.h"

#include <string.h>

const struct emitter *const emitters[] = {
	&emitter_mpi,       &emitter_jax,
	&emitter_jax_p2p,   &emitter_torch,
	&emitter_torch_p2p, &emitter_dtensor,
	&emitter_stablehlo, &emitter_stablehlo_test,
	&emitter_sdy,       &emitter_goal,
	&emitter_msccl,     NULL,
};

const struct emitter *emitter_find(const char *name, size_t length)
{
	for (int i = 0; emitters[i]; i++)
		if (strlen(emitters[i]->name) == length &&
		    memcmp(emitters[i]->name, name, length) == 0)
			return emitters[i];
	return NULL;
}

enum emitted emit_plan(const struct emitter *emitter, struct text *out,
                       const struct emission *what, struct arena *scratch,
                       struct text *why)
{
	for (int i = 0; i < what->plan->nsteps && !emitter->adds; i++)
		if (step_adds(what->plan, i)) {
			text_printf(why, "it adds up boxes on their way; --emit mpi "
			                 "says that, and plans without --algorithm "
			                 "scheduled do not");
			return EMIT_CANNOT;
		}
	return emitter->emit(out, what, scratch, why);
}
