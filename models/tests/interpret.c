#include "tests/interpret.h"

#include "base/assert.h"
#include "program/rules_build.h"
#include "tests/interpret_look.h"

#include <check.h>
#include <math.h>
#include <string.h>

/* --- ops --- */

struct run {
	struct arena *a;
	const struct program *p;
	const struct partitioned *part;
	const struct mesh *m;
	int32_t n;
	struct tensor *value; /* [values * n] */
};

static struct tensor *value_of(struct run *r, int32_t value, int32_t dev)
{
	return &r->value[(int64_t)value * r->n + dev];
}

static struct tensor *operand(struct run *r, const struct instruction *op, int32_t k,
                              int32_t dev)
{
	struct tensor *c = value_of(r, op_operand(r->p, op, k), dev);

	assert(c->at);
	return c;
}

static double compute(enum opcode code, struct span direction, const double *x)
{
	switch (code) {
	case HLO_ADD:
		return x[0] + x[1];
	case HLO_SUBTRACT:
		return x[0] - x[1];
	case HLO_MULTIPLY:
		return x[0] * x[1];
	case HLO_DIVIDE:
		return x[0] / x[1];
	case HLO_MAXIMUM:
		return fmax(x[0], x[1]);
	case HLO_MINIMUM:
		return fmin(x[0], x[1]);
	case HLO_NEGATE:
		return -x[0];
	case HLO_TANH:
		return tanh(x[0]);
	case HLO_EXPONENTIAL:
		return exp(x[0]);
	case HLO_SELECT:
		return x[0] != 0 ? x[1] : x[2];
	case HLO_COMPARE:
		return span_is(direction, "GT")   ? x[0] > x[1]
		       : span_is(direction, "GE") ? x[0] >= x[1]
		       : span_is(direction, "EQ") ? x[0] == x[1]
		                                  : x[0] < x[1];
	case HLO_AND:
		return x[0] != 0 && x[1] != 0;
	case HLO_CONVERT:
	case HLO_COPY:
		return x[0];
	default:
		ck_abort_msg("%s is not known here", opcode_name(code));
		return 0;
	}
}

double interpret_apply(enum opcode code, double x, double y)
{
	return compute(code, (struct span){0}, (const double[]){x, y, 0});
}

static void run_elementwise(struct run *r, const struct instruction *op,
                            struct tensor *out, int32_t dev)
{
	for (int64_t i = 0; i < tensor_count(out); i++) {
		double x[3] = {0};

		for (int32_t k = 0; k < op->noperands; k++) {
			const struct tensor *in = operand(r, op, k, dev);

			assert(!in->rank || tensor_count(in) == tensor_count(out));
			x[k] = in->at[in->rank ? i : 0];
		}
		out->at[i] = compute(op->code, op->direction, x);
	}
}

/* Slices are moved until all of them is inside. */
static int64_t start_of(const struct tensor *index, int64_t last)
{
	int64_t at = (int64_t)*index->at;

	return at < 0 ? 0 : at > last ? last : at;
}

/* Where each cell of the result comes from: for ops that move cells. */
static void run_move(struct run *r, const struct instruction *op, struct tensor *out,
                     int32_t dev)
{
	const struct tensor *in = operand(r, op, 0, dev);
	int64_t at[RANK_MAX], from[RANK_MAX] = {0},
			      dim = op->dims.n ? op->dims.at[0] : 0;

	for (int64_t i = 0; i < tensor_count(out); i++) {
		tensor_index(at, out, i);
		if (op->code == HLO_CONCATENATE) {
			int32_t k = 0;

			memcpy(from, at, sizeof(from));
			for (in = operand(r, op, 0, dev); from[dim] >= in->dim[dim];) {
				from[dim] -= in->dim[dim];
				in = operand(r, op, ++k, dev);
			}
		}
		for (int32_t d = 0; d < in->rank; d++) {
			if (op->code == HLO_BROADCAST)
				from[d] = in->dim[d] == 1 ? 0 : at[op->dims.at[d]];
			if (op->code == HLO_TRANSPOSE)
				from[op->dims.at[d]] = at[d];
			if (op->code == HLO_SLICE)
				from[d] = op->as.slice->start.at[d] +
				          at[d] * op->as.slice->stride.at[d];
			if (op->code == HLO_REVERSE)
				from[d] = ints_have(op->dims, d) ? in->dim[d] - 1 - at[d]
				                                 : at[d];
			if (op->code == HLO_DYNAMIC_SLICE)
				from[d] = at[d] + start_of(operand(r, op, 1 + d, dev),
				                           in->dim[d] - out->dim[d]);
		}
		out->at[i] = *tensor_at(in, from);
	}
}

