#include "program/clean.h"

#include "base/keys.h"

#include <string.h>

enum { DEPTH_MAX = 12 };

/* What combiners put together at most (xla_gpu_all_reduce_combine_threshold_bytes). */
static const double COMBINED_BYTES = 30 * 1024 * 1024;

/* Returns whether a number comes from the partition's. */
static bool of_partition(const struct program *p, int32_t value, int depth)
{
	const struct instruction *op = &p->op.at[p->value.at[value].op];

	if (op->code == HLO_PARTITION_ID)
		return true;
	if (depth == DEPTH_MAX || opcode_class(op->code) == CLASS_COLLECTIVE)
		return false;
	for (int32_t i = 0; i < op->noperands; i++)
		if (of_partition(p, op_operand(p, op, i), depth + 1))
			return true;
	return false;
}

/* A slice that is one of `parts` equal ones, by the number of the partition. */
static bool takes_part(const struct program *p, const struct instruction *op,
                       int32_t value, int32_t parts)
{
	const struct value_type *whole = &p->value.at[value].type;

	if (op->code != HLO_DYNAMIC_SLICE || op_operand(p, op, 0) != value ||
	    value_elements(&p->value.at[op->first_value].type) * parts !=
	            value_elements(whole))
		return false;
	for (int32_t i = 1; i < op->noperands; i++)
		if (of_partition(p, op_operand(p, op, i), 0))
			return true;
	return false;
}

static bool is_candidate(const struct instruction *op)
{
	return op->code == HLO_ALL_REDUCE && op->async == ASYNC_NONE &&
	       op->nvalues == 1 && op->as.collective->groups >= 0;
}

bool *clean_scattered(struct arena *a, const struct program *p)
{
	bool *scattered = arena_alloc(a, (size_t)p->op.n, sizeof(*scattered));
	int32_t *uses = arena_alloc(a, (size_t)p->op.n, sizeof(*uses));

	for (int64_t i = 0; i < p->op.n; i++)
		scattered[i] = is_candidate(&p->op.at[i]);
	for (int64_t i = 0; i < p->op.n; i++) {
		const struct instruction *op = &p->op.at[i];

		/* Names use nothing: what uses them has the value itself. */
		if (op->code == HLO_TUPLE || op->code == HLO_GET_TUPLE_ELEMENT)
			continue;
		for (int32_t k = 0; k < op->noperands; k++) {
			int32_t value = op_operand(p, op, k), by = p->value.at[value].op;
			const struct instruction *all = &p->op.at[by];

			uses[by]++;
			if (scattered[by])
				scattered[by] = takes_part(
					p, op, value,
					p->groups.at[all->as.collective->groups].size);
		}
	}
	for (int64_t r = 0; r < p->region.n; r++)
		for (int32_t i = 0; i < p->region.at[r].result.n; i++)
			scattered[p->value.at[p->region.at[r].result.at[i]].op] = false;
	for (int64_t i = 0; i < p->op.n; i++)
		scattered[i] &= uses[i] > 0;
	return scattered;
}

/* --- what is gathered before --- */

/* What gathers that bring the same have in common. */
struct gathered {
	int32_t region, value, groups;
	const struct dtype *dtype;
	int64_t dim, size;
};

int32_t *clean_gathered(struct arena *a, const struct program *p)
{
	int32_t *before = arena_alloc(a, (size_t)p->op.n, sizeof(*before));
	struct keys keys = {.arena = a, .table = {.arena = a}};
	LIST(int32_t) first = {0};

	for (int64_t i = 0; i < p->op.n; i++) {
		const struct instruction *op = &p->op.at[i];
		const struct value_type *t = &p->value.at[op->first_value].type;
		struct gathered g;
		int32_t k;
		bool fresh;

		before[i] = -1;
		if (op->code != HLO_ALL_GATHER || op->async != ASYNC_NONE ||
		    op->nvalues != 1 || op->noperands != 1 || op->dims.n != 1 ||
		    op->as.collective->groups < 0 || op->as.collective->plan)
			continue;
		memset(&g, 0, sizeof(g));
		g.region = op->region;
		g.value = op_operand(p, op, 0);
		g.groups = op->as.collective->groups;
		g.dtype = t->dtype;
		g.dim = op->dims.at[0];
		g.size = t->dim[g.dim];
		k = keys_add(&keys, &g, sizeof(g), &fresh);
		if (fresh)
			*list_add(&first, a) = (int32_t)i;
		else
			before[i] = first.at[k];
	}
	return before;
}

/* --- what is run together --- */

/* Of all kinds of collectives in a region no more are told apart than a word has bits. */
enum { KINDS_MAX = 64 };

/* What collectives that are run together have in common. */
struct kind {
	int32_t code, applied;
	int32_t groups; /* of a permute the number of its pairs */
	int32_t region;
	const struct dtype *dtype;
	int64_t dim;
};

