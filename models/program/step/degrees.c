/* How many devices along each axis, and whether a model divides so. */
#include "program/step/stage.h"

#include "array/mesh.h"

#include <string.h>

const char *const step_axis_names[STEP_AXES_NAMED] = {"pipeline", "data",   "fsdp",
                                                      "context",  "tensor", "expert"};

static int64_t *degree_named(struct step_degrees *d, const char *name)
{
	int64_t *const at[STEP_AXES_NAMED] = {&d->pipeline, &d->data,   &d->fsdp,
	                                      &d->context,  &d->tensor, &d->expert};

	for (int i = 0; i < STEP_AXES_NAMED; i++)
		if (!strcmp(step_axis_names[i], name))
			return at[i];
	return NULL;
}

enum status step_degrees_parse(struct step_degrees *out, struct arena *a,
                               const char *text, struct where at, struct error *e)
{
	struct mesh mesh;

	*out = (struct step_degrees){1, 1, 1, 1, 1, 1, 0};
	if (mesh_parse(&mesh, a, text, at, e) != OK)
		return e->code;
	for (int i = 0; i < mesh.naxes; i++) {
		int64_t *degree = degree_named(out, mesh.axis[i].name);

		if (!degree)
			return error_set(
				e, E_TYPE, at,
				"'%s' is no axis of a job, expected data, fsdp, "
				"tensor, context, expert or pipeline",
				mesh.axis[i].name);
		*degree = mesh.axis[i].size;
	}
	return OK;
}

int64_t step_devices(const struct step_degrees *d)
{
	return d->pipeline * d->data * d->fsdp * d->context * d->tensor;
}

/* Appends the reason unless `of` divides by `by`. */
static bool divides(struct text *why, int64_t of, int64_t by, const char *what,
                    const char *axis)
{
	if (of % by == 0)
		return true;
	text_printf(why, "%s %lld does not divide by %s %lld", what, (long long)of,
	            axis, (long long)by);
	return false;
}

bool step_divides(const struct architecture *m, const struct step_degrees *d,
                  struct text *why)
{
	const struct model_train *t = &m->train;
	int64_t ranks = d->data * d->fsdp;

	if (t->seq < 1 || t->global_batch < 1 || t->micro_batch < 1) {
		text_printf(why, "train.seq, train.global_batch and train.micro_batch "
		                 "are needed");
		return false;
	}
	if (d->pipeline > m->layers) {
		text_printf(why, "%lld layers are fewer than pipeline %lld",
		            (long long)m->layers, (long long)d->pipeline);
		return false;
	}
	if (!m->moe.experts && d->expert > 1) {
		text_printf(why, "expert %lld for a model without experts",
		            (long long)d->expert);
		return false;
	}
	if (m->moe.experts && d->expert > m->moe.experts) {
		text_printf(why,
		            "expert %lld is more than the %lld experts of the model",
		            (long long)d->expert, (long long)m->moe.experts);
		return false;
	}
	if (m->moe.overlap && d->pipeline > 1 && t->interleave < 2) {
		text_printf(why,
		            "moe.overlap in a pipeline needs train.interleave of 2 "
		            "or more");
		return false;
	}
	if (m->moe.overlap && t->recompute == RECOMPUTE_FULL) {
		text_printf(why, "moe.overlap does not go with train.recompute full");
		return false;
	}
	return divides(why, m->heads, d->tensor, "heads", "tensor") &&
	       divides(why, m->ffn, d->tensor, "ffn", "tensor") &&
	       divides(why, architecture_vocab(m), d->tensor, "vocab", "tensor") &&
	       divides(why, t->seq, d->context, "train.seq", "context") &&
	       divides(why, t->seq / d->context * t->micro_batch,
	               t->sequence_parallel ? d->tensor : 1, "tokens of a micro batch",
	               "tensor") &&
	       divides(why, t->global_batch, ranks * t->micro_batch,
	               "train.global_batch", "data x fsdp x micro_batch") &&
	       divides(why, ranks, d->expert, "data x fsdp", "expert") &&
	       (d->expert == 1 ||
	        divides(why, m->moe.experts, d->expert, "moe.experts", "expert"));
}
