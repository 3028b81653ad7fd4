/* Rules of ops that look elements up: dynamic slices, gather and scatter. */
#include "program/custom.h"
#include "program/rules_build.h"

void rule_dynamic_slice(struct rule_build *b)
{
	int32_t out = b->r->noperands;

	for (int32_t d = 0; d < b->r->tensor[0].rank; d++) {
		int64_t size = rule_size(b, 0, d);
		bool whole = size == rule_size(b, out, d);
		int32_t f = rule_factor(b, size, whole ? FACTOR_PASS : FACTOR_REPLICATE,
		                        !whole);

		rule_put(b, 0, d, f);
		rule_put(b, out, d, f);
	}
}

static bool constant_indices(const struct rule_build *b)
{
	for (int32_t i = 2; i < b->r->noperands; i++) {
		int32_t v = b->r->tensor[i].value;

		if (b->p->op.at[b->p->value.at[v].op].code != HLO_CONSTANT)
			return false;
	}
	return true;
}

void rule_dynamic_update(struct rule_build *b)
{
	int32_t out = b->r->noperands;
	bool fixed = constant_indices(b);

	for (int32_t d = 0; d < b->r->tensor[0].rank; d++) {
		int64_t size = rule_size(b, 0, d), part = rule_size(b, 1, d);
		int32_t f = rule_factor(b, size, FACTOR_PASS, false);

		rule_put(b, 0, d, f);
		rule_put(b, out, d, f);
		if (part != size)
			f = rule_factor(b, part, fixed ? FACTOR_PASS : FACTOR_REPLICATE,
			                false);
		rule_put(b, 1, d, f);
	}
}

/* What gather and scatter have in common: their arrays, and dimensions in order. */
struct indexed {
	const struct index_attr *g;
	int32_t indices; /* tensor */
	int32_t window;  /* first tensor of slices: a result, or the updates */
	int32_t windows; /* number of those */
	int32_t arrays;  /* operands 0 .. arrays - 1 that are looked up in */
	bool scatters;
	/* By a dimension of the indices: that of the arrays whose elements it counts; -1: none. */
	int32_t counted[RANK_MAX];
};

/* The dimension of a reshape's result that a dimension of its operand becomes; -1: none. */
static int32_t reshaped_dim(const struct value_type *from, const struct value_type *to,
                            int32_t dim)
{
	int32_t i = 0, k = 0;

	/* Only dimensions of one element come and go. */
	for (;; i++, k++) {
		while (i < from->rank && from->dim[i] == 1 && i != dim)
			i++;
		while (k < to->rank && to->dim[k] == 1)
			k++;
		if (i == dim || i >= from->rank || k >= to->rank ||
		    from->dim[i] != to->dim[k])
			break;
	}
	return i == dim && k < to->rank && from->dim[i] == to->dim[k] ? k : -1;
}

/* The dimension along which a value counts 0, 1, 2 and so on; -1: it does not. */
static int32_t counts(const struct program *p, int32_t value, int depth)
{
	const struct instruction *op = &p->op.at[p->value.at[value].op];
	int32_t of = op->noperands == 1 ? op_operand(p, op, 0) : -1, dim;

	if (op->code == HLO_IOTA)
		return op->dims.n == 1 ? (int32_t)op->dims.at[0] : -1;
	if (of < 0 || depth > 8)
		return -1;
	switch (op->code) {
	case HLO_CONVERT:
	case HLO_COPY:
		return counts(p, of, depth + 1);
	case HLO_BROADCAST:
		dim = counts(p, of, depth + 1);
		if (dim < 0 || dim >= op->dims.n)
			return -1;
		return p->value.at[of].type.dim[dim] ==
		                       p->value.at[value].type.dim[op->dims.at[dim]]
		               ? (int32_t)op->dims.at[dim]
		               : -1;
	case HLO_RESHAPE:
		dim = counts(p, of, depth + 1);
		return dim < 0 ? -1
		               : reshaped_dim(&p->value.at[of].type,
		                              &p->value.at[value].type, dim);
	default:
		return -1;
	}
}

/* The value of the k-th component of the indices; -1: it is not a value of its own. */
static int32_t index_component(const struct rule_build *b, const struct indexed *x,
                               int32_t k)
{
	int32_t value = b->r->tensor[x->indices].value, at = 0;
	const struct instruction *op = &b->p->op.at[b->p->value.at[value].op];
	int64_t dim = x->g->index_vector_dim;

	if (x->g->start_index_map.n == 1)
		return value;
	if (op->code != HLO_CONCATENATE || op->dims.n != 1 || op->dims.at[0] != dim)
		return -1;
	for (int32_t i = 0; i < op->noperands; i++) {
		int32_t v = op_operand(b->p, op, i);
		int64_t size = b->p->value.at[v].type.dim[dim];

		if (at == k)
			return size == 1 ? v : -1;
		at += (int32_t)size;
	}
	return -1;
}