/* How far one step along a dimension goes. */
static int64_t stride(const struct tensor *c, int64_t dim)
{
	int64_t n = 1;

	for (int32_t d = (int32_t)dim + 1; d < c->rank; d++)
		n *= c->dim[d];
	return n;
}

/* How far one step along each dimension of the result and of what is summed goes in an operand. */
static void dot_strides(int64_t *outer, int64_t *inner, const struct tensor *c,
                        struct ints batch, struct ints sum, int32_t first, int32_t rank)
{
	memset(outer, 0, (size_t)rank * sizeof(*outer));
	for (int32_t i = 0; i < batch.n; i++)
		outer[i] = stride(c, batch.at[i]);
	for (int32_t d = 0; d < c->rank; d++)
		if (!ints_have(batch, d) && !ints_have(sum, d))
			outer[first++] = stride(c, d);
	for (int32_t i = 0; i < sum.n; i++)
		inner[i] = stride(c, sum.at[i]);
}

static void run_dot(struct run *r, const struct instruction *op, struct tensor *out,
                    int32_t dev)
{
	const struct dot_attr *d = op->as.dot;
	const struct tensor *l = operand(r, op, 0, dev), *h = operand(r, op, 1, dev);
	struct tensor inner = {.rank = d->lhs_contracting.n};
	int64_t at[RANK_MAX], outer[2][RANK_MAX], step[2][RANK_MAX], n;

	for (int32_t i = 0; i < inner.rank; i++) {
		inner.dim[i] = l->dim[d->lhs_contracting.at[i]];
		ck_assert_int_eq(inner.dim[i], h->dim[d->rhs_contracting.at[i]]);
	}
	n = tensor_count(&inner);
	dot_strides(outer[0], step[0], l, d->lhs_batch, d->lhs_contracting,
	            d->lhs_batch.n, out->rank);
	dot_strides(outer[1], step[1], h, d->rhs_batch, d->rhs_contracting,
	            l->rank - d->lhs_contracting.n, out->rank);
	for (int64_t i = 0; i < tensor_count(out); i++) {
		int64_t from[2] = {0, 0};
		double sum = 0;

		tensor_index(at, out, i);
		for (int32_t k = 0; k < out->rank; k++)
			for (int s = 0; s < 2; s++)
				from[s] += at[k] * outer[s][k];
		for (int64_t j = 0; j < n; j++) {
			int64_t x = from[0], y = from[1], rest = j;

			for (int32_t k = inner.rank; k-- > 0; rest /= inner.dim[k]) {
				x += rest % inner.dim[k] * step[0][k];
				y += rest % inner.dim[k] * step[1][k];
			}
			sum += l->at[x] * h->at[y];
		}
		out->at[i] = sum;
	}
}

static void run_reduce(struct run *r, const struct instruction *op, struct tensor *out,
                       int32_t dev)
{
	const struct tensor *in = operand(r, op, 0, dev);
	enum opcode code = op_applied(r->p, op);
	int64_t at[RANK_MAX], to[RANK_MAX];

	for (int64_t i = 0; i < tensor_count(out); i++)
		out->at[i] = *operand(r, op, 1, dev)->at;
	for (int64_t i = 0; i < tensor_count(in); i++) {
		int32_t n = 0;
		double x[2];

		tensor_index(at, in, i);
		for (int32_t d = 0; d < in->rank; d++)
			if (!ints_have(op->dims, d))
				to[n++] = at[d];
		x[0] = *tensor_at(out, to);
		x[1] = in->at[i];
		*tensor_at(out, to) = compute(code, (struct span){0}, x);
	}
}

