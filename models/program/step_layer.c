#include "program/step_layer.h"

#include <string.h>

enum { ROUNDED_MAX = 64 };

/* A pass that is being written: parameters as they are gathered, and what was made. */
struct pass {
	struct step_writer *w;
	const struct layer_shape *s;
	/* Arrays that projections read, as they are and rounded. */
	struct array_of exact[ROUNDED_MAX], rounded[ROUNDED_MAX];
	int nrounded;
	struct array_of param[LAYER_PARAMS];
	struct array_of kept[LAYER_KEPT];
	struct array_of grad[LAYER_PARAMS];
};

static bool is_there(const struct layer_param *p)
{
	return p->columns > 0;
}

double layer_param_elements(const struct layer_param *p)
{
	return (double)p->columns * (double)(p->rows ? p->rows : 1) *
	       (double)(p->experts ? p->experts : 1);
}

/* --- sizes ------------------------------------------------------------------------ */

static void set(struct layer_shape *s, enum layer_param_name name, int64_t rows,
                int64_t columns, int64_t experts)
{
	s->param[name] = (struct layer_param){rows, columns, experts};
}

static void set_attention(struct layer_shape *s)
{
	const struct architecture *m = s->m;
	int64_t h = m->hidden;

	set(s, PARAM_NORM, 0, h, 0);
	set(s, PARAM_NORM2, 0, h, 0);
	set(s, PARAM_O, s->heads * s->value, h, 0);
	if (m->mla.kv_rank) {
		if (m->mla.q_rank)
			set(s, PARAM_Q_LATENT, h, m->mla.q_rank, 0);
		set(s, PARAM_Q, m->mla.q_rank ? m->mla.q_rank : h, s->heads * s->head,
		    0);
		set(s, PARAM_KV_LATENT, h, m->mla.kv_rank + m->mla.rope_dim, 0);
		set(s, PARAM_K, m->mla.kv_rank + m->mla.rope_dim, s->heads * s->head, 0);
		set(s, PARAM_V, m->mla.kv_rank + m->mla.rope_dim, s->heads * s->value,
		    0);
		return;
	}
	set(s, PARAM_Q, h, s->heads * s->head, 0);
	set(s, PARAM_K, h, s->kv_heads * s->head, 0);
	set(s, PARAM_V, h, s->kv_heads * s->value, 0);
}

static void set_feed_forward(struct layer_shape *s, const struct step_writer *w,
                             bool experts)
{
	const struct architecture *m = s->m;
	int64_t h = m->hidden, gates = m->gated ? 2 : 1, t = w->degree[AXIS_TENSOR];

	s->ffn = (experts ? m->moe.shared * m->moe.ffn : m->ffn) / t;
	if (s->ffn) {
		set(s, PARAM_UP, h, gates * s->ffn, 0);
		set(s, PARAM_DOWN, s->ffn, h, 0);
	}
	if (!experts)
		return;
	s->experts = m->moe.experts / w->degree[AXIS_EXPERT];
	/* Tokens of all the devices that share these experts, spread evenly. */
	s->rows = (int64_t)((double)s->held * (double)m->moe.top_k *
	                    (double)w->degree[AXIS_EXPERT] / (double)m->moe.experts *
	                    (m->moe.capacity > 0 ? m->moe.capacity : 1));
	if (s->rows < 1)
		s->rows = 1;
	set(s, PARAM_ROUTER, h, m->moe.experts, 0);
	set(s, PARAM_EXPERT_UP, h, gates * m->moe.ffn, s->experts);
	set(s, PARAM_EXPERT_DOWN, m->moe.ffn, h, s->experts);
}

