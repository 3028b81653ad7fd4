/*
 * Layouts of a model's tensors by the names of mesh axes: the schemes in which models are
 * trained and served. One end of a move has a mesh such as `fsdp=512`, `data=16,tensor=8`
 * or `pipeline=4,data=8,tensor=4,expert=8`, first axis most major:
 *
 *   data, context  replicate every tensor
 *   fsdp      cuts the first dimension of every tensor (torch's fully_shard), inside of
 *             what else cuts it; of experts the second where the first is cut up
 *   tensor    cuts heads, the width of feed-forward layers and the words, as Megatron-LM
 *             does (arXiv 1909.08053, 3): q, k, v, gate, up and the tables by rows, o and
 *             down by columns; the rest is replicated. Where there are more devices than
 *             heads of keys and values, each of these is on several, as vLLM has it.
 *   expert    is not an axis of its own but cuts the experts over the minor-most devices of
 *             data, fsdp and context, which it divides, or else of these and tensor; then
 *             tensor does not cut experts (Megatron-LM's expert tensor parallelism of 1)
 *   pipeline  a stage has layers * s / stages and up, the first the embedding, the last
 *             the final norm and the head
 *
 * Rules stand before the scheme: of the first whose regular expression (POSIX extended)
 * is found in the name of the tensor the layout is taken, over the mesh without the axis
 * pipeline. Axes of other names need rules for all tensors.
 */
#ifndef SHARDSIM_SIM_MOVE_SCHEME_H
#define SHARDSIM_SIM_MOVE_SCHEME_H

#include "array/layout.h"
#include "base/list.h"
#include "base/pattern.h"
#include "program/tensors.h"

struct scheme_rule {
	regex_t match;
	const char *layout;
	struct where layout_at;
};

/* One end of a move. Set `text`, `devices` and the places; scheme_make() does the rest. */
struct scheme {
	struct arena *arena;
	const char *text, *devices; /* devices NULL: the first */
	struct where at, devices_at;
	LIST(struct scheme_rule) rule;
	int64_t kv_heads, heads; /* of the model; 0: not known */
	int64_t layers;          /* for the stages */

	struct mesh whole, stage; /* of all devices, and without the axis pipeline */
	const char *stage_text;
	int32_t stages, expert; /* 1 without such an axis */
	int data, fsdp, tensor, context,
		pipeline;           /* axes, -1: none; of `stage` but the last */
	const char *unknown;        /* an axis of another name, NULL: none */
	const int32_t *device;      /* [whole.ndevices] */
	const char **stage_devices; /* [stages], texts */
};

/*
 * Reads mesh and devices. Errors: those of mesh_parse() and devices_parse(); another number
 * of devices than the mesh has; an expert axis that divides no devices.
 */
enum status scheme_make(struct scheme *s, struct error *e);

/* Adds a rule; errors of its expression are those of pattern_compile(), at its place. */
enum status scheme_rule_add(struct scheme *s, const char *match, struct where match_at,
                            const char *layout, struct where layout_at, struct error *e);
void scheme_free(struct scheme *s); /* what the rules hold */

/* Returns the stage that a tensor is on. */
int32_t scheme_stage(const struct scheme *s, const struct model_tensor *t);

/*
 * Stores the layout of a tensor as a text over the mesh of its stage, with its place. It is
 * an E_TYPE if no rule and no scheme says it, or if heads or experts do not go over the
 * devices.
 */
enum status scheme_layout(const char **out, struct where *at, const struct scheme *s,
                          const struct model_tensor *t, struct error *e);

/*
 * Sets what dimensions run over, and the layer, by the tensor's name, as the checkpoints of
 * Transformers have them; what is not known stays whole.
 */
void scheme_name_axes(struct model_tensor *t);

#endif
