/*
 * The architecture of a transformer as plain data: what twenty lines of a model.yaml say
 * (scenarios/README.md, "Models"; read by facts/model.h), and what its tensors
 * (program/tensors.h), a training step and a search for shardings are made from.
 *
 * Numbers count elements, heads, layers or tokens; 0 means what the comment of the field
 * says. Fields that take one of several words are numbers of the enums below.
 */
#ifndef SHARDSIM_PROGRAM_MODEL_H
#define SHARDSIM_PROGRAM_MODEL_H

#include "array/array.h"

#include <stdbool.h>

enum model_head {
	HEAD_TIED,   /* the logits use the embedding */
	HEAD_UNTIED, /* a matrix of its own */
	HEAD_NONE    /* no logits */
};

enum model_norm {
	NORM_RMS,  /* a weight per channel */
	NORM_LAYER /* a weight and a bias per channel */
};

enum model_positions {
	POSITIONS_ROPE,
	POSITIONS_LEARNED, /* an embedding of train.seq positions */
	POSITIONS_ALIBI,
	POSITIONS_NONE
};

/*
 * Feed-forward layers of experts, in all layers but the first `first_dense`. An expert is
 * as the dense feed-forward layer, of its own width.
 */
struct model_moe {
	int64_t experts; /* that a router chooses from; 0: the model has none */
	int64_t top_k;   /* for each token */
	int64_t ffn;     /* width of an expert */
	int64_t shared; /* experts that every token goes through, put together as one */
	int64_t first_dense;
	/* Tokens that an expert takes, over the mean; 0: all that come (dropless). */
	double capacity;
	int dispatch;
	/*
	 * Tokens of one micro batch are sent while kernels of another run, whose forward pass
	 * goes layer by layer beside the other's backward pass (overlap_moe_expert_parallel_comm
	 * of Megatron Core).
	 */
	bool overlap;
};

enum model_dispatch {
	DISPATCH_COPIES, /* a copy of a token goes to each of its experts, by one all-to-all */
	/*
	 * A token goes once to each node that has experts of it, and from there to them, as in
	 * DeepEP and HybridEP; what comes back is summed up in each node first.
	 */
	DISPATCH_NODES
};

/*
 * Multi-head latent attention (DeepSeek-V2, arXiv 2405.04434, 2.1): queries go through a
 * latent vector of `q_rank`, keys and values through one of `kv_rank`; head_dim is the
 * part of a query without a position.
 */
struct model_mla {
	int64_t q_rank;   /* 0: queries are projected at once */
	int64_t kv_rank;  /* 0: the model has no such attention */
	int64_t rope_dim; /* part of a query and of the one shared key with a position */
	int64_t v_dim;    /* of a head's value */
};

enum model_optimizer {
	OPTIMIZER_ADAM, /* two moments per parameter; adamw is the same */
	OPTIMIZER_ADAMW,
	OPTIMIZER_MOMENTUM, /* one */
	OPTIMIZER_LION,     /* one */
	OPTIMIZER_SGD       /* none */
};

enum model_recompute {
	RECOMPUTE_NONE,
	RECOMPUTE_SELECTIVE, /* the core of attention; with flash attention nothing */
	RECOMPUTE_FULL       /* one more forward pass of every layer */
};

enum model_attention {
	ATTENTION_FLASH, /* the machine's best kernel */
	ATTENTION_MATH,
	ATTENTION_TORCH /* the flash kernel that PyTorch has */
};

enum model_schedule { SCHEDULE_1F1B, SCHEDULE_GPIPE };

enum model_fuse { FUSE_EAGER, FUSE_COMPILED };

/* What a training step needs besides the architecture. */
struct model_train {
	int64_t seq;                       /* tokens of a sequence; 0: not given */
	int64_t global_batch, micro_batch; /* sequences; 0: not given */
	const struct dtype *dtype;         /* of parameters and activations */
	const struct dtype *master_dtype;  /* of the optimizer's copy and moments */
	/* What operands of the layers' projections are rounded to; NULL: they are not. */
	const struct dtype *matmul_dtype;
	/* Of the sums between layers, f32 under autocast; NULL: dtype. */
	const struct dtype *residual_dtype;
	int optimizer, recompute, attention;
	bool causal; /* no token attends to later ones */
	bool sequence_parallel;
	bool dropout; /* behind attention, the softmax and the feed-forward layer */
	int64_t interleave; /* stages of a pipeline on each device */
	int schedule;
	int64_t zero;     /* stage of ZeRO, 0 to 3 */
	int64_t prefetch; /* layers whose parameters are gathered ahead */
	int fuse;
};

struct architecture {
	const char *name;
	const char *source; /* where the figures are from; NULL: not said */
	int64_t layers, hidden, heads, kv_heads, head_dim;
	int64_t ffn; /* width of a dense feed-forward layer; 0: there is none */
	bool gated;  /* it has a gate beside its up projection */
	int64_t vocab, vocab_multiple; /* the table has vocab rounded up to a multiple */
	bool final_norm;
	int head;
	bool bias;    /* of all projections of the layers */
	bool qk_norm; /* queries and keys of a head are normalised */
	int norm, positions;
	int64_t window; /* tokens that attention looks back; 0: all */
	struct model_moe moe;
	struct model_mla mla;
	struct model_train train;
};

/* Returns the rows of the embedding. */
static inline int64_t architecture_vocab(const struct architecture *m)
{
	return (m->vocab + m->vocab_multiple - 1) / m->vocab_multiple *
	       m->vocab_multiple;
}

/* Returns whether a layer, from 0, has experts. */
static inline bool architecture_has_experts(const struct architecture *m, int64_t layer)
{
	return m->moe.experts > 0 && layer >= m->moe.first_dense;
}

#endif
