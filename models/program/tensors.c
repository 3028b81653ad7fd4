#include "program/tensors.h"

#include "base/list.h"

/* The tensors made so far, and the layer that is being made. */
struct making {
	struct arena *arena;
	const struct architecture *model;
	int64_t layer;
	LIST(struct model_tensor) list;
};

/* A dimension with what it runs over. */
struct dim {
	int64_t n;
	enum tensor_axis axis;
};

/* Adds a tensor, in a layer under the layer's name; dimensions of no elements end it. */
static struct model_tensor *add(struct making *making, const char *name,
                                struct dim first, struct dim second, struct dim third)
{
	const struct dim dims[3] = {first, second, third};
	struct model_tensor *t = list_add(&making->list, making->arena);
	int64_t layer = making->layer;
	bool inside = layer >= 0 && layer < making->model->layers;

	*t = (struct model_tensor){.layer = layer};
	t->name = inside ? arena_printf(making->arena, "model.layers.%lld.%s",
	                                (long long)layer, name)
	                 : arena_strdup(making->arena, name);
	while (t->rank < 3 && dims[t->rank].n > 0) {
		t->dim[t->rank] = dims[t->rank].n;
		t->axis[t->rank] = dims[t->rank].axis;
		t->rank++;
	}
	return t;
}

static const struct dim none = {0, TENSOR_OTHER};

static struct dim hidden_of(const struct making *making)
{
	return (struct dim){making->model->hidden, TENSOR_HIDDEN};
}

/* Adds a norm over `n` channels. */
static void add_norm(struct making *making, const char *name, struct dim n)
{
	add(making, arena_printf(making->arena, "%s.weight", name), n, none, none);
	if (making->model->norm == NORM_LAYER)
		add(making, arena_printf(making->arena, "%s.bias", name), n, none, none);
}

/* Adds the matrix of a projection, and its bias where the model has them. */
static void add_projection(struct making *making, const char *name, struct dim out,
                           struct dim in)
{
	add(making, arena_printf(making->arena, "%s.weight", name), out, in, none);
	if (making->model->bias)
		add(making, arena_printf(making->arena, "%s.bias", name), out, none,
		    none);
}

static void add_attention(struct making *making)
{
	const struct architecture *m = making->model;
	struct dim hidden = hidden_of(making);
	struct dim head = {m->head_dim, TENSOR_OTHER};
	struct dim q = {m->heads * m->head_dim, TENSOR_HEADS};
	struct dim kv = {m->kv_heads * m->head_dim, TENSOR_KV_HEADS};

	add_projection(making, "self_attn.q_proj", q, hidden);
	add_projection(making, "self_attn.k_proj", kv, hidden);
	add_projection(making, "self_attn.v_proj", kv, hidden);
	add_projection(making, "self_attn.o_proj", hidden, q);
	if (m->qk_norm) {
		add_norm(making, "self_attn.q_norm", head);
		add_norm(making, "self_attn.k_norm", head);
	}
}

/* Adds latent attention: every head's part of keys and values is made of one vector. */
static void add_latent_attention(struct making *making)
{
	const struct architecture *m = making->model;
	const struct model_mla *mla = &m->mla;
	struct dim hidden = hidden_of(making);
	struct dim q = {m->heads * (m->head_dim + mla->rope_dim), TENSOR_HEADS};
	struct dim kv = {m->heads * (m->head_dim + mla->v_dim), TENSOR_HEADS};
	struct dim q_rank = {mla->q_rank, TENSOR_OTHER};
	struct dim kv_rank = {mla->kv_rank, TENSOR_OTHER};
	struct dim kv_and_key = {mla->kv_rank + mla->rope_dim, TENSOR_OTHER};

	if (mla->q_rank) {
		add_projection(making, "self_attn.q_a_proj", q_rank, hidden);
		add_norm(making, "self_attn.q_a_layernorm", q_rank);
		add_projection(making, "self_attn.q_b_proj", q, q_rank);
	} else {
		add_projection(making, "self_attn.q_proj", q, hidden);
	}
	add_projection(making, "self_attn.kv_a_proj_with_mqa", kv_and_key, hidden);
	add_norm(making, "self_attn.kv_a_layernorm", kv_rank);
	add_projection(making, "self_attn.kv_b_proj", kv, kv_rank);
	add_projection(making, "self_attn.o_proj", hidden,
	               (struct dim){m->heads * mla->v_dim, TENSOR_HEADS});
}

