/* The entry of a step: its micro batches, the sums over replicas, and the optimizer. */
#include "program/step/stage.h"

#include <string.h>

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
void stage_print_aliases(struct text *out, int64_t n)
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
		grad[i] = write_convert(&g->w, grad[i], g->type);
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

/*
 * Whether replicas share the work of the optimizer, and what it keeps (ZeRO, arXiv 1910.02054).
 * Where fsdp shards both it is fsdp's members that do: replicas of these are whole ones, whose
 * gradients are summed (hybrid sharding, arXiv 2304.11277, 3.2).
 */
static bool shares_replicas(const struct stage *g)
{
	return g->m->train.zero > 0 && g->w.degree[AXIS_FSDP] == 1;
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

int stage_moments(const struct architecture *m)
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

void stage_write_entry(struct stage *g, int64_t micro_batches)
{
	struct step_writer *w = &g->w;
	int64_t n = g->parts, states = stage_moments(g->m) + 1;
	bool shares = shares_replicas(g);
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
