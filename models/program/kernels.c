#include "program/kernels.h"

#include "program/custom.h"
#include "program/fuse.h"

struct maker {
	struct kernels *k;
	struct arena *a;
	const struct program *p;
	struct fuse fuse;
};

static struct kernel *add(struct maker *m, int32_t step)
{
	struct kernel *k = list_add(&m->k->kernel, m->a);
	const struct instruction *op = fuse_op(&m->fuse, step);

	*k = (struct kernel){.op = m->k->flat.step.at[step].op,
	                     .step = step,
	                     .class = opcode_class(op->code)};
	return k;
}

static double out_bytes(const struct maker *m, const struct flat_step *s)
{
	double sum = 0;

	for (int32_t i = 0; i < s->nout; i++)
		sum += fuse_bytes(&m->fuse, s->first_out + i);
	return sum;
}

static double in_bytes(const struct maker *m, const struct flat_step *s, bool dot)
{
	double sum = 0;

	for (int32_t i = 0; i < s->nin; i++) {
		int32_t v = m->k->flat.in.at[s->first_in + i];

		sum += fuse_bytes(&m->fuse,
		                  dot ? fuse_dot_base(&m->fuse, v) : m->fuse.base[v]);
	}
	return sum;
}

static void ask_matmul(struct maker *m, struct kernel *k, const struct flat_step *s,
                       struct matmul of, double flops)
{
	bool conv = k->class == CLASS_CONVOLUTION;

	k->ask.kind = conv ? COMPUTE_CONVOLUTION : COMPUTE_MATMUL;
	k->ask.dtype = m->k->flat.value.at[m->k->flat.in.at[s->first_in]].type->dtype;
	k->ask.b = of.b;
	k->ask.m = of.m;
	k->ask.n = of.n;
	k->ask.k = of.k;
	k->ask.flops = k->flops = flops;
}

/* A reduction, gather or scatter with what is computed on the way into it. */
static void add_fused(struct maker *m, int32_t step)
{
	const struct flat_step *s = &m->k->flat.step.at[step];
	const struct instruction *op = fuse_op(&m->fuse, step);
	struct kernel *k = add(m, step);
	struct work w = op_work(m->p, op);
	const int32_t *in = m->k->flat.in.at + s->first_in;
	double out = out_bytes(m, s), read;
	struct cone c;

	switch (op->code) {
	case HLO_DYNAMIC_UPDATE_SLICE:
		c = fuse_cone(&m->fuse, in + 1, 1, 1);
		read = c.leaves;
		out = fuse_bytes(&m->fuse, m->fuse.base[in[1]]);
		break;
	case HLO_GATHER:
		read = fuse_elements(&m->fuse, s->first_out) /
		       fuse_elements(&m->fuse, in[0]);
		c = fuse_cone(&m->fuse, in, 1, read < 1 ? read : 1);
		read = c.leaves + fuse_bytes(&m->fuse, m->fuse.base[in[1]]);
		break;
	case HLO_SCATTER:
		c = fuse_cone(&m->fuse, in + (s->nin - 1) / 2,
		              s->nin - (s->nin - 1) / 2, 1);
		/* The elements that are added to are read and written. */
		out = 2 * fuse_bytes(&m->fuse, m->fuse.base[in[s->nin - 1]]);
		read = c.leaves;
		break;
	default:
		c = fuse_cone(&m->fuse, in, s->nin, 1);
		read = c.leaves;
	}
	k->flops = w.flops + c.flops;
	k->transcendentals = w.transcendentals + c.transcendentals;
	k->ask.bytes = read + out;
}

static void add_custom(struct maker *m, int32_t step)
{
	const struct flat_step *s = &m->k->flat.step.at[step];
	const struct instruction *op = fuse_op(&m->fuse, step);
	struct kernel *k = add(m, step);
	struct attention at;
	struct matmul mm;

	k->ask.bytes = in_bytes(m, s, false) + out_bytes(m, s);
	if (custom_attention(&at, m->p, op)) {
		k->ask.kind = at.torch      ? COMPUTE_ATTENTION_TORCH
		              : at.backward ? COMPUTE_ATTENTION_BACK
		                            : COMPUTE_ATTENTION;
		k->ask.flops = k->flops = at.flops;
		k->ask.bytes = at.bytes;
	} else if (custom_matmul(&mm, m->p, op)) {
		k->class = CLASS_MATMUL;
		ask_matmul(m, k, s, mm, 2 * mm.b * mm.m * mm.n * mm.k);
	} else if (custom_is_host_move(op)) {
		k->host_bytes = (double)op_result_bytes(m->p, op);
		k->ask.bytes = 0;
	}
}

/* Bytes of a fusion's operand: of one that only slices of are read, those. */
static double fusion_read(const struct maker *m, const struct region *r, int32_t param)
{
	double sum = 0;
	bool sliced = true;

	for (int32_t i = 0; i < r->nops && sliced; i++) {
		const struct instruction *op = &m->p->op.at[r->op[i]];

		for (int32_t k = 0; k < op->noperands; k++) {
			if (op_operand(m->p, op, k) != r->param.at[param])
				continue;
			if (k == 0 && fuse_slices(op))
				sum += (double)op_result_bytes(m->p, op);
			else if (k > 0 || op->code != HLO_DYNAMIC_UPDATE_SLICE)
				sliced = false;
		}
	}
	return sliced ? sum : -1;
}

