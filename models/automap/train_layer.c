#include "automap/train_layer.h"

#include <math.h>

struct maker {
	struct tape *t;
	const struct architecture *m;
	const char *type;
	struct train_block *out;
};

#define DIMS(...) ((int64_t[]){__VA_ARGS__})

static struct term parameter(struct maker *k, const char *name, int rank,
                             const int64_t *dim)
{
	struct weight *w = &k->out->weight[k->out->n++];

	*w = (struct weight){name, tape_argument(k->t, k->type, rank, dim)};
	return w->term;
}

static struct term matrix(struct maker *k, const char *name, int64_t rows,
                          int64_t columns)
{
	return parameter(k, name, 2, DIMS(rows, columns));
}

static const char *named(struct maker *k, const char *group, const char *name)
{
	return arena_printf(k->t->a, "%s.%s", group, name);
}

/* Over the last dimension of x. */
static struct term norm(struct maker *k, const char *name, struct term x)
{
	int64_t last = x.rank - 1, width = x.dim[last], outer[TERM_RANK];
	struct term mean, square;
	bool layer = k->m->norm == NORM_LAYER;

	for (int i = 0; i < x.rank; i++)
		outer[i] = i;
	if (layer) {
		mean = tape_scaled(k->t, tape_sum(k->t, x, &last, 1),
		                   1. / (double)width);
		x = tape_element(k->t, "subtract", x,
		                 tape_broadcast(k->t, mean, x, outer));
	}
	square = tape_sum(k->t, tape_element(k->t, "multiply", x, x), &last, 1);
	square = tape_unary(k->t, "rsqrt",
	                    tape_scaled(k->t, square, 1. / (double)width));
	x = tape_element(k->t, "multiply", x, tape_broadcast(k->t, square, x, outer));
	x = tape_along(k->t, "multiply", x,
	               parameter(k, named(k, name, "weight"), 1, &width), last);
	if (layer)
		x = tape_along(k->t, "add", x,
		               parameter(k, named(k, name, "bias"), 1, &width), last);
	return x;
}

/* x times a matrix, plus a bias if the model has them. */
static struct term project(struct maker *k, const char *group, const char *name,
                           struct term x, int64_t width)
{
	struct term w = matrix(k, named(k, group, arena_printf(k->t->a, "w%s", name)),
	                       x.dim[2], width);
	struct term y = tape_dot(k->t, "bsh,hf->bsf", x, w);

	if (k->m->bias)
		y = tape_along(
			k->t, "add", y,
			parameter(k, named(k, group, arena_printf(k->t->a, "b%s", name)),
		                  1, &width),
			2);
	return y;
}

static struct term heads_of(struct maker *k, struct term x, int64_t heads)
{
	return tape_reshape(k->t, x, 4,
	                    DIMS(x.dim[0], x.dim[1], heads, x.dim[2] / heads));
}

static struct term softmax(struct maker *k, struct term x)
{
	int64_t last = x.rank - 1, outer[TERM_RANK];
	struct term most, sum;

	for (int i = 0; i < x.rank; i++)
		outer[i] = i;
	most = tape_max(k->t, x, &last, 1);
	x = tape_unary(k->t, "exponential",
	               tape_element(k->t, "subtract", x,
	                            tape_broadcast(k->t, most, x, outer)));
	sum = tape_sum(k->t, x, &last, 1);
	return tape_element(k->t, "divide", x, tape_broadcast(k->t, sum, x, outer));
}

/* Scores, softmax and values; heads of queries come in groups that share keys. */
static struct term plain_attention(struct maker *k, struct term q, struct term key,
                                   struct term v)
{
	int64_t groups = key.dim[2], share = q.dim[2] / groups;
	double scale = 1 / sqrt((double)q.dim[3]);
	struct term p;