static void set_shape(struct layer_shape *s, const struct step_writer *w,
                      const struct architecture *m, bool experts)
{
	int64_t t = w->degree[AXIS_TENSOR];

	*s = (struct layer_shape){.m = m, .type = m->train.dtype->name};
	s->residual = m->train.residual_dtype ? m->train.residual_dtype->name : s->type;
	s->rounded = m->train.matmul_dtype ? m->train.matmul_dtype->name : NULL;
	s->batch = m->train.micro_batch;
	s->seq = m->train.seq / w->degree[AXIS_CONTEXT];
	s->keys = m->window && m->window < m->train.seq ? m->window : m->train.seq;
	s->tokens = s->batch * s->seq;
	s->gathers_tokens = m->train.sequence_parallel && t > 1;
	s->held = s->gathers_tokens ? s->tokens / t : s->tokens;
	s->heads = m->heads / t;
	s->kv_heads = m->mla.kv_rank ? s->heads : m->kv_heads > t ? m->kv_heads / t : 1;
	s->head = m->head_dim + (m->mla.kv_rank ? m->mla.rope_dim : 0);
	s->value = m->mla.kv_rank ? m->mla.v_dim : m->head_dim;
	s->recomputes = m->train.recompute == RECOMPUTE_FULL;
	s->regathers = w->degree[AXIS_FSDP] > 1 && m->train.zero != 2;
	set_attention(s);
	set_feed_forward(s, w, experts);
}

/* --- parameters ------------------------------------------------------------------- */

static enum step_axis shards(const struct layer_param *p)
{
	return p->experts ? AXIS_EXPERT_SHARES : AXIS_FSDP;
}

/* The vector that a device keeps of a parameter; it is padded to equal parts. */
struct array_of layer_part(const struct step_writer *w, const struct layer_param *p,
                           const char *type)
{
	int64_t n = (int64_t)layer_param_elements(p), by = w->degree[shards(p)];

	if (w->degree[AXIS_FSDP] == 1)
		by = 1;
	return array_new(type, 1, (n + by - 1) / by, 0, 0, 0);
}

/* Brings a vector, whole or padded, into the shape of its parameter. */
struct array_of layer_shaped(struct step_writer *w, const struct layer_param *p,
                             struct array_of x)
{
	struct array_of out =
		array_new(x.type, 1, (int64_t)layer_param_elements(p), 0, 0, 0);
	struct text how = {0};

	if (x.dim[0] > out.dim[0]) {
		text_printf(&how, ", slice={[0:%lld]}", (long long)out.dim[0]);
		x = write_op(w, "slice", "unpad", out, &x, 1, how.s);
		text_free(&how);
	}
	if (p->experts)
		return write_view(w, x, 3, p->experts, p->rows, p->columns, 0);
	return p->rows ? write_view(w, x, 2, p->rows, p->columns, 0, 0) : x;
}

struct array_of layer_padded(struct step_writer *w, const struct layer_param *p,
                             struct array_of x, int64_t n)
{
	struct array_of in[2], out = array_new(x.type, 1, n, 0, 0, 0);
	struct text how = {0};
	int64_t had = (int64_t)layer_param_elements(p);

	x = write_view(w, x, 1, had, 0, 0, 0);
	if (had == n)
		return x;
	in[0] = x;
	in[1] = write_zero(w, x.type);
	text_printf(&how, ", padding=0_%lld", (long long)(n - had));
	x = write_op(w, "pad", "pad", out, in, 2, how.s);
	text_free(&how);
	return x;
}

/* Gathers the parts of all parameters of dense layers in one collective, of experts in another. */
static void gather_params(struct pass *p, const struct array_of *part)
{
	struct array_of x[LAYER_PARAMS];
	const struct layer_shape *s = p->s;

	for (int experts = 0; experts < 2; experts++) {
		int n = 0, at = 0;

		for (int i = 0; i < LAYER_PARAMS; i++) {
			if (is_there(&s->param[i]) && !s->param[i].experts == !experts)
				x[n++] = part[at];
			at += is_there(&s->param[i]);
		}
		if (p->w->degree[AXIS_FSDP] > 1)
			write_bundle(p->w, "all-gather",
			             experts ? AXIS_EXPERT_SHARES : AXIS_FSDP, x, n);
		n = 0;
		for (int i = 0; i < LAYER_PARAMS; i++)
			if (is_there(&s->param[i]) && !s->param[i].experts == !experts)
				p->param[i] = layer_shaped(p->w, &s->param[i], x[n++]);
	}
}

