/*
 * How long one kernel takes on one device: the longer of its arithmetic and its traffic with
 * memory (the roofline of Williams, Waterman and Patterson, CACM 52(4), 2009), and never less
 * than a kernel takes to run at all.
 *
 *   time = max(kernel_s, arithmetic, bytes / (memory_share x memory_Bps))
 *   of a matmul of b [m, k] x [k, n]:
 *     arithmetic = matmul_s + flops / (share x peak), 0 for an empty one
 *   of a convolution, as a matmul of m outputs, n features and k = positions x features:
 *     the same, with w / (w + 500) of the share, w = min(k, 4n, m)
 *   of attention: flops / (attention_share x peak of bf16), backward attention_back_share,
 *   of the kernels that PyTorch has torch_attention_share both ways
 *   of all else: 0, for memory is what limits it
 *
 * The share is matmul_share, of f32 and wider types f32_share. The peak is that of the type of the operands, in operations per second: bf16_flops for
 * 16-bit floats, f8_flops for smaller ones (bf16_flops where it is not stated), f32_flops for
 * f32 (and half of it for f64), int8_flops for whole numbers of 8 bits. All are constants of
 * the machine (array/tuning.h, platforms/families.yaml).
 */
#ifndef SHARDSIM_COST_COMPUTE_H
#define SHARDSIM_COST_COMPUTE_H

#include "array/array.h"
#include "array/machine.h"

enum compute_kind {
	COMPUTE_MEMORY, /* limited by memory: elementwise ops, copies, reductions, ... */
	COMPUTE_MATMUL,
	COMPUTE_CONVOLUTION,
	COMPUTE_ATTENTION,
	COMPUTE_ATTENTION_BACK,
	COMPUTE_ATTENTION_TORCH, /* either */
	COMPUTE_KINDS
};

struct compute_ask {
	enum compute_kind kind;
	const struct dtype *dtype; /* of the operands of a matmul or convolution */
	double b, m, n, k;         /* of these */
	double flops;
	double bytes; /* read and written in the device's memory */
};

/*
 * Returns the seconds of a kernel on a device of the machine. Returns < 0 if it computes and
 * the machine does not say how fast, or moves bytes and its bandwidth is not known.
 */
double compute_op_s(const struct machine *m, const struct compute_ask *ask);

/* Returns the peak operations per second for operands of that type; 0: not known. */
double compute_peak(const struct machine *m, const struct dtype *d);

#endif