struct combining {
	const struct program *p;
	const bool *scattered;
	const int32_t *gathered;
	struct keys kinds, pairs;
	int32_t of[KINDS_MAX];   /* first op of what is run together; -1: none yet */
	double bytes[KINDS_MAX]; /* of that */
	uint64_t *needs;         /* [ops] kinds of whose open ones an op needs one */
	int32_t *first;          /* [ops] that it is run with; -1: alone */
	double *total;           /* [ops] bytes of what begins with it */
};

/* The bytes that combiners count: of results, of a scatter what it sums. */
static double combined_bytes(const struct combining *c, int32_t number)
{
	const struct instruction *op = &c->p->op.at[number];
	int32_t value = op->code == HLO_REDUCE_SCATTER ? op_operand(c->p, op, 0)
	                                               : op->first_value;

	return (double)value_type_bytes(&c->p->value.at[value].type);
}

/* The number of its kind; -1: it is not run with others. */
static int32_t kind_of(struct combining *c, int32_t number)
{
	const struct instruction *op = &c->p->op.at[number];
	bool sums = op->code == HLO_ALL_REDUCE || op->code == HLO_REDUCE_SCATTER;
	bool permutes = op->code == HLO_COLLECTIVE_PERMUTE;
	struct kind kind;
	struct ints pairs;
	int32_t k;
	bool fresh;

	if ((!sums && !permutes && op->code != HLO_ALL_GATHER) ||
	    op->async != ASYNC_NONE || op->nvalues != 1 || op->noperands != 1 ||
	    c->gathered[number] >= 0 || (!permutes && op->as.collective->groups < 0) ||
	    op->as.collective->plan || combined_bytes(c, number) > COMBINED_BYTES)
		return -1;
	memset(&kind, 0, sizeof(kind));
	pairs = op->as.collective->pairs;
	kind.code = c->scattered[number] ? HLO_REDUCE_SCATTER : op->code;
	kind.groups = permutes ? keys_add(&c->pairs, pairs.at,
	                                  (size_t)pairs.n * sizeof(*pairs.at), &fresh)
	                       : op->as.collective->groups;
	kind.region = op->region;
	kind.applied = sums ? (int32_t)op_applied(c->p, op) : 0;
	kind.dtype = sums ? c->p->value.at[op->first_value].type.dtype : NULL;
	kind.dim = op->dims.n ? op->dims.at[0] : -1;
	k = keys_add(&c->kinds, &kind, sizeof(kind), &fresh);
	if (k >= KINDS_MAX)
		return -1;
	if (fresh)
		c->of[k] = -1;
	return k;
}

/* Adds an op to what is open of its kind, or opens anew with it. */
static void combine(struct combining *c, const struct region *r, int32_t i, int32_t k)
{
	int32_t number = r->op[i];
	double bytes = combined_bytes(c, number);

	if (c->of[k] >= 0 && !(c->needs[number] >> k & 1) &&
	    c->bytes[k] + bytes <= COMBINED_BYTES) {
		c->bytes[k] += bytes;
	} else {
		/* What was open has ended: nobody needs to know who needs it. */
		for (int32_t j = 0; j <= i; j++)
			c->needs[r->op[j]] &= ~(UINT64_C(1) << k);
		c->of[k] = number;
		c->bytes[k] = bytes;
	}
	c->needs[number] |= UINT64_C(1) << k;
	c->first[number] = c->of[k];
	c->total[c->of[k]] = c->bytes[k];
}

double *clean_combined(struct arena *a, const struct program *p, const bool *scattered,
                       const int32_t *gathered)
{
	struct combining c = {.p = p, .scattered = scattered, .gathered = gathered};
	double *share = arena_alloc(a, (size_t)p->op.n, sizeof(*share));

	c.needs = arena_alloc(a, (size_t)p->op.n, sizeof(*c.needs));
	c.first = arena_alloc(a, (size_t)p->op.n, sizeof(*c.first));
	c.total = arena_alloc(a, (size_t)p->op.n, sizeof(*c.total));
	for (int64_t i = 0; i < p->op.n; i++)
		c.first[i] = -1;
	for (int64_t n = 0; n < p->region.n; n++) {
		const struct region *r = &p->region.at[n];

		c.kinds = c.pairs = (struct keys){.arena = a, .table = {.arena = a}};
		for (int32_t i = 0; r->kind == REGION_CODE && i < r->nops; i++) {
			const struct instruction *op = &p->op.at[r->op[i]];
			int32_t k = kind_of(&c, r->op[i]);

			for (int32_t j = 0; j < op->noperands; j++)
				c.needs[r->op[i]] |=
					c.needs[p->value.at[op_operand(p, op, j)].op];
			if (k >= 0)
				combine(&c, r, i, k);
			if (gathered[r->op[i]] >= 0)
				c.needs[r->op[i]] = c.needs[gathered[r->op[i]]];
		}
	}
	for (int64_t i = 0; i < p->op.n; i++) {
		double all = c.first[i] < 0 ? 0 : c.total[c.first[i]];

		/* Of a call without elements every member is all there is. */
		share[i] = all > 0 ? combined_bytes(&c, (int32_t)i) / all : 1;
	}
	return share;
}
