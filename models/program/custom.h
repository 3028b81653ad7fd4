/*
 * Custom calls whose work is known: attention kernels and matmuls of libraries. All others are
 * priced by the bytes of their operands and results.
 */
#ifndef SHARDSIM_PROGRAM_CUSTOM_H
#define SHARDSIM_PROGRAM_CUSTOM_H

#include "program/work.h"

/*
 * Attention of b batches, h heads of queries, s queries and t keys of d elements, values of v:
 * 2 b h s t (d + v) flops forward, halved under a causal mask, and 2.5 times that backward,
 * where scores are computed again (FlashAttention, arXiv 2205.14135).
 */
struct attention {
	double b, h, s, t, d, v;
	bool causal, backward;
	bool torch; /* a kernel of PyTorch */
	double flops;
	double bytes; /* of q, k, v and the result; backward twice that */
};

/* Fills `out` if the custom call is such a kernel (te_fused_attn_*, __cudnn$fmha*,
 * and flash_attn_*, which the texts of steps have for PyTorch). */
bool custom_attention(struct attention *out, const struct program *p,
                      const struct instruction *op);

/* Fills `out` if it is a matmul of cuBLAS (__cublas$gemm, __cublas$lt$matmul). */
bool custom_matmul(struct matmul *out, const struct program *p,
                   const struct instruction *op);

/* Annotations, which name a value and do nothing: Sharding, SPMDFullToShardShape, ... */
bool custom_is_name(const struct instruction *op);

/* MoveToHost, MoveToDevice and annotate_device_placement: bytes of the link to the host. */
bool custom_is_host_move(const struct instruction *op);

#endif
