/* Kernels of a graph, and the rule of attention. */
#include "automap/graph_build.h"
#include "program/custom.h"
#include "program/fuse.h"

#include <string.h>

/*
 * q [b,s,h,d], k [b,t,g,d], v [b,t,g,e] and, backward, the result and its gradient in the
 * shape of the result; heads of queries are g groups of h / g. Backward also queries are
 * summed over, for the gradients of keys and values.
 */
bool graph_attention_rule(struct op_rule *out, struct arena *a, const struct program *p,
                          const struct instruction *op)
{
	enum { B, S, G, R, T, D, E, FACTORS };
	struct attention at;
	int32_t n = op->noperands + op->nvalues;
	int64_t size[FACTORS];

	if (!custom_attention(&at, p, op) || (at.backward ? n != 8 : n != 4))
		return false;
	*out = (struct op_rule){.noperands = op->noperands, .ntensors = n};
	size[B] = (int64_t)at.b;
	size[S] = (int64_t)at.s;
	size[G] = p->value.at[op_operand(p, op, 1)].type.dim[2];
	size[R] = (int64_t)at.h / size[G];
	size[T] = (int64_t)at.t;
	size[D] = (int64_t)at.d;
	size[E] = p->value.at[op_operand(p, op, 2)].type.dim[3];
	for (int f = 0; f < FACTORS; f++)
		*list_add(&out->factor, a) = (struct factor){
			size[f],
			f == B || f == G || f == R ? FACTOR_PASS
			: f == S ? at.backward ? FACTOR_REDUCE : FACTOR_PASS
				 : FACTOR_REPLICATE,
			false};
	out->tensor = arena_alloc(a, (size_t)n, sizeof(*out->tensor));
	for (int32_t i = 0; i < n; i++) {
		/* q, k, v, o, do, dq, dk, dv; or q, k, v, o. */
		bool keys = i == 1 || i == 2 || i == 6 || i == 7;
		bool values = i == 2 || i == 3 || i == 4 || i == 7;
		const int dims[4] = {B, keys ? T : S, G, values ? E : D};
		struct rule_tensor *t = &out->tensor[i];

		t->rank = 4;
		t->dim = arena_alloc(a, 4, sizeof(*t->dim));
		for (int d = 0; d < 4; d++) {
			t->dim[d].at = arena_alloc(a, 2, sizeof(int32_t));
			t->dim[d].at[t->dim[d].n++] = dims[d];
			if (d == 2 && !keys)
				t->dim[d].at[t->dim[d].n++] = R;
		}
	}
	return true;
}

/* --- kernels ---------------------------------------------------------------------- */

struct kernel_maker {
	struct graph_build *b;
	struct fuse fuse;
	struct graph_kernel *kernel;
	int32_t *op_of_step; /* [flat steps] */
	int32_t *seen;       /* [flat values] */
	int32_t number;
};

/* Arrays in memory that operand `tensor` of a step is made of. */
static void add_leaves(struct kernel_maker *m, int32_t step, int32_t tensor,
                       double share)
{
	struct graph *g = m->b->g;
	const struct flat *f = m->b->flat;
	int32_t v = f->in.at[f->step.at[step].first_in + tensor];
	int32_t from = f->value.at[v].step;
	const struct flat_step *s;

	if (m->seen[v] == m->number)
		return;
	m->seen[v] = m->number;
	if (from < 0 || (m->fuse.kept[v] && m->fuse.base[v] == v)) {
		/* What a folded instance reads of another is read as that one has it. */
		int32_t graph = g->value_of[m->b->r.stands[v]];

		if (g->value.at[graph].constant || m->op_of_step[step] < 0)
			return;
		*list_add(&g->leaf, m->b->a) =
			(struct graph_leaf){m->op_of_step[step], tensor, share};
		m->kernel->nleaves++;
		g->last_use[graph] = m->kernel->op;
		return;
	}
	if (m->op_of_step[from] < 0) {
		int32_t back = f->step.at[from].first_out;

		from = f->value.at[m->b->r.stands[back]].step;
	}
	s = &f->step.at[from];
	for (int32_t i = 0; i < s->nin; i++)
		add_leaves(m, from, i,
		           fuse_slices(fuse_op(&m->fuse, from))
		                   ? share * fuse_slice_share(&m->fuse, s)
		                   : share);
}

/* The part of an operand that gathers and scatters read; the result that they write. */
static double index_share(struct kernel_maker *m, int32_t step, int32_t tensor)
{
	const struct flat *f = m->b->flat;
	const struct flat_step *s = &f->step.at[step];
	enum opcode code = fuse_op(&m->fuse, step)->code;
	double of = fuse_elements(&m->fuse, f->in.at[s->first_in]), part;

	if (tensor || (code != HLO_GATHER && code != HLO_SCATTER))
		return 1;
	part = code == HLO_GATHER
	               ? fuse_elements(&m->fuse, s->first_out)
	               : fuse_elements(&m->fuse, f->in.at[s->first_in + s->nin - 1]);
	return part < of ? part / of : 1;
}

