#include "program/work.h"

#include <math.h>

static const struct value_type *operand(const struct program *p,
                                        const struct instruction *op, int32_t k)
{
	return &p->value.at[op_operand(p, op, k)].type;
}

static const struct value_type *result(const struct program *p,
                                       const struct instruction *op)
{
	return &p->value.at[op->first_result].type;
}

static double elements(const struct value_type *t)
{
	return (double)value_elements(t);
}

static double contracted(const struct program *p, const struct instruction *op)
{
	const struct dot_attr *d = op->as.dot;
	double n = 1;

	for (int32_t i = 0; i < d->lhs_contracting.n; i++)
		n *= (double)operand(p, op, 0)->dim[d->lhs_contracting.at[i]];
	return n;
}

/*
 * Pairs of a result's position o and a kernel's position k with o * stride + k * rhs_dilate -
 * low on an element of the input, which lie lhs_dilate apart.
 */
static double positions(const struct window *w, int32_t d, int64_t in, int64_t kernel,
                        int64_t out)
{
	int64_t apart = w->lhs_dilate[d] > 1 ? w->lhs_dilate[d] : 1,
		stride = w->stride[d];
	double sum = 0;

	for (int64_t k = 0; k < kernel; k++) {
		int64_t offset = k * w->rhs_dilate[d] - w->low[d], first = 0, every = 1;
		int64_t last = (in - 1) * apart;

		/* o of the first pair on an element, and how far on the next one is. */
		for (every = 1; every < apart && every * stride % apart; every++)
			;
		while (first < every &&
		       ((first * stride + offset) % apart + apart) % apart)
			first++;
		if (first == every || in == 0)
			continue;
		if (offset + first * stride < 0 && stride > 0) {
			int64_t lack = -(offset + first * stride);
			int64_t turn = every * stride;

			first += (lack + turn - 1) / turn * every;
		}
		if (first >= out || offset + first * stride > last)
			continue;
		int64_t end = stride > 0 ? (last - offset) / stride : out - 1;

		end = end < out - 1 ? end : out - 1;
		sum += (double)((end - first) / every + 1);
	}
	return sum;
}

struct matmul dot_matmul(const struct program *p, const struct instruction *op)
{
	const struct dot_attr *d = op->as.dot;
	struct matmul m = {1, 1, 1, contracted(p, op)};

	for (int32_t i = 0; i < d->lhs_batch.n; i++)
		m.b *= (double)operand(p, op, 0)->dim[d->lhs_batch.at[i]];
	m.m = elements(operand(p, op, 0)) / (m.b * m.k > 0 ? m.b * m.k : 1);
	m.n = elements(result(p, op)) / (m.b * m.m > 0 ? m.b * m.m : 1);
	return m;
}

/* Pairs of result positions and kernel positions that meet an element of the input. */
static double conv_pairs(const struct program *p, const struct instruction *op,
                         double *places)
{
	const struct conv_attr *c = op->as.conv;
	double pairs = 1;

	*places = 1;
	for (int32_t i = 0; i < c->nspatial; i++) {
		int64_t n = result(p, op)->dim[c->out_spatial[i]];

		pairs *= positions(&c->window, i, operand(p, op, 0)->dim[c->spatial[i]],
		                   operand(p, op, 1)->dim[c->kernel_spatial[i]], n);
		*places *= (double)n;
	}
	return pairs;
}

static double group_features(const struct program *p, const struct instruction *op)
{
	const struct conv_attr *c = op->as.conv;

	return (double)operand(p, op, 0)->dim[c->feature] / (double)c->feature_groups;
}

/* Where the batch is in groups each feature of the result sees that of its group alone. */
static double conv_flops(const struct program *p, const struct instruction *op)
{
	const struct conv_attr *c = op->as.conv;
	const struct value_type *out = result(p, op);
	double places, pairs = conv_pairs(p, op, &places);

	return 2 * (double)out->dim[c->out_batch] * (double)out->dim[c->out_feature] *
	       pairs * group_features(p, op);
}

/* As the matmul whose k are the positions of the kernel times the features of a group. */
struct matmul conv_matmul(const struct program *p, const struct instruction *op)
{
	double places, pairs = conv_pairs(p, op, &places);
	double n = (double)result(p, op)->dim[op->as.conv->out_feature];
	double out = elements(result(p, op));

	return (struct matmul){1, n > 0 ? out / n : 0, n,
	                       places > 0 ? pairs / places * group_features(p, op) : 0};
}

static bool is_elementwise(const struct instruction *op)
{
	return opcode_class(op->code) == CLASS_ELEMENTWISE;
}

/* Ops of one application of a reducer; 1 where it only picks an operand. */
static double applied_flops(const struct program *p, const struct instruction *op,
                            int32_t k)
{
	const struct region *r;
	double n = 0;

	if (k >= op->ncalled)
		return 1;
	r = &p->region.at[op_called(p, op, k)];
	for (int32_t i = 0; i < r->nops; i++)
		n += is_elementwise(&p->op.at[r->op[i]]);
	return n > 0 ? n : 1;
}

