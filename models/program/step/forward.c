/* The forward pass of a layer. */
#include "program/step/pass.h"

static struct array_of norm(struct pass *p, const char *name, struct array_of x,
                            struct array_of weight)
{
	struct array_of in[3] = {x, weight}, out = x;

	out.type = p->s->type;
	if (p->w->eager)
		return write_combine(p->w, name, out, in, 2);
	/* Moments of tokens: a reduction over columns costs what one over rows does. */
	in[2] = write_reduce(p->w, name, x);
	return write_combine(p->w, name, out, in, 3);
}

static struct array_of attend(struct pass *p)
{
	const struct layer_shape *s = p->s;
	struct array_of *kept = p->kept, in[3], x;
	int64_t groups = s->batch * s->kv_heads, keys = s->m->train.seq;

	if (s->m->train.attention == ATTENTION_MATH) {
		x = pass_scores(p, kept[KEPT_Q], kept[KEPT_K]);
		kept[KEPT_SCORES] = x;
		x = pass_dropped(p, KEPT_SCORES_MASK, x);
		if (s->m->train.dropout)
			kept[KEPT_SCORES_DROPPED] = x;
		x = write_dot(
			p->w, "values", s->type, x,
			write_view(p->w, kept[KEPT_V], 3, groups, keys, s->value, 0),
			false);
		return write_view(p->w, x, 2, s->tokens, s->heads * s->value, 0, 0);
	}
	in[0] = write_view(p->w, kept[KEPT_Q], 4, s->batch, s->seq, s->heads, s->head);
	in[1] = write_view(p->w, kept[KEPT_K], 4, s->batch, keys, s->kv_heads, s->head);
	in[2] = write_view(p->w, kept[KEPT_V], 4, s->batch, keys, s->kv_heads, s->value);
	x = array_new(s->type, 4, s->batch, s->seq, s->heads, s->value);
	x = write_op(p->w, "custom-call", "attention", x, in, 3,
	             pass_attention(p, false));
	return write_view(p->w, x, 2, s->tokens, s->heads * s->value, 0, 0);
}

/* Keys and values of the whole sequence. */
static struct array_of whole_sequence(struct pass *p, struct array_of x)
{
	int64_t columns = x.dim[1];

	x = write_view(p->w, x, 3, p->s->batch, p->s->seq, columns, 0);
	x = write_gather(p->w, AXIS_CONTEXT, x, 1);
	return write_view(p->w, x, 2, p->s->batch * p->s->m->train.seq, columns, 0, 0);
}

static void project(struct pass *p, struct array_of a)
{
	struct array_of *kept = p->kept, of_q = a, of_k = a;

	if (layer_has(&p->s->param[PARAM_Q_LATENT]))
		of_q = kept[KEPT_Q_LATENT] =
			pass_product(p, "q", a, p->param[PARAM_Q_LATENT], false);
	if (layer_has(&p->s->param[PARAM_KV_LATENT]))
		of_k = kept[KEPT_KV_LATENT] =
			pass_product(p, "kv", a, p->param[PARAM_KV_LATENT], false);
	kept[KEPT_Q] =
		pass_rotated(p, pass_product(p, "q", of_q, p->param[PARAM_Q], false));
	kept[KEPT_K] =
		pass_rotated(p, pass_product(p, "k", of_k, p->param[PARAM_K], false));
	kept[KEPT_V] = pass_product(p, "v", of_k, p->param[PARAM_V], false);
	kept[KEPT_K] = whole_sequence(p, kept[KEPT_K]);
	kept[KEPT_V] = whole_sequence(p, kept[KEPT_V]);
}

static struct array_of dense(struct pass *p, struct array_of b)
{
	const struct layer_shape *s = p->s;
	struct array_of up = pass_product(p, "up", b, p->param[PARAM_UP], false);
	struct array_of act = array_new(s->type, 2, s->tokens, s->ffn, 0, 0);

	p->kept[KEPT_UP] = up;
	act = write_combine(p->w, "activation", act, &up, 1);
	p->kept[KEPT_ACT] = act;
	return pass_product(p, "down", act, p->param[PARAM_DOWN], false);
}

static struct array_of experts(struct pass *p, struct array_of b)
{
	const struct layer_shape *s = p->s;
	struct array_of x, act;

	x = pass_product(p, "router", b, p->param[PARAM_ROUTER], false);
	write_keep(p->w, write_combine(p->w, "router", x, &x, 1));
	x = pass_dispatch(p, b, false);
	p->kept[KEPT_ROWS] = x;
	x = pass_product(p, "up", x, p->param[PARAM_EXPERT_UP], false);
	p->kept[KEPT_EXPERT_UP] = x;
	act = array_new(s->type, 3, s->experts, s->rows, s->m->moe.ffn, 0);
	act = write_combine(p->w, "activation", act, &x, 1);
	p->kept[KEPT_EXPERT_ACT] = act;
	x = pass_product(p, "down", act, p->param[PARAM_EXPERT_DOWN], false);
	return pass_dispatch(p, x, true);
}

struct array_of layer_forward(struct pass *p, struct array_of x)
{
	struct array_of *kept = p->kept, sum[3], y;
	int n = 0;

	kept[KEPT_X] = x;
	kept[KEPT_NORM] = norm(p, "norm", x, p->param[PARAM_NORM]);
	project(p, pass_gathered(p, kept[KEPT_NORM]));
	kept[KEPT_ATTENTION] = attend(p);
	y = pass_product(p, "o", kept[KEPT_ATTENTION], p->param[PARAM_O], false);
	sum[0] = x;
	sum[1] = pass_dropped(p, KEPT_ATTENTION_MASK, pass_reduced(p, y));
	kept[KEPT_X1] = write_combine(p->w, "add", x, sum, 2);
	kept[KEPT_NORM2] = norm(p, "norm", kept[KEPT_X1], p->param[PARAM_NORM2]);
	sum[n++] = kept[KEPT_X1];
	if (p->s->ffn)
		sum[n++] = pass_dropped(
			p, KEPT_MASK,
			pass_reduced(p, dense(p, pass_gathered(p, kept[KEPT_NORM2]))));
	if (p->s->experts)
		sum[n++] = experts(p, kept[KEPT_NORM2]);
	pass_eager(p, x, 5);
	return write_combine(p->w, "add", x, sum, n);
}
