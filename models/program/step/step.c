/* A step as the text of a program, and the facts that are not in it. */
#include "program/step/stage.h"
#include "program/tensors.h"

#include <string.h>

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

double step_model_flops(const struct architecture *m)
{
	double tokens = (double)m->train.global_batch * (double)m->train.seq;

	return (6 * active_params(m) + 12 * (double)m->layers * (double)m->heads *
	                                       (double)m->head_dim *
	                                       (double)m->train.seq) *
	       tokens;
}

static double bytes_of(const struct array_of *x, int n)
{
	double sum = 0;

	for (int i = 0; i < n; i++)
		sum += array_elements(&x[i]) *
		       dtype_find(x[i].type, strlen(x[i].type))->bits / 8;
	return sum;
}

/* Of the tokens that a layer sends to its experts forward. */
static double expert_bytes(const struct stage *g)
{
	const struct layer_shape *s = &g->kind[1].shape;

	return (double)s->experts * (double)s->rows * (double)g->m->hidden *
	       dtype_find(s->type, strlen(s->type))->bits / 8;
}

/*
 * How much of the micro batches' work is a forward pass beside a backward pass. Passes are as
 * many as there are micro batches, times the stages of a device. Forward ones that come before
 * the first backward one have no partner: on the last stage of an interleaved pipeline as many
 * as it takes to fill all stages but one of each device (arXiv 2104.04473, 2.2), and one more.
 */
static double paired(const struct step_degrees *d, const struct model_train *t,
                     int64_t micro_batches)
{
	int64_t stages = t->interleave > 1 ? t->interleave : 1;
	int64_t passes = micro_batches * stages;
	int64_t first = (stages - 1) * d->pipeline + 1;

	return first < passes ? (double)(passes - first) / (double)passes : 0;
}

static void tell_facts(struct step_facts *f, const struct stage *g,
                       const struct step_degrees *d)
{
	const struct architecture *m = g->m;
	const struct model_train *t = &m->train;
	const struct layer *l = stage_layer(g, g->layers - 1);
	double p = (double)d->pipeline,
	       v = t->interleave > 1 ? (double)t->interleave : 1;
	double active = active_params(m), head;

	*f = (struct step_facts){.devices = g->w.devices, .eager = g->w.eager};
	f->micro_batches = t->global_batch / (t->micro_batch * d->data * d->fsdp);
	f->layers = (double)g->layers * (double)f->micro_batches;
	for (int64_t i = 0; i < g->layers; i++)
		if (architecture_has_experts(m, g->first + i))
			f->expert_bytes += (double)f->micro_batches * expert_bytes(g);
	f->expert_nodes = d->expert > 1 && m->moe.dispatch == DISPATCH_NODES;
	f->paired = m->moe.overlap ? paired(d, t, f->micro_batches) : 0;
	f->tokens = (double)t->global_batch * (double)t->seq;
	f->params = (double)model_parameters(m);
	f->model_flops = step_model_flops(m) / (double)f->devices;
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

/* How many of the devices that share the experts are in one node, as far as that counts. */
static int64_t experts_inside(const struct architecture *m, const struct step_degrees *d)
{
	int64_t inside = d->inside / (d->tensor * d->context);

	if (m->moe.dispatch != DISPATCH_NODES || inside < 1 || inside >= d->expert ||
	    d->expert % inside)
		return d->expert;
	return inside;
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
	bool good = step_divides(m, d, why);

	degree[AXIS_PIPELINE] = d->pipeline;
	degree[AXIS_DATA] = d->data;
	degree[AXIS_FSDP] = d->fsdp;
	degree[AXIS_CONTEXT] = d->context;
	degree[AXIS_TENSOR] = d->tensor;
	degree[AXIS_EXPERT] = d->expert;
	degree[AXIS_EXPERT_SHARES] = d->data * d->fsdp / d->expert;
	degree[AXIS_EXPERT_INSIDE] = experts_inside(m, d);
	degree[AXIS_EXPERT_NODES] = d->expert / degree[AXIS_EXPERT_INSIDE];
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
		stage_list_parts(&g);
		stage_write_micro(&g);
		tell_facts(facts, &g, d);
		stage_write_entry(&g, facts->micro_batches);
		text_printf(out, "HloModule step%s",
		            g.w.eager ? ", is_scheduled=true" : "");
		stage_print_aliases(out, g.parts * (2 + stage_moments(m)));
		text_printf(out, ", num_partitions=%lld\n\n%s", (long long)g.w.devices,
		            g.w.done.s);
	}
	text_free(&g.w.done);
	arena_free(a);
	return good;
}