/* Adds a feed-forward layer that every token goes through. */
static void add_dense(struct making *making, const char *name, int64_t width)
{
	struct dim hidden = hidden_of(making), ffn = {width, TENSOR_FFN};

	if (making->model->gated)
		add_projection(making, arena_printf(making->arena, "%s.gate_proj", name),
		               ffn, hidden);
	add_projection(making, arena_printf(making->arena, "%s.up_proj", name), ffn,
	               hidden);
	add_projection(making, arena_printf(making->arena, "%s.down_proj", name),
	               hidden, ffn);
}

static void add_experts(struct making *making)
{
	const struct model_moe *moe = &making->model->moe;
	struct dim hidden = hidden_of(making), ffn = {moe->ffn, TENSOR_FFN};
	struct dim experts = {moe->experts, TENSOR_EXPERTS};
	static const char *const name[] = {"gate", "up", "down"};

	/* The router is small, and every device of a token needs all of it. */
	add(making, "mlp.gate.weight", (struct dim){moe->experts, TENSOR_OTHER}, hidden,
	    none);
	for (int i = making->model->gated ? 0 : 1; i < 3; i++) {
		bool down = i == 2;

		add(making,
		    arena_printf(making->arena, "mlp.experts.%s_proj.weight", name[i]),
		    experts, down ? hidden : ffn, down ? ffn : hidden)
			->in_expert = true;
		if (making->model->bias)
			add(making,
			    arena_printf(making->arena, "mlp.experts.%s_proj.bias",
			                 name[i]),
			    experts, down ? hidden : ffn, none)
				->in_expert = true;
	}
	if (moe->shared)
		add_dense(making, "mlp.shared_experts", moe->shared * moe->ffn);
}

static void add_layer(struct making *making)
{
	const struct architecture *m = making->model;

	add_norm(making, "input_layernorm", hidden_of(making));
	if (m->mla.kv_rank)
		add_latent_attention(making);
	else
		add_attention(making);
	add_norm(making, "post_attention_layernorm", hidden_of(making));
	if (architecture_has_experts(m, making->layer))
		add_experts(making);
	else
		add_dense(making, "mlp", m->ffn);
}

void model_tensors(struct model_tensor **out, int64_t *n, struct arena *a,
                   const struct architecture *m)
{
	struct making making = {.arena = a, .model = m, .layer = -1};
	struct dim vocab = {architecture_vocab(m), TENSOR_VOCAB};
	struct dim hidden = hidden_of(&making);

	add(&making, "model.embed_tokens.weight", vocab, hidden, none);
	if (m->positions == POSITIONS_LEARNED)
		add(&making, "model.embed_positions.weight",
		    (struct dim){m->train.seq, TENSOR_OTHER}, hidden, none);
	for (making.layer = 0; making.layer < m->layers; making.layer++)
		add_layer(&making);
	if (m->final_norm)
		add_norm(&making, "model.norm", hidden);
	if (m->head == HEAD_UNTIED)
		add(&making, "lm_head.weight", vocab, hidden, none);
	*out = making.list.at;
	*n = making.list.n;
}

int64_t model_tensor_elements(const struct model_tensor *t)
{
	int64_t n = 1;

	for (int i = 0; i < t->rank; i++)
		n *= t->dim[i];
	return n;
}

int64_t model_parameters(const struct architecture *m)
{
	struct arena *scratch = arena_new();
	struct model_tensor *tensor;
	int64_t n, sum = 0;

	model_tensors(&tensor, &n, scratch, m);
	for (int64_t i = 0; i < n; i++)
		sum += model_tensor_elements(&tensor[i]);
	arena_free(scratch);
	return sum;
}
