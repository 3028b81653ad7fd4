/*
 * A training step of a transformer as a program: what one device of a parallel job runs, as
 * the text of a partitioned HLO module, which the reader of programs reads like any dump.
 *
 * The job's devices are a mesh of the axes pipeline, data, fsdp, context and tensor, the
 * first most major; the experts of a layer are spread over the minor part of data x fsdp.
 * The text is one stage's: its layers forward, the head and the loss, its layers backward,
 * as often as there are micro batches, then the optimizer. It is that of the last stage,
 * which has the most to do, and has the embedding too where there is one stage.
 *
 *   tensor    projections are cut over columns, then rows (Megatron-LM, arXiv 1909.08053): an
 *             all-reduce after attention and one after the feed-forward layer, forward and
 *             backward; with sequence parallelism (arXiv 2205.05198) each is a
 *             reduce-scatter and an all-gather, and norms hold a share of the tokens.
 *   fsdp      parameters are gathered layer by layer, forward and (ZeRO-3) backward again,
 *             and gradients reduce-scattered (arXiv 1910.02054).
 *   data      gradients are reduced once in a step, behind the last micro batch; with ZeRO
 *             1 or more by a reduce-scatter and an all-gather of the new parameters. Beside
 *             fsdp, whose members share what the optimizer keeps, by an all-reduce (hybrid
 *             sharding, arXiv 2304.11277).
 *   context   a device has a part of each sequence and gathers keys and values.
 *   expert    tokens go to the devices of their experts and back by all-to-alls; where
 *             moe.dispatch is `nodes` and experts are spread over several nodes, once to each
 *             node that has experts of them, and then inside. With moe.overlap that runs
 *             beside kernels of another micro batch (step_facts.paired).
 *   pipeline  1F1B: (stages - 1) / interleave times the layers' time of a micro batch are idle
 *             (arXiv 2104.04473, 2.2). Where layers do not divide by the stages, the others
 *             have one more, whose place the head takes here.
 *
 * train.fuse `eager` makes the text an optimised one, whose ops are a kernel each; `compiled`
 * leaves fusion to the rule of program/kernels.h.
 */
#ifndef SHARDSIM_PROGRAM_STEP_H
#define SHARDSIM_PROGRAM_STEP_H

#include "base/arena.h"
#include "base/error.h"
#include "program/model.h"

/* The names of the axes; op_name of a collective ends in that of its axis. */
enum { STEP_AXES_NAMED = 6 };
extern const char *const step_axis_names[STEP_AXES_NAMED];

struct step_degrees {
	int64_t data, fsdp, tensor, context, expert, pipeline; /* each at least 1 */
	/* Neighbouring devices that the nearest fabric joins, a node; 0: not told. */
	int64_t inside;
};

/*
 * Reads 'fsdp=64,tensor=8'; what is not named is 1. An axis that is not known, or that is named
 * twice, or a degree that is no number from 1, is an error at its place.
 */
enum status step_degrees_parse(struct step_degrees *out, struct arena *a,
                               const char *text, struct where at, struct error *e);

/* Returns how many devices a job has. */
int64_t step_devices(const struct step_degrees *d);

/* What a text alone does not say. */
struct step_facts {
	int64_t devices, micro_batches;
	double tokens; /* of the job in a step */
	bool eager;    /* train.fuse */
	double layers; /* that a device runs in a step, forward and backward together */
	/* Of tokens that it sends to experts forward in a step, a copy for each. */
	double expert_bytes;
	bool expert_nodes; /* moe.dispatch is `nodes` */
	/*
	 * The share of the micro batches' work in which all-to-alls hide behind kernels of
	 * another micro batch; 0 without moe.overlap.
	 */
	double paired;
	double model_flops; /* of one device: its share of step_model_flops() */
	double params;      /* parameters of the whole model, all experts counted */
	/*
	 * Idle time of the pipeline, as a share of the time of all micro batches: (stages -
	 * 1) / (interleave x micro batches), of the layers' part of the flops.
	 */
	double bubble;
	/* Bytes that further micro batches in flight hold on the first stage. */
	double held_bytes;
};

/*
 * Returns the flops of a step of train.global_batch sequences that is computed as the model says: 6 x
 * (parameters that a token goes through, without the embedding of the input) x tokens + 12 x layers x
 * heads x head_dim x seq x tokens, nothing halved or counted twice (MaxText's and Megatron's count).
 */
double step_model_flops(const struct architecture *m);

/*
 * Appends the text of the program. Where model and degrees do not go together, `why` gets
 * the reason and the answer is false.
 */
bool step_text(struct text *out, struct step_facts *facts, const struct architecture *m,
               const struct step_degrees *d, struct text *why);

#endif