/* Reduces the gradients to the parts that the device keeps, in the order of the parts. */
static void scatter_grads(struct pass *p, struct array_of *out)
{
	struct array_of x[LAYER_PARAMS];
	const struct layer_shape *s = p->s;

	for (int experts = 0; experts < 2; experts++) {
		enum step_axis axis = experts ? AXIS_EXPERT_SHARES : AXIS_FSDP;
		int64_t by = p->w->degree[AXIS_FSDP] > 1 ? p->w->degree[axis] : 1;
		int n = 0, at = 0;

		for (int i = 0; i < LAYER_PARAMS; i++)
			if (is_there(&s->param[i]) && !s->param[i].experts == !experts)
				x[n++] = layer_padded(
					p->w, &s->param[i], p->grad[i],
					by * layer_part(p->w, &s->param[i], s->type)
							.dim[0]);
		if (by > 1)
			write_bundle(p->w, "reduce-scatter", axis, x, n);
		n = 0;
		for (int i = 0; i < LAYER_PARAMS; i++) {
			if (is_there(&s->param[i]) && !s->param[i].experts == !experts)
				out[at] = x[n++];
			at += is_there(&s->param[i]);
		}
	}
}

/* --- types ------------------------------------------------------------------------ */

static struct array_of as_type(struct pass *p, struct array_of x, const char *type)
{
	struct array_of out = x;

	out.type = type;
	return strcmp(x.type, type)
	               ? write_op(p->w, "convert", "convert", out, &x, 1, "")
	               : x;
}

/* What a projection reads of x; an array is rounded once for all that read it. */
static struct array_of rounded(struct pass *p, struct array_of x)
{
	if (!p->s->rounded)
		return x;
	for (int i = 0; i < p->nrounded; i++)
		if (p->exact[i].number == x.number)
			return p->rounded[i];
	if (p->nrounded == ROUNDED_MAX)
		return as_type(p, x, p->s->rounded);
	p->exact[p->nrounded] = x;
	p->rounded[p->nrounded] = as_type(p, x, p->s->rounded);
	return p->rounded[p->nrounded++];
}

/* A projection and its gradient; the results are of the layer's type. */
static struct array_of product(struct pass *p, const char *name, struct array_of x,
                               struct array_of y, bool back)
{
	x = rounded(p, x);
	y = rounded(p, y);
	return write_dot(p->w, name, p->s->type, x, y, back);
}