	if (share == 1) {
		p = tape_dot(k->t, "bsnd,btnd->bnst", q, key);
		p = softmax(k, tape_scaled(k->t, p, scale));
		return tape_dot(k->t, "bnst,btne->bsne", p, v);
	}
	q = tape_reshape(k->t, q, 5, DIMS(q.dim[0], q.dim[1], groups, share, q.dim[3]));
	p = tape_dot(k->t, "bsgrd,btgd->bgrst", q, key);
	p = softmax(k, tape_scaled(k->t, p, scale));
	q = tape_dot(k->t, "bgrst,btge->bsgre", p, v);
	return tape_reshape(k->t, q, 4,
	                    DIMS(q.dim[0], q.dim[1], groups * share, q.dim[4]));
}

static struct term attention(struct maker *k, struct term x)
{
	const struct architecture *m = k->m;
	const struct model_mla *mla = &m->mla;
	int64_t heads = m->heads, kv = mla->kv_rank ? heads : m->kv_heads;
	int64_t wide = m->head_dim + (mla->kv_rank ? mla->rope_dim : 0);
	int64_t value = mla->kv_rank ? mla->v_dim : m->head_dim;
	struct term q = x, key = x, v, o;

	if (mla->q_rank)
		q = norm(k, "attention.q_norm",
		         project(k, "attention", "q_latent", x, mla->q_rank));
	if (mla->kv_rank)
		key = norm(k, "attention.kv_norm",
		           project(k, "attention", "kv_latent", x, mla->kv_rank));
	q = heads_of(k, project(k, "attention", "q", q, heads * wide), heads);
	v = heads_of(k, project(k, "attention", "v", key, kv * value), kv);
	key = heads_of(k, project(k, "attention", "k", key, kv * wide), kv);
	if (m->positions == POSITIONS_ROPE) {
		q = tape_scaled(k->t, q, 1);
		key = tape_scaled(k->t, key, 1);
	}
	if (m->train.attention == ATTENTION_MATH)
		o = plain_attention(k, q, key, v);
	else
		o = tape_attention(k->t, q, key, v, m->train.causal,
		                   m->train.attention == ATTENTION_TORCH);
	o = tape_reshape(k->t, o, 3, DIMS(x.dim[0], x.dim[1], heads * value));
	return project(k, "attention", "o", o, m->hidden);
}

static struct term swish(struct maker *k, struct term x)
{
	return tape_element(k->t, "multiply", x, tape_unary(k->t, "logistic", x));
}

static struct term mlp(struct maker *k, const char *group, struct term x, int64_t width)
{
	struct term up = project(k, group, "1", x, width);

	if (k->m->gated)
		up = tape_element(k->t, "multiply", up,
		                  swish(k, project(k, group, "gate", x, width)));
	else
		up = swish(k, up);
	return project(k, group, "2", up, k->m->hidden);
}

/* Tokens [b,s,h] to rows [b,e,c,h] of experts and back, weighted by their gates. */
static struct term experts(struct maker *k, struct term x)
{
	const struct model_moe *e = &k->m->moe;
	double rows = (double)e->top_k * (double)x.dim[1] / (double)e->experts *
	              (e->capacity > 0 ? e->capacity : 1);
	int64_t n = e->experts, c = rows < 1 ? 1 : (int64_t)ceil(rows);
	struct term index, gate, up, y;
	struct term of_tokens = term_new("s32", 3, DIMS(x.dim[0], n, c));

	gate = softmax(k, tape_dot(k->t, "bsh,he->bse", x,
	                           matrix(k, "moe.router", x.dim[2], n)));
	gate = tape_transpose(k->t, gate, DIMS(0, 2, 1));
	index = tape_broadcast(k->t, tape_scalar(k->t, "s32", 0), of_tokens, NULL);
	gate = tape_rows(k->t, gate, index, 2);
	y = tape_rows(k->t, x, index, 1);
	up = tape_dot(k->t, "bech,ehf->ebcf", y,
	              parameter(k, "moe.w1", 3, DIMS(n, x.dim[2], e->ffn)));
	if (k->m->gated)
		up = tape_element(
			k->t, "multiply", up,
			swish(k, tape_dot(k->t, "bech,ehf->ebcf", y,
		                          parameter(k, "moe.wgate", 3,
		                                    DIMS(n, x.dim[2], e->ffn)))));
	else
		up = swish(k, up);
	y = tape_dot(k->t, "ebcf,efh->ebch", up,
	             parameter(k, "moe.w2", 3, DIMS(n, e->ffn, x.dim[2])));
	y = tape_transpose(k->t, y, DIMS(1, 0, 2, 3));
	y = tape_element(k->t, "multiply", y,
	                 tape_broadcast(k->t, gate, y, DIMS(0, 1, 2)));
	y = tape_add_rows(k->t, x, index, y, 1);
	if (e->shared)
		y = tape_element(k->t, "add", y,
		                 mlp(k, "shared", x, e->shared * e->ffn));
	return y;
}

