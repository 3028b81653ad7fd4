/* What follows from a whole program: ends of asynchronous ops, devices, stage, runs. */
#include "program/read/build.h"

#include "base/assert.h"
#include "program/read/trips.h"

#include <string.h>

/* --- asynchronous ops --- */

/* The place of an end's values among those of its start, which has operands in front. */
static bool find_results(struct build *b, struct instruction *start,
                         const struct instruction *done)
{
	int32_t skip = 0;
	const struct value *v = b->p->value.at;

	if (start->code != HLO_ALL_REDUCE && start->code != HLO_COPY)
		skip = start->noperands;
	if (skip + done->nvalues > start->nvalues)
		skip = 0;
	if (done->nvalues > start->nvalues - skip)
		return false;
	start->first_result = start->first_value + skip;
	start->nresults = done->nvalues;
	for (int32_t i = 0; i < done->nvalues; i++) {
		const struct value_type *from = &v[start->first_result + i].type;
		const struct value_type *to = &v[done->first_value + i].type;

		if (from->dtype != to->dtype || from->rank != to->rank ||
		    memcmp(from->dim, to->dim,
		           (size_t)from->rank * sizeof(*from->dim)) != 0)
			return false;
	}
	return true;
}

/* The start of an update or end, through the updates in between. */
static int32_t find_start(const struct program *p, int32_t op)
{
	while (op >= 0 && p->op.at[op].async == ASYNC_UPDATE)
		op = p->op.at[op].pair;
	return op >= 0 && p->op.at[op].async == ASYNC_START ? op : -1;
}

static bool fail_op(struct build *b, const struct instruction *op, const char *why)
{
	scan_fail_at(&b->s, op->name.at, E_TYPE, "%s", why);
	return false;
}

/* An end's values are other names of those its start makes; operands follow. */
static bool join_async(struct build *b)
{
	struct program *p = b->p;

	for (int64_t i = 0; i < p->op.n; i++) {
		struct instruction *op = &p->op.at[i], *start;
		int32_t from;

		if (op->async != ASYNC_DONE)
			continue;
		from = find_start(p, op->pair);
		if (from < 0)
			return fail_op(
				b, op,
				"the end of an asynchronous op that has no start");
		start = &p->op.at[from];
		if (start->pair >= 0)
			return fail_op(b, op, "a second end of an asynchronous op");
		if (!find_results(b, start, op))
			return fail_op(
				b, op, "the end gives out what its start does not make");
		op->pair = from;
		start->pair = (int32_t)i;
		for (int32_t k = 0; k < op->nvalues; k++)
			p->value.at[op->first_value + k].same = start->first_result + k;
	}
	for (int64_t i = 0; i < p->value.n; i++)
		while (p->value.at[p->value.at[i].same].same != p->value.at[i].same)
			p->value.at[i].same = p->value.at[p->value.at[i].same].same;
	for (int64_t i = 0; i < p->operand.n; i++)
		p->operand.at[i] = p->value.at[p->operand.at[i]].same;
	for (int64_t r = 0; r < p->region.n; r++)
		for (int32_t i = 0; i < p->region.at[r].result.n; i++) {
			int32_t *at = (int32_t *)&p->region.at[r].result.at[i];

			*at = p->value.at[*at].same;
		}
	return true;
}

/* --- regions --- */

static bool hands_over(enum opcode code)
{
	return code == HLO_CALL || code == HLO_FUSION ||
	       code == HLO_MANUAL_COMPUTATION || code == HLO_NAMED_COMPUTATION;
}

/* Returns whether values have as many dimensions as those from number `first` on. */
static bool same_ranks(const struct program *p, struct numbers values, int32_t first)
{
	for (int32_t i = 0; i < values.n; i++)
		if (p->value.at[values.at[i]].type.rank !=
		    p->value.at[first + i].type.rank)
			return false;
	return true;
}

/*
 * Returns whether the parameters of region k have as many as the operands from number
 * `first` on.
 */
static bool takes_operands(const struct program *p, const struct instruction *op,
                           int32_t k, int32_t first)
{
	const struct numbers param = p->region.at[op_called(p, op, k)].param;

	for (int32_t i = 0; i < param.n; i++)
		if (p->value.at[param.at[i]].type.rank !=
		    p->value.at[op_operand(p, op, first + i)].type.rank)
			return false;
	return true;
}

