#include "program/kernels.h"

#include "program/custom.h"

#include <string.h>

/* A cone of ops larger than this is cut: its values are written to memory. */
enum { CONE_MAX = 4096 };

struct maker {
	struct kernels *k;
	struct flat *f;
	struct arena *a;
	const struct program *p;
	int32_t *base; /* of each flat value: the one that it is another name of */
	bool *kept;    /* written to memory */
	int32_t *seen; /* stamp of the cone that a step or leaf was seen in */
	int32_t *leaf_seen;
	int32_t stamp;
	int32_t *stack; /* values of a cone that are to be looked at */
	double *share;  /* of each of them, the part that is read */
};

static const struct instruction *op_of(const struct maker *m, int32_t step)
{
	return &m->p->op.at[m->f->step.at[step].op];
}

static double bytes_of(const struct maker *m, int32_t value)
{
	const struct value_type *t = m->f->value.at[value].type;
	int64_t bytes = type_bytes(t);

	return bytes < KERNEL_FREE_BYTES || t->space != SPACE_DEVICE ? 0 : (double)bytes;
}

static double elements_of(const struct maker *m, int32_t value)
{
	return (double)type_elements(m->f->value.at[value].type);
}

static bool is_dot(const struct instruction *op)
{
	return opcode_class(op->code) == CLASS_MATMUL &&
	       (op->code != HLO_DOT || op->as.dot->lhs_contracting.n > 0);
}

/* Results of these are computed again where they are used, unless that costs more. */
static bool fuses(const struct instruction *op)
{
	switch (opcode_class(op->code)) {
	case CLASS_ELEMENTWISE:
		return true;
	case CLASS_MATMUL:
		return !is_dot(op);
	case CLASS_MOVE:
		return op->async == ASYNC_NONE;
	case CLASS_INDEX:
		return op->code == HLO_DYNAMIC_SLICE;
	case CLASS_FREE:
		return op->code != HLO_CONSTANT;
	default:
		return custom_is_name(op);
	}
}

/* These name their operand; of `dots` so do transposes. */
static bool is_name(const struct instruction *op)
{
	return op->noperands >= 1 && op->nvalues == 1 &&
	       (op->code == HLO_RESHAPE || op->code == HLO_BITCAST ||
	        op->code == HLO_SHARDING_CONSTRAINT || op->code == HLO_RESHARD ||
	        op->code == HLO_DATA_FLOW_EDGE || op->code == HLO_PROPAGATION_BARRIER ||
	        custom_is_name(op));
}

/* These read arrays from memory; what computes them cannot be part of them. */
static bool needs_memory(const struct instruction *op)
{
	switch (opcode_class(op->code)) {
	case CLASS_MATMUL:
		return is_dot(op);
	case CLASS_CONVOLUTION:
	case CLASS_SORT:
	case CLASS_SOLVE:
	case CLASS_COLLECTIVE:
	case CLASS_LOOP:
	case CLASS_BRANCH:
	case CLASS_TRANSFER:
	case CLASS_CALL:
		return true;
	case CLASS_CUSTOM:
		return !custom_is_name(op);
	default:
		return op->async != ASYNC_NONE;
	}
}

/* The array that a matmul reads: a transpose on the way is part of the matmul. */
static int32_t dot_base(const struct maker *m, int32_t value)
{
	int32_t step;

	value = m->base[value];
	step = m->f->value.at[value].step;
	while (step >= 0 && op_of(m, step)->code == HLO_TRANSPOSE) {
		value = m->base[m->f->in.at[m->f->step.at[step].first_in]];
		step = m->f->value.at[value].step;
	}
	return value;
}

/* --- cones --- */

/* What a cone computes and reads. */
struct cone {
	double leaves; /* bytes */
	double flops, transcendentals;
	bool whole; /* false: it is larger than CONE_MAX */
};

static double slice_share(const struct maker *m, const struct flat_step *s)
{
	double of = elements_of(m, m->f->in.at[s->first_in]);

	return of > 0 ? elements_of(m, s->first_out) / of : 1;
}