static struct maker begin(struct train_block *out, struct tape *t,
                          const struct architecture *m)
{
	*out = (struct train_block){0};
	block_begin(t);
	return (struct maker){t, m, m->train.dtype->name, out};
}

static struct term stream(struct maker *k)
{
	const struct model_train *t = &k->m->train;

	k->out->ninputs++;
	return tape_argument(k->t, k->type, 3,
	                     DIMS(t->global_batch, t->seq, k->m->hidden));
}

static struct term numbers(struct maker *k)
{
	const struct model_train *t = &k->m->train;

	k->out->ninputs++;
	return tape_argument(k->t, "s32", 2, DIMS(t->global_batch, t->seq));
}

void train_layer(struct train_block *out, struct tape *t, const struct architecture *m,
                 bool has_experts)
{
	struct maker k = begin(out, t, m);
	struct term x = stream(&k), y;

	x = tape_element(t, "add", x, attention(&k, norm(&k, "norm1", x)));
	if (has_experts || m->ffn) {
		y = norm(&k, "norm2", x);
		y = has_experts ? experts(&k, y) : mlp(&k, "mlp", y, m->ffn);
		x = tape_element(t, "add", x, y);
	}
	block_end(t, &out->block, x);
}

void train_embedding(struct train_block *out, struct tape *t,
                     const struct architecture *m)
{
	struct maker k = begin(out, t, m);
	struct term tokens = numbers(&k), x, positions;

	x = tape_rows(t, matrix(&k, "embedding", architecture_vocab(m), m->hidden),
	              tokens, 0);
	if (m->positions == POSITIONS_LEARNED) {
		positions = matrix(&k, "positions", m->train.seq, m->hidden);
		x = tape_element(t, "add", x,
		                 tape_broadcast(t, positions, x, DIMS(1, 2)));
	}
	block_end(t, &out->block, x);
}

void train_loss(struct train_block *out, struct tape *t, const struct architecture *m)
{
	struct maker k = begin(out, t, m);
	struct term x = stream(&k), targets, most, loss;

	if (m->head == HEAD_NONE) {
		targets = stream(&k);
		if (m->final_norm)
			x = norm(&k, "norm", x);
		x = tape_element(t, "subtract", x, targets);
		x = tape_convert(t, tape_element(t, "multiply", x, x), "f32");
		block_end(t, &out->block, tape_sum(t, x, DIMS(0, 1, 2), 3));
		return;
	}
	targets = numbers(&k);
	if (m->final_norm)
		x = norm(&k, "norm", x);
	if (m->head == HEAD_TIED)
		x = tape_dot(t, "bsh,vh->bsv", x,
		             matrix(&k, "embedding", architecture_vocab(m), m->hidden));
	else
		x = tape_dot(t, "bsh,hv->bsv", x,
		             matrix(&k, "head", m->hidden, architecture_vocab(m)));
	x = tape_convert(t, x, "f32");
	most = tape_max(t, x, DIMS(2), 1);
	x = tape_element(t, "subtract", x, tape_broadcast(t, most, x, DIMS(0, 1)));
	loss = tape_unary(t, "log",
	                  tape_sum(t, tape_unary(t, "exponential", x), DIMS(2), 1));
	loss = tape_element(t, "subtract", loss, tape_rows(t, x, targets, 2));
	block_end(t, &out->block, tape_sum(t, loss, DIMS(0, 1), 2));
}