/* Checks that what a loop or a computation takes and gives has as many dimensions inside. */
static bool fit_ranks(struct build *b, const struct instruction *op)
{
	const struct program *p = b->p;
	int32_t first = op->code == HLO_CONDITIONAL;

	if (op->code != HLO_WHILE && op->code != HLO_CONDITIONAL && !hands_over(op->code))
		return true;
	for (int32_t k = 0; k < op->ncalled; k++) {
		const struct region *r = &p->region.at[op_called(p, op, k)];
		bool tests = op->code == HLO_WHILE && k == 0;

		if (!takes_operands(p, op, k, first))
			return fail_op(b, op, "an operand has other dimensions inside");
		if (!tests && (r->result.n != op->nvalues ||
		               !same_ranks(p, r->result, op->first_value)))
			return fail_op(b, op, "a result has other dimensions inside");
		if (op->code == HLO_CONDITIONAL)
			first += r->param.n;
	}
	return true;
}

/* Checks that what is handed to regions fits them. */
static bool fit_regions(struct build *b)
{
	struct program *p = b->p;

	for (int64_t i = 0; i < p->op.n; i++) {
		const struct instruction *op = &p->op.at[i];
		int32_t given = op->noperands, taken = 0;

		if (!op->ncalled || op->async == ASYNC_DONE || op->async == ASYNC_UPDATE)
			continue;
		for (int32_t k = 0; k < op->ncalled; k++) {
			const struct region *r = &p->region.at[op_called(p, op, k)];

			if (op->code == HLO_WHILE &&
			    (r->param.n != given || (k == 1 && r->result.n != given)))
				return fail_op(
					b, op,
					"the loop carries what its regions do not");
			taken += r->param.n;
		}
		if (op->code == HLO_CONDITIONAL && given != taken + 1)
			return fail_op(b, op, "branches take other operands");
		if ((hands_over(op->code) || op->code == HLO_ASYNC) && given != taken)
			return fail_op(b, op, "the computation takes other operands");
		if (hands_over(op->code) &&
		    p->region.at[op_called(p, op, 0)].result.n != op->nvalues)
			return fail_op(b, op, "the computation has other results");
		if (!fit_ranks(b, op))
			return false;
	}
	return true;
}

enum { SEEN = 1, DONE = 2 };

/* A region that is being gone through, and how far. */
struct frame {
	int32_t region, op, call;
};

/*
 * Lists a region behind all that it calls; false where they call each other in a circle. The
 * stack has room for all regions.
 */
static bool order_regions(struct build *b, int32_t root, struct frame *stack,
                          uint8_t *state, int32_t *order, int32_t *n)
{
	int64_t depth = 0;

	if (state[root])
		return true;
	stack[depth++] = (struct frame){root, 0, 0};
	state[root] = SEEN;
	while (depth) {
		struct frame *f = &stack[depth - 1];
		const struct region *r = &b->p->region.at[f->region];
		const struct instruction *op;
		int32_t next;

		if (f->op == r->nops) {
			state[f->region] = DONE;
			order[(*n)++] = f->region;
			depth--;
			continue;
		}
		op = &b->p->op.at[r->op[f->op]];
		if (f->call == op->ncalled) {
			f->op++;
			f->call = 0;
			continue;
		}
		next = op_called(b->p, op, f->call++);
		if (state[next] == SEEN)
			return fail_op(b, op,
			               "computations call each other in a circle");
		if (!state[next]) {
			state[next] = SEEN;
			stack[depth++] = (struct frame){next, 0, 0};
		}
	}
	return true;
}

/* --- devices and stage --- */

