#include "tests/interpret.h"

#include "array/tile.h"
#include "base/assert.h"
#include "program/rules_build.h"

#include <check.h>
#include <math.h>
#include <string.h>

/* --- arrays --- */

static int64_t count(const struct cells *c)
{
	int64_t n = 1;

	for (int32_t d = 0; d < c->rank; d++)
		n *= c->dim[d];
	return n;
}

static struct cells make(struct arena *a, int32_t rank, const int64_t *dim)
{
	struct cells c = {.rank = rank};

	for (int32_t d = 0; d < rank; d++)
		c.dim[d] = dim[d];
	c.at = arena_alloc(a, (size_t)count(&c) + 1, sizeof(*c.at));
	return c;
}

/* The indices of cell number i. */
static void indices(int64_t *out, const struct cells *c, int64_t i)
{
	for (int32_t d = c->rank; d-- > 0;) {
		out[d] = i % c->dim[d];
		i /= c->dim[d];
	}
}

static double *cell(const struct cells *c, const int64_t *index)
{
	int64_t at = 0;

	for (int32_t d = 0; d < c->rank; d++) {
		assert(index[d] >= 0 && index[d] < c->dim[d]);
		at = at * c->dim[d] + index[d];
	}
	return &c->at[at];
}

struct cells cells_new(struct arena *a, const struct value_type *t, uint64_t seed)
{
	struct cells c = make(a, t->rank, t->dim);

	for (int64_t i = 0; i < count(&c); i++) {
		seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
		c.at[i] = (double)(int)(seed >> 33) / (double)(1u << 30) - 0.9;
	}
	return c;
}

bool cells_equal(const struct cells *a, const struct cells *b)
{
	if (a->rank != b->rank ||
	    memcmp(a->dim, b->dim, (size_t)a->rank * sizeof(*a->dim)) != 0)
		return false;
	for (int64_t i = 0; i < count(a); i++)
		if (!(fabs(a->at[i] - b->at[i]) <= 1e-7 * (1 + fabs(a->at[i]))))
			return false;
	return true;
}

static struct shape shape_of(int32_t rank, const int64_t *dim)
{
	struct shape s = {.rank = rank};

	for (int32_t d = 0; d < rank; d++)
		s.dim[d] = dim[d];
	return s;
}

void cells_cut(struct cells *out, struct arena *a, const struct cells *whole,
               const struct layout *l, const struct mesh *m)
{
	struct shape shape = shape_of(whole->rank, whole->dim);
	struct tilemap t = tilemap_make(l, m, &shape, a);
	int64_t at[RANK_MAX], lo, hi;

	for (int32_t dev = 0; dev < t.ndevices; dev++) {
		out[dev] = make(a, whole->rank, t.tile.dim);
		for (int64_t i = 0; i < count(&out[dev]); i++) {
			indices(at, &out[dev], i);
			for (int32_t d = 0; d < whole->rank; d++) {
				tilemap_interval(&t, &shape, dev, d, &lo, &hi);
				at[d] += lo;
			}
			out[dev].at[i] = *cell(whole, at);
		}
	}
}

struct cells cells_join(struct arena *a, const struct cells *tile,
                        const struct value_type *type, const struct layout *l,
                        const struct mesh *m, bool max)
{
	struct shape shape = shape_of(type->rank, type->dim);
	struct tilemap t = tilemap_make(l, m, &shape, a);
	struct cells whole = make(a, type->rank, type->dim);
	int64_t n = count(&whole), at[RANK_MAX], lo, hi;
	double *part = arena_alloc(a, (size_t)(n * t.partials) + 1, sizeof(*part));

	for (int64_t i = 0; i < n * t.partials; i++)
		part[i] = NAN;
	for (int32_t dev = 0; dev < t.ndevices; dev++)
		for (int64_t i = 0; i < count(&tile[dev]); i++) {
			double *to, is = tile[dev].at[i];

			indices(at, &tile[dev], i);
			for (int32_t d = 0; d < type->rank; d++) {
				tilemap_interval(&t, &shape, dev, d, &lo, &hi);
				at[d] += lo;
			}
			to = part + n * (t.partials > 1 ? t.partial[dev] : 0) +
			     (cell(&whole, at) - whole.at);
			if (!isnan(*to) && fabs(*to - is) > 1e-9 * (1 + fabs(is)))
				ck_abort_msg("device %d has %g where another has %g",
				             (int)dev, is, *to);
			*to = is;
		}
	for (int64_t i = 0; i < n; i++) {
		whole.at[i] = part[i];
		for (int32_t k = 1; k < t.partials; k++)
			whole.at[i] = max ? fmax(whole.at[i], part[k * n + i])
			                  : whole.at[i] + part[k * n + i];
	}
	return whole;
}