static void ask_kernel(struct kernel_maker *m, int32_t step)
{
	const struct instruction *op = fuse_op(&m->fuse, step);
	const struct program *p = m->b->p;
	struct compute_ask *ask = &m->kernel->ask;
	struct attention at;
	struct matmul mm;

	if (fuse_is_dot(op) || op->code == HLO_CONVOLUTION) {
		mm = op->code == HLO_CONVOLUTION ? conv_matmul(p, op)
		                                 : dot_matmul(p, op);
		*ask = (struct compute_ask){.kind = op->code == HLO_CONVOLUTION
		                                            ? COMPUTE_CONVOLUTION
		                                            : COMPUTE_MATMUL,
		                            .b = mm.b,
		                            .m = mm.m,
		                            .n = mm.n,
		                            .k = mm.k,
		                            .flops = op_work(p, op).flops};
		ask->dtype = p->value.at[op_operand(p, op, 0)].type.dtype;
	} else if (custom_attention(&at, p, op)) {
		ask->kind = at.torch      ? COMPUTE_ATTENTION_TORCH
		            : at.backward ? COMPUTE_ATTENTION_BACK
		                          : COMPUTE_ATTENTION;
		ask->flops = at.flops;
	}
}

/* Which size of a matmul a factor is: by the arrays that have it. */
static void name_parts(struct graph *g, const struct graph_op *o)
{
	for (int32_t f = 0; f < o->nfactors; f++) {
		struct graph_factor *factor = &g->factor.at[o->first_factor + f];
		int has = 0;

		for (int32_t i = 0; i < factor->nuses; i++)
			has |= 1 << g->use.at[factor->first_use + i].tensor;
		factor->part = has == 7   ? 'b'
		               : has == 5 ? 'm'
		               : has == 6 ? 'n'
		               : has == 3 ? 'k'
		                          : 0;
	}
}

/* Whether a step is a kernel: it writes an array that is read from memory. */
static bool is_kernel(const struct kernel_maker *m, int32_t step)
{
	const struct instruction *op = fuse_op(&m->fuse, step);
	int32_t v = m->b->flat->step.at[step].first_out;

	if (op->code == HLO_CONSTANT || op->code == HLO_PARAMETER)
		return false;
	return !fuse_again(op) || (m->fuse.kept[v] && m->fuse.base[v] == v);
}

void graph_kernels(struct graph_build *b)
{
	struct kernel_maker m = {.b = b};
	struct graph *g = b->g;
	const struct flat *f = b->flat;

	fuse_start(&m.fuse, b->a, b->p, f);
	m.op_of_step = arena_alloc(b->a, (size_t)f->step.n + 1, sizeof(int32_t));
	m.seen = arena_alloc(b->a, (size_t)f->value.n + 1, sizeof(int32_t));
	g->last_use = arena_alloc(b->a, (size_t)g->value.n + 1, sizeof(int32_t));
	memset(m.op_of_step, -1, (size_t)f->step.n * sizeof(int32_t));
	memset(m.seen, -1, (size_t)f->value.n * sizeof(int32_t));
	memset(g->last_use, -1, (size_t)g->value.n * sizeof(int32_t));
	for (int32_t i = 0; i < g->op.n; i++)
		m.op_of_step[g->op.at[i].step] = i;
	for (int32_t i = 0; i < g->op.n; i++) {
		const struct graph_op *o = &g->op.at[i];

		if (!is_kernel(&m, o->step) ||
		    (o->nout &&
		     g->value.at[g->tensor.at[o->first_tensor + o->nin].value].constant))
			continue;
		m.number = (int32_t)g->kernel.n;
		m.kernel = list_add(&g->kernel, b->a);
		*m.kernel = (struct graph_kernel){
			.op = i, .first_leaf = (int32_t)g->leaf.n, .written = 1};
		ask_kernel(&m, o->step);
		if (m.kernel->ask.kind == COMPUTE_MATMUL ||
		    m.kernel->ask.kind == COMPUTE_CONVOLUTION)
			name_parts(g, o);
		for (int32_t t = 0; t < o->nout; t++)
			g->value.at[g->tensor.at[o->first_tensor + o->nin + t].value]
				.in_memory = true;
		if (fuse_op(&m.fuse, o->step)->code == HLO_SCATTER)
			m.kernel->written = index_share(&m, o->step, 0);
		for (int32_t t = 0; t < o->nin; t++)
			add_leaves(&m, o->step, t, index_share(&m, o->step, t));
	}
}