static struct array_of product_grad(struct pass *p, const char *name, struct array_of x,
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
static void eager_passes(struct pass *p, struct array_of x, int n)
{
	for (int i = 0; i < n && p->w->eager; i++)
		write_keep(p->w, write_combine(p->w, "pass", x, &x, 1));
}

/* --- forward ---------------------------------------------------------------------- */

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

/* The tokens that a matmul reads, and what it leaves of its partial sums. */
static struct array_of gathered(struct pass *p, struct array_of x)
{
	return p->s->gathers_tokens ? write_gather(p->w, AXIS_TENSOR, x, 0) : x;
}

static struct array_of reduced(struct pass *p, struct array_of x)
{
	return p->s->gathers_tokens ? write_scatter(p->w, AXIS_TENSOR, x, 0)
	                            : write_sum(p->w, AXIS_TENSOR, x);
}

static const char *attention_text(const struct pass *p, bool back)
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
static struct array_of dropped(struct pass *p, enum layer_kept mask, struct array_of x)
{
	struct array_of in[2] = {x, x};

	if (!p->s->m->train.dropout)
		return x;
	in[1] = as_type(p, x, "s8");
	p->kept[mask] = in[1];
	return write_combine(p->w, "dropout", x, in, 2);
}

static struct array_of dropped_back(struct pass *p, enum layer_kept mask,
                                    struct array_of d)
{
	struct array_of in[2] = {d, p->kept[mask]};

	return p->s->m->train.dropout ? write_combine(p->w, "dropout", d, in, 2) : d;
}

/* Scores of all keys, as matmuls over groups of heads that share a key. */
static struct array_of scores_of(struct pass *p, struct array_of q, struct array_of k)
{
	const struct layer_shape *s = p->s;
	int64_t groups = s->batch * s->kv_heads, per = s->heads / s->kv_heads;
	struct array_of x;

	q = write_view(p->w, q, 3, groups, per * s->seq, s->head, 0);
	k = write_view(p->w, k, 3, groups, s->m->train.seq, s->head, 0);
	x = write_dot(p->w, "scores", s->type, q, k, true);
	return write_combine(p->w, "softmax", x, &x, 1);
}

static struct array_of attend(struct pass *p)
{
	const struct layer_shape *s = p->s;
	struct array_of *kept = p->kept, in[3], x;
	int64_t groups = s->batch * s->kv_heads, keys = s->m->train.seq;

	if (s->m->train.attention == ATTENTION_MATH) {
		x = scores_of(p, kept[KEPT_Q], kept[KEPT_K]);
		kept[KEPT_SCORES] = x;
		x = dropped(p, KEPT_SCORES_MASK, x);
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
	             attention_text(p, false));
	return write_view(p->w, x, 2, s->tokens, s->heads * s->value, 0, 0);
}

static struct array_of rotated(struct pass *p, struct array_of x)
{
	return p->s->m->positions == POSITIONS_ROPE
	               ? write_combine(p->w, "rope", x, &x, 1)
	               : x;
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

	if (is_there(&p->s->param[PARAM_Q_LATENT]))
		of_q = kept[KEPT_Q_LATENT] =
			product(p, "q", a, p->param[PARAM_Q_LATENT], false);
	if (is_there(&p->s->param[PARAM_KV_LATENT]))
		of_k = kept[KEPT_KV_LATENT] =
			product(p, "kv", a, p->param[PARAM_KV_LATENT], false);
	kept[KEPT_Q] = rotated(p, product(p, "q", of_q, p->param[PARAM_Q], false));
	kept[KEPT_K] = rotated(p, product(p, "k", of_k, p->param[PARAM_K], false));
	kept[KEPT_V] = product(p, "v", of_k, p->param[PARAM_V], false);
	kept[KEPT_K] = whole_sequence(p, kept[KEPT_K]);
	kept[KEPT_V] = whole_sequence(p, kept[KEPT_V]);
}

static struct array_of dense(struct pass *p, struct array_of b)
{
	const struct layer_shape *s = p->s;
	struct array_of up = product(p, "up", b, p->param[PARAM_UP], false);
	struct array_of act = array_new(s->type, 2, s->tokens, s->ffn, 0, 0);

	p->kept[KEPT_UP] = up;
	act = write_combine(p->w, "activation", act, &up, 1);
	p->kept[KEPT_ACT] = act;
	return product(p, "down", act, p->param[PARAM_DOWN], false);
}

/* Tokens go where their experts are; `back` as they come from there. */
static struct array_of dispatch(struct pass *p, struct array_of x, bool back)
{
	const struct layer_shape *s = p->s;
	int64_t h = s->m->hidden, e = p->w->degree[AXIS_EXPERT];
	int64_t rows = s->experts * s->rows;

	if (!back)
		x = write_rows(p->w, "dispatch", x, rows);
	x = write_view(p->w, x, 3, e, rows / e, h, 0);
	x = write_all_to_all(p->w, AXIS_EXPERT, x, 0);
	if (!back)
		return write_view(p->w, x, 3, s->experts, s->rows, h, 0);
	return write_rows(p->w, "combine", write_view(p->w, x, 2, rows, h, 0, 0),
	                  s->held);
}

static struct array_of experts(struct pass *p, struct array_of b)
{
	const struct layer_shape *s = p->s;
	struct array_of x, act;

	x = product(p, "router", b, p->param[PARAM_ROUTER], false);
	write_keep(p->w, write_combine(p->w, "router", x, &x, 1));
	x = dispatch(p, b, false);
	p->kept[KEPT_ROWS] = x;
	x = product(p, "up", x, p->param[PARAM_EXPERT_UP], false);
	p->kept[KEPT_EXPERT_UP] = x;
	act = array_new(s->type, 3, s->experts, s->rows, s->m->moe.ffn, 0);
	act = write_combine(p->w, "activation", act, &x, 1);
	p->kept[KEPT_EXPERT_ACT] = act;
	x = product(p, "down", act, p->param[PARAM_EXPERT_DOWN], false);
	return dispatch(p, x, true);
}

static struct array_of forward(struct pass *p, struct array_of x)
{
	struct array_of *kept = p->kept, sum[3], y;
	int n = 0;

	kept[KEPT_X] = x;
	kept[KEPT_NORM] = norm(p, "norm", x, p->param[PARAM_NORM]);
	project(p, gathered(p, kept[KEPT_NORM]));
	kept[KEPT_ATTENTION] = attend(p);
	y = product(p, "o", kept[KEPT_ATTENTION], p->param[PARAM_O], false);
	sum[0] = x;
	sum[1] = dropped(p, KEPT_ATTENTION_MASK, reduced(p, y));
	kept[KEPT_X1] = write_combine(p->w, "add", x, sum, 2);
	kept[KEPT_NORM2] = norm(p, "norm", kept[KEPT_X1], p->param[PARAM_NORM2]);
	sum[n++] = kept[KEPT_X1];
	if (p->s->ffn)
		sum[n++] = dropped(p, KEPT_MASK,
		                   reduced(p, dense(p, gathered(p, kept[KEPT_NORM2]))));
	if (p->s->experts)
		sum[n++] = experts(p, kept[KEPT_NORM2]);
	eager_passes(p, x, 5);
	return write_combine(p->w, "add", x, sum, n);
}

/* --- backward --------------------------------------------------------------------- */

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

	p->grad[name] = as_type(p, write_reduce(p->w, "norm", grad), p->s->type);
	return write_combine(p->w, "norm", x, in, 2);
}