static double window_size(const struct window *w)
{
	double n = 1;

	for (int32_t i = 0; i < w->n; i++)
		n *= (double)w->size[i];
	return n;
}

static double sort_flops(const struct program *p, const struct instruction *op)
{
	double all = elements(operand(p, op, 0)), row = all;

	if (op->dims.n == 1)
		row = (double)operand(p, op, 0)->dim[op->dims.at[0]];
	return row > 1 ? all * ceil(log2(row)) : 0;
}

static void add_flops(struct work *w, const struct program *p,
                      const struct instruction *op)
{
	double in;

	switch (op->code) {
	case HLO_DOT:
	case HLO_RAGGED_DOT:
	case HLO_SCALED_DOT:
		w->dot_flops = 2 * elements(result(p, op)) * contracted(p, op);
		break;
	case HLO_CONVOLUTION:
		w->dot_flops = conv_flops(p, op);
		break;
	case HLO_REDUCE:
		in = elements(operand(p, op, 0)) - elements(result(p, op));
		w->flops = (in > 0 ? in : 0) * applied_flops(p, op, 0);
		break;
	case HLO_REDUCE_WINDOW:
		in = window_size(op->as.window) - 1;
		w->flops = in * elements(result(p, op)) * applied_flops(p, op, 0);
		break;
	case HLO_SELECT_AND_SCATTER:
		in = elements(operand(p, op, 1));
		w->flops =
			in * (window_size(op->as.window) - 1 + applied_flops(p, op, 1));
		break;
	case HLO_SCATTER:
		in = elements(operand(p, op, op->noperands - 1));
		w->flops = in * applied_flops(p, op, 0);
		break;
	case HLO_SORT:
	case HLO_TOPK:
		if (op->noperands)
			w->flops = sort_flops(p, op);
		break;
	default:
		if (is_elementwise(op) && opcode_flops(op->code) > 0)
			w->flops = elements(result(p, op));
		else if (is_elementwise(op))
			w->transcendentals = elements(result(p, op));
	}
	w->flops += w->dot_flops;
}

static double moved_bytes(const struct program *p, const struct instruction *op)
{
	double in = 0, out = (double)op_result_bytes(p, op);

	switch (op->code) {
	case HLO_SLICE:
	case HLO_DYNAMIC_SLICE:
		return 2 * out;
	case HLO_DYNAMIC_UPDATE_SLICE:
		return 2 * (double)value_type_bytes(operand(p, op, 1));
	case HLO_GATHER:
		return 2 * out + (double)value_type_bytes(operand(p, op, 1));
	case HLO_SCATTER:
		for (int32_t i = (op->noperands - 1) / 2 + 1; i < op->noperands; i++)
			in += 2 * (double)value_type_bytes(operand(p, op, i));
		return in +
		       (double)value_type_bytes(operand(p, op, (op->noperands - 1) / 2));
	case HLO_RESHAPE:
		return 0;
	default:
		return out + (double)op_operand_bytes(p, op);
	}
}

static struct work work_sum(struct work a, struct work b)
{
	return (struct work){a.flops + b.flops, a.transcendentals + b.transcendentals,
	                     a.dot_flops + b.dot_flops, a.bytes + b.bytes};
}

struct work op_work(const struct program *p, const struct instruction *op)
{
	struct work w = {0};

	if (op->async == ASYNC_DONE || op->async == ASYNC_UPDATE)
		return w;
	switch (opcode_class(op->code)) {
	case CLASS_FREE:
	case CLASS_LOOP:
	case CLASS_BRANCH:
		return w;
	case CLASS_CALL:
		if (op->code != HLO_FUSION)
			return w;
		w = region_work(p, op_called(p, op, 0));
		w.bytes = (double)(op_operand_bytes(p, op) + op_result_bytes(p, op));
		return w;
	default:
		add_flops(&w, p, op);
		w.bytes = moved_bytes(p, op);
		return w;
	}
}

/*
 * Fusions are within fusions at most a few deep, as compilers make them; what calls again is
 * counted by program_work(), region by region.
 */
struct work region_work(const struct program *p, int32_t region)
{
	const struct region *r = &p->region.at[region];
	struct work sum = {0};

	for (int32_t i = 0; i < r->nops; i++)
		sum = work_sum(sum, op_work(p, &p->op.at[r->op[i]]));
	return sum;
}

struct work program_work(const struct program *p)
{
	struct work sum = {0};

	for (int64_t r = 0; r < p->region.n; r++) {
		const struct region *region = &p->region.at[r];
		struct work w;

		if (region->kind != REGION_CODE || region->runs <= 0)
			continue;
		w = region_work(p, (int32_t)r);
		sum = work_sum(sum, (struct work){w.flops * region->runs,
		                                  w.transcendentals * region->runs,
		                                  w.dot_flops * region->runs,
		                                  w.bytes * region->runs});
	}
	return sum;
}
