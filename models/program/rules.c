/* Rules of ops whose dimensions are told by their attributes, and how rules are made. */
#include "program/rules.h"

#include "program/custom.h"
#include "program/rules_build.h"

/* A factor of dimension `dim` of all tensors of that rank; the first one has its size. */
static void everywhere(struct rule_build *b, int32_t like, int64_t dim,
                       enum factor_kind kind, bool blocked)
{
	int32_t rank = b->r->tensor[like].rank;
	int32_t f = rule_factor(b, rule_size(b, like, dim), kind, blocked);

	for (int32_t t = 0; t < b->r->ntensors; t++)
		if (b->r->tensor[t].rank == rank)
			rule_put(b, t, dim, f);
}

/* The result's dimensions in all operands; scalars, such as bounds of clamp, in none. */
static void rule_elementwise(struct rule_build *b)
{
	int32_t last = b->r->ntensors - 1, rank = b->r->tensor[last].rank;

	for (int32_t d = 0; d < rank; d++) {
		for (int32_t t = 0; t < last; t++)
			if (b->r->tensor[t].rank == rank &&
			    rule_size(b, t, d) != rule_size(b, last, d))
				b->bad = true;
		everywhere(b, last, d, FACTOR_PASS, false);
	}
	b->r->elementwise = true;
}

/* Arrays of their own shapes, each with its result; dimensions that move are needed whole. */
static void rule_collective(struct rule_build *b)
{
	int32_t n = b->r->noperands;

	for (int32_t t = 0; t < n; t++)
		for (int32_t d = 0; d < b->r->tensor[t].rank; d++) {
			int64_t size = rule_size(b, t, d);
			bool moved = ints_have(b->op->dims, d) ||
			             size != rule_size(b, n + t, d);
			int32_t f = rule_factor(
				b, size, moved ? FACTOR_REPLICATE : FACTOR_PASS, false);

			rule_put(b, t, d, f);
			rule_put(b, n + t, d, f);
		}
}

/* Dimensions of both operands, or of one, to the next one of the result. */
static void rule_dot(struct rule_build *b)
{
	const struct dot_attr *dot = b->op->as.dot;
	const struct ints batch[2] = {dot->lhs_batch, dot->rhs_batch};
	const struct ints sum[2] = {dot->lhs_contracting, dot->rhs_contracting};
	int64_t out = 0;

	for (int32_t i = 0; i < batch[0].n; i++) {
		int32_t f = rule_factor(b, rule_size(b, 0, batch[0].at[i]), FACTOR_PASS,
		                        false);

		rule_put(b, 0, batch[0].at[i], f);
		rule_put(b, 1, batch[1].at[i], f);
		rule_put(b, 2, out++, f);
	}
	for (int32_t side = 0; side < 2; side++)
		for (int32_t d = 0; d < b->r->tensor[side].rank; d++) {
			int32_t f;

			if (ints_have(batch[side], d) || ints_have(sum[side], d))
				continue;
			f = rule_factor(b, rule_size(b, side, d), FACTOR_PASS, false);
			rule_put(b, side, d, f);
			rule_put(b, 2, out++, f);
		}
	for (int32_t i = 0; i < sum[0].n; i++) {
		int32_t f = rule_factor(b, rule_size(b, 0, sum[0].at[i]), FACTOR_REDUCE,
		                        false);

		rule_put(b, 0, sum[0].at[i], f);
		rule_put(b, 1, sum[1].at[i], f);
	}
}

/* Arrays, then as many values to begin with, which are in no dimension. */
static void rule_reduce(struct rule_build *b)
{
	int32_t n = b->r->noperands / 2, out = 0;

	for (int32_t d = 0; d < b->r->tensor[0].rank; d++) {
		bool gone = ints_have(b->op->dims, d);
		int32_t f = rule_factor(b, rule_size(b, 0, d),
		                        gone ? FACTOR_REDUCE : FACTOR_PASS, false);

		for (int32_t t = 0; t < n; t++)
			rule_put(b, t, d, f);
		for (int32_t t = b->r->noperands; !gone && t < b->r->ntensors; t++)
			rule_put(b, t, out, f);
		out += !gone;
	}
}

static void rule_transpose(struct rule_build *b)
{
	for (int32_t d = 0; d < b->op->dims.n; d++) {
		int32_t f = rule_factor(b, rule_size(b, 1, d), FACTOR_PASS, false);

		rule_put(b, 0, b->op->dims.at[d], f);
		rule_put(b, 1, d, f);
	}
}

