#include "program/step/pass.h"

#include <string.h>

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
	pass_gather_params(&p, part);
	out[0] = layer_forward(&p, x);
	for (int i = 0; i < LAYER_KEPT; i++)
		if (p.kept[i].number >= 0 && is_saved(s, i))
			l->saved[l->nsaved++] = p.kept[i];
	if (w->degree[AXIS_FSDP] > 1 && !s->regathers)
		for (int i = 0; i < LAYER_PARAMS; i++)
			if (layer_has(&s->param[i]))
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
			if (layer_has(&s->param[i]))
				p.param[i] = saved[at++];
	if (s->regathers || w->degree[AXIS_FSDP] == 1)
		pass_gather_params(&p, part);
	if (s->recomputes) {
		w->part = "recompute";
		out[0] = layer_forward(&p, p.kept[KEPT_X]);
		if (w->eager)
			write_keep(w, out[0]);
		w->part = "backward";
	}
	out[0] = layer_backward(&p, dy);
	pass_scatter_grads(&p, out + 1);
	l->backward = write_end(w, out, 1 + l->nparts, false);
}

void layer_write(struct layer *out, struct step_writer *w, const struct architecture *m,
                 bool with_experts)
{
	*out = (struct layer){0};
	layer_set_shape(&out->shape, w, m, with_experts);
	for (int i = 0; i < LAYER_PARAMS; i++)
		if (layer_has(&out->shape.param[i])) {
			out->of_experts[out->nparts] = out->shape.param[i].experts > 0;
			out->part[out->nparts++] =
				layer_part(w, &out->shape.param[i], out->shape.type);
		}
	write_forward(out, w);
	write_backward(out, w);
}