/* --- ops --- */

struct run {
	struct arena *a;
	const struct program *p;
	const struct partitioned *part;
	const struct mesh *m;
	int32_t n;
	struct cells *value; /* [values * n] */
};

static struct cells *value_of(struct run *r, int32_t value, int32_t dev)
{
	return &r->value[(int64_t)value * r->n + dev];
}

static struct cells *operand(struct run *r, const struct instruction *op, int32_t k,
                             int32_t dev)
{
	struct cells *c = value_of(r, op_operand(r->p, op, k), dev);

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
		return span_is(direction, "GT") ? x[0] > x[1] : x[0] < x[1];
	case HLO_CONVERT:
	case HLO_COPY:
		return x[0];
	default:
		ck_abort_msg("%s is not known here", opcode_name(code));
		return 0;
	}
}

static void run_elementwise(struct run *r, const struct instruction *op, struct cells *out,
                            int32_t dev)
{
	for (int64_t i = 0; i < count(out); i++) {
		double x[3] = {0};

		for (int32_t k = 0; k < op->noperands; k++) {
			const struct cells *in = operand(r, op, k, dev);

			assert(!in->rank || count(in) == count(out));
			x[k] = in->at[in->rank ? i : 0];
		}
		out->at[i] = compute(op->code, op->direction, x);
	}
}

/* Where each cell of the result comes from: for ops that move cells. */
static void run_move(struct run *r, const struct instruction *op, struct cells *out,
                     int32_t dev)
{
	const struct cells *in = operand(r, op, 0, dev);
	int64_t at[RANK_MAX], from[RANK_MAX] = {0}, dim = op->dims.n ? op->dims.at[0] : 0;

	for (int64_t i = 0; i < count(out); i++) {
		indices(at, out, i);
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
				from[d] = ints_have(op->dims, d)
				                  ? in->dim[d] - 1 - at[d]
				                  : at[d];
			if (op->code == HLO_DYNAMIC_SLICE)
				from[d] = at[d] + (int64_t)*operand(r, op, 1 + d, dev)->at;
		}
		out->at[i] = *cell(in, from);
	}
}

/* How far one step along a dimension goes. */
static int64_t stride(const struct cells *c, int64_t dim)
{
	int64_t n = 1;

	for (int32_t d = (int32_t)dim + 1; d < c->rank; d++)
		n *= c->dim[d];
	return n;
}

