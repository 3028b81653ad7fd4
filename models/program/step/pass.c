/* What the forward and the backward pass of a layer share. */
#include "program/step/pass.h"

#include <math.h>

#include <string.h>

/* What a projection reads of x; an array is rounded once for all that read it. */
static struct array_of rounded(struct pass *p, struct array_of x)
{
	if (!p->s->rounded)
		return x;
	for (int i = 0; i < p->nrounded; i++)
		if (p->exact[i].number == x.number)
			return p->rounded[i];
	if (p->nrounded == ROUNDED_MAX)
		return write_convert(p->w, x, p->s->rounded);
	p->exact[p->nrounded] = x;
	p->rounded[p->nrounded] = write_convert(p->w, x, p->s->rounded);
	return p->rounded[p->nrounded++];
}

/* A projection and its gradient; the results are of the layer's type. */
struct array_of pass_product(struct pass *p, const char *name, struct array_of x,
                             struct array_of y, bool back)
{
	x = rounded(p, x);
	y = rounded(p, y);
	return write_dot(p->w, name, p->s->type, x, y, back);
}

struct array_of pass_product_grad(struct pass *p, const char *name, struct array_of x,
                                  struct array_of y)
{
	x = rounded(p, x);
	y = rounded(p, y);
	return write_dot_grad(p->w, name, p->s->type, x, y);
}

/*
 * Eager frameworks move more than the arrays that layers are made of: they copy, cast and add up
 * what autograd hands on, in kernels of their own. Published steps of such frameworks
 * (platforms/steps.csv, mpt-*) need some 190 bytes for each token and hidden unit in 16 bits, of
 * which the ops that are written here by name are 130; these passes are the rest.
 */
void pass_eager(struct pass *p, struct array_of x, int n)
{
	for (int i = 0; i < n && p->w->eager; i++)
		write_keep(p->w, write_combine(p->w, "pass", x, &x, 1));
}

/* The tokens that a matmul reads, and what it leaves of its partial sums. */
struct array_of pass_gathered(struct pass *p, struct array_of x)
{
	return p->s->gathers_tokens ? write_gather(p->w, AXIS_TENSOR, x, 0) : x;
}

struct array_of pass_reduced(struct pass *p, struct array_of x)
{
	return p->s->gathers_tokens ? write_scatter(p->w, AXIS_TENSOR, x, 0)
	                            : write_sum(p->w, AXIS_TENSOR, x);
}

const char *pass_attention(const struct pass *p, bool back)
{
	const struct layer_shape *s = p->s;
	bool torch = s->m->train.attention == ATTENTION_TORCH;
	struct text t = {0};

	text_printf(
		&t,
		", custom_call_target=\"%s_%s%s\", "
		"backend_config={attn_heads = %lld : i64, input_batch = %lld : i64, "
		"kv_max_seqlen = %lld : i64, mask_type = %d : i64, "
		"num_gqa_groups = %lld : i64, q_max_seqlen = %lld : i64, "
		"qk_head_dim = %lld : i64, v_head_dim = %lld : i64}",
		torch ? "flash_attn" : "te_fused_attn", back ? "backward" : "forward",
		torch ? "" : "_ffi", (long long)s->heads, (long long)s->batch,
		(long long)s->keys,
		s->m->train.causal && s->keys == s->m->train.seq ? 2 : 0,
		(long long)s->kv_heads, (long long)s->seq, (long long)s->head,
		(long long)s->value);
	return text_take(&t, p->w->a);
}

/* Drops elements of x by a mask, which the backward pass reads again. */
struct array_of pass_dropped(struct pass *p, enum layer_kept mask, struct array_of x)
{
	struct array_of in[2] = {x, x};

	if (!p->s->m->train.dropout)
		return x;
	in[1] = write_convert(p->w, x, "s8");
	p->kept[mask] = in[1];
	return write_combine(p->w, "dropout", x, in, 2);
}

struct array_of pass_dropped_back(struct pass *p, enum layer_kept mask,
                                  struct array_of d)
{
	struct array_of in[2] = {d, p->kept[mask]};

	return p->s->m->train.dropout ? write_combine(p->w, "dropout", d, in, 2) : d;
}

/* Scores of all keys, as matmuls over groups of heads that share a key. */
struct array_of pass_scores(struct pass *p, struct array_of q, struct array_of k)
{
	const struct layer_shape *s = p->s;
	int64_t groups = s->batch * s->kv_heads, per = s->heads / s->kv_heads;
	struct array_of x;

	q = write_view(p->w, q, 3, groups, per * s->seq, s->head, 0);
	k = write_view(p->w, k, 3, groups, s->m->train.seq, s->head, 0);
	x = write_dot(p->w, "scores", s->type, q, k, true);
	return write_combine(p->w, "softmax", x, &x, 1);
}

struct array_of pass_rotated(struct pass *p, struct array_of x)
{
	return p->s->m->positions == POSITIONS_ROPE
	               ? write_combine(p->w, "rope", x, &x, 1)
	               : x;
}

/* Rows go from device to device along an axis, and are one list again. */
static struct array_of exchange(struct pass *p, enum step_axis axis, struct array_of x,
                                int64_t rows)
{
	int64_t h = p->s->m->hidden, n = p->w->degree[axis];

	x = write_view(p->w, x, 3, n, rows / n, h, 0);
	x = write_all_to_all(p->w, axis, x, 0);
	return write_view(p->w, x, 2, rows, h, 0, 0);
}

/*
 * Rows that a device sends to all nodes if a token goes once to each that has experts of it: its
 * experts are drawn evenly.
 */
static int64_t node_rows(const struct pass *p)
{
	const struct layer_shape *s = p->s;
	double n = (double)p->w->degree[AXIS_EXPERT_NODES];

	return (int64_t)ceil((double)s->held *
	                     (1 - pow(1 - 1 / n, (double)s->m->moe.top_k))) *
	       p->w->degree[AXIS_EXPERT_NODES];
}

/* Tokens go where their experts are; `back` as they come from there. */
struct array_of pass_dispatch(struct pass *p, struct array_of x, bool back)
{
	const struct layer_shape *s = p->s;
	bool nodes = p->w->degree[AXIS_EXPERT_NODES] > 1;
	enum step_axis axis = nodes ? AXIS_EXPERT_INSIDE : AXIS_EXPERT;
	int64_t rows = s->experts * s->rows, over = nodes ? node_rows(p) : 0;

	if (nodes && !back)
		x = exchange(p, AXIS_EXPERT_NODES,
		             write_rows(p->w, "dispatch", x, over), over);
	if (!back) {
		x = exchange(p, axis, write_rows(p->w, "dispatch", x, rows), rows);
		return write_view(p->w, x, 3, s->experts, s->rows, s->m->hidden, 0);
	}
	x = exchange(p, axis, x, rows);
	if (nodes)
		x = exchange(p, AXIS_EXPERT_NODES, write_rows(p->w, "combine", x, over),
		             over);
	return write_rows(p->w, "combine", x, s->held);
}