/* Dimensions of the operand that grow from 1 have nothing to hand on. */
/* A dimension that grows has one factor of the operand, before that of the result. */
static void rule_broadcast(struct rule_build *b)
{
	for (int32_t d = 0; d < b->r->tensor[1].rank; d++) {
		int64_t size = rule_size(b, 1, d);
		int32_t f = -1;

		for (int32_t i = 0; i < b->op->dims.n; i++) {
			if (b->op->dims.at[i] != d)
				continue;
			f = rule_factor(b, rule_size(b, 0, i), FACTOR_PASS, false);
			rule_put(b, 0, i, f);
			if (rule_size(b, 0, i) != size)
				f = -1;
		}
		if (f < 0)
			f = rule_factor(b, size, FACTOR_PASS, false);
		rule_put(b, 1, d, f);
	}
}

/* Slice, pad, reverse: dimensions that change move elements to other devices. */
static void rule_moved(struct rule_build *b, struct ints reversed)
{
	int32_t out = b->r->noperands;

	for (int32_t d = 0; d < b->r->tensor[0].rank; d++) {
		int64_t size = rule_size(b, 0, d);
		bool same = size == rule_size(b, out, d) && !ints_have(reversed, d);
		int32_t f = rule_factor(b, size, same ? FACTOR_PASS : FACTOR_PERMUTE,
		                        false);

		rule_put(b, 0, d, f);
		rule_put(b, out, d, f);
	}
}

/* The value that a slice is of, or the value itself. */
static int32_t unsliced(const struct program *p, int32_t value)
{
	const struct instruction *op = &p->op.at[p->value.at[value].op];

	return op->code == HLO_SLICE ? op_operand(p, op, 0) : value;
}

/* Parts that were one array before: joined again, elements stay near their places. */
static bool joins_slices(const struct program *p, const struct instruction *op)
{
	bool slices = true, one = true;
	int32_t first = unsliced(p, op_operand(p, op, 0));

	for (int32_t i = 0; i < op->noperands; i++) {
		int32_t v = op_operand(p, op, i);

		slices &= p->op.at[p->value.at[v].op].code == HLO_SLICE;
		one &= unsliced(p, v) == first;
	}
	return slices || one;
}

static void rule_concatenate(struct rule_build *b)
{
	bool near = joins_slices(b->p, b->op);
	int32_t last = b->r->ntensors - 1;

	for (int32_t d = 0; d < b->r->tensor[last].rank; d++)
		everywhere(b, last, d,
		           !ints_have(b->op->dims, d) ? FACTOR_PASS
		           : near                     ? FACTOR_PERMUTE
		                                      : FACTOR_REPLICATE,
		           false);
}

/* The sorted dimension is blocked where there is no other one to shard. */
static void rule_sort(struct rule_build *b, int64_t dim)
{
	bool alone = true;

	for (int32_t d = 0; d < b->r->tensor[0].rank; d++)
		alone &= d == dim || rule_size(b, 0, d) == 1;
	for (int32_t d = 0; d < b->r->tensor[0].rank; d++)
		everywhere(b, 0, d, d == dim ? FACTOR_REPLICATE : FACTOR_PASS,
		           d == dim && alone);
}

/* Solvers need the last dimensions whole, each of its own. */
static void rule_batched(struct rule_build *b, int32_t whole, bool blocked)
{
	int32_t rank = b->r->tensor[0].rank;

	for (int32_t d = 0; d < rank - whole; d++)
		everywhere(b, 0, d, FACTOR_PASS, false);
	for (int32_t t = 0; t < b->r->ntensors; t++)
		for (int32_t d = rank - whole < 0 ? 0 : rank - whole;
		     d < b->r->tensor[t].rank; d++)
			rule_put(b, t, d,
			         rule_factor(b, rule_size(b, t, d), FACTOR_REPLICATE,
			                     blocked));
}

/* The last dimension of k elements for n: the op needs it whole. */
static void rule_topk(struct rule_build *b)
{
	int32_t rank = b->r->tensor[0].rank;

	for (int32_t d = 0; d < rank; d++)
		everywhere(b, 0, d, d == rank - 1 ? FACTOR_REPLICATE : FACTOR_PASS,
		           d == rank - 1);
}

