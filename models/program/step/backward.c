/* The backward pass of a layer. */
#include "program/step/pass.h"

#include <string.h>

static struct array_of sum_of(struct pass *p, struct array_of a, struct array_of b)
{
	struct array_of in[2] = {a, b};

	return write_combine(p->w, "add", a, in, 2);
}

static struct array_of norm_back(struct pass *p, enum layer_param_name name,
                                 struct array_of d, struct array_of x)
{
	struct array_of in[2] = {d, x};
	struct array_of grad = write_combine(p->w, "norm", x, in, 2);

	p->grad[name] =
		write_convert(p->w, write_reduce(p->w, "norm", grad), p->s->type);
	return write_combine(p->w, "norm", x, in, 2);
}

/* The gradient of a projection y = x W; that of x comes back. */
static struct array_of project_back(struct pass *p, enum layer_param_name name,
                                    struct array_of x, struct array_of dy)
{
	if (p->s->m->bias)
		write_keep(p->w, write_reduce(p->w, "bias", dy));
	p->grad[name] = pass_product_grad(p, "grad", x, dy);
	return pass_product(p, "input", dy, p->param[name], true);
}

static struct array_of dense_back(struct pass *p, struct array_of b, struct array_of dy)
{
	struct array_of in[2], up = p->kept[KEPT_UP];

	in[0] = project_back(p, PARAM_DOWN, p->kept[KEPT_ACT], dy);
	in[1] = up;
	return project_back(p, PARAM_UP, b,
	                    write_combine(p->w, "activation", up, in, 2));
}

static struct array_of experts_back(struct pass *p, struct array_of dy)
{
	struct array_of x = pass_dispatch(p, dy, false), up = p->kept[KEPT_EXPERT_UP];
	struct array_of router =
		array_new(p->s->type, 2, p->s->held, p->s->m->moe.experts, 0, 0);
	struct array_of d, in[2];

	in[0] = project_back(p, PARAM_EXPERT_DOWN, p->kept[KEPT_EXPERT_ACT], x);
	in[1] = up;
	x = write_combine(p->w, "activation", up, in, 2);
	x = project_back(p, PARAM_EXPERT_UP, p->kept[KEPT_ROWS], x);
	x = pass_dispatch(p, x, true);
	router = write_op(p->w, "broadcast", "router", router,
	                  (struct array_of[]){write_zero(p->w, router.type)}, 1,
	                  ", dimensions={}");
	d = project_back(p, PARAM_ROUTER, p->kept[KEPT_NORM2], router);
	return sum_of(p, x, d);
}

static void math_back(struct pass *p, struct array_of d, struct array_of *dq,
                      struct array_of *dk, struct array_of *dv)
{
	const struct layer_shape *s = p->s;
	int64_t groups = s->batch * s->kv_heads, per = s->heads / s->kv_heads;
	int64_t keys = s->m->train.seq;
	struct array_of q, k, v, in[2];
	struct array_of scores = p->kept[KEPT_SCORES], result;

	q = write_view(p->w, p->kept[KEPT_Q], 3, groups, per * s->seq, s->head, 0);
	k = write_view(p->w, p->kept[KEPT_K], 3, groups, keys, s->head, 0);
	v = write_view(p->w, p->kept[KEPT_V], 3, groups, keys, s->value, 0);
	d = write_view(p->w, d, 3, groups, per * s->seq, s->value, 0);
	if (s->m->train.recompute == RECOMPUTE_SELECTIVE)
		scores = pass_scores(p, p->kept[KEPT_Q], p->kept[KEPT_K]);
	result = s->m->train.dropout ? p->kept[KEPT_SCORES_DROPPED] : scores;
	if (s->m->train.recompute == RECOMPUTE_SELECTIVE)
		result = pass_dropped(p, KEPT_SCORES_MASK, scores);
	*dv = write_dot_grad(p->w, "values", s->type, result, d);
	in[0] = write_dot(p->w, "values", s->type, d, v, true);
	in[0] = pass_dropped_back(p, KEPT_SCORES_MASK, in[0]);
	in[1] = scores;
	in[0] = write_combine(p->w, "softmax", scores, in, 2);
	*dq = write_dot(p->w, "scores", s->type, in[0], k, false);
	*dk = write_dot_grad(p->w, "scores", s->type, in[0], q);
}