/* Finds which of the indices' own dimensions components of them count. */
static void find_counted(struct rule_build *b, struct indexed *x)
{
	const struct index_attr *g = x->g;

	for (int32_t d = 0; d < RANK_MAX; d++)
		x->counted[d] = -1;
	for (int32_t k = 0; k < g->start_index_map.n && b->parallel; k++) {
		int32_t v = index_component(b, x, k);
		int32_t to = (int32_t)g->start_index_map.at[k];
		int32_t d = v < 0 ? -1 : counts(b->p, v, 0);

		if (d < 0 || d >= RANK_MAX || d == g->index_vector_dim ||
		    x->counted[d] >= 0 || ints_have(g->indices_batching_dims, d) ||
		    !ints_have(g->collapsed_slice_dims, to) ||
		    rule_size(b, 0, to) != rule_size(b, x->indices, d))
			continue;
		x->counted[d] = to;
	}
}

/* Whether it goes with a dimension of the indices. */
static bool is_counted(const struct indexed *x, int32_t dim)
{
	for (int32_t d = 0; d < RANK_MAX; d++)
		if (x->counted[d] == dim)
			return true;
	return false;
}

/* Puts a factor in a dimension of all arrays, and of a scatter's results. */
static void put_arrays(struct rule_build *b, const struct indexed *x, int64_t dim,
                       int32_t f)
{
	for (int32_t t = 0; t < x->arrays; t++) {
		rule_put(b, t, dim, f);
		if (x->scatters)
			rule_put(b, b->r->noperands + t, dim, f);
	}
}

static void put_windows(struct rule_build *b, const struct indexed *x, int64_t dim,
                        int32_t f)
{
	for (int32_t t = 0; t < x->windows; t++)
		rule_put(b, x->window + t, dim, f);
}

/* Dimensions of the indices but for the vector, which the slices have in this order. */
static void index_dims(struct rule_build *b, const struct indexed *x,
                       enum factor_kind other)
{
	const struct index_attr *g = x->g;
	int64_t at = 0;

	for (int32_t d = 0; d < b->r->tensor[x->indices].rank; d++) {
		int64_t size = rule_size(b, x->indices, d);
		int32_t batch = -1, f;

		if (d == g->index_vector_dim) {
			f = rule_factor(b, size, FACTOR_REPLICATE, false);
			rule_put(b, x->indices, d, f);
			continue;
		}
		for (int32_t i = 0; i < g->indices_batching_dims.n; i++)
			if (g->indices_batching_dims.at[i] == d &&
			    i < g->operand_batching_dims.n)
				batch = i;
		while (ints_have(g->offset_dims, at))
			at++;
		batch = batch >= 0     ? (int32_t)g->operand_batching_dims.at[batch]
		        : d < RANK_MAX ? x->counted[d]
		                       : -1;
		f = rule_factor(b, size, batch < 0 ? other : FACTOR_PASS, false);
		if (batch >= 0)
			put_arrays(b, x, batch, f);
		rule_put(b, x->indices, d, f);
		put_windows(b, x, at++, f);
	}
}

void rule_gather(struct rule_build *b)
{
	const struct index_attr *g = b->op->as.gather;
	struct indexed x = {.g = g, .indices = 1, .window = 2, .windows = 1, .arrays = 1};
	int32_t offset = 0;

	find_counted(b, &x);
	index_dims(b, &x, FACTOR_PASS);
	for (int32_t d = 0; d < b->r->tensor[0].rank; d++) {
		int64_t size = rule_size(b, 0, d), part = g->slice_sizes.at[d];
		int64_t out;

		if (ints_have(g->operand_batching_dims, d) || is_counted(&x, d))
			continue;
		if (ints_have(g->collapsed_slice_dims, d)) {
			rule_put(b, 0, d,
			         rule_factor(b, size,
			                     size == 1 ? FACTOR_REPLICATE : FACTOR_REDUCE,
			                     false));
			continue;
		}
		out = offset < g->offset_dims.n ? g->offset_dims.at[offset] : -1;
		offset++;
		if (part == 1 && size != 1) {
			rule_put(b, 0, d, rule_factor(b, size, FACTOR_REDUCE, false));
			rule_put(b, 2, out, rule_factor(b, 1, FACTOR_REPLICATE, false));
		} else {
			bool whole = part == size;
			int32_t f = rule_factor(
				b, size, whole ? FACTOR_PASS : FACTOR_REPLICATE, !whole);

			rule_put(b, 0, d, f);
			rule_put(b, 2, out, f);
		}
	}
}

/* Whether updates are added, or put together by another op whose order is of no account. */
static bool plain_combiner(const struct rule_build *b)
{
	const struct region *r;
	const struct instruction *root = NULL;

	if (!b->op->ncalled)
		return false;
	r = &b->p->region.at[op_called(b->p, b->op, 0)];
	for (int32_t i = 0; i < r->nops; i++) {
		const struct instruction *op = &b->p->op.at[r->op[i]];

		if (op->code == HLO_PARAMETER || op->code == HLO_TUPLE)
			continue;
		if (root)
			return false;
		root = op;
	}
	return root && (root->code == HLO_ADD || root->code == HLO_MULTIPLY ||
	                root->code == HLO_MINIMUM || root->code == HLO_MAXIMUM ||
	                root->code == HLO_AND || root->code == HLO_OR);
}