static void add_fusion(struct maker *m, int32_t step)
{
	const struct flat_step *s = &m->k->flat.step.at[step];
	const struct instruction *op = fuse_op(&m->fuse, step);
	const struct region *r = &m->p->region.at[op_called(m->p, op, 0)];
	struct kernel *k = add(m, step);
	struct work w = op_work(m->p, op);

	k->class = w.dot_flops > 0 ? CLASS_MATMUL : CLASS_ELEMENTWISE;
	k->flops = w.flops;
	k->transcendentals = w.transcendentals;
	for (int32_t i = 0; i < s->nin; i++) {
		double whole = fuse_bytes(&m->fuse, m->k->flat.in.at[s->first_in + i]);
		double part = fusion_read(m, r, i);

		k->ask.bytes += part >= 0 && part < whole ? part : whole;
	}
	for (int32_t i = 0; i < s->nout; i++) {
		int32_t of = m->p->value.at[r->result.at[i]].op;
		const struct instruction *root = &m->p->op.at[of];
		double out = fuse_bytes(&m->fuse, s->first_out + i);

		if (root->code == HLO_DYNAMIC_UPDATE_SLICE)
			out = (double)value_type_bytes(
				&m->p->value.at[op_operand(m->p, root, 1)].type);
		k->ask.bytes += out;
	}
	for (int32_t i = 0; i < r->nops && w.dot_flops > 0; i++) {
		const struct instruction *dot = &m->p->op.at[r->op[i]];

		if (fuse_is_dot(dot))
			ask_matmul(m, k, s, dot_matmul(m->p, dot), w.dot_flops);
		else if (dot->code == HLO_CONVOLUTION)
			ask_matmul(m, k, s, conv_matmul(m->p, dot), w.dot_flops);
	}
	k->flops = w.flops;
}

static void add_kernel(struct maker *m, int32_t step)
{
	const struct flat_step *s = &m->k->flat.step.at[step];
	const struct instruction *op = fuse_op(&m->fuse, step);
	struct kernel *k;

	if (op->async == ASYNC_UPDATE)
		return;
	switch (opcode_class(op->code)) {
	case CLASS_COLLECTIVE:
	case CLASS_LOOP:
	case CLASS_BRANCH:
	case CLASS_TRANSFER:
		add(m, step);
		return;
	case CLASS_CALL:
		if (op->code == HLO_FUSION)
			add_fusion(m, step);
		else
			add(m, step);
		return;
	case CLASS_CUSTOM:
		add_custom(m, step);
		return;
	case CLASS_MATMUL:
		k = add(m, step);
		k->ask.bytes = in_bytes(m, s, true) + out_bytes(m, s);
		ask_matmul(m, k, s, dot_matmul(m->p, op), op_work(m->p, op).flops);
		return;
	case CLASS_CONVOLUTION:
		k = add(m, step);
		k->ask.bytes = in_bytes(m, s, false) + out_bytes(m, s);
		ask_matmul(m, k, s, conv_matmul(m->p, op), op_work(m->p, op).flops);
		return;
	default:
		if (op->async == ASYNC_DONE)
			return;
		add_fused(m, step);
		k = &m->k->kernel.at[m->k->kernel.n - 1];
		/* Copies to the host and back are paid for by the link between. */
		if (op->code == HLO_COPY &&
		    (m->k->flat.value.at[s->first_out].type->space == SPACE_HOST ||
		     m->k->flat.value.at[m->k->flat.in.at[s->first_in]].type->space ==
		             SPACE_HOST)) {
			k->host_bytes = (double)op_result_bytes(m->p, op);
			k->ask.bytes = 0;
		}
	}
}

/* A value of the kind that fuses is a kernel where it is written to memory. */
static void add_written(struct maker *m, int32_t step)
{
	const struct flat_step *s = &m->k->flat.step.at[step];
	const struct instruction *op = fuse_op(&m->fuse, step);
	int32_t v = s->first_out;
	struct kernel *k;
	struct work w;
	struct cone c;

	if (s->nout != 1 || !m->fuse.kept[v] || m->fuse.base[v] != v ||
	    opcode_class(op->code) == CLASS_FREE)
		return;
	c = fuse_cone(&m->fuse, m->k->flat.in.at + s->first_in, s->nin,
	              fuse_slices(op) ? fuse_slice_share(&m->fuse, s) : 1);
	w = op_work(m->p, op);
	k = add(m, step);
	if (k->class == CLASS_MATMUL)
		k->class = CLASS_ELEMENTWISE;
	k->flops = c.flops + w.flops;
	k->transcendentals = c.transcendentals + w.transcendentals;
	k->ask.bytes = c.leaves + fuse_bytes(&m->fuse, v);
}

bool kernels_make(struct kernels *out, struct arena *a, const struct program *p,
                  int32_t region)
{
	struct maker m = {.k = out, .a = a, .p = p};

	*out = (struct kernels){0};
	if (!flat_make(&out->flat, a, p, region))
		return false;
	fuse_start(&m.fuse, a, p, &out->flat);
	out->kept = m.fuse.kept;
	for (int32_t k = 0; k < out->flat.step.n; k++) {
		const struct instruction *op = fuse_op(&m.fuse, k);

		if (fuse_again(op))
			add_written(&m, k);
		else if (op->code != HLO_CONSTANT)
			add_kernel(&m, k);
	}
	return true;
}