static bool slices(const struct instruction *op)
{
	return op->code == HLO_SLICE || op->code == HLO_DYNAMIC_SLICE;
}

/*
 * Goes from n values, of which `share` is read, to the arrays in memory that they are made of.
 * Each array counts once, by the first share that reaches it; slices of it one by one.
 */
static struct cone cone_of(struct maker *m, const int32_t *value, int32_t n,
                           double share)
{
	struct cone c = {.whole = true};
	int32_t depth = 0, looked = 0;

	m->stamp++;
	for (int32_t i = 0; i < n; i++) {
		m->stack[depth] = m->base[value[i]];
		m->share[depth++] = share;
	}
	while (depth) {
		int32_t v = m->stack[--depth], step = m->f->value.at[v].step;
		double part = m->share[depth];
		const struct flat_step *s;
		struct work w;

		if (step < 0 || m->kept[v] || !fuses(op_of(m, step))) {
			if (part >= 1 && m->leaf_seen[v] == m->stamp)
				continue;
			m->leaf_seen[v] = part >= 1 ? m->stamp : m->leaf_seen[v];
			c.leaves += part * bytes_of(m, v);
			continue;
		}
		s = &m->f->step.at[step];
		if (m->seen[step] == m->stamp)
			continue;
		m->seen[step] = m->stamp;
		if (++looked > CONE_MAX || depth + s->nin > CONE_MAX * 2) {
			c.whole = false;
			return c;
		}
		w = op_work(m->p, op_of(m, step));
		c.flops += part * w.flops;
		c.transcendentals += part * w.transcendentals;
		if (slices(op_of(m, step)))
			part *= slice_share(m, s);
		for (int32_t i = 0; i < s->nin; i++) {
			m->stack[depth] = m->base[m->f->in.at[s->first_in + i]];
			m->share[depth++] = part;
		}
	}
	return c;
}

/* --- which arrays are in memory --- */

static void keep_inputs(struct maker *m)
{
	for (int64_t k = 0; k < m->f->step.n; k++) {
		const struct flat_step *s = &m->f->step.at[k];
		const struct instruction *op = op_of(m, (int32_t)k);

		if (!needs_memory(op))
			continue;
		for (int32_t i = 0; i < s->nin; i++) {
			int32_t v = m->f->in.at[s->first_in + i];

			m->kept[is_dot(op) ? dot_base(m, v) : m->base[v]] = true;
		}
	}
	for (int32_t i = 0; i < m->f->result.n; i++)
		m->kept[m->base[m->f->result.at[i]]] = true;
}

/* Values that are used several times, in the order in which they are made. */
static void keep_shared(struct maker *m)
{
	int32_t *uses = arena_alloc(m->a, (size_t)m->f->value.n, sizeof(*uses));

	for (int64_t k = 0; k < m->f->step.n; k++) {
		const struct flat_step *s = &m->f->step.at[k];

		for (int32_t i = 0; i < s->nin && !is_name(op_of(m, (int32_t)k)); i++)
			uses[m->base[m->f->in.at[s->first_in + i]]]++;
	}
	for (int64_t k = 0; k < m->f->step.n; k++) {
		const struct flat_step *s = &m->f->step.at[k];
		int32_t v = s->first_out;
		double own, n;
		struct cone c;

		if (!fuses(op_of(m, (int32_t)k)) || s->nout != 1 || m->base[v] != v ||
		    m->kept[v] || uses[v] < 2)
			continue;
		c = cone_of(m, &v, 1, 1);
		own = bytes_of(m, v);
		n = uses[v];
		m->kept[v] = !c.whole || own * (1 + n) + c.leaves < n * c.leaves;
	}
}

/* --- kernels --- */

static struct kernel *add(struct maker *m, int32_t step)
{
	struct kernel *k = list_add(&m->k->kernel, m->a);
	const struct instruction *op = op_of(m, step);

	*k = (struct kernel){.op = m->f->step.at[step].op,
	                     .step = step,
	                     .class = opcode_class(op->code)};
	return k;
}

static double out_bytes(const struct maker *m, const struct flat_step *s)
{
	double sum = 0;

	for (int32_t i = 0; i < s->nout; i++)
		sum += bytes_of(m, s->first_out + i);
	return sum;
}