static void flash_back(struct pass *p, struct array_of d, struct array_of *dq,
                       struct array_of *dk, struct array_of *dv)
{
	const struct layer_shape *s = p->s;
	struct array_of *kept = p->kept, in[5], out[3];
	int64_t keys = s->m->train.seq;

	in[0] = write_view(p->w, kept[KEPT_Q], 4, s->batch, s->seq, s->heads, s->head);
	in[1] = write_view(p->w, kept[KEPT_K], 4, s->batch, keys, s->kv_heads, s->head);
	in[2] = write_view(p->w, kept[KEPT_V], 4, s->batch, keys, s->kv_heads, s->value);
	in[3] = write_view(p->w, kept[KEPT_ATTENTION], 4, s->batch, s->seq, s->heads,
	                   s->value);
	in[4] = write_view(p->w, d, 4, s->batch, s->seq, s->heads, s->value);
	memcpy(out, in, sizeof(out));
	write_tuple_op(p->w, "custom-call", "attention", in, 5, out, 3,
	               pass_attention(p, true));
	*dq = out[0];
	*dk = out[1];
	*dv = out[2];
}

static struct array_of own_sequence(struct pass *p, struct array_of x, int64_t columns)
{
	const struct layer_shape *s = p->s;

	x = write_view(p->w, x, 3, s->batch, s->m->train.seq, columns, 0);
	x = write_scatter(p->w, AXIS_CONTEXT, x, 1);
	return write_view(p->w, x, 2, s->tokens, columns, 0, 0);
}

static struct array_of attention_back(struct pass *p, struct array_of a,
                                      struct array_of dy)
{
	const struct layer_shape *s = p->s;
	struct array_of d, dq, dk, dv, of_q = a, of_k = a;

	d = project_back(p, PARAM_O, p->kept[KEPT_ATTENTION], dy);
	if (s->m->train.attention == ATTENTION_MATH)
		math_back(p, d, &dq, &dk, &dv);
	else
		flash_back(p, d, &dq, &dk, &dv);
	dq = pass_rotated(p,
	                  write_view(p->w, dq, 2, s->tokens, s->heads * s->head, 0, 0));
	dk = pass_rotated(p, own_sequence(p, dk, s->kv_heads * s->head));
	dv = own_sequence(p, dv, s->kv_heads * s->value);
	if (layer_has(&s->param[PARAM_Q_LATENT]))
		of_q = p->kept[KEPT_Q_LATENT];
	if (layer_has(&s->param[PARAM_KV_LATENT]))
		of_k = p->kept[KEPT_KV_LATENT];
	dq = project_back(p, PARAM_Q, of_q, dq);
	dk = sum_of(p, project_back(p, PARAM_K, of_k, dk),
	            project_back(p, PARAM_V, of_k, dv));
	if (layer_has(&s->param[PARAM_Q_LATENT]))
		dq = project_back(p, PARAM_Q_LATENT, a, dq);
	if (layer_has(&s->param[PARAM_KV_LATENT]))
		dk = project_back(p, PARAM_KV_LATENT, a, dk);
	return sum_of(p, dq, dk);
}

struct array_of layer_backward(struct pass *p, struct array_of dy)
{
	const struct layer_shape *s = p->s;
	struct array_of *kept = p->kept, d = dy, dx;
	bool any = false;

	if (s->ffn) {
		d = pass_dropped_back(p, KEPT_MASK, write_convert(p->w, dy, s->type));
		d = dense_back(p, pass_gathered(p, kept[KEPT_NORM2]),
		               pass_gathered(p, d));
		d = pass_reduced(p, d);
		any = true;
	}
	if (s->experts) {
		struct array_of e = experts_back(p, write_convert(p->w, dy, s->type));

		d = any ? sum_of(p, d, e) : e;
	}
	dx = sum_of(p, norm_back(p, PARAM_NORM2, d, kept[KEPT_X1]), dy);
	d = pass_dropped_back(p, KEPT_ATTENTION_MASK, write_convert(p->w, dx, s->type));
	d = attention_back(p, pass_gathered(p, kept[KEPT_NORM]), pass_gathered(p, d));
	d = pass_reduced(p, d);
	pass_eager(p, dy, 10);
	return sum_of(p, norm_back(p, PARAM_NORM, d, kept[KEPT_X]), dx);
}
