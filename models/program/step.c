#include "program/step_layer.h"

#include "array/mesh.h"
#include "program/tensors.h"

#include <string.h>

/* --- degrees ---------------------------------------------------------------------- */

const char *const step_axis_names[STEP_AXES_NAMED] = {"pipeline", "data",   "fsdp",
                                                      "context",  "tensor", "expert"};

static int64_t *degree_named(struct step_degrees *d, const char *name)
{
	int64_t *const at[STEP_AXES_NAMED] = {&d->pipeline, &d->data,   &d->fsdp,
	                                      &d->context,  &d->tensor, &d->expert};

	for (int i = 0; i < STEP_AXES_NAMED; i++)
		if (!strcmp(step_axis_names[i], name))
			return at[i];
	return NULL;
}

enum status step_degrees_parse(struct step_degrees *out, struct arena *a,
                               const char *text, struct where at, struct error *e)
{
	struct mesh mesh;

	*out = (struct step_degrees){1, 1, 1, 1, 1, 1};
	if (mesh_parse(&mesh, a, text, at, e) != OK)
		return e->code;
	for (int i = 0; i < mesh.naxes; i++) {
		int64_t *degree = degree_named(out, mesh.axis[i].name);

		if (!degree)
			return error_set(
				e, E_TYPE, at,
				"'%s' is no axis of a job, expected data, fsdp, "
				"tensor, context, expert or pipeline",
				mesh.axis[i].name);
		*degree = mesh.axis[i].size;
	}
	return OK;
}

int64_t step_devices(const struct step_degrees *d)
{
	return d->pipeline * d->data * d->fsdp * d->context * d->tensor;
}

/* Appends the reason unless `of` divides by `by`. */
static bool divides(struct text *why, int64_t of, int64_t by, const char *what,
                    const char *axis)
{
	if (of % by == 0)
		return true;
	text_printf(why, "%s %lld does not divide by %s %lld", what, (long long)of,
	            axis, (long long)by);
	return false;
}

static bool check(const struct architecture *m, const struct step_degrees *d,
                  struct text *why)
{
	const struct model_train *t = &m->train;
	int64_t ranks = d->data * d->fsdp;

	if (t->seq < 1 || t->global_batch < 1 || t->micro_batch < 1) {
		text_printf(why, "train.seq, train.global_batch and train.micro_batch "
		                 "are needed");
		return false;
	}
	if (d->pipeline > m->layers) {
		text_printf(why, "%lld layers are fewer than pipeline %lld",
		            (long long)m->layers, (long long)d->pipeline);
		return false;
	}
	if (m->moe.experts && d->expert > m->moe.experts) {
		text_printf(why,
		            "expert %lld is more than the %lld experts of the model",
		            (long long)d->expert, (long long)m->moe.experts);
		return false;
	}
	return divides(why, m->heads, d->tensor, "heads", "tensor") &&
	       divides(why, m->ffn, d->tensor, "ffn", "tensor") &&
	       divides(why, architecture_vocab(m), d->tensor, "vocab", "tensor") &&
	       divides(why, t->seq, d->context, "train.seq", "context") &&
	       divides(why, t->seq / d->context * t->micro_batch,
	               t->sequence_parallel ? d->tensor : 1, "tokens of a micro batch",
	               "tensor") &&
	       divides(why, t->global_batch, ranks * t->micro_batch,
	               "train.global_batch", "data x fsdp x micro_batch") &&
	       divides(why, ranks, d->expert, "data x fsdp", "expert") &&
	       (d->expert == 1 ||
	        divides(why, m->moe.experts, d->expert, "moe.experts", "expert"));
}

/* --- the text --------------------------------------------------------------------- */

enum { KINDS = 2, EXTRAS = 3 };

/* What a device keeps besides layers: the embedding, the head, the last norm. */
enum { EXTRA_EMBEDDING, EXTRA_NORM, EXTRA_HEAD };

struct stage {
	struct step_writer w;
	const struct architecture *m;
	const char *type, *master;
	struct layer kind[KINDS]; /* dense, with experts */
	int64_t layers, first;    /* of this stage; the number of its first layer */
	struct layer_param extra[EXTRAS];
	struct array_of extra_part[EXTRAS];
	int64_t parts; /* of all layers and extras */
	struct array_of *part;
	bool *of_experts;
	const char *micro; /* the computation of a micro batch */
	bool embeds;
};