static double in_bytes(const struct maker *m, const struct flat_step *s, bool dot)
{
	double sum = 0;

	for (int32_t i = 0; i < s->nin; i++) {
		int32_t v = m->f->in.at[s->first_in + i];

		sum += bytes_of(m, dot ? dot_base(m, v) : m->base[v]);
	}
	return sum;
}

static void ask_matmul(struct maker *m, struct kernel *k, const struct flat_step *s,
                       struct matmul of, double flops)
{
	bool conv = k->class == CLASS_CONVOLUTION;

	k->ask.kind = conv ? COMPUTE_CONVOLUTION : COMPUTE_MATMUL;
	k->ask.dtype = m->f->value.at[m->f->in.at[s->first_in]].type->dtype;
	k->ask.b = of.b;
	k->ask.m = of.m;
	k->ask.n = of.n;
	k->ask.k = of.k;
	k->ask.flops = k->flops = flops;
}

/* A reduction, gather or scatter with what is computed on the way into it. */
static void add_fused(struct maker *m, int32_t step)
{
	const struct flat_step *s = &m->f->step.at[step];
	const struct instruction *op = op_of(m, step);
	struct kernel *k = add(m, step);
	struct work w = op_work(m->p, op);
	const int32_t *in = m->f->in.at + s->first_in;
	double out = out_bytes(m, s), read;
	struct cone c;

	switch (op->code) {
	case HLO_DYNAMIC_UPDATE_SLICE:
		c = cone_of(m, in + 1, 1, 1);
		read = c.leaves;
		out = bytes_of(m, m->base[in[1]]);
		break;
	case HLO_GATHER:
		read = elements_of(m, s->first_out) / elements_of(m, in[0]);
		c = cone_of(m, in, 1, read < 1 ? read : 1);
		read = c.leaves + bytes_of(m, m->base[in[1]]);
		break;
	case HLO_SCATTER:
		c = cone_of(m, in + (s->nin - 1) / 2, s->nin - (s->nin - 1) / 2, 1);
		/* The elements that are added to are read and written. */
		out = 2 * bytes_of(m, m->base[in[s->nin - 1]]);
		read = c.leaves;
		break;
	default:
		c = cone_of(m, in, s->nin, 1);
		read = c.leaves;
	}
	k->flops = w.flops + c.flops;
	k->transcendentals = w.transcendentals + c.transcendentals;
	k->ask.bytes = read + out;
}

static void add_custom(struct maker *m, int32_t step)
{
	const struct flat_step *s = &m->f->step.at[step];
	const struct instruction *op = op_of(m, step);
	struct kernel *k = add(m, step);
	struct attention at;
	struct matmul mm;

	k->ask.bytes = in_bytes(m, s, false) + out_bytes(m, s);
	if (custom_attention(&at, m->p, op)) {
		k->ask.kind = at.backward ? COMPUTE_ATTENTION_BACK : COMPUTE_ATTENTION;
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
			if (k == 0 && slices(op))
				sum += (double)op_result_bytes(m->p, op);
			else if (k > 0 || op->code != HLO_DYNAMIC_UPDATE_SLICE)
				sliced = false;
		}
	}
	return sliced ? sum : -1;
}