/* How far one step along each dimension of the result and of what is summed goes in an operand. */
static void dot_strides(int64_t *outer, int64_t *inner, const struct cells *c,
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

static void run_dot(struct run *r, const struct instruction *op, struct cells *out,
                    int32_t dev)
{
	const struct dot_attr *d = op->as.dot;
	const struct cells *l = operand(r, op, 0, dev), *h = operand(r, op, 1, dev);
	struct cells inner = {.rank = d->lhs_contracting.n};
	int64_t at[RANK_MAX], outer[2][RANK_MAX], step[2][RANK_MAX], n;

	for (int32_t i = 0; i < inner.rank; i++) {
		inner.dim[i] = l->dim[d->lhs_contracting.at[i]];
		ck_assert_int_eq(inner.dim[i], h->dim[d->rhs_contracting.at[i]]);
	}
	n = count(&inner);
	dot_strides(outer[0], step[0], l, d->lhs_batch, d->lhs_contracting,
	            d->lhs_batch.n, out->rank);
	dot_strides(outer[1], step[1], h, d->rhs_batch, d->rhs_contracting,
	            l->rank - d->lhs_contracting.n, out->rank);
	for (int64_t i = 0; i < count(out); i++) {
		int64_t from[2] = {0, 0};
		double sum = 0;

		indices(at, out, i);
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

static void run_reduce(struct run *r, const struct instruction *op, struct cells *out,
                       int32_t dev)
{
	const struct cells *in = operand(r, op, 0, dev);
	enum opcode code = op_applied(r->p, op);
	int64_t at[RANK_MAX], to[RANK_MAX];

	for (int64_t i = 0; i < count(out); i++)
		out->at[i] = *operand(r, op, 1, dev)->at;
	for (int64_t i = 0; i < count(in); i++) {
		int32_t n = 0;
		double x[2];

		indices(at, in, i);
		for (int32_t d = 0; d < in->rank; d++)
			if (!ints_have(op->dims, d))
				to[n++] = at[d];
		x[0] = *cell(out, to);
		x[1] = in->at[i];
		*cell(out, to) = compute(code, (struct span){0}, x);
	}
}

static void run_update(struct run *r, const struct instruction *op, struct cells *out,
                       int32_t dev)
{
	const struct cells *in = operand(r, op, 0, dev), *update = operand(r, op, 1, dev);
	int64_t at[RANK_MAX];

	memcpy(out->at, in->at, (size_t)count(in) * sizeof(*in->at));
	for (int64_t i = 0; i < count(update); i++) {
		indices(at, update, i);
		for (int32_t d = 0; d < in->rank; d++)
			at[d] += (int64_t)*operand(r, op, 2 + d, dev)->at;
		*cell(out, at) = update->at[i];
	}
}

static void run_iota(const struct instruction *op, struct cells *out)
{
	int64_t at[RANK_MAX] = {0};

	for (int64_t i = 0; i < count(out); i++) {
		indices(at, out, i);
		out->at[i] = (double)at[op->dims.n ? op->dims.at[0] : 0];
	}
}

static void run_op(struct run *r, const struct instruction *op, int32_t dev)
{
	const struct value_type *t = &r->p->value.at[op->first_value].type;
	struct cells *out = value_of(r, op->first_value, dev);

	*out = make(r->a, t->rank, t->dim);
	switch (op->code) {
	case HLO_CONSTANT:
		ck_assert(op->as.constant && op->as.constant->known);
		for (int64_t i = 0; i < count(out); i++)
			out->at[i] = op->as.constant->value;
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
		ck_assert(count(out) == count(operand(r, op, 0, dev)));
		memcpy(out->at, operand(r, op, 0, dev)->at,
		       (size_t)count(out) * sizeof(*out->at));
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
		run_elementwise(r, op, out, dev);
	}
}

/* --- changes of layout, regions --- */

static void run_reshard(struct run *r, const struct instruction *op, int32_t number)
{
	const struct reshard *is = &r->part->reshard.at[r->part->of.at[number]];
	const struct value_type whole = {.dtype = is->array.dtype,
	                                 .rank = is->array.shape.rank,
	                                 .dim = is->array.shape.dim};
	struct cells *tile = value_of(r, op_operand(r->p, op, 0), 0);
	struct cells all;
	bool max = false;

	/* Of later steps only the first one counts. */
	if (r->part->step.at[number] > 0) {
		for (int32_t d = 0; d < r->n; d++)
			*value_of(r, op->first_value, d) = tile[d];
		return;
	}
	for (int32_t i = number; i < r->p->op.n &&
	                         r->part->of.at[i] == r->part->of.at[number];
	     i++)
		max |= op_applied(r->p, &r->p->op.at[i]) == HLO_MAXIMUM;
	all = cells_join(r->a, tile, &whole, &is->from, r->m, max);
	cells_cut(value_of(r, op->first_value, 0), r->a, &all, &is->to, r->m);
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
		else if (op->code == HLO_CALL)
			run_call(r, op);
		else
			for (int32_t d = 0; d < r->n; d++)
				run_op(r, op, d);
	}
}

void interpret(struct cells *result, struct arena *a, const struct program *p,
               const struct partitioned *part, const struct mesh *m, int32_t n,
               const struct cells *param)
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