/* Groups of replicas or partitions in numbers of devices (models/README.md, "Programs"). */
static bool spread_groups(struct build *b, struct collective_attr *c)
{
	struct program *p = b->p;
	struct replica_groups g = p->groups.at[c->groups];
	int32_t n = g.first[g.ngroups], P = p->partitions, R = p->replicas;
	int32_t *first, *ids, copies, members;
	bool all = c->channel >= 0; /* all partitions of the listed replicas together */

	if (c->global_ids || R == 1)
		return true;
	copies = all ? 1 : P;
	members = all ? P : 1;
	if (n > MESH_DEVICES_MAX / P)
		return false;
	first = arena_alloc(b->a, (size_t)g.ngroups * (size_t)copies + 1,
	                    sizeof(*first));
	ids = arena_alloc(b->a, (size_t)n * (size_t)P, sizeof(*ids));
	int32_t at = 0, group = 0;

	for (int32_t k = 0; k < copies; k++)
		for (int32_t i = 0; i < g.ngroups; i++) {
			first[group++] = at;
			for (int32_t j = g.first[i]; j < g.first[i + 1]; j++)
				for (int32_t m = 0; m < members; m++)
					ids[at++] = g.ids[j] * P + (all ? m : k);
		}
	first[group] = at;
	c->groups = build_add_groups(b, (struct span){"", 0}, group, first, ids);
	return true;
}

/* One group of all devices, for `{}` and for one id per replica. */
static int32_t everyone(struct build *b)
{
	int32_t n = b->p->ndevices, *first = arena_alloc(b->a, 2, sizeof(*first));
	int32_t *ids = arena_alloc(b->a, (size_t)n, sizeof(*ids));

	first[1] = n;
	for (int32_t i = 0; i < n; i++)
		ids[i] = i;
	return build_add_groups(b, (struct span){"", 0}, 1, first, ids);
}

static int32_t largest_device(const struct program *p)
{
	int32_t most = -1;

	for (int64_t i = 0; i < p->groups.n; i++) {
		const struct replica_groups *g = &p->groups.at[i];

		for (int32_t k = 0; k < g->first[g->ngroups]; k++)
			most = g->ids[k] > most ? g->ids[k] : most;
	}
	for (int64_t i = 0; i < p->op.n; i++) {
		const struct instruction *op = &p->op.at[i];

		if (opcode_class(op->code) != CLASS_COLLECTIVE || !op->as.collective)
			continue;
		for (int32_t k = 0; k < op->as.collective->pairs.n; k++)
			if (op->as.collective->pairs.at[k] > most)
				most = (int32_t)op->as.collective->pairs.at[k];
	}
	return most;
}

/* The devices of a sharding: the product behind `<=[`; 0: it does not say. */
static int64_t sharding_devices(struct span s)
{
	const char *p = s.at ? span_find(s, "<=[") : NULL;
	int64_t n = 1, one = 0;

	for (; p && p < s.at + s.length; p++) {
		if (*p >= '0' && *p <= '9') {
			one = one * 10 + (*p - '0');
		} else {
			n *= one;
			one = 0;
			if (*p == ']')
				return n;
		}
		if (n > MESH_DEVICES_MAX || one > MESH_DEVICES_MAX)
			return 0;
	}
	return 0;
}

static void count_devices(struct build *b)
{
	struct program *p = b->p;
	int32_t most = largest_device(p) + 1;

	if (!p->partitions) {
		int64_t n = most / p->replicas;

		for (int64_t i = 0; i < p->op.n && n < 2; i++) {
			int64_t said = sharding_devices(p->op.at[i].sharding);

			n = said > n ? said : n;
		}
		p->partitions = n < 1 ? 1 : (int32_t)n;
		p->counted = true;
	}
	p->ndevices = p->partitions;
	if (p->replicas <= MESH_DEVICES_MAX / p->partitions)
		p->ndevices *= p->replicas;
}

static bool settle_collective(struct build *b, struct instruction *op, int32_t *all)
{
	struct program *p = b->p;
	struct collective_attr *c = (struct collective_attr *)op->as.collective;
	const struct replica_groups *g;
	bool permute = op->code == HLO_COLLECTIVE_PERMUTE;

	if (op->async == ASYNC_DONE || op->async == ASYNC_UPDATE || permute)
		return true;
	g = c->groups >= 0 ? &p->groups.at[c->groups] : NULL;
	/* As {{0}} the partitioner of 2021 wrote an all-reduce over all partitions. */
	if (!g || !g->ngroups ||
	    (p->replicas == 1 && c->channel >= 0 && !c->global_ids && g->ngroups == 1 &&
	     g->size == 1)) {
		if (*all < 0)
			*all = everyone(b);
		c->groups = *all;
		return true;
	}
	if (!spread_groups(b, c))
		return fail_op(b, op, "too many devices");
	g = &p->groups.at[c->groups];
	for (int32_t i = 0; i < g->first[g->ngroups]; i++)
		if (g->ids[i] >= p->ndevices)
			return fail_op(b, op, "a group has a device that is not there");
	return true;
}