static const struct layer *layer_at(const struct stage *g, int64_t i)
{
	return &g->kind[architecture_has_experts(g->m, g->first + i)];
}

static void add_part(struct stage *g, struct array_of part, bool of_experts)
{
	g->part[g->parts] = part;
	g->of_experts[g->parts++] = of_experts;
}

static void list_parts(struct stage *g)
{
	size_t most = (size_t)g->layers * LAYER_PARAMS + EXTRAS;
	int64_t h = g->m->hidden, t = g->w.degree[AXIS_TENSOR];
	int64_t vocab = architecture_vocab(g->m) / t;

	g->part = arena_alloc(g->w.a, most, sizeof(*g->part));
	g->of_experts = arena_alloc(g->w.a, most, sizeof(*g->of_experts));
	for (int64_t i = 0; i < g->layers; i++) {
		const struct layer *l = layer_at(g, i);

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

static struct array_of as_type(struct stage *g, struct array_of x, const char *type)
{
	struct array_of out = x;

	out.type = type;
	return strcmp(x.type, type)
	               ? write_op(&g->w, "convert", "convert", out, &x, 1, "")
	               : x;
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
	normed = whole(g, as_type(g, normed, g->type));
	weight = extra(g, at, part[at]);
	d = loss(g, write_dot(w, "logits", g->type, normed, weight, true));
	grad[at] = write_dot_grad(w, "grad", g->type, d, normed);
	d = share(g, write_dot(w, "input", g->type, d, weight, false));
	if (g->m->final_norm) {
		in[1] = d;
		d = write_combine(w, "norm", x, in, 2);
		grad[EXTRA_NORM] = extra_grad(
			g, EXTRA_NORM, as_type(g, write_reduce(w, "norm", d), g->type));
	}
	return as_type(g, d, x.type);
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

/* A micro batch as a computation of the parts, which gives their gradients. */
static void write_micro(struct stage *g)
{
	struct step_writer *w = &g->w;
	const struct layer_shape *s = &g->kind[0].shape;
	struct array_of *part = arena_alloc(w->a, (size_t)g->parts, sizeof(*part));
	struct array_of *grad = arena_alloc(w->a, (size_t)g->parts, sizeof(*grad));
	struct array_of(*saved)[LAYER_KEPT + LAYER_PARAMS + 1] =
		arena_alloc(w->a, (size_t)g->layers, sizeof(*saved));
	struct array_of x = array_new(s->residual, 2, s->held, s->m->hidden, 0, 0);
	struct array_of out[1 + LAYER_PARAMS];
	struct array_of extras[EXTRAS], grads[EXTRAS], table;
	int64_t at = 0, n = g->parts;

	write_begin(w);
	for (int64_t i = 0; i < g->parts; i++)
		part[i] = write_param(w, g->part[i]);
	for (int i = EXTRAS; i-- > 0;)
		if (g->extra[i].columns)
			extras[i] = part[--n];
	for (int i = 0; i < EXTRAS; i++)
		grads[i].number = -1;
	w->part = "embedding";
	if (g->embeds) {
		table = extra(g, EXTRA_EMBEDDING, extras[EXTRA_EMBEDDING]);
		x = write_rows(w, "rows", table, s->tokens);
		x = as_type(g, share(g, x), s->residual);
	} else {
		x = write_param(w, x);
		x = write_shift(w, AXIS_PIPELINE, x);
	}
	for (int64_t i = 0; i < g->layers; i++) {
		call_layer(g, layer_at(g, i), false, x, NULL, part + at, saved[i]);
		at += layer_at(g, i)->nparts;
		x = saved[i][0];
	}
	x = head(g, x, extras, grads);
	for (int64_t i = g->layers; i-- > 0;) {
		const struct layer *l = layer_at(g, i);

		at -= l->nparts;
		call_layer(g, l, true, x, saved[i] + 1, part + at, out);
		x = out[0];
		memcpy(grad + at, out + 1, (size_t)l->nparts * sizeof(*out));
	}
	w->part = "embedding";
	if (g->embeds) {
		x = write_add_rows(w, "grad", table, whole(g, as_type(g, x, g->type)));
		if (grads[EXTRA_EMBEDDING].number >= 0) {
			struct array_of in[2] = {x, grads[EXTRA_EMBEDDING]};

			x = write_combine(w, "grad", x, in, 2);
		}
		grads[EXTRA_EMBEDDING] = x;
	} else {
		write_keep(w, write_shift(w, AXIS_PIPELINE, x));
	}
	for (int i = 0; i < EXTRAS; i++)
		if (g->extra[i].columns)
			grad[n++] =
				i == EXTRA_NORM ? grads[i] : extra_grad(g, i, grads[i]);
	g->micro = write_end(w, grad, (int)g->parts, false);
}

/* --- a step ----------------------------------------------------------------------- */

static struct array_of widened(const struct stage *g, struct array_of x)
{
	x.type = g->master;
	return x;
}

/* The micro batch that the body of the loop over them runs; gradients add up. */
static void loop_body(void *self, struct array_of *x)
{
	struct stage *g = self;
	int in = (int)g->parts + !g->embeds, n = (int)g->parts;
	struct array_of *grad = arena_alloc(g->w.a, (size_t)n, sizeof(*grad));

	memcpy(grad, g->part, (size_t)n * sizeof(*grad));
	write_call(&g->w, g->micro, x, in, grad, n);
	g->w.part = "accumulate";
	for (int i = 0; i < n; i++) {
		struct array_of sum[2] = {x[in + i], grad[i]};

		x[in + i] = write_combine(&g->w, "grad", x[in + i], sum, 2);
	}
}

/* Results take the place of the arguments, which have the same order. */
static void print_aliases(struct text *out, int64_t n)
{
	text_printf(out, ", input_output_alias={ ");
	for (int64_t i = 0; i < n; i++)
		text_printf(out, "%s{%lld}: (%lld, {}, may-alias)", i ? ", " : "",
		            (long long)i, (long long)i);
	text_printf(out, " }");
}

/* Gradients of all micro batches, of one device; they add up in the master type. */
static void sum_micro(struct stage *g, int64_t micro_batches, const struct array_of *in,
                      int nin, struct array_of *grad)
{
	int n = (int)g->parts;
	struct array_of *x = arena_alloc(g->w.a, (size_t)(nin + n), sizeof(*x));

	if (micro_batches > 1) {
		struct array_of zero = write_zero(&g->w, g->master);

		memcpy(x, in, (size_t)nin * sizeof(*x));
		for (int i = 0; i < n; i++)
			x[nin + i] = write_op(&g->w, "broadcast", NULL,
			                      widened(g, g->part[i]), &zero, 1,
			                      ", dimensions={}");
		write_loop(&g->w, micro_batches - 1, x, nin + n, loop_body, g);
	}
	memcpy(grad, g->part, (size_t)n * sizeof(*grad));
	write_call(&g->w, g->micro, in, nin, grad, n);
	g->w.part = "accumulate";
	for (int i = 0; i < n && micro_batches > 1; i++) {
		struct array_of sum[2] = {x[nin + i], grad[i]};

		grad[i] = write_combine(&g->w, "grad", x[nin + i], sum, 2);
		grad[i] = as_type(g, grad[i], g->type);
	}
}

/* The axis over which replicas of a part have gradients of their own; STEP_AXES: none. */
static enum step_axis replicas(const struct stage *g, int64_t i)
{
	const int64_t *degree = g->w.degree;

	if (g->of_experts[i])
		return degree[AXIS_FSDP] == 1 && degree[AXIS_EXPERT_SHARES] > 1
		               ? AXIS_EXPERT_SHARES
		               : STEP_AXES;
	return degree[AXIS_DATA] > 1 ? AXIS_DATA : STEP_AXES;
}

/* Pads a vector so that it divides. */
static struct array_of rounded(struct stage *g, struct array_of x, int64_t by)
{
	struct layer_param p = {0, x.dim[0], 0};

	return layer_padded(&g->w, &p, x, (x.dim[0] + by - 1) / by * by);
}

/* Sums gradients over replicas, a few parts at a time, as frameworks' buckets do. */
static void sum_replicas(struct stage *g, struct array_of *x, bool shares)
{
	enum { BUCKET = LAYER_PARAMS };

	for (int64_t i = 0; i < g->parts;) {
		enum step_axis axis = replicas(g, i);
		int64_t n = 0;

		while (n < BUCKET && i + n < g->parts && replicas(g, i + n) == axis)
			n++;
		for (int64_t k = 0; k < n && shares && axis != STEP_AXES; k++)
			x[i + k] = rounded(g, x[i + k], g->w.degree[axis]);
		if (axis != STEP_AXES)
			write_bundle(&g->w, shares ? "reduce-scatter" : "all-reduce",
			             axis, x + i, (int)n);
		i += n;
	}
}

static void gather_replicas(struct stage *g, struct array_of *x)
{
	for (int64_t i = 0; i < g->parts; i++) {
		enum step_axis axis = replicas(g, i);
		struct layer_param p = {0, g->part[i].dim[0], 0};

		if (axis == STEP_AXES)
			continue;
		write_bundle(&g->w, "all-gather", axis, &x[i], 1);
		x[i] = layer_shaped(&g->w, &p, x[i]);
	}
}

static int moments(const struct architecture *m)
{
	switch (m->train.optimizer) {
	case OPTIMIZER_ADAM:
	case OPTIMIZER_ADAMW:
		return 2;
	case OPTIMIZER_MOMENTUM:
	case OPTIMIZER_LION:
		return 1;
	default:
		return 0;
	}
}

/* One part's update: its moments, its copy in the master type, and the new part. */
static struct array_of update(struct stage *g, struct array_of grad,
                              struct array_of *state, int nmoments)
{
	struct array_of in[4] = {grad}, wide = widened(g, grad);

	g->w.part = "optimizer";
	for (int k = 0; k < nmoments; k++) {
		in[1] = state[k];
		state[k] = in[2 + k] = write_combine(&g->w, "moment", wide, in, 2);
	}
	in[1] = state[nmoments];
	state[nmoments] = write_combine(&g->w, "update", wide, nmoments ? in + 1 : in,
	                                nmoments ? 1 + nmoments : 2);
	if (!strcmp(g->type, g->master))
		return state[nmoments];
	return write_op(&g->w, "convert", "update", grad, &state[nmoments], 1, "");
}

static void write_entry(struct stage *g, int64_t micro_batches)
{
	struct step_writer *w = &g->w;
	int64_t n = g->parts, states = moments(g->m) + 1;
	bool shares = g->m->train.zero > 0;
	struct array_of *in = arena_alloc(w->a, (size_t)n + 1, sizeof(*in));
	struct array_of *grad = arena_alloc(w->a, (size_t)n, sizeof(*grad));
	struct array_of *out =
		arena_alloc(w->a, (size_t)(n * (1 + states)), sizeof(*out));
	const struct layer_shape *s = &g->kind[0].shape;

	write_begin(w);
	for (int64_t i = 0; i < n; i++)
		in[i] = write_param(w, g->part[i]);
	for (int64_t i = 0; i < n * states; i++) {
		struct array_of x = widened(g, g->part[i / states]);
		enum step_axis axis = replicas(g, i / states);
		int64_t by = shares && axis != STEP_AXES ? w->degree[axis] : 1;

		x.dim[0] = (x.dim[0] + by - 1) / by;
		out[n + i] = write_param(w, x);
	}
	if (!g->embeds)
		in[n] = write_param(
			w, array_new(s->residual, 2, s->held, s->m->hidden, 0, 0));
	sum_micro(g, micro_batches, in, (int)n + !g->embeds, grad);
	w->part = "replicas";
	sum_replicas(g, grad, shares);
	for (int64_t i = 0; i < n; i++)
		out[i] = update(g, grad[i], out + n + i * states, (int)states - 1);
	w->part = "replicas";
	if (shares)
		gather_replicas(g, out);
	write_end(w, out, (int)(n * (1 + states)), true);
}

/* --- facts ------------------------------------------------------------------------ */

/* Parameters that a token goes through: of the experts only those that it is sent to. */
static double active_params(const struct architecture *m)
{
	double all = (double)model_parameters(m);
	double expert = (double)m->hidden * (double)m->moe.ffn * (m->gated ? 3 : 2);

	if (m->moe.experts)
		all -= expert * (double)(m->moe.experts - m->moe.top_k) *
		       (double)(m->layers - m->moe.first_dense);
	if (m->head != HEAD_TIED)
		all -= (double)architecture_vocab(m) * (double)m->hidden;
	return all;
}

static double bytes_of(const struct array_of *x, int n)
{
	double sum = 0;

	for (int i = 0; i < n; i++)
		sum += array_elements(&x[i]) *
		       dtype_find(x[i].type, strlen(x[i].type))->bits / 8;
	return sum;
}

static void tell_facts(struct step_facts *f, const struct stage *g,
                       const struct step_degrees *d)
{
	const struct architecture *m = g->m;
	const struct model_train *t = &m->train;
	const struct layer *l = layer_at(g, g->layers - 1);
	double p = (double)d->pipeline,
	       v = t->interleave > 1 ? (double)t->interleave : 1;
	double active = active_params(m), tokens, head;

	*f = (struct step_facts){.devices = g->w.devices, .eager = g->w.eager};
	f->micro_batches = t->global_batch / (t->micro_batch * d->data * d->fsdp);
	f->layers = (double)g->layers * (double)f->micro_batches;
	for (int64_t i = 0; i < g->layers; i++)
		f->expert_layers += (double)f->micro_batches *
		                    architecture_has_experts(m, g->first + i);
	f->tokens = tokens = (double)t->global_batch * (double)t->seq;
	f->params = (double)model_parameters(m);
	f->model_flops = (6 * active + 12 * (double)m->layers * (double)m->heads *
	                                       (double)m->head_dim * (double)t->seq) *
	                 tokens / (double)f->devices;
	head = m->head == HEAD_NONE ? 0
	                            : (double)architecture_vocab(m) * (double)m->hidden;
	f->bubble = (p - 1) / (v * (double)f->micro_batches) * ((active - head) / p) /
	            ((active - head) / p + head);
	if (d->pipeline > 1) {
		double flying = v > 1 ? 1 + (p - 1) / (p * v) : 1;
		double most =
			(double)f->micro_batches < p ? (double)f->micro_batches / p : 1;

		f->held_bytes = bytes_of(l->saved, l->nsaved) * (double)m->layers *
		                (flying * most - 1 / p);
	}
}

/*
 * Layers of the last stage. Where they do not divide, the others have one more layer, whose
 * place here the head takes.
 */
static int64_t stage_layers(const struct architecture *m, int64_t stages)
{
	return m->layers / stages;
}

/* What reductions of all types apply. */
static void write_adders(struct step_writer *w, const char *const *type, int n)
{
	for (int i = 0; i < n; i++) {
		int a = w->arrays++, b = w->arrays++, c = w->arrays++;

		text_printf(&w->done,
		            "%%add_%s {\n  %%v%d = %s[] parameter(0)\n"
		            "  %%v%d = %s[] parameter(1)\n"
		            "  ROOT %%v%d = %s[] add(%%v%d, %%v%d)\n}\n\n",
		            type[i], a, type[i], b, type[i], c, type[i], a, b);
	}
}

bool step_text(struct text *out, struct step_facts *facts, const struct architecture *m,
               const struct step_degrees *d, struct text *why)
{
	struct arena *a = arena_new();
	struct stage g = {.w = {.a = a, .eager = m->train.fuse == FUSE_EAGER}, .m = m};
	int64_t *degree = g.w.degree;
	const char *types[2];
	bool good = check(m, d, why);

	degree[AXIS_PIPELINE] = d->pipeline;
	degree[AXIS_DATA] = d->data;
	degree[AXIS_FSDP] = d->fsdp;
	degree[AXIS_CONTEXT] = d->context;
	degree[AXIS_TENSOR] = d->tensor;
	degree[AXIS_EXPERT] = d->expert;
	degree[AXIS_EXPERT_SHARES] = d->data * d->fsdp / d->expert;
	g.w.devices = step_devices(d);
	g.type = types[0] = m->train.dtype->name;
	g.master = types[1] = m->train.master_dtype->name;
	g.layers = stage_layers(m, d->pipeline);
	g.first = m->layers - g.layers;
	g.embeds = d->pipeline == 1;
	if (good) {
		write_adders(&g.w, types, strcmp(types[0], types[1]) ? 2 : 1);
		for (int i = 0; i < KINDS; i++)
			if (i == 0 || m->moe.experts)
				layer_write(&g.kind[i], &g.w, m, i > 0);
		list_parts(&g);
		write_micro(&g);
		tell_facts(facts, &g, d);
		write_entry(&g, facts->micro_batches);
		text_printf(out, "HloModule step%s",
		            g.w.eager ? ", is_scheduled=true" : "");
		print_aliases(out, g.parts * (2 + moments(m)));
		text_printf(out, ", num_partitions=%lld\n\n%s", (long long)g.w.devices,
		            g.w.done.s);
	}
	text_free(&g.w.done);
	arena_free(a);
	return good;
}