static void add_fusion(struct maker *m, int32_t step)
{
	const struct flat_step *s = &m->f->step.at[step];
	const struct instruction *op = op_of(m, step);
	const struct region *r = &m->p->region.at[op_called(m->p, op, 0)];
	struct kernel *k = add(m, step);
	struct work w = op_work(m->p, op);

	k->class = w.dot_flops > 0 ? CLASS_MATMUL : CLASS_ELEMENTWISE;
	k->flops = w.flops;
	k->transcendentals = w.transcendentals;
	for (int32_t i = 0; i < s->nin; i++) {
		double whole = bytes_of(m, m->f->in.at[s->first_in + i]);
		double part = fusion_read(m, r, i);

		k->ask.bytes += part >= 0 && part < whole ? part : whole;
	}
	for (int32_t i = 0; i < s->nout; i++) {
		int32_t of = m->p->value.at[r->result.at[i]].op;
		const struct instruction *root = &m->p->op.at[of];
		double out = bytes_of(m, s->first_out + i);

		if (root->code == HLO_DYNAMIC_UPDATE_SLICE)
			out = (double)type_bytes(
				&m->p->value.at[op_operand(m->p, root, 1)].type);
		k->ask.bytes += out;
	}
	for (int32_t i = 0; i < r->nops && w.dot_flops > 0; i++) {
		const struct instruction *dot = &m->p->op.at[r->op[i]];

		if (is_dot(dot))
			ask_matmul(m, k, s, dot_matmul(m->p, dot), w.dot_flops);
		else if (dot->code == HLO_CONVOLUTION)
			ask_matmul(m, k, s, conv_matmul(m->p, dot), w.dot_flops);
	}
	k->flops = w.flops;
}

static void add_kernel(struct maker *m, int32_t step)
{
	const struct flat_step *s = &m->f->step.at[step];
	const struct instruction *op = op_of(m, step);
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
		    (m->f->value.at[s->first_out].type->space == SPACE_HOST ||
		     m->f->value.at[m->f->in.at[s->first_in]].type->space == SPACE_HOST)) {
			k->host_bytes = (double)op_result_bytes(m->p, op);
			k->ask.bytes = 0;
		}
	}
}

/* A value of the kind that fuses is a kernel where it is written to memory. */
static void add_written(struct maker *m, int32_t step)
{
	const struct flat_step *s = &m->f->step.at[step];
	const struct instruction *op = op_of(m, step);
	int32_t v = s->first_out;
	struct kernel *k;
	struct work w;
	struct cone c;

	if (s->nout != 1 || !m->kept[v] || m->base[v] != v ||
	    opcode_class(op->code) == CLASS_FREE)
		return;
	c = cone_of(m, m->f->in.at + s->first_in, s->nin,
	            slices(op) ? slice_share(m, s) : 1);
	w = op_work(m->p, op);
	k = add(m, step);
	if (k->class == CLASS_MATMUL)
		k->class = CLASS_ELEMENTWISE;
	k->flops = c.flops + w.flops;
	k->transcendentals = c.transcendentals + w.transcendentals;
	k->ask.bytes = c.leaves + bytes_of(m, v);
}

static void *ints_for(struct maker *m, int64_t n)
{
	return arena_alloc(m->a, (size_t)n + 1, sizeof(int32_t));
}

bool kernels_make(struct kernels *out, struct arena *a, const struct program *p,
                  int32_t region)
{
	struct maker m = {.k = out, .f = &out->flat, .a = a, .p = p};

	*out = (struct kernels){0};
	if (!flat_make(&out->flat, a, p, region))
		return false;
	m.base = ints_for(&m, m.f->value.n);
	m.leaf_seen = ints_for(&m, m.f->value.n);
	m.seen = ints_for(&m, m.f->step.n);
	m.stack = ints_for(&m, CONE_MAX * 4);
	m.share = arena_alloc(a, CONE_MAX * 4, sizeof(*m.share));
	m.kept = out->kept = arena_alloc(a, (size_t)m.f->value.n + 1, sizeof(bool));
	for (int32_t v = 0; v < m.f->value.n; v++) {
		int32_t step = m.f->value.at[v].step;

		m.base[v] = v;
		if (step >= 0 && is_name(op_of(&m, step)))
			m.base[v] = m.base[m.f->in.at[m.f->step.at[step].first_in]];
		m.kept[v] = step < 0 || !fuses(op_of(&m, step));
	}
	if (p->stage == STAGE_OPTIMISED)
		for (int64_t v = 0; v < m.f->value.n; v++)
			m.kept[v] = true;
	else
		keep_inputs(&m);
	if (p->stage != STAGE_OPTIMISED)
		keep_shared(&m);
	for (int32_t k = 0; k < m.f->step.n; k++) {
		if (fuses(op_of(&m, k)))
			add_written(&m, k);
		else if (op_of(&m, k)->code != HLO_CONSTANT)
			add_kernel(&m, k);
	}
	return true;
}
