#include "program/custom.h"

#include "program/lex.h"

#include <string.h>

static bool begins(struct span s, const char *text)
{
	size_t n = strlen(text);

	return s.at && (size_t)s.length >= n && !memcmp(s.at, text, n);
}

/* Reads the number behind `key`, in `attn_heads = 64 : i64` or `"attn_heads":64`. */
static double number(struct span config, const char *key)
{
	const char *p = config.at ? span_find(config, key) : NULL;
	const char *end = span_end(config);
	double n = 0;

	while (p && p < end && (*p < '0' || *p > '9') && *p != ',' && *p != '}')
		p++;
	if (!p || p == end || *p < '0' || *p > '9')
		return -1;
	for (; p < end && *p >= '0' && *p <= '9'; p++)
		n = 10 * n + (*p - '0');
	return n;
}

/* q and k as [batch, sequence, heads, head]; `kv` are the heads of k. */
static bool by_shapes(struct attention *a, double *kv, const struct program *p,
                      const struct instruction *op)
{
	const struct value_type *q, *k;

	if (op->noperands < 3)
		return false;
	q = &p->value.at[op_operand(p, op, 0)].type;
	k = &p->value.at[op_operand(p, op, 1)].type;
	if (q->rank != 4 || k->rank != 4)
		return false;
	*a = (struct attention){.b = (double)q->dim[0],
	                        .s = (double)q->dim[1],
	                        .h = (double)q->dim[2],
	                        .d = (double)q->dim[3],
	                        .t = (double)k->dim[1],
	                        .v = (double)q->dim[3]};
	*kv = (double)k->dim[2];
	return true;
}

/* What the configuration tells, of which a device may have a part. False if it tells nothing. */
static bool by_config(struct attention *a, double *kv, const struct custom_attr *c)
{
	struct span config = c->config;

	if (number(config, "attn_heads") <= 0 || number(config, "q_max_seqlen") <= 0)
		return false;
	a->b = number(config, "input_batch");
	a->h = number(config, "attn_heads");
	a->s = number(config, "q_max_seqlen");
	a->t = number(config, "kv_max_seqlen");
	a->d = number(config, "qk_head_dim") > 0 ? number(config, "qk_head_dim") : a->d;
	a->v = number(config, "v_head_dim") > 0 ? number(config, "v_head_dim") : a->d;
	*kv = number(config, "num_gqa_groups") > 0 ? number(config, "num_gqa_groups")
	                                           : a->h;
	return true;
}

bool custom_attention(struct attention *out, const struct program *p,
                      const struct instruction *op)
{
	struct attention *a = out;
	struct span target, config;
	double kv, share = 1;
	bool torch;

	if (op->code != HLO_CUSTOM_CALL || !op->as.custom)
		return false;
	target = op->as.custom->target;
	config = op->as.custom->config;
	torch = begins(target, "flash_attn_");
	if ((!torch && !begins(target, "te_fused_attn_") &&
	     !begins(target, "__cudnn$fmha")) ||
	    !by_shapes(a, &kv, p, op))
		return false;
	a->torch = torch;
	a->backward = span_find(target, "backward") || span_find(target, "Backward");
	if (by_config(a, &kv, op->as.custom) && op->as.custom->share > 0)
		share = op->as.custom->share;
	/* Transformer Engine numbers masks: none, padding, causal, padding and causal, ... */
	a->causal = number(config, "mask_type") >= 2 ||
	            (config.at && span_find(config, "CAUSAL"));
	a->flops = 2 * a->b * a->h * a->s * a->t * (a->d + a->v) / (a->causal ? 2 : 1);
	a->bytes = a->b * (a->s * a->h + a->t * kv) * (a->d + a->v) *
	           p->value.at[op_operand(p, op, 0)].type.dtype->bits / 8;
	if (a->backward) {
		a->flops *= 2.5;
		a->bytes *= 2;
	}
	a->flops *= share;
	a->bytes *= share;
	return true;
}

/* Reads `"lhs_contracting_dimensions":["1"]` and returns the first of the list. */
static int64_t dimension(struct span config, const char *key)
{
	const char *p = config.at ? span_find(config, key) : NULL;
	const char *end = span_end(config);

	while (p && p < end && *p != ']' && (*p < '0' || *p > '9'))
		p++;
	return p && p < end && *p != ']' ? *p - '0' : -1;
}

bool custom_matmul(struct matmul *out, const struct program *p,
                   const struct instruction *op)
{
	const struct value_type *l, *r;
	int64_t k;

	if (op->code != HLO_CUSTOM_CALL || !op->as.custom || op->noperands < 2 ||
	    op->nvalues < 1 ||
	    (!begins(op->as.custom->target, "__cublas$gemm") &&
	     !begins(op->as.custom->target, "__cublas$lt$matmul")))
		return false;
	l = &p->value.at[op_operand(p, op, 0)].type;
	r = &p->value.at[op->first_value].type;
	k = dimension(op->as.custom->config, "lhs_contracting_dimensions");
	if (k < 0 || k >= l->rank || r->rank < 1)
		return false;
	*out = (struct matmul){1, 1, (double)r->dim[r->rank - 1], (double)l->dim[k]};
	for (int32_t i = 0; i + 2 < r->rank; i++)
		out->b *= (double)r->dim[i];
	out->m = r->rank > 1 ? (double)r->dim[r->rank - 2] : 1;
	return true;
}

bool custom_is_name(const struct instruction *op)
{
	static const char *const names[] = {"Sharding", "SPMDFullToShardShape",
	                                    "SPMDShardToFullShape", "xla.sdy."};

	if (op->code != HLO_CUSTOM_CALL || !op->as.custom)
		return false;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (begins(op->as.custom->target, names[i]))
			return true;
	return false;
}

bool custom_is_host_move(const struct instruction *op)
{
	if (op->code != HLO_CUSTOM_CALL || !op->as.custom)
		return false;
	return span_is(op->as.custom->target, "MoveToHost") ||
	       span_is(op->as.custom->target, "MoveToDevice") ||
	       span_is(op->as.custom->target, "annotate_device_placement");
}