/* The gradient of a projection y = x W; that of x comes back. */
static struct array_of project_back(struct pass *p, enum layer_param_name name,
                                    struct array_of x, struct array_of dy)
{
	if (p->s->m->bias)
		write_keep(p->w, write_reduce(p->w, "bias", dy));
	p->grad[name] = product_grad(p, "grad", x, dy);
	return product(p, "input", dy, p->param[name], true);
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
	struct array_of x = dispatch(p, dy, false), up = p->kept[KEPT_EXPERT_UP];
	struct array_of router =
		array_new(p->s->type, 2, p->s->held, p->s->m->moe.experts, 0, 0);
	struct array_of d, in[2];

	in[0] = project_back(p, PARAM_EXPERT_DOWN, p->kept[KEPT_EXPERT_ACT], x);
	in[1] = up;
	x = write_combine(p->w, "activation", up, in, 2);
	x = project_back(p, PARAM_EXPERT_UP, p->kept[KEPT_ROWS], x);
	x = dispatch(p, x, true);
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
		scores = scores_of(p, p->kept[KEPT_Q], p->kept[KEPT_K]);
	result = s->m->train.dropout ? p->kept[KEPT_SCORES_DROPPED] : scores;
	if (s->m->train.recompute == RECOMPUTE_SELECTIVE)
		result = dropped(p, KEPT_SCORES_MASK, scores);
	*dv = write_dot_grad(p->w, "values", s->type, result, d);
	in[0] = write_dot(p->w, "values", s->type, d, v, true);
	in[0] = dropped_back(p, KEPT_SCORES_MASK, in[0]);
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
	               attention_text(p, true));
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
	dq = rotated(p, write_view(p->w, dq, 2, s->tokens, s->heads * s->head, 0, 0));
	dk = rotated(p, own_sequence(p, dk, s->kv_heads * s->head));
	dv = own_sequence(p, dv, s->kv_heads * s->value);
	if (is_there(&s->param[PARAM_Q_LATENT]))
		of_q = p->kept[KEPT_Q_LATENT];
	if (is_there(&s->param[PARAM_KV_LATENT]))
		of_k = p->kept[KEPT_KV_LATENT];
	dq = project_back(p, PARAM_Q, of_q, dq);
	dk = sum_of(p, project_back(p, PARAM_K, of_k, dk),
	            project_back(p, PARAM_V, of_k, dv));
	if (is_there(&s->param[PARAM_Q_LATENT]))
		dq = project_back(p, PARAM_Q_LATENT, a, dq);
	if (is_there(&s->param[PARAM_KV_LATENT]))
		dk = project_back(p, PARAM_KV_LATENT, a, dk);
	return sum_of(p, dq, dk);
}

static struct array_of backward(struct pass *p, struct array_of dy)
{
	const struct layer_shape *s = p->s;
	struct array_of *kept = p->kept, d = dy, dx;
	bool any = false;

	if (s->ffn) {
		d = dropped_back(p, KEPT_MASK, as_type(p, dy, s->type));
		d = dense_back(p, gathered(p, kept[KEPT_NORM2]), gathered(p, d));
		d = reduced(p, d);
		any = true;
	}
	if (s->experts) {
		struct array_of e = experts_back(p, as_type(p, dy, s->type));

		d = any ? sum_of(p, d, e) : e;
	}
	dx = sum_of(p, norm_back(p, PARAM_NORM2, d, kept[KEPT_X1]), dy);
	d = dropped_back(p, KEPT_ATTENTION_MASK, as_type(p, dx, s->type));
	d = attention_back(p, gathered(p, kept[KEPT_NORM]), gathered(p, d));
	d = reduced(p, d);
	eager_passes(p, dy, 10);
	return sum_of(p, norm_back(p, PARAM_NORM, d, kept[KEPT_X]), dx);
}