/* Each device at most once in groups; it is looked at once for each of them. */
static bool groups_apart(struct build *b)
{
	struct program *p = b->p;
	int32_t *seen = arena_alloc(b->a, (size_t)p->ndevices, sizeof(*seen));

	for (int64_t i = 0; i < p->groups.n; i++) {
		const struct replica_groups *g = &p->groups.at[i];

		for (int32_t k = 0; k < g->first[g->ngroups]; k++) {
			if (g->ids[k] < p->ndevices && seen[g->ids[k]] == i + 1) {
				scan_fail_at(&b->s, b->group_text.at[i].at, E_TYPE,
				             "device %d is in two groups",
				             (int)g->ids[k]);
				return false;
			}
			if (g->ids[k] < p->ndevices)
				seen[g->ids[k]] = (int32_t)i + 1;
		}
	}
	return true;
}

static bool settle_devices(struct build *b)
{
	struct program *p = b->p;
	int32_t all = -1;

	count_devices(b);
	if ((int64_t)p->partitions * p->replicas > MESH_DEVICES_MAX) {
		scan_fail_at(&b->s, b->s.text, E_RANGE, "more than %d devices",
		             MESH_DEVICES_MAX);
		return false;
	}
	if (!groups_apart(b))
		return false;
	for (int64_t i = 0; i < p->op.n; i++)
		if (opcode_class(p->op.at[i].code) == CLASS_COLLECTIVE &&
		    p->op.at[i].as.collective &&
		    !settle_collective(b, &p->op.at[i], &all))
			return false;
	return true;
}

static bool ends_with(struct span s, const char *end)
{
	int32_t n = (int32_t)strlen(end);

	return s.length >= n && !memcmp(s.at + s.length - n, end, (size_t)n);
}

/*
 * Optimised: it is scheduled, or has fusions. Annotated: there are shardings over several
 * devices, and the entry is not one of the partitioner's.
 */
static void tell_stage(struct program *p)
{
	int64_t fusions = 0, collectives = 0, shardings = 0;

	for (int64_t i = 0; i < p->op.n; i++) {
		const struct instruction *op = &p->op.at[i];

		fusions += op->code == HLO_FUSION;
		collectives += opcode_class(op->code) == CLASS_COLLECTIVE;
		shardings += op->code != HLO_PARAMETER &&
		             (sharding_devices(op->sharding) > 1 ||
		              op->code == HLO_SHARDING_CONSTRAINT ||
		              op->code == HLO_MANUAL_COMPUTATION);
	}
	if (p->scheduled || fusions)
		p->stage = STAGE_OPTIMISED;
	else if (p->ndevices == 1 || ends_with(p->region.at[p->entry].name, "_spmd") ||
	         (collectives && !shardings))
		p->stage = STAGE_PARTITIONED;
	else
		p->stage = STAGE_ANNOTATED;
}

bool build_finish(struct build *b)
{
	struct program *p = b->p;
	uint8_t *state = arena_alloc(b->a, (size_t)p->region.n, 1);
	int32_t *order = arena_alloc(b->a, (size_t)p->region.n, sizeof(*order));
	struct frame *stack = arena_alloc(b->a, (size_t)p->region.n, sizeof(*stack));
	int32_t n = 0;

	if (!join_async(b) || !fit_regions(b))
		return false;
	for (int32_t i = 0; i < p->region.n; i++)
		if (!order_regions(b, i, stack, state, order, &n))
			return false;
	p->calls_first = order;
	if (!settle_devices(b))
		return false;
	tell_stage(p);
	trips_find(p);
	program_count_runs(p);
	return true;
}
