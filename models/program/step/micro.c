/* A micro batch: the layers of a stage, its embedding and its head. */
#include "program/step/stage.h"

#include <string.h>

const struct layer *stage_layer(const struct stage *g, int64_t i)
{
	return &g->kind[architecture_has_experts(g->m, g->first + i)];
}

static void add_part(struct stage *g, struct array_of part, bool of_experts)
{
	g->part[g->parts] = part;
	g->of_experts[g->parts++] = of_experts;
}

void stage_list_parts(struct stage *g)
{
	size_t most = (size_t)g->layers * LAYER_PARAMS + EXTRAS;
	int64_t h = g->m->hidden, t = g->w.degree[AXIS_TENSOR];
	int64_t vocab = architecture_vocab(g->m) / t;

	g->part = arena_alloc(g->w.a, most, sizeof(*g->part));
	g->of_experts = arena_alloc(g->w.a, most, sizeof(*g->of_experts));
	for (int64_t i = 0; i < g->layers; i++) {
		const struct layer *l = stage_layer(g, i);

		for (int k = 0; k < l->nparts; k++)
			add_part(g, l->part[k], l->of_experts[k]);
	}
	if (g->embeds || g->m->head == HEAD_TIED)
		g->extra[EXTRA_EMBEDDING] = (struct layer_param){vocab, h, 0};
	if (g->m->final_norm && g->m->head != HEAD_NONE)
		g->extra[EXTRA_NORM] = (struct layer_param){0, h, 0};
	if (g->m->head == HEAD_UNTIED)
		g->extra[EXTRA_HEAD] = (struct layer_param){vocab, h, 0};
	for (int i = 0; i < EXTRAS; i++)
		if (g->extra[i].columns)
			add_part(g,
			         g->extra_part[i] =
			                 layer_part(&g->w, &g->extra[i], g->type),
			         false);
}

/* Gathers one of the extras from its part. */
static struct array_of extra(struct stage *g, int i, struct array_of part)
{
	if (g->w.degree[AXIS_FSDP] > 1)
		write_bundle(&g->w, "all-gather", AXIS_FSDP, &part, 1);
	return layer_shaped(&g->w, &g->extra[i], part);
}

static struct array_of extra_grad(struct stage *g, int i, struct array_of grad)
{
	int64_t by = g->w.degree[AXIS_FSDP];

	grad = layer_padded(&g->w, &g->extra[i], grad, by * g->extra_part[i].dim[0]);
	if (by > 1)
		write_bundle(&g->w, "reduce-scatter", AXIS_FSDP, &grad, 1);
	return grad;
}

/* Tokens that norms hold to those that matmuls read, and partial sums back. */
static struct array_of whole(struct stage *g, struct array_of x)
{
	return g->kind[0].shape.gathers_tokens ? write_gather(&g->w, AXIS_TENSOR, x, 0)
	                                       : x;
}

static struct array_of share(struct stage *g, struct array_of x)
{
	return g->kind[0].shape.gathers_tokens ? write_scatter(&g->w, AXIS_TENSOR, x, 0)
	                                       : write_sum(&g->w, AXIS_TENSOR, x);
}

/* The gradient of the logits: eager frameworks make four arrays of 32 bits on the way. */
static struct array_of loss(struct stage *g, struct array_of logits)
{
	struct step_writer *w = &g->w;
	struct array_of wide = logits, in[2] = {logits, logits};

	if (!w->eager) {
		in[1] = write_reduce(w, "loss", logits);
		return write_combine(w, "loss", logits, in, 2);
	}
	wide.type = "f32";
	in[0] = write_op(w, "convert", "loss", wide, &logits, 1, "");
	in[1] = write_combine(w, "loss", wide, in, 1);
	in[0] = write_combine(w, "loss", wide, in, 2);
	return write_op(w, "convert", "loss", logits, in, 1, "");
}

/* The head, forward and backward; returns the gradient of x and of the parts. */
static struct array_of head(struct stage *g, struct array_of x,
                            const struct array_of part[EXTRAS],
                            struct array_of grad[EXTRAS])
{
	struct step_writer *w = &g->w;
	int at = g->m->head == HEAD_TIED ? EXTRA_EMBEDDING : EXTRA_HEAD;
	struct array_of in[2] = {x}, weight, d, normed = x;

	if (g->m->head == HEAD_NONE)
		return x;
	w->part = "head";
	if (g->m->final_norm) {
		in[1] = extra(g, EXTRA_NORM, part[EXTRA_NORM]);
		normed.type = g->type;
		normed = write_combine(w, "norm", normed, in, 2);
	}
	normed = whole(g, write_convert(&g->w, normed, g->type));
	weight = extra(g, at, part[at]);
	d = loss(g, write_dot(w, "logits", g->type, normed, weight, true));
	grad[at] = write_dot_grad(w, "grad", g->type, d, normed);
	d = share(g, write_dot(w, "input", g->type, d, weight, false));
	if (g->m->final_norm) {
		in[1] = d;
		d = write_combine(w, "norm", x, in, 2);
		grad[EXTRA_NORM] = extra_grad(
			g, EXTRA_NORM,
			write_convert(&g->w, write_reduce(w, "norm", d), g->type));
	}
	return write_convert(&g->w, d, x.type);
}