/* --- computations ----------------------------------------------------------------- */

/* What the backward pass is handed: all, or x alone where it computes the rest again. */
static bool is_saved(const struct layer_shape *s, int kept)
{
	if (s->recomputes)
		return kept == KEPT_X;
	if (kept == KEPT_SCORES || kept == KEPT_SCORES_MASK ||
	    kept == KEPT_SCORES_DROPPED)
		return s->m->train.recompute != RECOMPUTE_SELECTIVE;
	return true;
}

static void write_forward(struct layer *l, struct step_writer *w)
{
	const struct layer_shape *s = &l->shape;
	struct pass p = {.w = w, .s = s};
	struct array_of x, part[LAYER_PARAMS], out[1 + LAYER_KEPT + LAYER_PARAMS];

	for (int i = 0; i < LAYER_KEPT; i++)
		p.kept[i].number = -1;
	w->part = "forward";
	write_begin(w);
	x = write_param(w, array_new(s->residual, 2, s->held, s->m->hidden, 0, 0));
	for (int i = 0; i < l->nparts; i++)
		part[i] = write_param(w, l->part[i]);
	gather_params(&p, part);
	out[0] = forward(&p, x);
	for (int i = 0; i < LAYER_KEPT; i++)
		if (p.kept[i].number >= 0 && is_saved(s, i))
			l->saved[l->nsaved++] = p.kept[i];
	if (w->degree[AXIS_FSDP] > 1 && !s->regathers)
		for (int i = 0; i < LAYER_PARAMS; i++)
			if (is_there(&s->param[i]))
				l->saved[l->nsaved++] = p.param[i];
	memcpy(out + 1, l->saved, (size_t)l->nsaved * sizeof(*out));
	l->forward = write_end(w, out, 1 + l->nsaved, false);
	for (int i = 0; i < LAYER_KEPT; i++)
		l->made[i] = p.kept[i].number >= 0;
}

static void write_backward(struct layer *l, struct step_writer *w)
{
	const struct layer_shape *s = &l->shape;
	struct pass p = {.w = w, .s = s};
	struct array_of dy, part[LAYER_PARAMS], saved[LAYER_KEPT + LAYER_PARAMS];
	struct array_of out[1 + LAYER_PARAMS];
	int at = 0;

	w->part = "backward";
	write_begin(w);
	dy = write_param(w, array_new(s->residual, 2, s->held, s->m->hidden, 0, 0));
	for (int i = 0; i < l->nsaved; i++)
		saved[i] = write_param(w, l->saved[i]);
	for (int i = 0; i < l->nparts; i++)
		part[i] = write_param(w, l->part[i]);
	for (int i = 0; i < LAYER_KEPT; i++)
		if (l->made[i] && is_saved(s, i))
			p.kept[i] = saved[at++];
	if (w->degree[AXIS_FSDP] > 1 && !s->regathers)
		for (int i = 0; i < LAYER_PARAMS; i++)
			if (is_there(&s->param[i]))
				p.param[i] = saved[at++];
	if (s->regathers || w->degree[AXIS_FSDP] == 1)
		gather_params(&p, part);
	if (s->recomputes) {
		w->part = "recompute";
		out[0] = forward(&p, p.kept[KEPT_X]);
		if (w->eager)
			write_keep(w, out[0]);
		w->part = "backward";
	}
	out[0] = backward(&p, dy);
	scatter_grads(&p, out + 1);
	l->backward = write_end(w, out, 1 + l->nparts, false);
}

void layer_write(struct layer *out, struct step_writer *w, const struct architecture *m,
                 bool with_experts)
{
	*out = (struct layer){0};
	set_shape(&out->shape, w, m, with_experts);
	for (int i = 0; i < LAYER_PARAMS; i++)
		if (is_there(&out->shape.param[i])) {
			out->of_experts[out->nparts] = out->shape.param[i].experts > 0;
			out->part[out->nparts++] =
				layer_part(w, &out->shape.param[i], out->shape.type);
		}
	write_forward(out, w);
	write_backward(out, w);
}