static void run_update(struct run *r, const struct instruction *op, struct tensor *out,
                       int32_t dev)
{
	const struct tensor *in = operand(r, op, 0, dev),
			    *update = operand(r, op, 1, dev);
	int64_t at[RANK_MAX];

	memcpy(out->at, in->at, (size_t)tensor_count(in) * sizeof(*in->at));
	for (int64_t i = 0; i < tensor_count(update); i++) {
		tensor_index(at, update, i);
		for (int32_t d = 0; d < in->rank; d++)
			at[d] += start_of(operand(r, op, 2 + d, dev),
			                  in->dim[d] - update->dim[d]);
		*tensor_at(out, at) = update->at[i];
	}
}

static void run_iota(const struct instruction *op, struct tensor *out)
{
	int64_t at[RANK_MAX] = {0};

	for (int64_t i = 0; i < tensor_count(out); i++) {
		tensor_index(at, out, i);
		out->at[i] = (double)at[op->dims.n ? op->dims.at[0] : 0];
	}
}

/* Ops that look elements up, with at most three operands. */
static bool run_look(struct run *r, const struct instruction *op, struct tensor *out,
                     int32_t dev)
{
	const struct tensor *in[3];

	for (int32_t k = 0; k < op->noperands && k < 3; k++)
		in[k] = operand(r, op, k, dev);
	switch (op->code) {
	case HLO_PAD:
		return interpret_pad(out, op, in), true;
	case HLO_REDUCE_WINDOW:
		return interpret_reduce_window(out, r->p, op, in), true;
	case HLO_CONVOLUTION:
		return interpret_convolution(out, op, in), true;
	case HLO_GATHER:
		return interpret_gather(out, op, in), true;
	case HLO_SCATTER:
		return interpret_scatter(out, r->p, op, in), true;
	default:
		return false;
	}
}

static void run_op(struct run *r, const struct instruction *op, int32_t dev)
{
	const struct value_type *t = &r->p->value.at[op->first_value].type;
	struct tensor *out = value_of(r, op->first_value, dev);

	*out = tensor_make(r->a, t->rank, t->dim);
	switch (op->code) {
	case HLO_CONSTANT:
		ck_assert(op->as.constant);
		ck_assert(op->as.constant->known || op->as.constant->table);
		for (int64_t i = 0; i < tensor_count(out); i++)
			out->at[i] = op->as.constant->known
			                     ? op->as.constant->value
			                     : (double)op->as.constant->table[i];
		break;
	case HLO_PARTITION_ID:
		*out->at = dev;
		break;
	case HLO_IOTA:
		run_iota(op, out);
		break;
	case HLO_DOT:
		run_dot(r, op, out, dev);
		break;
	case HLO_REDUCE:
		run_reduce(r, op, out, dev);
		break;
	case HLO_DYNAMIC_UPDATE_SLICE:
		run_update(r, op, out, dev);
		break;
	case HLO_RESHAPE:
	case HLO_SHARDING_CONSTRAINT:
		ck_assert(tensor_count(out) == tensor_count(operand(r, op, 0, dev)));
		memcpy(out->at, operand(r, op, 0, dev)->at,
		       (size_t)tensor_count(out) * sizeof(*out->at));
		break;
	case HLO_BROADCAST:
	case HLO_TRANSPOSE:
	case HLO_SLICE:
	case HLO_CONCATENATE:
	case HLO_REVERSE:
	case HLO_DYNAMIC_SLICE:
		run_move(r, op, out, dev);
		break;
	default:
		if (!run_look(r, op, out, dev))
			run_elementwise(r, op, out, dev);
	}
}

/* --- between devices, changes of layout, regions --- */

/* Who is sent nothing has zeros. */
static void run_permute(struct run *r, const struct instruction *op)
{
	const struct value_type *t = &r->p->value.at[op->first_value].type;
	const struct ints pairs = op->as.collective->pairs;

	for (int32_t d = 0; d < r->n; d++)
		*value_of(r, op->first_value, d) = tensor_make(r->a, t->rank, t->dim);
	for (int32_t i = 0; i + 1 < pairs.n; i += 2)
		*value_of(r, op->first_value, (int32_t)pairs.at[i + 1]) =
			*operand(r, op, 0, (int32_t)pairs.at[i]);
}