/* The generator's state is whole everywhere; its numbers are sharded as their users want. */
static void rule_bits(struct rule_build *b)
{
	int32_t state = b->r->noperands, f;

	if (b->r->ntensors != 3) {
		b->bad = true;
		return;
	}
	for (int32_t d = 0; d < b->r->tensor[0].rank; d++) {
		f = rule_factor(b, rule_size(b, 0, d), FACTOR_REPLICATE, false);
		rule_put(b, 0, d, f);
		rule_put(b, state, d, f);
	}
	for (int32_t d = 0; d < b->r->tensor[state + 1].rank; d++)
		rule_put(b, state + 1, d,
		         rule_factor(b, rule_size(b, state + 1, d), FACTOR_PASS, false));
}

/* Bits of one element that become a dimension of smaller ones stay together. */
static void rule_bitcast(struct rule_build *b)
{
	int32_t shorter = b->r->tensor[0].rank <= b->r->tensor[1].rank ? 0 : 1;
	int32_t rank = b->r->tensor[shorter].rank;

	for (int32_t d = 0; d < b->r->tensor[1 - shorter].rank; d++) {
		int32_t f =
			rule_factor(b, rule_size(b, 1 - shorter, d),
		                    d < rank ? FACTOR_PASS : FACTOR_REPLICATE, false);

		rule_put(b, 1 - shorter, d, f);
		if (d < rank)
			rule_put(b, shorter, d, f);
	}
}

static bool rule_custom(struct rule_build *b)
{
	struct span target = b->op->as.custom->target;
	struct attention at;

	if (custom_attention(&at, b->p, b->op))
		return rule_attention(b), true;
	if (span_is(target, "Sharding") || span_is(target, "MoveToHost") ||
	    span_is(target, "MoveToDevice") ||
	    span_is(target, "annotate_device_placement") ||
	    span_is(target, "xla.sdy.FuncResultSharding"))
		rule_elementwise(b);
	else if (span_is(target, "TopK") || span_is(target, "mhlo.topk"))
		rule_topk(b);
	else
		return false;
	return true;
}

/* Ops that look elements up, move them, or put them in order. */
static bool rule_of_mover(struct rule_build *b)
{
	const struct instruction *op = b->op;
	int32_t last = b->r->tensor[0].rank - 1;

	switch (op->code) {
	case HLO_TRANSPOSE:
		return rule_transpose(b), true;
	case HLO_BROADCAST:
		return rule_broadcast(b), true;
	case HLO_RESHAPE:
		return rule_reshape(b);
	case HLO_SLICE:
	case HLO_PAD:
		return rule_moved(b, (struct ints){0, NULL}), true;
	case HLO_REVERSE:
		return rule_moved(b, op->dims), true;
	case HLO_CONCATENATE:
		return rule_concatenate(b), true;
	case HLO_DYNAMIC_SLICE:
		return rule_dynamic_slice(b), true;
	case HLO_DYNAMIC_UPDATE_SLICE:
		return rule_dynamic_update(b), true;
	case HLO_GATHER:
		return rule_gather(b), true;
	case HLO_SCATTER:
		return rule_scatter(b), true;
	case HLO_SORT:
		return rule_sort(b, op->dims.n ? op->dims.at[0] : last), true;
	default:
		return false;
	}
}

static bool rule_of(struct rule_build *b)
{
	const struct instruction *op = b->op;

	switch (op->code) {
	case HLO_DOT:
		return rule_dot(b), true;
	case HLO_CONVOLUTION:
		return rule_convolution(b), true;
	case HLO_REDUCE:
		return rule_reduce(b), true;
	case HLO_REDUCE_WINDOW:
	case HLO_SELECT_AND_SCATTER:
		return rule_reduce_window(b), true;
	case HLO_TOPK:
		return rule_topk(b), true;
	case HLO_RNG_BIT_GENERATOR:
		return rule_bits(b), true;
	case HLO_CHOLESKY:
	case HLO_TRIANGULAR_SOLVE:
		return rule_batched(b, 2, false), true;
	case HLO_FFT:
		return rule_batched(b, op->dims.n, false), true;
	case HLO_BITCAST_CONVERT:
		return rule_bitcast(b), true;
	case HLO_ALL_GATHER:
	case HLO_REDUCE_SCATTER:
	case HLO_ALL_TO_ALL:
	case HLO_ALL_REDUCE:
	case HLO_COLLECTIVE_PERMUTE:
		return rule_collective(b), true;
	case HLO_CUSTOM_CALL:
		return rule_custom(b);
	case HLO_COPY:
	case HLO_MAP:
	case HLO_SHARDING_CONSTRAINT:
	case HLO_RESHARD:
	case HLO_PROPAGATION_BARRIER:
	case HLO_DATA_FLOW_EDGE:
		return rule_elementwise(b), true;
	default:
		if (opcode_class(op->code) != CLASS_ELEMENTWISE)
			return rule_of_mover(b);
		return rule_elementwise(b), true;
	}
}