/* Writes a layer's call forward or backward. */
static void call_layer(struct stage *g, const struct layer *l, bool back,
                       struct array_of x, const struct array_of *saved,
                       const struct array_of *part, struct array_of *out)
{
	struct array_of in[1 + LAYER_KEPT + 2 * LAYER_PARAMS];
	int n = 0;

	in[n++] = x;
	for (int i = 0; i < l->nsaved && back; i++)
		in[n++] = saved[i];
	for (int i = 0; i < l->nparts; i++)
		in[n++] = part[i];
	out[0] = x;
	memcpy(out + 1, back ? l->part : l->saved,
	       (size_t)(back ? l->nparts : l->nsaved) * sizeof(*out));
	write_call(&g->w, back ? l->backward : l->forward, in, n, out,
	           1 + (back ? l->nparts : l->nsaved));
}

/* A micro batch while it is written. */
struct micro {
	struct stage *g;
	struct array_of *part, *grad;                            /* [g->parts] */
	struct array_of (*saved)[LAYER_KEPT + LAYER_PARAMS + 1]; /* [g->layers] */
	struct array_of extras[EXTRAS], grads[EXTRAS]; /* grads: of number -1 at first */
	struct array_of table; /* the embedding, where the stage has it */
};

/* Begins the computation: its parts, and of these the extras. */
static void begin(struct micro *m, struct stage *g)
{
	struct arena *a = g->w.a;
	int64_t n = g->parts;

	*m = (struct micro){.g = g};
	m->part = arena_alloc(a, (size_t)n, sizeof(*m->part));
	m->grad = arena_alloc(a, (size_t)n, sizeof(*m->grad));
	m->saved = arena_alloc(a, (size_t)g->layers, sizeof(*m->saved));
	write_begin(&g->w);
	for (int64_t i = 0; i < g->parts; i++)
		m->part[i] = write_param(&g->w, g->part[i]);
	for (int i = EXTRAS; i-- > 0;) {
		if (g->extra[i].columns)
			m->extras[i] = m->part[--n];
		m->grads[i].number = -1;
	}
}

/* What comes into the first layer: rows of the embedding, or what the stage before sends. */
static struct array_of embed(struct micro *m)
{
	const struct layer_shape *s = &m->g->kind[0].shape;
	struct step_writer *w = &m->g->w;
	struct array_of x = array_new(s->residual, 2, s->held, s->m->hidden, 0, 0);

	w->part = "embedding";
	if (!m->g->embeds)
		return write_shift(w, AXIS_PIPELINE, write_param(w, x));
	m->table = extra(m->g, EXTRA_EMBEDDING, m->extras[EXTRA_EMBEDDING]);
	x = write_rows(w, "rows", m->table, s->tokens);
	return write_convert(w, share(m->g, x), s->residual);
}

/* The gradient of what came in goes to the embedding, or to the stage before. */
static void embed_back(struct micro *m, struct array_of x)
{
	struct step_writer *w = &m->g->w;
	struct array_of in[2];

	w->part = "embedding";
	if (!m->g->embeds) {
		write_keep(w, write_shift(w, AXIS_PIPELINE, x));
		return;
	}
	x = write_add_rows(w, "grad", m->table,
	                   whole(m->g, write_convert(w, x, m->g->type)));
	in[0] = x;
	in[1] = m->grads[EXTRA_EMBEDDING];
	if (in[1].number >= 0)
		x = write_combine(w, "grad", x, in, 2);
	m->grads[EXTRA_EMBEDDING] = x;
}

/* The layers backward, the last first; gives the gradient of what came into the first. */
static struct array_of layers_back(struct micro *m, struct array_of x, int64_t at)
{
	struct array_of out[1 + LAYER_PARAMS];

	for (int64_t i = m->g->layers; i-- > 0;) {
		const struct layer *l = stage_layer(m->g, i);

		at -= l->nparts;
		call_layer(m->g, l, true, x, m->saved[i] + 1, m->part + at, out);
		x = out[0];
		memcpy(m->grad + at, out + 1, (size_t)l->nparts * sizeof(*out));
	}
	return x;
}

/* A micro batch as a computation of the parts, which gives their gradients. */
void stage_write_micro(struct stage *g)
{
	struct array_of x;
	struct micro m;
	int64_t at = 0, n;

	begin(&m, g);
	x = embed(&m);
	for (int64_t i = 0; i < g->layers; i++) {
		call_layer(g, stage_layer(g, i), false, x, NULL, m.part + at,
		           m.saved[i]);
		at += stage_layer(g, i)->nparts;
		x = m.saved[i][0];
	}
	n = at;
	x = head(g, x, m.extras, m.grads);
	embed_back(&m, layers_back(&m, x, at));
	for (int i = 0; i < EXTRAS; i++)
		if (g->extra[i].columns)
			m.grad[n++] = i == EXTRA_NORM ? m.grads[i]
			                              : extra_grad(g, i, m.grads[i]);
	g->micro = write_end(&g->w, m.grad, (int)g->parts, false);
}