static void run_reshard(struct run *r, const struct instruction *op, int32_t number)
{
	const struct reshard *is = &r->part->reshard.at[r->part->of.at[number]];
	const struct value_type whole = {.dtype = is->array.dtype,
	                                 .rank = is->array.shape.rank,
	                                 .dim = is->array.shape.dim};
	struct tensor *tile = value_of(r, op_operand(r->p, op, 0), 0);
	struct tensor all;
	bool max = false;

	/* Of later steps only the first one counts. */
	if (r->part->step.at[number] > 0) {
		for (int32_t d = 0; d < r->n; d++)
			*value_of(r, op->first_value, d) = tile[d];
		return;
	}
	for (int32_t i = number;
	     i < r->p->op.n && r->part->of.at[i] == r->part->of.at[number]; i++)
		max |= op_applied(r->p, &r->p->op.at[i]) == HLO_MAXIMUM;
	all = tensor_join(r->a, tile, &whole, &is->from, r->m, max);
	tensor_cut(value_of(r, op->first_value, 0), r->a, &all, &is->to, r->m);
}

static void run_region(struct run *r, int32_t number);

static void pass(struct run *r, int32_t to, int32_t from)
{
	for (int32_t d = 0; d < r->n; d++)
		*value_of(r, to, d) = *value_of(r, from, d);
}

static void run_loop(struct run *r, const struct instruction *op)
{
	const struct region *cond = &r->p->region.at[op_called(r->p, op, 0)];
	const struct region *body = &r->p->region.at[op_called(r->p, op, 1)];

	for (int32_t k = 0; k < op->noperands; k++)
		pass(r, op->first_value + k, op_operand(r->p, op, k));
	for (;;) {
		for (int32_t k = 0; k < op->noperands; k++) {
			pass(r, cond->param.at[k], op->first_value + k);
			pass(r, body->param.at[k], op->first_value + k);
		}
		run_region(r, op_called(r->p, op, 0));
		if (*value_of(r, cond->result.at[0], 0)->at == 0)
			return;
		run_region(r, op_called(r->p, op, 1));
		for (int32_t k = 0; k < op->noperands; k++)
			pass(r, op->first_value + k, body->result.at[k]);
	}
}

static void run_call(struct run *r, const struct instruction *op)
{
	const struct region *region = &r->p->region.at[op_called(r->p, op, 0)];

	for (int32_t k = 0; k < op->noperands; k++)
		pass(r, region->param.at[k], op_operand(r->p, op, k));
	run_region(r, op_called(r->p, op, 0));
	for (int32_t k = 0; k < op->nvalues; k++)
		pass(r, op->first_value + k, region->result.at[k]);
}

static void run_region(struct run *r, int32_t number)
{
	const struct region *region = &r->p->region.at[number];

	for (int32_t i = 0; i < region->nops; i++) {
		const struct instruction *op = &r->p->op.at[region->op[i]];

		if (op->code == HLO_PARAMETER ||
		    r->p->value.at[op->first_value].same != op->first_value)
			continue;
		if (r->part && r->part->of.at[region->op[i]] >= 0)
			run_reshard(r, op, region->op[i]);
		else if (op->code == HLO_WHILE)
			run_loop(r, op);
		else if (op->code == HLO_CALL || op->code == HLO_MANUAL_COMPUTATION)
			run_call(r, op);
		else if (op->code == HLO_COLLECTIVE_PERMUTE)
			run_permute(r, op);
		else
			for (int32_t d = 0; d < r->n; d++)
				run_op(r, op, d);
	}
}

void interpret(struct tensor *result, struct arena *a, const struct program *p,
               const struct partitioned *part, const struct mesh *m, int32_t n,
               const struct tensor *param)
{
	const struct region *entry = &p->region.at[p->entry];
	struct run r = {a, p, part, m, n, NULL};

	r.value = arena_alloc(a, (size_t)(p->value.n * n), sizeof(*r.value));
	for (int32_t i = 0; i < entry->param.n; i++)
		for (int32_t d = 0; d < n; d++)
			*value_of(&r, entry->param.at[i], d) = param[i * n + d];
	run_region(&r, p->entry);
	for (int32_t i = 0; i < entry->result.n; i++)
		for (int32_t d = 0; d < n; d++)
			result[i * n + d] = *value_of(&r, entry->result.at[i], d);
}