void rule_scatter(struct rule_build *b)
{
	const struct index_attr *g = b->op->as.gather;
	int32_t n = (b->r->noperands - 1) / 2, offset = 0;
	struct indexed x = {.g = g,
	                    .indices = n,
	                    .window = n + 1,
	                    .windows = n,
	                    .arrays = n,
	                    .scatters = true};

	find_counted(b, &x);
	index_dims(b, &x, plain_combiner(b) ? FACTOR_REDUCE : FACTOR_REPLICATE);
	for (int32_t d = 0; d < b->r->tensor[0].rank; d++) {
		int64_t size = rule_size(b, 0, d), at, part;

		if (ints_have(g->operand_batching_dims, d) || is_counted(&x, d))
			continue;
		if (ints_have(g->collapsed_slice_dims, d)) {
			put_arrays(b, &x, d, rule_factor(b, size, FACTOR_PASS, false));
			continue;
		}
		at = offset < g->offset_dims.n ? g->offset_dims.at[offset] : -1;
		offset++;
		part = rule_size(b, x.window, at);
		if (part == size) {
			int32_t f = rule_factor(b, size, FACTOR_PASS, false);

			put_arrays(b, &x, d, f);
			put_windows(b, &x, at, f);
		} else {
			put_arrays(b, &x, d,
			           rule_factor(b, size, FACTOR_REPLICATE, false));
			put_windows(b, &x, at,
			            rule_factor(b, part, FACTOR_REPLICATE, false));
		}
	}
}

/* Which dimensions of q, of k and v, of the result: batch, sequence, heads, head. */
struct attention_factors {
	int32_t batch, queries, keys, groups, ratio, head, values;
};

static void put_heads(struct rule_build *b, int32_t t,
                      const struct attention_factors *f, bool queries)
{
	rule_put(b, t, 2, f->groups);
	if (queries)
		rule_put(b, t, 2, f->ratio);
}

/* An array [batch, sequence, heads, head] of queries or keys. */
static void put_sequence(struct rule_build *b, int32_t t,
                         const struct attention_factors *f, bool queries, bool values)
{
	rule_put(b, t, 0, f->batch);
	rule_put(b, t, 1, queries ? f->queries : f->keys);
	put_heads(b, t, f, queries);
	rule_put(b, t, 3, values ? f->values : f->head);
}

/*
 * Attention of q [b,s,h,d] over k, v [b,t,g,d], h = g x ratio: batch and groups of heads pass, and
 * forward the queries' sequence; keys are needed whole. Backward the queries' are too, for the
 * gradients of keys add up over them. Masks, statistics and states are of neither.
 */
void rule_attention(struct rule_build *b)
{
	struct attention at;
	int64_t groups = rule_size(b, 1, 2), heads = rule_size(b, 0, 2);
	struct attention_factors f;

	custom_attention(&at, b->p, b->op);
	if (groups < 1 || heads % groups || b->r->noperands == b->r->ntensors ||
	    b->r->tensor[2].rank != 4 || b->r->tensor[b->r->noperands].rank != 4) {
		b->bad = true;
		return;
	}
	f.batch = rule_factor(b, rule_size(b, 0, 0), FACTOR_PASS, false);
	f.queries = rule_factor(b, rule_size(b, 0, 1),
	                        at.backward ? FACTOR_REPLICATE : FACTOR_PASS, false);
	f.keys = rule_factor(b, rule_size(b, 1, 1), FACTOR_REPLICATE, false);
	f.groups = rule_factor(b, groups, FACTOR_PASS, false);
	f.ratio = rule_factor(b, heads / groups, FACTOR_PASS, false);
	f.head = rule_factor(b, rule_size(b, 0, 3), FACTOR_REPLICATE, false);
	f.values = rule_factor(b, rule_size(b, 2, 3), FACTOR_REPLICATE, false);
	for (int32_t t = 0; t < b->r->ntensors; t++) {
		int32_t result = t - b->r->noperands;
		bool gradients = at.backward && result >= 0;
		bool keys = t == 1 || t == 2 || (gradients && result && result < 3);
		bool queries = t == 0 || result == 0;

		/* The last operand backward is the gradient of what came out forward. */
		if (at.backward && t < b->r->noperands && t > 2 &&
		    b->r->tensor[t].rank == 4 &&
		    rule_size(b, t, 1) == rule_size(b, 0, 1) &&
		    rule_size(b, t, 2) == heads)
			queries = true;
		if ((keys || queries) && b->r->tensor[t].rank == 4)
			put_sequence(b, t, &f, !keys,
			             t == 2 || (gradients ? result == 2 : !keys && t));
	}
}