/* Dimensions that no factor was put in have one of their own. */
static void fill(struct rule_build *b)
{
	for (int32_t t = 0; t < b->r->ntensors; t++)
		for (int32_t d = 0; d < b->r->tensor[t].rank; d++)
			if (!b->r->tensor[t].dim[d].n)
				rule_put(b, t, d,
				         rule_factor(b, rule_size(b, t, d), FACTOR_PASS,
				                     false));
}

static bool make_rule(struct op_rule *out, struct arena *a, const struct program *p,
                      const struct instruction *op, bool parallel)
{
	struct rule_build b = {a, p, op, out, false, parallel};
	int32_t n = op->noperands + op->nvalues;

	*out = (struct op_rule){.noperands = op->noperands, .ntensors = n};
	if (!op->noperands || !op->nvalues || op->async != ASYNC_NONE)
		return false;
	out->tensor = arena_alloc(a, (size_t)n, sizeof(*out->tensor));
	for (int32_t i = 0; i < n; i++) {
		struct rule_tensor *t = &out->tensor[i];

		t->value = i < op->noperands ? op_operand(p, op, i)
		                             : op->first_value + i - op->noperands;
		t->rank = p->value.at[t->value].type.rank;
		t->dim = arena_alloc(a, (size_t)t->rank, sizeof(*t->dim));
	}
	if (rule_is_said(op) ? !rule_read(&b) : !rule_of(&b))
		return false;
	if (b.bad)
		return false;
	fill(&b);
	return true;
}

bool op_rule_of(struct op_rule *out, struct arena *a, const struct program *p,
                const struct instruction *op)
{
	return make_rule(out, a, p, op, false);
}

bool op_rule_parallel(struct op_rule *out, struct arena *a, const struct program *p,
                      const struct instruction *op)
{
	return make_rule(out, a, p, op, true);
}

/* --- printing --- */

enum { LETTERS = 'z' - 'i' + 1 };

/* i, j, ..., z, z_1, z_2, ... as Shardy names them. */
static void print_factor(struct text *out, int64_t f)
{
	if (f < LETTERS)
		text_printf(out, "%c", (char)('i' + f));
	else
		text_printf(out, "z_%lld", (long long)(f - LETTERS + 1));
}

static void print_tensors(struct text *out, const struct op_rule *r, int32_t from,
                          int32_t to)
{
	for (int32_t t = from; t < to; t++) {
		text_printf(out, "%s[", t > from ? "," : "");
		for (int32_t d = 0; d < r->tensor[t].rank; d++) {
			text_printf(out, "%s", d ? ", " : "");
			for (int32_t k = 0; k < r->tensor[t].dim[d].n; k++)
				print_factor(out, r->tensor[t].dim[d].at[k]);
		}
		text_printf(out, "]");
	}
}

static void print_kind(struct text *out, const struct op_rule *r, const char *name,
                       int kind)
{
	const char *between = "";

	for (int64_t f = 0; f < r->factor.n; f++) {
		if (kind < 0 ? !r->factor.at[f].blocked
		             : (int)r->factor.at[f].kind != kind)
			continue;
		if (!*between)
			text_printf(out, " %s={", name);
		text_printf(out, "%s", between);
		print_factor(out, f);
		between = ", ";
	}
	if (*between)
		text_printf(out, "}");
}

void op_rule_print(struct text *out, const struct op_rule *r)
{
	text_printf(out, "(");
	print_tensors(out, r, 0, r->noperands);
	text_printf(out, ")->(");
	print_tensors(out, r, r->noperands, r->ntensors);
	text_printf(out, ")");
	for (int64_t f = 0; f < r->factor.n; f++) {
		text_printf(out, "%s", f ? ", " : " {");
		print_factor(out, f);
		text_printf(out, "=%lld", (long long)r->factor.at[f].size);
	}
	if (r->factor.n)
		text_printf(out, "}");
	print_kind(out, r, "reduction", FACTOR_REDUCE);
	print_kind(out, r, "need_replication", FACTOR_REPLICATE);
	print_kind(out, r, "permutation", FACTOR_PERMUTE);
	print_kind(out, r, "blocked_propagation", -1);
}
