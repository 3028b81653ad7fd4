/* The sizes of a layer and its parameters: parts that devices keep, gathered and summed. */
#include "program/step/pass.h"

#include <string.h>

bool layer_has(const struct layer_param *p)
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

void layer_set_shape(struct layer_shape *s, const struct step_writer *w,
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
void pass_gather_params(struct pass *p, const struct array_of *part)
{
	struct array_of x[LAYER_PARAMS];
	const struct layer_shape *s = p->s;

	for (int experts = 0; experts < 2; experts++) {
		int n = 0, at = 0;

		for (int i = 0; i < LAYER_PARAMS; i++) {
			if (layer_has(&s->param[i]) && !s->param[i].experts == !experts)
				x[n++] = part[at];
			at += layer_has(&s->param[i]);
		}
		if (p->w->degree[AXIS_FSDP] > 1)
			write_bundle(p->w, "all-gather",
			             experts ? AXIS_EXPERT_SHARES : AXIS_FSDP, x, n);
		n = 0;
		for (int i = 0; i < LAYER_PARAMS; i++)
			if (layer_has(&s->param[i]) && !s->param[i].experts == !experts)
				p->param[i] = layer_shaped(p->w, &s->param[i], x[n++]);
	}
}

/* Reduces the gradients to the parts that the device keeps, in the order of the parts. */
void pass_scatter_grads(struct pass *p, struct array_of *out)
{
	struct array_of x[LAYER_PARAMS];
	const struct layer_shape *s = p->s;

	for (int experts = 0; experts < 2; experts++) {
		enum step_axis axis = experts ? AXIS_EXPERT_SHARES : AXIS_FSDP;
		int64_t by = p->w->degree[AXIS_FSDP] > 1 ? p->w->degree[axis] : 1;
		int n = 0, at = 0;

		for (int i = 0; i < LAYER_PARAMS; i++)
			if (layer_has(&s->param[i]) && !s->param[i].experts == !experts)
				x[n++] = layer_padded(
					p->w, &s->param[i], p->grad[i],
					by * layer_part(p->w, &s->param[i], s->type)
							.dim[0]);
		if (by > 1)
			write_bundle(p->w, "reduce-scatter", axis, x, n);
		n = 0;
		for (int i = 0; i < LAYER_PARAMS; i++) {
			if (layer_has(&s->param[i]) && !s->param[i].experts == !experts)
				out[at] = x[n++];
			at += layer_has(&s->param[i]);
		}
	}
}
