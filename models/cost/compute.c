#include "cost/compute.h"

#include <math.h>

/* The width of a convolution's smallest side at which half of the rate is reached. */
static const double CONVOLUTION_HALF = 500;

double compute_peak(const struct machine *m, const struct dtype *d)
{
	const double *t = m->tuning.value;
	bool whole = d->name[0] == 's' || d->name[0] == 'u';

	if (whole && d->bits == 8 && t[TUNING_INT8_FLOPS] > 0)
		return t[TUNING_INT8_FLOPS];
	if (d->bits <= 8 && t[TUNING_F8_FLOPS] > 0)
		return t[TUNING_F8_FLOPS];
	if (d->bits <= 16)
		return t[TUNING_BF16_FLOPS];
	return d->bits <= 32 ? t[TUNING_F32_FLOPS] : t[TUNING_F32_FLOPS] / 2;
}

/* Seconds of the arithmetic, < 0 if no rate is known. */
static double arithmetic_s(const struct machine *m, const struct compute_ask *ask)
{
	const double *t = m->tuning.value;
	double rate, w;

	if (ask->flops <= 0 || ask->kind == COMPUTE_MEMORY)
		return 0;
	switch (ask->kind) {
	case COMPUTE_ATTENTION:
		rate = t[TUNING_BF16_FLOPS] * t[TUNING_ATTENTION_SHARE];
		return rate > 0 ? ask->flops / rate : -1;
	case COMPUTE_ATTENTION_BACK:
		rate = t[TUNING_BF16_FLOPS] * t[TUNING_ATTENTION_BACK_SHARE];
		return rate > 0 ? ask->flops / rate : -1;
	case COMPUTE_ATTENTION_TORCH:
		rate = t[TUNING_BF16_FLOPS] * t[TUNING_TORCH_ATTENTION_SHARE];
		return rate > 0 ? ask->flops / rate : -1;
	default:
		rate = compute_peak(m, ask->dtype) *
		       t[ask->dtype->bits > 16 ? TUNING_F32_SHARE : TUNING_MATMUL_SHARE];
		if (ask->kind == COMPUTE_CONVOLUTION) {
			w = fmin(fmin(ask->k, 4 * ask->n), ask->m);
			rate *= w / (w + CONVOLUTION_HALF);
		}
		return rate > 0 ? t[TUNING_MATMUL_S] + ask->flops / rate : -1;
	}
}

double compute_op_s(const struct machine *m, const struct compute_ask *ask)
{
	const double *t = m->tuning.value;
	double Bps = m->device[0].memory_Bps * t[TUNING_MEMORY_SHARE];
	double s = arithmetic_s(m, ask);

	if (s < 0 || (ask->bytes > 0 && Bps <= 0))
		return -1;
	if (ask->bytes > 0)
		s = fmax(s, ask->bytes / Bps);
	return fmax(s, t[TUNING_KERNEL_S]);
}
